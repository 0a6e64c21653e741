//! Packets by the names of a wire's fields: written from some fields, with computed values for the others; and read,
//! with the value that each field ought to have. For tests and tools; what stacks write and read is decided by
//! [`encode`](crate::encode) and [`decode`](crate::decode).

use mokume_reaction::{
    Automaton, Compare, FieldIndex, FieldValue, HeaderId, OptionArm, VariantId, Wire, WireArm, WireExpression,
    WireField, WireId, WireItem, WireTest,
};

mod seats;
mod values;

use self::seats::Seats;
use self::values::{chosen, set};
use crate::bits;
use crate::encode::{encode_as_said, is_checksum, Said};
use crate::expression::{evaluate, internet_checksum, named, Facts, Slot};
use crate::{HeaderValue, Read};

/// What is known of a packet of one wire.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Fields with their values; a field of a list occurs once for each element, and the order says for which one. A
    /// field without a value is present with any value.
    pub given: &'a [(String, Option<u64>)],
    /// The values of fields that are not given, by name; the others have the wire's value, or zero.
    pub defaults: &'a [(String, Default)],
    /// What a checksum includes besides the packet and its size: a sum of `u16`s.
    pub pseudo: u64,
}

/// The value of a field that is not given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Default {
    /// A number, a size, a checksum.
    Of(WireExpression),
    /// The checksum of the packet, of its size, and of [`Known::pseudo`].
    PseudoChecksum,
}

/// The sum of a number's `u16`s, as a checksum counts them.
pub fn sum_of(number: u64) -> u64 {
    (0..4).map(|place| number >> (16 * place) & 0xffff).sum()
}

/// Why no packet of a wire has the given fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsaid {
    /// The field does not fit the other ones: it is of another alternative, or of a part that is absent.
    NoPlace(String),
    /// The field's value follows from others, and is not the given one.
    Taken {
        /// The field's name.
        name: String,
        /// The given value.
        value: u64,
        /// The value that follows from the others.
        instead: u64,
    },
}

/// The packet with these fields and this payload. All given fields have the given values, or there is an error.
pub fn write(automaton: &Automaton, wire: WireId, known: &Known, payload: &[u8]) -> Result<Vec<u8>, Unsaid> {
    let wire = &automaton.wires[wire.index()];
    let (headers, seats) = headers(automaton, wire, known);
    let mut met = Met::new(known, &seats);
    let mut placed: Vec<(FieldIndex, String, u64)> = Vec::new();
    let mut said = |field: &WireField| match (met.next(field), default(known, &field.name)) {
        (Some(at), _) => {
            let value = known.given[at].1;
            placed.extend(value.map(|value| (field.index, field.name.clone(), value)));
            Said::Value(value.unwrap_or(0))
        }
        (None, Some(Default::Of(expression))) => Said::Computed(expression),
        (None, Some(Default::PseudoChecksum) | None) => Said::AsHeaders,
    };
    let mut laid = encode_as_said(wire, &headers, payload, &mut said);
    for (index, name, value) in placed {
        let slot = laid.slots.get(index.0 as usize).copied().flatten();
        if let Some(slot) = slot.filter(|slot| slot.value != value) {
            return Err(Unsaid::Taken { name, value, instead: slot.value });
        }
    }
    all_said(automaton, wire, known, &met)?;
    let summed = WireItem::fields(&wire.items).into_iter().filter(|field| is_summed(known, field));
    for field in summed {
        let Some(slot) = laid.slots.get(field.index.0 as usize).copied().flatten() else { continue };
        let sum = match pseudo_checksum(known, &laid.octets, slot) {
            0 => 0xffff,
            sum => sum,
        };
        bits::write(&mut laid.octets, slot.at, slot.width, field.endian, sum);
    }
    Ok(laid.octets)
}

/// Checks that each given value was used, or is the bit of an option, which is 0 or 1.
fn all_said(automaton: &Automaton, wire: &Wire, known: &Known, met: &Met) -> Result<(), Unsaid> {
    let bits = options_of(automaton, &wire.items);
    for (at, (name, value)) in known.given.iter().enumerate() {
        let is_bit = bits.contains(name) && !WireItem::fields(&wire.items).iter().any(|field| field.name == *name);
        match value {
            Some(value) if is_bit && *value > 1 => {
                return Err(Unsaid::Taken { name: name.clone(), value: *value, instead: 1 })
            }
            _ if !is_bit && !met.used[at] => return Err(Unsaid::NoPlace(name.clone())),
            Some(_) | None => {}
        }
    }
    Ok(())
}

