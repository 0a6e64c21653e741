//! Fields of headers by their names, with the parts of vectors.

use crate::program::*;

/// The header field, or the part of a vector, that a dotted name means.
pub(super) fn part_of(program: &Program, field: &Field, name: &str) -> Option<Field> {
    let mut parts = name.split('.');
    if parts.next() != Some(field.name.text.as_str()) {
        return None;
    }
    let ty = parts.try_fold(field.ty, |ty, part| step_into(program, ty, part))?;
    // Of records that are not in a list, the parts have no place of their own.
    let listed = name == field.name.text || program.vector(field.ty).is_some();
    listed.then(|| Field { ty, ..field.clone() })
}

fn step_into(program: &Program, ty: Type, part: &str) -> Option<Type> {
    let Type::Record(id) = ty else { return None };
    match (program.vector(ty), part) {
        (Some(vector), "*") => Some(vector.element),
        (Some(_), "length") => Some(Type::UInt(8)),
        (Some(_), _) => None,
        (None, part) => {
            let fields = program.records.get(id.index()).map_or(&[][..], |record| &record.fields);
            fields.iter().find(|field| field.name.text == part).map(|field| field.ty)
        }
    }
}
