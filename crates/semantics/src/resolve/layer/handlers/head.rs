//! A handler's head in the making: the names that its parentheses bind.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode, Pattern};

use crate::program::*;
use crate::resolve::context::{twice, Context};
use crate::{codes, tree};

/// A handler's head in the making: the locals that its parameters bind.
pub struct Head<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub layer: LayerId,
    pub object: Option<ObjectId>,
    pub tree: &'a ast::Handler,
    pub locals: Vec<Local>,
    pub span: Span,
}

impl Head<'_> {
    /// The layer.
    pub fn this(&self) -> &Layer {
        &self.cx.program.layers[self.layer.index()]
    }

    /// A local for a name in the parentheses.
    pub fn bind(&mut self, name: Name, ty: Type) -> LocalId {
        if let Some(first) = self.locals.iter().find(|local| local.name.text == name.text) {
            let diagnostic = twice("parameter", &name, &first.name);
            self.cx.report(diagnostic);
        }
        self.locals.push(Local { name, ty });
        LocalId(self.locals.len() as u32 - 1)
    }

    /// Plain names in the parentheses; a report for more than `most`.
    pub fn names(&mut self, most: usize) -> Vec<Name> {
        let mut names = Vec::new();
        for pattern in self.tree.patterns() {
            let place = pattern.span(self.file);
            match pattern {
                Pattern::Param(param) if names.len() < most => names.extend(tree::some_name(self.file, param.name())),
                _ => {
                    let text = match most {
                        0 => "this event has no parameters".to_string(),
                        1 => "this event has one parameter".to_string(),
                        _ => format!("this event has {most} parameters"),
                    };
                    self.cx.error(codes::HANDLER_PARAMS, text, place, "one too many", "leave it out");
                }
            }
        }
        names
    }

    /// A report, if there are parameters.
    pub fn none(&mut self) {
        self.names(0);
    }

    /// The one parameter of an event that carries a message.
    pub fn only_message(&mut self) -> Option<LocalId> {
        let names = self.names(1);
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
