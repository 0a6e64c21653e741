//! Values known before a stack starts: the `const`s of files, each evaluated on demand, and numbers in types.

use mokume_syntax::ast::AstNode;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{Context, Lazy};
use crate::resolve::expr;
use crate::resolve::expr::{annotations, fixed};
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
            let place = item.span(file);
            let value = item
                .value()
                .and_then(|value| cx.deeper(place, |cx| expr::value(&mut Body::constant(cx, file), &value, ty)));
            let mut expr = match value {
                Some(value) => value,
                None => Expr { kind: ExprKind::Number(0), ty: Type::Unknown, span: item.span(file) },
            };
            if let Some(value) = fixed::value(cx, &expr) {
                expr = constants::lift(&cx.program, &value, &expr);
            } else {
                // Nothing uses this value again; expressions of constants that name it would grow with each use.
                expr = Expr { kind: ExprKind::Number(0), ty: Type::Unknown, span: expr.span };
            }
            cx.consts[index] = Lazy::Done(expr.clone());
            Some(expr)
        }
    }
}
