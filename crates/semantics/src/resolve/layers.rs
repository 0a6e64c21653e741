//! Layers: what they declare, then the bodies of their functions and handlers.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use super::body::{unknown, Body, Place};
use super::{handlers, items, Context, Item};
use crate::check::linear;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, tree};

impl Context {
    /// The parameters of handlers of an own event, from the first that there is.
    pub(super) fn event_types(&self, event: &str) -> Option<Vec<Type>> {
        self.program.layers.iter().flat_map(|layer| &layer.handlers).find_map(|handler| match &handler.event {
            Event::Custom { name, params, .. } if name.text == event => {
                Some(params.iter().map(|local| handler.locals[local.index()].ty).collect())
            }
            _ => None,
        })
    }
}

/// The alternative of a header by its name.
pub(super) fn variant(header: Option<&Header>, name: &str) -> Option<(u32, Variant)> {
    let variants = &header?.variants;
    let index = variants.iter().position(|variant| variant.name.text == name)?;
    Some((index as u32, variants[index].clone()))
}

/// Whether a header is one record.
pub(super) fn is_single(header: &Header) -> bool {
    matches!(header.variants.as_slice(), [only] if only.name.text == "Header")
}

/// The served service that a layer's code calls by this name.
pub(super) fn served(program: &Program, layer: &Layer, name: &str) -> Option<ServiceId> {
    layer.serves.iter().copied().find(|id| tree::snake_case(&program.services[id.index()].name.text) == name)
}

/// Whether the layer's code says `later NAME(…)`.
pub(super) fn has_later(cx: &Context, layer: LayerId, name: &str) -> bool {
    let Some((file, tree)) = cx.trees.layers.get(layer.index()) else { return false };
    let laters = tree.syntax().descendants().filter_map(ast::LaterStmt::cast);
    laters.filter_map(|later| tree::some_name(*file, later.event())).any(|known| known.text == name)
}

// ---- what layers look like ----

/// Everything of all layers but the bodies.
pub(super) fn signatures(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.layers {
        let params = items::params(cx, *file, &item.params());
        let shape = match item.shape() {
            ast::Shape::Worker => Shape::Worker,
            ast::Shape::Multiplexor => Shape::Multiplexor,
            ast::Shape::Router => Shape::Router,
            ast::Shape::Endpoint => Shape::Endpoint,
        };
        let name = items::title(*file, item.name());
        cx.program.layers.push(shell(name, item.doc(), shape, params));
    }
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let id = LayerId(index as u32);
        for call in item.syntax().descendants().filter_map(ast::CallExpr::cast) {
            let Some((owner, name)) = call.callee().and_then(|callee| tree::name_field(*file, &callee)) else {
                continue;
            };
            if matches!(owner.text.as_str(), "below" | "above") {
                cx.emitted.push((id, name.text, owner.text == "below"));
            }
        }
        let mut declare = Declare { cx: &mut *cx, file: *file, id };
        for member in item.members() {
            declare.member(&member);
        }
    }
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let mut declare = Declare { cx: &mut *cx, file: *file, id: LayerId(index as u32) };
        declare.heads(item);
        declare.shape_rules(item);
        if !declare.misspelt_services(item) {
            declare.served_operations();
        }
    }
}

fn shell(name: Name, docs: String, shape: Shape, params: Vec<Param>) -> Layer {
    Layer {
        name,
        docs,
        shape,
        params,
        header: None,
        key: None,
        address: Vec::new(),
        below_address: Vec::new(),
        scopes: Vec::new(),
        objects: Vec::new(),
        publishes: Vec::new(),
        limit_send: None,
        serves: Vec::new(),
        uses: Vec::new(),
        reads: Vec::new(),
        writes: Vec::new(),
        functions: Vec::new(),
        handlers: Vec::new(),
        barrier: false,
    }
}

struct Declare<'a> {
    cx: &'a mut Context,
    file: FileId,
    id: LayerId,
}

