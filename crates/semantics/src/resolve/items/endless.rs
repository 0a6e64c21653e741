//! Records that contain themselves would be infinite; and the size of records is limited.

use crate::program::*;
use crate::resolve::context::Context;
use crate::{codes, graph, limits};

/// Reports each record that contains itself or is too large, and removes the fields that cause it.
pub(super) fn records(cx: &mut Context) {
    let inner = |record: &Record| {
        let types: Vec<Type> = match record.vector {
            Some(vector) => vec![vector.element],
            None => record.fields.iter().map(|field| field.ty).collect(),
        };
        types.into_iter().filter_map(|ty| if let Type::Record(id) = ty { Some(id.index()) } else { None }).collect()
    };
    let next: Vec<Vec<usize>> = cx.program.records.iter().map(inner).collect();
    let order = graph::order(&next);
    for index in &order.circles {
        endless(cx, *index);
    }
    let mut sizes = vec![Size::default(); next.len()];
    for index in order.nodes {
        let size = size(&cx.program.records[index], &sizes);
        sizes[index] = size;
        let large = size.scalars > limits::SCALARS || size.depth > limits::TYPE_DEPTH;
        if large && !size.said {
            too_large(cx, index, size);
        }
        // A record with one that is too large loses that field.
        if large || size.said {
            take_out(cx, index);
            sizes[index] = Size { said: true, ..Size::default() };
        }
    }
}

/// The size of a type.
#[derive(Clone, Copy, Default)]
struct Size {
    scalars: u64,
    depth: u32,
    /// Whether it, or one within it, was already reported as too large.
    said: bool,
}

fn size(record: &Record, known: &[Size]) -> Size {
    let of = |ty: Type| match ty {
        Type::Record(id) => known[id.index()],
        _ => Size { scalars: 1, ..Size::default() },
    };
    let (types, times): (Vec<Type>, u64) = match record.vector {
        Some(vector) => (vec![vector.element], vector.bound.into()),
        None => (record.fields.iter().map(|field| field.ty).collect(), 1),
    };
    let sizes: Vec<Size> = types.into_iter().map(of).collect();
    let scalars = sizes.iter().fold(0u64, |all, size| all.saturating_add(size.scalars));
    let length = u64::from(record.vector.is_some());
    let depth = sizes.iter().map(|size| size.depth).max().unwrap_or(0) + 1;
    let said = sizes.iter().any(|size| size.said);
    Size { scalars: scalars.saturating_mul(times).saturating_add(length), depth, said }
}

fn endless(cx: &mut Context, index: usize) {
    let name = cx.program.records[index].name.clone();
    let is_enum = cx.program.enums.iter().any(|item| item.data.is_some_and(|data| data.index() == index));
    let text = format!("{} `{}` holds itself", if is_enum { "enum" } else { "record" }, name.text);
    cx.error(codes::CIRCLE, text, name.span, "would be endless", "leave the field out, or keep a key to it");
    take_out(cx, index);
}

fn too_large(cx: &mut Context, index: usize, size: Size) {
    let name = cx.program.records[index].name.clone();
    let text = match size.depth > limits::TYPE_DEPTH {
        true => format!("`{}` is of types within types, more than {} deep", name.text, limits::TYPE_DEPTH),
        false => format!("`{}` has {} numbers in it, and {} is the most", name.text, size.scalars, limits::SCALARS),
    };
    let help = "keep many things in the state, in arrays, maps or objects: each has a size of its own";
    cx.error(codes::TYPE_TOO_LARGE, text, name.span, "too large", help);
}

/// The other fields keep their positions: those of an enum's parts are known by number.
fn take_out(cx: &mut Context, index: usize) {
    let record = &mut cx.program.records[index];
    for field in record.fields.iter_mut().filter(|field| matches!(field.ty, Type::Record(_))) {
        field.ty = Type::Unknown;
    }
    if let Some(vector) = &mut record.vector {
        vector.element = Type::Unknown;
    }
}
