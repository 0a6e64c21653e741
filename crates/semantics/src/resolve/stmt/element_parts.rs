//! Assignments to parts of an array's elements: `a[i].left += 1`, `e.a[i].left = x`.
//!
//! Keeps: the index is evaluated once, before the value; the whole element is read, and written back with the part
//! changed.

use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{behind, make, once};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::stmt::targets::{self, Change};
use crate::resolve::stmt::vector_parts;

/// `a[i].left = x`
pub(super) fn of_array(body: &mut Body, field: &ast::FieldExpr, change: Change) -> Option<StmtKind> {
    let span = change.span;
    body.has_effects(span);
    let (index, names) = vector_parts::path_in(body, &Tree::Field(field.clone()))?;
    let found = expr::infer(body, &Tree::Index(index), None);
    let Expr { kind: ExprKind::Element { array, index }, ty, span: place } = found else { return None };
    let (index, once) = once(body, *index);
    let element = body.locals.hidden(span, ty);
    let old = make(ExprKind::Element { array: array.clone(), index: Box::new(index.clone()) }, ty, place);
    let lets = once.into_iter().chain([(element, old)]);
    let before = lets.map(|(local, value)| Stmt { kind: StmtKind::Let { local, value }, span }).collect();
    let mut parts = vector_parts::wholes(body, make(ExprKind::Local(element), ty, span), &names, span)?;
    let mut value = targets::new_value(body, parts.pop()?, change);
    for name in names.iter().rev() {
        value = targets::with_part(body, parts.pop()?, name, value, span)?;
    }
    Some(behind(before, StmtKind::AssignElement { array, index, value }, span))
}
