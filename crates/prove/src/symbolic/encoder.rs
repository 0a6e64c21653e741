//! Encoders as terms: the octets that a wire puts in front of a message.

use std::collections::BTreeMap;

use mokume_reaction::{
    Endian, FieldIndex, FieldValue, HeaderId, OptionArm, VariantId, WireArm, WireExpression, WireField, WireId,
    WireItem, WireOptions,
};

use super::message::split;
use super::wires::{is_checksum, Sizes, COMMONS, LIST, OPTIONS, REACH, WIDE};
use super::{Message, Reader, Value};
use crate::term::{Operator, Term};

/// The headers of a message that a wire carries: their variants and fields.
type Pushed = BTreeMap<HeaderId, (VariantId, Vec<Value>)>;

/// A field whose value is filled in when the rest is known.
struct Late<'a> {
    octet: usize,
    /// For a field that is not made of whole octets and is within one: its first bit in the octet; the high bit is 0.
    bit: Option<u32>,
    field: &'a WireField,
    expression: &'a WireExpression,
}

struct Encoder<'a> {
    /// The bits so far of an unfinished octet.
    partial: Option<Term>,
    octets: Vec<Term>,
    fields: BTreeMap<FieldIndex, Term>,
    /// Tags whose choice is not met yet: until then their fields count as zero.
    tags: BTreeMap<FieldIndex, Term>,
    /// Where the wire says that its header ends.
    reach: Option<usize>,
    /// Whether options or elements go on to the packet's end.
    fills: bool,
    late: Vec<Late<'a>>,
    /// Conditions under which a value does not fit its field, which is reported.
    narrow: Vec<Term>,
}

/// Takes the headers that a wire carries off a message, the top one first.
fn taken_off(message: &mut Message, wanted: &[HeaderId]) -> Result<Pushed, String> {
    let mut headers = Pushed::new();
    for expected in wanted {
        let (found, variant, fields) = message.headers.pop().ok_or("a header that is not there")?;
        if found != *expected {
            return Err("another header than the wire carries".into());
        }
        headers.insert(found, (variant, fields));
    }
    Ok(headers)
}

/// Whether the headers have the variants of an arm.
fn are_there(arm: &WireArm, headers: &Pushed) -> bool {
    arm.selects.iter().all(|(header, variant)| headers.get(header).is_some_and(|(known, _)| known == variant))
}

