//! What a layer's shape and its services require.

use mokume_base::Diagnostic;
use mokume_syntax::ast;

use crate::program::*;
use crate::resolve::layer::reader::LayerReader;
use crate::{codes, lost, tree};

/// Whether a handler of a service's operation could not be resolved: it may be the missing one.
pub(super) fn misspelt_services(reader: &mut LayerReader, members: &[ast::Member]) -> bool {
    let written = members.iter().filter(|member| match member {
        ast::Member::Handler(handler) => handler.event().is_some_and(|event| event.names().len() > 1),
        _ => false,
    });
    let known = reader.this().handlers.iter().filter(|handler| matches!(handler.event, Event::Service { .. })).count();
    written.count() > known
}

/// A server must handle all operations that its users call.
pub(super) fn served_operations(reader: &mut LayerReader) {
    let program = &reader.cx.program;
    let layer = &program.layers[reader.id.index()];
    let mut found = Vec::new();
    for service in &layer.serves {
        let item = &program.services[service.index()];
        let handled = |index: usize| {
            layer.handlers.iter().any(|handler| match &handler.event {
                Event::Service { service: of, operation, uses: None, .. } => {
                    of == service && *operation as usize == index
                }
                _ => false,
            })
        };
        let missing = item.operations.iter().enumerate().find(|(index, operation)| !operation.out && !handled(*index));
        if let Some((_, operation)) = missing {
            let called = tree::snake_case(&item.name.text);
            let text = format!(
                "`{}` serves `{}` and does not handle `{}`",
                layer.name.text, item.name.text, operation.name.text
            );
            let diagnostic = Diagnostic::error(codes::NOT_SERVED, text)
                .at(layer.name.span, "no handler")
                .label(operation.name.span, "asked by who uses the service")
                .lacks(lost::within(operation.name.span, "handled"))
                .loses(lost::within(operation.name.span, "asked"))
                .help(format!("write `on {called}.{}(…) {{ … }}`", operation.name.text));
            found.push(diagnostic);
        }
    }
    found.into_iter().for_each(|diagnostic| reader.cx.report(diagnostic));
}

/// What a shape must have.
pub(super) fn shape_rules(reader: &mut LayerReader, members: &[ast::Member]) {
    let layer = reader.this();
    let (name, shape) = (layer.name.clone(), layer.shape);
    let has_send = layer.handlers.iter().any(|handler| matches!(handler.event, Event::Send { .. }));
    let (no_key, no_address) = (layer.key.is_none(), layer.address.is_empty() && layer.several.is_none());
    let wants_send = members.iter().any(|member| match member {
        ast::Member::Handler(handler) => handler.event().is_some_and(|event| event.text() == "send"),
        _ => false,
    });
    let empty_key = members.iter().any(|member| matches!(member, ast::Member::Key(key) if key.fields().is_empty()));
    if shape == Shape::Multiplexor && (no_key || empty_key) {
        let help = "write `key { port: u16 }`: how it tells the layers above it apart";
        reader.cx.error(codes::SHAPE_NEEDS, "a multiplexor has a key", name.span, "no `key`", help);
    }
    if shape == Shape::Router && no_address {
        let help = "write `address { host: u32 }`: what flows above it are made of";
        reader.cx.error(codes::SHAPE_NEEDS, "a router has an address", name.span, "no `address`", help);
    }
    if shape == Shape::Router && !has_send && !wants_send {
        let help = "write `on send(msg) to flow { … }`: where does a message for this address go?";
        reader.cx.error(codes::ROUTER_SENDS, "a router handles `send`", name.span, "no handler", help);
    }
}
