//! Decoders as terms: all ways through one, each with its condition and its result.

use std::collections::BTreeMap;

use mokume_reaction::{
    Endian, FieldIndex, FieldValue, HeaderId, OptionArm, ReasonId, Type, VariantId, Wire, WireArm, WireConstraint,
    WireExpression, WireField, WireId, WireItem, WireOptions,
};

use super::message::join;
use super::wires::{LIST, OPTIONS, REACH, WIDE};
use super::{sort_of, Message, Reader, Value};
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

/// A check of a packet after all of its header is read.
#[derive(Clone)]
enum Check<'w> {
    Truth(Term, ReasonId),
    /// The field, the value that it must have, and the bit where it begins.
    Computed(&'w WireField, &'w WireExpression, ReasonId, u32),
    Constraint(&'w WireConstraint),
}

/// One way through the items, as far as it is read.
#[derive(Clone, Default)]
struct Decoder<'w> {
    condition: Vec<Term>,
    bit: u32,
    fields: BTreeMap<FieldIndex, Term>,
    headers: BTreeMap<(HeaderId, u32), Term>,
    variants: BTreeMap<HeaderId, VariantId>,
    checks: Vec<Check<'w>>,
    /// The number of octets of the packet, if a field has set it.
    end: Option<Term>,
}

/// The decoding, and the ways that have ended.
struct Decoding<'m, 'w> {
    packet: &'m Message,
    id: WireId,
    wire: &'w Wire,
    done: Vec<Decoded>,
}

impl Decoding<'_, '_> {
    /// Refuses the packet on this way if `bad` holds too.
    fn refuse(&mut self, condition: &[Term], bad: Term, reason: ReasonId) {
        self.done.push(Decoded { condition: [condition, &[bad]].concat(), result: Err(reason) });
    }
}