impl Reader<'_> {
    /// Takes the wire's headers off and puts their octets in front. Returns the conditions under which a report is
    /// made.
    pub(super) fn encode(&mut self, message: &mut Message, wire: WireId) -> Result<Vec<Term>, String> {
        let automaton = self.automaton;
        let wire = &automaton.wires[wire.index()];
        let headers = taken_off(message, &wire.headers)?;
        let mut encoder = Encoder {
            partial: None,
            octets: Vec::new(),
            fields: BTreeMap::new(),
            tags: BTreeMap::new(),
            reach: None,
            fills: false,
            late: Vec::new(),
            narrow: Vec::new(),
        };
        self.encode_items(&wire.items, &headers, &mut encoder)?;
        if encoder.partial.is_some() {
            return Err("a wire that ends within an octet".into());
        }
        if encoder.reach.is_some_and(|reach| reach != encoder.octets.len()) {
            return Err(REACH.into());
        }
        let header = encoder.octets.len() as u32;
        let payload = message.size(self.terms);
        let (payload, own) = (self.terms.resize(payload, WIDE), self.terms.number(u64::from(header), WIDE));
        if encoder.fills {
            let none = self.terms.number(0, WIDE);
            let is_none = self.terms.equal(payload, none);
            encoder.narrow.push(self.terms.not(is_none));
        }
        let sizes = Sizes { header, packet: self.terms.binary(Operator::Add, payload, own) };
        let mut front = encoder.octets;
        front.append(&mut message.front);
        message.front = front;
        // Sizes first: a checksum covers them.
        encoder.late.sort_by_key(|late| is_checksum(late.expression));
        for late in std::mem::take(&mut encoder.late) {
            let value = self.expression(late.expression, &encoder.fields, sizes, message)?;
            let (value, over) = self.narrowed(value, u32::from(late.field.width));
            encoder.narrow.extend(over);
            encoder.fields.insert(late.field.index, value);
            if let Some(bit) = late.bit {
                let wide = self.terms.resize(value, 8);
                let by = self.terms.number(u64::from(8 - bit - u32::from(late.field.width)), 8);
                let bits = self.terms.binary(Operator::Shl, wide, by);
                // The octet has zeros in these bits.
                let there = message.front[late.octet];
                message.front[late.octet] = self.terms.binary(Operator::Or, there, bits);
                continue;
            }
            let parts = split(self.terms, value, late.field.endian);
            message.front[late.octet..late.octet + parts.len()].copy_from_slice(&parts);
        }
        Ok(encoder.narrow)
    }

    /// The low bits of a wide number, and the condition that it has others; `None` if it cannot have any.
    fn narrowed(&mut self, wide: Term, width: u32) -> (Term, Option<Term>) {
        let most = self.terms.number(u64::MAX >> (WIDE - width.min(WIDE)), WIDE);
        let over = self.terms.less(most, wide);
        (self.terms.resize(wide, width), (self.terms.constant(over) != Some(0)).then_some(over))
    }

    fn encode_items<'w>(
        &mut self,
        items: &'w [WireItem],
        headers: &Pushed,
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
                WireItem::Choice { on, arms, .. } => {
                    if let Some(tag) = encoder.tags.remove(on) {
                        encoder.fields.insert(*on, tag);
                    }
                    let tag = encoder.fields.get(on).copied();
                    let arm = self.arm_of(arms, tag, headers)?.ok_or("a choice without an arm")?;
                    self.encode_items(&arm.items, headers, encoder)?;
                }
                WireItem::Optional { when, items } => {
                    let condition = self.presence(when, &encoder.fields)?;
                    match self.decide(condition) {
                        Some(false) => {}
                        Some(true) => self.encode_items(items, headers, encoder)?,
                        None => return Err("an optional part that is there or not".into()),
                    }
                }
                WireItem::Options(options) => {
                    if encoder.partial.is_some() {
                        return Err(OPTIONS.into());
                    }
                    encoder.fills |= options.fill();
                    let first = encoder.octets.len();
                    for arm in &options.arms {
                        self.encode_option(options, arm, headers, encoder)?;
                    }
                    if let Some(kind) = options.ends_with {
                        let kind = self.terms.number(kind, u32::from(options.kind.width));
                        encoder.octets.extend(split(self.terms, kind, options.endian));
                    }
                    let filler = self.terms.number(options.pads_with.unwrap_or(0), 8);
                    while !(encoder.octets.len() as u32).is_multiple_of(options.pad.max(1)) {
                        let at = if options.pads_with.is_some() { first } else { encoder.octets.len() };
                        encoder.octets.insert(at, filler);
                        encoder.late.iter_mut().filter(|late| late.octet >= at).for_each(|late| late.octet += 1);
                    }
                }
                WireItem::List(list) => {
                    encoder.fills |= list.to_end.is_some();
                    let count = self.field_of(headers, (list.header, list.variant, list.count), WIDE);
                    let elements = (0..=list.most()).find(|count_of| {
                        let so_many = self.terms.number(*count_of, WIDE);
                        let so_many = self.terms.equal(count, so_many);
                        self.decide(so_many) == Some(true)
                    });
                    let elements = elements.ok_or(LIST)?;
                    for element in list.elements.iter().take(elements as usize) {
                        self.encode_items(element, headers, encoder)?;
                    }
                }
                WireItem::Reach(to) => {
                    let is_here = self.place(to, &encoder.fields, encoder.octets.len() as u32)?;
                    if self.decide(is_here) != Some(true) {
                        return Err(REACH.into());
                    }
                    encoder.reach = Some(encoder.octets.len());
                }
            }
        }
        Ok(())
    }

    /// An option, which is present if the header says so.
    fn encode_option<'w>(
        &mut self,
        options: &'w WireOptions,
        arm: &'w OptionArm,
        headers: &Pushed,
        encoder: &mut Encoder<'w>,
    ) -> Result<(), String> {
        let OptionArm::Known { kind, header, variant, field, items, repeat } = arm else { return Ok(()) };
        let there = self.field_of(headers, (*header, *variant, *field), WIDE);
        let there = self.terms.as_truth(there);
        match (self.decide(there), repeat) {
            (Some(false), _) => return Ok(()),
            (Some(true), None) => {}
            _ => return Err(OPTIONS.into()),
        }
        let octets = u64::from(options.head() + arm.octets());
        let length = octets.saturating_sub(options.plus) / options.times.max(1);
        for (value, width) in [(*kind, options.kind.width), (length, options.length.width)] {
            let value = self.terms.number(value, u32::from(width));
            self.append(encoder, value, options.endian);
        }
        self.encode_items(items, headers, encoder)
    }

    /// A field of a header; zero if the message has another variant of it.
    fn field_of(&mut self, headers: &Pushed, (header, variant, field): (HeaderId, VariantId, u32), width: u32) -> Term {
        let found = headers.get(&header).filter(|known| known.0 == variant);
        match found.and_then(|(_, fields)| fields.get(field as usize)) {
            Some(Value::Bits(term)) => self.terms.resize(*term, width),
            _ => self.terms.number(0, width),
        }
    }

    /// The first arm that fits the current headers; `tag`: the tag that it must have, if that is known by then.
    fn arm_of<'w>(
        &mut self,
        arms: &'w [WireArm],
        tag: Option<Term>,
        headers: &Pushed,
    ) -> Result<Option<&'w WireArm>, String> {
        for arm in arms.iter().filter(|arm| are_there(arm, headers)) {
            let mut fits = Vec::new();
            for common in &arm.commons {
                let said = self.field_of(headers, (common.header, common.variant, common.field), WIDE);
                let value = self.terms.number(common.value, WIDE);
                fits.push(self.terms.equal(said, value));
            }
            if let Some(tag) = tag {
                let wanted = self.terms.number(arm.tag, self.terms.width(tag));
                fits.push(self.terms.equal(tag, wanted));
            }
            let fits = self.terms.all(&fits);
            match self.decide(fits) {
                Some(true) => return Ok(Some(arm)),
                Some(false) => {}
                None if tag.is_some() => return Err("a choice on a tag that is not constant".into()),
                None => return Err(COMMONS.into()),
            }
        }
        Ok(None)
    }

    /// The tag for the current headers, from the choice that names the field.
    fn tag_of(&mut self, items: &[WireItem], index: FieldIndex, headers: &Pushed) -> Result<u64, String> {
        let arms = items.iter().find_map(|item| match item {
            WireItem::Choice { on, arms, .. } if *on == index => Some(arms),
            _ => None,
        });
        let arm = match arms {
            Some(arms) => self.arm_of(arms, None, headers)?,
            None => None,
        };
        arm.map(|arm| arm.tag).ok_or_else(|| "a tag without an arm".to_string())
    }

    fn encode_field<'w>(
        &mut self,
        field: &'w WireField,
        tag: Option<u64>,
        headers: &Pushed,
        encoder: &mut Encoder<'w>,
    ) -> Result<(), String> {
        let width = u32::from(field.width);
        let said = match (&field.value, tag) {
            (FieldValue::Tag, said) => said,
            (FieldValue::Constant { value, .. }, _) => Some(*value),
            _ => None,
        };
        if said.is_some_and(|said| said > u64::MAX >> (WIDE - width)) {
            return Err("a number of a wire that does not fit its field".into());
        }
        let value = match (&field.value, tag) {
            (FieldValue::Tag, Some(tag)) => self.terms.number(tag, width),
            (FieldValue::Constant { value, .. }, _) => self.terms.number(*value, width),
            (FieldValue::Placed | FieldValue::Reserved | FieldValue::Tag, _) => self.terms.number(0, width),
            (FieldValue::Header { header, variant, field: index, times, plus, .. }, _) => {
                let (found, fields) = headers.get(header).ok_or("a header that is not there")?;
                let wide = match (found == variant, fields.get(*index as usize)) {
                    (true, Some(Value::Bits(term))) => self.terms.resize(*term, WIDE),
                    (true, _) => return Err("no such field".into()),
                    // The message has another variant of the header.
                    (false, _) => self.terms.number(0, WIDE),
                };
                if self.terms.most(wide).checked_mul(*times).and_then(|most| most.checked_add(*plus)).is_none() {
                    return Err("a number that may have more than 64 bits in a wire".into());
                }
                let (times, plus) = (self.terms.number(*times, WIDE), self.terms.number(*plus, WIDE));
                let product = self.terms.binary(Operator::Mul, wide, times);
                let sum = self.terms.binary(Operator::Add, product, plus);
                let (value, over) = self.narrowed(sum, width);
                encoder.narrow.extend(over);
                value
            }
            (FieldValue::Computed { expression, .. }, _) => {
                let before = encoder.partial.map_or(0, |partial| self.terms.width(partial));
                let bit = match (before, width % 8) {
                    (0, 0) => None,
                    _ if before + width <= 8 => Some(before),
                    _ => return Err("a computed field across octets".into()),
                };
                encoder.late.push(Late { octet: encoder.octets.len(), bit, field, expression });
                self.terms.number(0, width)
            }
        };
        let known = match field.value {
            FieldValue::Tag => {
                encoder.tags.insert(field.index, value);
                self.terms.number(0, width)
            }
            _ => value,
        };
        encoder.fields.insert(field.index, known);
        self.append(encoder, value, field.endian);
        Ok(())
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
}
