//! Heads of a layer's functions and handlers, and what its shape and services ask of it.

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self};

use super::body::Body;
use super::layers::Declare;
use super::{handlers, items};
use crate::program::*;
use crate::{codes, tree};

impl Declare<'_> {
    pub fn heads(&mut self, item: &ast::Layer) {
        for member in item.members() {
            match member {
                ast::Member::Function(function) => {
                    let head = self.function(&function);
                    let first = self
                        .this()
                        .functions
                        .iter()
                        .find(|first| first.name.text == head.name.text)
                        .map(|first| first.name.clone());
                    if let Some(first) = first {
                        let diagnostic = items::twice("function", &head.name, &first);
                        self.cx.report(diagnostic);
                    }
                    self.this().functions.push(head);
                }
                ast::Member::Handler(handler) => self.handler(None, &handler),
                ast::Member::Object(object) => {
                    let name = tree::some_name(self.file, object.name());
                    let position = self
                        .this()
                        .objects
                        .iter()
                        .position(|class| Some(&class.name.text) == name.as_ref().map(|name| &name.text));
                    for handler in object.handlers() {
                        self.handler(position.map(|index| ObjectId(index as u32)), &handler);
                    }
                }
                _ => {}
            }
        }
    }

    /// The head of a function of the layer, whose parameters may be objects of it.
    fn function(&mut self, function: &ast::Function) -> Function {
        let mut params: Vec<Param> = Vec::new();
        for param in function.params() {
            let Some(name) = tree::some_name(self.file, param.name()) else { continue };
            let object = match param.ty() {
                Some(ast::Type::Named(named)) => named.name().and_then(|named| {
                    let text = named.text();
                    self.this().objects.iter().position(|class| class.name.text == text)
                }),
                _ => None,
            };
            let ty = match object {
                Some(index) => Type::Object(ObjectId(index as u32)),
                None => items::typed(self.cx, self.file, &name, param.ty()),
            };
            let default = param.default().map(|value| Body::constant(self.cx, self.file).value(&value, ty));
            params.push(Param { name, ty, default, local: LocalId(params.len() as u32) });
        }
        let result = match function.result() {
            Some(ty) => self.cx.ty(self.file, Some(ty)),
            None => Type::Unit,
        };
        let locals = params.iter().map(|param| Local { name: param.name.clone(), ty: param.ty }).collect();
        let (name, refuses) = (items::title(self.file, function.name()), function.may_refuse());
        Function { name, params, result, refuses, native: None, locals, body: Vec::new() }
    }

    fn handler(&mut self, object: Option<ObjectId>, handler: &ast::Handler) {
        let Some(head) = handlers::head(self.cx, self.file, self.id, object, handler) else { return };
        if let Some(first) =
            self.this().handlers.iter().find(|first| handlers::same_event(first, &head)).map(|first| first.span)
        {
            let diagnostic = Diagnostic::error(codes::HANDLER_TWICE, "this event has a handler already")
                .at(head.span, "the second")
                .label(first, "the first")
                .help("write both into one");
            self.cx.report(diagnostic);
        }
        self.this().handlers.push(head);
    }

    /// Whether a handler of a service's operation could not be understood: then it may be the one that is missing.
    pub fn misspelt_services(&mut self, item: &ast::Layer) -> bool {
        let written = item.members().into_iter().filter(|member| match member {
            ast::Member::Handler(handler) => handler.event().is_some_and(|event| event.names().len() > 1),
            _ => false,
        });
        let known =
            self.this().handlers.iter().filter(|handler| matches!(handler.event, Event::Service { .. })).count();
        written.count() > known
    }

    /// Who serves a service handles what its users ask.
    pub fn served_operations(&mut self) {
        let layer = self.this().clone();
        for service in &layer.serves {
            let item = self.cx.program.services[service.index()].clone();
            let handled = |index: usize| {
                layer.handlers.iter().any(|handler| match &handler.event {
                    Event::Service { service: of, operation, uses: None, .. } => {
                        of == service && *operation as usize == index
                    }
                    _ => false,
                })
            };
            let missing =
                item.operations.iter().enumerate().find(|(index, operation)| !operation.out && !handled(*index));
            if let Some((_, operation)) = missing {
                let called = tree::snake_case(&item.name.text);
                let text = format!(
                    "`{}` serves `{}` and does not handle `{}`",
                    layer.name.text, item.name.text, operation.name.text
                );
                let diagnostic = Diagnostic::error(codes::NOT_SERVED, text)
                    .at(layer.name.span, "no handler")
                    .label(operation.name.span, "asked by who uses the service")
                    .help(format!("write `on {called}.{}(…) {{ … }}`", operation.name.text));
                self.cx.report(diagnostic);
            }
        }
    }

    /// What a shape must have.
    pub fn shape_rules(&mut self, item: &ast::Layer) {
        let layer = self.this();
        let (name, shape) = (layer.name.clone(), layer.shape);
        let has_send = layer.handlers.iter().any(|handler| matches!(handler.event, Event::Send { .. }));
        let (no_key, no_address) = (layer.key.is_none(), layer.address.is_empty() && layer.several.is_none());
        let wants_send = item.members().iter().any(|member| match member {
            ast::Member::Handler(handler) => handler.event().is_some_and(|event| event.text() == "send"),
            _ => false,
        });
        let empty_key =
            item.members().iter().any(|member| matches!(member, ast::Member::Key(key) if key.fields().is_empty()));
        if shape == Shape::Multiplexor && (no_key || empty_key) {
            let help = "write `key { port: u16 }`: how it tells the layers above it apart";
            self.cx.error(codes::SHAPE_NEEDS, "a multiplexor has a key", name.span, "no `key`", help);
        }
        if shape == Shape::Router && no_address {
            let help = "write `address { host: u32 }`: what flows above it are made of";
            self.cx.error(codes::SHAPE_NEEDS, "a router has an address", name.span, "no `address`", help);
        }
        if shape == Shape::Router && !has_send && !wants_send {
            let help = "write `on send(msg) to flow { … }`: where does a message for this address go?";
            self.cx.error(codes::ROUTER_SENDS, "a router handles `send`", name.span, "no handler", help);
        }
    }
}
