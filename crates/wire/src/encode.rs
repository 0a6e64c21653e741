//! The encoder: from headers and octets to a packet.

use mokume_reaction::{
    Automaton, Endian, FieldIndex, FieldValue, HeaderId, OptionArm, VariantId, Wire, WireArm, WireCommon,
    WireExpression, WireField, WireId, WireItem, WireList, WireOptions,
};

use crate::bits;
use crate::expression::{evaluate, is_met, named, Facts, Slot};
use crate::{Encoded, HeaderValue};

/// The packet with these headers and this payload. A missing header counts as its first variant, with zeros.
pub fn encode(automaton: &Automaton, wire: WireId, headers: &[HeaderValue], payload: &[u8]) -> Encoded {
    let laid = encode_as_said(&automaton.wires[wire.index()], headers, payload, &mut |_| Said::AsHeaders);
    Encoded { octets: laid.octets, narrow: laid.narrow }
}

/// A packet with the places of its fields.
pub(crate) struct Laid {
    pub octets: Vec<u8>,
    /// The places by field number; `None` for absent fields.
    pub slots: Vec<Option<Slot>>,
    pub narrow: bool,
}

/// The value to write in a field.
pub(crate) enum Said<'a> {
    /// The value from the wire and the headers.
    AsHeaders,
    Value(u64),
    Computed(&'a WireExpression),
}

/// The same, where `said` decides the value of each field, in the order of the packet.
pub(crate) fn encode_as_said<'a>(
    wire: &'a Wire,
    headers: &'a [HeaderValue],
    payload: &[u8],
    said: &mut dyn FnMut(&'a WireField) -> Said<'a>,
) -> Laid {
    let mut encoder = Encoder {
        wire,
        headers,
        said,
        slots: Vec::new(),
        computed: Vec::new(),
        written: Vec::new(),
        heads: Vec::new(),
        bits: 0,
        reach: None,
        fills: false,
        narrow: false,
    };
    encoder.items(&wire.items);
    encoder.narrow |= encoder.fills && !payload.is_empty();
    let size = encoder.bits.div_ceil(8);
    let mut octets = vec![0; size];
    octets.extend_from_slice(payload);
    let header_size = encoder.header_size(size, octets.len());
    encoder.write(&mut octets, header_size);
    Laid { octets, slots: encoder.slots, narrow: encoder.narrow }
}

struct Encoder<'a, 's> {
    wire: &'a Wire,
    headers: &'a [HeaderValue],
    said: &'s mut dyn FnMut(&'a WireField) -> Said<'a>,
    slots: Vec<Option<Slot>>,
    computed: Vec<(&'a WireField, &'a WireExpression)>,
    written: Vec<&'a WireField>,
    /// Kinds and lengths of options: bit, width, byte order, value.
    heads: Vec<(usize, u8, Endian, u64)>,
    bits: usize,
    reach: Option<u64>,
    /// Whether options or elements go on to the packet's end.
    fills: bool,
    narrow: bool,
}

