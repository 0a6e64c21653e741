//! Operators on values: the types of their operands and results. Reads no tree.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::BinaryOp;

use crate::program::*;
use crate::resolve::body::terms::{cast, make};
use crate::resolve::body::Body;
use crate::{codes, types};

/// An operator on two values, converted to types that it takes.
pub fn operate(body: &mut Body, op: Binary, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
    if a.ty == Type::Unknown || b.ty == Type::Unknown {
        let ty = if compares(op) { Type::Bool } else { Type::Unknown };
        return make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, ty, span);
    }
    let found = if compares(op) { comparison(op, &a, &b) } else { arithmetic(op, a.ty, b.ty) };
    let Some((operands, result)) = found else { return bad_operands(body, op, a, b, op_span, span) };
    let fit = |expr: Expr| if types::same(expr.ty, operands) { expr } else { cast(expr, operands, CastKind::Widen) };
    let (a, b) = match op {
        Binary::Shl | Binary::Shr => (a, b),
        _ => (fit(a), fit(b)),
    };
    let (op, b) = match (op, result) {
        // The difference of two sets of ranks.
        (Binary::Sub, Type::Ranks) => (Binary::BitAnd, make(ExprKind::Not(Box::new(b)), Type::Ranks, span)),
        _ => (op, b),
    };
    make(ExprKind::Binary { op, a: Box::new(a), b: Box::new(b) }, result, span)
}

fn comparison(op: Binary, a: &Expr, b: &Expr) -> Option<(Type, Type)> {
    let equality = matches!(op, Binary::Eq | Binary::Ne);
    match (a.ty, b.ty) {
        (Type::UInt(x), Type::UInt(y)) => Some((Type::UInt(x.max(y)), Type::Bool)),
        (Type::Flow(_), Type::Flow(_)) if equality => Some((a.ty, Type::Bool)),
        (x, y) if x != y => None,
        (Type::Record(_), _) if equality => Some((a.ty, Type::Bool)),
        (Type::Seq(_) | Type::Duration | Type::Instant | Type::Rank, _) => Some((a.ty, Type::Bool)),
        (Type::Bool | Type::Enum(_) | Type::Ranks | Type::Reason, _) if equality => Some((a.ty, Type::Bool)),
        _ => None,
    }
}

fn bad_operands(body: &mut Body, op: Binary, a: Expr, b: Expr, op_span: Span, span: Span) -> Expr {
    let (left, right) = (body.show(a.ty), body.show(b.ty));
    let text = format!("`{}` does not take {left} and {right}", sign(op));
    let mut diagnostic = Diagnostic::error(codes::BAD_OPERANDS, text)
        .at(op_span, "of these types")
        .label(a.span, left.clone())
        .label(b.span, right.clone());
    let help = match (a.ty, b.ty) {
        (Type::Seq(width), Type::UInt(_)) | (Type::UInt(_), Type::Seq(width)) if compares(op) => {
            format!("a number is compared with a `seq` as one: `x as seq{width}`")
        }
        (Type::Bool, Type::UInt(_)) | (Type::UInt(_), Type::Bool) if compares(op) => {
            "a `bool` is true or false by itself: `if last { … }`, `if not last { … }`".to_string()
        }
        (Type::Bool, Type::Bool) => "combine `bool`s with `and`, `or`, `not`, `==`".to_string(),
        (Type::Duration, Type::UInt(_)) | (Type::UInt(_), Type::Duration) if op == Binary::BitXor => {
            "`^` is exclusive or, of two numbers; a power of two is a shift: `x * (1 << n)`".to_string()
        }
        (Type::UInt(_), Type::Duration) if matches!(op, Binary::Div | Binary::Rem) => {
            "a number is divided by a number; a duration is made of one by its unit: `n * 1 s`, `n * 1 s / 100`".to_string()
        }
        (Type::Duration, Type::UInt(_)) | (Type::UInt(_), Type::Duration) => {
            "write a unit: `20 ms`; a duration is multiplied and divided by numbers".to_string()
        }
        (Type::Record(_), Type::Record(_)) if body.cx.program.vector(a.ty).is_some() => {
            "two vectors of one type are equal or not: `==`, `!=`".to_string()
        }
        (Type::Record(_), Type::Record(_)) => "two records of one type are equal or not: `==`, `!=`".to_string(),
        (Type::Enum(_), Type::UInt(_)) | (Type::UInt(_), Type::Enum(_)) => {
            "compare with a name, or take the number: `kind as u8`".to_string()
        }
        (Type::Seq(_), Type::Seq(_)) => {
            "two `seq`s of one width are compared and subtracted; what is added to one is a number".to_string()
        }
        (Type::Rank, Type::Ranks) | (Type::Ranks, Type::Rank) => {
            "a set of one rank is `[r]`: `a | [r]`; whether it is in a set, `r in a`".to_string()
        }
        (Type::Rank, _) | (_, Type::Rank) => {
            "ranks are compared, and nothing is counted with them; `r as u32` is the number".to_string()
        }
        (Type::Ranks, _) | (_, Type::Ranks) => {
            "sets of ranks: `a | b`, `a & b`, `a - b`, `r in a`, `[r]`, `[]`".to_string()
        }
        (Type::Message, _) | (_, Type::Message) => {
            "messages are not compared: compare what they hold, `msg.u32be(0) == 7`, or a vector of octets in the header with a text".to_string()
        }
        (Type::Instant, Type::Duration) | (Type::Duration, Type::Instant) if compares(op) => {
            "a time that has passed is the difference of two instants: `now - began > 5 s`, with `const began: Instant = now`"
                .to_string()
        }
        (Type::Instant, Type::Duration | Type::UInt(_))
            if matches!(op, Binary::Mul | Binary::Div | Binary::Rem) =>
        {
            "an instant is a number of nanoseconds: `(now as u64) / 1000` are microseconds; what lies between two instants is divided as it is: `(now - began) / 1 us`"
                .to_string()
        }
        (Type::Instant, Type::UInt(_)) => "a duration is added to an instant: `now + 5 ms`".to_string(),
        (Type::Instant, Type::Instant) => "instants are compared and subtracted".to_string(),
        _ => "both sides must be numbers of the same kind".to_string(),
    };
    diagnostic = diagnostic.help(help);
    body.report(diagnostic);
    let ty = if compares(op) { Type::Bool } else { Type::Unknown };
    make(ExprKind::Number(0), ty, span)
}

