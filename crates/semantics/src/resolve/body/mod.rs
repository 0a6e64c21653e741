//! One body that is being resolved: the names that it has bound, what it sees, and what it may do.
//!
//! May assume: all items are declared. Keeps: it reads no tree; the rules for expressions and statements, which do, are
//! free functions in [`super::expr`], [`super::emit`] and [`super::stmt`].

mod kind;
mod locals;
pub mod terms;
mod view;
pub mod views;

use std::collections::BTreeMap;

use mokume_base::{Code, Diagnostic, FileId, Span, Thing};
use mokume_syntax::ast::{self, AstNode};

use super::context::Context;
use crate::program::*;
use crate::{codes, constants, lost, tree};

pub use kind::{BodyKind, Role};
pub use locals::Locals;
pub use view::View;

/// A body that is being resolved.
pub struct Body<'c> {
    pub cx: &'c mut Context,
    pub file: FileId,
    pub kind: BodyKind,
    pub view: View,
    pub locals: Locals,
    /// The result type of a function; [`Type::Unit`] elsewhere.
    pub result: Type,
    /// Whether this is a pattern, where a name of an enum with data is its number.
    pub pattern: bool,
    /// Whether this is the model of a function in C, which may change its message.
    pub model: bool,
    /// Whether this is a function that may refuse.
    pub refuses: bool,
    /// Messages in refused statements: what would have become of them is unknown.
    pub excused: Vec<LocalId>,
    /// Locals that were initialised with an untyped number, and the places of their names.
    pub soft: BTreeMap<LocalId, Span>,
    /// Statements to run before the current one: they bind unnamed values that need a name.
    pub before: Vec<Stmt>,
    /// The head of the handler or function.
    pub head: Option<Span>,
}