impl<'a> Encoder<'a, '_> {
    /// Lays out the items, and computes the values that do not depend on sizes.
    fn items(&mut self, items: &'a [WireItem]) {
        for item in items {
            match item {
                WireItem::Field(field) => self.field(field),
                WireItem::Choice { on, arms, .. } => match self.arm(*on, arms) {
                    Some(arm) => self.items(&arm.items),
                    None => self.narrow = true,
                },
                WireItem::Optional { when, items } => {
                    let facts = self.facts();
                    if when.iter().all(|test| is_met(test, &facts)) {
                        self.items(items);
                    }
                }
                WireItem::Options(options) => self.options(options),
                WireItem::List(list) => self.list(list),
                WireItem::Reach(to) => self.reach = Some(evaluate(to, &self.facts())),
            }
        }
    }

    /// What is known while fields are laid out.
    fn facts(&self) -> Facts<'_> {
        Facts { slots: &self.slots, packet: &[], packet_size: 0, header_size: 0, own: None }
    }

    fn list(&mut self, list: &'a WireList) {
        let count = self.header_field(list.header, list.variant, list.count);
        self.fills |= list.to_end.is_some();
        self.narrow |= count > list.most();
        list.elements.iter().take(count.min(list.most()) as usize).for_each(|element| self.items(element));
    }

    /// The size that the wire gives the header, cut off at the packet's end.
    fn header_size(&mut self, size: usize, all: usize) -> usize {
        let reach = self.reach.map_or(size, |reach| usize::try_from(reach).unwrap_or(usize::MAX));
        self.narrow |= reach < size || reach > all;
        reach.clamp(size, all)
    }

    /// Writes the present options in the order of the arms, and their padding.
    fn options(&mut self, options: &'a WireOptions) {
        let pad = options.pad.max(1) as usize;
        self.fills |= options.fill();
        if let Some(kind) = options.pads_with {
            let end = self.bits.div_ceil(8) + self.octets_of(options) as usize;
            for _ in end..end.next_multiple_of(pad) {
                self.heads.push((self.bits, options.kind.width, options.endian, kind));
                self.bits += 8;
            }
        }
        for arm in &options.arms {
            let OptionArm::Known { kind, header, variant, field, items, repeat } = arm else { continue };
            if self.header_field(*header, *variant, *field) == 0 {
                continue;
            }
            let (fixed, each, most) = arm.measures();
            let count = repeat.map_or(0, |repeat| self.header_field(*header, *variant, repeat.count));
            self.narrow |= count > u64::from(most);
            let count = count.min(u64::from(most)) as u32;
            let octets = u64::from(options.head() + fixed + count * each);
            let there = repeat.map_or(items.len(), |repeat| (repeat.from + count * repeat.each) as usize);
            let length = octets.saturating_sub(options.plus) / options.times.max(1);
            for (value, part) in [(*kind, &options.kind), (length, &options.length)] {
                self.heads.push((self.bits, part.width, options.endian, value));
                self.bits += usize::from(part.width);
            }
            self.items(items.get(..there).unwrap_or(items));
        }
        if let Some(kind) = options.ends_with {
            self.heads.push((self.bits, options.kind.width, options.endian, kind));
            self.bits += usize::from(options.kind.width);
        }
        self.bits = self.bits.div_ceil(8).next_multiple_of(pad) * 8;
    }

    /// Octets of the present options, and of their end.
    fn octets_of(&self, options: &WireOptions) -> u64 {
        let octets = |arm: &OptionArm| {
            let OptionArm::Known { header, variant, field, repeat, .. } = arm else { return 0 };
            if self.header_field(*header, *variant, *field) == 0 {
                return 0;
            }
            let (fixed, each, most) = arm.measures();
            let count = repeat.map_or(0, |repeat| self.header_field(*header, *variant, repeat.count));
            u64::from(options.head() + fixed) + count.min(u64::from(most)) * u64::from(each)
        };
        options.arms.iter().map(octets).sum::<u64>() + u64::from(options.end())
    }

    fn field(&mut self, field: &'a WireField) {
        let value = match (self.said)(field) {
            Said::AsHeaders => self.own_value(field),
            Said::Value(value) => u128::from(value),
            Said::Computed(expression) => {
                self.computed.push((field, expression));
                0
            }
        };
        self.narrow |= value > u128::from(bits::mask(field.width));
        let index = field.index.0 as usize;
        if self.slots.len() <= index {
            self.slots.resize(index + 1, None);
        }
        self.slots[index] =
            Some(Slot { at: self.bits, width: field.width, value: value as u64 & bits::mask(field.width) });
        self.written.push(field);
        self.bits += usize::from(field.width);
    }

    fn own_value(&mut self, field: &'a WireField) -> u128 {
        match &field.value {
            FieldValue::Constant { value, .. } => u128::from(*value),
            FieldValue::Header { header, variant, field, times, plus, .. } => {
                u128::from(self.header_field(*header, *variant, *field)) * u128::from(*times) + u128::from(*plus)
            }
            FieldValue::Computed { expression, .. } => {
                self.computed.push((field, expression));
                0
            }
            FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => 0,
        }
    }

    fn header_field(&self, header: HeaderId, variant: VariantId, field: u32) -> u64 {
        let found = self.headers.iter().find(|value| value.header == header && value.variant == variant);
        found.and_then(|value| value.fields.get(field as usize)).copied().unwrap_or(0)
    }

    /// Whether the arm decides the value of the field that selects it; such a field is mostly in front of its choice.
    fn is_tag(&self, on: FieldIndex) -> bool {
        let is_tag = |field: &&WireField| field.index == on && field.value == FieldValue::Tag;
        match self.written.iter().rfind(|field| field.index == on) {
            Some(field) => is_tag(field),
            None => WireItem::fields(&self.wire.items).iter().any(is_tag),
        }
    }

    /// The arm for the present variants; if the choice depends on a field with its own value, the arm for that value.
    fn arm(&mut self, on: FieldIndex, arms: &'a [WireArm]) -> Option<&'a WireArm> {
        let fits = |arm: &&WireArm| {
            let has = |(header, variant): &(HeaderId, VariantId)| {
                let there = self.headers.iter().find(|value| value.header == *header);
                there.map_or(VariantId(0), |value| value.variant) == *variant
            };
            let said =
                |common: &WireCommon| self.header_field(common.header, common.variant, common.field) == common.value;
            arm.selects.iter().all(has) && arm.commons.iter().all(said)
        };
        let value = self.slots.get(on.0 as usize).copied().flatten().map_or(0, |slot| slot.value);
        if !self.is_tag(on) {
            return arms.iter().filter(fits).find(|arm| arm.tag == value);
        }
        let arm = arms.iter().find(fits)?;
        if let Some(Some(slot)) = self.slots.get_mut(on.0 as usize) {
            self.narrow |= arm.tag > bits::mask(slot.width);
            slot.value = arm.tag & bits::mask(slot.width);
        }
        Some(arm)
    }

    /// Writes sizes first, then checksums, in order: a checksum covers what is written before it.
    fn write(&mut self, octets: &mut [u8], header_size: usize) {
        let computed = std::mem::take(&mut self.computed);
        for (at, width, endian, value) in std::mem::take(&mut self.heads) {
            bits::write(octets, at, width, endian, value);
        }
        let (checksums, sizes): (Vec<_>, Vec<_>) =
            computed.into_iter().partition(|(_, expression)| is_checksum(expression));
        for (field, expression) in sizes {
            self.compute(field, expression, octets, header_size);
        }
        for field in std::mem::take(&mut self.written) {
            if let Some(slot) = self.slots[field.index.0 as usize] {
                bits::write(octets, slot.at, slot.width, field.endian, slot.value);
            }
        }
        for (field, expression) in checksums {
            self.compute(field, expression, octets, header_size);
            if let Some(slot) = self.slots[field.index.0 as usize] {
                bits::write(octets, slot.at, slot.width, field.endian, slot.value);
            }
        }
    }

    fn compute(&mut self, field: &WireField, expression: &WireExpression, octets: &[u8], header_size: usize) {
        let facts = Facts {
            slots: &self.slots,
            packet: octets,
            packet_size: octets.len(),
            header_size,
            own: Some(field.index),
        };
        let value = evaluate(expression, &facts);
        self.narrow |= value > bits::mask(field.width);
        if let Some(slot) = &mut self.slots[field.index.0 as usize] {
            slot.value = value & bits::mask(field.width);
        }
    }
}

/// Whether an expression reads octets, so that all other fields must be written before it.
pub(crate) fn is_checksum(expression: &WireExpression) -> bool {
    named(expression, &mut |_| ()).octets
}
