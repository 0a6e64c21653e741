//! The representation of values in C.

use std::borrow::Cow;

use mokume_reaction::{Automaton, Type};

/// The C type of a scalar of this type; for an array, of one of its items.
pub fn c_type(automaton: &Automaton, ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Ref(_) => "mk_ref",
        Type::Msg => "mk_message *",
        Type::Reason => "uint32_t",
        Type::U(_) | Type::Seq(_) | Type::Enum(_) => unsigned(ty.width(automaton)),
        Type::Array(item, _) => c_type(automaton, item.ty()),
    }
}

/// The C type of a value of this type. An array has its own struct, with the items in `at`.
pub fn value_type(automaton: &Automaton, ty: Type) -> Cow<'static, str> {
    match ty.array() {
        Some(_) => array_type(automaton, ty),
        None => c_type(automaton, ty).into(),
    }
}

/// The struct of an array, named by its items' C type and their number.
pub fn array_type(automaton: &Automaton, ty: Type) -> Cow<'static, str> {
    let count = ty.array().map_or(0, |(_, count)| count);
    let item = c_type(automaton, ty);
    format!("struct mk_{}_{count}", item.strip_suffix("_t").unwrap_or(item)).into()
}

/// The smallest unsigned type with at least this many bits.
pub fn unsigned(bits: u8) -> &'static str {
    match bits {
        0..=8 => "uint8_t",
        9..=16 => "uint16_t",
        17..=32 => "uint32_t",
        _ => "uint64_t",
    }
}

/// A declaration: the type, a space unless it ends in a star, the name.
pub fn declare(ty: &str, name: &str) -> String {
    match ty.ends_with('*') {
        true => format!("{ty}{name}"),
        false => format!("{ty} {name}"),
    }
}

/// All bits of a width.
pub fn mask(width: u8) -> u64 {
    match width {
        0 => 0,
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    }
}

/// Whether the C type of a scalar has no bits beyond its width.
pub fn is_whole(width: u8) -> bool {
    matches!(width, 8 | 16 | 32 | 64)
}

/// In a class with this many places, octets matter more than instructions: its references are short, and take four more
/// instructions to read.
pub(crate) const MANY: u32 = 1000;

/// Octets of a value in a map's key or value.
pub fn stored_octets(automaton: &Automaton, ty: Type) -> u32 {
    match ty {
        Type::Bool => 1,
        Type::Ref(_) => 8,
        Type::Reason => 4,
        // Maps contain neither.
        Type::Msg | Type::Array(..) => 0,
        other => match other.width(automaton) {
            0..=8 => 1,
            9..=16 => 2,
            17..=32 => 4,
            _ => 8,
        },
    }
}

/// Converts a word of an event to a value.
pub fn from_word(automaton: &Automaton, ty: Type, word: &str) -> String {
    match ty {
        Type::Msg => format!("(mk_message *)(uintptr_t){word}"),
        Type::Ref(_) => word.to_string(),
        other => format!("({}){word}", c_type(automaton, other)),
    }
}

/// Converts a value to a word of an event.
pub fn to_word(ty: Type, value: &str) -> String {
    match ty {
        Type::Msg => format!("(uintptr_t){value}"),
        _ => value.to_string(),
    }
}
