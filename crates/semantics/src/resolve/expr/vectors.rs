//! Bounded vectors in values: `[a, b]`, `v[i]`, `v.size()`.
//!
//! A vector is a record: the length, then the elements. So it is a value like others in state, parameters, results and
//! other records, and two vectors are equal if the records are. Keeps: elements at or beyond the length are zero.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{cast, compared, make, number, picked, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{data, named_types, positional};

/// `[a, b]` where a vector is expected.
pub(super) fn literal(body: &mut Body, tree: &ast::VectorExpr, want: Option<Type>, span: Span) -> Expr {
    let elements = tree.elements();
    if want == Some(Type::Ranks) {
        return set(body, &elements, span);
    }
    let wanted = want.and_then(|want| Some((want, body.cx.program.vector(want)?)));
    let Some((Type::Record(record), Vector { element, bound })) = wanted else {
        elements.iter().for_each(|element| drop(expr::infer(body, element, None)));
        match want {
            Some(Type::Unknown) => {}
            Some(other) => {
                let text = format!("expected {}, found a vector", body.show(other));
                body.error(codes::MISMATCH, text, span, "a vector", "write one value here");
            }
            None => {
                let help = "bind it with a type: `let v: [u32; ..4] = [1, 2]`";
                body.error(codes::NO_TYPE, "which vector this is, is not known here", span, "of what type?", help);
            }
        }
        return unknown(span);
    };
    let values = elements.iter().map(|value| expr::value(body, value, element)).collect();
    whole(body, record, (element, bound), values, span)
}

/// `"text"` or octets where a vector of octets is expected; `None` where none is.
pub(super) fn of_octets(body: &mut Body, octets: &[u8], want: Option<Type>, span: Span) -> Option<Expr> {
    let want = want?;
    let Vector { element, bound } = body.cx.program.vector(want)?;
    let Type::Record(record) = want else { return None };
    if element != Type::UInt(8) {
        return None;
    }
    let values = octets.iter().map(|octet| make(ExprKind::Number(u64::from(*octet)), element, span)).collect();
    Some(whole(body, record, (element, bound), values, span))
}

/// A vector with these elements.
fn whole(body: &mut Body, record: RecordId, (element, bound): (Type, u32), mut values: Vec<Expr>, span: Span) -> Expr {
    if values.len() > bound as usize {
        let text = format!("{} elements do not fit a vector of {bound} at most", values.len());
        body.error(codes::VECTOR_FULL, text, span, "too many", "leave some out, or widen the type");
        values.truncate(bound as usize);
    }
    let length = make(ExprKind::Number(values.len() as u64), Type::UInt(8), span);
    values.insert(0, length);
    values.resize_with(bound as usize + 1, || data::zero(body, element, span));
    make(ExprKind::Record { record, fields: values }, Type::Record(record), span)
}

/// `[]`, `[r]` where a set of ranks is expected.
fn set(body: &mut Body, elements: &[Tree], span: Span) -> Expr {
    let bit = |body: &mut Body, element: &Tree| {
        let rank = expr::value(body, element, Type::Rank);
        let one = make(ExprKind::Number(1), Type::Ranks, span);
        let kind = ExprKind::Binary { op: Binary::Shl, a: Box::new(one), b: Box::new(rank) };
        make(kind, Type::Ranks, span)
    };
    let none = make(ExprKind::Number(0), Type::Ranks, span);
    elements.iter().fold(none, |all, element| {
        let bit = bit(body, element);
        match all.kind {
            ExprKind::Number(0) => bit,
            _ => make(ExprKind::Binary { op: Binary::BitOr, a: Box::new(all), b: Box::new(bit) }, Type::Ranks, span),
        }
    })
}

/// The value of an expression that names a vector; `None`, without a report, if it names none.
pub fn named(body: &mut Body, tree: &Tree) -> Option<(Expr, Vector)> {
    let vector = named_types::of(body, tree).and_then(|ty| body.cx.program.vector(ty))?;
    Some((expr::infer(body, tree, None), vector))
}

/// `v.length`, as a `u32`.
pub fn length(vector: Expr, span: Span) -> Expr {
    let kind = ExprKind::RecordField { record: Box::new(vector), field: 0 };
    cast(make(kind, Type::UInt(8), span), Type::UInt(32), CastKind::Widen)
}

/// `v[i]`
pub(super) fn pick(body: &mut Body, vector: Expr, tree: &ast::IndexExpr, span: Span) -> Expr {
    let element = body.cx.program.vector(vector.ty).map_or(Type::Unknown, |vector| vector.element);
    match one_index(body, tree) {
        Some(index) => picked(vector, index, element, span),
        None => unknown(span),
    }
}

/// The index in `v[i]`.
pub fn one_index(body: &mut Body, tree: &ast::IndexExpr) -> Option<Expr> {
    let indices = tree.indices();
    let [index] = indices.as_slice() else {
        let span = body.span(tree);
        body.error(codes::WRONG_COUNT, "a vector has one index", span, "expected one", "write `v[i]`");
        return None;
    };
    Some(expr::index(body, index))
}

/// `v.size()`, `v.left()`, `v.is_empty()`
pub(super) fn method(body: &mut Body, base: Expr, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
    let bound = body.cx.program.vector(base.ty).map_or(0, |vector| vector.bound);
    let (what, help) = match name.text.as_str() {
        "size" | "left" | "is_empty" => {
            positional::counted(body, &name.text, args, 0, span);
            let length = length(base, span);
            return match name.text.as_str() {
                "size" => length,
                "left" => {
                    let kind =
                        ExprKind::Binary { op: Binary::SubWrap, a: Box::new(number(bound, span)), b: Box::new(length) };
                    make(kind, Type::UInt(32), span)
                }
                _ => compared(Binary::Eq, length, number(0, span), span),
            };
        }
        "push" => (codes::REFUSAL_UNMET, "say it: `v.push(x) or { drop msg: full  return }`"),
        "pop" | "at" => (codes::REFUSAL_UNMET, "write `if let x = v.pop() { … }`, or `let x = v.pop() or { return }`"),
        "clear" => (codes::NO_VALUE, "write it as a statement"),
        _ => (codes::NO_FUNCTION, "it has `push pop at size left is_empty clear`, and `v.length`, `v[i]`"),
    };
    let text = match what {
        codes::REFUSAL_UNMET => format!("what happens when `{}` refuses?", name.text),
        codes::NO_VALUE => format!("`{}` gives no value", name.text),
        _ => format!("a vector has no `{}`", name.text),
    };
    body.error(what, text, name.span, "here", help);
    unknown(span)
}
