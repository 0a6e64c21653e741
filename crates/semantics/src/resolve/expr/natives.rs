//! Calls of functions in C whose arguments are resolved: the message among them is changed in place.

use mokume_base::Span;

use crate::codes;
use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;

/// A call of a function in C with its arguments.
pub(super) fn call(body: &mut Body, function: FunctionId, result: Type, args: Vec<Expr>, span: Span) -> Expr {
    let mut values = Vec::new();
    let mut message = None;
    for arg in args {
        match (arg.ty, &arg.kind) {
            (Type::Message, ExprKind::Give(local)) => message = Some(*local),
            (Type::Message, _) => {
                let text = "a function in C changes a message in place, and this one has no name";
                let help = "bind it first: `let copy = msg.share()`";
                body.error(codes::REFUSED_NAMELESS, text, arg.span, "nameless", help);
                return unknown(span);
            }
            _ => values.push(arg),
        }
    }
    if message.is_some() {
        body.has_effects(span);
    }
    make(ExprKind::Native { function, args: values, message }, result, span)
}