impl Reader<'_> {
    /// All ways through the decoder of a wire whose choices are on fields of the packet.
    pub(super) fn decode(&mut self, packet: &Message, wire: WireId, headers: Headers) -> Result<Vec<Decoded>, String> {
        let automaton = self.automaton;
        let described = &automaton.wires[wire.index()];
        let mut at = Decoding { packet, id: wire, wire: described, done: Vec::new() };
        for decoder in self.decode_items(&mut at, &described.items, vec![Decoder::default()])? {
            self.finish_decoding(&mut at, decoder, headers)?;
        }
        Ok(at.done)
    }

    /// The decoders after the items, one for each way.
    fn decode_items<'w>(
        &mut self,
        at: &mut Decoding<'_, 'w>,
        items: &'w [WireItem],
        mut decoders: Vec<Decoder<'w>>,
    ) -> Result<Vec<Decoder<'w>>, String> {
        for item in items {
            let mut next = Vec::new();
            for decoder in decoders {
                next.extend(self.decode_item(at, item, decoder)?);
            }
            decoders = next;
        }
        Ok(decoders)
    }

    fn decode_item<'w>(
        &mut self,
        at: &mut Decoding<'_, 'w>,
        item: &'w WireItem,
        mut decoder: Decoder<'w>,
    ) -> Result<Vec<Decoder<'w>>, String> {
        match item {
            WireItem::Field(field) => {
                self.decode_field(at, field, &mut decoder);
                Ok(vec![decoder])
            }
            WireItem::Choice { on, arms, unknown } => self.decode_choice(at, (*on, arms, *unknown), decoder),
            WireItem::Optional { when, items } => {
                let there = self.presence(when, &decoder.fields)?;
                let absent = self.terms.not(there);
                let mut without = decoder.clone();
                self.leave_out(items, &mut without);
                let without = self.with(without, absent).into_iter();
                let with: Vec<Decoder> = self.with(decoder, there).into_iter().collect();
                Ok(without.chain(self.decode_items(at, items, with)?).collect())
            }
            WireItem::Options(options) => {
                if !decoder.bit.is_multiple_of(8) {
                    return Err(OPTIONS.into());
                }
                options.arms.iter().for_each(|arm| self.leave_out(arm.items(), &mut decoder));
                self.leave_out_options(options, &mut decoder);
                let none = self.place(&options.until, &decoder.fields, decoder.bit / 8)?;
                match self.decide(none) {
                    Some(true) => Ok(vec![decoder]),
                    _ => self.decode_options(at, options, decoder),
                }
            }
            WireItem::List(list) if list.to_end.is_none() => {
                let zero = self.terms.number(0, WIDE);
                let count = decoder.headers.get(&(list.header, list.count)).copied().unwrap_or(zero);
                let mut ways = Vec::new();
                for elements in 0..=list.most() {
                    let so_many = self.terms.number(elements, WIDE);
                    let is_so_many = match elements == list.most() {
                        true => self.terms.less_equal(so_many, count),
                        false => self.terms.equal(count, so_many),
                    };
                    let mut way = self.with(decoder.clone(), is_so_many).into_iter().collect();
                    for (place, element) in list.elements.iter().enumerate() {
                        if (place as u64) < elements {
                            way = self.decode_items(at, element, way)?;
                        } else {
                            way.iter_mut().for_each(|way| self.leave_out(element, way));
                        }
                    }
                    ways.extend(way);
                }
                Ok(ways)
            }
            WireItem::List(_) => Err(LIST.into()),
            WireItem::Reach(to) => {
                let is_here = self.place(to, &decoder.fields, decoder.bit.div_ceil(8))?;
                match self.decide(is_here) {
                    Some(true) => Ok(vec![decoder]),
                    _ => Err(REACH.into()),
                }
            }
        }
    }

    /// The way with one more condition; `None` if it is never taken.
    fn with<'w>(&mut self, mut decoder: Decoder<'w>, condition: Term) -> Option<Decoder<'w>> {
        decoder.condition.push(condition);
        let all = self.terms.all(&decoder.condition);
        (self.terms.constant(all) != Some(0)).then_some(decoder)
    }

    /// One way for each arm; if no tag matches, the packet is refused.
    fn decode_choice<'w>(
        &mut self,
        at: &mut Decoding<'_, 'w>,
        (on, arms, unknown): (FieldIndex, &'w [WireArm], ReasonId),
        decoder: Decoder<'w>,
    ) -> Result<Vec<Decoder<'w>>, String> {
        let tag = *decoder.fields.get(&on).ok_or("a choice on a field that is not known yet")?;
        let width = self.terms.width(tag);
        let mut ways = Vec::new();
        let mut missed = decoder.condition.clone();
        for (place, arm) in arms.iter().enumerate() {
            let number = self.terms.number(arm.tag, width);
            let hit = self.terms.equal(tag, number);
            missed.push(self.terms.not(hit));
            let Some(mut taken) = self.with(decoder.clone(), hit) else { continue };
            taken.variants.extend(arm.selects.iter().copied());
            for common in &arm.commons {
                taken.variants.insert(common.header, common.variant);
                let value = self.terms.number(common.value, WIDE);
                taken.headers.insert((common.header, common.field), value);
            }
            let mut read = self.decode_items(at, &arm.items, vec![taken])?;
            // A packet that an earlier arm could have encoded is refused.
            for before in
                arms[..place].iter().filter(|before| !before.commons.is_empty() && before.selects == arm.selects)
            {
                for way in &mut read {
                    let mut same = Vec::new();
                    for common in &before.commons {
                        let value = self.terms.number(common.value, WIDE);
                        let found = way.headers.get(&(common.header, common.field)).copied();
                        same.push(match found {
                            Some(found) => self.terms.equal(found, value),
                            None => self.terms.truth(common.value == 0),
                        });
                    }
                    let same = self.terms.all(&same);
                    at.refuse(&way.condition, same, unknown);
                    way.condition.push(self.terms.not(same));
                }
            }
            ways.extend(read);
        }
        at.done.push(Decoded { condition: missed, result: Err(unknown) });
        Ok(ways)
    }

    /// Options whose kinds and ends are known, octet by octet.
    fn decode_options<'w>(
        &mut self,
        at: &mut Decoding<'_, 'w>,
        options: &'w WireOptions,
        mut decoder: Decoder<'w>,
    ) -> Result<Vec<Decoder<'w>>, String> {
        let until = self.plain(&options.until, &decoder.fields)?;
        let end = self.number_of(until).filter(|end| *end >= u64::from(decoder.bit / 8) && *end < 1 << 16);
        let end = end.ok_or(OPTIONS)? as u32;
        let (size, all) = (self.end(at, &decoder), self.terms.number(u64::from(end), 32));
        let cut = self.terms.less(size, all);
        at.refuse(&decoder.condition, cut, at.wire.short);
        decoder.condition.push(self.terms.not(cut));
        let (kind, length) = (u32::from(options.kind.width / 8), u32::from(options.length.width / 8));
        let mut decoders = vec![decoder];
        let mut place = decoders[0].bit / 8;
        while place < end {
            let found = at.packet.number(self.terms, place, kind, options.endian);
            let found = self.number_of(found).filter(|_| place + kind <= end).ok_or(OPTIONS)?;
            let arm = options.arms.iter().find(|arm| arm.kind() == found);
            match arm {
                Some(OptionArm::End { .. }) => break,
                Some(OptionArm::Single { .. }) => {
                    place += kind;
                    continue;
                }
                _ => {}
            }
            let said = at.packet.number(self.terms, place + kind, length, options.endian);
            let said =
                self.number_of(said).filter(|said| *said < 1 << 16 && place + kind + length <= end).ok_or(OPTIONS)?;
            let octets = (said * options.times + options.plus) as u32;
            if octets < options.head() || octets > end - place {
                return Err(OPTIONS.into());
            }
            match arm {
                Some(OptionArm::Known { header, field, items, repeat: None, .. })
                    if octets == options.head() + arm.map_or(0, OptionArm::octets) =>
                {
                    let there = self.terms.number(1, WIDE);
                    for decoder in &mut decoders {
                        decoder.bit = (place + options.head()) * 8;
                        decoder.headers.insert((*header, *field), there);
                    }
                    decoders = self.decode_items(at, items, decoders)?;
                }
                None if options.unknown.is_none() => {}
                _ => return Err(OPTIONS.into()),
            }
            place += octets;
        }
        decoders.iter_mut().for_each(|decoder| decoder.bit = end * 8);
        Ok(decoders)
    }

    /// The number that a term equals, if it is known by now.
    fn number_of(&mut self, term: Term) -> Option<u64> {
        let term = self.terms.again(term);
        self.terms.constant(term)
    }

    /// Leaves all options out.
    fn leave_out_options(&mut self, options: &WireOptions, decoder: &mut Decoder<'_>) {
        for arm in &options.arms {
            let OptionArm::Known { header, field, repeat, .. } = arm else { continue };
            let count = repeat.as_ref().map(|repeat| repeat.count);
            for field in [Some(*field), count].into_iter().flatten() {
                let zero = self.terms.number(0, WIDE);
                decoder.headers.insert((*header, field), zero);
            }
        }
    }

    /// Sets the header fields of an absent part to zero.
    fn leave_out(&mut self, items: &[WireItem], decoder: &mut Decoder<'_>) {
        for field in WireItem::fields(items) {
            if let FieldValue::Header { header, field: index, .. } = &field.value {
                let zero = self.terms.number(0, WIDE);
                decoder.headers.insert((*header, *index), zero);
            }
        }
    }

    /// Reads a field of a packet that is long enough, and records its checks.
    fn decode_field<'w>(&mut self, at: &mut Decoding<'_, 'w>, field: &'w WireField, decoder: &mut Decoder<'w>) {
        let first_bit = decoder.bit;
        let value = self.read_bits(at, field, decoder);
        decoder.fields.insert(field.index, value);
        match &field.value {
            FieldValue::Constant { value: wanted, otherwise } => {
                let wanted = self.terms.number(*wanted, u32::from(field.width));
                let same = self.terms.equal(value, wanted);
                decoder.checks.push(Check::Truth(same, *otherwise));
            }
            FieldValue::Header { header, variant, field: index, times, plus, otherwise } => {
                let (plain, exact) = self.invert(value, *times, *plus);
                let ty = self.automaton.headers[header.index()].variants[variant.index()].fields[*index as usize].1;
                let good = [exact, self.is_value(plain, ty)];
                let good = self.terms.all(&good);
                decoder.checks.push(Check::Truth(good, otherwise.unwrap_or(at.wire.short)));
                decoder.headers.insert((*header, *index), plain);
            }
            FieldValue::Computed { expression, otherwise } => {
                decoder.checks.push(Check::Computed(field, expression, *otherwise, first_bit));
            }
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
        }
        decoder.checks.extend(field.constraints.iter().map(Check::Constraint));
        if field.trims_packet {
            self.cut(at, value, field.trims_plus, decoder);
        }
    }

    /// From here on, the packet ends where a field says: not after its octets, and not before what was read.
    fn cut(&mut self, at: &mut Decoding, value: Term, plus: u64, decoder: &mut Decoder<'_>) {
        let end = self.end(at, decoder);
        let (value, end) = (self.terms.resize(value, WIDE), self.terms.resize(end, WIDE));
        // Prevents the sum from wrapping around.
        let most = self.terms.number(u64::MAX - plus, WIDE);
        let large = self.terms.less(most, value);
        let plus = self.terms.number(plus, WIDE);
        let size = self.terms.binary(Operator::Add, value, plus);
        let read = self.terms.number(u64::from(decoder.bit.div_ceil(8)), WIDE);
        let wrong = [large, self.terms.less(end, size), self.terms.less(size, read)];
        let wrong = self.terms.any(&wrong);
        at.refuse(&decoder.condition, wrong, at.wire.short);
        decoder.condition.push(self.terms.not(wrong));
        decoder.end = Some(self.terms.resize(size, 32));
    }

    /// The number of octets of the packet, 32 bits.
    fn end(&mut self, at: &Decoding, decoder: &Decoder<'_>) -> Term {
        decoder.end.unwrap_or_else(|| at.packet.size(self.terms))
    }

    /// The bits of a field at the decoder's position, which moves on; a packet that ends before is refused.
    fn read_bits(&mut self, at: &mut Decoding, field: &WireField, decoder: &mut Decoder) -> Term {
        let width = u32::from(field.width);
        let (first, last) = (decoder.bit / 8, (decoder.bit + width - 1) / 8);
        let size = self.end(at, decoder);
        let end = self.terms.number(u64::from(last) + 1, 32);
        let cut = self.terms.less(size, end);
        let long = self.terms.not(cut);
        at.refuse(&decoder.condition, cut, at.wire.short);
        decoder.condition.push(long);
        let octets: Vec<Term> = (first..=last).map(|octet| at.packet.octet(self.terms, octet)).collect();
        let from = decoder.bit;
        decoder.bit += width;
        if from.is_multiple_of(8) && width.is_multiple_of(8) {
            return join(self.terms, &octets, field.endian);
        }
        let whole = join(self.terms, &octets, Endian::Big);
        let unused = (last + 1) * 8 - decoder.bit;
        self.terms.extract(unused + width - 1, unused, whole)
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

    /// Whether a number of 64 bits is a value of the type.
    fn is_value(&mut self, number: Term, ty: Type) -> Term {
        let width = ty.width(self.automaton);
        let last = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let ranges = self.automaton.gaps(ty, width).unwrap_or_else(|| vec![0..=last]);
        let mut within = Vec::new();
        for range in ranges {
            let (first, last) = (self.terms.number(*range.start(), WIDE), self.terms.number(*range.end(), WIDE));
            let both = [self.terms.less_equal(first, number), self.terms.less_equal(number, last)];
            within.push(self.terms.all(&both));
        }
        self.terms.any(&within)
    }

    /// After the last item: trims the packet as the wire says, makes all checks, and takes the headers off.
    fn finish_decoding(&mut self, at: &mut Decoding, mut decoder: Decoder<'_>, taking: Headers) -> Result<(), String> {
        let mut message = self.trimmed(at, &decoder);
        for check in std::mem::take(&mut decoder.checks) {
            let (good, reason) = self.check(&check, &message, &decoder)?;
            let bad = self.terms.not(good);
            at.refuse(&decoder.condition, bad, reason);
            decoder.condition.push(good);
        }
        if taking == Headers::Taken {
            // The packet as the wire met it, with the octets that the wire cuts off.
            message.received.insert(at.id, (at.packet.base, at.packet.front.len()));
            message.skip(self.terms, decoder.bit / 8);
            self.push_headers(&mut message, at.wire, &decoder)?;
        }
        at.done.push(Decoded { condition: decoder.condition, result: Ok(message) });
        Ok(())
    }

    /// The packet up to the end that a field gives.
    fn trimmed(&mut self, at: &Decoding, decoder: &Decoder<'_>) -> Message {
        let mut trimmed = at.packet.clone();
        if let Some(size) = decoder.end {
            trimmed.trim(self.terms, size);
        }
        trimmed
    }

    /// Whether a check holds, and the reason for which the packet is refused otherwise.
    fn check(&mut self, check: &Check, packet: &Message, decoder: &Decoder<'_>) -> Result<(Term, ReasonId), String> {
        let octets = decoder.bit / 8;
        let (whole, header) = (packet.size(self.terms), self.terms.number(u64::from(octets), 32));
        let payload = self.terms.binary(Operator::Sub, whole, header);
        let (fields, header_size) = (&decoder.fields, u64::from(octets));
        Ok(match check {
            Check::Truth(good, reason) => (*good, *reason),
            Check::Computed(field, expression, reason, at) => {
                let seen = self.known_front(packet, octets, field, *at);
                let value = self.expression(expression, fields, header_size, payload, &seen)?;
                let value = self.terms.resize(value, u32::from(field.width));
                (self.terms.equal(value, fields[&field.index]), *reason)
            }
            Check::Constraint(constraint) => {
                let left = self.expression(&constraint.left, fields, header_size, payload, packet)?;
                let right = self.expression(&constraint.right, fields, header_size, payload, packet)?;
                (self.plain_comparison(constraint.compare, left, right), constraint.otherwise)
            }
        })
    }

    /// Pushes the wire's headers on the message, the lowest layer's on top.
    fn push_headers(&mut self, message: &mut Message, wire: &Wire, decoder: &Decoder<'_>) -> Result<(), String> {
        let automaton = self.automaton;
        for header in wire.headers.iter().rev() {
            let variant = decoder.variants.get(header).copied().unwrap_or(VariantId(0));
            let kinds = &automaton.headers[header.index()].variants[variant.index()].fields;
            let mut values = Vec::new();
            for (index, (_, ty)) in kinds.iter().enumerate() {
                let known = decoder.headers.get(&(*header, index as u32));
                let term = *known.ok_or("a field that the wire does not carry")?;
                let term = self.terms.resize(term, u32::from(ty.width(automaton)));
                let is_truth = sort_of(automaton, *ty) == Sort::Bool;
                values.push(Value::Bits(if is_truth { self.terms.as_truth(term) } else { term }));
            }
            message.headers.push((*header, variant, values));
        }
        Ok(())
    }

    /// The packet with its header octets as single terms; the octets of a computed field are zero.
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
}
