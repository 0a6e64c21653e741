//! The decoder: from a packet to headers, or to the reason for its rejection. Total, and never reads beyond the packet.

use mokume_reaction::{
    Automaton, Compare, FieldIndex, FieldValue, HeaderId, OptionArm, ReasonId, VariantId, Wire, WireArm, WireCommon,
    WireExpression, WireField, WireId, WireItem, WireList, WireOptions,
};

use crate::bits;
use crate::expression::{evaluate, holds, named, Facts, Slot};
use crate::{Decoded, Decoding, HeaderValue, Read, Refusal};

/// Decodes a packet: its headers and the place of its payload, or a refusal.
pub fn decode(automaton: &Automaton, wire: WireId, packet: &[u8]) -> Decoding {
    read(automaton, wire, packet).decoding
}

/// The same, with all fields that were read, in order, for tools.
pub fn read<'a>(automaton: &'a Automaton, wire: WireId, packet: &'a [u8]) -> Read<'a> {
    let mut decoder = decoder(automaton, wire, packet);
    let decoding = decoder.all();
    let (header_size, packet_size) = (decoder.header_known.unwrap_or(0), decoder.end);
    Read { decoding, fields: decoder.seen, header_size, packet_size, passed_over: decoder.passed_over }
}

fn decoder<'a>(automaton: &'a Automaton, wire: WireId, packet: &'a [u8]) -> Decoder<'a> {
    let wire = &automaton.wires[wire.index()];
    Decoder {
        automaton,
        wire,
        packet,
        end: packet.len(),
        at: 0,
        slots: Vec::new(),
        headers: wire.headers.iter().map(|header| zeros(automaton, *header, VariantId(0))).collect(),
        rules: Vec::new(),
        packet_known: !WireItem::fields(&wire.items).iter().any(|field| field.trims_packet),
        header_known: static_size(&wire.items),
        over: false,
        seen: Vec::new(),
        passed_over: false,
    }
}

fn zeros(automaton: &Automaton, header: HeaderId, variant: VariantId) -> HeaderValue {
    let variants = &automaton.headers[header.index()].variants;
    let fields = variants.get(variant.index()).map_or(0, |variant| variant.fields.len());
    HeaderValue { header, variant, fields: vec![0; fields] }
}

/// A constraint that waits until everything that it names is known.
struct Rule<'a> {
    own: FieldIndex,
    left: Option<&'a WireExpression>,
    compare: Compare,
    right: &'a WireExpression,
    otherwise: ReasonId,
}

pub(crate) struct Decoder<'a> {
    automaton: &'a Automaton,
    wire: &'a Wire,
    packet: &'a [u8],
    /// The end of the packet in octets, after the trim.
    end: usize,
    /// The next bit.
    at: usize,
    slots: Vec<Option<Slot>>,
    headers: Vec<HeaderValue>,
    rules: Vec<Rule<'a>>,
    packet_known: bool,
    header_known: Option<usize>,
    /// Whether all items are read, so that everything is known.
    over: bool,
    seen: Vec<crate::Seen<'a>>,
    passed_over: bool,
}

impl<'a> Decoder<'a> {
    fn all(&mut self) -> Decoding {
        self.items(&self.wire.items)?;
        self.over = true;
        if self.header_known.is_none() {
            self.header_known = Some(self.at.div_ceil(8));
        }
        self.check()?;
        Ok(Decoded { headers: std::mem::take(&mut self.headers), payload: self.at.div_ceil(8)..self.end })
    }

    /// A refusal at the current place.
    fn here<T>(&self, reason: ReasonId) -> Result<T, Refusal> {
        Err(Refusal { reason, bit: self.at })
    }

    fn items(&mut self, items: &'a [WireItem]) -> Result<(), Refusal> {
        for item in items {
            match item {
                WireItem::Field(field) => self.field(field)?,
                WireItem::Choice { on, arms, unknown } => {
                    let slot = self.slots.get(on.0 as usize).copied().flatten();
                    let (tag, bit) = slot.map_or((0, self.at), |slot| (slot.value, slot.at));
                    let refusal = Refusal { reason: *unknown, bit };
                    let place = arms.iter().position(|arm| arm.tag == tag).ok_or(refusal)?;
                    let arm = &arms[place];
                    for (header, variant) in &arm.selects {
                        self.select(*header, *variant);
                    }
                    for common in &arm.commons {
                        let WireCommon { header, variant, field, value } = *common;
                        let set = self.set_header_field(header, variant, field, value, *unknown);
                        set.map_err(|_| refusal)?;
                    }
                    self.items(&arm.items)?;
                    if arms[..place].iter().any(|before| self.says_the_same(before, arm)) {
                        return Err(refusal);
                    }
                }
                WireItem::Optional { when, items } => {
                    let facts = self.facts(None);
                    if when.iter().all(|test| crate::expression::is_met(test, &facts)) {
                        self.items(items)?;
                    }
                }
                WireItem::Options(options) => self.options(options)?,
                WireItem::List(list) => self.list(list)?,
                WireItem::Reach(to) => {
                    let size = self.octet(to)?;
                    self.header_known = Some(size);
                    self.check()?;
                }
            }
        }
        Ok(())
    }

