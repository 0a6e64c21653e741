//! What can be read of a quote: the beginning of a packet that this side sent, as an error of the network brings it back.
//!
//! Keeps: a packet that is cut off has no decoder. Keys and the sizes of headers are read by the places of their fields,
//! behind a check that the quote reaches so far.

use mokume_reaction as r;

use crate::code::Writer;
use crate::stack::{HeaderField, Lowering, PlacedField};

/// A field in the fixed part of a wire.
pub struct FixedField {
    bits: u32,
    width: u8,
    endian: r::Endian,
}

/// How the size of a header is known from its octets.
enum HeaderSize {
    Fixed(u32),
    /// So many octets each.
    Counted(FixedField, u64),
    /// As the wire says how far it reaches.
    Reach(r::WireExpression),
}

impl<'p> Lowering<'p> {
    /// Where the fields of a multiplexor's key stand in the wire of its bundle.
    pub(super) fn quoted_key(&self, inst: usize) -> Option<Vec<(HeaderField, PlacedField)>> {
        let info = &self.infos[inst];
        let header = info.header?;
        let wire = self.wire_of(inst);
        let mut all = Vec::new();
        for (at, field) in info.fields.first()?.iter().enumerate().filter(|(_, field)| field.key.is_some()) {
            let placed = info.coding.placed.as_ref().and_then(|places| places.get(at).copied().flatten());
            let place = match placed {
                Some(place) => place,
                None => self.place_in(wire?, header, at as u32)?,
            };
            all.push((field.clone(), place));
        }
        (!all.is_empty()).then_some(all)
    }

    fn place_in(&self, wire: r::WireId, header: r::HeaderId, field: u32) -> Option<PlacedField> {
        let mut found = None;
        self.fixed_fields(wire, |known, bits, endian| {
            let r::FieldValue::Header { header: of, field: at, times, plus, .. } = &known.value else { return };
            let whole = bits % 8 == 0 && matches!(known.width, 8 | 16 | 24 | 32 | 48 | 64);
            if *of == header && *at == field && whole {
                let (times, plus) = (*times, *plus);
                found = Some(PlacedField { octet: bits / 8, width: known.width, endian, times, plus });
            }
        });
        found
    }

    /// The fields of a wire before its first part that may be another or none; the bits of all of them.
    fn fixed_fields(&self, wire: r::WireId, mut each: impl FnMut(&r::WireField, u32, r::Endian)) -> u32 {
        let mut bits = 0;
        for item in &self.a.wires[wire.index()].items {
            let r::WireItem::Field(field) = item else { break };
            each(field, bits, field.endian);
            bits += u32::from(field.width);
        }
        bits
    }

    fn header_size(&self, wire: r::WireId) -> Option<HeaderSize> {
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
    /// The quote as a layer above sees it: without the header of the wire below it, if that is another.
    pub(super) fn without_header(&mut self, user: usize, quote: r::Value, then: impl FnOnce(&mut Self, r::Value)) {
        let (own, other) = (self.inst(self.inst).group, self.inst(user).group);
        let wire = self.wire_of(self.inst).filter(|_| own != other);
        let Some(wire) = wire else { return then(self, quote) };
        let Some(size) = self.header_size(wire) else {
            // How long such a header was is known by decoding it, which a quote is too short for: nothing is left of it.
            let none = self.constant(r::Type::U(32), 0);
            let rest = self.value(r::OpKind::Trim { message: quote, size: none });
            return then(self, rest);
        };
        let fixed = self.fixed_fields(wire, |_, _, _| {}) / 8;
        let least = self.constant(r::Type::U(32), u64::from(fixed));
        self.with_octets(quote, least, |w| {
            let size = w.size_value(wire, quote, &size);
            w.with_octets(quote, size, |w| {
                let rest = w.value(r::OpKind::Skip { message: quote, size });
                then(w, rest);
            });
        });
    }

    /// Runs `then` if the quote has so many octets; one that is shorter is dropped.
    pub(super) fn with_octets(&mut self, quote: r::Value, need: r::Value, then: impl FnOnce(&mut Self)) {
        let size = self.value(r::OpKind::Size { message: quote });
        let enough = self.compare(r::Compare::Ge, size, need);
        let fork = self.fork(enough);
        self.ways(fork, |w, _| then(w), |w, _| w.drop(quote, "quote_short"));
    }

    fn size_value(&mut self, wire: r::WireId, quote: r::Value, size: &HeaderSize) -> r::Value {
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

    /// An expression of a wire over the fields of its fixed part; what else it may name is none of a quote's, and 0.
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

    /// A field of whole octets, or of bits within one, as a `u32`.
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
