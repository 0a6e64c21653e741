//! Parameters with their defaults, and heads of functions.

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr;
use crate::resolve::expr::annotations;
use crate::resolve::items::externs;
use crate::tree;

/// Parameters with defaults; they are the first locals of the body.
pub fn read(cx: &mut Context, file: FileId, list: &[ast::Param]) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for param in list {
        let Some(name) = tree::some_name(file, param.name()) else { continue };
        if let Some(first) = params.iter().find(|first| first.name.text == name.text) {
            // It stays, so that arguments for both are not reported as well.
            let diagnostic = twice("parameter", &name, &first.name);
            cx.report(diagnostic);
        }
        let ty = annotations::of_param(cx, file, &name, param.ty());
        let default = param.default().map(|value| expr::value(&mut Body::constant(cx, file), &value, ty));
        let written = annotations::notation(cx, file, param.ty());
        params.push(Param { name, ty, default, local: LocalId(params.len() as u32), written });
    }
    params
}

/// A function without its body.
pub fn function_head(cx: &mut Context, file: FileId, item: &ast::Function) -> Function {
    let params = read(cx, file, &item.params());
    let result = match item.result() {
        Some(ty) => annotations::read(cx, file, Some(ty)),
        None => Type::Unit,
    };
    let locals = params.iter().map(Local::from).collect();
    let refuses = item.may_refuse();
    let native = item.is_extern().then(|| externs::native(cx, file, item, &params, result));
    Function { name: tree::title(file, item.name()), params, result, refuses, native, locals, body: Vec::new() }
}
