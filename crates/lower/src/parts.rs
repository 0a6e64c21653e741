//! The two forms of a value. *In code* it consists of parts: scalars, and for a bounded vector its length and an array
//! for each scalar of its elements. *At a border*, where only scalars pass (events, headers, ports, published values,
//! keys, constants), it consists of its scalars, those of a vector element by element. A value without vectors has the
//! same form in both.
//!
//! The elements of a nested vector are in one array with those of all its siblings: `[[u8; ..4]; ..2]` has as parts the
//! length, two lengths, and eight numbers. Keeps: elements at or beyond a length are zero, so vectors are equal if all
//! their parts are.

use std::ops::Range;

use mokume_semantics::program::{Program, RecordId, Type, Vector};

/// A part of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The suffix of its name: `.left`.
    pub name: String,
    /// The type of the scalar, or of one item.
    pub ty: Type,
    /// For an array: how many items.
    pub items: Option<u32>,
}

/// The parts of a type, in order; messages, handles and flows have one.
pub fn parts(program: &Program, ty: Type) -> Vec<Part> {
    let mut found = Vec::new();
    add_parts(program, ty, ("", None), &mut found);
    found
}

fn add_parts(program: &Program, ty: Type, (name, items): (&str, Option<u32>), found: &mut Vec<Part>) {
    if let Some(Vector { element, bound }) = program.vector(ty) {
        found.push(Part { name: format!("{name}.length"), ty: LENGTH, items });
        return add_parts(program, element, (name, Some(items.unwrap_or(1) * bound)), found);
    }
    match ty {
        Type::Record(id) => {
            for field in &program.records[id.index()].fields {
                add_parts(program, field.ty, (&format!("{name}.{}", field.name.text), items), found);
            }
        }
        Type::Unit => {}
        plain => found.push(Part { name: name.to_owned(), ty: plain, items }),
    }
}

/// The type of a vector's length.
const LENGTH: Type = Type::UInt(8);

/// The range of a record's field among the record's parts. Of a vector only the length is a field.
pub fn part_range(program: &Program, record: RecordId, field: u32) -> Range<usize> {
    let fields = &program.records[record.index()].fields;
    let count = |ty: Type| parts(program, ty).len();
    let before: usize = fields[..field as usize].iter().map(|field| count(field.ty)).sum();
    before..before + count(fields[field as usize].ty)
}

/// The position of each scalar of a type among its parts, in the order at a border: the part, and the item in an array.
pub fn places(program: &Program, ty: Type) -> Vec<(usize, Option<u32>)> {
    let mut found = Vec::new();
    add_places(program, ty, (0, None), &mut found);
    found
}

/// Adds the positions; returns how many parts the type has.
fn add_places(
    program: &Program,
    ty: Type,
    (part, item): (usize, Option<u32>),
    found: &mut Vec<(usize, Option<u32>)>,
) -> usize {
    if let Some(Vector { element, bound }) = program.vector(ty) {
        found.push((part, item));
        let first = item.unwrap_or(0) * bound;
        let counts = (first..first + bound).map(|item| add_places(program, element, (part + 1, Some(item)), found));
        return 1 + counts.max().unwrap_or(0);
    }
    match ty {
        Type::Record(id) => {
            let mut count = 0;
            for field in &program.records[id.index()].fields {
                count += add_places(program, field.ty, (part + count, item), found);
            }
            count
        }
        Type::Unit => 0,
        _ => {
            found.push((part, item));
            1
        }
    }
}

/// Whether a value of the type has arrays among its parts.
pub fn has_arrays(program: &Program, ty: Type) -> bool {
    match ty {
        Type::Record(id) => {
            let record = &program.records[id.index()];
            record.vector.is_some() || record.fields.iter().any(|field| has_arrays(program, field.ty))
        }
        Type::Bool
        | Type::UInt(_)
        | Type::Seq(_)
        | Type::Duration
        | Type::Instant
        | Type::Enum(_)
        | Type::Rank
        | Type::Ranks
        | Type::Message
        | Type::Reason
        | Type::Object(_)
        | Type::Listener
        | Type::Flow(_)
        | Type::Unit
        | Type::Unknown => false,
    }
}
