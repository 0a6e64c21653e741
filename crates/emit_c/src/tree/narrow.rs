//! Makes narrowing conversions explicit: `uint32_t size = (uint32_t)wide;`.
//!
//! C would convert silently, but a program built with `-Wconversion` would get warnings. Runs last. Keeps: values.

use super::{Expr, Infix, Lines, Routine, Stmt, Variable};

pub(super) fn narrow(function: &mut Routine) {
    let mut body = std::mem::take(&mut function.body);
    block(&mut body, &function.locals);
    function.body = body;
}

fn block(lines: &mut Lines, locals: &[Variable]) {
    for statement in lines {
        match statement {
            Stmt::Let(local, value) | Stmt::Set(Expr::Local(local), None, value) => {
                let variable = &locals[local.0];
                if variable.array.is_none() {
                    to_type(&variable.ty, value, locals);
                }
            }
            // A name or a number has no type that a cast must preserve.
            Stmt::Set(_, None, value) => {
                if let Some(plain) = plain(value) {
                    *value = plain;
                }
            }
            _ => {}
        }
        statement.blocks_mut().for_each(|inner| block(inner, locals));
    }
}

fn plain(value: &Expr) -> Option<Expr> {
    match value {
        Expr::Cast(_, inner) if matches!(&**inner, Expr::Name(_) | Expr::Number(_)) => Some((**inner).clone()),
        _ => None,
    }
}

fn to_type(ty: &str, value: &mut Expr, locals: &[Variable]) {
    let Some(to) = bits(ty) else { return };
    let mut inner = std::mem::replace(value, Expr::Bool(false));
    let was_cast = matches!(inner, Expr::Cast(..));
    // A cast to the variable's type is redundant if the assignment loses nothing; of a cast to a wider type only the
    // narrower one matters.
    while let Expr::Cast(other, within) = inner {
        match bits(&other) {
            // A cast of a function's result is kept: its author knows the type.
            Some(other)
                if other >= to
                    && !matches!(&*within, Expr::Call { function, .. } if !WIDE.contains(&function.as_ref())) =>
            {
                inner = *within
            }
            _ => {
                inner = Expr::Cast(other, within);
                break;
            }
        }
    }
    // Cells have types of their own: who casts one knows that it is wider.
    let is_cell = matches!(inner, Expr::Arrow(..) | Expr::Index(..) | Expr::Member(..));
    *value = if was_cast && is_cell || widest(&inner, locals) > to { inner.cast(ty.to_string()) } else { inner };
}

fn bits(ty: &str) -> Option<u32> {
    match ty {
        "uint8_t" => Some(8),
        "uint16_t" => Some(16),
        "uint32_t" | "mk_ref" => Some(32),
        "uint64_t" => Some(64),
        _ => None,
    }
}

/// The bits that C gives it; 0 if C reports nothing wherever it is assigned.
fn widest(value: &Expr, locals: &[Variable]) -> u32 {
    match value {
        Expr::Number(number) => 64 - number.leading_zeros(),
        Expr::Local(local) => bits(&locals[local.0].ty).unwrap_or(0),
        Expr::Cast(ty, _) => bits(ty).unwrap_or(0),
        Expr::Conditional(parts) => widest_part(&parts[1], locals).max(widest_part(&parts[2], locals)),
        Expr::Infix(Infix::BitAnd, a, b) => widest_part(a, locals).min(widest_part(b, locals)),
        Expr::Infix(Infix::Shl | Infix::Shr, a, _) => of_sum(widest_part(a, locals)),
        Expr::Infix(Infix::Mul | Infix::Div | Infix::Rem | Infix::Add | Infix::Sub, a, b) => {
            of_sum(widest_part(a, locals).max(widest_part(b, locals)))
        }
        Expr::Infix(Infix::BitXor | Infix::BitOr, a, b) => widest_part(a, locals).max(widest_part(b, locals)),
        Expr::Infix(..) | Expr::Bool(_) | Expr::Unary(..) | Expr::Expect(..) | Expr::Array(..) => 0,
        Expr::Call { function, .. } if WIDE.contains(&function.as_ref()) => 64,
        // Times, parameters of the stack, attributes of messages, and memos may be up to 64 bits wide.
        Expr::Arrow(_, member) if is_numbered(member) => 64,
        Expr::Member(_, now) if now == "now" => 64,
        Expr::Member(of, _) if matches!(&**of, Expr::Arrow(_, params) if params == "params") => 64,
        Expr::Index(of, _) if matches!(&**of, Expr::Call { function, .. } if function == "mk_attributes") => 64,
        Expr::Name(_) | Expr::Call { .. } | Expr::Member(..) | Expr::Arrow(..) | Expr::Index(..) | Expr::SizeOf(_) => 0,
    }
}

/// The same of a part of a computation: a function of the stack may return 64 bits. Where its result is all of the value, the cast around it is kept.
fn widest_part(value: &Expr, locals: &[Variable]) -> u32 {
    match value {
        Expr::Call { function, .. } if function.starts_with("fn_") => 64,
        _ => widest(value, locals),
    }
}

/// Types narrower than `int` become `int` in a sum.
fn of_sum(bits: u32) -> u32 {
    match bits {
        1..=31 => 31,
        other => other,
    }
}

/// `v3`
fn is_numbered(member: &str) -> bool {
    member.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Functions of the runtime that return 64 bits.
const WIDE: [&str; 22] = [
    "mk_add",
    "mk_add_around",
    "mk_beyond",
    "mk_checksum",
    "mk_div",
    "mk_do_load",
    "mk_get_be",
    "mk_get_le",
    "mk_inside",
    "mk_mul",
    "mk_not",
    "mk_ordered",
    "mk_quotient",
    "mk_raw",
    "mk_raw_16",
    "mk_rem",
    "mk_sample",
    "mk_shl",
    "mk_shr",
    "mk_sub",
    "mk_sum_raw",
    "mk_sum_raw_part",
];
