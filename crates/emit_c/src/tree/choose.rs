//! Two ways that only give one variable a value become one expression: `if (c) x = a; else x = b;` is `x = c ? a : b;`.
//!
//! Asks of the tree: jumps to where one would come anyway are gone ([`super::labels`]). Keeps: what is evaluated, and when.

use super::effect::Uses;
use super::{conditional, Lines, Effect, Expr, Routine, Infix, Stmt};

pub(super) fn choose(function: &mut Routine) {
    let uses = Uses::of(function);
    let mut body = std::mem::take(&mut function.body);
    within(&uses, function, &mut body);
    function.body = body;
}

fn within(uses: &Uses, function: &Routine, block: &mut Lines) {
    for statement in block {
        statement.blocks_mut().into_iter().for_each(|inner| within(uses, function, inner));
        let Stmt::If { condition, then, otherwise } = statement else { continue };
        let ([Stmt::Set(Expr::Local(to), None, a)], [Stmt::Set(Expr::Local(also), None, b)]) =
            (&then[..], &otherwise[..])
        else {
            continue;
        };
        let plain = |value: &Expr| uses.effect(value) < Effect::Acts && size(value) <= 7;
        if to == also && plain(a) && plain(b) {
            let is_bool = function.locals[to.0].ty == "bool";
            *statement = Stmt::Set(Expr::Local(*to), None, chosen(is_bool, condition, a, b));
        }
    }
}

fn size(value: &Expr) -> usize {
    1 + value.parts().into_iter().map(size).sum::<usize>()
}

/// `condition ? a : b`, said shorter where one of them is the condition itself.
fn chosen(is_bool: bool, condition: &Expr, a: &Expr, b: &Expr) -> Expr {
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
