//! `while` and `for`, each with its limit.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{behind, make, number, unknown};
use crate::resolve::body::views;
use crate::resolve::body::Body;
use crate::resolve::expr::operators;
use crate::resolve::stmt::{bindings, containers, control, lookup, vectors};
use crate::resolve::{expr, stmt};
use crate::{codes, tree};

/// A size; or a bound from published values and sizes of messages, whose maxima the stack knows.
fn limit(body: &mut Body, limit: Option<ast::Expr>, span: Span) -> Expr {
    // If it names none of these, the usual rules for sizes apply.
    let asks = |limit: &ast::Expr| {
        let words = ast::AstNode::syntax(limit).descendants_with_tokens().filter_map(|part| part.into_token());
        words.into_iter().any(|word| matches!(word.text(), "below" | "size"))
    };
    let tree = match limit {
        Some(limit) if asks(&limit) => limit,
        other => return expr::size(body, other, span),
    };
    let value = expr::value(body, &tree, Type::UInt(32));
    let mut unbounded = None;
    crate::visit::walk_expr(&value, &mut |part| {
        use ExprKind as E;
        let known = matches!(
            part.kind,
            E::Number(_)
                | E::Param(_)
                | E::Binary { .. }
                | E::Cast { .. }
                | E::If { .. }
                | E::Below { .. }
                | E::BelowCount
                | E::MessageSize(_)
                | E::Not(_)
        );
        if !known && part.ty != Type::Unknown {
            unbounded.get_or_insert(part.span);
        }
    });
    if let Some(place) = unbounded {
        let text = "nobody knows how large this may be";
        let help = "a limit is made of numbers, parameters, `below.mtu` and its like, and `msg.size`";
        body.error(codes::LIMIT, text, place, "not bounded by the stack", help);
    }
    value
}

/// `while c limit 8 { … }`, `while let x = waiting.pop() limit 8 { … }`
pub(super) fn while_(body: &mut Body, stmt: &ast::WhileStmt, span: Span) -> Option<StmtKind> {
    if let Some(found) = stmt.let_condition() {
        return while_found(body, stmt, &found, span);
    }
    let condition = expr::some_value(body, stmt.condition(), Type::Bool, span);
    let limit = limit(body, stmt.limit(), span);
    let body = stmt::block(body, stmt.body());
    Some(StmtKind::While { condition, limit, body })
}

/// While a local is true; a round that finds nothing sets it to false.
fn while_found(body: &mut Body, stmt: &ast::WhileStmt, found: &ast::LetCondition, span: Span) -> Option<StmtKind> {
    let limit = limit(body, stmt.limit(), span);
    let more = body.locals.hidden(span, Type::Bool);
    let is = |number: u64| make(ExprKind::Number(number), Type::Bool, span);
    let end = Stmt { kind: StmtKind::AssignLocal { local: more, value: is(0) }, span };
    let round = control::if_found(body, found, stmt.body(), span, |_| vec![end])?;
    let condition = make(ExprKind::Local(more), Type::Bool, span);
    let begin = vec![Stmt { kind: StmtKind::Let { local: more, value: is(1) }, span }];
    Some(behind(begin, StmtKind::While { condition, limit, body: vec![Stmt { kind: round, span }] }, span))
}

/// `for r in view { … }`: over the ranks; the bound is that of the view's record.
fn over_view(body: &mut Body, stmt: &ast::ForStmt, names: &[Name], span: Span) -> StmtKind {
    let Some(view) = views::of(body) else { return StmtKind::Return { value: None } };
    if let Some(limit) = stmt.limit() {
        let place = body.span(&limit);
        let text = "a view has its own limit";
        body.error(codes::MISPLACED, text, place, "not needed", "write `for r in view { … }`");
    }
    let to = views::size(&body.cx.program, &view, span);
    let (from, limit) = (number(0, span), number(view.record.bound, span));
    body.scoped(|body| {
        let local = body.locals.hidden(span, Type::UInt(32));
        let count = make(ExprKind::Local(local), Type::UInt(32), span);
        let rank = bindings::only_name(body, names, span, Type::Rank);
        let value = make(ExprKind::Cast { kind: CastKind::Truncate, a: Box::new(count) }, Type::Rank, span);
        let mut inner = vec![Stmt { kind: StmtKind::Let { local: rank, value }, span }];
        inner.extend(stmt::block(body, stmt.body()));
        StmtKind::For { local, from, to, limit, body: inner }
    })
}

/// `for i in a .. b limit 16 { … }`, also over objects, vectors and containers.
pub(super) fn for_(body: &mut Body, stmt: &ast::ForStmt, span: Span) -> Option<StmtKind> {
    let names = bindings::names(body, stmt.pattern());
    let iterable = stmt.iterable()?;
    if tree::name_expr(body.file, &iterable).is_some_and(|name| views::is_view(body, &name.text)) {
        return Some(over_view(body, stmt, &names, span));
    }
    if let (None, Some(name)) = (stmt.limit(), tree::name_expr(body.file, &iterable).filter(|name| name.text == "view"))
    {
        let help = "write `limit 8` in front of the block; only over the view of a layer none is needed";
        body.error(codes::MISSING_ARGUMENT, "this loop has no limit", name.span, "expected `limit` behind it", help);
    }
    let limit = limit(body, stmt.limit(), span);
    if let Tree::Range(range) = &iterable {
        let (from, to) = match (range.from(), range.to()) {
            (Some(from), Some(to)) => operators::pair(body, &from, &to, None),
            _ => (unknown(span), unknown(span)),
        };
        let ty = from.ty;
        if !matches!(ty, Type::UInt(_) | Type::Seq(_) | Type::Unknown) {
            let text = format!("a loop counts numbers, not {}", body.show(ty));
            body.error(codes::BAD_OPERANDS, text, from.span, "no number", "count a `uN`");
        }
        return Some(body.scoped(|body| {
            let local = bindings::only_name(body, &names, span, ty);
            StmtKind::For { local, from, to, limit, body: stmt::block(body, stmt.body()) }
        }));
    }
    if let Some((vector, _)) = expr::vectors::named(body, &iterable) {
        return Some(vectors::walk(body, &names, vector, limit, stmt.body(), span));
    }
    if let Some(kind) = containers::walk(body, &names, &iterable, &limit, stmt.body(), span) {
        return Some(kind);
    }
    let class = tree::name_expr(body.file, &iterable).and_then(|name| body.class_named(&name));
    let Some(class) = class else {
        let place = body.span(&iterable);
        let help = "write `for i in a .. b limit 16` or `for e in Entry limit 64`";
        if lookup::is_sound(body, &iterable) {
            body.error(codes::MISMATCH, "a loop runs over a range or over objects", place, "neither", help);
        }
        body.scoped(|body| {
            body.locals.bind_unknown(&names);
            stmt::block(body, stmt.body())
        });
        return None;
    };
    Some(body.scoped(|body| {
        let local = bindings::only_name(body, &names, span, Type::Object(class));
        StmtKind::ForObjects { local, class, limit, body: stmt::block(body, stmt.body()) }
    }))
}
