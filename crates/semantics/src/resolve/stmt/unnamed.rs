//! Unnamed messages in statements that need a name: they are bound before the statement.

use mokume_base::Span;
use mokume_syntax::ast::Expr as Tree;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::messages;
use crate::tree;

/// The reason with which an unnamed message is dropped that a function refused.
const REFUSED: &str = "refused";

/// The message that an expression names or makes; `None` after a report.
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

/// A value that is evaluated before a message: it is bound before the statement, if the message will be.
pub(super) fn in_front_of(body: &mut Body, value: Expr, message: &Tree) -> Expr {
    if is_made(body, message) && value.ty != Type::Unknown {
        return body.bound_in_front(value);
    }
    value
}

/// Whether the expression makes a message: calls and choices do; other expressions name one, or are not messages.
fn is_made(body: &Body, value: &Tree) -> bool {
    let value = tree::unparen(value);
    !body.is_fixed() && matches!(value, Tree::Call(_) | Tree::If(_) | Tree::Match(_))
}

/// As [`refused`], for a call.
pub(super) fn call_refused(body: &Body, call: &Expr) -> Vec<Stmt> {
    match &call.kind {
        ExprKind::CallOwn { args, .. } | ExprKind::CallOn { args, .. } => refused(body, args),
        _ => Vec::new(),
    }
}

/// Statements that drop the unnamed messages among the arguments of a refused call.
pub(super) fn refused(body: &Body, args: &[Expr]) -> Vec<Stmt> {
    let drop = |arg: &Expr| match arg.kind {
        ExprKind::Give(message) if body.locals.is_hidden(message) => Some(dropped(message, arg.span)),
        _ => None,
    };
    args.iter().filter_map(drop).collect()
}

/// A statement that drops an unnamed message that was not taken.
pub(super) fn dropped(message: LocalId, span: Span) -> Stmt {
    let reason = Name { text: REFUSED.into(), span };
    Stmt { kind: StmtKind::Drop { message, reason, value: None }, span }
}

/// The result of a rule, and the statements that it needs in front, separate from those of the current statement.
pub(super) fn apart<T>(body: &mut Body, rule: impl FnOnce(&mut Body) -> T) -> (Vec<Stmt>, T) {
    let outer = std::mem::take(&mut body.before);
    let found = rule(body);
    (std::mem::replace(&mut body.before, outer), found)
}