/// Whether an operator compares two values of one type and gives a `bool`.
pub(super) fn compares(op: Binary) -> bool {
    use Binary::*;
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}

/// The type of a literal beside an operand of type `ty`.
pub(super) fn beside(op: Binary, ty: Type, in_front: bool) -> Option<Type> {
    use Binary::*;
    match ty {
        Type::Unknown => None,
        Type::Seq(width) if !compares(op) && !in_front => Some(Type::UInt(width)),
        Type::Duration if matches!(op, Mul | MulWrap | Div | Rem) => Some(Type::UInt(64)),
        Type::Rank if compares(op) => Some(ty),
        Type::UInt(_) | Type::Seq(_) | Type::Duration | Type::Ranks => Some(ty),
        Type::Record(_) if compares(op) => Some(ty),
        _ => None,
    }
}

/// The type of both operands, and that of the result.
fn arithmetic(op: Binary, a: Type, b: Type) -> Option<(Type, Type)> {
    use Binary::*;
    let sum = matches!(op, Add | Sub | AddWrap | SubWrap);
    match (a, b) {
        (Type::UInt(_), Type::UInt(_)) if matches!(op, Shl | Shr) => Some((a, a)),
        (Type::UInt(x), Type::UInt(y)) => {
            let ty = Type::UInt(x.max(y));
            Some((ty, ty))
        }
        (Type::Ranks, Type::Ranks) if matches!(op, BitAnd | BitOr | BitXor | Sub) => Some((a, a)),
        (Type::Bool, Type::Bool) if matches!(op, BitAnd | BitOr | BitXor) => Some((a, a)),
        (Type::Seq(x), Type::Seq(y)) if x == y => match op {
            Sub | SubWrap => Some((a, Type::UInt(x))),
            Min | Max => Some((a, a)),
            _ => None,
        },
        (Type::Seq(x), Type::UInt(y)) if sum && y <= x => Some((a, a)),
        (Type::UInt(y), Type::Seq(x)) if matches!(op, Add | AddWrap) && y <= x => Some((b, b)),
        (Type::Duration, Type::Duration) => match op {
            Div => Some((a, Type::UInt(64))),
            Add | Sub | AddWrap | SubWrap | Rem | Min | Max => Some((a, a)),
            _ => None,
        },
        (Type::Instant, Type::Instant) => match op {
            Sub | SubWrap => Some((a, Type::Duration)),
            Min | Max => Some((a, a)),
            _ => None,
        },
        (Type::Instant, Type::Duration) if sum => Some((a, a)),
        (Type::Duration, Type::Instant) if matches!(op, Add | AddWrap) => Some((b, b)),
        (Type::Duration, Type::UInt(_)) if matches!(op, Mul | MulWrap | Div | Rem) => Some((a, a)),
        (Type::UInt(_), Type::Duration) if matches!(op, Mul | MulWrap) => Some((b, b)),
        _ => None,
    }
}

/// The operator of the typed program; `None` for `in`.
pub fn operator(op: BinaryOp) -> Option<Binary> {
    Some(match op {
        BinaryOp::Or => Binary::Or,
        BinaryOp::And => Binary::And,
        BinaryOp::Eq => Binary::Eq,
        BinaryOp::Ne => Binary::Ne,
        BinaryOp::Lt => Binary::Lt,
        BinaryOp::Le => Binary::Le,
        BinaryOp::Gt => Binary::Gt,
        BinaryOp::Ge => Binary::Ge,
        BinaryOp::BitOr => Binary::BitOr,
        BinaryOp::BitXor => Binary::BitXor,
        BinaryOp::BitAnd => Binary::BitAnd,
        BinaryOp::Shl => Binary::Shl,
        BinaryOp::Shr => Binary::Shr,
        BinaryOp::Add => Binary::Add,
        BinaryOp::Sub => Binary::Sub,
        BinaryOp::AddWrap => Binary::AddWrap,
        BinaryOp::SubWrap => Binary::SubWrap,
        BinaryOp::Mul => Binary::Mul,
        BinaryOp::Div => Binary::Div,
        BinaryOp::Rem => Binary::Rem,
        BinaryOp::MulWrap => Binary::MulWrap,
        BinaryOp::In => return None,
    })
}

/// How an operator is written.
fn sign(op: Binary) -> &'static str {
    use Binary::*;
    match op {
        Add => "+",
        Sub => "-",
        Mul => "*",
        AddWrap => "+%",
        SubWrap => "-%",
        MulWrap => "*%",
        Div => "/",
        Rem => "%",
        BitAnd => "&",
        BitOr => "|",
        BitXor => "^",
        Shl => "<<",
        Shr => ">>",
        And => "and",
        Or => "or",
        Eq => "==",
        Ne => "!=",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        Min => "min",
        Max => "max",
    }
}
