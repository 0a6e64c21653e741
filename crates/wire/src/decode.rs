//! A packet to headers, or the reason why it is none. Total, and never beyond the packet.

use mokume_reaction::{
    Automaton, Compare, FieldIndex, FieldValue, HeaderId, ReasonId, VariantId, Wire, WireExpression, WireField, WireId,
    WireItem,
};

use crate::bits;
use crate::expression::{evaluate, holds, named, Facts, Slot};
use crate::{Decoded, Decoding, HeaderValue};

/// The headers of a packet and the place of its payload.
pub fn decode(automaton: &Automaton, wire: WireId, packet: &[u8]) -> Decoding {
    let wire = &automaton.wires[wire.index()];
    let mut decoder = Decoder {
        automaton,
        wire,
        packet,
        end: packet.len(),
        at: 0,
        slots: Vec::new(),
        headers: wire.headers.iter().map(|header| zeros(automaton, *header, VariantId(0))).collect(),
        rules: Vec::new(),
        packet_known: !any_field(&wire.items, &|field| field.trims_packet),
        header_known: static_size(&wire.items),
        over: false,
    };
    decoder.items(&wire.items)?;
    decoder.over = true;
    decoder.header_known = Some(decoder.at.div_ceil(8));
    decoder.check()?;
    Ok(Decoded { headers: decoder.headers, payload: decoder.at.div_ceil(8)..decoder.end })
}

fn zeros(automaton: &Automaton, header: HeaderId, variant: VariantId) -> HeaderValue {
    let variants = &automaton.headers[header.index()].variants;
    let fields = variants.get(variant.index()).map_or(0, |variant| variant.fields.len());
    HeaderValue { header, variant, fields: vec![0; fields] }
}

/// A constraint that waits until what it names is known.
struct Rule<'a> {
    own: FieldIndex,
    left: Option<&'a WireExpression>,
    compare: Compare,
    right: &'a WireExpression,
    otherwise: ReasonId,
}

struct Decoder<'a> {
    automaton: &'a Automaton,
    wire: &'a Wire,
    packet: &'a [u8],
    /// The packet's octets, after the trim.
    end: usize,
    /// The next bit.
    at: usize,
    slots: Vec<Option<Slot>>,
    headers: Vec<HeaderValue>,
    rules: Vec<Rule<'a>>,
    packet_known: bool,
    header_known: Option<usize>,
    /// All items are read: everything is known.
    over: bool,
}

impl<'a> Decoder<'a> {
    fn items(&mut self, items: &'a [WireItem]) -> Result<(), ReasonId> {
        for item in items {
            match item {
                WireItem::Field(field) => self.field(field)?,
                WireItem::Choice { on, arms, unknown } => {
                    let tag = self.slots.get(on.0 as usize).copied().flatten().map_or(0, |slot| slot.value);
                    let arm = arms.iter().find(|arm| arm.tag == tag).ok_or(*unknown)?;
                    for (header, variant) in &arm.selects {
                        self.select(*header, *variant);
                    }
                    self.items(&arm.items)?;
                }
            }
        }
        Ok(())
    }

    /// Fields of the header that were read before the choice keep their values.
    fn select(&mut self, header: HeaderId, variant: VariantId) {
        if let Some(value) = self.headers.iter_mut().find(|value| value.header == header) {
            if value.variant != variant {
                *value = zeros(self.automaton, header, variant);
            }
        }
    }

    fn field(&mut self, field: &'a WireField) -> Result<(), ReasonId> {
        let end = self.at + usize::from(field.width);
        if end > self.end * 8 {
            return Err(self.wire.short);
        }
        let value = bits::read(self.packet, self.at, field.width, field.endian);
        let index = field.index.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        self.slots[index] = Some(Slot { at: self.at, width: field.width, value });
        self.at = end;
        self.own_value(field, value)?;
        for constraint in &field.constraints {
            let (left, right) = (Some(&constraint.left), &constraint.right);
            let otherwise = constraint.otherwise;
            self.rules.push(Rule { own: field.index, left, compare: constraint.compare, right, otherwise });
        }
        self.check()?;
        if field.trims_packet {
            self.trim(value)?;
        }
        Ok(())
    }

