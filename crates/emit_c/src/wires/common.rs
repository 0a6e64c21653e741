//! What encoders and decoders of wires share: bit positions, and expressions.
//!
//! A wire becomes straight-line code: each combination of its choices is followed separately to the end, so every
//! field's place is a constant. [`MOST_WAYS`] limits the number of ways through a wire. Where plain optional parts would
//! make many ways, they meet again behind each part ([`Parts`]): what follows has its place behind what is there.

use std::collections::HashSet;

use mokume_reaction::{Endian, FieldIndex, FieldValue, Wire, WireExpression as E, WireField, WireItem, WireTest};

/// With more ways, the code of a wire would be too long to be useful.
pub(crate) const MOST_WAYS: usize = 4096;

/// A field that was laid out or read: its first bit, its width, its value in C.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Its first bit, if no part is there of those that may be there or not.
    pub at: u32,
    pub width: u8,
    pub value: String,
}

/// The C of what an expression may name.
pub(crate) struct Facts<'s> {
    pub slots: &'s [Option<Slot>],
    pub packet: &'s str,
    pub packet_size: &'s str,
    pub header_size: &'s str,
    pub own: FieldIndex,
}

/// The expression as C of type `uint64_t`.
pub(crate) fn expression(e: &E, facts: &Facts) -> String {
    let inner = |e: &E| expression(e, facts);
    match e {
        E::Number(value) => format!("UINT64_C({value})"),
        E::Field(index) => match facts.slots.get(index.0 as usize) {
            Some(Some(slot)) => slot.value.clone(),
            _ => "UINT64_C(0)".into(),
        },
        E::PacketSize => format!("(uint64_t){}", facts.packet_size),
        E::HeaderSize => format!("(uint64_t){}", facts.header_size),
        E::PayloadSize => format!("((uint64_t){} - {})", facts.packet_size, facts.header_size),
        E::Add(a, b) => format!("({} + {})", inner(a), inner(b)),
        E::Sub(a, b) => format!("({} - {})", inner(a), inner(b)),
        E::Mul(a, b) => format!("({} * {})", inner(a), inner(b)),
        E::Div(a, b) => format!("mk_quotient({}, {})", inner(a), inner(b)),
        E::HeaderChecksum => {
            // In the function's type; in decoders it may be a variable of 64 bits.
            checksum(facts, &format!("mk_min_u32((uint32_t)({}), {})", facts.header_size, facts.packet_size))
        }
        E::PacketChecksum => checksum(facts, facts.packet_size),
    }
}

fn checksum(facts: &Facts, size: &str) -> String {
    let (at, width) = match facts.slots.get(facts.own.0 as usize) {
        Some(Some(slot)) => (slot.at, u32::from(slot.width)),
        _ => (0, 0),
    };
    format!("mk_checksum({}, {size}, {at}, {width})", facts.packet)
}

/// All comparisons of a condition, as C.
pub(crate) fn tests(tests: &[WireTest], facts: &Facts) -> String {
    let one = |test: &WireTest| {
        let (left, right) = (expression(&test.left, facts), expression(&test.right, facts));
        format!("{left} {} {right}", test.compare.sign())
    };
    tests.iter().map(one).collect::<Vec<_>>().join(" && ")
}

/// What an expression names: fields go to `field`; the result tells packet size, header size, checksum.
pub(crate) fn named(e: &E, field: &mut impl FnMut(FieldIndex)) -> (bool, bool, bool) {
    match e {
        E::Number(_) => (false, false, false),
        E::Field(index) => {
            field(*index);
            (false, false, false)
        }
        E::PacketSize => (true, false, false),
        E::HeaderSize => (false, true, false),
        E::PayloadSize => (true, true, false),
        E::HeaderChecksum | E::PacketChecksum => (false, false, true),
        E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
            let (a, b) = (named(a, field), named(b, field));
            (a.0 | b.0, a.1 | b.1, a.2 | b.2)
        }
    }
}

/// Whether the field is whole octets, which have a byte order; all other fields have their high bit first.
pub(crate) fn is_whole(at: u32, width: u8) -> bool {
    at.is_multiple_of(8) && width.is_multiple_of(8)
}

