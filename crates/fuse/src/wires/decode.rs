//! Decoders: fields are read in place. A packet that a decoder would refuse has no path.

use mokume_interpret::mask;
use mokume_reaction::{
    Binary, Compare, Endian, FieldIndex, FieldValue, HeaderId, OctetField, OptionArm, OptionPart, Type, VariantId,
    WireArm, WireExpression, WireField, WireId, WireItem, WireOptions,
};

use super::*;
use crate::graph::{Node, U32, U64};
use crate::message::Message;
use crate::region::{Followed, Region};

impl Region<'_> {
    /// Decodes the wire's headers. With `only_checks` they stay octets, and the packet is cut to its size.
    pub fn decode(&mut self, message: &mut Message, wire: WireId, only_checks: bool) -> Followed<()> {
        let keeps_it = !only_checks && self.overview.asked_for.contains(&wire);
        if !message.front.is_empty() || (keeps_it && !message.stored.is_empty()) {
            return self.no("reads what it has written itself");
        }
        if keeps_it {
            message.met.retain(|met| met.0 != wire);
            message.met.push((wire, message.at, message.size));
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
        message.behind += octets;
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
            return self.no("checks a sum in a field that is no 16-bit number at an even octet");
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
            let part = self.sum_of_part(&decoder.message, at, size)?;
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
                    self.read_options(decoder, options, until)?;
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

    /// No options, or the usual ones, laid out as by the wire's own encoder.
    fn read_options(&mut self, decoder: &mut Decoder, options: &WireOptions, until: Node) -> Followed<()> {
        let first = decoder.bits.div_ceil(8);
        let none = self.is(until, first);
        let usual = self.usual_options(options);
        if usual.is_empty() {
            return self.guard(none);
        }
        if self.decide(none, Some(0.5))? {
            return Ok(());
        }
        let arms: u32 = usual.iter().map(|arm| options.head() + arm.octets()).sum();
        let size = u64::from(arms + options.end());
        let end = (first + size).next_multiple_of(u64::from(options.pad.max(1)));
        let so_many = self.is(until, end);
        self.guard(so_many)?;
        let octets = self.number(U32, end);
        let there = self.graph.compare(Compare::Ge, decoder.end, octets);
        self.guard(there)?;
        let filler = vec![options.pads_with.unwrap_or(0); (end - first - size) as usize];
        // The required values, octet by octet; then what is read.
        let mut wanted: Vec<(u64, u8)> = Vec::new();
        let mut at = first;
        if options.pads_with.is_some() {
            wanted.extend(filler.iter().zip(at..).map(|(kind, at)| (at, *kind as u8)));
            at += filler.len() as u64;
        }
        let mut read = Vec::new();
        let want = |wanted: &mut Vec<(u64, u8)>, at: &mut u64, value: u64, part: &OptionPart| {
            let count = usize::from(part.width / 8);
            let mut octets = value.to_be_bytes()[8 - count..].to_vec();
            if options.endian == Endian::Little {
                octets.reverse();
            }
            wanted.extend((*at..).zip(octets));
            *at += count as u64;
        };
        for arm in &usual {
            let octets = u64::from(options.head() + arm.octets());
            let length = octets.saturating_sub(options.plus) / options.times.max(1);
            for (value, part) in [(arm.kind(), &options.kind), (length, &options.length)] {
                want(&mut wanted, &mut at, value, part);
            }
            read.push((at, *arm));
            at += u64::from(arm.octets());
        }
        if let Some(kind) = options.ends_with {
            want(&mut wanted, &mut at, kind, &options.kind);
        } else if options.pads_with.is_none() {
            // The first filler ends the options; what follows is not read.
            wanted.extend(filler.first().map(|kind| (at, *kind as u8)));
        }
        self.must_stand(decoder, &wanted)?;
        for (at, arm) in read {
            let OptionArm::Known { header, variant, field, items, .. } = arm else { continue };
            decoder.bits = at * 8;
            self.select_variant(decoder, *header, *variant);
            let ty = type_of(self.automaton, *header, *variant, *field);
            let there = self.number(ty, 1);
            decoder.set_header_field(*header, *field, there);
            self.read_items(decoder, items)?;
        }
        decoder.bits = end * 8;
        Ok(())
    }

    /// The usual options, judged by where they are added.
    fn usual_options<'w>(&self, options: &'w WireOptions) -> Vec<&'w OptionArm> {
        let can_end = options.pads_with.is_some()
            || options.ends_with.is_some()
            || options.pad <= 1
            || options.arms.contains(&OptionArm::End { kind: 0 });
        let is_usual = |arm: &&OptionArm| {
            let OptionArm::Known { header, variant, field, repeat: None, .. } = arm else { return false };
            self.overview.pushed_with(*header, *variant, *field).is_some_and(|with| with >= USUAL)
        };
        options.arms.iter().filter(|arm| can_end && is_usual(arm)).collect()
    }

    /// Requires these values of octets, with as few comparisons as possible.
    fn must_stand(&mut self, decoder: &Decoder, mut wanted: &[(u64, u8)]) -> Followed<()> {
        while let Some((at, _)) = wanted.first() {
            let run = wanted.iter().zip(*at..).take_while(|((at, _), place)| at == place).count();
            let octets = [8, 4, 2, 1].into_iter().find(|octets| *octets <= run).unwrap_or(1);
            let value = wanted[..octets].iter().fold(0u64, |all, (_, octet)| all << 8 | u64::from(*octet));
            let found = self.read_bits(decoder, at * 8, octets as u8 * 8, Endian::Big)?;
            let same = self.is(found, value);
            self.guard(same)?;
            wanted = &wanted[octets..];
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
            // Prevents the sum from wrapping around.
            self.at_most(size, u64::MAX - field.trims_plus)?;
            let plus = self.number(U64, field.trims_plus);
            let size = self.graph.binary(Binary::AddWrap, size, plus);
            let (end, read) = (self.long(decoder.end), self.number(U64, decoder.bits.div_ceil(8)));
            // All other fields that are always present are checked at once.
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

    /// Bits of the packet, which exist.
    fn read_bits(&mut self, decoder: &Decoder, bit: u64, width: u8, endian: Endian) -> Followed<Node> {
        let first = decoder.message.at;
        let at = self.plus(first, bit / 8);
        if bit.is_multiple_of(8) && matches!(width, 8 | 16 | 24 | 32 | 48 | 64) {
            return self.load_at(&decoder.message, OctetField { width, endian }, at);
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
        let loaded = self.load_at(&decoder.message, all, at)?;
        let by = self.number(all.ty(), octets * 8 - bit % 8 - u64::from(width));
        let shifted = self.graph.binary(Binary::Shr, loaded, by);
        let ones = self.number(all.ty(), mask(width));
        let value = self.graph.binary(Binary::And, shifted, ones);
        Ok(self.graph.cast(value, Type::U(width)))
    }
}

/// Options that are added at least this often are expected in arriving packets.
const USUAL: f32 = 0.25;

struct Decoder {
    message: Message,
    /// The number of octets of the packet, after the trim.
    end: Node,
    /// The number of octets of the fields that every packet has, up to the first optional one.
    least: Node,
    bits: u64,
    headers: Vec<Header>,
    facts: Facts,
    rules: Vec<Rule>,
    reach: Option<Node>,
}

/// A rule that every accepted packet keeps.
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
