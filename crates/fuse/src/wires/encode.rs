//! Encoders: fields in front of a message. Checksums are filled in when all that they cover is known.

use mokume_interpret::mask;
use mokume_reaction::{
    Binary, Endian, FieldIndex, FieldValue, HeaderId, OptionArm, Type, VariantId, WireArm, WireExpression, WireField,
    WireId, WireItem,
};

use super::*;
use crate::graph::{Node, U64};
use crate::message::{is_held_before, Field, Message, NEW};
use crate::region::{Followed, Region};

impl Region<'_> {
    /// Encodes the top headers.
    pub fn encode(&mut self, message: &mut Message, wire: WireId) -> Followed<()> {
        let wire = &self.automaton.wires[wire.index()];
        let mut headers: Vec<Header> = Vec::new();
        while headers.len() < wire.headers.len()
            && message.headers.last().is_some_and(|top| wire.headers.contains(&top.0))
        {
            headers.extend(message.headers.pop());
        }
        let missing = wire.headers.iter().filter(|header| !headers.iter().any(|found| found.0 == **header));
        let missing = missing.collect::<Vec<_>>();
        // What the path has made, or joined to what it has made, has no other headers: they are written as zeros.
        let may_have_more = message.headers.is_empty()
            && message.joined == 0
            && (is_held_before(message.given) || self.is_inside && message.given != NEW);
        match &missing[..] {
            [] => {}
            _ if !may_have_more => {}
            // What was kept has the headers with which it was kept.
            _ if is_held_before(message.given) => {
                return self.no("writes headers of which it is not known whether they are there");
            }
            // The remaining header must be on top of the given message.
            [header] => {
                if self.automaton.headers[header.index()].variants.len() > 1 {
                    return self.no("writes a header of which it is not known which alternative it is");
                }
                let fields = self.take_off(message, **header, VariantId(0))?;
                headers.push((**header, VariantId(0), fields));
            }
            _ => return self.no("writes headers of which it is not known whether they are there"),
        }
        let mut encoder = Encoder {
            headers,
            facts: Facts { slots: Vec::new(), packet_size: None, header_size: None },
            fields: Vec::new(),
            computed: Vec::new(),
            tags: WireItem::fields(&wire.items)
                .iter()
                .filter(|field| field.value == FieldValue::Tag)
                .map(|field| field.index)
                .collect(),
            bits: 0,
            reach: None,
            fills: false,
        };
        self.lay_out(&mut encoder, &wire.items)?;
        self.pad(&mut encoder, 1, None)?;
        let header = encoder.bits / 8;
        let octets = self.size_of(message);
        if encoder.fills {
            let none = self.is(octets, 0);
            self.guard(none)?;
        }
        let octets = self.plus(octets, header);
        encoder.facts.packet_size = Some(self.long(octets));
        encoder.facts.header_size = Some(self.number(U64, header));
        if let Some(reach) = encoder.reach {
            let ends = self.is(reach, header);
            self.guard(ends)?;
        }
        for (place, index, expression) in std::mem::take(&mut encoder.computed) {
            if !is_checksum(&expression) {
                let value = self.evaluate(&expression, &encoder.facts)?;
                self.put_computed(&mut encoder, place, index, value)?;
            } else {
                encoder.computed.push((place, index, expression));
            }
        }
        for (place, index, expression) in std::mem::take(&mut encoder.computed) {
            let mut sum = self.sum_of_fields(&encoder.fields)?;
            if expression == WireExpression::PacketChecksum {
                if !header.is_multiple_of(2) {
                    return self.no("adds up a packet behind a header of an odd number of octets");
                }
                self.at_most(message.size, 100_000)?;
                let inner = self.sum_of(message)?;
                sum = self.graph.binary(Binary::AddWrap, sum, inner);
            }
            let folded = self.graph.fold(sum);
            let value = self.graph.not(folded);
            self.put_computed(&mut encoder, place, index, value)?;
        }
        encoder.fields.append(&mut message.front);
        message.front = encoder.fields;
        Ok(())
    }

    fn put_computed(&mut self, encoder: &mut Encoder, place: usize, index: FieldIndex, value: Node) -> Followed<()> {
        let width = encoder.fields[place].width;
        let value = self.narrow(value, width)?;
        encoder.fields[place].value = value;
        if let Some(slot) = encoder.facts.slot(index) {
            encoder.facts.set(index, Slot { value, ..slot });
        }
        Ok(())
    }

    /// A number in this many bits; there is no path if it does not fit.
    fn narrow(&mut self, value: Node, width: u8) -> Followed<Node> {
        let own = self.graph.ty(value).width(self.automaton);
        if own > width && self.graph.span(value).1 > mask(width) {
            let number = self.graph.cast(value, Type::U(own));
            self.at_most(number, mask(width))?;
        }
        Ok(self.graph.cast(value, Type::U(width)))
    }

    fn lay_out(&mut self, encoder: &mut Encoder, items: &[WireItem]) -> Followed<()> {
        for item in items {
            match item {
                WireItem::Field(field) => self.lay_field(encoder, field)?,
                WireItem::Choice { on, arms, .. } => {
                    let arm = self.arm_to_write(encoder, *on, arms)?;
                    self.lay_out(encoder, &arm.items)?;
                }
                WireItem::Optional { when, items } => {
                    let tests = when.iter().map(|test| self.is_met(test, &encoder.facts)).collect::<Followed<_>>()?;
                    let met = self.all(tests);
                    if self.decide(met, None)? {
                        self.lay_out(encoder, items)?;
                    }
                }
                WireItem::Options(options) => {
                    encoder.fills |= options.fill();
                    let first = encoder.fields.len();
                    for arm in &options.arms {
                        let OptionArm::Known { kind, header, variant, field, items, repeat } = arm else { continue };
                        let there = encoder.header_field(*header, *variant, *field);
                        let Some(there) = there else { continue };
                        let absent = self.is(there, 0);
                        let likely =
                            self.overview.pushed_with(*header, *variant, *field).map_or(0.1, |likely| likely.min(0.9));
                        if self.decide(absent, Some(1.0 - likely))? {
                            continue;
                        }
                        if repeat.is_some() {
                            return self.no("writes an option with a number of elements");
                        }
                        let octets = u64::from(options.head() + arm.octets());
                        let length = octets.saturating_sub(options.plus) / options.times.max(1);
                        for (value, width) in [(*kind, options.kind.width), (length, options.length.width)] {
                            let value = self.number(Type::U(width), value);
                            encoder.push(Field { width, endian: options.endian, value });
                        }
                        self.lay_out(encoder, items)?;
                    }
                    if let Some(kind) = options.ends_with {
                        let (width, endian) = (options.kind.width, options.endian);
                        encoder.push(Field { width, endian, value: self.number(Type::U(width), kind) });
                    }
                    self.pad(encoder, options.pad.max(1), options.pads_with.map(|kind| (first, kind)))?;
                }
                WireItem::List(list) => {
                    encoder.fills |= list.to_end.is_some();
                    let count = encoder.header_field(list.header, list.variant, list.count);
                    let count = count.map_or(Some(0), |count| self.graph.known(count));
                    let Some(count) = count.filter(|count| *count <= list.most()) else {
                        return self.no("writes a list of a length that is not known");
                    };
                    for element in list.elements.iter().take(count as usize) {
                        self.lay_out(encoder, element)?;
                    }
                }
                WireItem::Reach(to) => encoder.reach = Some(self.evaluate(to, &encoder.facts)?),
            }
        }
        Ok(())
    }

    /// Zeros up to a multiple of `octets`; with `with`, that many octets of this kind, in front of a field.
    fn pad(&mut self, encoder: &mut Encoder, octets: u32, with: Option<(usize, u64)>) -> Followed<()> {
        let end = encoder.bits.next_multiple_of(u64::from(octets) * 8);
        while encoder.bits < end {
            let width = (end - encoder.bits).min(8) as u8;
            let value = self.number(Type::U(width), with.map_or(0, |with| with.1));
            let field = Field { width, endian: Endian::Big, value };
            match with {
                Some((at, _)) => encoder.insert(at, field),
                None => encoder.push(field),
            }
        }
        Ok(())
    }

    fn lay_field(&mut self, encoder: &mut Encoder, field: &WireField) -> Followed<()> {
        let ty = Type::U(field.width);
        let value = match &field.value {
            FieldValue::Constant { value, .. } => {
                let value = self.number(U64, *value);
                self.narrow(value, field.width)?
            }
            FieldValue::Header { header, variant, field: place, times, plus, .. } => {
                match encoder.header_field(*header, *variant, *place) {
                    Some(value) if (*times, *plus) == (1, 0) => self.narrow(value, field.width)?,
                    Some(value) => {
                        let value = self.long(value);
                        let (times, plus) = (self.number(U64, *times), self.number(U64, *plus));
                        let value = self.binary(Binary::Mul, value, times)?;
                        let value = self.binary(Binary::Add, value, plus)?;
                        self.narrow(value, field.width)?
                    }
                    None => {
                        let value = self.number(U64, *plus);
                        self.narrow(value, field.width)?
                    }
                }
            }
            FieldValue::Computed { expression, .. } => {
                encoder.computed.push((encoder.fields.len(), field.index, expression.clone()));
                self.number(ty, 0)
            }
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => self.number(ty, 0),
        };
        encoder.facts.set(field.index, Slot { at: encoder.bits, width: field.width, value });
        encoder.push(Field { width: field.width, endian: field.endian, value });
        Ok(())
    }

    /// The first arm that fits; sets its tag if the choice is on a tag.
    fn arm_to_write<'w>(
        &mut self,
        encoder: &mut Encoder,
        on: FieldIndex,
        arms: &'w [WireArm],
    ) -> Followed<&'w WireArm> {
        let slot = encoder.facts.slot(on);
        let is_tag = encoder.tags.contains(&on);
        for arm in arms {
            let has = |(header, variant): &(HeaderId, VariantId)| {
                let there = encoder.headers.iter().find(|value| value.0 == *header);
                there.map_or(VariantId(0), |value| value.1) == *variant
            };
            if !arm.selects.iter().all(has) {
                continue;
            }
            let mut conditions = Vec::new();
            for common in &arm.commons {
                let value = encoder.header_field(common.header, common.variant, common.field);
                conditions.push(match value {
                    Some(value) => self.is(value, common.value),
                    None => self.graph.truth(common.value == 0),
                });
            }
            if !is_tag {
                conditions.push(match slot {
                    Some(slot) => self.is(slot.value, arm.tag),
                    None => self.graph.truth(arm.tag == 0),
                });
            }
            let fits = self.all(conditions);
            if !self.decide(fits, None)? {
                continue;
            }
            if let (true, Some(slot)) = (is_tag, slot) {
                let tag = self.number(U64, arm.tag);
                let value = self.narrow(tag, slot.width)?;
                encoder.facts.set(on, Slot { value, ..slot });
                encoder.put_at(slot.at, value);
            }
            return Ok(arm);
        }
        self.no("has no way to write what the header says")
    }
}

