//! Statements on bounded vectors: `v.push(x) or { … }`, `v.clear()`, `for x in v limit 8`.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{behind, compared, edited, make, number, picked};
use crate::resolve::body::Body;
use crate::resolve::expr::{data, positional};
use crate::resolve::stmt::{bindings, targets};
use crate::resolve::{expr, stmt};
use crate::{codes, tree};

/// `v.push(x) or { … }`, `v.clear()` as statements; outer `None` if it is something else.
pub(super) fn read(body: &mut Body, stmt: &ast::ExprStmt, span: Span) -> Option<Option<StmtKind>> {
    let Some(Tree::Call(call)) = stmt.expr() else { return None };
    let (base, name) = tree::method(body.file, &call)?;
    match (name.text.as_str(), stmt.or()) {
        ("push", Some(or)) => {
            let (vector, of) = expr::vectors::named(body, &base)?;
            Some(push(body, &base, (vector, of), &call, or.block(), span))
        }
        ("clear", None) => {
            let (vector, _) = expr::vectors::named(body, &base)?;
            positional::counted(body, "clear", &call.args(), 0, span);
            let zero = data::zero(body, vector.ty, span);
            Some(targets::put_into(body, &base, zero, span))
        }
        ("pop" | "at", Some(or)) => {
            expr::vectors::named(body, &base)?;
            let help = "take it: `let x = v.pop() or { return }`, or `if let x = v.pop() { … }`";
            body.error(codes::UNUSED_VALUE, "this gives a value that nobody uses", span, "not used", help);
            stmt::block(body, or.block());
            Some(None)
        }
        _ => None,
    }
}

fn push(
    body: &mut Body,
    base: &Tree,
    (vector, of): (Expr, Vector),
    call: &ast::CallExpr,
    or: Option<ast::Block>,
    span: Span,
) -> Option<StmtKind> {
    let values = positional::counted(body, "push", &call.args(), 1, span);
    let Some(values) = values else {
        stmt::block(body, or);
        return None;
    };
    let value = expr::value(body, &values[0], of.element);
    let local = body.locals.hidden(span, of.element);
    let new = make(ExprKind::Local(local), of.element, span);
    let length = expr::vectors::length(vector.clone(), span);
    let condition = compared(Binary::Lt, length, number(of.bound, span), span);
    let longer = edited(vector, Edit::Push(Box::new(new)), span);
    let then = targets::put_into(body, base, longer, span)?;
    let otherwise = stmt::block(body, or);
    let then = vec![Stmt { kind: then, span }];
    let kind = StmtKind::If { condition, likely: None, then, otherwise };
    Some(behind(vec![Stmt { kind: StmtKind::Let { local, value }, span }], kind, span))
}

/// `for x in v limit 8 { … }`: over the elements at the start of the loop.
pub(super) fn walk(
    body: &mut Body,
    names: &[Name],
    vector: Expr,
    limit: Expr,
    block: Option<ast::Block>,
    span: Span,
) -> StmtKind {
    let ty = vector.ty;
    let element = body.cx.program.vector(ty).map_or(Type::Unknown, |vector| vector.element);
    let whole = body.locals.hidden(span, ty);
    let before = vec![Stmt { kind: StmtKind::Let { local: whole, value: vector }, span }];
    let vector = make(ExprKind::Local(whole), ty, span);
    let to = expr::vectors::length(vector.clone(), span);
    let kind = body.scoped(|body| {
        let counter = body.locals.hidden(span, Type::UInt(32));
        let local = bindings::only_name(body, names, span, element);
        let index = make(ExprKind::Local(counter), Type::UInt(32), span);
        let value = picked(vector, index, element, span);
        let mut all = vec![Stmt { kind: StmtKind::Let { local, value }, span }];
        all.extend(stmt::block(body, block));
        StmtKind::For { local: counter, from: number(0, span), to, limit, body: all }
    });
    behind(before, kind, span)
}
