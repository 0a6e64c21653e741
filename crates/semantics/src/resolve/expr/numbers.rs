//! Types of numbers and durations.

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::{Body, BodyKind};
use crate::{codes, types};

/// A number has the expected type; without one it is a `u32`, or a `u64` if it does not fit.
pub(super) fn plain(body: &mut Body, value: u64, span: Span, want: Option<Type>) -> Expr {
    let ty = match want {
        Some(ty @ (Type::UInt(_) | Type::Seq(_))) => ty,
        Some(Type::Rank) if value == 0 => Type::Rank,
        Some(ty @ (Type::Rank | Type::Ranks)) => {
            let what = body.show(ty);
            let help = match ty {
                Type::Rank => "the first is 0; another number is looked for: `if let r = view.rank(n) { … }`",
                _ => "write `[]` for none, `[r]` for one",
            };
            let text = format!("expected {what}, found a number");
            body.error(codes::MISMATCH, text, span, "no member of a view", help);
            return unknown(span);
        }
        Some(ty @ (Type::Duration | Type::Instant)) => {
            let text = format!("expected {}, found a number", body.show(ty));
            let (label, help) = match ty {
                // One cannot be written: the clock begins anywhere.
                Type::Instant => ("no moment", "an instant is `now` and a duration: `now`, `now + 20 ms`"),
                _ => ("of what unit?", "write a unit: `20 ms`, `1 s`"),
            };
            body.error(codes::MISMATCH, text, span, label, help);
            return unknown(span);
        }
        Some(Type::Bool) => {
            let help = match value {
                0 => "write `false`",
                1 => "write `true`",
                _ => "write `true` or `false`, or compare: `x != 0`",
            };
            body.error(codes::MISMATCH, "expected bool, found a number", span, "neither true nor false", help);
            return unknown(span);
        }
        _ if value > types::mask(32) => Type::UInt(64),
        _ => Type::UInt(32),
    };
    let width = types::width(&body.cx.program, ty).unwrap_or(64);
    if value > types::mask(width) {
        let text = format!("{value} does not fit {}", body.show(ty));
        // The type of an argument or a key is that of a layer, which may be another author's.
        let wider = if body.kind == BodyKind::Argument { "" } else { "; use a wider type" };
        let help = format!("the largest is {}{wider}", types::mask(width));
        body.error(codes::TOO_BIG, text, span, "too big", &help);
        return make(ExprKind::Number(value & types::mask(width)), Type::Unknown, span);
    }
    make(ExprKind::Number(value), ty, span)
}

/// `20 ms`, in nanoseconds.
pub(super) fn duration(body: &mut Body, duration: &ast::DurationExpr, span: Span) -> Expr {
    match duration.nanoseconds() {
        Some(value) => make(ExprKind::Number(value), Type::Duration, span),
        None => {
            let text = "this duration is no whole number of nanoseconds of 64 bits";
            let help = "584 years are the most, and a nanosecond the least";
            body.error(codes::TOO_BIG, text, span, "too long, or too fine", help);
            unknown(span)
        }
    }
}
