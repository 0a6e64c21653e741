//! The bodies of pure functions.

use crate::codes;
use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::items::externs;
use crate::resolve::stmt::function;

/// Bodies of pure functions.
pub fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.functions.iter().enumerate() {
        let head = cx.program.functions[index].clone();
        if head.native.is_some() {
            externs::model(cx, *file, index, item);
            continue;
        }
        for param in head.params.iter().filter(|param| param.ty == Type::Message) {
            let text = "a function of a file works on values, not on messages";
            cx.error(codes::MESSAGE_STORED, text, param.name.span, "a message", "write the function within the layer");
        }
        let (locals, _, body) = cx.settled(|cx| function::body(Body::of_function(cx, *file, None, &head), item, &head));
        cx.program.functions[index].locals = locals;
        cx.program.functions[index].body = body;
    }
}
