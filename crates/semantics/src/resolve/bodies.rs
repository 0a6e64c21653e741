//! The bodies of layers: initial and published values, functions and handlers.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use super::body::{Body, Place};
use super::scopes::{choose, function_scopes, hidden_state, looks_at_octets, scope_name, scopes_named};
use super::{handlers, Context};
use crate::check::linear;
use crate::program::*;
use crate::{codes, tree, visit};

/// Initial and published values, functions and handlers of all layers.
pub(super) fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let mut work = Bodies { cx: &mut *cx, file: *file, id: LayerId(index as u32) };
        work.members(item);
        work.code(item);
        work.containers();
        work.scopes();
        work.barrier();
    }
}

pub(super) struct Bodies<'a> {
    pub(super) cx: &'a mut Context,
    file: FileId,
    pub(super) id: LayerId,
}

impl Bodies<'_> {
    pub(super) fn this(&mut self) -> &mut Layer {
        &mut self.cx.program.layers[self.id.index()]
    }

    fn members(&mut self, item: &ast::Layer) {
        let mut scopes: Vec<(ScopeKind, Vec<ast::State>)> = Vec::new();
        let mut objects = 0;
        for member in item.members() {
            match member {
                ast::Member::Scope(scope) => {
                    let kind = match scope.kind() {
                        ast::ScopeKind::Entity => ScopeKind::Entity,
                        ast::ScopeKind::Point => ScopeKind::Point,
                        ast::ScopeKind::Session => ScopeKind::Session,
                        ast::ScopeKind::SessionBelow => ScopeKind::SessionBelow,
                    };
                    scopes.push((kind, scope.states()));
                }
                ast::Member::Object(object) => {
                    let place = object.name().map(|name| name.span(self.file));
                    // One that was refused as a second of its name has no class.
                    if self.this().objects.get(objects).is_some_and(|class| Some(class.name.span) == place) {
                        scopes.push((ScopeKind::Object(ObjectId(objects as u32)), object.states()));
                        objects += 1;
                    }
                }
                ast::Member::Publish(publish) => self.publish(&publish),
                ast::Member::Limit(limit) => self.limit(&limit),
                _ => {}
            }
        }
        for (kind, states) in scopes {
            for state in states {
                let (ast::State::Var(_) | ast::State::Const(_)) = state else { continue };
                self.init(kind, &state);
            }
        }
    }

    /// The value that a variable begins with.
    fn init(&mut self, kind: ScopeKind, state: &ast::State) {
        let value = match state {
            ast::State::Var(var) => var.value(),
            ast::State::Const(var) => var.value(),
            _ => None,
        };
        let (Some(name), Some(value)) = (state.name().map(|name| name.span(self.file)), value) else { return };
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Value);
        body.object = if let ScopeKind::Object(id) = kind { Some(id) } else { None };
        let found = body.this_layer().and_then(|layer| layer.members(kind)).unwrap_or_default().to_vec();
        let Some(index) = found.iter().position(|member| member.name.span == name) else { return };
        let MemberKind::Var { ty, .. } = found[index].kind else { return };
        let value = body.value(&value, ty);
        let value = body.folded(value);
        let hidden = hidden_state(&value, kind);
        if let Some(state) = hidden {
            let text =
                format!("state of the {} begins without any {} at hand", scope_name(kind), scope_name(state.scope));
            let help = "set it in a handler that sees both";
            self.cx.error(codes::OUT_OF_SIGHT, text, state.span, "out of sight", help);
        }
        let Some(members) = self.this().members_mut(kind) else { return };
        if let MemberKind::Var { init, .. } = &mut members[index].kind {
            *init = Some(value);
        }
    }

    fn publish(&mut self, publish: &ast::Publish) {
        let Some(name) = publish.name().map(|name| name.span(self.file)) else { return };
        let Some(index) = self.this().publishes.iter().position(|known| known.name.span == name) else { return };
        let Publish { ty, locals, .. } = self.this().publishes[index].clone();
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Value);
        for local in &locals {
            body.bind(&local.name, local.ty);
        }
        let value = body.some_value(publish.value(), ty, name);
        let locals = body.locals;
        let publish = &mut self.this().publishes[index];
        publish.locals = locals;
        publish.value = value;
    }

    fn limit(&mut self, limit: &ast::Limit) {
        if let Some(name) = tree::some_name(self.file, limit.name()).filter(|name| name.text != "send") {
            self.cx.error(
                codes::UNKNOWN_EVENT,
                "only `send` has a limit",
                name.span,
                "expected `send`",
                "write `limit send: credit`",
            );
            return;
        }
        let span = limit.span(self.file);
        let octets = limit.is_in_octets();
        let known = if octets { &self.this().limit_octets } else { &self.this().limit_send };
        if known.is_some() {
            return self.cx.error(
                codes::DEFINED_TWICE,
                "`send` has a limit of this kind already",
                span,
                "the second",
                "leave one of them out",
            );
        }
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Value);
        let value = body.some_value(limit.value(), Type::UInt(32), span);
        let ratio = limit
            .ratio()
            .map(|ratio| Body::of_layer(self.cx, self.file, self.id, Place::Argument).size(Some(ratio), span));
        let layer = self.this();
        *(if octets { &mut layer.limit_octets } else { &mut layer.limit_send }) = Some(value);
        layer.ratios[usize::from(octets)] = ratio;
    }

    /// Functions first, then handlers; those with parameters of unknown type when who calls them has been read.
    fn code(&mut self, item: &ast::Layer) {
        let mut function = 0;
        let mut waiting: Vec<ast::Handler> = Vec::new();
        for member in item.members() {
            match member {
                ast::Member::Function(tree) => {
                    self.function(function, &tree);
                    function += 1;
                }
                ast::Member::Handler(handler) => waiting.push(handler),
                ast::Member::Object(object) => waiting.extend(object.handlers()),
                _ => {}
            }
        }
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|handler| !self.is_vague(handler)).unwrap_or(0);
            let next = waiting.remove(ready);
            self.handler(&next);
        }
    }

    fn head_of(&mut self, tree: &ast::Handler) -> Option<usize> {
        let span = match (tree.event(), tree.expiry()) {
            (Some(path), _) => path.span(self.file),
            (None, Some(name)) => name.span(self.file),
            _ => return None,
        };
        self.this().handlers.iter().position(|handler| handler.span == span)
    }

    /// Whether a parameter's type is neither written nor known yet.
    fn is_vague(&mut self, tree: &ast::Handler) -> bool {
        let Some(index) = self.head_of(tree) else { return false };
        let handler = &self.this().handlers[index];
        matches!(handler.event, Event::Custom { .. }) && handler.locals.iter().any(|local| local.ty == Type::Unknown)
    }

    fn function(&mut self, index: usize, tree: &ast::Function) {
        let head = self.this().functions[index].clone();
        let body = Body::of_function(self.cx, self.file, Some(self.id), &head);
        let (locals, excused, body) = function_body(body, tree, &head);
        let held: Vec<LocalId> =
            head.params.iter().filter(|param| param.ty == Type::Message).map(|param| param.local).collect();
        linear::check(
            &locals,
            &held,
            &excused,
            &body,
            end_of(self.file, tree.body(), head.name.span),
            &mut self.cx.out,
        );
        let function = &mut self.this().functions[index];
        function.locals = locals;
        function.body = body;
    }

    fn handler(&mut self, tree: &ast::Handler) {
        let Some(index) = self.head_of(tree) else { return };
        let head = self.this().handlers[index].clone();
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Handler(handlers::role(&head.event)));
        body.object = if let ScopeKind::Object(id) = head.scope { Some(id) } else { None };
        for local in &head.locals {
            body.bind(&local.name, local.ty);
        }
        let statements = body.block(tree.body());
        let (locals, excused) = (body.locals, body.excused);
        let held = messages(&head.event, &locals);
        let span = head.span;
        linear::check(&locals, &held, &excused, &statements, end_of(self.file, tree.body(), span), &mut self.cx.out);
        let handler = &mut self.this().handlers[index];
        handler.locals = locals;
        handler.body = statements;
    }

    /// For which scope each handler runs: the innermost whose state it names, also through the functions it calls.
    fn scopes(&mut self) {
        let layer = self.this().clone();
        let of_functions = function_scopes(&layer);
        for (index, handler) in layer.handlers.iter().enumerate() {
            let named = scopes_named(&layer, &handler.body, &of_functions);
            let (scope, problem) = choose(&layer, handler, &named);
            if let Some((kind, span)) = problem {
                self.out_of_sight(handler, kind, span, scope);
            }
            self.this().handlers[index].scope = scope;
        }
    }

    fn out_of_sight(&mut self, handler: &Handler, kind: ScopeKind, span: Span, runs: ScopeKind) {
        let text =
            format!("this handler runs for the {}, and there is no {} at hand", scope_name(runs), scope_name(kind));
        let diagnostic = Diagnostic::error(codes::OUT_OF_SIGHT, text)
            .at(span, format!("state of the {}", scope_name(kind)))
            .label(handler.span, "the handler")
            .help("keep the state in the `entity`, or in objects that are found by a key");
        self.cx.report(diagnostic);
    }

    /// Whether the layer looks at the octets of what the layer above made.
    fn barrier(&mut self) {
        let layer = self.this();
        if layer.shape == Shape::Endpoint {
            return;
        }
        let bodies = layer
            .handlers
            .iter()
            .map(|handler| &handler.body)
            .chain(layer.functions.iter().map(|function| &function.body));
        layer.barrier = bodies.into_iter().any(|body| looks_at_octets(body));
    }
}

