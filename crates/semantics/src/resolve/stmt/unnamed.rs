//! Messages without a name where statements want one: they are bound in front of the statement.

use mokume_base::Span;
use mokume_syntax::ast::Expr as Tree;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::messages;
use crate::tree;

/// Why a message without a name is dropped that a function did not take.
const REFUSED: &str = "refused";

/// The message that an expression names, or makes; none after a report.
pub(super) fn message(body: &mut Body, value: &Tree) -> Option<LocalId> {
    if !is_made(body, value) {
        return messages::named(body, value);
    }
    let made = expr::infer(body, value, Some(Type::Message));
    match made.ty {
        Type::Message => match body.bound_in_front(made).kind {
            ExprKind::Give(local) => Some(local),
            _ => None,
        },
        Type::Unknown => None,
        _ => messages::named(body, value),
    }
}

/// A value that is computed before a message: bound in front, if the message will be.
pub(super) fn in_front_of(body: &mut Body, value: Expr, message: &Tree) -> Expr {
    if is_made(body, message) && value.ty != Type::Unknown {
        return body.bound_in_front(value);
    }
    value
}

/// Calls and choices make messages; all else names them, or is none.
fn is_made(body: &Body, value: &Tree) -> bool {
    let value = tree::unparen(value);
    !body.is_fixed() && matches!(value, Tree::Call(_) | Tree::If(_) | Tree::Match(_))
}

/// As [`refused`], of a call.
pub(super) fn call_refused(body: &Body, call: &Expr) -> Vec<Stmt> {
    match &call.kind {
        ExprKind::CallOwn { args, .. } | ExprKind::CallOn { args, .. } => refused(body, args),
        _ => Vec::new(),
    }
}

/// What becomes of messages without a name among the arguments of what is refused: they are dropped.
pub(super) fn refused(body: &Body, args: &[Expr]) -> Vec<Stmt> {
    let drop = |arg: &Expr| match arg.kind {
        ExprKind::Give(message) if body.locals.is_hidden(message) => Some(dropped(message, arg.span)),
        _ => None,
    };
    args.iter().filter_map(drop).collect()
}

/// The end of a message without a name that nobody took.
pub(super) fn dropped(message: LocalId, span: Span) -> Stmt {
    let reason = Name { text: REFUSED.into(), span };
    Stmt { kind: StmtKind::Drop { message, reason }, span }
}

/// What a rule gives, and what it wants to be done in front of it, apart from what the statement at hand does.
pub(super) fn apart<T>(body: &mut Body, rule: impl FnOnce(&mut Body) -> T) -> (Vec<Stmt>, T) {
    let outer = std::mem::take(&mut body.before);
    let found = rule(body);
    (std::mem::replace(&mut body.before, outer), found)
}
