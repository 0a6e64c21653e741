//! Whether a wire reads what it writes: packets of random values, encoded and decoded again.
//!
//! What a wire leaves open is no fault: values that a constraint refuses, what does not fit its field, fields of parts that are left out.

use std::ops::Range;

use mokume_base::Random;
use mokume_reaction::*;

use crate::{decode, encode, Encoded, HeaderValue, Refusal};

/// More alternatives than most wires have; those beyond are not tried.
const MOST: usize = 24;

/// The trials of one wire.
pub struct Trial<'a> {
    pub automaton: &'a Automaton,
    pub wire: WireId,
    /// The variants of the wire's headers, for each combination.
    pub says: Vec<Vec<VariantId>>,
    /// Numbers that the wire names.
    known: Vec<u64>,
    optional: Vec<(HeaderId, VariantId, u32)>,
    /// Whether no message stands behind these headers.
    is_bare: bool,
}

/// What became of a packet that is as it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Some value did not fit its field.
    Narrow,
    /// A constraint does not admit these values.
    Refused,
    /// What was read is what was written.
    Same,
}

/// A packet that is read otherwise than it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misread {
    Refused(Refusal),
    /// As these headers, and this part of the packet as the message.
    Otherwise(Vec<HeaderValue>, Range<usize>),
    /// What was read is encoded to other octets.
    Again(Vec<u8>),
}

/// Values that were tried, their packet, and how it was misread.
pub struct Found {
    pub headers: Vec<HeaderValue>,
    pub payload: Vec<u8>,
    pub octets: Vec<u8>,
    pub misread: Misread,
}

impl<'a> Trial<'a> {
    pub fn new(automaton: &'a Automaton, wire: WireId) -> Trial<'a> {
        let of = &automaton.wires[wire.index()];
        Trial {
            automaton,
            wire,
            says: alternatives(automaton, of),
            known: known(of),
            optional: optional_fields(&of.items, false),
            is_bare: false,
        }
    }

    /// The same for headers behind which no message stands.
    pub fn without_messages(self) -> Trial<'a> {
        Trial { is_bare: true, ..self }
    }

    /// The first packet of so many that is misread. The same each time.
    pub fn first_misread(&self, rounds: u64) -> Option<Found> {
        let mut random = Random::new(1);
        (0..rounds).find_map(|_| {
            let say = random.place(self.says.len());
            let headers = self.headers_of(say, &mut random);
            let payload = self.payload(say, &mut random);
            let packet = encode(self.automaton, self.wire, &headers, &payload);
            let misread = self.judge(&headers, &payload, &packet).err()?;
            Some(Found { headers, payload, octets: packet.octets, misread })
        })
    }

    /// Values of the combination with this number.
    pub fn headers_of(&self, say: usize, random: &mut Random) -> Vec<HeaderValue> {
        let of = &self.automaton.wires[self.wire.index()];
        let mut headers = Vec::new();
        for (header, variant) in of.headers.iter().zip(&self.says[say]) {
            let types = &self.automaton.headers[header.index()].variants[variant.index()].fields;
            let fields = types.iter().map(|(_, ty)| self.value(*ty, random)).collect();
            headers.push(HeaderValue { header: *header, variant: *variant, fields });
        }
        self.as_commonly(&mut headers, random);
        headers
    }

    /// A value at the limits of its width, small, one that the wire names, or random.
    fn value(&self, ty: Type, random: &mut Random) -> u64 {
        if let Type::Enum(id) = ty {
            // The values of an enumeration are its named numbers only.
            return random.one_of(&self.automaton.enums[id.index()].names).1;
        }
        let width = ty.width(self.automaton);
        let most = u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
        most & match random.place(8) {
            0 => 0,
            1 => 1,
            2 => most,
            3 => most - 1,
            4 => random.place(64) as u64,
            5 | 6 if !self.known.is_empty() => *random.one_of(&self.known),
            _ => random.word(),
        }
    }

    /// Half of the time: a field that an arm of the last choice leaves out gets the value that it has there.
    fn as_commonly(&self, headers: &mut [HeaderValue], random: &mut Random) {
        let of = &self.automaton.wires[self.wire.index()];
        let Some(WireItem::Choice { arms, .. }) = of.items.last() else { return };
        if random.place(2) == 0 {
            return;
        }
        for common in &random.one_of(arms).commons {
            let same = |value: &&mut HeaderValue| (value.header, value.variant) == (common.header, common.variant);
            if let Some(value) = headers.iter_mut().find(same) {
                value.fields[common.field as usize] = common.value;
            }
        }
    }

    /// A message; none where the header goes on to the packet's end in packets of the combination with this number.
    pub fn payload(&self, say: usize, random: &mut Random) -> Vec<u8> {
        let of = &self.automaton.wires[self.wire.index()];
        let size = if random.place(20) == 0 { random.place(300) } else { random.place(48) };
        let payload: Vec<u8> = (0..size).map(|_| random.word() as u8).collect();
        let selected: Vec<(HeaderId, VariantId)> =
            of.headers.iter().copied().zip(self.says[say].iter().copied()).collect();
        if self.is_bare || fills(&of.items, &selected) {
            return Vec::new();
        }
        payload
    }

