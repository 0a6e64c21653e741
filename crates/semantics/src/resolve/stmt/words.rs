//! Statements that are a word with operands: `pass`, `drop`, `fail`, `accept`, `take`, `count`, `start`, `remove`,
//! `end`, `again`.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{cast, make};
use crate::resolve::body::views;
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::expr::{names, state};
use crate::resolve::stmt::lookup::Lookup;
use crate::resolve::stmt::{lookup, unnamed};
use crate::resolve::{expr, stmt};
use crate::{codes, tree};

/// `pass`
pub(super) fn pass(body: &mut Body, span: Span) -> Option<StmtKind> {
    match body.kind {
        BodyKind::Handler(Role::Open | Role::Other) => Some(StmtKind::Pass),
        BodyKind::Handler(_) => {
            let help = "events that pass through a layer are those from above and below";
            body.error(codes::MISPLACED, "this event goes on to nobody", span, "cannot pass", help);
            None
        }
        _ => {
            body.error(
                codes::MISPLACED,
                "`pass` belongs to a handler",
                span,
                "not in a function",
                "let the handler pass",
            );
            None
        }
    }
}

/// `drop msg: stale`
pub(super) fn drop(body: &mut Body, stmt: &ast::DropStmt) -> Option<StmtKind> {
    let (message, reason) = lose(body, stmt.value(), stmt.reason())?;
    let value = names::reason(body, &reason);
    Some(StmtKind::Drop { message, reason, value })
}

/// `consume msg: used`
pub(super) fn consume(body: &mut Body, stmt: &ast::ConsumeStmt) -> Option<StmtKind> {
    let (message, reason) = lose(body, stmt.value(), stmt.reason())?;
    if names::reason(body, &reason).is_some() {
        let text = format!("`{}` is a value here: what is consumed is counted by a name", reason.text);
        let help = "write a name that nothing here has; only `drop` takes a reason that is a value";
        body.error(codes::MISMATCH, text, reason.span, "a `Reason`", help);
        return None;
    }
    Some(StmtKind::Consume { message, reason })
}

/// The message and the reason of `drop` and `consume`.
fn lose(body: &mut Body, value: Option<Tree>, reason: Option<ast::Path>) -> Option<(LocalId, Name)> {
    let message = unnamed::message(body, &value?);
    let reason = tree::path(body.file, &reason?);
    Some((message?, reason))
}

/// `fail: reason`
pub(super) fn fail(body: &mut Body, stmt: &ast::FailStmt, span: Span) -> Option<StmtKind> {
    let reason = tree::path(body.file, &stmt.reason()?);
    if body.shape() == Some(Shape::Endpoint) {
        let sessions = body.this_layer().is_some_and(|layer| layer.members(ScopeKind::Session).is_some());
        let help = match sessions {
            true => "close the session: `below.close()`",
            false => "leave it out: there is nobody to tell, and no session that could end",
        };
        body.error(codes::NOTHING_ABOVE, "an endpoint has nothing above it", span, "nobody to tell", help);
        return None;
    }
    if !body.has_effects(span) {
        return None;
    }
    Some(StmtKind::Emit(match names::reason(body, &reason) {
        Some(reason) => Emission::FailedAs { reason },
        None => Emission::Failed { reason },
    }))
}

/// `accept msg`
pub(super) fn accept(body: &mut Body, stmt: &ast::AcceptStmt, span: Span) -> Option<StmtKind> {
    let message = stmt.value().and_then(|value| unnamed::message(body, &value));
    if body.kind != BodyKind::Handler(Role::Unmatched) {
        let help = match body.kind {
            BodyKind::Handler(Role::Arrives) => "write `accept(msg) or { drop msg: no_room  return }`",
            _ => "`accept` answers a message that no session matched: `on unmatched(msg) from flow { … }`",
        };
        body.error(codes::MISPLACED, "nothing is accepted here", span, "not in `unmatched`", help);
        return None;
    }
    Some(StmtKind::Accept { message: message? })
}

/// The number of units; one if absent.
pub(super) fn amount(body: &mut Body, amount: Option<Tree>, span: Span) -> Expr {
    match amount {
        Some(amount) => expr::value(body, &amount, Type::UInt(32)),
        None => make(ExprKind::Number(1), Type::UInt(32), span),
    }
}

/// `take kept 3 or { … }`
pub(super) fn take(body: &mut Body, stmt: &ast::TakeStmt, span: Span) -> Option<StmtKind> {
    let quota = stmt.target().and_then(|target| state::quota(body, &target));
    let amount = amount(body, stmt.amount(), span);
    let Some(or) = stmt.or() else {
        let diagnostic = Diagnostic::error(codes::MUST_LEAVE, "what happens when nothing is left?")
            .at(span, "may have no room")
            .help(format!("say it: `{} or {{ drop msg: busy  return }}`", stmt.syntax().text().to_string().trim()));
        body.report(diagnostic);
        return None;
    };
    let otherwise = stmt::block(body, or.block());
    Some(StmtKind::Take { quota: quota?, amount, otherwise })
}

