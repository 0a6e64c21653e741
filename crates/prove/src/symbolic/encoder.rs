//! Encoders as terms: the octets that a wire puts in front of a message.

use std::collections::BTreeMap;

use mokume_reaction::{
    Endian, FieldIndex, FieldValue, HeaderId, VariantId, WireArm, WireExpression, WireField, WireId, WireItem,
};

use super::message::split;
use super::wires::{has_commons, COMMONS, LIST, OPTIONS, REACH, WIDE};
use super::{Message, Reader, Value};
use crate::term::{Operator, Term};

/// The headers of a message that a wire carries: their variants and fields.
type Pushed = BTreeMap<HeaderId, (VariantId, Vec<Value>)>;

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

/// Takes the headers off a message that a wire carries, the one on top first.
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

/// Whether the headers have the variants that an arm is for.
fn are_there(arm: &WireArm, headers: &Pushed) -> bool {
    arm.selects.iter().all(|(header, variant)| headers.get(header).is_some_and(|(known, _)| known == variant))
}

impl Reader<'_> {
    /// Takes the wire's headers off and puts their octets in front. The result: each of these terms that holds is reported.
    pub(super) fn encode(&mut self, message: &mut Message, wire: WireId) -> Result<Vec<Term>, String> {
        let automaton = self.automaton;
        let wire = &automaton.wires[wire.index()];
        let headers = taken_off(message, &wire.headers)?;
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
                WireItem::Choice { arms, .. } if has_commons(arms) => return Err(COMMONS.into()),
                WireItem::Choice { on, arms, .. } => {
                    let tag = encoder.fields.get(on).and_then(|term| self.terms.constant(*term));
                    let chosen = |arm: &&WireArm| match arm.selects.is_empty() {
                        true => tag == Some(arm.tag),
                        false => are_there(arm, headers),
                    };
                    let arm = arms.iter().find(chosen).ok_or("a choice whose tag is not constant")?;
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
    fn tag_of(&self, items: &[WireItem], index: FieldIndex, headers: &Pushed) -> Result<u64, String> {
        let arms = items.iter().find_map(|item| match item {
            WireItem::Choice { on, arms, .. } if *on == index => Some(arms),
            _ => None,
        });
        let arm = arms.and_then(|arms| arms.iter().find(|arm| are_there(arm, headers)));
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
        let value = match (&field.value, tag) {
            (FieldValue::Tag, Some(tag)) => self.terms.number(tag, width),
            (FieldValue::Constant { value, .. }, _) => self.terms.number(*value, width),
            (FieldValue::Placed | FieldValue::Reserved | FieldValue::Tag, _) => self.terms.number(0, width),
            (FieldValue::Header { header, field: index, times, plus, .. }, _) => {
                let (_, fields) = headers.get(header).ok_or("a header that is not there")?;
                let Some(Value::Bits(term)) = fields.get(*index as usize) else { return Err("no such field".into()) };
                let wide = self.terms.resize(*term, WIDE);
                let (times, plus) = (self.terms.number(*times, WIDE), self.terms.number(*plus, WIDE));
                let product = self.terms.binary(Operator::Mul, wide, times);
                let sum = self.terms.binary(Operator::Add, product, plus);
                let (value, over) = self.narrowed(sum, width);
                encoder.narrow.extend(over);
                value
            }
            (FieldValue::Computed { expression, .. }, _) => {
                if encoder.partial.is_some() || width % 8 != 0 {
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