/// A field of a packet that was read, and the value that it ought to have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Looked {
    pub name: String,
    /// The number of its value in [`Known::given`], if one is given.
    pub given: Option<usize>,
    /// Width in bits; 0 for an option, which is present or not.
    pub width: u8,
    pub value: u64,
    pub wanted: u64,
    /// Whether it follows from the rest of the packet: a size, a checksum, a constant.
    pub follows: bool,
}

impl Looked {
    /// Whether it has the value it ought to have; the two zeros of a checksum are equal.
    pub fn is_right(&self) -> bool {
        let zero = |value: u64| if value == 0xffff && self.follows { 0 } else { value };
        self.value == self.wanted || self.width == 16 && zero(self.value) == zero(self.wanted)
    }
}

/// The fields of a packet, as far as it was read, each with the value it ought to have.
pub fn look(automaton: &Automaton, wire: WireId, known: &Known, packet: &[u8], read: &Read) -> Vec<Looked> {
    let of = &automaton.wires[wire.index()];
    let (wanted, seats) = headers(automaton, of, known);
    let packet = &packet[..read.packet_size];
    let mut slots: Vec<Option<Slot>> = Vec::new();
    for (field, seen) in read.fields.iter().filter_map(|seen| Some((seen.field?, seen))) {
        let index = field.index.0 as usize;
        slots.resize(slots.len().max(index + 1), None);
        slots[index] = Some(Slot { at: seen.bit, width: seen.width, value: seen.value });
    }
    let facts = |own: FieldIndex| Facts {
        slots: &slots,
        packet,
        packet_size: read.packet_size,
        header_size: read.header_size,
        own: Some(own),
    };
    let mut met = Met::new(known, &seats);
    let mut all: Vec<Looked> = Vec::new();
    for (field, seen) in read.fields.iter().filter_map(|seen| Some((seen.field?, seen))) {
        let given = met.next(field);
        let slot = Slot { at: seen.bit, width: seen.width, value: seen.value };
        let (wanted, follows) = match default(known, &field.name) {
            Some(Default::PseudoChecksum) => (pseudo_checksum(known, packet, slot), true),
            Some(Default::Of(expression)) => (evaluate(expression, &facts(field.index)), is_measure(expression)),
            None => own_value(of, field, &wanted, &facts(field.index)),
        };
        all.push(Looked { name: field.name.clone(), given, width: seen.width, value: seen.value, wanted, follows });
    }
    all.extend(options(automaton, of, known, (&wanted, read)));
    all
}

/// Options that are present or ought to be, by the header's bit for them.
fn options(automaton: &Automaton, wire: &Wire, known: &Known, (wanted, read): (&[HeaderValue], &Read)) -> Vec<Looked> {
    let Ok(decoded) = &read.decoding else { return Vec::new() };
    let mut all = Vec::new();
    for arm in arms(&wire.items) {
        let OptionArm::Known { header, variant, field, .. } = arm else { continue };
        let Some(name) = field_name(automaton, *header, *variant, *field) else { continue };
        // None for headers of another alternative, whose options say nothing of this packet.
        let bit = |headers: &[HeaderValue]| {
            let found = headers.iter().find(|value| value.header == *header && value.variant == *variant)?;
            found.fields.get(*field as usize).map(|value| u64::from(*value != 0))
        };
        let (value, wanted) = match (bit(&decoded.headers), bit(wanted)) {
            (None, None) => continue,
            (value, wanted) => (value.unwrap_or(0), wanted.unwrap_or(0)),
        };
        let given = known.given.iter().position(|(given, _)| *given == name);
        all.push(Looked { name, given, width: 0, value, wanted, follows: false });
    }
    all
}

fn own_value(wire: &Wire, field: &WireField, headers: &[HeaderValue], facts: &Facts) -> (u64, bool) {
    match &field.value {
        FieldValue::Constant { value, .. } => (*value, true),
        FieldValue::Computed { expression, .. } => (evaluate(expression, facts), true),
        FieldValue::Header { header, variant, field, times, plus, .. } => {
            let found = headers.iter().find(|value| value.header == *header && value.variant == *variant);
            let value = found.and_then(|value| value.fields.get(*field as usize)).copied().unwrap_or(0);
            (value.wrapping_mul(*times).wrapping_add(*plus), false)
        }
        FieldValue::Tag => (tag(&wire.items, field.index, headers).unwrap_or(0), false),
        FieldValue::Placed | FieldValue::Reserved => (0, false),
    }
}