/// The body of a function, and whether it gives its value on every path.
pub(super) fn function_body(
    mut body: Body,
    tree: &ast::Function,
    head: &Function,
) -> (Vec<Local>, Vec<LocalId>, Vec<Stmt>) {
    let statements = body.block(tree.body());
    if !matches!(head.result, Type::Unit | Type::Unknown) && !visit::leaves(&statements) {
        let text = format!("`{}` does not give a value on every path", head.name.text);
        body.error(codes::NO_VALUE, text, head.name.span, "may end without one", "end every path with `return x`");
    }
    (body.locals, body.excused, statements)
}

pub(super) fn end_of(file: FileId, block: Option<ast::Block>, otherwise: Span) -> Span {
    match block.map(|block| block.span(file)) {
        Some(span) if span.end > span.start => Span::new(file, span.end - 1, span.end),
        _ => otherwise,
    }
}

/// The messages that a handler begins with.
fn messages(event: &Event, locals: &[Local]) -> Vec<LocalId> {
    let all: Vec<LocalId> = match event {
        Event::Send { message, .. } | Event::Unmatched { message, .. } => vec![*message],
        Event::FailedQuoting { message, .. } => vec![*message],
        Event::Deliver { message, .. } => message.iter().copied().collect(),
        Event::Service { params, .. } | Event::Custom { params, .. } => params.clone(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|local| locals.get(local.index()).is_some_and(|local| local.ty == Type::Message)).collect()
}
