//! The head of a handler while it is resolved: the names that its parentheses bind.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode, Pattern};

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::{codes, tree};

/// The head of a handler: the locals for its parameters.
pub struct Head<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub layer: LayerId,
    /// The part of the layer whose text contains it.
    pub part: Option<usize>,
    pub object: Option<ObjectId>,
    pub tree: &'a ast::Handler,
    pub locals: Vec<Local>,
    /// Names that are one too many: bound, so that they are reported once.
    pub extra: Vec<Name>,
    /// Statements before the handler's own code.
    pub first: Vec<Stmt>,
    pub span: Span,
}

impl Head<'_> {
    /// The layer.
    pub fn this(&self) -> &Layer {
        &self.cx.program.layers[self.layer.index()]
    }

    /// Binds a local for a name in the parentheses.
    pub fn bind(&mut self, name: Name, ty: Type) -> LocalId {
        if let Some(first) = self.locals.iter().find(|local| local.name.text == name.text) {
            let diagnostic = twice("parameter", &name, &first.name);
            self.cx.report(diagnostic);
        }
        self.locals.push(Local::new(name, ty));
        LocalId(self.locals.len() as u32 - 1)
    }

    /// The plain names in the parentheses of an event of the language; reports more than `most`.
    pub fn names(&mut self, most: usize) -> Vec<Name> {
        self.names_or(most, "leave it out")
    }

    fn names_or(&mut self, most: usize, help: &str) -> Vec<Name> {
        let params = self.params_or(most, help);
        params.iter().for_each(|param| self.no_other_type(param));
        params.iter().filter_map(|param| tree::some_name(self.file, param.name())).collect()
    }

    /// The parameters in the parentheses; reports more than `most`.
    pub fn params(&mut self, most: usize) -> Vec<ast::Param> {
        self.params_or(most, "leave it out")
    }

    fn params_or(&mut self, most: usize, help: &str) -> Vec<ast::Param> {
        let mut params = Vec::new();
        for pattern in self.tree.patterns() {
            let place = pattern.span(self.file);
            match pattern {
                Pattern::Param(param) if params.len() < most => params.push(param),
                pattern => {
                    let text = match most {
                        0 => "this event has no parameters".to_string(),
                        1 => "this event has one parameter".to_string(),
                        _ => format!("this event has {most} parameters"),
                    };
                    self.cx.error(codes::HANDLER_PARAMS, text, place, "one too many", help);
                    if let Pattern::Param(param) = pattern {
                        self.extra.extend(tree::some_name(self.file, param.name()));
                    }
                }
            }
        }
        params
    }

    /// Reports a type that parameters of this event cannot have: they are messages, reasons and flows.
    pub fn no_other_type(&mut self, param: &ast::Param) {
        let Some(ty) = param.ty() else { return };
        let named = match &ty {
            ast::Type::Named(named) => named.name().map(|name| name.text()),
            ast::Type::Array(_) | ast::Type::Vector(_) | ast::Type::Map(_) | ast::Type::Fn(_) => None,
        };
        if !named.is_some_and(|name| matches!(name.as_str(), "Message" | "Reason" | "Flow" | "LowerFlow")) {
            let text = "what an event of the language brings has the language's types";
            self.cx.error(codes::HANDLER_PARAMS, text, ty.span(self.file), "not of this type", "leave the type out");
        }
    }

    /// Reports parameters, as the event has none.
    pub fn none(&mut self) {
        self.names(0);
    }

    /// The only parameter of an event that carries a message.
    pub fn only_message(&mut self) -> Option<LocalId> {
        let help = "leave it out: what a layer above says beside a message is an attribute, `msg.urgent`";
        let names = self.names_or(1, help);
        match names.into_iter().next() {
            Some(name) => Some(self.bind(name, Type::Message)),
            None => {
                let help = "name its message: `on send(msg) { … }`";
                self.cx.error(codes::HANDLER_PARAMS, "this event carries a message", self.span, "no parameter", help);
                None
            }
        }
    }

    /// The name behind `from` or `to`.
    pub fn flow(&mut self, side: Side) -> Option<LocalId> {
        let clause = self.tree.from().or(self.tree.to())?;
        let place = clause.span(self.file);
        match tree::name_expr(self.file, &clause) {
            Some(name) => Some(self.bind(name, Type::Flow(side))),
            None => {
                self.cx.error(
                    codes::HANDLER_PARAMS,
                    "a name for the flow stands here",
                    place,
                    "no name",
                    "write `from flow`",
                );
                None
            }
        }
    }

    /// `open to flow`, or `open(flow)`.
    pub fn flow_param(&mut self, side: Side) -> Option<LocalId> {
        let names = self.names(1);
        match names.into_iter().next() {
            Some(name) => Some(self.bind(name, Type::Flow(side))),
            None => self.flow(side),
        }
    }
}
