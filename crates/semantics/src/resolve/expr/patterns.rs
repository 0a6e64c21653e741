//! Patterns of a `match`, as value or statement: constants of the matched type, none twice, covering all values.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, BinaryOp, Expr as Tree};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::{data, fixed};
use crate::{codes, suggest, tree, types};

/// The arms of a `match`: numbers and block of each, and the block for the remaining values.
pub struct Arms {
    pub cases: Vec<(Vec<u64>, Option<ast::Block>)>,
    pub otherwise: Option<ast::Block>,
}

/// Checks the arms of a `match`: constants of the value's type, none twice, covering all values.
pub fn arms(body: &mut Body, stmt: &ast::Match, value: &Expr) -> Arms {
    let matchable = matches!(value.ty, Type::UInt(_) | Type::Bool | Type::Enum(_) | Type::Unknown | Type::Seq(_));
    if !matchable {
        let text = format!("`match` does not take {}", body.show(value.ty));
        body.error(codes::BAD_OPERANDS, text, value.span, "no number", "match over an enum, a `uN` or a `bool`");
    }
    let mut seen: Vec<(u64, Span)> = Vec::new();
    let mut arms = Arms { cases: Vec::new(), otherwise: None };
    let mut has_else = false;
    let said = body.cx.out.len();
    for arm in stmt.arms() {
        let place = body.span(&arm);
        if has_else {
            let diagnostic = Diagnostic::error(codes::CASE_TWICE, "this arm is never reached")
                .at(place, "`else` before it takes all")
                .help("`else` comes last");
            body.report(diagnostic);
            continue;
        }
        let Some(pattern) = arm.pattern() else {
            has_else = true;
            arms.otherwise = arm.body();
            if body.cx.out[said..].is_empty() && value.ty != Type::Unknown && missing(body, value, &seen).is_empty() {
                never_else(body, value, place);
            }
            continue;
        };
        let numbers = pattern_numbers(body, &pattern, value.ty, &mut seen);
        either_bit(body, &pattern, value.ty, &numbers);
        arms.cases.push((numbers, arm.body()));
    }
    if !has_else {
        // If the name in a pattern is unknown, so is what the pattern covers.
        if !body.cx.out[said..].iter().any(|found| found.code.0.starts_with("M02")) {
            exhaustive(body, value, &seen);
        }
        // All values are covered (or that is reported): the last arm is for the remaining values.
        arms.otherwise = arms.cases.pop().and_then(|(_, body)| body);
    }
    arms
}

/// `Kind.Ask`, `1 | 2`
fn pattern_numbers(body: &mut Body, pattern: &Tree, ty: Type, seen: &mut Vec<(u64, Span)>) -> Vec<u64> {
    let pattern = tree::unparen(pattern);
    if let Tree::Binary(binary) = &pattern {
        if let (Some(BinaryOp::BitOr), Some(left), Some(right)) = (binary.op(), binary.left(), binary.right()) {
            let mut numbers = pattern_numbers(body, &left, ty, seen);
            numbers.extend(pattern_numbers(body, &right, ty, seen));
            return numbers;
        }
    }
    if let (Type::Unknown, Tree::Call(_)) = (ty, &pattern) {
        return Vec::new();
    }
    let outer = std::mem::replace(&mut body.pattern, matches!(ty, Type::Enum(_)));
    let pattern = data::pattern_head(body, pattern);
    let found = expr::value(body, &pattern, ty);
    body.pattern = outer;
    let Some(number) = fixed::value(body.cx, &found).and_then(|value| value.scalar()) else {
        return Vec::new();
    };
    if let Some((_, first)) = seen.iter().find(|(known, _)| *known == number) {
        let diagnostic = Diagnostic::error(codes::CASE_TWICE, "this value is matched twice")
            .at(found.span, "never reached")
            .label(*first, "taken here")
            .help("remove one of the arms");
        body.report(diagnostic);
    }
    seen.push((number, found.span));
    vec![number]
}

/// Warns of `SYN | ACK => { … }` if the names are of single bits: an arm takes either, not the number with both.
fn either_bit(body: &mut Body, pattern: &Tree, ty: Type, numbers: &[u64]) {
    fn all_names(pattern: &Tree) -> bool {
        match tree::unparen(pattern) {
            Tree::Binary(binary) => [binary.left(), binary.right()].iter().flatten().all(all_names),
            pattern => matches!(pattern, Tree::Name(_) | Tree::Field(_)),
        }
    }
    let are_bits = numbers.len() > 1 && numbers.iter().all(|number| number.is_power_of_two());
    if are_bits && matches!(ty, Type::UInt(_)) && all_names(pattern) {
        let all = numbers.iter().fold(0, |all, number| all | number);
        let place = body.span(pattern);
        let diagnostic =
            Diagnostic::warning(codes::EITHER_BIT, "this arm takes either bit, not the number that has both")
                .at(place, "one or the other")
                .help(format!(
                    "the number with both is {all}: `const BOTH: {} = {all}`, and `BOTH => {{ … }}`",
                    body.show(ty)
                ))
                .help("where either is meant, write two arms");
        body.report(diagnostic);
    }
}

/// Reports an `else` after arms that cover all values.
fn never_else(body: &mut Body, value: &Expr, place: Span) {
    let mut diagnostic = Diagnostic::warning(codes::UNREACHABLE, "this `else` is never reached")
        .at(place, "all that may be has an arm")
        .help("remove it");
    if let Type::Enum(id) = value.ty {
        let of = &body.cx.program.enums[id.index()];
        if !of.open && of.data.is_none() {
            let name = of.name.text.clone();
            diagnostic = diagnostic
                .note(format!("a packet in which a `{name}` is none of its names is refused before"))
                .help(format!("to see other numbers, too, write `enum {name}: … open {{ … }}`"));
        }
    }
    body.report(diagnostic);
}

fn exhaustive(body: &mut Body, value: &Expr, seen: &[(u64, Span)]) {
    let missing = missing(body, value, seen);
    if !missing.is_empty() {
        let text = format!("this `match` does not say what happens for {}", suggest::list(&missing));
        let diagnostic = Diagnostic::error(codes::NOT_EXHAUSTIVE, text)
            .at(value.span, "not all values are met")
            .help("add them, or `else => { … }`");
        body.report(diagnostic);
    }
}

/// The values that no arm covers.
fn missing(body: &Body, value: &Expr, seen: &[(u64, Span)]) -> Vec<String> {
    let met = |number: u64| seen.iter().any(|(known, _)| *known == number);
    match value.ty {
        Type::Enum(id) => {
            let found = &body.cx.program.enums[id.index()];
            let missing = found.names.iter().filter(|(_, number)| !met(*number));
            let mut missing: Vec<String> = missing.map(|(name, _)| name.text.clone()).collect();
            // If every number of the width has a name, the enum has no others, even if it is open.
            let all = types::width(&body.cx.program, value.ty).filter(|width| *width < 16).map(|width| 1usize << width);
            let is_open = found.open && all.is_none_or(|all| found.names.len() < all);
            missing.extend(is_open.then(|| "numbers without a name".to_string()));
            missing
        }
        Type::Bool => {
            [("false", 0), ("true", 1)].iter().filter(|(_, n)| !met(*n)).map(|(name, _)| name.to_string()).collect()
        }
        Type::Unknown => Vec::new(),
        ty => {
            let all = types::width(&body.cx.program, ty).filter(|width| *width < 16).map(|width| 1usize << width);
            if all == Some(seen.len()) {
                Vec::new()
            } else {
                vec!["all other numbers".to_string()]
            }
        }
    }
}
