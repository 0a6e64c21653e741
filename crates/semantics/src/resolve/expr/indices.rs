//! `a[i]`: an element of an array in the state, or of a bounded vector.

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{named_types, rows, state, vectors};
use crate::{codes, tree};

/// `a[i]`
pub(super) fn read(body: &mut Body, expr: &ast::IndexExpr, span: Span) -> Expr {
    let Some(base) = expr.base() else { return unknown(span) };
    let is_array = |kind: &MemberKind| matches!(kind, MemberKind::Array { .. });
    if let Some(name) = tree::name_expr(body.file, &base) {
        if let Some(class) = rows::named(body, &base) {
            return rows::read(body, class, expr, span);
        }
        if body.class_named(&name).is_some() {
            let help = format!(
                "write `if let e = {}[key] {{ … }}`, or `let e = {}[key] or new {{ … }}`",
                name.text, name.text
            );
            body.error(codes::WRONG_STATE, "an object may not be there", span, "may be missing", &help);
            return unknown(span);
        }
    }
    if let Some((vector, _)) = vectors::named(body, &base) {
        return vectors::pick(body, vector, expr, span);
    }
    if named_types::is_unknown(body, &base) {
        return unknown(span);
    }
    let Some(array) = state::of_kind(body, &base, "an array", is_array) else { return unknown(span) };
    let ty = match body.member(array.scope, array.member).map(|member| &member.kind) {
        Some(MemberKind::Array { ty, .. }) => *ty,
        _ => Type::Unknown,
    };
    let indices = expr.indices();
    let [index] = indices.as_slice() else {
        body.error(codes::WRONG_COUNT, "an array has one index", span, "expected one", "write `a[i]`");
        return unknown(span);
    };
    let index = Box::new(expr::index(body, index));
    make(ExprKind::Element { array, index }, ty, span)
}