    /// Whether `decode(encode(x)) = x`, with zeros for what the packet does not contain, and `encode(decode(p)) = p`.
    pub fn judge(&self, headers: &[HeaderValue], payload: &[u8], packet: &Encoded) -> Result<Fate, Misread> {
        if packet.narrow {
            return Ok(Fate::Narrow);
        }
        let decoded = match decode(self.automaton, self.wire, &packet.octets) {
            Ok(decoded) => decoded,
            Err(refusal) if self.may_refuse(refusal.reason) => return Ok(Fate::Refused),
            Err(refusal) => return Err(Misread::Refused(refusal)),
        };
        let zeroed = |(was, is): (&HeaderValue, &HeaderValue)| {
            was.header == is.header
                && was.variant == is.variant
                && was.fields.iter().zip(&is.fields).enumerate().all(|(at, (was, now))| {
                    was == now || *now == 0 && self.optional.contains(&(is.header, is.variant, at as u32))
                })
        };
        let behind = &packet.octets[decoded.payload.clone()];
        // A header's own length may be less than what is there: the rest is padding.
        let same = behind == payload || self.trims_by_header() && payload.starts_with(behind);
        if !headers.iter().zip(&decoded.headers).all(zeroed) || !same {
            return Err(Misread::Otherwise(decoded.headers, decoded.payload));
        }
        let again = encode(self.automaton, self.wire, &decoded.headers, behind);
        if again.octets != packet.octets[..decoded.payload.end] || again.narrow {
            return Err(Misread::Again(again.octets));
        }
        Ok(Fate::Same)
    }

    /// Whether a constraint, or a choice on a value, may refuse some values of the headers.
    fn may_refuse(&self, reason: ReasonId) -> bool {
        let wire = &self.automaton.wires[self.wire.index()];
        let constrained = WireItem::fields(&wire.items).into_iter().flat_map(|field| &field.constraints);
        let says_more = (self.trims_by_header() || reaches(&wire.items)) && reason == wire.short;
        constrained.into_iter().any(|constraint| constraint.otherwise == reason) || says_more
    }

    fn trims_by_header(&self) -> bool {
        let fields = WireItem::fields(&self.automaton.wires[self.wire.index()].items);
        fields.into_iter().any(|field| field.trims_packet && matches!(field.value, FieldValue::Header { .. }))
    }
}

fn alternatives(automaton: &Automaton, wire: &Wire) -> Vec<Vec<VariantId>> {
    let mut all = vec![Vec::new()];
    for header in &wire.headers {
        let variants = automaton.headers[header.index()].variants.len();
        let with = |before: &Vec<VariantId>| {
            let before = before.clone();
            (0..variants).map(move |variant| [before.clone(), vec![VariantId::from(variant)]].concat())
        };
        all = all.iter().flat_map(with).take(MOST).collect();
    }
    all
}

/// Whether options or elements go up to the packet's end in packets of these alternatives, so that there is no payload.
fn fills(items: &[WireItem], selected: &[(HeaderId, VariantId)]) -> bool {
    items.iter().any(|item| match item {
        WireItem::Options(options) => options.fill(),
        WireItem::List(list) if list.to_end.is_some() => true,
        WireItem::Choice { arms, .. } => arms.iter().any(|arm| {
            let is_its = arm
                .selects
                .iter()
                .all(|(header, variant)| selected.iter().all(|(other, chosen)| header != other || variant == chosen));
            is_its && fills(&arm.items, selected)
        }),
        item => item.inner().into_iter().any(|items| fills(items, selected)),
    })
}

fn reaches(items: &[WireItem]) -> bool {
    items.iter().any(|item| matches!(item, WireItem::Reach(_)) || item.inner().into_iter().any(reaches))
}

/// Header fields that are zero in some packets.
fn optional_fields(items: &[WireItem], inside: bool) -> Vec<(HeaderId, VariantId, u32)> {
    let mut found = Vec::new();
    for item in items {
        match item {
            WireItem::Field(field) => {
                if let (true, FieldValue::Header { header, variant, field, .. }) = (inside, &field.value) {
                    found.push((*header, *variant, *field));
                }
            }
            item => {
                let within = inside || !matches!(item, WireItem::Choice { .. });
                if let WireItem::Options(options) = item {
                    found.extend(options.arms.iter().filter_map(counted));
                }
                item.inner().into_iter().for_each(|items| found.extend(optional_fields(items, within)));
            }
        }
    }
    found
}

/// The count of a repeated option: without the option, there are no elements.
fn counted(arm: &OptionArm) -> Option<(HeaderId, VariantId, u32)> {
    let OptionArm::Known { header, variant, repeat: Some(repeat), .. } = arm else { return None };
    Some((*header, *variant, repeat.count))
}

/// Constants and tags of the wire, and neighbouring numbers.
fn known(wire: &Wire) -> Vec<u64> {
    fn numbers(expression: &WireExpression, found: &mut Vec<u64>) {
        use WireExpression as E;
        match expression {
            E::Number(number) => found.push(*number),
            E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
                numbers(a, found);
                numbers(b, found);
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    let mut walk = vec![&wire.items[..]];
    while let Some(items) = walk.pop() {
        for item in items {
            match item {
                WireItem::Field(field) => field.constraints.iter().for_each(|constraint| {
                    numbers(&constraint.left, &mut found);
                    numbers(&constraint.right, &mut found);
                }),
                WireItem::Optional { when, .. } => when.iter().for_each(|test| numbers(&test.right, &mut found)),
                WireItem::Choice { arms, .. } => found.extend(arms.iter().map(|arm| arm.tag)),
                _ => {}
            }
            walk.extend(item.inner());
        }
    }
    found
}
