//! Two ways that only set one variable become one expression: `if (c) x = a; else x = b;` is `x = c ? a : b;`.
//!
//! Requires of the tree: redundant jumps are gone ([`super::labels`]). Keeps: what is evaluated, and when.

use super::effect::Uses;
use super::{conditional, Effect, Expr, Infix, Lines, Local, Routine, Stmt};

/// The most parts of such an expression.
const LARGEST: usize = 10;

/// The variable and its value, if the statement only chooses it.
pub(super) fn chosen(uses: &Uses, function: &Routine, statement: &Stmt) -> Option<(Local, Expr)> {
    let Stmt::If { condition, then, otherwise } = statement else { return None };
    let ((to, a), (also, b)) = (only_set(then)?, only_set(otherwise)?);
    let plain = |value: &Expr| uses.effect(value) < Effect::Acts && size(value) <= LARGEST;
    let is_bool = function.locals[to.0].ty == "bool";
    (to == also && plain(a) && plain(b)).then(|| (to, choice(is_bool, condition, a, b)))
}

fn only_set(block: &Lines) -> Option<(Local, &Expr)> {
    match &block[..] {
        [Stmt::Set(Expr::Local(to), None, value)] => Some((*to, value)),
        _ => None,
    }
}

fn size(value: &Expr) -> usize {
    1 + value.parts().map(size).sum::<usize>()
}

/// `condition ? a : b`, or a shorter form if one of them is the condition itself.
fn choice(is_bool: bool, condition: &Expr, a: &Expr, b: &Expr) -> Expr {
    let plain = match condition {
        Expr::Expect(_, inner) => inner,
        other => other,
    };
    if is_bool && (a == plain || *a == Expr::Bool(true)) {
        return plain.clone().infix(Infix::Or, b.clone());
    }
    if is_bool && (b == plain || *b == Expr::Bool(false)) {
        return plain.clone().infix(Infix::And, a.clone());
    }
    conditional(condition.clone(), a.clone(), b.clone())
}