/// `count hits 3`
pub(super) fn count(body: &mut Body, stmt: &ast::CountStmt, span: Span) -> Option<StmtKind> {
    let is_counter = |kind: &MemberKind| matches!(kind, MemberKind::Counter);
    let counter = stmt.target().and_then(|target| state::of_kind(body, &target, "a counter", is_counter));
    let amount = match stmt.amount() {
        Some(amount) => expr::value(body, &amount, Type::UInt(64)),
        None => make(ExprKind::Number(1), Type::UInt(64), span),
    };
    Some(StmtKind::Count { counter: counter?, amount })
}

/// `start t after 20 ms`, `start t at e`
pub(super) fn start(body: &mut Body, stmt: &ast::StartStmt, span: Span) -> Option<StmtKind> {
    let timer = stmt.timer().and_then(|timer| state::timer(body, &timer));
    let deadline = match (stmt.after(), stmt.at()) {
        (Some(after), _) => {
            let after = expr::value(body, &after, Type::Duration);
            let place = after.span;
            let now = make(ExprKind::Now, Type::Instant, place);
            let after = cast(after, Type::Instant, CastKind::Widen);
            make(ExprKind::Binary { op: Binary::Add, a: Box::new(now), b: Box::new(after) }, Type::Instant, place)
        }
        (None, at) => expr::some_value(body, at, Type::Instant, span),
    };
    Some(StmtKind::Start { timer: timer?, deadline })
}

/// `remove m[k]`
pub(super) fn remove(body: &mut Body, stmt: &ast::RemoveStmt, span: Span) -> Option<StmtKind> {
    let value = tree::unparen(&stmt.value()?);
    match lookup::read(body, &value) {
        Some(Ok(Lookup::Map { map, key, .. })) => Some(StmtKind::Remove { map, key }),
        Some(Ok(Lookup::Object { .. })) => {
            body.error(
                codes::WRONG_STATE,
                "an object is ended, not removed",
                span,
                "an object",
                "write `if let e = Entry[k] { end e }`",
            );
            None
        }
        Some(Err(())) => None,
        _ => {
            body.error(
                codes::WRONG_STATE,
                "`remove` takes an entry out of a map",
                span,
                "no entry",
                "write `remove m[k]`",
            );
            None
        }
    }
}

/// `end e`, `end`
pub(super) fn end(body: &mut Body, stmt: &ast::EndStmt, span: Span) -> Option<StmtKind> {
    let Some(value) = stmt.value() else {
        if body.view.object.is_none() {
            body.error(codes::MISPLACED, "which object ends?", span, "not said", "write `end e`");
            return None;
        }
        return Some(StmtKind::End { object: None });
    };
    if let Some(name) = tree::name_expr(body.file, &value).filter(|name| body.class_named(name).is_some()) {
        let text = format!("`{}` is all objects of that name, and one ends", name.text);
        let help = format!("find it first: `if let e = {}[key] {{ end e }}`", name.text);
        body.error(codes::MISMATCH, text, name.span, "which one?", &help);
        return None;
    }
    let object = expr::infer(body, &value, None);
    match object.ty {
        Type::Object(_) => Some(StmtKind::End { object: Some(object) }),
        Type::Unknown => None,
        ty => {
            let text = format!("{} does not end", body.show(ty));
            body.error(codes::MISMATCH, text, object.span, "no object", "objects end: `if let e = Entry[k] { end e }`");
            None
        }
    }
}

/// `renew view`
pub(super) fn renew(body: &mut Body, span: Span) -> Option<StmtKind> {
    if !body.has_effects(span) {
        return None;
    }
    if let Some(view) = views::of(body) {
        let event = view.event.text;
        let text = format!("this layer's view begins by itself, when `{event}` comes");
        let help = format!("leave it out; what ends a view stands in `on view_end`; or write `on {event}(v)` yourself");
        body.error(codes::VIEW_RENEWED, text, span, "renewed twice", &help);
        return None;
    }
    if body.this_layer().is_some_and(|layer| layer.members(ScopeKind::View).is_some()) {
        return Some(StmtKind::Renew);
    }
    let help = "declare what begins anew: `view { var next: u32 = 0 }`";
    body.error(codes::MISPLACED, "this layer has no `view` scope", span, "nothing to renew", help);
    None
}

/// `again`
pub(super) fn again(body: &mut Body, span: Span) -> Option<StmtKind> {
    if body.kind == BodyKind::Handler(Role::Settle) {
        return Some(StmtKind::Again);
    }
    body.error(
        codes::MISPLACED,
        "`again` asks for one more `settle`",
        span,
        "not in `on settle`",
        "write `later name(…)` for a reaction of its own",
    );
    None
}
