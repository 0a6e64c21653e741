//! Attributes of messages, and services with their operations.

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::resolve::expr::{annotations, fixed};
use crate::tree;

/// `attribute ttl: u8 = 64`
pub(super) fn attribute(cx: &mut Context, file: FileId, item: &ast::Attribute) {
    let ty = annotations::scalar(cx, file, item.ty());
    let default = item.value().and_then(|value| fixed::number(cx, file, &value, ty)).unwrap_or(0);
    let written = annotations::notation(cx, file, item.ty());
    let (name, module) = (tree::title(file, item.name()), cx.names.qualifier(file));
    cx.program.attributes.push(Attribute { name, module, ty, default, written });
}

/// `service Resolve { … }`
pub(super) fn service(cx: &mut Context, file: FileId, item: &ast::Service) {
    let mut operations: Vec<Operation> = Vec::new();
    for signal in item.signals() {
        let Some(name) = tree::some_name(file, signal.name()) else { continue };
        if let Some(first) = operations.iter().find(|first| first.name.text == name.text) {
            let diagnostic = twice("operation", &name, &first.name);
            cx.report(diagnostic);
            continue;
        }
        let params = signal.params();
        let params = params
            .iter()
            .filter_map(|param| {
                let name = tree::some_name(file, param.name())?;
                let ty = annotations::of_param(cx, file, &name, param.ty());
                let written = annotations::notation(cx, file, param.ty());
                Some(Field { name, ty, big: None, common: None, written })
            })
            .collect();
        operations.push(Operation { name, out: signal.is_out(), params });
    }
    cx.program.services.push(Service { name: tree::title(file, item.name()), operations });
}
