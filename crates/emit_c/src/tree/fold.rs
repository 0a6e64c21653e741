//! A value that is used once is written where it is used, and unused values are left out.
//!
//! Requires of the tree: a `Let` is before all uses of its variable. Keeps: what is evaluated, and its order as far as
//! that is observable. An expression that reads never passes one that acts, one that acts never passes one that reads,
//! and neither moves to where it might not be evaluated. A cast keeps the type that the variable had.

use super::choose::chosen;
use super::effect::Uses;
use super::visit::each_statement;
use super::{Effect, Expr, Lines, Local, Routine, Stmt};

/// The most parts of an expression that folding builds.
const LARGEST: usize = 24;
/// The same for an expression with a name in the source: the name says more than a long line.
const LARGEST_NAMED: usize = 5;
/// The most statements between a value and its use.
const FARTHEST: usize = 40;

pub(super) fn fold(function: &mut Routine) {
    let uses = Uses::of(function);
    let mut body = std::mem::take(&mut function.body);
    Folding { function, uses }.block(&mut body);
    function.body = body;
}

struct Folding<'f> {
    function: &'f Routine,
    uses: Uses,
}

impl Folding<'_> {
    /// From the last to the first, so that a value's use already has its final place.
    fn block(&mut self, block: &mut Lines) {
        let mut place = block.len();
        while place > 0 {
            place -= 1;
            block[place].blocks_mut().for_each(|inner| self.block(inner));
            simplify(&mut block[place]);
            if let Some((to, value)) = chosen(&self.uses, self.function, &block[place]) {
                block[place] = match self.uses.forget_set(to) {
                    true => Stmt::Let(to, value),
                    false => Stmt::Set(Expr::Local(to), None, value),
                };
            }
            if self.is_idle(&block[place]) {
                match block.remove(place) {
                    Stmt::Set(Expr::Local(to), _, value) => {
                        self.uses.forget(&value);
                        self.uses.forget_set(to);
                    }
                    other => other.heads().for_each(|head| self.uses.forget(head)),
                }
                continue;
            }
            let (front, behind) = block.split_at_mut(place + 1);
            let Stmt::Let(local, value) = &front[place] else { continue };
            if self.uses.reads(*local) == 0 && self.uses.effect(value) < Effect::Acts {
                self.uses.forget(value);
                block.remove(place);
            } else if self.uses.reads(*local) == 0 && self.uses.is_set_once(*local) {
                // The effect stays; the value is not used.
                match value {
                    Expr::Call { .. } => block[place] = Stmt::Do(value.clone()),
                    _ => {
                        let unused = Stmt::Unused(Expr::Local(*local));
                        block.insert(place + 1, unused);
                    }
                }
            } else if self.move_to_its_use(*local, value, behind) {
                block.remove(place);
            }
        }
    }

    /// Whether it only sets a variable that is never read, or only tests something.
    fn is_idle(&self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Set(Expr::Local(to), None, value) => {
                self.uses.is_never_read(*to) && self.uses.effect(value) < Effect::Acts
            }
            Stmt::If { condition, then, otherwise } => {
                then.is_empty() && otherwise.is_empty() && self.uses.effect(condition) < Effect::Acts
            }
            _ => false,
        }
    }

    /// Moves the value to its use; returns whether it could.
    fn move_to_its_use(&self, local: Local, value: &Expr, behind: &mut [Stmt]) -> bool {
        if self.uses.reads(local) != 1 || !self.uses.is_set_once(local) || !self.is_small(local, value) {
            return false;
        }
        let effect = self.uses.effect(value);
        let mut passed = Effect::Pure;
        for statement in behind.iter_mut().take(FARTHEST) {
            if matches!(statement, Stmt::Label(_)) || !may_pass(effect, passed) {
                return false;
            }
            if statement.heads().any(|head| mentions(head, local)) {
                return self.put(local, value, effect, statement);
            }
            if statement.blocks().any(|inner| block_mentions(inner, local)) {
                return effect == Effect::Pure && self.put_inside(local, value, statement);
            }
            // An expression with effects never moves behind a way that leaves.
            if effect == Effect::Acts && statement.blocks().next().is_some() {
                return false;
            }
            passed = passed.max(self.uses.effect_of(statement));
        }
        false
    }

    /// Moves the value into a block of the statement, if it is evaluated there at most once, as before.
    fn put_inside(&self, local: Local, value: &Expr, statement: &mut Stmt) -> bool {
        let mut inner = statement.blocks_mut().filter(|inner| block_mentions(inner, local));
        inner.next().is_some_and(|block| self.move_to_its_use(local, value, block))
    }

    fn is_small(&self, local: Local, value: &Expr) -> bool {
        let named = !self.function.locals[local.0].hint.is_empty();
        size(value) <= if named { LARGEST_NAMED } else { LARGEST }
    }

    fn put(&self, local: Local, value: &Expr, effect: Effect, statement: &mut Stmt) -> bool {
        if statement.heads().map(size).sum::<usize>() + size(value) > LARGEST && size(value) > 2 {
            return false;
        }
        if !may_pass(effect, self.beside_in(statement, local)) {
            return false;
        }
        if !matches!(value, Expr::Local(_) | Expr::Number(_) | Expr::Name(_) | Expr::Bool(_))
            && statement.heads().any(|head| is_under_condition(head, local, effect == Effect::Pure))
        {
            return false;
        }
        let value = self.as_typed(local, value);
        statement.heads_mut().for_each(|head| replace(head, local, &value));
        true
    }

    /// The effects of the other parts of a statement's expressions: C leaves the order of evaluation open.
    fn beside_in(&self, statement: &Stmt, local: Local) -> Effect {
        match statement {
            Stmt::Set(place, None, value) if !mentions(place, local) => {
                self.uses.effect_of_place(place).max(self.beside(value, local))
            }
            other => other.heads().map(|head| self.beside(head, local)).fold(Effect::Pure, Effect::max),
        }
    }

    fn beside(&self, expr: &Expr, local: Local) -> Effect {
        match mentions(expr, local) {
            true => expr.parts().map(|part| self.beside(part, local)).fold(Effect::Pure, Effect::max),
            false => self.uses.effect(expr),
        }
    }

    /// The value with the variable's type.
    fn as_typed(&self, local: Local, value: &Expr) -> Expr {
        let ty = &self.function.locals[local.0].ty;
        let width = match ty.as_ref() {
            "uint32_t" | "mk_ref" => 32,
            "uint64_t" => 64,
            _ => return value.clone(),
        };
        match value.may_be_narrower(width) {
            true => value.clone().cast(ty.clone()),
            false => value.clone(),
        }
    }
}

