//! Layers: what they declare.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use super::body::{unknown, Body, Place};
use super::scopes::{scope_name, sees};
use super::{higher, items, signatures, Context, Item};
use crate::program::*;
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
        let (plain, higher) = higher::split(cx, *file, &item.params(), higher::Owner::Layer);
        let params = items::params(cx, *file, &plain);
        cx.higher_layers.push(higher);
        let shape = match item.shape() {
            ast::Shape::Worker => Shape::Worker,
            ast::Shape::Multiplexor => Shape::Multiplexor,
            ast::Shape::Router => Shape::Router,
            ast::Shape::Endpoint => Shape::Endpoint,
        };
        let name = items::title(*file, item.name());
        cx.program.layers.push(Layer::bare(name, item.doc(), shape, params));
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
        let mut declare = Declare { cx: &mut *cx, file: *file, id, view: None };
        for member in item.members() {
            declare.member(&member);
        }
    }
    for (index, (file, item)) in trees.layers.iter().enumerate() {
        let mut declare = Declare { cx: &mut *cx, file: *file, id: LayerId(index as u32), view: None };
        declare.heads(item);
        declare.container_heads();
        declare.shape_rules(item);
        if !declare.misspelt_services(item) {
            declare.served_operations();
        }
    }
}

/// A layer whose declarations are being read.
pub(super) struct Declare<'a> {
    pub cx: &'a mut Context,
    pub file: FileId,
    pub id: LayerId,
    /// The container whose state is being read.
    pub view: Option<std::rc::Rc<super::containers::View>>,
}

