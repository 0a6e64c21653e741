//! `if` and `match` as values. The matched value is evaluated once.

use mokume_base::Span;
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, once, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::patterns::Arms;
use crate::resolve::expr::{conversions, data, operators, patterns};
use crate::{codes, tree, types};

/// `if c { a } else { b }`: both branches have one type.
pub(super) fn if_value(body: &mut Body, expr: &ast::If, want: Option<Type>, span: Span) -> Expr {
    if expr.let_condition().is_some() {
        let help = "write it as a statement, and set a `let` in each branch";
        body.error(codes::MISMATCH, "`if let` is no value", span, "a statement", help);
        return unknown(span);
    }
    let condition = expr::some_value(body, expr.condition(), Type::Bool, span);
    let then = expr.then().and_then(|block| tree::block_value(&block));
    let other = match expr.else_if() {
        Some(inner) => Some(Tree::If(inner)),
        None => expr.else_block().and_then(|block| tree::block_value(&block)),
    };
    let (Some(then), Some(other)) = (then, other) else {
        let help = "write one value in each branch: `if c { a } else { b }`";
        body.error(codes::NO_VALUE, "this `if` gives no value on every path", span, "a value is wanted here", help);
        return unknown(span);
    };
    let (then, otherwise) = operators::pair(body, &then, &other, want);
    let ty = then.ty;
    make(
        ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) },
        ty,
        span,
    )
}

/// The matched value, as the arms use it.
struct Matched {
    /// The number that is compared with the cases.
    number: Expr,
    /// The enum, and the value whose parts the patterns bind.
    data: Option<(EnumId, Expr)>,
}

/// `match e { … }`: all arms have one type.
pub(super) fn match_value(body: &mut Body, expr: &ast::Match, want: Option<Type>, span: Span) -> Expr {
    let Some(value) = expr.value() else { return unknown(span) };
    let value = expr::infer(body, &value, None);
    let data = data::enum_of(body, value.ty);
    if data.is_some() && body.is_fixed() {
        let help = "do it in a function: `fn size(s: Shape) -> u32 { return match s { … } }`";
        body.error(codes::DATA_IN_VALUE, "the parts of a value are bound in code only", span, "a constant", help);
        return unknown(span);
    }
    let (value, once) = once(body, value);
    let matched = match data {
        Some(id) => {
            let (ty, place) = (Type::Enum(id), value.span);
            let number = make(ExprKind::RecordField { record: Box::new(value.clone()), field: 0 }, ty, place);
            Matched { number, data: Some((id, value)) }
        }
        None => Matched { number: value, data: None },
    };
    let arms = patterns::arms(body, expr, &matched.number);
    let Some(values) = arm_values(body, expr, arms, &matched, want) else { return unknown(span) };
    let chosen = choose(&matched.number, values, span);
    once.into_iter().fold(chosen, with_local)
}

/// The value of each arm, with its numbers; all of one type, the widest of theirs. `None`: some arm has no value, which is
/// reported.
fn arm_values(
    body: &mut Body,
    expr: &ast::Match,
    arms: Arms,
    matched: &Matched,
    want: Option<Type>,
) -> Option<Vec<(Vec<u64>, Expr)>> {
    let mut values: Vec<(Vec<u64>, ast::Block, Tree)> = Vec::new();
    for (numbers, block) in arms.cases.into_iter().chain([(Vec::new(), arms.otherwise)]) {
        let Some(block) = block else { continue };
        let Some(inner) = tree::block_value(&block) else {
            let help = "write one value in each arm";
            let place = body.span(&block);
            body.error(codes::NO_VALUE, "this arm gives no value", place, "a value is wanted here", help);
            return None;
        };
        values.push((numbers, block, inner));
    }
    // Literals take the type of the others.
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|at| operators::is_flexible(body, &values[*at].2));
    let mut found: Vec<(usize, Expr)> = Vec::new();
    let mut widest: Option<Type> = None;
    for at in order {
        let (_, block, inner) = &values[at];
        let hint = match operators::is_flexible(body, inner) {
            true => operators::wide_enough(inner, widest.or(want), want),
            false => want.or(widest),
        };
        let one = body.scoped(|own| {
            if matched.number.ty == Type::Unknown {
                data::bind_lost(own, expr, block);
            }
            let parts =
                matched.data.as_ref().map_or(Vec::new(), |(id, whole)| data::arm_parts(own, expr, block, (*id, whole)));
            let one = expr::infer(own, inner, hint);
            // What cannot become wider is told of where its parts have names.
            let one = match widest {
                Some(ty) if !types::widens(ty, one.ty) => conversions::coerce(own, one, ty),
                _ => one,
            };
            parts.into_iter().rev().fold(one, with_local)
        });
        if widest.is_none_or(|ty| types::widens(ty, one.ty)) {
            widest = Some(one.ty);
        }
        found.push((at, one));
    }
    found.sort_by_key(|(at, _)| *at);
    let as_widest = |(at, one): (usize, Expr)| {
        let one = match widest {
            Some(ty) if types::widens(one.ty, ty) => conversions::coerce(body, one, ty),
            _ => one,
        };
        (std::mem::take(&mut values[at].0), one)
    };
    let found: Vec<(Vec<u64>, Expr)> = found.into_iter().map(as_widest).collect();
    (!found.is_empty()).then_some(found)
}

/// `if n == 1 { … } else if n == 2 or n == 3 { … } else { … }`; the last value is for all remaining numbers.
fn choose(number: &Expr, mut values: Vec<(Vec<u64>, Expr)>, span: Span) -> Expr {
    let Some((_, last)) = values.pop() else { return unknown(span) };
    values.into_iter().rev().fold(last, |otherwise, (numbers, then)| {
        let tests = numbers.iter().map(|case| {
            let case = make(ExprKind::Number(*case), number.ty, number.span);
            let kind = ExprKind::Binary { op: Binary::Eq, a: Box::new(number.clone()), b: Box::new(case) };
            make(kind, Type::Bool, number.span)
        });
        let any = tests.reduce(|a, b| {
            make(ExprKind::Binary { op: Binary::Or, a: Box::new(a), b: Box::new(b) }, Type::Bool, number.span)
        });
        let ty = then.ty;
        let Some(condition) = any else { return otherwise };
        let (condition, then, otherwise) = (Box::new(condition), Box::new(then), Box::new(otherwise));
        make(ExprKind::If { condition, then, otherwise }, ty, span)
    })
}

/// An expression with a local for a value.
fn with_local(body: Expr, (local, value): (LocalId, Expr)) -> Expr {
    let (ty, span) = (body.ty, body.span);
    make(ExprKind::Let { local, value: Box::new(value), body: Box::new(body) }, ty, span)
}
