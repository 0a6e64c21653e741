//! Functions in C: their declarations and models.
//!
//! Keeps: the arguments of a function in C are numbers and at most one message, which it changes in place and gives
//! back; so does its model, an ordinary body that may change only that message.

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::check::linear;
use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::resolve::stmt::function;
use crate::{codes, tree, types};

/// The parts of a function in C besides its parameters.
pub(super) fn native(cx: &mut Context, file: FileId, item: &ast::Function, params: &[Param], result: Type) -> Native {
    let name = tree::title(file, item.name());
    let mut messages = params.iter().filter(|param| param.ty == Type::Message);
    if let Some(second) = messages.nth(1) {
        let text = "a function in C is given one message at most";
        let help = "join them first, or call it for each";
        cx.error(codes::EXTERN_TYPES, text, second.name.span, "the second", help);
    }
    for param in params {
        let fits = types::is_scalar(param.ty) || matches!(param.ty, Type::Message | Type::Record(_));
        if !fits {
            let text = format!("{} has no form in C", cx.show(param.ty));
            cx.error(codes::EXTERN_TYPES, text, param.name.span, "no number", "pass its parts, or a record of them");
        }
    }
    if !types::is_scalar(result) && result != Type::Unit {
        let text = format!("a function in C gives a number, not {}", cx.show(result));
        cx.error(codes::EXTERN_TYPES, text, name.span, "no number", "write what else it gives into its message");
    }
    let file_name = item.file().unwrap_or_else(|| {
        let help = "name the file beside this one: `from \"cipher.c\"`";
        cx.error(codes::EXTERN_FILE, "where is this function?", name.span, "no file", help);
        String::new()
    });
    let grows = item.grows().and_then(|grows| fixed::number(cx, file, &grows, Type::UInt(32)));
    Native { file: file_name, libraries: item.libraries(), grows: grows.unwrap_or(0) as u32 }
}

/// Resolves the body, a model, which holds the message at its end.
pub(super) fn model(cx: &mut Context, file: FileId, index: usize, item: &ast::Function) {
    let head = cx.program.functions[index].clone();
    let mut body = Body::of_function(cx, file, None, &head);
    body.model = true;
    let (locals, excused, statements) = function::body(body, item, &head);
    let kept: Vec<LocalId> =
        head.params.iter().filter(|param| param.ty == Type::Message).map(|param| param.local).collect();
    let end = function::last_brace(file, item.body(), head.name.span);
    linear::check_with(&locals, (&[], &kept), &excused, &statements, end, &mut cx.out);
    cx.program.functions[index].locals = locals;
    cx.program.functions[index].body = statements;
}
