//! Wires on a path: encoders put fields in front of a message, decoders read them where they stand.
//!
//! What a decoder would refuse has no path; in which order it would find that out does not matter. It must keep: what is
//! read and written is what `mokume-wire` reads and writes.

use mokume_reaction::{
    Automaton, Binary, Compare, Endian, FieldIndex, FieldValue, HeaderId, OctetField, OptionArm, Type, VariantId,
    WireArm, WireExpression, WireField, WireId, WireItem, WireTest,
};

use crate::graph::{mask, Node, U32, U64};
use crate::message::{Field, Message};
use crate::region::{Followed, Region};

/// A field that was laid out or read.
#[derive(Clone, Copy)]
struct Slot {
    /// Its first bit.
    at: u64,
    width: u8,
    value: Node,
}

type Header = (HeaderId, VariantId, Vec<Node>);

/// What expressions speak of.
struct Facts {
    slots: Vec<Option<Slot>>,
    /// Octets, as `u64`s; none while they are not known.
    packet_size: Option<Node>,
    header_size: Option<Node>,
}

impl Facts {
    fn set(&mut self, index: FieldIndex, slot: Slot) {
        let index = index.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        self.slots[index] = Some(slot);
    }

    fn slot(&self, index: FieldIndex) -> Option<Slot> {
        self.slots.get(index.0 as usize).copied().flatten()
    }
}

fn zeros(region: &mut Region, header: HeaderId, variant: VariantId) -> Header {
    let automaton = region.automaton;
    let variants = &automaton.headers[header.index()].variants;
    let fields = variants.get(variant.index()).map_or(&[][..], |variant| &variant.fields);
    let fields = fields.iter().map(|(_, ty)| region.graph.constant(*ty, 0)).collect();
    (header, variant, fields)
}

fn type_of(automaton: &Automaton, header: HeaderId, variant: VariantId, field: u32) -> Type {
    automaton.headers[header.index()].variants[variant.index()].fields[field as usize].1
}

/// A checksum is asked for by itself; sizes and fields are expressions.
fn is_checksum(expression: &WireExpression) -> bool {
    matches!(expression, WireExpression::HeaderChecksum | WireExpression::PacketChecksum)
}

