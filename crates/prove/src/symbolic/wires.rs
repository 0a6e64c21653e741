//! Wires as terms: the encoder's octets, the decoder's conditions and fields.

use std::collections::BTreeMap;

use mokume_reaction::{
    Compare, Endian, FieldIndex, FieldValue, HeaderId, ReasonId, VariantId, WireExpression, WireField, WireId,
    WireItem, WireTest,
};

use super::message::{fold16, join, split};
use super::{Message, Reader, Value};
use crate::term::{Operator, Sort, Term};

/// Whether a decoder takes the headers off, or only checks the octets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Headers {
    Taken,
    Left,
}

/// A way through a decoder.
pub(super) struct Decoded {
    pub condition: Vec<Term>,
    pub result: Result<Message, ReasonId>,
}

/// Computed fields are of 64 bits until they are cut to their width.
const WIDE: u32 = 64;

const OPTIONS: &str = "options of a wire: a loop over the packet";
const COMMONS: &str = "header fields that are left out for their values";
const LIST: &str = "a list whose elements differ in size";
const REACH: &str = "a header that reaches into the message";

fn has_commons(arms: &[mokume_reaction::WireArm]) -> bool {
    arms.iter().any(|arm| !arm.commons.is_empty())
}

/// A field's value that is filled in when the rest is known.
struct Late<'a> {
    octet: usize,
    field: &'a WireField,
    expression: &'a WireExpression,
}

struct Encoder<'a> {
    /// Bits of an octet that is not full yet: the number so far.
    partial: Option<Term>,
    octets: Vec<Term>,
    fields: BTreeMap<FieldIndex, Term>,
    late: Vec<Late<'a>>,
    /// When a field is too narrow for its value, which is reported.
    narrow: Vec<Term>,
}