    /// Reads the counted elements, or as many as there are up to the packet's end.
    fn list(&mut self, list: &'a WireList) -> Result<(), Refusal> {
        let Some(malformed) = list.to_end else {
            let found = self.headers.iter().find(|value| value.header == list.header);
            let count = found.and_then(|value| value.fields.get(list.count as usize)).copied().unwrap_or(0);
            return list
                .elements
                .iter()
                .take(count.min(list.most()) as usize)
                .try_for_each(|element| self.items(element));
        };
        let mut count = 0;
        while self.at < self.end * 8 {
            let Some(element) = list.elements.get(count) else { return self.here(malformed) };
            self.items(element)?;
            count += 1;
        }
        let set = self.set_header_field(list.header, list.variant, list.count, count as u64, malformed);
        set.or_else(|reason| self.here(reason))
    }

    /// Whether an earlier arm could have left out what was read on this one.
    fn says_the_same(&self, before: &WireArm, arm: &WireArm) -> bool {
        let holds = |common: &WireCommon| {
            let found = self.headers.iter().find(|value| value.header == common.header);
            found.and_then(|value| value.fields.get(common.field as usize)) == Some(&common.value)
        };
        !before.commons.is_empty() && before.selects == arm.selects && before.commons.iter().all(holds)
    }

    /// An octet of the packet that is not before the current place.
    fn octet(&self, at: &WireExpression) -> Result<usize, Refusal> {
        let octet = usize::try_from(evaluate(at, &self.facts(None))).unwrap_or(usize::MAX);
        match octet >= self.at.div_ceil(8) && octet <= self.end {
            true => Ok(octet),
            false => self.here(self.wire.short),
        }
    }

    fn options(&mut self, options: &'a WireOptions) -> Result<(), Refusal> {
        let until = self.octet(&options.until)?;
        while self.at / 8 < until {
            let (kind, _) = self.option_part(options, &options.kind, until)?;
            match options.arms.iter().find(|arm| arm.kind() == kind) {
                Some(OptionArm::End { .. }) => break,
                Some(OptionArm::Single { .. }) => {}
                found => self.long_option(options, found, until)?,
            }
        }
        self.at = until * 8;
        Ok(())
    }

    fn option_part(
        &mut self,
        options: &WireOptions,
        part: &'a mokume_reaction::OptionPart,
        until: usize,
    ) -> Result<(u64, usize), Refusal> {
        let end = self.at + usize::from(part.width);
        if end > until * 8 {
            return self.here(options.malformed);
        }
        let (bit, value) = (self.at, bits::read(self.packet, self.at, part.width, options.endian));
        self.seen.push(crate::Seen { name: &part.name, bit, width: part.width, value, field: None });
        self.at = end;
        Ok((value, bit))
    }

    /// Reads an option with its length: a known one, or one to skip.
    fn long_option(
        &mut self,
        options: &'a WireOptions,
        arm: Option<&'a OptionArm>,
        until: usize,
    ) -> Result<(), Refusal> {
        let first = self.at - usize::from(options.kind.width);
        if let (None, Some(reason)) = (arm, options.unknown) {
            return Err(Refusal { reason, bit: first });
        }
        let (length, bit) = self.option_part(options, &options.length, until)?;
        let octets = length.wrapping_mul(options.times).wrapping_add(options.plus);
        let size = usize::try_from(octets).unwrap_or(usize::MAX);
        let head = options.head() as usize;
        let wrong =
            length > (u64::MAX - options.plus) / options.times.max(1) || size < head || size > until - first / 8;
        let elements = arm.map_or(Some(0), |arm| elements(arm, size.wrapping_sub(head)));
        let Some(elements) = elements.filter(|_| !wrong) else {
            return Err(Refusal { reason: options.malformed, bit });
        };
        let behind = first / 8 + head..first / 8 + size;
        self.passed_over |= arm.is_none() && self.packet[behind].iter().any(|octet| *octet != 0);
        if let Some(arm) = arm {
            self.known_option(arm, elements)
                .map_err(|refusal| refusal.unwrap_or_else(|reason| Refusal { reason, bit: first }))?;
        }
        self.at = first + size * 8;
        Ok(())
    }