impl Region<'_> {
    fn long(&mut self, node: Node) -> Node {
        self.graph.cast(node, U64)
    }

    /// In `u64`, as wires count; none while a size is not known. Checksums are not among them.
    fn evaluate(&mut self, expression: &WireExpression, facts: &Facts) -> Followed<Node> {
        use WireExpression as E;
        let unknown = "a wire counts with a size that is not known yet";
        Ok(match expression {
            E::Number(value) => self.number(U64, *value),
            E::Field(index) => match facts.slot(*index) {
                Some(slot) => self.long(slot.value),
                None => self.number(U64, 0),
            },
            E::PacketSize => return facts.packet_size.map_or_else(|| self.no(unknown), Ok),
            E::HeaderSize => return facts.header_size.map_or_else(|| self.no(unknown), Ok),
            E::PayloadSize => match (facts.packet_size, facts.header_size) {
                (Some(packet), Some(header)) => self.graph.binary(Binary::SubWrap, packet, header),
                _ => return self.no(unknown),
            },
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                let (a, b) = (self.evaluate(a, facts)?, self.evaluate(b, facts)?);
                let op = match expression {
                    E::Add(..) => Binary::AddWrap,
                    E::Sub(..) => Binary::SubWrap,
                    E::Mul(..) => Binary::MulWrap,
                    _ => {
                        let zero = self.number(U64, 0);
                        let divides = self.graph.compare(Compare::Ne, b, zero);
                        self.guard(divides)?;
                        Binary::Div
                    }
                };
                self.graph.binary(op, a, b)
            }
            E::HeaderChecksum | E::PacketChecksum => return self.no("a wire counts with a checksum"),
        })
    }

    fn is_met(&mut self, test: &WireTest, facts: &Facts) -> Followed<Node> {
        let (left, right) = (self.evaluate(&test.left, facts)?, self.evaluate(&test.right, facts)?);
        Ok(self.graph.compare(test.compare, left, right))
    }

    fn all(&mut self, conditions: Vec<Node>) -> Node {
        let mut all = self.graph.truth(true);
        for condition in conditions {
            all = self.graph.binary(Binary::And, all, condition);
        }
        all
    }

    fn at_most(&mut self, value: Node, most: u64) -> Followed<()> {
        let ty = self.graph.ty(value);
        let most = self.number(ty, most);
        let fits = self.graph.compare(Compare::Le, value, most);
        self.guard(fits)
    }

    fn is(&mut self, value: Node, wanted: u64) -> Node {
        let ty = self.graph.ty(value);
        let wanted = self.number(ty, wanted);
        self.graph.compare(Compare::Eq, value, wanted)
    }

    // -- encoding

    /// The headers on top become octets.
    pub fn encode(&mut self, message: &mut Message, wire: WireId) -> Followed<()> {
        let wire = &self.automaton.wires[wire.index()];
        let mut headers: Vec<Header> = Vec::new();
        while message.headers.last().is_some_and(|top| wire.headers.contains(&top.0)) {
            headers.extend(message.headers.pop());
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
        };
        self.lay_out(&mut encoder, &wire.items)?;
        self.pad(&mut encoder, 1)?;
        let header = encoder.bits / 8;
        let octets = self.size_of(message);
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

    /// A number in so many bits; what does not fit has no path.
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
                    for arm in &options.arms {
                        let OptionArm::Known { kind, header, variant, field, items, repeat } = arm else { continue };
                        let there = encoder.header_field(*header, *variant, *field);
                        let Some(there) = there else { continue };
                        let absent = self.is(there, 0);
                        if self.decide(absent, Some(0.9))? {
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
                    self.pad(encoder, options.pad.max(1))?;
                }
                WireItem::List(list) => {
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

    /// Zeros up to a multiple of so many octets.
    fn pad(&mut self, encoder: &mut Encoder, octets: u32) -> Followed<()> {
        let end = encoder.bits.next_multiple_of(u64::from(octets) * 8);
        while encoder.bits < end {
            let width = (end - encoder.bits).min(8) as u8;
            let value = self.number(Type::U(width), 0);
            encoder.push(Field { width, endian: Endian::Big, value });
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

    /// The first arm that fits; its tag is set where the choice is on a tag.
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

    // -- decoding

    /// Octets become the wire's headers; where `only_checks`, they stay octets, and the packet is cut to its size.
    pub fn decode(&mut self, message: &mut Message, wire: WireId, only_checks: bool) -> Followed<()> {
        if !message.front.is_empty() {
            return self.no("reads what it has written itself");
        }
        let wire = &self.automaton.wires[wire.index()];
        let headers = wire.headers.iter().map(|header| zeros(self, *header, VariantId(0))).collect();
        let least: u64 = wire
            .items
            .iter()
            .map_while(|item| match item {
                WireItem::Field(field) => Some(u64::from(field.width)),
                _ => None,
            })
            .sum();
        let least = self.number(U64, least / 8);
        let size = self.long(message.size);
        let there = self.graph.compare(Compare::Ge, size, least);
        self.guard(there)?;
        let mut decoder = Decoder {
            message: message.clone(),
            end: message.size,
            least,
            bits: 0,
            headers,
            facts: Facts { slots: Vec::new(), packet_size: None, header_size: None },
            rules: Vec::new(),
            reach: None,
        };
        self.read_items(&mut decoder, &wire.items)?;
        let octets = decoder.bits.div_ceil(8);
        let end = self.long(decoder.end);
        decoder.facts.packet_size = Some(end);
        decoder.facts.header_size = Some(self.number(U64, octets));
        if let Some(reach) = decoder.reach {
            let ends = self.is(reach, octets);
            self.guard(ends)?;
        }
        for rule in std::mem::take(&mut decoder.rules) {
            self.must_keep(&decoder, rule)?;
        }
        if only_checks {
            message.size = decoder.end;
            return Ok(());
        }
        let taken = self.number(U32, octets);
        message.at = self.graph.binary(Binary::AddWrap, message.at, taken);
        message.size = self.minus(decoder.end, taken)?;
        message.headers.extend(decoder.headers.into_iter().rev());
        Ok(())
    }

    fn must_keep(&mut self, decoder: &Decoder, rule: Rule) -> Followed<()> {
        let own = decoder.facts.slot(rule.own);
        let left = match (&rule.left, own) {
            (Some(left), _) => self.evaluate(left, &decoder.facts)?,
            (None, Some(own)) => own.value,
            (None, None) => return self.no("has a rule about a field that is not there"),
        };
        if !is_checksum(&rule.right) {
            let (left, right) = (self.long(left), self.evaluate(&rule.right, &decoder.facts)?);
            let kept = self.graph.compare(rule.compare, left, right);
            return self.guard(kept);
        }
        let Some(own) = own.filter(|own| own.width == 16 && own.at.is_multiple_of(16)) else {
            return self.no("checks a sum in a field that is no 16-bit number");
        };
        let mut sum = self.number(U32, 0);
        for word in (0..decoder.bits.div_ceil(16)).filter(|word| word * 16 != own.at) {
            let part = self.read_bits(decoder, word * 16, 16.min(decoder.bits - word * 16) as u8, Endian::Big)?;
            let part = self.graph.wide(part);
            let part = match decoder.bits - word * 16 {
                left if left < 16 => {
                    let by = self.number(U32, 16 - left);
                    self.graph.binary(Binary::Shl, part, by)
                }
                _ => part,
            };
            sum = self.graph.binary(Binary::AddWrap, sum, part);
        }
        if rule.right == WireExpression::PacketChecksum {
            if !decoder.bits.is_multiple_of(16) {
                return self.no("adds up a packet behind a header of an odd number of octets");
            }
            self.at_most(decoder.end, 100_000)?;
            let header = self.number(U32, decoder.bits / 8);
            let at = self.graph.binary(Binary::AddWrap, decoder.message.at, header);
            let size = self.minus(decoder.end, header)?;
            let part = self.graph.add(crate::graph::Kind::Sum(decoder.message.given, at, size), U32);
            sum = self.graph.binary(Binary::AddWrap, sum, part);
        }
        let folded = self.graph.fold(sum);
        let right = self.graph.not(folded);
        let (left, right) = (self.long(left), self.long(right));
        let kept = self.graph.compare(rule.compare, left, right);
        self.guard(kept)
    }

    fn read_items(&mut self, decoder: &mut Decoder, items: &[WireItem]) -> Followed<()> {
        for item in items {
            match item {
                WireItem::Field(field) => self.read_field(decoder, field)?,
                WireItem::Choice { on, arms, .. } => self.read_choice(decoder, *on, arms)?,
                WireItem::Optional { when, items } => {
                    let tests = when.iter().map(|test| self.is_met(test, &decoder.facts)).collect::<Followed<_>>()?;
                    let met = self.all(tests);
                    if self.decide(met, None)? {
                        self.read_items(decoder, items)?;
                    }
                }
                WireItem::Options(options) => {
                    let until = self.evaluate(&options.until, &decoder.facts)?;
                    let none = self.is(until, decoder.bits.div_ceil(8));
                    self.guard(none)?;
                }
                WireItem::List(list) if list.to_end.is_none() => {
                    let count = decoder.headers.iter().find(|value| value.0 == list.header);
                    let Some(count) = count.and_then(|value| value.2.get(list.count as usize)).copied() else {
                        return self.no("reads a list that nobody counts");
                    };
                    let mut likely = vec![0.5 / (list.most() as f32).max(1.0); list.most() as usize + 1];
                    likely[0] = 0.5;
                    let elements = match self.graph.known(count) {
                        Some(count) => count as usize,
                        None => self.choose(&likely),
                    };
                    let as_many = self.is(count, elements as u64);
                    self.guard(as_many)?;
                    for element in list.elements.iter().take(elements) {
                        self.read_items(decoder, element)?;
                    }
                }
                WireItem::List(_) => return self.no("reads a list up to the packet's end"),
                WireItem::Reach(to) => decoder.reach = Some(self.evaluate(to, &decoder.facts)?),
            }
        }
        Ok(())
    }

    fn read_choice(&mut self, decoder: &mut Decoder, on: FieldIndex, arms: &[WireArm]) -> Followed<()> {
        let Some(slot) = decoder.facts.slot(on) else { return self.no("chooses by a field that is not there") };
        let place = match self.graph.known(slot.value) {
            Some(value) => arms.iter().position(|arm| arm.tag == value),
            None => Some(self.choose(&vec![1.0 / arms.len().max(1) as f32; arms.len()])),
        };
        let Some(arm) = place.and_then(|place| arms.get(place)) else { return self.no("reads what no way fits") };
        let this = self.is(slot.value, arm.tag);
        self.guard(this)?;
        for (header, variant) in &arm.selects {
            self.select_variant(decoder, *header, *variant);
        }
        for common in &arm.commons {
            let ty = type_of(self.automaton, common.header, common.variant, common.field);
            let value = self.number(ty, common.value);
            self.select_variant(decoder, common.header, common.variant);
            decoder.set_header_field(common.header, common.field, value);
        }
        self.read_items(decoder, &arm.items)?;
        let before = arms.iter().take(place.unwrap_or(0));
        for before in before.filter(|before| !before.commons.is_empty() && before.selects == arm.selects) {
            let mut conditions = Vec::new();
            for common in &before.commons {
                let found = decoder.headers.iter().find(|value| value.0 == common.header);
                conditions.push(match found.and_then(|value| value.2.get(common.field as usize)).copied() {
                    Some(value) => self.is(value, common.value),
                    None => self.graph.truth(false),
                });
            }
            let same = self.all(conditions);
            let other = self.graph.not(same);
            self.guard(other)?;
        }
        Ok(())
    }

    fn select_variant(&mut self, decoder: &mut Decoder, header: HeaderId, variant: VariantId) {
        if let Some(place) = decoder.headers.iter().position(|value| value.0 == header) {
            if decoder.headers[place].1 != variant {
                decoder.headers[place] = zeros(self, header, variant);
            }
        }
    }

    fn read_field(&mut self, decoder: &mut Decoder, field: &WireField) -> Followed<()> {
        let octets = (decoder.bits + u64::from(field.width)).div_ceil(8);
        let octets = self.number(U32, octets);
        let there = self.graph.compare(Compare::Ge, decoder.end, octets);
        self.guard(there)?;
        let value = self.read_bits(decoder, decoder.bits, field.width, field.endian)?;
        decoder.facts.set(field.index, Slot { at: decoder.bits, width: field.width, value });
        decoder.bits += u64::from(field.width);
        match &field.value {
            FieldValue::Constant { value: wanted, .. } => {
                if *wanted > mask(field.width) {
                    return self.no("never reads this constant");
                }
                let this = self.is(value, *wanted);
                self.guard(this)?;
            }
            FieldValue::Header { header, variant, field: place, times, plus, .. } => {
                let mut rest = value;
                if *plus > 0 {
                    let plus = self.number(U64, *plus);
                    let long = self.long(rest);
                    rest = self.minus(long, plus)?;
                }
                if *times > 1 {
                    let times = self.number(U64, *times);
                    let long = self.long(rest);
                    let over = self.graph.binary(Binary::Rem, long, times);
                    let whole = self.is(over, 0);
                    self.guard(whole)?;
                    rest = self.graph.binary(Binary::Div, long, times);
                }
                let ty = type_of(self.automaton, *header, *variant, *place);
                let width = ty.width(self.automaton);
                if self.graph.span(rest).1 > mask(width) {
                    self.at_most(rest, mask(width))?;
                }
                if let Some(ranges) = self.automaton.gaps(ty, width) {
                    let mut named = self.graph.truth(false);
                    for range in ranges {
                        let own = self.graph.ty(rest);
                        let (least, most) = (self.number(own, *range.start()), self.number(own, *range.end()));
                        let from = self.graph.compare(Compare::Ge, rest, least);
                        let to = self.graph.compare(Compare::Le, rest, most);
                        let within = self.graph.binary(Binary::And, from, to);
                        named = self.graph.binary(Binary::Or, named, within);
                    }
                    self.guard(named)?;
                }
                let value = self.graph.cast(rest, ty);
                self.select_variant(decoder, *header, *variant);
                decoder.set_header_field(*header, *place, value);
            }
            FieldValue::Computed { expression, .. } => {
                decoder.rules.push(Rule {
                    own: field.index,
                    left: None,
                    compare: Compare::Eq,
                    right: expression.clone(),
                });
            }
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
        }
        for constraint in &field.constraints {
            decoder.rules.push(Rule {
                own: field.index,
                left: Some(constraint.left.clone()),
                compare: constraint.compare,
                right: constraint.right.clone(),
            });
        }
        if field.trims_packet {
            let size = self.long(value);
            let plus = self.number(U64, field.trims_plus);
            let size = self.graph.binary(Binary::AddWrap, size, plus);
            let (end, read) = (self.long(decoder.end), self.number(U64, decoder.bits.div_ceil(8)));
            // The other fields that are always there are asked for at once.
            let whole = self.graph.compare(Compare::Ge, size, decoder.least);
            self.guard(whole)?;
            let fits = self.graph.compare(Compare::Le, size, end);
            self.guard(fits)?;
            let holds = self.graph.compare(Compare::Ge, size, read);
            self.guard(holds)?;
            decoder.end = self.graph.cast(size, U32);
        }
        Ok(())
    }

    /// Bits of the packet, which are there.
    fn read_bits(&mut self, decoder: &Decoder, bit: u64, width: u8, endian: Endian) -> Followed<Node> {
        let (given, first) = (decoder.message.given, decoder.message.at);
        let at = self.plus(first, bit / 8);
        if bit.is_multiple_of(8) && matches!(width, 8 | 16 | 24 | 32 | 48 | 64) {
            return Ok(self.load(given, OctetField { width, endian }, at));
        }
        if bit.is_multiple_of(8) && width.is_multiple_of(8) && endian == Endian::Little {
            return self.no("reads a number of an odd number of octets, the low ones first");
        }
        let octets = (bit % 8 + u64::from(width)).div_ceil(8);
        let Some(octets) = [1u64, 2, 3, 4, 6, 8].into_iter().find(|wide| *wide >= octets) else {
            return self.no("reads a field of more than eight octets");
        };
        let behind = self.number(U32, bit / 8 + octets);
        let there = self.graph.compare(Compare::Ge, decoder.end, behind);
        self.guard(there)?;
        let all = OctetField { width: octets as u8 * 8, endian: Endian::Big };
        let loaded = self.load(given, all, at);
        let by = self.number(all.ty(), octets * 8 - bit % 8 - u64::from(width));
        let shifted = self.graph.binary(Binary::Shr, loaded, by);
        let ones = self.number(all.ty(), mask(width));
        let value = self.graph.binary(Binary::And, shifted, ones);
        Ok(self.graph.cast(value, Type::U(width)))
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
}

impl Encoder {
    fn push(&mut self, field: Field) {
        self.bits += u64::from(field.width);
        self.fields.push(field);
    }

    fn header_field(&self, header: HeaderId, variant: VariantId, field: u32) -> Option<Node> {
        let found = self.headers.iter().find(|value| value.0 == header && value.1 == variant)?;
        found.2.get(field as usize).copied()
    }

    /// Another value for the field that begins at a bit.
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

struct Decoder {
    message: Message,
    /// Octets of the packet, after the trim.
    end: Node,
    /// Octets of the fields that every packet has, up to the first that some have.
    least: Node,
    bits: u64,
    headers: Vec<Header>,
    facts: Facts,
    rules: Vec<Rule>,
    reach: Option<Node>,
}

/// What every accepted packet keeps.
struct Rule {
    own: FieldIndex,
    left: Option<WireExpression>,
    compare: Compare,
    right: WireExpression,
}

impl Decoder {
    fn set_header_field(&mut self, header: HeaderId, field: u32, value: Node) {
        if let Some(found) = self.headers.iter_mut().find(|value| value.0 == header) {
            if let Some(place) = found.2.get_mut(field as usize) {
                *place = value;
            }
        }
    }
}