impl Reader<'_> {
    /// Takes the wire's headers off and puts their octets in front. The result: each of these terms that holds is reported.
    pub(super) fn encode(&mut self, message: &mut Message, wire: WireId) -> Result<Vec<Term>, String> {
        let automaton = self.automaton;
        let wire = &automaton.wires[wire.index()];
        let mut headers: BTreeMap<HeaderId, (VariantId, Vec<Value>)> = BTreeMap::new();
        for expected in &wire.headers {
            let (found, variant, fields) = message.headers.pop().ok_or("a header that is not there")?;
            if found != *expected {
                return Err("another header than the wire carries".into());
            }
            headers.insert(found, (variant, fields));
        }
        let mut encoder = Encoder {
            partial: None,
            octets: Vec::new(),
            fields: BTreeMap::new(),
            late: Vec::new(),
            narrow: Vec::new(),
        };
        self.encode_items(&wire.items, &headers, &mut encoder)?;
        if encoder.partial.is_some() {
            return Err("a wire that ends within an octet".into());
        }
        let header_size = encoder.octets.len() as u64;
        let payload = message.size(self.terms);
        let mut front = encoder.octets;
        front.append(&mut message.front);
        message.front = front;
        for late in std::mem::take(&mut encoder.late) {
            let value = self.expression(late.expression, &encoder.fields, header_size, payload, message)?;
            let (value, over) = self.narrowed(value, u32::from(late.field.width));
            encoder.narrow.extend(over);
            let parts = split(self.terms, value, late.field.endian);
            message.front[late.octet..late.octet + parts.len()].copy_from_slice(&parts);
        }
        Ok(encoder.narrow)
    }

    /// The low bits of a wide number, and when it has others; never, if it cannot be wider.
    fn narrowed(&mut self, wide: Term, width: u32) -> (Term, Option<Term>) {
        let most = self.terms.number(u64::MAX >> (WIDE - width.min(WIDE)), WIDE);
        let over = self.terms.less(most, wide);
        (self.terms.resize(wide, width), (self.terms.constant(over) != Some(0)).then_some(over))
    }

    fn encode_items<'w>(
        &mut self,
        items: &'w [WireItem],
        headers: &BTreeMap<HeaderId, (VariantId, Vec<Value>)>,
        encoder: &mut Encoder<'w>,
    ) -> Result<(), String> {
        for item in items {
            match item {
                WireItem::Field(field) => {
                    let tag = match field.value {
                        FieldValue::Tag => Some(self.tag_of(items, field.index, headers)?),
                        _ => None,
                    };
                    self.encode_field(field, tag, headers, encoder)?;
                }
                WireItem::Choice { arms, .. } if has_commons(arms) => return Err(COMMONS.into()),
                WireItem::Choice { on, arms, .. } => {
                    let chosen = encoder.fields.get(on).and_then(|term| self.terms.constant(*term));
                    let arm = arms.iter().find(|arm| {
                        if arm.selects.is_empty() {
                            chosen == Some(arm.tag)
                        } else {
                            arm.selects
                                .iter()
                                .all(|(header, variant)| headers.get(header).is_some_and(|(v, _)| v == variant))
                        }
                    });
                    let arm = arm.ok_or("a choice whose tag is not constant")?;
                    self.encode_items(&arm.items, headers, encoder)?;
                }
                WireItem::Optional { when, items } => {
                    let condition = self.presence(when, &encoder.fields)?;
                    match self.terms.constant(condition) {
                        Some(0) => {}
                        Some(_) => self.encode_items(items, headers, encoder)?,
                        None => return Err("an optional part whose condition is not constant".into()),
                    }
                }
                WireItem::Options(_) => return Err(OPTIONS.into()),
                WireItem::List(_) => return Err(LIST.into()),
                WireItem::Reach(_) => return Err(REACH.into()),
            }
        }
        Ok(())
    }

    /// The tag that the headers at hand ask for, from the choice that names the field.
    fn tag_of(
        &self,
        items: &[WireItem],
        index: FieldIndex,
        headers: &BTreeMap<HeaderId, (VariantId, Vec<Value>)>,
    ) -> Result<u64, String> {
        let arms = items.iter().find_map(|item| match item {
            WireItem::Choice { on, arms, .. } if *on == index => Some(arms),
            _ => None,
        });
        let arm = arms.and_then(|arms| {
            arms.iter().find(|arm| {
                arm.selects.iter().all(|(header, variant)| headers.get(header).is_some_and(|(v, _)| v == variant))
            })
        });
        arm.map(|arm| arm.tag).ok_or_else(|| "a tag without an arm".to_string())
    }

    fn encode_field<'w>(
        &mut self,
        field: &'w WireField,
        tag: Option<u64>,
        headers: &BTreeMap<HeaderId, (VariantId, Vec<Value>)>,
        encoder: &mut Encoder<'w>,
    ) -> Result<(), String> {
        let width = u32::from(field.width);
        let value = match (&field.value, tag) {
            (FieldValue::Tag, Some(tag)) => self.terms.number(tag, width),
            (FieldValue::Constant { value, .. }, _) => self.terms.number(*value, width),
            (FieldValue::Placed | FieldValue::Reserved | FieldValue::Tag, _) => self.terms.number(0, width),
            (FieldValue::Header { header, field: index, times, plus, .. }, _) => {
                let (_, fields) = headers.get(header).ok_or("a header that is not there")?;
                let Some(Value::Bits(term)) = fields.get(*index as usize) else { return Err("no such field".into()) };
                let term = *term;
                let wide = self.terms.resize(term, WIDE);
                let (times, plus) = (self.terms.number(*times, WIDE), self.terms.number(*plus, WIDE));
                let product = self.terms.binary(Operator::Mul, wide, times);
                let sum = self.terms.binary(Operator::Add, product, plus);
                let (value, over) = self.narrowed(sum, width);
                encoder.narrow.extend(over);
                value
            }
            (FieldValue::Computed { expression, .. }, _) => {
                if encoder.partial.is_some() || width % 8 != 0 {
                    let header_only = matches!(expression, WireExpression::Number(_));
                    if !header_only && !self.is_constant_size(expression) {
                        return Err("a computed field within an octet".into());
                    }
                    return Err("a computed field within an octet".into());
                }
                encoder.late.push(Late { octet: encoder.octets.len(), field, expression });
                self.terms.number(0, width)
            }
        };
        encoder.fields.insert(field.index, value);
        self.append(encoder, value, field.endian);
        Ok(())
    }

    fn is_constant_size(&self, expression: &WireExpression) -> bool {
        matches!(expression, WireExpression::HeaderSize | WireExpression::Number(_))
    }

    fn append(&mut self, encoder: &mut Encoder<'_>, value: Term, endian: Endian) {
        let width = self.terms.width(value);
        if encoder.partial.is_none() && width.is_multiple_of(8) {
            encoder.octets.extend(split(self.terms, value, endian));
            return;
        }
        let mut bits = match encoder.partial.take() {
            Some(partial) => self.terms.concat(partial, value),
            None => value,
        };
        while self.terms.width(bits) >= 8 {
            let all = self.terms.width(bits);
            encoder.octets.push(self.terms.extract(all - 1, all - 8, bits));
            if all == 8 {
                return;
            }
            bits = self.terms.extract(all - 9, 0, bits);
        }
        encoder.partial = Some(bits);
    }

    /// A size or checksum over a packet whose octets stand in `message.front` (fields that come late still zero).
    fn expression(
        &mut self,
        expression: &WireExpression,
        fields: &BTreeMap<FieldIndex, Term>,
        header_size: u64,
        payload: Term,
        message: &Message,
    ) -> Result<Term, String> {
        use WireExpression as E;
        Ok(match expression {
            E::Number(value) => self.terms.number(*value, WIDE),
            E::Field(index) => {
                let term = *fields.get(index).ok_or("a field that is not known yet")?;
                self.terms.resize(term, WIDE)
            }
            E::HeaderSize => self.terms.number(header_size, WIDE),
            E::PayloadSize => self.terms.resize(payload, WIDE),
            E::PacketSize => {
                let (payload, header) = (self.terms.resize(payload, WIDE), self.terms.number(header_size, WIDE));
                self.terms.binary(Operator::Add, payload, header)
            }
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                let operator = match expression {
                    E::Add(..) => Operator::Add,
                    E::Sub(..) => Operator::Sub,
                    E::Mul(..) => Operator::Mul,
                    _ => Operator::Div,
                };
                let a = self.expression(a, fields, header_size, payload, message)?;
                let b = self.expression(b, fields, header_size, payload, message)?;
                self.terms.binary(operator, a, b)
            }
            E::HeaderChecksum => {
                let mut header = message.clone();
                header.front.truncate(header_size as usize);
                header.base.size = self.terms.number(0, 32);
                self.checksum(&header, header_size as usize)
            }
            E::PacketChecksum => self.checksum(message, message.front.len()),
        })
    }

    fn checksum(&mut self, message: &Message, known: usize) -> Term {
        let sum = if known == message.front.len() && self.terms.constant(message.base.size) == Some(0) {
            let mut sum = self.terms.number(0, 32);
            for (index, octet) in message.front.iter().enumerate() {
                let wide = self.terms.resize(*octet, 32);
                let shift = self.terms.number(if index % 2 == 0 { 8 } else { 0 }, 32);
                let word = self.terms.binary(Operator::Shl, wide, shift);
                sum = self.terms.binary(Operator::Add, sum, word);
            }
            sum
        } else {
            message.sum16(self.terms)
        };
        let folded = fold16(self.terms, sum);
        let ones = self.terms.number(0xffff, 16);
        let complement = self.terms.binary(Operator::Xor, folded, ones);
        self.terms.resize(complement, WIDE)
    }

    /// All ways through the decoder of a wire whose choices are on fields of the packet.
    pub(super) fn decode(&mut self, packet: &Message, wire: WireId, headers: Headers) -> Result<Vec<Decoded>, String> {
        let automaton = self.automaton;
        let described = &automaton.wires[wire.index()];
        let mut done = Vec::new();
        let start = Decoder {
            condition: Vec::new(),
            bit: 0,
            fields: BTreeMap::new(),
            headers: BTreeMap::new(),
            variants: BTreeMap::new(),
            checks: Vec::new(),
            trim: None,
        };
        let good = self.decode_items(packet, described.short, &described.items, vec![start], &mut done)?;
        for decoder in good {
            self.finish_decoding(packet, wire, decoder, headers, &mut done)?;
        }
        Ok(done)
    }

    fn decode_items<'w>(
        &mut self,
        packet: &Message,
        short: ReasonId,
        items: &'w [WireItem],
        mut decoders: Vec<Decoder<'w>>,
        done: &mut Vec<Decoded>,
    ) -> Result<Vec<Decoder<'w>>, String> {
        for item in items {
            let mut next = Vec::new();
            for mut decoder in decoders {
                match item {
                    WireItem::Field(field) => {
                        if self.decode_field(packet, short, field, &mut decoder, done)? {
                            next.push(decoder);
                        }
                    }
                    WireItem::Choice { arms, .. } if has_commons(arms) => return Err(COMMONS.into()),
                    WireItem::Choice { on, arms, unknown } => {
                        let tag = *decoder.fields.get(on).ok_or("a choice on a field that is not known yet")?;
                        let width = self.terms.width(tag);
                        let mut missed = decoder.condition.clone();
                        for arm in arms {
                            let number = self.terms.number(arm.tag, width);
                            let hit = self.terms.equal(tag, number);
                            missed.push(self.terms.not(hit));
                            let mut taken = decoder.clone();
                            taken.condition.push(hit);
                            taken.variants.extend(arm.selects.iter().copied());
                            next.extend(self.decode_items(packet, short, &arm.items, vec![taken], done)?);
                        }
                        done.push(Decoded { condition: missed, result: Err(*unknown) });
                    }
                    WireItem::Optional { when, items } => {
                        let there = self.presence(when, &decoder.fields)?;
                        let mut without = decoder.clone();
                        without.condition.push(self.terms.not(there));
                        self.leave_out(items, &mut without);
                        next.push(without);
                        decoder.condition.push(there);
                        next.extend(self.decode_items(packet, short, items, vec![decoder], done)?);
                    }
                    WireItem::Options(_) => return Err(OPTIONS.into()),
                    WireItem::List(_) => return Err(LIST.into()),
                    WireItem::Reach(_) => return Err(REACH.into()),
                }
            }
            decoders = next;
        }
        Ok(decoders)
    }

    /// Comparisons of fields that are known, as one term.
    fn presence(&mut self, when: &[WireTest], fields: &BTreeMap<FieldIndex, Term>) -> Result<Term, String> {
        let mut all = Vec::new();
        for test in when {
            let (left, right) = (self.plain(&test.left, fields)?, self.plain(&test.right, fields)?);
            all.push(self.plain_comparison(test.compare, left, right));
        }
        Ok(self.terms.all(&all))
    }

    /// An expression of fields and numbers, 64 bits wide.
    fn plain(&mut self, expression: &WireExpression, fields: &BTreeMap<FieldIndex, Term>) -> Result<Term, String> {
        use WireExpression as E;
        let operator = match expression {
            E::Number(value) => return Ok(self.terms.number(*value, WIDE)),
            E::Field(index) => {
                let term = *fields.get(index).ok_or("a field that is not known yet")?;
                return Ok(self.terms.resize(term, WIDE));
            }
            E::Add(..) => Operator::Add,
            E::Sub(..) => Operator::Sub,
            E::Mul(..) => Operator::Mul,
            E::Div(..) => Operator::Div,
            _ => return Err("a condition on a size".into()),
        };
        let (E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b)) = expression else { return Err("".into()) };
        let (a, b) = (self.plain(a, fields)?, self.plain(b, fields)?);
        Ok(self.terms.binary(operator, a, b))
    }

    /// The header fields of a part that is not there are zero.
    fn leave_out(&mut self, items: &[WireItem], decoder: &mut Decoder<'_>) {
        for field in WireItem::fields(items) {
            if let FieldValue::Header { header, field: index, .. } = &field.value {
                let zero = self.terms.number(0, WIDE);
                decoder.headers.insert((*header, *index), zero);
            }
        }
    }

    /// Whether the field can be there at all.
    fn decode_field<'w>(
        &mut self,
        packet: &Message,
        short: ReasonId,
        field: &'w WireField,
        decoder: &mut Decoder<'w>,
        done: &mut Vec<Decoded>,
    ) -> Result<bool, String> {
        let width = u32::from(field.width);
        let (first, last) = (decoder.bit / 8, (decoder.bit + width - 1) / 8);
        let size = packet.size(self.terms);
        let end = self.terms.number(u64::from(last) + 1, 32);
        let cut = self.terms.less(size, end);
        let mut condition = decoder.condition.clone();
        condition.push(cut);
        done.push(Decoded { condition, result: Err(short) });
        let long = self.terms.not(cut);
        decoder.condition.push(long);
        let octets: Vec<Term> = (first..=last).map(|at| packet.octet(self.terms, at)).collect();
        let value = if decoder.bit.is_multiple_of(8) && width.is_multiple_of(8) {
            join(self.terms, &octets, field.endian)
        } else {
            let whole = join(self.terms, &octets, Endian::Big);
            let unused = (last + 1) * 8 - (decoder.bit + width);
            self.terms.extract(unused + width - 1, unused, whole)
        };
        decoder.bit += width;
        decoder.fields.insert(field.index, value);
        match &field.value {
            FieldValue::Constant { value: wanted, otherwise } => {
                let wanted = self.terms.number(*wanted, width);
                let same = self.terms.equal(value, wanted);
                decoder.checks.push(Check::Truth(same, *otherwise));
            }
            FieldValue::Header { header, field: index, times, plus, otherwise, .. } => {
                let (plain, exact) = self.invert(value, *times, *plus);
                if let Some(reason) = otherwise {
                    decoder.checks.push(Check::Truth(exact, *reason));
                }
                decoder.headers.insert((*header, *index), plain);
            }
            FieldValue::Computed { expression, otherwise } => {
                decoder.checks.push(Check::Computed(field, expression, *otherwise, decoder.bit - width));
            }
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
        }
        for constraint in &field.constraints {
            decoder.checks.push(Check::Constraint(constraint));
        }
        if field.trims_packet {
            let (wide, plus) = (self.terms.resize(value, WIDE), self.terms.number(field.trims_plus, WIDE));
            decoder.trim = Some(match field.trims_plus {
                0 => value,
                _ => self.terms.binary(Operator::Add, wide, plus),
            });
        }
        Ok(true)
    }

    /// `(value - plus) / times`, and whether that is exact; 64 bits.
    fn invert(&mut self, value: Term, times: u64, plus: u64) -> (Term, Term) {
        let wide = self.terms.resize(value, WIDE);
        let (times, plus) = (self.terms.number(times, WIDE), self.terms.number(plus, WIDE));
        let rest = self.terms.binary(Operator::Sub, wide, plus);
        let plain = self.terms.binary(Operator::Div, rest, times);
        let back = self.terms.binary(Operator::Mul, plain, times);
        let (enough, same) = (self.terms.less_equal(plus, wide), self.terms.equal(back, rest));
        (plain, self.terms.all(&[enough, same]))
    }

    fn finish_decoding(
        &mut self,
        packet: &Message,
        wire: WireId,
        decoder: Decoder<'_>,
        taking: Headers,
        done: &mut Vec<Decoded>,
    ) -> Result<(), String> {
        let automaton = self.automaton;
        let described = &automaton.wires[wire.index()];
        let Decoder { mut condition, bit, fields, headers, variants, checks, trim } = decoder;
        let header_octets = bit / 8;
        let mut trimmed = packet.clone();
        if let Some(size) = trim {
            let size = self.terms.resize(size, 32);
            let whole = packet.size(self.terms);
            let over = self.terms.less(whole, size);
            let mut cut = condition.clone();
            cut.push(over);
            done.push(Decoded { condition: cut, result: Err(described.short) });
            condition.push(self.terms.not(over));
            trimmed.trim(self.terms, size);
        }
        let whole = trimmed.size(self.terms);
        let header_size = self.terms.number(u64::from(header_octets), 32);
        let payload = self.terms.binary(Operator::Sub, whole, header_size);
        for check in checks {
            let (good, reason) = match check {
                Check::Truth(good, reason) => (good, reason),
                Check::Computed(field, expression, reason, at) => {
                    let seen = self.known_front(&trimmed, header_octets, field, at);
                    let value = self.expression(expression, &fields, u64::from(header_octets), payload, &seen)?;
                    let value = self.terms.resize(value, u32::from(field.width));
                    (self.terms.equal(value, fields[&field.index]), reason)
                }
                Check::Constraint(constraint) => {
                    let left =
                        self.expression(&constraint.left, &fields, u64::from(header_octets), payload, &trimmed)?;
                    let right =
                        self.expression(&constraint.right, &fields, u64::from(header_octets), payload, &trimmed)?;
                    (self.plain_comparison(constraint.compare, left, right), constraint.otherwise)
                }
            };
            let mut failed = condition.clone();
            failed.push(self.terms.not(good));
            done.push(Decoded { condition: failed, result: Err(reason) });
            condition.push(good);
        }
        let mut message = trimmed;
        let base = message.base;
        message.received.insert(wire, (base, message.front.len()));
        if taking == Headers::Taken {
            message.skip(self.terms, header_octets);
            for header in described.headers.iter().rev() {
                let variant = variants.get(header).copied().unwrap_or(VariantId(0));
                let kinds = &automaton.headers[header.index()].variants[variant.index()].fields;
                let mut values = Vec::new();
                for (index, (_, ty)) in kinds.iter().enumerate() {
                    let term = *headers.get(&(*header, index as u32)).ok_or("a field that the wire does not carry")?;
                    let term = self.terms.resize(term, u32::from(ty.width(automaton)));
                    let is_truth = super::sort_of(automaton, *ty) == Sort::Bool;
                    values.push(Value::Bits(if is_truth { self.terms.as_truth(term) } else { term }));
                }
                message.headers.push((*header, variant, values));
            }
        }
        done.push(Decoded { condition, result: Ok(message) });
        Ok(())
    }

    /// The packet with its header octets named one by one, a computed field's own ones zero.
    fn known_front(&mut self, packet: &Message, octets: u32, field: &WireField, at: u32) -> Message {
        let mut seen = packet.clone();
        let front: Vec<Term> = (0..octets).map(|i| packet.octet(self.terms, i)).collect();
        seen.skip(self.terms, octets);
        seen.front = front;
        if at.is_multiple_of(8) {
            for i in 0..u32::from(field.width) / 8 {
                seen.front[(at / 8 + i) as usize] = self.terms.number(0, 8);
            }
        }
        seen
    }

    fn plain_comparison(&mut self, op: Compare, a: Term, b: Term) -> Term {
        match op {
            Compare::Eq => self.terms.equal(a, b),
            Compare::Ne => {
                let same = self.terms.equal(a, b);
                self.terms.not(same)
            }
            Compare::Lt => self.terms.less(a, b),
            Compare::Le => self.terms.less_equal(a, b),
            Compare::Gt => self.terms.less(b, a),
            Compare::Ge => self.terms.less_equal(b, a),
        }
    }
}

#[derive(Clone)]
enum Check<'w> {
    Truth(Term, ReasonId),
    Computed(&'w WireField, &'w WireExpression, ReasonId, u32),
    Constraint(&'w mokume_reaction::WireConstraint),
}

#[derive(Clone)]
struct Decoder<'w> {
    condition: Vec<Term>,
    bit: u32,
    fields: BTreeMap<FieldIndex, Term>,
    headers: BTreeMap<(HeaderId, u32), Term>,
    variants: BTreeMap<HeaderId, VariantId>,
    checks: Vec<Check<'w>>,
    trim: Option<Term>,
}