/// Removes conversions of values that are truths already, and joins an `if` in an `if`.
fn simplify(statement: &mut Stmt) {
    let Stmt::If { condition, then, otherwise } = statement else { return };
    bare(condition);
    // The first side was left out.
    if then.is_empty() && !otherwise.is_empty() {
        *condition = std::mem::replace(condition, Expr::Bool(true)).negated();
        std::mem::swap(then, otherwise);
    }
    if let ([Stmt::If { condition: inner, then: body, otherwise: none }], []) = (&mut then[..], &otherwise[..]) {
        if none.is_empty() && size(condition) + size(inner) <= LARGEST {
            let (first, second) = (std::mem::replace(condition, Expr::Bool(true)), inner.clone());
            *condition = first.infix(super::Infix::And, second);
            *then = std::mem::take(body);
        }
    }
}

fn bare(condition: &mut Expr) {
    match condition {
        Expr::Expect(_, inner) => bare(inner),
        Expr::Cast(_, inner) if inner.is_truth() => *condition = (**inner).clone(),
        _ => {}
    }
}

/// Whether an expression with one effect may be evaluated after something with the other.
fn may_pass(effect: Effect, passed: Effect) -> bool {
    match effect {
        Effect::Pure => true,
        Effect::Reads => passed < Effect::Acts,
        Effect::Acts => passed == Effect::Pure,
    }
}

fn size(expr: &Expr) -> usize {
    1 + expr.parts().map(size).sum::<usize>()
}

fn mentions(expr: &Expr, local: Local) -> bool {
    *expr == Expr::Local(local) || expr.parts().any(|part| mentions(part, local))
}

fn block_mentions(block: &Lines, local: Local) -> bool {
    let mut found = false;
    each_statement(block, &mut |statement| {
        found |= statement.heads().any(|head| mentions(head, local));
    });
    found
}

/// Whether the variable is read only under another condition: compilers choose between values better than between ways.
/// Pure expressions may move behind `&&` and `||`.
fn is_under_condition(expr: &Expr, local: Local, is_pure: bool) -> bool {
    use super::Infix::{And, Or};
    let inner = expr.parts().any(|part| is_under_condition(part, local, is_pure));
    inner
        || match expr {
            Expr::Infix(And | Or, _, second) => !is_pure && mentions(second, local),
            Expr::Conditional(parts) => mentions(&parts[1], local) || mentions(&parts[2], local),
            _ => false,
        }
}

fn replace(expr: &mut Expr, local: Local, value: &Expr) {
    if *expr == Expr::Local(local) {
        *expr = value.clone();
        return;
    }
    expr.parts_mut().for_each(|part| replace(part, local, value));
    match expr {
        // An access through a pointer becomes an access to the object itself.
        Expr::Arrow(inner, member) => {
            if let Expr::Unary(super::Unary::AddressOf, thing) = &**inner {
                *expr = Expr::Member(thing.clone(), member.clone());
            }
        }
        Expr::Unary(super::Unary::Not, inner) if inner.is_truth() => {
            let inner = std::mem::replace(&mut **inner, Expr::Bool(true));
            *expr = inner.negated();
        }
        _ => {}
    }
}
