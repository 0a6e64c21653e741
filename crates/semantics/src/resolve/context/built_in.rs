//! What every file sees without a `use`: types, functions and values of the language.

use crate::program::*;

/// Functions and values of the language.
const VALUES: [&str; 8] = ["clamp", "flow", "fold16", "max", "message", "min", "now", "random"];

/// Whether the language has a function or value of this name.
pub fn is_value(name: &str) -> bool {
    VALUES.contains(&name)
}

/// Whether the language has a type of this name.
pub fn is_type(name: &str) -> bool {
    name == "Device" || type_of(name).is_some()
}

/// The type of the language with this name.
pub fn type_of(name: &str) -> Option<Type> {
    let bits = |prefix: &str| {
        let digits = name.strip_prefix(prefix)?;
        let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
        digits.parse::<u8>().ok().filter(|width| plain && (1..=64).contains(width))
    };
    Some(match name {
        "bool" => Type::Bool,
        "Duration" => Type::Duration,
        "Instant" => Type::Instant,
        "Message" => Type::Message,
        "Rank" => Type::Rank,
        "Ranks" => Type::Ranks,
        "Reason" => Type::Reason,
        "Flow" => Type::Flow(Side::Above),
        "LowerFlow" => Type::Flow(Side::Below),
        _ => return bits("u").map(Type::UInt).or_else(|| bits("seq").map(Type::Seq)),
    })
}
