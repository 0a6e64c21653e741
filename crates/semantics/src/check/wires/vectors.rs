//! Vectors of headers, by the dotted names that wires use for them and their parts.

use crate::check::wires::context::WireCheck;
use crate::check::wires::parts::part_of;
use crate::program::*;

/// The parts of a header field that need a place: the field, or for a vector its length and the parts of its elements.
pub(super) fn parts_of(check: &WireCheck, field: &Field) -> Vec<String> {
    let name = &field.name.text;
    match check.program.vector(field.ty) {
        None => vec![name.clone()],
        Some(_) => leaves(check.program, field.ty).into_iter().map(|leaf| format!("{name}{leaf}")).collect(),
    }
}

/// Whether it is the length of a vector.
pub(super) fn is_length(check: &WireCheck, value: &WireValue) -> bool {
    innermost(check, value).is_some_and(|(_, rest)| rest == Some("length"))
}

/// Whether the presence of an option is given by the name of a vector.
pub(super) fn names_vector<'a>(check: &WireCheck<'a, '_>, value: &'a WireValue) -> bool {
    innermost(check, value).is_some()
}

/// The innermost vector on a dotted name, and what is named behind it.
fn innermost<'n>(check: &WireCheck, value: &'n WireValue) -> Option<(Vector, Option<&'n str>)> {
    let WireValue::Header { layer, variant, field, .. } = value else { return None };
    let path: &'n str = &field.text;
    let (of, rest) = match path.rsplit_once('.') {
        Some((of, rest)) if rest != "*" => (of, Some(rest)),
        _ => (path, None),
    };
    let seen = check.layer(&layer.text)?;
    let found = seen.fields_of(variant.as_ref()).find_map(|fields| {
        let known = |path| fields.iter().find_map(|known| part_of(check.program, known, path));
        let named = |(field, rest): (Field, Option<&'n str>)| Some((check.program.vector(field.ty)?, rest));
        known(path).map(|field| (field, None)).and_then(named).or_else(|| named((known(of)?, rest)))
    });
    found
}

/// The most elements of the vector that a value belongs to.
pub(super) fn bound(check: &WireCheck, value: &WireValue) -> u64 {
    innermost(check, value).map_or(0, |(vector, _)| u64::from(vector.bound))
}

/// The names, behind a value, of all parts with a place in the packet; for a vector its length and an element's parts.
fn leaves(program: &Program, ty: Type) -> Vec<String> {
    if let Some(vector) = program.vector(ty) {
        let parts = leaves(program, vector.element).into_iter().map(|leaf| format!(".*{leaf}"));
        return std::iter::once(".length".to_string()).chain(parts).collect();
    }
    let Type::Record(id) = ty else { return vec![String::new()] };
    let fields = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
    let inner = |field: &Field| {
        let name = &field.name.text;
        leaves(program, field.ty).into_iter().map(|rest| format!(".{name}{rest}")).collect::<Vec<_>>()
    };
    fields.iter().flat_map(inner).collect()
}
