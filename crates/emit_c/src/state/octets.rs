//! How many octets objects take in generated C, where addresses have 64 bits.
//!
//! Invariant: it is what `sizeof` says of the records that `records.rs` and `runtime/mk_object.h` write;
//! `crates/emit_c/tests/octets.rs` has a compiler compare them.

use mokume_reaction::{Automaton, Cell, CellKind, Class, ClassId, Type};

use super::records::places;
use crate::types::stored_octets;

/// What an object has beside its cells: `mk_object`, and the reference to it among the living.
const HEAD: u64 = 72 + 8;
/// The oldest and the youngest of a class of children: `mk_family`.
const FAMILY: u64 = 8;
/// `mk_timer`.
const TIMER: u64 = 40;

/// Octets of one object of a class: its cells with what lies between them, its head, and what it knows of its children.
pub fn object_octets(automaton: &Automaton, class: ClassId) -> u64 {
    let children = automaton.classes.iter().filter(|child| child.parent == Some(class)).count() as u64;
    record_octets(automaton, automaton.class(class)) + HEAD + FAMILY * children
}

/// Octets of the record of an object's cells, as `sizeof` says them.
pub fn record_octets(automaton: &Automaton, class: &Class) -> u64 {
    let (mut end, mut widest) = (0, 1);
    for (align, octets) in class.cells.iter().flat_map(|cell| members(automaton, cell)) {
        end = u64::next_multiple_of(end, align) + octets;
        widest = widest.max(align);
    }
    // A record without members has one octet.
    end.max(1).next_multiple_of(widest)
}

/// The members that a cell is in the record: to what each is aligned, and its octets.
fn members(automaton: &Automaton, cell: &Cell) -> Vec<(u64, u64)> {
    let scalar = |ty: Type| match ty {
        Type::Msg => 8,
        Type::Array(item, _) => u64::from(stored_octets(automaton, item.ty())),
        other => u64::from(stored_octets(automaton, other)),
    };
    let many = |of: u64, count: u32| vec![(of, of * u64::from(count.max(1)))];
    match &cell.kind {
        CellKind::Scalar { ty, .. } => many(scalar(*ty), 1),
        CellKind::Array { ty, size, .. } => many(scalar(*ty), *size),
        CellKind::Messages { size, .. } => many(8, *size),
        CellKind::Map { key, value, capacity } => {
            let of = |types: &[Type]| types.iter().map(|ty| u64::from(stored_octets(automaton, *ty))).sum::<u64>();
            vec![(4, 4), (1, u64::from(places(*capacity)) * (1 + of(key) + of(value)))]
        }
        CellKind::Timer => vec![(8, TIMER)],
        CellKind::Quota { .. } => many(4, 1),
        CellKind::Counter => Vec::new(),
    }
}