impl Declare<'_> {
    pub fn this(&mut self) -> &mut Layer {
        &mut self.cx.program.layers[self.id.index()]
    }

    fn member(&mut self, member: &ast::Member) {
        let span = member.span(self.file);
        match member {
            ast::Member::Header(header) => self.header(header, span),
            ast::Member::Key(key) => {
                let fields = items::fields(self.cx, self.file, &key.fields(), items::Fields::Key);
                self.only(Shape::Multiplexor, "key", span);
                self.this().key = Some(Key { symmetric: key.is_symmetric(), fields });
            }
            ast::Member::Address(address) => {
                let fields = items::fields(self.cx, self.file, &address.fields(), items::Fields::Values);
                self.only(Shape::Router, if address.is_below() { "below address" } else { "address" }, span);
                let layer = self.this();
                *(if address.is_below() { &mut layer.below_address } else { &mut layer.address }) = fields;
            }
            ast::Member::Several(several) => self.several(several, span),
            ast::Member::Matching(matching) => self.matching(matching, span),
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
                let snake = |name: &Name| Name { text: tree::snake_case(&name.text), span: name.span };
                let alias = tree::some_name(self.file, uses.alias()).or(service.as_ref().map(snake));
                match (self.service(service), alias) {
                    (Some((service, _)), Some(alias)) => self.this().uses.push((service, alias)),
                    (None, Some(alias)) => drop(self.cx.unknown_services.insert(alias.text)),
                    (_, None) => {}
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
            ast::Member::Needs(needs) => {
                let claims = signatures::claims(self.cx, self.file, self.id, &needs.names(), needs.condition());
                self.this().needs.extend(claims);
            }
            ast::Member::Gives(gives) => {
                let claims = signatures::claims(self.cx, self.file, self.id, &gives.names(), gives.condition());
                self.this().gives.extend(claims);
            }
            ast::Member::Speaks(speaks) => {
                let found = signatures::vocabularies(self.cx, self.file, &speaks.names());
                self.this().speaks.extend(found);
            }
            ast::Member::Limit(_) | ast::Member::Function(_) | ast::Member::Handler(_) => {}
        }
    }

    /// A member that only one shape has.
    pub(super) fn only(&mut self, shape: Shape, what: &str, span: Span) {
        if self.this().shape == shape {
            return;
        }
        let (title, help) = match shape {
            Shape::Multiplexor => ("a multiplexor", "a layer that finds the one above by a key is a `multiplexor`"),
            _ => ("a router", "a layer that deals in addresses is a `router`"),
        };
        self.cx.error(codes::SHAPE_MEMBER, format!("only {title} has `{what}`"), span, "not in this shape", help);
    }

    fn header(&mut self, header: &ast::Header, span: Span) {
        if self.this().header.is_some() {
            let help = "write the alternatives in one: `header { Data { … } with message | Ack { … } }`";
            return self.cx.error(codes::DEFINED_TWICE, "a layer has one header", span, "the second", help);
        }
        let variants = match header.fields() {
            Some(fields) => {
                let fields = items::fields(self.cx, self.file, &fields, items::Fields::Header);
                vec![Variant { name: Name { text: "Header".into(), span }, fields, with_message: true }]
            }
            None => self.alternatives(header),
        };
        let chosen = [
            (header.is_packed(), Layout::Packed),
            (header.is_aligned(), Layout::Aligned),
            (header.is_compressed(), Layout::Compressed),
        ];
        let layout = chosen.into_iter().find(|(said, _)| *said).map_or(Layout::Octets, |(_, layout)| layout);
        self.this().header = Some(Header { layout, variants });
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
            let fields = items::fields(self.cx, self.file, &alternative.fields(), items::Fields::Header);
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
        let members = self.members(kind, &scope.states(), Vec::new());
        self.given(kind, &scope.states(), &members);
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
        let keys = items::fields(self.cx, self.file, &object.keys(), items::Fields::Values);
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
        let kind = ScopeKind::Object(ObjectId(self.this().objects.len() as u32));
        let members = self.members(kind, &object.states(), first);
        let evict_oldest = object.evict().is_some();
        let owned = object.is_owned();
        if owned && self.this().shape == Shape::Router {
            let help = "leave `owned by session` out: the entity keeps them";
            self.cx.error(codes::SHAPE_MEMBER, "a router has no sessions", name.span, "owned by none", help);
        }
        self.this().objects.push(ObjectClass { name, keys, capacity, evict_oldest, owned, members });
        self.quotas(kind, &object.states());
    }

    pub(super) fn size(&mut self, size: Option<ast::Expr>, span: Span) -> Expr {
        let mut body = Body::of_layer(self.cx, self.file, self.id, Place::Argument);
        body.view = self.view.clone();
        body.size(size, span)
    }

    fn members(&mut self, scope: ScopeKind, states: &[ast::State], mut members: Vec<Member>) -> Vec<Member> {
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
            if let ast::State::Contained(tree) = state {
                self.contained(scope, tree, &name, &mut members);
                continue;
            }
            let kind = self.kind(state, &name);
            members.push(Member { name, kind });
        }
        members
    }

    pub(super) fn kind(&mut self, state: &ast::State, name: &Name) -> MemberKind {
        let span = name.span;
        match state {
            ast::State::Var(var) => {
                MemberKind::Var { ty: items::state_type(self.cx, self.file, var.ty()), init: None, constant: false }
            }
            ast::State::Const(var) => {
                MemberKind::Var { ty: items::state_type(self.cx, self.file, var.ty()), init: None, constant: true }
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
            // Its parts are members of their own.
            ast::State::Contained(_) => MemberKind::Counter,
            ast::State::Map(map) => match map.ty() {
                Some(ast::Type::Map(map)) => {
                    let keys = map.keys().into_iter();
                    let key = keys.map(|ty| items::map_type(self.cx, self.file, Some(ty))).collect();
                    let value = vec![items::map_type(self.cx, self.file, map.value())];
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
            let (name, quota) = match state {
                ast::State::Messages(messages) => (messages.name(), messages.quota()),
                ast::State::Contained(contained) => (contained.name(), contained.quota()),
                _ => continue,
            };
            let (Some(name), Some(quota)) = (tree::some_name(self.file, name), tree::some_name(self.file, quota))
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
            let Some(members) = self.this().members_mut(scope) else { continue };
            let within = format!("{}.", name.text);
            let of_it = |member: &&mut Member| member.name.text == name.text || member.name.text.starts_with(&within);
            for member in members.iter_mut().filter(of_it) {
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
}
