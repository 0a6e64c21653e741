//! `Row[r]`: the object for a rank, in a class with one for each. It always exists.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::tree;

/// The class that an expression names, if it has an object for each rank.
pub fn named(body: &Body, base: &Tree) -> Option<ObjectId> {
    let name = tree::name_expr(body.file, base)?;
    if body.locals.find(&name.text).is_some() {
        return None;
    }
    let class = body.object_class(&name.text)?;
    let is_one = body.this_layer()?.objects.get(class.index())?.rows;
    is_one.then_some(class)
}

/// The class of `Row[r]`; `None` for other expressions.
pub fn of(body: &Body, tree: &Tree) -> Option<ObjectId> {
    let Tree::Index(index) = tree else { return None };
    named(body, &index.base()?)
}

/// `Row[r]`
pub(super) fn read(body: &mut Body, class: ObjectId, expr: &ast::IndexExpr, span: Span) -> Expr {
    if let Some(name) = expr.base().and_then(|base| tree::name_expr(body.file, &base)) {
        body.class_named(&name);
    }
    let indices = expr.indices();
    let [index] = indices.as_slice() else {
        body.error(codes::WRONG_COUNT, "one rank finds it", span, "expected one", "write `Row[r]`");
        return unknown(span);
    };
    let rank = Box::new(expr::value(body, index, Type::Rank));
    make(ExprKind::Row { class, rank }, Type::Object(class), span)
}
