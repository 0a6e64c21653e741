//! The size of a header, read from the octets of a packet, for wires with headers of different lengths.
//!
//! Keeps: only fields at fixed places are read.

use mokume_reaction as r;

use super::writer::Writer;
use crate::stack::Lowering;

/// A field in the fixed part of a wire.
pub struct FixedField {
    bits: u32,
    width: u8,
    endian: r::Endian,
}

/// How to compute the size of a header from its octets.
pub enum HeaderSize {
    Fixed(u32),
    /// A field that counts units of this many octets.
    Counted(FixedField, u64),
    /// The expression of the wire's reach.
    Reach(r::WireExpression),
}

impl<'p> Lowering<'p> {
    /// Calls `each` on the fields of a wire before its first variable part; returns the bits of all of them.
    pub fn fixed_fields(&self, wire: r::WireId, mut each: impl FnMut(&r::WireField, u32, r::Endian)) -> u32 {
        let mut bits = 0;
        for item in &self.a.wires[wire.index()].items {
            let r::WireItem::Field(field) = item else { break };
            each(field, bits, field.endian);
            bits += u32::from(field.width);
        }
        bits
    }

    /// How to compute the size of a wire's header from its octets; `None` if that takes decoding.
    pub fn header_size(&self, wire: r::WireId) -> Option<HeaderSize> {
        let mut counted = None;
        let bits = self.fixed_fields(wire, |field, bits, endian| {
            let r::FieldValue::Computed { expression, .. } = &field.value else { return };
            let each = match expression {
                r::WireExpression::HeaderSize => Some(1),
                r::WireExpression::Div(size, by) => match (&**size, &**by) {
                    (r::WireExpression::HeaderSize, r::WireExpression::Number(by)) => Some(*by),
                    _ => None,
                },
                _ => None,
            };
            counted = each.map(|each| (FixedField { bits, width: field.width, endian }, each)).or(counted.take());
        });
        let items = &self.a.wires[wire.index()].items;
        let reach = items.iter().find_map(|item| match item {
            r::WireItem::Reach(expression) => Some(expression.clone()),
            _ => None,
        });
        let plain = items.iter().all(|item| matches!(item, r::WireItem::Field(_)));
        match (plain, counted, reach) {
            (_, Some((place, each)), _) => Some(HeaderSize::Counted(place, each)),
            (true, ..) => Some(HeaderSize::Fixed(bits / 8)),
            (_, None, Some(expression)) => Some(HeaderSize::Reach(expression)),
            _ => None,
        }
    }
}

impl<'p> Writer<'_, 'p> {
    /// The size of a packet's header in octets, as a `u32`.
    pub fn size_value(&mut self, wire: r::WireId, quote: r::Value, size: &HeaderSize) -> r::Value {
        match size {
            HeaderSize::Fixed(octets) => self.constant(r::Type::U(32), u64::from(*octets)),
            HeaderSize::Counted(place, each) => {
                let count = self.load_bits(quote, place);
                let each = self.constant(r::Type::U(32), *each);
                self.binary(r::Binary::MulWrap, count, each)
            }
            HeaderSize::Reach(expression) => self.quoted_number(wire, quote, expression),
        }
    }

    /// An expression of a wire over the fields of its fixed part; anything else that it may name is not in a quote, and
    /// counts as 0.
    fn quoted_number(&mut self, wire: r::WireId, quote: r::Value, expression: &r::WireExpression) -> r::Value {
        use r::WireExpression as E;
        let (op, a, b) = match expression {
            E::Number(value) => return self.constant(r::Type::U(32), *value),
            E::Field(index) => return self.quoted_field(wire, quote, *index),
            E::Add(a, b) => (r::Binary::AddWrap, a, b),
            E::Sub(a, b) => (r::Binary::SubWrap, a, b),
            E::Mul(a, b) => (r::Binary::MulWrap, a, b),
            _ => return self.constant(r::Type::U(32), 0),
        };
        let a = self.quoted_number(wire, quote, a);
        let b = self.quoted_number(wire, quote, b);
        self.binary(op, a, b)
    }

    fn quoted_field(&mut self, wire: r::WireId, quote: r::Value, index: r::FieldIndex) -> r::Value {
        let mut place = None;
        self.fixed_fields(wire, |field, bits, endian| {
            if field.index == index {
                place = Some(FixedField { bits, width: field.width, endian });
            }
        });
        match place {
            Some(place) => self.load_bits(quote, &place),
            None => self.constant(r::Type::U(32), 0),
        }
    }

    /// The value of a field of whole octets, or of bits within one octet, as a `u32`.
    fn load_bits(&mut self, quote: r::Value, place: &FixedField) -> r::Value {
        let wide = r::Type::U(32);
        let at = self.constant(wide, u64::from(place.bits / 8));
        let whole = place.bits.is_multiple_of(8) && place.width.is_multiple_of(8);
        let field = r::OctetField { width: if whole { place.width } else { 8 }, endian: place.endian };
        let value = self.value(r::OpKind::Load { field, message: quote, at });
        let value = self.cast(value, wide);
        if whole {
            return value;
        }
        let behind = 8u32.saturating_sub(place.bits % 8 + u32::from(place.width));
        let shift = self.constant(wide, u64::from(behind));
        let mask = self.constant(wide, (1u64 << place.width.min(8)) - 1);
        let low = self.binary(r::Binary::Shr, value, shift);
        self.binary(r::Binary::And, low, mask)
    }
}