    fn own_value(&mut self, field: &'a WireField, value: u64) -> Result<(), ReasonId> {
        match &field.value {
            FieldValue::Constant { value: wanted, otherwise } if value != *wanted => return Err(*otherwise),
            FieldValue::Header { header, variant, field: place, times, plus, otherwise } => {
                let refused = otherwise.unwrap_or(self.wire.short);
                let rest = value.checked_sub(*plus).ok_or(refused)?;
                let times = (*times).max(1);
                if !rest.is_multiple_of(times) {
                    return Err(refused);
                }
                self.set_header_field(*header, *variant, *place, rest / times, refused)?;
            }
            FieldValue::Computed { expression, otherwise } => {
                let own = field.index;
                self.rules.push(Rule {
                    own,
                    left: None,
                    compare: Compare::Eq,
                    right: expression,
                    otherwise: *otherwise,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn set_header_field(
        &mut self,
        header: HeaderId,
        variant: VariantId,
        place: u32,
        value: u64,
        refused: ReasonId,
    ) -> Result<(), ReasonId> {
        let ty = self.automaton.headers[header.index()].variants[variant.index()].fields[place as usize].1;
        if value > bits::mask(ty.width(self.automaton)) {
            return Err(refused);
        }
        self.select(header, variant);
        if let Some(found) = self.headers.iter_mut().find(|value| value.header == header) {
            found.fields[place as usize] = value;
        }
        Ok(())
    }

    fn trim(&mut self, value: u64) -> Result<(), ReasonId> {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        if size > self.end || self.at.div_ceil(8) > size {
            return Err(self.wire.short);
        }
        self.end = size;
        self.packet_known = true;
        self.check()
    }

    /// Checks, in order, the rules of which everything is known; the others wait.
    fn check(&mut self) -> Result<(), ReasonId> {
        let rules = std::mem::take(&mut self.rules);
        for rule in rules {
            match self.is_known(&rule) {
                true if self.violates(&rule) => return Err(rule.otherwise),
                true => {}
                false => self.rules.push(rule),
            }
        }
        Ok(())
    }

    fn is_known(&self, rule: &Rule) -> bool {
        if self.over {
            return true;
        }
        let mut fields = true;
        let mut seen = |index: FieldIndex| fields &= matches!(self.slots.get(index.0 as usize), Some(Some(_)));
        let all = [rule.left, Some(rule.right)].into_iter().flatten().map(|side| named(side, &mut seen)).all(|named| {
            !named.octets && (!named.packet || self.packet_known) && (!named.header || self.header_known.is_some())
        });
        all && fields
    }

    fn violates(&self, rule: &Rule) -> bool {
        let facts = Facts {
            slots: &self.slots,
            packet: &self.packet[..self.end],
            packet_size: self.end,
            header_size: self.header_known.unwrap_or(0),
            own: Some(rule.own),
        };
        let own = self.slots[rule.own.0 as usize].map_or(0, |slot| slot.value);
        let left = rule.left.map_or(own, |left| evaluate(left, &facts));
        !holds(rule.compare, left, evaluate(rule.right, &facts))
    }
}

fn any_field(items: &[WireItem], wanted: &impl Fn(&WireField) -> bool) -> bool {
    items.iter().any(|item| match item {
        WireItem::Field(field) => wanted(field),
        WireItem::Choice { arms, .. } => arms.iter().any(|arm| any_field(&arm.items, wanted)),
    })
}

fn static_size(items: &[WireItem]) -> Option<usize> {
    let width = |item: &WireItem| match item {
        WireItem::Field(field) => Some(usize::from(field.width)),
        WireItem::Choice { .. } => None,
    };
    items.iter().map(width).sum::<Option<usize>>().map(|bits: usize| bits.div_ceil(8))
}
