//! Constructors of typed expressions from others. Reads no tree, reports nothing.

use mokume_base::Span;

use crate::program::*;
use crate::resolve::body::Body;

/// The stand-in for an expression that could not be resolved.
pub fn unknown(span: Span) -> Expr {
    Expr { kind: ExprKind::Number(0), ty: Type::Unknown, span }
}

/// An expression of any kind.
pub fn make(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

/// A number converted to another type; a literal that is widened only changes its type.
pub fn cast(expr: Expr, ty: Type, kind: CastKind) -> Expr {
    let span = expr.span;
    if let (ExprKind::Number(_), CastKind::Widen) = (&expr.kind, kind) {
        return Expr { ty, ..expr };
    }
    make(ExprKind::Cast { kind, a: Box::new(expr) }, ty, span)
}

/// A literal `u32`.
pub fn number(value: u32, span: Span) -> Expr {
    make(ExprKind::Number(u64::from(value)), Type::UInt(32), span)
}

/// A comparison of two values of one type.
pub fn compared(op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
    make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, Type::Bool, span)
}

/// An element of a bounded vector.
pub fn picked(vector: Expr, index: Expr, element: Type, span: Span) -> Expr {
    make(ExprKind::Pick { vector: Box::new(vector), index: Box::new(index) }, element, span)
}

/// A bounded vector with one change.
pub fn edited(vector: Expr, edit: Edit, span: Span) -> Expr {
    let ty = vector.ty;
    make(ExprKind::Edited { vector: Box::new(vector), edit }, ty, span)
}

/// A statement with others before it.
pub fn behind(mut before: Vec<Stmt>, kind: StmtKind, span: Span) -> StmtKind {
    if before.is_empty() {
        return kind;
    }
    before.push(Stmt { kind, span });
    let condition = make(ExprKind::Number(1), Type::Bool, span);
    StmtKind::If { condition, likely: None, then: before, otherwise: Vec::new() }
}

/// Makes a value that may be named repeatedly without being evaluated again; also returns the local that holds it, if
/// one is needed.
pub fn once(body: &mut Body, value: Expr) -> (Expr, Option<(LocalId, Expr)>) {
    // Constants and arguments have no effects, and no locals.
    if is_name(&value) || body.is_fixed() {
        return (value, None);
    }
    let local = body.locals.hidden(value.span, value.ty);
    (make(ExprKind::Local(local), value.ty, value.span), Some((local, value)))
}

/// Whether it only names something immutable: nothing is computed, drawn, called or reported.
pub fn is_name(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Number(_) | ExprKind::Local(_) | ExprKind::Param(_) => true,
        ExprKind::RecordField { record, .. } => is_name(record),
        _ => false,
    }
}

/// A record with one field replaced.
pub fn replaced(old: Expr, (id, fields): (RecordId, &[Field]), at: usize, value: Expr, span: Span) -> Expr {
    // The other fields are read after the value, which may change them.
    let behind = Span { start: value.span.end, ..value.span };
    let part = |(index, field): (usize, &Field)| match index == at {
        true => value.clone(),
        false => {
            let kind = ExprKind::RecordField { record: Box::new(old.clone()), field: index as u32 };
            make(kind, field.ty, behind)
        }
    };
    let values = fields.iter().enumerate().map(part).collect();
    make(ExprKind::Record { record: id, fields: values }, Type::Record(id), span)
}