    /// Reads the fields of an option with this many elements; the header's fields of absent elements become zero.
    fn known_option(&mut self, arm: &'a OptionArm, elements: u32) -> Result<(), Refused> {
        let OptionArm::Known { header, variant, field, items, repeat, .. } = arm else { return Ok(()) };
        let short = self.wire.short;
        let Some(repeat) = repeat else {
            self.items(items).map_err(Ok)?;
            return self.set_header_field(*header, *variant, *field, 1, short).map_err(Err);
        };
        // An option of this kind may have come before, with more elements.
        for known in WireItem::fields(items) {
            if let FieldValue::Header { header, variant, field, .. } = known.value {
                self.set_header_field(header, variant, field, 0, short).map_err(Err)?;
            }
        }
        let there = (repeat.from + elements * repeat.each) as usize;
        self.items(items.get(..there).unwrap_or(items)).map_err(Ok)?;
        self.set_header_field(*header, *variant, *field, 1, short).map_err(Err)?;
        self.set_header_field(*header, *variant, repeat.count, u64::from(elements), short).map_err(Err)
    }

    /// Selects a variant; fields of the header that were read before the choice keep their values.
    fn select(&mut self, header: HeaderId, variant: VariantId) {
        if let Some(value) = self.headers.iter_mut().find(|value| value.header == header) {
            if value.variant != variant {
                *value = zeros(self.automaton, header, variant);
            }
        }
    }

    fn field(&mut self, field: &'a WireField) -> Result<(), Refusal> {
        let end = self.at + usize::from(field.width);
        if end > self.end * 8 {
            return self.here(self.wire.short);
        }
        let value = bits::read(self.packet, self.at, field.width, field.endian);
        let index = field.index.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        self.slots[index] = Some(Slot { at: self.at, width: field.width, value });
        self.seen.push(crate::Seen { name: &field.name, bit: self.at, width: field.width, value, field: Some(field) });
        let bit = self.at;
        self.at = end;
        self.own_value(field, value).map_err(|reason| Refusal { reason, bit })?;
        for constraint in &field.constraints {
            let (left, right) = (Some(&constraint.left), &constraint.right);
            let otherwise = constraint.otherwise;
            self.rules.push(Rule { own: field.index, left, compare: constraint.compare, right, otherwise });
        }
        self.check()?;
        if field.trims_packet {
            self.trim(value.saturating_add(field.trims_plus))?;
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
        let width = ty.width(self.automaton);
        let named = |ranges: Vec<std::ops::RangeInclusive<u64>>| ranges.iter().any(|range| range.contains(&value));
        if value > bits::mask(width) || !self.automaton.gaps(ty, width).is_none_or(named) {
            return Err(refused);
        }
        self.select(header, variant);
        if let Some(found) = self.headers.iter_mut().find(|value| value.header == header) {
            found.fields[place as usize] = value;
        }
        Ok(())
    }

    fn trim(&mut self, value: u64) -> Result<(), Refusal> {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        if size > self.end || self.at.div_ceil(8) > size {
            return self.here(self.wire.short);
        }
        self.end = size;
        self.packet_known = true;
        self.check()
    }

    /// Checks, in order, the rules of which everything is known; the others wait.
    fn check(&mut self) -> Result<(), Refusal> {
        let rules = std::mem::take(&mut self.rules);
        for rule in rules {
            match self.is_known(&rule) {
                true if self.violates(&rule) => {
                    let bit = self.slots[rule.own.0 as usize].map_or(self.at, |slot| slot.at);
                    return Err(Refusal { reason: rule.otherwise, bit });
                }
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

    fn facts(&self, own: Option<FieldIndex>) -> Facts<'_> {
        Facts {
            slots: &self.slots,
            packet: &self.packet[..self.end],
            packet_size: self.end,
            header_size: self.header_known.unwrap_or(0),
            own,
        }
    }

    fn violates(&self, rule: &Rule) -> bool {
        let facts = self.facts(Some(rule.own));
        let own = self.slots[rule.own.0 as usize].map_or(0, |slot| slot.value);
        let left = rule.left.map_or(own, |left| evaluate(left, &facts));
        !holds(rule.compare, left, evaluate(rule.right, &facts))
    }
}

/// A refusal with its place, or a reason that applies to the whole option.
type Refused = Result<Refusal, ReasonId>;

/// The number of elements of an option with this many octets behind its head; `None` if it cannot have that size.
fn elements(arm: &OptionArm, octets: usize) -> Option<u32> {
    let (fixed, each, most) = arm.measures();
    let rest = u32::try_from(octets).ok()?.checked_sub(fixed)?;
    if arm.repeat().is_none() {
        return (rest == 0).then_some(0);
    }
    (rest.is_multiple_of(each) && rest / each <= most).then_some(rest / each)
}

fn static_size(items: &[WireItem]) -> Option<usize> {
    let width = |item: &WireItem| match item {
        WireItem::Field(field) => Some(usize::from(field.width)),
        _ => None,
    };
    items.iter().map(width).sum::<Option<usize>>().map(|bits: usize| bits.div_ceil(8))
}
