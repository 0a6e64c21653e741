//! `x as T`, `x as% T`: the types they convert between, and values that do not fit.

use mokume_base::Span;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::terms::{cast, make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::annotations;
use crate::{codes, types};

/// `x as T`, `x as% T`
pub(super) fn read(body: &mut Body, expr: &ast::CastExpr, span: Span) -> Expr {
    let to = annotations::read(body.cx, body.file, expr.ty());
    let Some(value) = expr.value() else { return unknown(span) };
    let from = expr::infer(body, &value, None);
    if from.ty == Type::Unknown || to == Type::Unknown {
        return make(from.kind, to, span);
    }
    let (Some(a), Some(b)) = (types::width(&body.cx.program, from.ty), types::width(&body.cx.program, to)) else {
        return no_cast(body, from, to, span);
    };
    let numbers = |ty| matches!(ty, Type::UInt(_) | Type::Seq(_) | Type::Duration | Type::Instant);
    if from.ty == Type::Bool && matches!(to, Type::UInt(_)) {
        let number = |value| Box::new(make(ExprKind::Number(value), to, span));
        let kind = ExprKind::If { condition: Box::new(from), then: number(1), otherwise: number(0) };
        return make(kind, to, span);
    }
    if !(numbers(from.ty) || matches!(from.ty, Type::Enum(_) | Type::Rank)) || !numbers(to) {
        return no_cast(body, from, to, span);
    }
    let kind = match (expr.is_wrapping(), a <= b) {
        (_, true) => CastKind::Widen,
        (true, false) => CastKind::Truncate,
        (false, false) => CastKind::Checked,
    };
    if kind == CastKind::Widen && from.ty == to {
        return Expr { span, ..from };
    }
    let cast = cast(from, to, kind);
    match crate::constants::eval(&body.cx.program, &cast) {
        Err(crate::constants::Unknown::Overflow) => {
            let text = format!("this constant does not fit {}", body.show(to));
            body.error(codes::TOO_BIG, text, span, "too big", "write `as%` to keep the low bits");
            unknown(span)
        }
        _ => Expr { span, ..cast },
    }
}

fn no_cast(body: &mut Body, from: Expr, to: Type, span: Span) -> Expr {
    let text = format!("{} cannot become {}", body.show(from.ty), body.show(to));
    let help = match to {
        Type::Enum(_) => "use `match`: not every number has a name",
        Type::Rank => "not every number is a rank: `let r = view.rank(n) or { return }`",
        Type::Bool => "compare it: `x != 0`",
        _ => "casts are between numbers of all kinds, and from an enum to its number",
    };
    body.error(codes::NO_CAST, text, span, "no such cast", help);
    unknown(span)
}
