//! Reads quotes: the beginning of a packet that this side sent, which an error of the network brings back.
//!
//! Keeps: a truncated packet cannot be decoded. Keys and sizes of headers are read at the places of their fields, after
//! a check that the quote is long enough.

use mokume_reaction as r;

use crate::code::Writer;
use crate::stack::{HeaderField, Lowering, PlacedField};

impl<'p> Lowering<'p> {
    /// The places of a multiplexor's key in the wire of its bundle.
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
}

impl<'p> Writer<'_, 'p> {
    /// The quote as a layer above sees it: without the header of the wire below, if that is another wire.
    pub(super) fn without_header(&mut self, user: usize, quote: r::Value, then: impl FnOnce(&mut Self, r::Value)) {
        let (own, other) = (self.inst(self.inst).group, self.inst(user).group);
        let wire = self.wire_of(self.inst).filter(|_| own != other);
        let Some(wire) = wire else { return then(self, quote) };
        let Some(size) = self.header_size(wire) else {
            // The size of such a header is known only by decoding, for which a quote is too short: nothing is left.
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

    /// Runs `then` if the quote has this many octets; a shorter one is dropped.
    pub(super) fn with_octets(&mut self, quote: r::Value, need: r::Value, then: impl FnOnce(&mut Self)) {
        let size = self.value(r::OpKind::Size { message: quote });
        let enough = self.compare(r::Compare::Ge, size, need);
        let fork = self.fork(enough);
        self.ways(fork, |w, _| then(w), |w, _| w.drop(quote, "quote_short"));
    }
}
