//! The text of types, their widths, and conversions without a cast.

use crate::limits;
use crate::program::{Expr, ExprKind, Program, Type};

/// The text of a type in the source.
pub fn show(program: &Program, ty: Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::UInt(width) => format!("u{width}"),
        Type::Seq(width) => format!("seq{width}"),
        Type::Duration => "Duration".into(),
        Type::Instant => "Instant".into(),
        Type::Enum(id) => program.enums.get(id.index()).map_or("enum".into(), |item| item.name.text.clone()),
        Type::Record(id) => program.records.get(id.index()).map_or("record".into(), |item| item.name.text.clone()),
        Type::Message => "Message".into(),
        Type::Flow(_) => "flow".into(),
        Type::Object(_) => "object".into(),
        Type::Listener => "listener".into(),
        Type::Rank => "Rank".into(),
        Type::Ranks => "Ranks".into(),
        Type::Reason => "Reason".into(),
        Type::Unit => "nothing".into(),
        Type::Unknown => "unknown".into(),
    }
}

/// The bits of a scalar; `None` for other types.
pub fn width(program: &Program, ty: Type) -> Option<u8> {
    match ty {
        Type::Bool => Some(1),
        Type::UInt(width) | Type::Seq(width) => Some(width),
        Type::Rank => Some(8),
        Type::Duration | Type::Instant | Type::Ranks => Some(64),
        Type::Enum(id) => program.enums.get(id.index()).map(|item| item.width),
        _ => None,
    }
}

/// Whether values of the type can be stored, put into headers, compared.
pub fn is_scalar(ty: Type) -> bool {
    use Type::*;
    matches!(ty, Bool | UInt(_) | Seq(_) | Duration | Instant | Enum(_) | Rank | Ranks | Unknown)
}

/// Whether values of the type are or contain ranks.
pub fn has_ranks(program: &Program, ty: Type) -> bool {
    match ty {
        Type::Rank | Type::Ranks => true,
        Type::Record(id) => program.records.get(id.index()).is_some_and(|record| match record.vector {
            Some(vector) => has_ranks(program, vector.element),
            None => record.fields.iter().any(|field| has_ranks(program, field.ty)),
        }),
        _ => false,
    }
}

/// Whether the types are equal; an unknown type equals any other.
pub fn same(a: Type, b: Type) -> bool {
    a == b || a == Type::Unknown || b == Type::Unknown || matches!((a, b), (Type::Flow(_), Type::Flow(_)))
}

/// Whether a value converts to the other type by widening alone.
pub fn widens(from: Type, to: Type) -> bool {
    match (from, to) {
        (Type::UInt(a), Type::UInt(b)) => a < b,
        _ => false,
    }
}

/// The largest number of a width.
pub fn mask(width: u8) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// The number of a literal, after the front end has folded it.
pub fn number(expr: &Expr) -> Option<u64> {
    match expr.kind {
        ExprKind::Number(value) => Some(value),
        _ => None,
    }
}

/// The number of scalars of a type, once all records are known; at most [`limits::SCALARS`].
pub fn scalars(program: &Program, ty: Type) -> u64 {
    let Type::Record(id) = ty else { return 1 };
    let Some(record) = program.records.get(id.index()) else { return 1 };
    if let Some(vector) = record.vector {
        return (scalars(program, vector.element) * u64::from(vector.bound) + 1).min(limits::SCALARS + 1);
    }
    let mut all = 0;
    for field in &record.fields {
        all += scalars(program, field.ty);
        if all > limits::SCALARS {
            break;
        }
    }
    all
}
