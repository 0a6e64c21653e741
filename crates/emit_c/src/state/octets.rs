//! How many octets objects take in generated C, where addresses have 64 bits.
//!
//! Invariant: the numbers equal `sizeof` of the records that `records.rs` and `runtime/mk_object.h` write;
//! `crates/emit_c/tests/octets.rs` lets a compiler compare them.

use mokume_reaction::{Automaton, Cell, CellId, CellKind, Class, ClassId, Type};

use super::numbers;
use super::stored::Stored;
use crate::memos;
use crate::plan::heads::{Beside, Heads};
use crate::plan::{keys, mortal};
use crate::types::stored_octets;

/// The oldest and the youngest of a class of children: `mk_family`.
pub(crate) const FAMILY: u64 = 8;
/// `mk_timer`.
const TIMER: u64 = 16;
/// `mk_held`.
const HELD: u64 = 4;

/// Octets of one object of each class, in their order: its cells with what lies between them, its head, and what it knows of its
/// children.
pub fn object_octets(automaton: &Automaton) -> Vec<u64> {
    let heads = Heads::of(automaton, &mortal(automaton));
    let of_class = |(at, _): (usize, &Class)| {
        let id = ClassId::from(at);
        let is_child =
            |child: &(usize, &Class)| child.1.parent == Some(id) && heads.has(ClassId::from(child.0), Beside::Kin);
        let children = automaton.classes.iter().enumerate().filter(is_child).count() as u64;
        let beside: u64 = heads.all(id).iter().map(|beside| beside.octets()).sum();
        record_octets(automaton, id) + beside + FAMILY * children
    };
    automaton.classes.iter().enumerate().map(of_class).collect()
}

/// Octets of all that the instance has for each class, in their order. It has a record for each place and one for null,
/// except for the only object of a class; what is kept beside records, for each place and null; families of children;
/// and bits for free and ended places.
pub fn class_octets(automaton: &Automaton) -> Vec<u64> {
    let mortal = mortal(automaton);
    let heads = Heads::of(automaton, &mortal);
    let of_class = |(at, class): (usize, &Class)| {
        let id = ClassId::from(at);
        let places = u64::from(class.capacity) + 1;
        let records = places - u64::from(automaton.is_unique(id));
        let beside: u64 = heads.all(id).iter().map(|beside| beside.octets()).sum();
        let families = match heads.has(id, Beside::Kin) {
            true => u64::from(class.parent.map_or(1, |parent| automaton.class(parent).capacity).max(1)),
            false => 0,
        };
        let bits = 8 * u64::from(class.capacity.max(1)).div_ceil(64) * (1 + u64::from(mortal.contains(&id)));
        let records = records.saturating_mul(record_octets(automaton, id));
        records.saturating_add(places * beside + FAMILY * families + bits)
    };
    automaton.classes.iter().enumerate().map(of_class).collect()
}

/// The alignment of a member of this type in C.
pub(super) fn aligned_to(automaton: &Automaton, ty: Type) -> u64 {
    match ty {
        Type::Msg => 8,
        Type::Array(item, _) => u64::from(stored_octets(automaton, item.ty())),
        other => u64::from(stored_octets(automaton, other)),
    }
}

/// Octets of the record of an object's cells, as `sizeof` gives them.
pub fn record_octets(automaton: &Automaton, id: ClassId) -> u64 {
    let class = automaton.class(id);
    let (mut end, mut widest) = (0, 1);
    let mut members = all_members(automaton, id);
    let bits = class.cells.iter().filter(|cell| is_bit(automaton, class, cell)).count() as u64;
    members.sort_by_key(|(align, _)| std::cmp::Reverse(*align));
    for (align, octets) in members {
        end = u64::next_multiple_of(end, align) + octets;
        widest = widest.max(align);
    }
    // Bits come last. A record without members has one octet.
    (end + bits.div_ceil(8)).max(1).next_multiple_of(widest)
}

/// The alignment of the record of an object's cells.
pub(crate) fn record_align(automaton: &Automaton, class: ClassId) -> u64 {
    all_members(automaton, class).into_iter().map(|(align, _)| align).max().unwrap_or(1)
}

/// The members of a record: its cells, except for bits, and the results of memos.
fn all_members(automaton: &Automaton, id: ClassId) -> Vec<(u64, u64)> {
    let class = automaton.class(id);
    let cells = class.cells.iter().enumerate();
    let cells = cells.flat_map(|(at, cell)| members(automaton, (id, at.into()), class, cell));
    cells.chain(memos::of(automaton, Some(id)).map(|memo| (8, memos::octets(automaton, memo)))).collect()
}

/// At least half as many places again as entries; a power of two.
pub(super) fn places(capacity: u32) -> u32 {
    capacity.max(1).saturating_add(capacity / 2).max(2).checked_next_power_of_two().unwrap_or(1 << 31)
}

/// Places in the index of a map of objects by their own cells. Its numbers are short, so it can afford more places:
/// nine of ten objects are at home.
pub(super) fn places_by(capacity: u32) -> u32 {
    places(capacity).saturating_mul(2).min(1 << 31)
}

/// Octets of a map's index and entries, as `runtime/mk_map.h` lays them out.
fn map_octets(capacity: u32, key: u64, value: u64) -> u64 {
    let is_small = key == 1 && capacity <= u32::from(u8::MAX);
    let index = if is_small { 256 } else { 4 * u64::from(places(capacity)) };
    index + u64::from(capacity.max(1)) * (key + value)
}

/// Whether the cell is a bit of the record, after all other members.
fn is_bit(automaton: &Automaton, class: &Class, cell: &Cell) -> bool {
    match &cell.kind {
        CellKind::Scalar { ty, .. } => matches!(Stored::of(automaton, class, *ty), Stored::Bit | Stored::Nobody),
        CellKind::Array { .. }
        | CellKind::Messages { .. }
        | CellKind::Map { .. }
        | CellKind::Timer
        | CellKind::Quota { .. }
        | CellKind::Counter => false,
    }
}

/// The members of a cell in the record, except for bits: alignment and octets of each.
fn members(automaton: &Automaton, place: (ClassId, CellId), class: &Class, cell: &Cell) -> Vec<(u64, u64)> {
    let scalar = |ty: Type| aligned_to(automaton, ty);
    let many = |of: u64, count: u32| vec![(of, of * u64::from(count.max(1)))];
    match &cell.kind {
        CellKind::Scalar { ty, .. } => Stored::of(automaton, class, *ty).octets(automaton, *ty).into_iter().collect(),
        CellKind::Array { ty, size, .. } => many(scalar(*ty), *size),
        CellKind::Messages { size, .. } => many(HELD, *size),
        CellKind::Map { key, value, capacity, .. } => {
            let of = |types: &[Type]| types.iter().map(|ty| u64::from(stored_octets(automaton, *ty))).sum::<u64>();
            let entries = match numbers::class_of(&cell.kind).map(|of| numbers::number_octets(automaton, of)) {
                Some(number) => (number, number * u64::from(places_by(*capacity))),
                None => (4, map_octets(*capacity, of(key), of(value))),
            };
            let objects = numbers::class_of(&cell.kind).map_or(0, |of| u64::from(automaton.class(of).capacity));
            let keys = keys::words(automaton, place).map(|words| keys::kept(&words));
            let keys = keys.map(|(align, octets)| (align, octets * objects.max(1)));
            [(4, 4), entries].into_iter().chain(keys).collect()
        }
        CellKind::Timer => vec![(8, TIMER)],
        CellKind::Quota { .. } => many(4, 1),
        CellKind::Counter => Vec::new(),
    }
}
