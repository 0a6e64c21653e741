//! What encoders and decoders of wires share: bit positions, and expressions.
//!
//! A wire becomes straight-line code: each combination of its choices is followed separately to the end, so every
//! field's place is a constant. Where many ways lead on behind an item, the ways through it meet again ([`meet`],
//! `joined.rs`): what follows is written once, and has its place behind what is there. Where they cannot, the code is
//! limited ([`is_too_long`]).

use mokume_reaction::{
    Endian, FieldIndex, FieldValue, HeaderId, Wire, WireArm, WireExpression as E, WireField, WireItem, WireTest,
};

/// The most fields in the code of a wire; besides, it may have each field of the wire as often as this.
const MOST_FIELDS: usize = 8192;
const MOST_OF_EACH: usize = 8;

/// A field that was laid out or read: its first bit, its width, its value in C.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Its first bit, if no octet is there of those that may be there or not.
    pub at: u32,
    pub width: u8,
    pub value: String,
    /// The octets in front of it that may be there or not, in C.
    pub skip: Option<String>,
    /// Whether the field is there, in C, if it is not on every way.
    pub here: Option<String>,
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
        Some(Some(Slot { at, width, skip: Some(skip), .. })) => (format!("{at} + 8 * {skip}"), u32::from(*width)),
        Some(Some(slot)) => (slot.at.to_string(), u32::from(slot.width)),
        _ => ("0".into(), 0),
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

/// Whether so many ways are followed one by one that the code would be too long to be useful.
pub(crate) fn is_too_long(wire: &Wire) -> bool {
    let most = MOST_FIELDS + MOST_OF_EACH * WireItem::fields(&wire.items).len();
    let mut fields = 0;
    follow(wire, &wire.items.iter().collect::<Vec<_>>(), most, &mut fields);
    fields > most
}

/// Counts the fields of all ways through these items, and not many more than `most`.
fn follow(wire: &Wire, items: &[&WireItem], most: usize, fields: &mut usize) {
    for (place, item) in items.iter().enumerate() {
        let rest = &items[place + 1..];
        let mut through = |part: &[WireItem]| {
            let way: Vec<&WireItem> = part.iter().chain(rest.iter().copied()).collect();
            follow(wire, &way, most, fields);
        };
        match item {
            WireItem::Optional { items, .. } if !meet(wire, item, rest) => through(items),
            // The way on from here is that of a message which no arm fits.
            WireItem::Choice { arms, .. } if !meet(wire, item, rest) => arms.iter().for_each(|arm| through(&arm.items)),
            item => *fields += WireItem::fields(std::slice::from_ref(item)).len(),
        }
        if *fields > most {
            return;
        }
    }
    *fields += 1;
}

/// The number of ways through items.
fn ways_of<'a>(items: impl IntoIterator<Item = &'a WireItem>) -> usize {
    let item = |item: &WireItem| match item {
        WireItem::Field(_) => 1,
        WireItem::Choice { arms, .. } => arms.iter().map(|arm| ways_of(&arm.items)).fold(1usize, usize::saturating_add),
        WireItem::Optional { items, .. } => ways_of(items).saturating_add(1),
        WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => 1,
    };
    items.into_iter().map(item).fold(1usize, usize::saturating_mul)
}

/// With more ways behind it than this, the ways through an item meet again.
const FEW_WAYS: usize = 4;

/// Whether the ways through this item meet again in front of the rest: many ways lead on, all come out at the same bit of
/// an octet, and the rest does not ask which variant of a header was chosen.
pub(crate) fn meet(wire: &Wire, item: &WireItem, rest: &[&WireItem]) -> bool {
    let behind = || rest.iter().copied();
    let many = match item {
        WireItem::Optional { items, .. } => ways_of(items.iter().chain(behind())),
        WireItem::Choice { .. } => ways_of(behind()),
        _ => 0,
    };
    let asks = || {
        let mut later = Vec::new();
        behind().for_each(|item| selects(item, &mut later));
        chosen(item).iter().any(|header| later.contains(header))
    };
    many > FEW_WAYS && shift(wire, std::slice::from_ref(item)).is_some() && !asks()
}

/// The headers of which an item chooses the variant.
pub(crate) fn chosen(item: &WireItem) -> Vec<HeaderId> {
    let mut found = Vec::new();
    selects(item, &mut found);
    found
}

fn selects(item: &WireItem, found: &mut Vec<HeaderId>) {
    if let WireItem::Choice { arms, .. } = item {
        let headers = arms.iter().flat_map(|arm| arm.selects.iter().map(|(header, _)| *header));
        headers.for_each(|header| {
            if !found.contains(&header) {
                found.push(header);
            }
        });
    }
    item.inner().into_iter().flatten().for_each(|item| selects(item, found));
}

/// By how many bits, beyond whole octets, items move what follows them, if that is the same on every way, and something
/// may follow; no one knows behind them whether a packet was trimmed. Where no arm may fit, which moves nothing, none does.
fn shift(wire: &Wire, items: &[WireItem]) -> Option<u32> {
    let one = |item: &WireItem| match item {
        WireItem::Field(field) => Some(u32::from(field.width)).filter(|_| !field.trims_packet),
        WireItem::Optional { items, .. } => shift(wire, items).filter(|bits| *bits == 0),
        WireItem::Choice { on, arms, .. } => {
            let mut shifts = arms.iter().map(|arm| shift(wire, &arm.items).filter(|_| arm.commons.is_empty()));
            let first = shifts.next()??;
            (shifts.all(|bits| bits == Some(first)) && (first == 0 || one_fits(wire, *on, arms))).then_some(first)
        }
        WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => None,
    };
    items.iter().map(one).sum::<Option<u32>>().map(|bits| bits % 8)
}

/// Whether an arm fits every message: the arms are told apart by the variant of a header, and each variant has one.
fn one_fits(wire: &Wire, on: FieldIndex, arms: &[WireArm]) -> bool {
    is_tag(&wire.items, on) && arms.iter().all(|arm| arm.selects.len() <= 1)
}

/// Whether the choice on a field decides its value.
pub(super) fn is_tag(items: &[WireItem], on: FieldIndex) -> bool {
    WireItem::fields(items).iter().any(|field| field.index == on && field.value == FieldValue::Tag)
}

/// Whether the field has a checksum to hold against: then its place must be known to the end.
pub(crate) fn sums(field: &WireField) -> bool {
    rules(field).any(|side| named(side, &mut |_| ()).2)
}

/// Whether a rule of the field may have to wait for what comes behind it.
pub(crate) fn waits(field: &WireField) -> bool {
    let mut others = false;
    let sizes = rules(field).any(|side| {
        let (packet, header, octets) = named(side, &mut |index| others |= index != field.index);
        packet || header || octets
    });
    sizes || others
}

/// What the field's value is computed from and held against.
fn rules(field: &WireField) -> impl Iterator<Item = &E> {
    let computed = match &field.value {
        FieldValue::Computed { expression, .. } => Some(expression),
        _ => None,
    };
    computed.into_iter().chain(field.constraints.iter().flat_map(|rule| [&rule.left, &rule.right]))
}
