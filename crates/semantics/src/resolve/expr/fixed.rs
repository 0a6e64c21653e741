//! Values that must be constant: numbers in types, sizes of the wire, arms of a `match`.

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr;
use crate::{codes, constants};

/// The number of a constant expression of a type; reports if it has none.
pub fn number(cx: &mut Context, file: FileId, tree: &ast::Expr, ty: Type) -> Option<u64> {
    let expr = expr::value(&mut Body::constant(cx, file), tree, ty);
    value(cx, &expr)?.scalar()
}

/// The value of an expression that must be constant; reports if it is not.
pub fn value(cx: &mut Context, expr: &Expr) -> Option<constants::Value> {
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
            let (label, help) = match expr.kind {
                ExprKind::Binary { op: Binary::Sub, .. } => {
                    ("less than nothing", "write the larger one first; a range is `1 ms .. 3 ms`")
                }
                _ => ("too big, shifted by all its bits, or divided by zero", "use a wider type"),
            };
            cx.error(codes::TOO_BIG, text, expr.span, label, help);
            None
        }
    }
}