/// The tag of the arm for these headers.
fn tag(items: &[WireItem], on: FieldIndex, headers: &[HeaderValue]) -> Option<u64> {
    items.iter().find_map(|item| match item {
        WireItem::Choice { on: own, arms, .. } if *own == on => chosen(arms, headers).map(|arm| arm.tag),
        item => item.inner().into_iter().find_map(|items| tag(items, on, headers)),
    })
}

fn is_summed(known: &Known, field: &WireField) -> bool {
    let given = known.given.iter().any(|(name, _)| *name == field.name);
    !given && matches!(default(known, &field.name), Some(Default::PseudoChecksum))
}

fn default<'a>(known: &Known<'a>, name: &str) -> Option<&'a Default> {
    known.defaults.iter().find(|(of, _)| of == name).map(|(_, default)| default)
}

/// Whether it is anything but a number.
fn is_measure(expression: &WireExpression) -> bool {
    let names = named(expression, &mut |_| ());
    names.packet || names.header || is_checksum(expression)
}

fn pseudo_checksum(known: &Known, packet: &[u8], slot: Slot) -> u64 {
    let mut octets = packet.to_vec();
    bits::write(&mut octets, slot.at, slot.width, mokume_reaction::Endian::Big, 0);
    let mut sum = u64::from(!internet_checksum(&octets)) + known.pseudo + sum_of(packet.len() as u64);
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum ^ 0xffff
}

/// Which of the given values were used.
struct Met<'a> {
    known: &'a Known<'a>,
    seats: &'a Seats,
    used: Vec<bool>,
}

