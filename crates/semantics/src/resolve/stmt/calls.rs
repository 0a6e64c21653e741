//! An expression as a statement: an emission, a change of a message, or a call for its effects.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, AstNode, Expr as Tree};

use crate::program::*;
use crate::resolve::body::views;
use crate::resolve::body::Body;
use crate::resolve::emit::clauses::Clauses;
use crate::resolve::emit::language_events;
use crate::resolve::stmt::{begins, changes, containers, vectors};
use crate::resolve::{emit, expr, stmt};
use crate::{codes, lost, tree};

/// An expression used as a statement.
pub(super) fn read(body: &mut Body, stmt: &ast::ExprStmt, span: Span) -> Option<StmtKind> {
    let expr = stmt.expr()?;
    if let Some(found) = vectors::read(body, stmt, span) {
        return found;
    }
    if let Some(found) = begins::read(body, stmt, span) {
        return found;
    }
    if let Some(found) = containers::call_or(body, stmt, span) {
        return found;
    }
    let said = body.cx.out.len();
    let kind = match &expr {
        Tree::Call(call) => effect(body, stmt, call, span),
        _ => word(body, &expr, span),
    };
    if let Some(or) = stmt.or() {
        let is_broken = kind.is_none();
        needless_or(body, &or, is_broken || body.cx.out.len() > said, "leave the `or` out");
    }
    kind
}

/// Resolves and reports a block behind `or` of something that cannot fail; not reported if what is in front was wrong
/// itself.
pub(super) fn needless_or(body: &mut Body, or: &ast::OrClause, is_wrong: bool, help: &str) {
    if !is_wrong {
        let diagnostic = Diagnostic::error(codes::MISPLACED, "nothing here can fail");
        body.report(diagnostic.at(or.span(body.file), "not needed").help(help).needs(lost::refusals()));
    }
    let said = body.cx.out.len();
    stmt::block(body, or.block());
    // A value at its end would be that of something that cannot fail.
    let behind = body.cx.out.split_off(said);
    body.cx.out.extend(behind.into_iter().filter(|found| found.code != codes::UNUSED_VALUE));
}

/// `end` and `refuse`; any other value would be unused.
fn word(body: &mut Body, expr: &Tree, span: Span) -> Option<StmtKind> {
    if let Some(name) = tree::name_expr(body.file, expr) {
        if name.text == "end" && body.view.object.is_some() {
            return Some(StmtKind::End { object: None });
        }
        if name.text == "refuse" && containers::may_refuse(body, &name) {
            return Some(StmtKind::Refuse);
        }
    }
    if let Some((side, event)) = event_named(body, expr) {
        let text = format!("`{0}.{1}` names an event, and does not emit it", side.text, event.text);
        let help = format!("write `{}.{}()`", side.text, event.text);
        body.error(codes::UNUSED_VALUE, text, span, "no call", &help);
        return None;
    }
    let found = expr::infer(body, expr, None);
    if found.ty != Type::Unknown {
        unused(body, span);
    }
    None
}

/// `below.close`, which no layer publishes.
fn event_named(body: &Body, expr: &Tree) -> Option<(Name, Name)> {
    let (side, name) = tree::name_field(body.file, expr)?;
    let is_value = match side.text.as_str() {
        "below" => name.text == "count" || expr::below::type_of(body, &name).is_some(),
        "above" => name.text == "layout",
        _ => return None,
    };
    (!is_value && body.locals.find(&side.text).is_none()).then_some((side, name))
}

/// A call for its effects: a reply, an emission, a change of a message, a function.
fn effect(body: &mut Body, stmt: &ast::ExprStmt, call: &ast::CallExpr, span: Span) -> Option<StmtKind> {
    let clauses = Clauses { to: stmt.to(), from: stmt.from() };
    if let Some(reply) = language_events::reply(body, call, span) {
        return reply.filter(|_| body.has_effects(span));
    }
    if let Some(emission) = emit::read(body, call, &clauses, span) {
        return emission.filter(|_| body.has_effects(span)).map(|emission| views::said(body, emission, span));
    }
    if let Some(kind) = changes::read(body, call, span) {
        return kind.filter(|_| body.has_effects(span));
    }
    let found = expr::infer(body, &Tree::Call(call.clone()), None);
    if found.ty == Type::Unknown {
        arguments_all_the_same(body, call);
    }
    match found.kind {
        ExprKind::Native { .. } | ExprKind::CallOwn { .. } | ExprKind::CallOn { .. } | ExprKind::Call { .. } => {
            Some(StmtKind::Call(found))
        }
        _ if found.ty == Type::Unknown => None,
        _ if found.ty == Type::Message => Some(StmtKind::Call(found)),
        _ => {
            unused(body, span);
            None
        }
    }
}

fn unused(body: &mut Body, span: Span) {
    let diagnostic = Diagnostic::error(codes::UNUSED_VALUE, "this value is not used").at(span, "no effect");
    body.report(diagnostic.help("bind it with `let`, or remove it").needs(lost::within(span, "value")));
}

/// `belwo.send(msg, seq: nxet)`: the target is misspelt; the arguments are still checked.
fn arguments_all_the_same(body: &mut Body, call: &ast::CallExpr) {
    let Some((owner, _)) = call.callee().and_then(|callee| tree::name_field(body.file, &callee)) else { return };
    let is_target = crate::suggest::nearest(&owner.text, ["below", "above"]).is_some();
    if is_target && body.locals.find(&owner.text).is_none() && body.find_state(&owner.text).is_none() {
        let values: Vec<Tree> = call.args().iter().filter_map(|arg| arg.value()).collect();
        values.iter().for_each(|value| drop(expr::infer(body, value, None)));
    }
}