/// The bits of a field, from octets that are known to exist.
pub(crate) fn read_bits(octets: &str, at: u32, width: u8, endian: Endian) -> String {
    if is_whole(at, width) {
        let order = if endian == Endian::Little { "le" } else { "be" };
        return match width {
            8 => format!("{octets}[{}]", at / 8),
            16 | 32 | 64 => format!("mk_get_{order}_{width}({octets} + {})", at / 8),
            _ => format!("mk_get_{order}({octets} + {}, {})", at / 8, width / 8),
        };
    }
    let parts = pieces(at, width).into_iter().map(|piece| {
        let octet = format!("{octets}[{}]", piece.octet);
        let low = if piece.shift == 0 { octet } else { format!("{octet} >> {}", piece.shift) };
        let bits = format!("({low} & {:#04x}u)", (1u32 << piece.bits) - 1);
        if piece.place == 0 {
            bits
        } else {
            format!("(uint64_t){bits} << {}", piece.place)
        }
    });
    parts.collect::<Vec<_>>().join(" | ")
}

/// A field's part in one octet.
pub(crate) struct Piece {
    pub octet: u32,
    /// The part's lowest bit in the octet, and its number of bits.
    pub shift: u32,
    pub bits: u32,
    /// The part's lowest bit in the field.
    pub place: u32,
}

pub(crate) fn pieces(at: u32, width: u8) -> Vec<Piece> {
    let (mut bit, end) = (at, at + u32::from(width));
    let mut found = Vec::new();
    while bit < end {
        let stop = ((bit / 8 + 1) * 8).min(end);
        found.push(Piece { octet: bit / 8, shift: (bit / 8 + 1) * 8 - stop, bits: stop - bit, place: end - stop });
        bit = stop;
    }
    found
}

/// The number of ways through the wire's choices.
pub(crate) fn ways(wire: &Wire) -> usize {
    ways_of(&wire.items)
}

fn ways_of<'a>(items: impl IntoIterator<Item = &'a WireItem>) -> usize {
    let item = |item: &WireItem| match item {
        WireItem::Field(_) => 1,
        WireItem::Choice { arms, .. } => arms.iter().map(|arm| ways_of(&arm.items)).fold(1usize, usize::saturating_add),
        WireItem::Optional { items, .. } => ways_of(items).saturating_add(1),
        WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => 1,
    };
    items.into_iter().map(item).fold(1usize, usize::saturating_mul)
}

/// With more ways behind it than this, the ways with and without an optional part meet again.
const FEW_WAYS: usize = 4;

/// Where ways through optional parts may meet again: nothing in the wire asks for more of a field in such a part than
/// its value, which is zero where the part is absent.
pub(crate) struct Parts(bool);

impl Parts {
    pub(crate) fn of(wire: &Wire) -> Self {
        let mut inside = HashSet::new();
        let is_plain = are_plain(&wire.items, false, &mut inside);
        let fields = WireItem::fields(&wire.items);
        let constraints = || fields.iter().flat_map(|field| &field.constraints);
        let mut names_one = false;
        for side in constraints().flat_map(|constraint| [&constraint.left, &constraint.right]) {
            named(side, &mut |field| names_one |= inside.contains(&field));
        }
        Parts(is_plain && !names_one)
    }

    /// Whether the ways meet again behind this part, which begins at this bit.
    pub(crate) fn meet(&self, at: u32, part: &[WireItem], rest: &[&WireItem]) -> bool {
        self.0 && at.is_multiple_of(8) && ways_of(part.iter().chain(rest.iter().copied())) > FEW_WAYS
    }
}

/// Whether items are fields, choices, and optional parts of whole octets; collects the fields in these.
fn are_plain(items: &[WireItem], is_inside: bool, inside: &mut HashSet<FieldIndex>) -> bool {
    items.iter().all(|item| match item {
        WireItem::Field(field) => {
            inside.extend(Some(field.index).filter(|_| is_inside));
            is_plain(field, is_inside)
        }
        WireItem::Choice { arms, .. } => !is_inside && arms.iter().all(|arm| are_plain(&arm.items, false, inside)),
        WireItem::Optional { items, .. } => are_plain(items, true, inside),
        WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => false,
    })
}

fn is_plain(field: &WireField, is_inside: bool) -> bool {
    let has_own_place = field.trims_packet || matches!(field.value, FieldValue::Computed { .. });
    let is_header_field = matches!(field.value, FieldValue::Header { times: 1, plus: 0, .. });
    !has_own_place && (!is_inside || is_header_field && field.width.is_multiple_of(8))
}