impl<'a> Met<'a> {
    fn new(known: &'a Known<'a>, seats: &'a Seats) -> Met<'a> {
        Met { known, seats, used: vec![false; known.given.len()] }
    }

    /// The number of the value given for a field, which is used then.
    fn next(&mut self, field: &WireField) -> Option<usize> {
        let is_next = |at: &usize| !self.used[*at] && self.known.given[*at].0 == field.name && !self.seats.holds(*at);
        let found = self.seats.of(field.index).or_else(|| (0..self.used.len()).find(is_next))?;
        self.used[found] = true;
        Some(found)
    }
}

// ---- the headers that the fields belong to ----

/// The alternatives, lists and options that the given fields need, and the elements that fields of lists are given for;
/// all other fields are zero.
fn headers(automaton: &Automaton, wire: &Wire, known: &Known) -> (Vec<HeaderValue>, Seats) {
    let mut values: Vec<HeaderValue> =
        wire.headers.iter().map(|header| zeros(automaton, *header, VariantId(0))).collect();
    choose(automaton, wire, &wire.items, known, &mut values);
    count_options(automaton, &wire.items, known, &mut values);
    let seats = Seats::new(wire, known.given, &mut values);
    let mut met = Met::new(known, &seats);
    require(wire, &wire.items, &mut met, &mut values);
    (values, seats)
}

/// Whether an optional part is needed because something in it is given; then also sets the fields of its condition.
fn require(wire: &Wire, items: &[WireItem], met: &mut Met, values: &mut [HeaderValue]) -> bool {
    let mut needed = false;
    for item in items {
        needed |= match item {
            WireItem::Field(field) => met.next(field).is_some(),
            WireItem::Optional { when, items } => {
                let inner = require(wire, items, met, values);
                when.iter().filter(|_| inner).for_each(|test| meet(wire, test, values));
                inner
            }
            WireItem::Choice { arms, .. } => {
                chosen(arms, values).is_some_and(|arm| require(wire, &arm.items, met, values))
            }
            WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => false,
        };
    }
    needed
}

/// Sets the header's field in a comparison to the least value that satisfies it.
fn meet(wire: &Wire, test: &WireTest, values: &mut [HeaderValue]) {
    let (WireExpression::Field(index), WireExpression::Number(number)) = (&test.left, &test.right) else { return };
    let least = match test.compare {
        Compare::Eq | Compare::Ge => *number,
        Compare::Gt => number + 1,
        Compare::Ne => u64::from(*number == 0),
        Compare::Lt | Compare::Le => 0,
    };
    let fields = WireItem::fields(&wire.items);
    let Some(field) = fields.into_iter().find(|field| field.index == *index) else { return };
    let FieldValue::Header { header, variant, field, times, plus, .. } = field.value else { return };
    let wanted = least.saturating_sub(plus).div_ceil(times.max(1));
    let known = values.iter().find(|value| value.header == header && value.variant == variant);
    let before = known.and_then(|value| value.fields.get(field as usize)).copied().unwrap_or(0);
    set(values, (header, variant), field, wanted.max(before));
}

fn zeros(automaton: &Automaton, header: HeaderId, variant: VariantId) -> HeaderValue {
    let variants = &automaton.headers[header.index()].variants;
    let fields = variants.get(variant.index()).map_or(0, |variant| variant.fields.len());
    HeaderValue { header, variant, fields: vec![0; fields] }
}

/// For each choice selects the arm whose tag is given, else the first that contains all given fields of the arms.
fn choose(automaton: &Automaton, wire: &Wire, items: &[WireItem], known: &Known, values: &mut [HeaderValue]) {
    for item in items {
        let WireItem::Choice { on, arms, .. } = item else {
            item.inner().into_iter().for_each(|items| choose(automaton, wire, items, known, values));
            continue;
        };
        let all = WireItem::fields(&wire.items);
        let name = all.iter().find(|field| field.index == *on).map_or("", |field| &field.name);
        let tag = known.given.iter().find(|(given, _)| given == name).and_then(|(_, value)| *value);
        let has = |arm: &WireArm, name: &str| names(automaton, &arm.items).iter().any(|own| own == name);
        let of_arms = |name: &&str| arms.iter().any(|arm| has(arm, name));
        let wanted: Vec<&str> = known.given.iter().map(|(name, _)| name.as_str()).filter(of_arms).collect();
        let by_names = || arms.iter().find(|arm| wanted.iter().all(|name| has(arm, name)));
        let Some(arm) = arms.iter().find(|arm| Some(arm.tag) == tag).or_else(by_names) else { continue };
        for (header, variant) in &arm.selects {
            if let Some(value) = values.iter_mut().find(|value| value.header == *header) {
                *value = zeros(automaton, *header, *variant);
            }
        }
        choose(automaton, wire, &arm.items, known, values);
    }
}

/// Names of fields and options.
fn names(automaton: &Automaton, items: &[WireItem]) -> Vec<String> {
    let fields = WireItem::fields(items).into_iter().map(|field| field.name.clone());
    fields.chain(options_of(automaton, items)).collect()
}

/// Names of options: those of the headers' bits that say that they are present.
fn options_of(automaton: &Automaton, items: &[WireItem]) -> Vec<String> {
    let bit = |arm: &OptionArm| match arm {
        OptionArm::Known { header, variant, field, .. } => field_name(automaton, *header, *variant, *field),
        OptionArm::End { .. } | OptionArm::Single { .. } => None,
    };
    arms(items).into_iter().filter_map(bit).collect()
}

fn field_name(automaton: &Automaton, header: HeaderId, variant: VariantId, field: u32) -> Option<String> {
    let variant = automaton.headers[header.index()].variants.get(variant.index())?;
    variant.fields.get(field as usize).map(|(name, _)| name.clone())
}

fn arms(items: &[WireItem]) -> Vec<&OptionArm> {
    let mut all = Vec::new();
    for item in items {
        if let WireItem::Options(options) = item {
            all.extend(&options.arms);
        }
        item.inner().into_iter().for_each(|items| all.extend(arms(items)));
    }
    all
}

/// Sets which options are present, and how many elements theirs have.
fn count_options(automaton: &Automaton, items: &[WireItem], known: &Known, values: &mut [HeaderValue]) {
    let given = |items: &[WireItem]| {
        let times = |field: &&WireField| known.given.iter().filter(|(name, _)| *name == field.name).count() as u64;
        WireItem::fields(items).iter().map(times).max().unwrap_or(0)
    };
    for arm in arms(items) {
        let OptionArm::Known { header, variant, field, items, repeat, .. } = arm else { continue };
        let name = field_name(automaton, *header, *variant, *field);
        let said = known.given.iter().find(|(given, _)| Some(given) == name.as_ref()).and_then(|(_, value)| *value);
        let there = said.unwrap_or(u64::from(given(items) > 0));
        set(values, (*header, *variant), *field, there);
        if let Some(repeat) = repeat {
            let each = items.get(repeat.from as usize..(repeat.from + repeat.each) as usize).unwrap_or_default();
            set(values, (*header, *variant), repeat.count, given(each));
        }
    }
}