impl<'c> Body<'c> {
    fn new(cx: &'c mut Context, file: FileId, kind: BodyKind, view: View) -> Body<'c> {
        Body {
            cx,
            file,
            kind,
            view,
            locals: Locals::default(),
            result: Type::Unit,
            refuses: false,
            model: false,
            pattern: false,
            excused: Vec::new(),
            before: Vec::new(),
            soft: BTreeMap::new(),
            head: None,
        }
    }

    /// A body for constant values.
    pub fn constant(cx: &'c mut Context, file: FileId) -> Body<'c> {
        Body::new(cx, file, BodyKind::Constant, View::default())
    }

    /// A body for values that depend on parameters only.
    pub fn argument(cx: &'c mut Context, file: FileId, params: &[Param], devices: &[Name]) -> Body<'c> {
        let mut view = View::of_params(params);
        view.devices = devices.iter().map(|device| device.text.clone()).collect();
        Body::new(cx, file, BodyKind::Argument, view)
    }

    /// A body for code of a layer.
    pub fn of_layer(cx: &'c mut Context, file: FileId, layer: LayerId, kind: BodyKind) -> Body<'c> {
        let mut view = View::of_params(&cx.program.layers[layer.index()].params);
        view.layer = Some(layer);
        Body::new(cx, file, kind, view)
    }

    /// A body for code of a layer that runs for an object of its own, if the scope is one.
    pub fn of_scope(cx: &'c mut Context, file: FileId, layer: LayerId, kind: BodyKind, scope: ScopeKind) -> Body<'c> {
        let mut body = Body::of_layer(cx, file, layer, kind);
        body.view.object = if let ScopeKind::Object(id) = scope { Some(id) } else { None };
        body
    }

    /// A body for a function, with its parameters bound.
    pub fn of_function(cx: &'c mut Context, file: FileId, layer: Option<LayerId>, head: &Function) -> Body<'c> {
        let mut body = match layer {
            Some(layer) => Body::of_layer(cx, file, layer, BodyKind::Function),
            None => Body::new(cx, file, BodyKind::Function, View::default()),
        };
        body.head = Some(head.name.span);
        body.result = head.result;
        body.refuses = head.refuses;
        for param in &head.params {
            body.locals.bind(&param.name, param.ty);
        }
        body
    }

    /// The thing for reports that a name means in the whole layer, or the whole file.
    pub fn named(&self, name: &str) -> Thing {
        let layer = self.this_layer().map(|layer| layer.name.span);
        lost::within(layer.unwrap_or(Span::new(self.file, 0, 0)), name)
    }

    /// The thing that a name means in this body only: it may be misspelt only here.
    pub fn slip(&self, name: &str) -> Thing {
        self.head.map_or_else(|| self.named(name), |head| lost::within(head, name))
    }

    /// Reports an error with a text at its place and a help.
    pub fn error(&mut self, code: Code, message: impl Into<String>, span: Span, label: &str, help: &str) {
        self.cx.error(code, message, span, label, help);
    }

    /// Reports a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.cx.report(diagnostic);
    }

    /// The name of a type in this body: handles are named by their class.
    pub fn show(&self, ty: Type) -> String {
        match (ty, self.this_layer()) {
            (Type::Object(id), Some(layer)) => {
                layer.objects.get(id.index()).map_or("object".into(), |class| class.name.text.clone())
            }
            _ => self.cx.show(ty),
        }
    }

    /// The place of a node in this body's file.
    pub fn span(&self, node: &impl AstNode) -> Span {
        node.span(self.file)
    }

    /// Runs `rule` in a new scope of names.
    pub fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        self.locals.open();
        let result = rule(self);
        self.locals.close();
        result
    }

    // ---- what is visible ----

    /// The layer that this code belongs to.
    pub fn this_layer(&self) -> Option<&Layer> {
        self.view.layer(&self.cx.program)
    }

    /// The shape of that layer.
    pub fn shape(&self) -> Option<Shape> {
        self.this_layer().map(|layer| layer.shape)
    }

    /// The state of this name: in the current container or object, then in the layer's scopes.
    pub fn find_state(&self, name: &str) -> Option<(ScopeKind, u32)> {
        match self.kind {
            BodyKind::Constant | BodyKind::Argument => None,
            BodyKind::Value | BodyKind::Function | BodyKind::Handler(_) => self.view.state(&self.cx.program, name),
        }
    }

    /// A member of a scope of the layer.
    pub fn member(&self, scope: ScopeKind, member: u32) -> Option<&Member> {
        self.this_layer()?.members(scope)?.get(member as usize)
    }

    /// The member of a scope that a plain name stands for.
    pub fn member_named(&self, name: &str) -> Option<&Member> {
        let (scope, member) = self.find_state(name)?;
        self.member(scope, member)
    }

    /// The class of objects of that name.
    pub fn object_class(&self, name: &str) -> Option<ObjectId> {
        self.this_layer()?.class(self.view.part, name)
    }

    /// The function of this name: in the current container, else in the part, else in the layer; or in a named part,
    /// `output.send`.
    pub fn own_function(&self, name: &str) -> Option<u32> {
        let layer = self.this_layer()?;
        match &self.view.inside {
            Some(view) => layer.containers.get(view.instance as usize)?.function(name),
            None => layer.function(self.view.part, name),
        }
    }

    /// The part of the layer that a name in front of a dot means.
    pub fn part_named(&self, name: &str) -> Option<&Part> {
        if self.view.inside.is_some() || self.locals.find(name).is_some() {
            return None;
        }
        self.this_layer()?.part(name)
    }

    /// Notes the declaration of a name in the text, if it is a local, state or a parameter.
    pub fn note(&self, name: &Name) {
        if let Some(local) = self.locals.find(&name.text) {
            if let Some(place) = self.locals.place(local) {
                self.cx.mention(name, place);
            }
        } else if let Some((scope, member)) = self.find_state(&name.text) {
            if let Some(member) = self.member(scope, member) {
                self.cx.mention(name, member.name.span);
            }
        } else if let Some(param) = self.view.inside.as_ref().and_then(|inside| inside.named(&name.text)) {
            self.cx.mention(name, param.span);
        } else if let Some(param) = self.view.params.iter().find(|param| param.name == name.text) {
            self.cx.mention(name, param.place);
        }
    }

    /// The class of objects that a name in the text means.
    pub fn class_named(&self, name: &Name) -> Option<ObjectId> {
        let class = self.object_class(&name.text)?;
        if let Some(known) = self.this_layer().and_then(|layer| layer.objects.get(class.index())) {
            self.cx.mention(name, known.name.span);
        }
        Some(class)
    }

    /// The name of an item in an expression: a plain one, or qualified by a module or file, `udp.Ports`.
    pub fn item_name(&self, expr: &ast::Expr) -> Option<Name> {
        let hides = |name: &str| {
            self.locals.find(name).is_some() || self.find_state(name).is_some() || self.view.param(name).is_some()
        };
        if let Some(name) = tree::name_expr(self.file, expr) {
            self.note(&name);
        }
        match tree::name_field(self.file, expr) {
            Some((module, _)) if hides(&module.text) => None,
            _ => self.cx.item_name(self.file, expr),
        }
    }

    // ---- what is allowed ----

    /// Whether values must be known before the stack starts.
    pub fn is_fixed(&self) -> bool {
        matches!(self.kind, BodyKind::Constant | BodyKind::Argument)
    }

    /// Whether effects are allowed here (in handlers and functions of layers); reports if not.
    pub fn has_effects(&mut self, span: Span) -> bool {
        let code = matches!(self.kind, BodyKind::Function | BodyKind::Handler(_));
        let allowed = self.model || self.view.layer.is_some() && code;
        if !allowed {
            let help = "write the function within the layer";
            let diagnostic = Diagnostic::error(codes::MISPLACED, "a function of a file has no effects");
            self.report(diagnostic.at(span, "an effect").help(help).needs(self.slip("effects")));
        }
        allowed
    }

    /// Binds a value before the current statement to a hidden local, and returns that local; a message is given away
    /// from it.
    pub fn bound_in_front(&mut self, value: Expr) -> Expr {
        let Expr { ty, span, .. } = value;
        let local = self.locals.hidden(span, ty);
        self.before.push(Stmt { kind: StmtKind::Let { local, value }, span });
        let kind = if ty == Type::Message { ExprKind::Give(local) } else { ExprKind::Local(local) };
        Expr { kind, ty, span }
    }

    // ---- locals that take their type from their uses ----

    /// Notes that a local with an untyped initial number is used or assigned with another type.
    pub fn soft_used(&mut self, expr: &Expr, want: Type) {
        if let ExprKind::Local(local) = expr.kind {
            self.soft_wish(local, want);
        }
    }

    /// The same for the local itself.
    pub fn soft_wish(&mut self, local: LocalId, want: Type) {
        let Some(name) = self.soft.get(&local).copied() else { return };
        if matches!(want, Type::UInt(_) | Type::Seq(_)) {
            let wished = self.cx.soft.wished.entry(name).or_insert(want);
            if let (Type::UInt(known), Type::UInt(width)) = (&wished, want) {
                *wished = Type::UInt(width.min(*known));
            }
        }
    }

    /// The value of an expression if it is constant, else the expression.
    pub fn folded(&mut self, expr: Expr) -> Expr {
        match constants::eval(&self.cx.program, &expr) {
            Ok(value) => constants::lift(&self.cx.program, &value, &expr),
            Err(_) => expr,
        }
    }
}
