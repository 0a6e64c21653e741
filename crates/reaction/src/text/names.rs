//! How names, types and literals are written.

use crate::*;

/// A name, between backquotes if it is not an identifier.
pub fn ident(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && name.starts_with(|c: char| !c.is_ascii_digit()) {
        return name.to_owned();
    }
    format!("`{}`", name.replace(['`', '\n'], "'"))
}

/// A name with points in it.
pub fn path(name: &str) -> String {
    name.split('.').map(ident).collect::<Vec<_>>().join(".")
}

/// A text between double quotes, escaped so that the parser reads it back.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A type; `?` if an id refers to nothing, so that faulty automata can be shown.
pub fn ty(automaton: &Automaton, ty: Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::U(bits) => format!("u{bits}"),
        Type::Seq(bits) => format!("seq{bits}"),
        Type::Enum(id) => automaton.enums.get(id.index()).map_or("?".to_owned(), |found| path(&found.name)),
        Type::Ref(id) => format!("@{}", class(automaton, id)),
        Type::Msg => "msg".to_owned(),
        Type::Reason => "reason".to_owned(),
        Type::Array(item, count) => format!("[{count}]{}", self::ty(automaton, item.ty())),
    }
}

/// A class's name; `?` if the id refers to nothing.
pub fn class(automaton: &Automaton, id: ClassId) -> String {
    automaton.classes.get(id.index()).map_or("?".to_owned(), |class| path(&class.name))
}

/// A reason's name; `?` if the id refers to nothing.
pub fn reason(automaton: &Automaton, id: ReasonId) -> String {
    automaton.reasons.get(id.index()).map_or("?".to_owned(), |reason| path(&reason.name))
}

/// A value whose type is known from its context: `true`, `idle`, `7`.
pub fn value(automaton: &Automaton, ty: Type, value: u64) -> String {
    match ty {
        Type::Bool if value < 2 => (value == 1).to_string(),
        Type::Enum(id) => {
            let names = automaton.enums.get(id.index()).map_or(&[][..], |found| &found.names);
            names.iter().find(|(_, number)| *number == value).map_or(value.to_string(), |(name, _)| ident(name))
        }
        _ => value.to_string(),
    }
}

/// A value with its type: `true`, `State.idle`, `7:u32`, `reason seq.stale`.
pub fn literal(automaton: &Automaton, wanted: Type, number: u64) -> String {
    match wanted {
        Type::Bool if number < 2 => value(automaton, wanted, number),
        Type::Enum(id) => {
            let found = automaton.enums.get(id.index());
            match found.and_then(|found| found.names.iter().find(|(_, value)| *value == number)) {
                Some((name, _)) => format!("{}.{}", ty(automaton, wanted), ident(name)),
                None => format!("{number}:{}", ty(automaton, wanted)),
            }
        }
        Type::Reason => format!("reason {}", reason(automaton, ReasonId(number as u32))),
        _ => format!("{number}:{}", ty(automaton, wanted)),
    }
}

/// `name: type, …`
pub fn params(automaton: &Automaton, params: &[(String, Type)]) -> String {
    let one = |(name, found): &(String, Type)| format!("{}: {}", ident(name), ty(automaton, *found));
    params.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// `layer.Name` or `layer.Name.Variant`; a header that is one record has a variant without a name.
pub fn variant(automaton: &Automaton, header: HeaderId, variant: VariantId) -> String {
    let Some(header) = automaton.headers.get(header.index()) else { return "?".to_owned() };
    match header.variants.get(variant.index()) {
        Some(found) if found.name.is_empty() => path(&header.name),
        Some(found) => format!("{}.{}", path(&header.name), ident(&found.name)),
        None => "?".to_owned(),
    }
}

/// ` #7`, as it follows an operation, or nothing.
pub fn source_mark(source: Option<SourceId>) -> String {
    source.map_or(String::new(), |id| format!(" #{}", id.0))
}