struct Encoder {
    headers: Vec<Header>,
    facts: Facts,
    fields: Vec<Field>,
    /// By their places among the fields.
    computed: Vec<(usize, FieldIndex, WireExpression)>,
    /// Fields that are tags of choices.
    tags: Vec<FieldIndex>,
    bits: u64,
    reach: Option<Node>,
    /// Whether options or elements go on to the packet's end.
    fills: bool,
}

impl Encoder {
    fn push(&mut self, field: Field) {
        self.bits += u64::from(field.width);
        self.fields.push(field);
    }

    /// Inserts a field of whole octets before the one at a place; no later field may be referred to by its place.
    fn insert(&mut self, at: usize, field: Field) {
        self.bits += u64::from(field.width);
        self.fields.insert(at, field);
    }

    fn header_field(&self, header: HeaderId, variant: VariantId, field: u32) -> Option<Node> {
        let found = self.headers.iter().find(|value| value.0 == header && value.1 == variant)?;
        found.2.get(field as usize).copied()
    }

    /// Replaces the value of the field that begins at a bit.
    fn put_at(&mut self, bit: u64, value: Node) {
        let mut at = 0;
        for field in &mut self.fields {
            if at == bit {
                field.value = value;
                return;
            }
            at += u64::from(field.width);
        }
    }
}