impl Declare<'_> {
    fn this(&mut self) -> &mut Layer {
        &mut self.cx.program.layers[self.id.index()]
    }

    fn member(&mut self, member: &ast::Member) {
        let span = member.span(self.file);
        match member {
            ast::Member::Header(header) => self.header(header, span),
            ast::Member::Key(key) => {
                let fields = items::fields(self.cx, self.file, &key.fields(), true);
                self.only(Shape::Multiplexor, "key", span);
                self.this().key = Some(Key { symmetric: key.is_symmetric(), fields });
            }
            ast::Member::Address(address) => {
                let fields = items::fields(self.cx, self.file, &address.fields(), true);
                self.only(Shape::Router, if address.is_below() { "below address" } else { "address" }, span);
                let layer = self.this();
                *(if address.is_below() { &mut layer.below_address } else { &mut layer.address }) = fields;
            }
            ast::Member::Scope(scope) => self.scope(scope, span),
            ast::Member::Object(object) => self.object(object),
            ast::Member::Publish(publish) => self.publish(publish),
            ast::Member::Serves(serves) => {
                let service = tree::some_name(self.file, serves.service());
                if let Some((service, _)) = self.service(service) {
                    self.this().serves.push(service);
                }
            }
            ast::Member::Uses(uses) => {
                let service = tree::some_name(self.file, uses.service());
                if let Some((service, name)) = self.service(service) {
                    let default = Name { text: tree::snake_case(&name.text), span: name.span };
                    let alias = tree::some_name(self.file, uses.alias()).unwrap_or(default);
                    self.this().uses.push((service, alias));
                }
            }
            ast::Member::Reads(reads) => {
                let found = self.attributes(reads.names());
                self.this().reads.extend(found);
            }
            ast::Member::Writes(writes) => {
                let found = self.attributes(writes.names());
                self.this().writes.extend(found);
            }
            ast::Member::Limit(_) | ast::Member::Function(_) | ast::Member::Handler(_) => {}
        }
    }

    /// A member that only one shape has.
    fn only(&mut self, shape: Shape, what: &str, span: Span) {
        if self.this().shape == shape {
            return;
        }
        let (title, help) = match shape {
            Shape::Multiplexor => ("a multiplexor", "a layer that finds the one above by a key is a `multiplexor`"),
            _ => ("a router", "a layer that deals in addresses is a `router`"),
        };
        self.cx.error(codes::SHAPE_MEMBER, format!("only {title} has a `{what}`"), span, "not in this shape", help);
    }

    fn header(&mut self, header: &ast::Header, span: Span) {
        if self.this().header.is_some() {
            let help = "write the alternatives in one: `header { Data { … } with message | Ack { … } }`";
            return self.cx.error(codes::DEFINED_TWICE, "a layer has one header", span, "the second", help);
        }
        let variants = match header.fields() {
            Some(fields) => {
                let fields = items::fields(self.cx, self.file, &fields, true);
                vec![Variant { name: Name { text: "Header".into(), span }, fields, with_message: true }]
            }
            None => self.alternatives(header),
        };
        self.this().header = Some(Header { variants });
    }

    fn alternatives(&mut self, header: &ast::Header) -> Vec<Variant> {
        let mut variants: Vec<Variant> = Vec::new();
        for alternative in header.alternatives() {
            let Some(name) = tree::some_name(self.file, alternative.name()) else { continue };
            if let Some(first) = variants.iter().find(|first| first.name.text == name.text) {
                let diagnostic = items::twice("alternative", &name, &first.name);
                self.cx.report(diagnostic);
                continue;
            }
            let fields = items::fields(self.cx, self.file, &alternative.fields(), true);
            variants.push(Variant { name, fields, with_message: alternative.with_message() });
        }
        variants
    }

    fn service(&mut self, name: Option<Name>) -> Option<(ServiceId, Name)> {
        let name = name?;
        match self.cx.item(self.file, &name.text) {
            Some(Item::Service(id)) => Some((id, name)),
            _ => {
                self.cx.unknown(codes::UNKNOWN_ITEM, "a service", &name, self.file, |item| {
                    matches!(item, Item::Service(_))
                });
                None
            }
        }
    }

    fn attributes(&mut self, names: Vec<ast::Name>) -> Vec<AttributeId> {
        let mut found = Vec::new();
        for name in names.iter().map(|name| tree::name(self.file, name)) {
            match self.cx.item(self.file, &name.text) {
                Some(Item::Attribute(id)) => found.push(id),
                _ => self.cx.unknown(codes::UNKNOWN_ATTRIBUTE, "an attribute", &name, self.file, |item| {
                    matches!(item, Item::Attribute(_))
                }),
            }
        }
        found
    }

    // ---- state ----

    fn scope(&mut self, scope: &ast::Scope, span: Span) {
        let kind = match scope.kind() {
            ast::ScopeKind::Entity => ScopeKind::Entity,
            ast::ScopeKind::Point => ScopeKind::Point,
            ast::ScopeKind::Session => ScopeKind::Session,
            ast::ScopeKind::SessionBelow => ScopeKind::SessionBelow,
        };
        for handler in scope.handlers() {
            let place = handler.event().map_or(span, |event| event.span(self.file));
            let help = "write it in the layer: it runs for the scope whose state it names";
            self.cx.error(codes::SHAPE_MEMBER, "a handler stands outside of the scopes", place, "not in a scope", help);
        }
        let shape = self.this().shape;
        let wrong = match kind {
            ScopeKind::SessionBelow if shape != Shape::Multiplexor => {
                Some("only a multiplexor's sessions share lower ones")
            }
            ScopeKind::Session if shape == Shape::Router => Some("a router offers flow traffic and has no sessions"),
            ScopeKind::Point if matches!(shape, Shape::Router | Shape::Endpoint) => {
                Some("nobody listens on this layer")
            }
            _ => None,
        };
        if let Some(why) = wrong {
            let place = Span::new(span.file, span.start, span.end.min(span.start + 7));
            self.cx.error(
                codes::SHAPE_MEMBER,
                why,
                place,
                "not in this shape",
                "keep the state in the `entity`, or in objects with a key",
            );
        }
        let capacity = scope.capacity().map(|capacity| self.size(Some(capacity), span));
        if self.this().scopes.iter().any(|known| known.kind == kind) {
            let place = Span::new(span.file, span.start, span.end.min(span.start + 7));
            return self.cx.error(
                codes::DEFINED_TWICE,
                "this scope is there already",
                place,
                "the second",
                "write its state in one block",
            );
        }
        let members = self.members(&scope.states(), Vec::new());
        self.this().scopes.push(Scope { kind, capacity, members });
        self.quotas(kind, &scope.states());
    }

    fn object(&mut self, object: &ast::Object) {
        let Some(name) = tree::some_name(self.file, object.name()) else { return };
        if let Some(first) = self.this().objects.iter().find(|first| first.name.text == name.text) {
            let diagnostic = items::twice("object", &name, &first.name.clone());
            return self.cx.report(diagnostic);
        }
        for function in object.functions() {
            let place = function.name().map_or(name.span, |name| name.span(self.file));
            let help = format!("write it in the layer, with the object as a parameter: `fn f(e: {})`", name.text);
            self.cx.error(codes::SHAPE_MEMBER, "functions stand in the layer", place, "not in an object", &help);
        }
        if let Some(evict) = tree::some_name(self.file, object.evict()).filter(|evict| evict.text != "oldest") {
            self.cx.error(
                codes::UNKNOWN_NAME,
                "only the oldest can be evicted",
                evict.span,
                "expected `oldest`",
                "write `evict oldest`",
            );
        }
        let keys = items::fields(self.cx, self.file, &object.keys(), true);
        let first: Vec<Member> = keys
            .iter()
            .map(|key| Member {
                name: key.name.clone(),
                kind: MemberKind::Var { ty: key.ty, init: None, constant: true },
            })
            .collect();
        let capacity = match object.capacity() {
            Some(capacity) => self.size(Some(capacity), name.span),
            None => {
                let help = format!("write `object {}[…] capacity 64 {{ … }}`", name.text);
                self.cx.error(
                    codes::MISSING_ARGUMENT,
                    "how many objects are there at most?",
                    name.span,
                    "no capacity",
                    &help,
                );
                unknown(name.span)
            }
        };
        let members = self.members(&object.states(), first);
        let evict_oldest = object.evict().is_some();
        self.this().objects.push(ObjectClass { name, keys, capacity, evict_oldest, members });
        let kind = ScopeKind::Object(ObjectId(self.this().objects.len() as u32 - 1));
        self.quotas(kind, &object.states());
    }

    fn size(&mut self, size: Option<ast::Expr>, span: Span) -> Expr {
        Body::of_layer(self.cx, self.file, self.id, Place::Argument).size(size, span)
    }

    fn members(&mut self, states: &[ast::State], mut members: Vec<Member>) -> Vec<Member> {
        for state in states {
            let Some(name) = tree::some_name(self.file, state.name()) else { continue };
            let others = self.this().scopes.iter().flat_map(|scope| &scope.members);
            let first =
                others.chain(&members).find(|first| first.name.text == name.text).map(|first| first.name.clone());
            let first = first.or_else(|| {
                self.this().params.iter().find(|param| param.name.text == name.text).map(|param| param.name.clone())
            });
            if let Some(first) = first {
                let diagnostic = items::twice("state", &name, &first);
                self.cx.report(diagnostic);
            }
            let kind = self.kind(state, &name);
            members.push(Member { name, kind });
        }
        members
    }

    fn kind(&mut self, state: &ast::State, name: &Name) -> MemberKind {
        let span = name.span;
        match state {
            ast::State::Var(var) => {
                MemberKind::Var { ty: items::value_type(self.cx, self.file, var.ty()), init: None, constant: false }
            }
            ast::State::Const(var) => {
                MemberKind::Var { ty: items::value_type(self.cx, self.file, var.ty()), init: None, constant: true }
            }
            ast::State::Timer(_) => MemberKind::Timer,
            ast::State::Counter(_) => MemberKind::Counter,
            ast::State::Quota(quota) => MemberKind::Quota { amount: self.size(quota.value(), span) },
            ast::State::Messages(messages) => {
                MemberKind::Messages { size: self.size(messages.value(), span), quota: None }
            }
            ast::State::Array(array) => match array.ty() {
                Some(ast::Type::Array(array)) => {
                    let ty = items::value_type(self.cx, self.file, array.element());
                    MemberKind::Array { ty, size: self.size(array.length(), span) }
                }
                other => {
                    if other.is_some() {
                        self.cx.error(
                            codes::MISMATCH,
                            "this is no array",
                            span,
                            "expected `[T; n]`",
                            "write `array a: [u32; 8]`",
                        );
                    }
                    MemberKind::Array { ty: Type::Unknown, size: unknown(span) }
                }
            },
            ast::State::Map(map) => match map.ty() {
                Some(ast::Type::Map(map)) => {
                    let key = map.keys().into_iter().map(|ty| self.cx.scalar_type(self.file, Some(ty))).collect();
                    let value = vec![self.cx.scalar_type(self.file, map.value())];
                    MemberKind::Map { key, value, capacity: self.size(map.capacity(), span) }
                }
                other => {
                    if other.is_some() {
                        self.cx.error(
                            codes::MISMATCH,
                            "this is no map",
                            span,
                            "expected `[K -> V; n]`",
                            "write `map m: [u32 -> u48; 64]`",
                        );
                    }
                    MemberKind::Map { key: Vec::new(), value: Vec::new(), capacity: unknown(span) }
                }
            },
        }
    }

    /// `messages … from kept`: the quota is of the same scope or of one around it.
    fn quotas(&mut self, scope: ScopeKind, states: &[ast::State]) {
        for state in states {
            let ast::State::Messages(messages) = state else { continue };
            let (Some(name), Some(quota)) =
                (tree::some_name(self.file, messages.name()), tree::some_name(self.file, messages.quota()))
            else {
                continue;
            };
            let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Value);
            body.object = if let ScopeKind::Object(id) = scope { Some(id) } else { None };
            let found = body.find_state(&quota.text);
            let is_quota = |found: (ScopeKind, u32)| {
                matches!(body.member(found.0, found.1).map(|m| &m.kind), Some(MemberKind::Quota { .. }))
            };
            let Some((kind, member)) = found.filter(|found| is_quota(*found)) else {
                let help = format!("declare it in front: `entity {{ quota {}: 64 }}`", quota.text);
                self.cx.error(
                    codes::UNKNOWN_NAME,
                    format!("there is no quota `{}` in front of this", quota.text),
                    quota.span,
                    "expected a quota",
                    &help,
                );
                continue;
            };
            if !sees(scope, kind) {
                let text =
                    format!("these places are of the {}, and the quota of the {}", scope_name(scope), scope_name(kind));
                let help = "declare the quota in the same scope, or in the `entity`";
                self.cx.error(codes::OUT_OF_SIGHT, text, quota.span, "out of sight", help);
                continue;
            }
            let reference = StateRef { scope: kind, member, object: None, span: quota.span };
            let members = match scope {
                ScopeKind::Object(id) => &mut self.this().objects[id.index()].members,
                kind => match self.this().scopes.iter_mut().find(|scope| scope.kind == kind) {
                    Some(scope) => &mut scope.members,
                    None => continue,
                },
            };
            for member in members.iter_mut().filter(|member| member.name.text == name.text) {
                if let MemberKind::Messages { quota, .. } = &mut member.kind {
                    *quota = Some(reference.clone());
                }
            }
        }
    }

    fn publish(&mut self, publish: &ast::Publish) {
        let Some(name) = tree::some_name(self.file, publish.name()) else { return };
        if let Some(first) =
            self.this().publishes.iter().find(|first| first.name.text == name.text).map(|first| first.name.clone())
        {
            let diagnostic = items::twice("published value", &name, &first);
            return self.cx.report(diagnostic);
        }
        let ty = items::value_type(self.cx, self.file, publish.ty());
        self.cx.published.entry(name.text.clone()).or_insert(ty);
        let mut locals = Vec::new();
        for param in publish.params().unwrap_or_default() {
            let Some(param) = tree::some_name(self.file, param.name()) else { continue };
            if !locals.is_empty() {
                self.cx.error(
                    codes::WRONG_COUNT,
                    "a published value is per flow at most",
                    param.span,
                    "one too many",
                    "write `publish x(flow): T = …`",
                );
                continue;
            }
            locals.push(Local { name: param, ty: Type::Flow(Side::Above) });
        }
        let flow = (!locals.is_empty()).then_some(LocalId(0));
        let value = unknown(name.span);
        self.this().publishes.push(Publish { name, ty, flow, locals, value });
    }

    // ---- heads of functions and handlers ----

    fn heads(&mut self, item: &ast::Layer) {
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
        Function { name: items::title(self.file, function.name()), params, result, locals, body: Vec::new() }
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
    fn misspelt_services(&mut self, item: &ast::Layer) -> bool {
        let written = item.members().into_iter().filter(|member| match member {
            ast::Member::Handler(handler) => handler.event().is_some_and(|event| event.names().len() > 1),
            _ => false,
        });
        let known =
            self.this().handlers.iter().filter(|handler| matches!(handler.event, Event::Service { .. })).count();
        written.count() > known
    }

    /// Who serves a service handles what its users ask.
    fn served_operations(&mut self) {
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
    fn shape_rules(&mut self, item: &ast::Layer) {
        let layer = self.this();
        let (name, shape) = (layer.name.clone(), layer.shape);
        let has_send = layer.handlers.iter().any(|handler| matches!(handler.event, Event::Send { .. }));
        let (no_key, no_address) = (layer.key.is_none(), layer.address.is_empty());
        let wants_send = item.members().iter().any(|member| match member {
            ast::Member::Handler(handler) => handler.event().is_some_and(|event| event.text() == "send"),
            _ => false,
        });
        if shape == Shape::Multiplexor && no_key {
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

// ---- bodies ----

/// Initial and published values, functions and handlers of all layers.
pub(super) fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let mut work = Bodies { cx: &mut *cx, file: *file, id: LayerId(index as u32) };
        work.members(item);
        work.code(item);
        work.scopes();
        work.barrier();
    }
}

struct Bodies<'a> {
    cx: &'a mut Context,
    file: FileId,
    id: LayerId,
}

impl Bodies<'_> {
    fn this(&mut self) -> &mut Layer {
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
        let members = |layer: &Layer| match kind {
            ScopeKind::Object(id) => layer.objects.get(id.index()).map(|class| class.members.clone()),
            kind => layer.scopes.iter().find(|scope| scope.kind == kind).map(|scope| scope.members.clone()),
        };
        let found = body.this_layer().and_then(members).unwrap_or_default();
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
        let layer = self.this();
        let members = match kind {
            ScopeKind::Object(id) => &mut layer.objects[id.index()].members,
            kind => match layer.scopes.iter_mut().find(|scope| scope.kind == kind) {
                Some(scope) => &mut scope.members,
                None => return,
            },
        };
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
        if self.this().limit_send.is_some() {
            return self.cx.error(
                codes::DEFINED_TWICE,
                "`send` has a limit already",
                span,
                "the second",
                "leave one of them out",
            );
        }
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Value);
        let value = body.some_value(limit.value(), Type::UInt(32), span);
        self.this().limit_send = Some(value);
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
            let named = scopes_named(&handler.body, &of_functions);
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

fn end_of(file: FileId, block: Option<ast::Block>, otherwise: Span) -> Span {
    match block.map(|block| block.span(file)) {
        Some(span) if span.end > span.start => Span::new(file, span.end - 1, span.end),
        _ => otherwise,
    }
}

/// The messages that a handler begins with.
fn messages(event: &Event, locals: &[Local]) -> Vec<LocalId> {
    let all: Vec<LocalId> = match event {
        Event::Send { message, .. } | Event::Unmatched { message, .. } => vec![*message],
        Event::Deliver { message, .. } => message.iter().copied().collect(),
        Event::Service { params, .. } | Event::Custom { params, .. } => params.clone(),
        _ => Vec::new(),
    };
    all.into_iter().filter(|local| locals.get(local.index()).is_some_and(|local| local.ty == Type::Message)).collect()
}

type Named = BTreeMap<ScopeKind, Span>;

/// The scopes that each function names, also through those that it calls.
fn function_scopes(layer: &Layer) -> Vec<Named> {
    let mut named = vec![Named::new(); layer.functions.len()];
    loop {
        let mut changed = false;
        for (index, function) in layer.functions.iter().enumerate() {
            for (kind, span) in scopes_named(&function.body, &named) {
                changed |= named[index].insert(kind, span).is_none();
            }
        }
        if !changed {
            return named;
        }
    }
}

/// The scopes whose state a body names without a handle; a call counts at its own place.
fn scopes_named(body: &[Stmt], of_functions: &[Named]) -> Named {
    let mut named = Named::new();
    visit::walk(body, &mut |met| match met {
        Met::State(StateRef { scope, object: None, span, .. }) => {
            named.entry(*scope).or_insert(*span);
        }
        Met::Expr(Expr { kind: ExprKind::CallOwn { function, .. }, span, .. }) => {
            for kind in of_functions.get(*function as usize).into_iter().flat_map(|scopes| scopes.keys()) {
                named.entry(*kind).or_insert(*span);
            }
        }
        Met::Expr(Expr { kind: ExprKind::HasObject { .. }, span, .. }) => {
            named.entry(ScopeKind::Entity).or_insert(*span);
        }
        Met::Stmt(Stmt {
            kind: StmtKind::IfObject { .. } | StmtKind::FindOrNew { .. } | StmtKind::ForObjects { .. },
            span,
        }) => {
            named.entry(ScopeKind::Entity).or_insert(*span);
        }
        _ => {}
    });
    named
}

/// The scope that a handler runs for, and state that it names and cannot see.
fn choose(layer: &Layer, handler: &Handler, named: &Named) -> (ScopeKind, Option<(ScopeKind, Span)>) {
    let has = |kind: ScopeKind| layer.scopes.iter().any(|scope| scope.kind == kind);
    let fixed = match &handler.event {
        Event::Start | Event::Service { .. } => Some(ScopeKind::Entity),
        Event::Expiry { timer } => Some(timer.scope),
        _ if matches!(handler.scope, ScopeKind::Object(_)) => Some(handler.scope),
        _ => None,
    };
    let runs = fixed.unwrap_or_else(|| {
        let inner = [ScopeKind::Session, ScopeKind::SessionBelow, ScopeKind::Point, ScopeKind::Entity];
        inner.into_iter().find(|kind| named.contains_key(kind)).unwrap_or(match layer.shape {
            Shape::Worker | Shape::Multiplexor => ScopeKind::Session,
            Shape::Endpoint if has(ScopeKind::Session) && of_sessions(&handler.event) => ScopeKind::Session,
            _ => ScopeKind::Entity,
        })
    });
    let hidden = named.iter().find(|(kind, _)| !sees(runs, **kind)).map(|(kind, span)| (*kind, *span));
    (runs, hidden)
}

/// Whether code that runs for one scope sees the state of another.
fn sees(runs: ScopeKind, kind: ScopeKind) -> bool {
    kind == ScopeKind::Entity || runs == kind || (runs, kind) == (ScopeKind::Session, ScopeKind::SessionBelow)
}

/// State that a value names and that is out of sight for a scope.
fn hidden_state(value: &Expr, scope: ScopeKind) -> Option<StateRef> {
    let mut hidden = None;
    visit::walk_in_expr(value, &mut |met| {
        if let Met::State(state) = met {
            if state.object.is_none() && !sees(scope, state.scope) {
                hidden.get_or_insert(state.clone());
            }
        }
    });
    hidden
}

/// Events that come to one session.
fn of_sessions(event: &Event) -> bool {
    match event {
        Event::Deliver { flow, .. } | Event::Accepted { flow } => flow.is_none(),
        Event::Opened | Event::Failed { .. } | Event::Closed => true,
        _ => false,
    }
}

fn scope_name(kind: ScopeKind) -> &'static str {
    match kind {
        ScopeKind::Entity => "entity",
        ScopeKind::Point => "point",
        ScopeKind::Session => "session",
        ScopeKind::SessionBelow => "session below",
        ScopeKind::Object(_) => "object",
    }
}

/// Reads or writes of octets of messages that were not made here.
fn looks_at_octets(body: &[Stmt]) -> bool {
    let mut own = BTreeSet::new();
    let mut looks = false;
    visit::walk(body, &mut |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Let { local, value }, .. }) => {
            if matches!(value.kind, ExprKind::NewMessage { .. } | ExprKind::Received { .. }) {
                own.insert(*local);
            }
        }
        Met::Stmt(Stmt { kind, .. }) => {
            if let StmtKind::Trim { message, .. }
            | StmtKind::Skip { message, .. }
            | StmtKind::Split { message, .. }
            | StmtKind::Store { message, .. } = kind
            {
                looks |= !own.contains(message);
            }
        }
        Met::Expr(Expr { kind: ExprKind::Load { message, .. } | ExprKind::Sum16(message), .. }) => {
            looks |= !own.contains(message)
        }
        _ => {}
    });
    looks
}
