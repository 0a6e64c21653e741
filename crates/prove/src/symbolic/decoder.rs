//! Decoders as terms: all ways through one, each with its condition and its result.

use std::collections::BTreeMap;

use mokume_reaction::{
    Compare, Endian, FieldIndex, FieldValue, HeaderId, OptionArm, ReasonId, Type, VariantId, Wire, WireArm,
    WireExpression, WireField, WireId, WireItem, WireOptions,
};

use super::message::join;
use super::wires::{is_checksum, Sizes, LIST, OPTIONS, REACH, WIDE};
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

/// A rule that waits until everything that it names is known; then a packet that breaks it is refused.
#[derive(Clone)]
struct Rule<'w> {
    own: FieldIndex,
    /// `None`: the field itself.
    left: Option<&'w WireExpression>,
    compare: Compare,
    right: &'w WireExpression,
    otherwise: ReasonId,
}

/// One way through the items, as far as it is read.
#[derive(Clone, Default)]
struct Decoder<'w> {
    condition: Vec<Term>,
    bit: u32,
    /// The fields that are read.
    fields: BTreeMap<FieldIndex, Term>,
    /// Their first bits and widths.
    places: BTreeMap<FieldIndex, (u32, u32)>,
    headers: BTreeMap<(HeaderId, u32), Term>,
    variants: BTreeMap<HeaderId, VariantId>,
    rules: Vec<Rule<'w>>,
    /// The number of octets of the packet, if a field has set it.
    end: Option<Term>,
    /// Whether no field will set it, or one has.
    packet_known: bool,
    header_known: Option<u32>,
    /// Whether all items are read, so that everything is known.
    over: bool,
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
        let decoder = Decoder {
            packet_known: !WireItem::fields(&described.items).iter().any(|field| field.trims_packet),
            header_known: static_size(&described.items),
            ..Decoder::default()
        };
        for decoder in self.decode_items(&mut at, &described.items, vec![decoder])? {
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
                self.decode_field(at, field, &mut decoder)?;
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
                if self.decide(is_here) != Some(true) {
                    return Err(REACH.into());
                }
                decoder.header_known = Some(decoder.bit.div_ceil(8));
                self.check(at, &mut decoder)?;
                Ok(vec![decoder])
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
            for (header, variant) in &arm.selects {
                self.select(&mut taken, *header, *variant);
            }
            for common in &arm.commons {
                let value = self.terms.number(common.value, WIDE);
                self.set_header_field(&mut taken, (common.header, common.variant, common.field), value);
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
            let octets = said.checked_mul(options.times).and_then(|octets| octets.checked_add(options.plus));
            let fits = |octets: &u64| (u64::from(options.head())..=u64::from(end - place)).contains(octets);
            let octets = octets.filter(fits).ok_or(OPTIONS)? as u32;
            match arm {
                Some(OptionArm::Known { header, variant, field, items, repeat: None, .. })
                    if octets == options.head() + arm.map_or(0, OptionArm::octets) =>
                {
                    let there = self.terms.number(1, WIDE);
                    decoders.iter_mut().for_each(|decoder| decoder.bit = (place + options.head()) * 8);
                    decoders = self.decode_items(at, items, decoders)?;
                    for decoder in &mut decoders {
                        self.set_header_field(decoder, (*header, *variant, *field), there);
                    }
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
                decoder.headers.entry((*header, field)).or_insert(zero);
            }
        }
    }

    /// The header fields of an absent part are zero, if nothing else has set them.
    fn leave_out(&mut self, items: &[WireItem], decoder: &mut Decoder<'_>) {
        for field in WireItem::fields(items) {
            if let FieldValue::Header { header, field: index, .. } = &field.value {
                let zero = self.terms.number(0, WIDE);
                decoder.headers.entry((*header, *index)).or_insert(zero);
            }
        }
    }

    /// Sets a header's field. If the header has had another variant so far, all other fields of this one are zero.
    fn set_header_field(
        &mut self,
        decoder: &mut Decoder<'_>,
        (header, variant, index): (HeaderId, VariantId, u32),
        value: Term,
    ) {
        self.select(decoder, header, variant);
        decoder.headers.insert((header, index), value);
    }

    fn select(&mut self, decoder: &mut Decoder<'_>, header: HeaderId, variant: VariantId) {
        let before = decoder.variants.insert(header, variant).unwrap_or(VariantId(0));
        if before == variant {
            return;
        }
        decoder.headers.retain(|(other, _), _| *other != header);
        let fields = self.automaton.headers[header.index()].variants[variant.index()].fields.len();
        for index in 0..fields as u32 {
            let zero = self.terms.number(0, WIDE);
            decoder.headers.insert((header, index), zero);
        }
    }

    /// Reads a field of a packet that is long enough, and makes the checks of which everything is known by now.
    fn decode_field<'w>(
        &mut self,
        at: &mut Decoding<'_, 'w>,
        field: &'w WireField,
        decoder: &mut Decoder<'w>,
    ) -> Result<(), String> {
        let first_bit = decoder.bit;
        let value = self.read_bits(at, field, decoder);
        decoder.fields.insert(field.index, value);
        decoder.places.insert(field.index, (first_bit, u32::from(field.width)));
        match &field.value {
            FieldValue::Constant { value: wanted, otherwise } => {
                let wanted = self.terms.number(*wanted, u32::from(field.width));
                let same = self.terms.equal(value, wanted);
                self.refuse_unless(at, decoder, same, *otherwise);
            }
            FieldValue::Header { header, variant, field: index, times, plus, otherwise } => {
                let (plain, exact) = self.invert(value, *times, *plus);
                let ty = self.automaton.headers[header.index()].variants[variant.index()].fields[*index as usize].1;
                let good = [exact, self.is_value(plain, ty)];
                let good = self.terms.all(&good);
                self.refuse_unless(at, decoder, good, otherwise.unwrap_or(at.wire.short));
                self.set_header_field(decoder, (*header, *variant, *index), plain);
            }
            FieldValue::Computed { expression, otherwise } => decoder.rules.push(Rule {
                own: field.index,
                left: None,
                compare: Compare::Eq,
                right: expression,
                otherwise: *otherwise,
            }),
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
        }
        decoder.rules.extend(field.constraints.iter().map(|constraint| Rule {
            own: field.index,
            left: Some(&constraint.left),
            compare: constraint.compare,
            right: &constraint.right,
            otherwise: constraint.otherwise,
        }));
        self.check(at, decoder)?;
        if field.trims_packet {
            self.cut(at, value, field.trims_plus, decoder);
            self.check(at, decoder)?;
        }
        Ok(())
    }

    /// Refuses the packet on this way unless `good` holds.
    fn refuse_unless(&mut self, at: &mut Decoding, decoder: &mut Decoder<'_>, good: Term, reason: ReasonId) {
        let bad = self.terms.not(good);
        at.refuse(&decoder.condition, bad, reason);
        decoder.condition.push(good);
    }

    /// Checks, in order, the rules of which everything is known; the others wait.
    fn check<'w>(&mut self, at: &mut Decoding<'_, 'w>, decoder: &mut Decoder<'w>) -> Result<(), String> {
        for rule in std::mem::take(&mut decoder.rules) {
            if !is_known(&rule, decoder) {
                decoder.rules.push(rule);
                continue;
            }
            let good = self.is_kept(&rule, at, decoder)?;
            self.refuse_unless(at, decoder, good, rule.otherwise);
        }
        Ok(())
    }

    /// Whether a rule holds.
    fn is_kept(&mut self, rule: &Rule, at: &Decoding, decoder: &Decoder<'_>) -> Result<Term, String> {
        let end = self.end(at, decoder);
        let sizes = Sizes { header: decoder.header_known.unwrap_or(0), packet: self.terms.resize(end, WIDE) };
        let reads = [rule.left, Some(rule.right)].into_iter().flatten().any(is_checksum);
        let seen = if reads { self.seen(at, decoder, rule.own)? } else { at.packet.clone() };
        let left = match rule.left {
            Some(left) => self.expression(left, &decoder.fields, sizes, &seen)?,
            None => self.terms.resize(decoder.fields[&rule.own], WIDE),
        };
        let right = self.expression(rule.right, &decoder.fields, sizes, &seen)?;
        Ok(self.plain_comparison(rule.compare, left, right))
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
        decoder.packet_known = true;
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

    /// After the last item: makes the checks that waited, trims the packet as the wire says, and takes the headers off.
    fn finish_decoding<'w>(
        &mut self,
        at: &mut Decoding<'_, 'w>,
        mut decoder: Decoder<'w>,
        taking: Headers,
    ) -> Result<(), String> {
        decoder.over = true;
        decoder.header_known.get_or_insert(decoder.bit.div_ceil(8));
        self.check(at, &mut decoder)?;
        let mut message = self.trimmed(at, &decoder)?;
        if taking == Headers::Taken {
            // The packet as the wire met it, with the octets that the wire cuts off.
            message.received.insert(at.id, (at.packet.base, at.packet.front.len()));
            message.skip(self.terms, decoder.bit.div_ceil(8));
            self.push_headers(&mut message, at.wire, &decoder)?;
        }
        at.done.push(Decoded { condition: decoder.condition, result: Ok(message) });
        Ok(())
    }

    /// The packet up to the end that a field gives.
    fn trimmed(&mut self, at: &Decoding, decoder: &Decoder<'_>) -> Result<Message, String> {
        let mut trimmed = at.packet.clone();
        if let Some(size) = decoder.end {
            let known = self.terms.number(trimmed.front.len() as u64, 32);
            let stays = self.terms.less_equal(known, size);
            if !trimmed.front.is_empty() && self.decide(stays) != Some(true) {
                return Err("a packet of which known octets are cut off".into());
            }
            trimmed.trim(self.terms, size);
        }
        Ok(trimmed)
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

    /// The packet as a checksum sees it: with its header octets as single terms, and the bits of a field as zeros.
    fn seen(&mut self, at: &Decoding, decoder: &Decoder<'_>, own: FieldIndex) -> Result<Message, String> {
        let mut seen = self.trimmed(at, decoder)?;
        seen.name_octets(self.terms, decoder.bit.div_ceil(8));
        let (first, width) = decoder.places[&own];
        for octet in first / 8..(first + width).div_ceil(8) {
            let bits = (0..8u32).filter(|bit| !(first..first + width).contains(&(octet * 8 + bit)));
            let kept: u64 = bits.map(|bit| 1 << (7 - bit)).sum();
            let kept = self.terms.number(kept, 8);
            let there = seen.front[octet as usize];
            seen.front[octet as usize] = self.terms.binary(Operator::And, there, kept);
        }
        Ok(seen)
    }
}

/// Whether everything that a rule names is known.
fn is_known(rule: &Rule, decoder: &Decoder<'_>) -> bool {
    fn names(expression: &WireExpression, decoder: &Decoder<'_>) -> bool {
        use WireExpression as E;
        match expression {
            E::Number(_) => true,
            E::Field(index) => decoder.fields.contains_key(index),
            E::PacketSize => decoder.packet_known,
            E::HeaderSize => decoder.header_known.is_some(),
            E::PayloadSize => decoder.packet_known && decoder.header_known.is_some(),
            E::HeaderChecksum | E::PacketChecksum => false,
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => names(a, decoder) && names(b, decoder),
        }
    }
    decoder.over || [rule.left, Some(rule.right)].into_iter().flatten().all(|side| names(side, decoder))
}

/// The octets of a header that is fields only; `None` if it has other items.
fn static_size(items: &[WireItem]) -> Option<u32> {
    let width = |item: &WireItem| match item {
        WireItem::Field(field) => Some(u32::from(field.width)),
        _ => None,
    };
    items.iter().map(width).sum::<Option<u32>>().map(|bits| bits.div_ceil(8))
}
