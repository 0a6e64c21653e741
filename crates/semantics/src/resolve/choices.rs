//! `match` where a value is wanted: `if`s over the cases. What is matched is evaluated once, whatever it does.

use mokume_base::Span;
use mokume_syntax::ast;

use super::body::{make, unknown, Body, Place};
use super::statements::Arms;
use crate::program::*;
use crate::{codes, tree};

/// The matched value as the arms name it.
struct Matched {
    /// What the cases' numbers are compared with.
    number: Expr,
    /// The enum and the value whose parts the patterns bind.
    data: Option<(EnumId, Expr)>,
}

impl Body<'_> {
    pub(super) fn match_value(&mut self, expr: &ast::Match, want: Option<Type>, span: Span) -> Expr {
        let Some(value) = expr.value() else { return unknown(span) };
        let value = self.expr(&value, None);
        let data = self.data_of(value.ty);
        if data.is_some() && matches!(self.place, Place::Constant | Place::Argument) {
            let help = "do it in a function: `fn size(s: Shape) -> u32 { return match s { … } }`";
            self.error(codes::DATA_IN_VALUE, "the parts of a value are bound in code only", span, "a constant", help);
            return unknown(span);
        }
        let (value, once) = self.once(value);
        let matched = match data {
            Some(id) => {
                let (ty, place) = (Type::Enum(id), value.span);
                let number = make(ExprKind::RecordField { record: Box::new(value.clone()), field: 0 }, ty, place);
                Matched { number, data: Some((id, value)) }
            }
            None => Matched { number: value, data: None },
        };
        let arms = self.arms(expr, &matched.number);
        let Some(values) = self.arm_values(expr, arms, &matched, want) else { return unknown(span) };
        let chosen = choose(&matched.number, values, span);
        once.into_iter().fold(chosen, named)
    }

    /// A value that may be named again without doing anything again, and the local that it is kept in for that.
    pub(super) fn once(&mut self, value: Expr) -> (Expr, Option<(LocalId, Expr)>) {
        // Constants and arguments do nothing, and have no locals.
        if is_name(&value) || matches!(self.place, Place::Constant | Place::Argument) {
            return (value, None);
        }
        let local = self.hidden(value.span, value.ty);
        (make(ExprKind::Local(local), value.ty, value.span), Some((local, value)))
    }

    /// The value of each arm, with its numbers; all of one type. None: some arm gives none, and that is reported.
    fn arm_values(
        &mut self,
        expr: &ast::Match,
        arms: Arms,
        matched: &Matched,
        want: Option<Type>,
    ) -> Option<Vec<(Vec<u64>, Expr)>> {
        let mut values: Vec<(Vec<u64>, Expr)> = Vec::new();
        for (numbers, body) in arms.cases.into_iter().chain([(Vec::new(), arms.otherwise)]) {
            let Some(body) = body else { continue };
            let Some(inner) = tree::block_value(&body) else {
                let help = "write one value in each arm";
                let place = self.span(&body);
                self.error(codes::NO_VALUE, "this arm gives no value", place, "a value is wanted here", help);
                return None;
            };
            let first = values.first().map(|(_, first)| first.ty);
            let found = self.scoped(|own| {
                let parts =
                    matched.data.as_ref().map_or(Vec::new(), |(id, whole)| own.arm_parts(expr, &body, (*id, whole)));
                let found = own.expr(&inner, first.or(want));
                let found = match first {
                    Some(ty) => own.coerce(found, ty),
                    None => found,
                };
                parts.into_iter().rev().fold(found, named)
            });
            values.push((numbers, found));
        }
        (!values.is_empty()).then_some(values)
    }
}

/// `if n == 1 { … } else if n == 2 or n == 3 { … } else { … }`; the last value is for all that is left.
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

/// The body, with a local for the value.
fn named(body: Expr, (local, value): (LocalId, Expr)) -> Expr {
    let (ty, span) = (body.ty, body.span);
    make(ExprKind::Let { local, value: Box::new(value), body: Box::new(body) }, ty, span)
}

/// Only a name of what stays as it is: nothing is computed, drawn, called or reported, and nobody can change it meanwhile.
fn is_name(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Number(_) | ExprKind::Local(_) | ExprKind::Param(_) => true,
        ExprKind::RecordField { record, .. } => is_name(record),
        _ => false,
    }
}
