//! Warnings: comparisons with a number that hold always or never: `n >= 0`, `kind > 255` of a `u8`, `a == 1 and a == 2`,
//! `a != 1 or a != 2`.
//!
//! Keeps: a bound of a type is judged only where the number is written out; a named constant may be another one tomorrow.

use mokume_base::{Diagnostic, Span};

use crate::load::Loaded;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, types};

/// Reports comparisons that can be left out.
pub fn check(loaded: &Loaded, program: &Program, out: &mut Vec<Diagnostic>) {
    // The text of a module is not its user's to change.
    let is_written = |span: Span| {
        let own = loaded.files.iter().find(|(file, _)| *file == span.file && !loaded.modules.contains_key(file));
        let token = own.and_then(|(_, parse)| parse.syntax().token_at_offset(span.start.into()).right_biased());
        token.is_some_and(|token| token.text().starts_with(|first: char| first.is_ascii_digit()))
    };
    for (_, body) in program.code() {
        visit::walk(body, &mut |met| {
            let Met::Expr(expr) = met else { return };
            out.extend(beyond_the_type(program, expr, &is_written));
            out.extend(of_two(expr));
        });
    }
}

/// `n < 0`, `n >= 0`, and what is beyond the largest number of the type.
fn beyond_the_type(program: &Program, expr: &Expr, is_written: &dyn Fn(Span) -> bool) -> Option<Diagnostic> {
    let ExprKind::Binary { op, a, b } = &expr.kind else { return None };
    let (op, value, bound, place) = match (&a.kind, &b.kind) {
        (ExprKind::Number(_), ExprKind::Number(_)) => return None,
        (_, ExprKind::Number(bound)) => (*op, a, *bound, b.span),
        (ExprKind::Number(bound), _) => (op.turned(), b, *bound, a.span),
        _ => return None,
    };
    let Type::UInt(_) = value.ty else { return None };
    let most = types::mask(types::width(program, value.ty)?);
    let holds = match op {
        Binary::Lt if bound == 0 => false,
        Binary::Ge if bound == 0 => true,
        Binary::Gt if bound == most => false,
        Binary::Le if bound == most => true,
        _ => return None,
    };
    if !is_written(place) {
        return None;
    }
    let why = match bound {
        0 => "no number is below 0".to_string(),
        _ => format!("a {} is {most} at most", types::show(program, value.ty)),
    };
    Some(same(expr.span, holds).note(why).help("leave it out, or look at the number and at which way the sign points"))
}

/// `a == 1 and a == 2` never holds, `a != 1 or a != 2` always.
fn of_two(expr: &Expr) -> Option<Diagnostic> {
    let ExprKind::Binary { op, a: before, b: last } = &expr.kind else { return None };
    let (inner, holds, help) = match op {
        Binary::And => (Binary::Eq, false, "write `or` where one of them is enough"),
        Binary::Or => (Binary::Ne, true, "write `and` where none of them may be"),
        _ => return None,
    };
    let about = |expr: &Expr| {
        let ExprKind::Binary { op, a, b } = &expr.kind else { return None };
        let ExprKind::Number(number) = b.kind else { return None };
        Some((named(a)?, number)).filter(|_| *op == inner)
    };
    let (name, of_last) = about(last)?;
    let mut open = vec![&**before];
    while let Some(part) = open.pop() {
        match &part.kind {
            ExprKind::Binary { op: joins, a, b } if joins == op => open.extend([&**a, &**b]),
            _ => {
                if about(part).is_some_and(|(other, value)| other == name && value != of_last) {
                    let all = Span { start: part.span.start, ..last.span };
                    return Some(same(all, holds).note("it is one number at a time").help(help));
                }
            }
        }
    }
    None
}

/// What a comparison is about, if it is one and the same thing at both places.
fn named(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Local(local) => Some(format!("local {}", local.index())),
        ExprKind::Param(index) => Some(format!("parameter {index}")),
        ExprKind::State(StateRef { scope, member, object: None, .. }) => Some(format!("{scope:?} {member}")),
        ExprKind::RecordField { record, field } => Some(format!("{} {field}", named(record)?)),
        ExprKind::Cast { a, .. } => named(a),
        _ => None,
    }
}

fn same(at: Span, holds: bool) -> Diagnostic {
    let (text, here) = match holds {
        true => ("this always holds", "always true"),
        false => ("this never holds", "never true"),
    };
    Diagnostic::warning(codes::ALWAYS_SAME, text).at(at, here)
}
