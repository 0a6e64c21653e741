//! Assignments to elements of bounded vectors, and to parts of these: `v[i] = x`, `v[i].left += 1`.
//!
//! Keeps: the index is evaluated once, and reported once if it is out of bounds.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{behind, edited, make, once, picked};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{fields, named_types};
use crate::resolve::stmt::targets::{self, Change};
use crate::{codes, tree};

/// `v[i] = x`, `v[i] += x`
pub(super) fn element(body: &mut Body, tree: &ast::IndexExpr, change: Change) -> Option<StmtKind> {
    let base = tree.base()?;
    if change.op.is_some() {
        return part(body, &Tree::Index(tree.clone()), change);
    }
    let (vector, of) = expr::vectors::named(body, &base)?;
    let index = Box::new(expr::vectors::one_index(body, tree)?);
    let value = Box::new(expr::value(body, change.value, of.element));
    targets::put_into(body, &base, edited(vector, Edit::Set { index, value }, change.span), change.span)
}

/// `v[i].left = x`; `v.length` cannot be assigned.
pub(super) fn within(body: &mut Body, field: &ast::FieldExpr, change: Change) -> Option<StmtKind> {
    if field.base().is_some_and(|base| named_types::is_vector(body, &base)) {
        length_set(body, change.span);
        expr::infer(body, change.value, None);
        return None;
    }
    part(body, &Tree::Field(field.clone()), change)
}

fn length_set(body: &mut Body, span: Span) {
    let help = "write `v.clear()`, `v.push(x) or { … }`, `if let x = v.pop() { … }`";
    body.error(codes::NOT_ASSIGNABLE, "a vector's length is not assigned", span, "no place", help);
}

/// An assignment that reads the old value of an element or a part of one: the index is evaluated, and reported, once.
fn part(body: &mut Body, place: &Tree, change: Change) -> Option<StmtKind> {
    let span = change.span;
    let (index, names) = path_in(body, place)?;
    let base = index.base()?;
    let (vector, of) = expr::vectors::named(body, &base)?;
    let number = expr::vectors::one_index(body, &index)?;
    let (index, once) = once(body, number);
    let element = body.locals.hidden(span, of.element);
    let found = picked(vector.clone(), index.clone(), of.element, span);
    let lets = once.into_iter().chain([(element, found)]);
    let before = lets.map(|(local, value)| Stmt { kind: StmtKind::Let { local, value }, span }).collect();
    let mut parts = wholes(body, make(ExprKind::Local(element), of.element, span), &names, span)?;
    let mut value = targets::new_value(body, parts.pop()?, change);
    for name in names.iter().rev() {
        value = targets::with_part(body, parts.pop()?, name, value, span)?;
    }
    let edit = Edit::PutBack { index: Box::new(index), value: Box::new(value) };
    let kind = targets::put_into(body, &base, edited(vector, edit, span), span)?;
    Some(behind(before, kind, span))
}

/// An element and its nested parts along the names, the innermost last; `None`, after a report, if one does not exist.
pub(super) fn wholes(body: &mut Body, element: Expr, names: &[Name], span: Span) -> Option<Vec<Expr>> {
    let mut parts = vec![element];
    for name in names {
        let whole = parts.last()?.clone();
        let Type::Record(id) = whole.ty else {
            let text = format!("{} has no field `{}`", body.show(whole.ty), name.text);
            body.error(codes::UNKNOWN_FIELD, text, name.span, "unknown", "only records have parts");
            return None;
        };
        if body.cx.program.vector(whole.ty).is_some() {
            length_set(body, span);
            return None;
        }
        let part = fields::of_record(body, whole, id, name, span);
        if part.ty == Type::Unknown {
            return None;
        }
        parts.push(part);
    }
    Some(parts)
}

/// `v[i].a.b` as `v[i]` and the names behind it.
pub(super) fn path_in(body: &Body, place: &Tree) -> Option<(ast::IndexExpr, Vec<Name>)> {
    match tree::unparen(place) {
        Tree::Index(index) => Some((index, Vec::new())),
        Tree::Field(field) => {
            let (index, mut names) = path_in(body, &field.base()?)?;
            names.push(tree::some_name(body.file, field.name())?);
            Some((index, names))
        }
        _ => None,
    }
}
