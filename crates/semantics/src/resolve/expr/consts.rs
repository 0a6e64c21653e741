//! Values that are known before a stack starts: the `const`s of files, each found when it is first asked for, and numbers in types.

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{Context, Lazy};
use crate::resolve::expr;
use crate::resolve::expr::annotations;
use crate::{codes, constants};

/// The value of a constant of a file.
pub fn of_file(cx: &mut Context, index: usize, asked: Option<&Name>) -> Option<Expr> {
    match std::mem::replace(&mut cx.consts[index], Lazy::Busy) {
        Lazy::Done(expr) => {
            cx.consts[index] = Lazy::Done(expr.clone());
            Some(expr)
        }
        Lazy::Busy => {
            if let Some(name) = asked {
                let text = format!("the constant `{}` depends on itself", name.text);
                cx.error(codes::CIRCLE, text, name.span, "leads back here", "give it a value of its own");
            }
            None
        }
        Lazy::Waiting(file, item) => {
            let ty = annotations::stored(cx, file, item.ty());
            let mut expr = match item.value() {
                Some(value) => expr::value(&mut Body::constant(cx, file), &value, ty),
                None => Expr { kind: ExprKind::Number(0), ty: Type::Unknown, span: item.span(file) },
            };
            if let Some(value) = known(cx, &expr) {
                expr = constants::lift(&cx.program, &value, &expr);
            } else {
                expr.ty = Type::Unknown;
            }
            cx.consts[index] = Lazy::Done(expr.clone());
            Some(expr)
        }
    }
}

/// The number of a constant expression of a type; a report if it has none.
pub fn fixed(cx: &mut Context, file: FileId, value: &ast::Expr, ty: Type) -> Option<u64> {
    let expr = expr::value(&mut Body::constant(cx, file), value, ty);
    known(cx, &expr)?.scalar()
}

/// The value of an expression that must be known; a report if it is not.
pub fn known(cx: &mut Context, expr: &Expr) -> Option<constants::Value> {
    if expr.ty == Type::Unknown {
        return None;
    }
    match constants::eval(&cx.program, expr) {
        Ok(value) => Some(value),
        Err(constants::Unknown::NotConstant) => {
            let help = "use numbers and names of `const`";
            cx.error(
                codes::NOT_CONSTANT,
                "this must be known before the stack starts",
                expr.span,
                "not constant",
                help,
            );
            None
        }
        Err(constants::Unknown::Overflow) => {
            let text = format!("this constant does not fit {}", cx.show(expr.ty));
            cx.error(
                codes::TOO_BIG,
                text,
                expr.span,
                "too big, shifted by all its bits, or divided by zero",
                "use a wider type",
            );
            None
        }
    }
}
