//! Maps that find objects by their own cells, and the numbers of objects in their index.

use mokume_reaction::{Automaton, CellKind, ClassId, Type};

/// The type of a number in the index of objects of a class; they count from 1.
pub(crate) fn number_type(automaton: &Automaton, class: ClassId) -> &'static str {
    match automaton.class(class).capacity {
        0..0xffff => "uint16_t",
        _ => "uint32_t",
    }
}

/// Octets of a number.
pub(crate) fn number_octets(automaton: &Automaton, class: ClassId) -> u64 {
    match number_type(automaton, class) {
        "uint16_t" => 2,
        _ => 4,
    }
}

/// The class whose objects a map finds by their cells; `None` for other maps.
pub(crate) fn class_of(kind: &CellKind) -> Option<ClassId> {
    match kind {
        CellKind::Map { value, by, .. } if !by.is_empty() => match value.first()? {
            Type::Ref(class) => Some(*class),
            Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason | Type::Msg | Type::Array(..) => None,
        },
        CellKind::Scalar { .. }
        | CellKind::Array { .. }
        | CellKind::Messages { .. }
        | CellKind::Map { .. }
        | CellKind::Timer
        | CellKind::Quota { .. }
        | CellKind::Counter => None,
    }
}
