//! Heads of handlers: which event, which parameters, and whether this shape knows it.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Pattern};

use super::body::Role;
use super::emissions::{DOWN, GRANTS, UP};
use super::{items, layers, Context};
use crate::program::*;
use crate::signature::Carried;
use crate::{codes, suggest, tree, types};

/// How many `later` events wait when the handler does not say.
const LATER_ROOM: u32 = 16;

/// A handler's head in the making: the locals that its parameters bind.
struct Head<'a> {
    cx: &'a mut Context,
    file: FileId,
    layer: LayerId,
    object: Option<ObjectId>,
    tree: &'a ast::Handler,
    locals: Vec<Local>,
    span: Span,
}

/// The head of a handler; none if its event could not be made out.
pub(super) fn head(
    cx: &mut Context,
    file: FileId,
    layer: LayerId,
    object: Option<ObjectId>,
    tree: &ast::Handler,
) -> Option<Handler> {
    let span = match (tree.event(), tree.expiry()) {
        (Some(path), _) => path.span(file),
        (None, Some(name)) => name.span(file),
        (None, None) => return None,
    };
    let mut head = Head { cx, file, layer, object, tree, locals: Vec::new(), span };
    let event = head.event()?;
    let locals = head.locals;
    let scope = match (&event, object) {
        (_, Some(object)) => ScopeKind::Object(object),
        (Event::Expiry { timer }, None) => timer.scope,
        _ => ScopeKind::Entity,
    };
    Some(Handler { event, scope, locals, body: Vec::new(), span })
}

/// What statements a handler of this event may hold.
pub(super) fn role(event: &Event) -> Role {
    match event {
        Event::Start => Role::Start,
        // A session begins with one of them.
        Event::Open { .. } | Event::Accepted { .. } => Role::Open,
        Event::Unmatched { .. } => Role::Unmatched,
        Event::Settle { .. } => Role::Settle,
        Event::Expiry { .. } => Role::Expiry,
        Event::Service { .. } | Event::Change { .. } | Event::Custom { from: Origin::Own, .. } => Role::Service,
        _ => Role::Other,
    }
}

/// What tells two handlers of one layer apart.
pub(super) fn same_event(a: &Handler, b: &Handler) -> bool {
    match (&a.event, &b.event) {
        (Event::Deliver { variant: x, .. }, Event::Deliver { variant: y, .. }) => x == y,
        (Event::Expiry { timer: x }, Event::Expiry { timer: y }) => (x.scope, x.member) == (y.scope, y.member),
        (Event::Service { service: x, operation: i, .. }, Event::Service { service: y, operation: j, .. }) => {
            (x, i) == (y, j)
        }
        (Event::Custom { name: x, .. }, Event::Custom { name: y, .. }) => x.text == y.text,
        (Event::Change { name: x }, Event::Change { name: y }) => x.text == y.text,
        (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
    }
}

impl Head<'_> {
    fn this(&self) -> &Layer {
        &self.cx.program.layers[self.layer.index()]
    }

    fn bind(&mut self, name: Name, ty: Type) -> LocalId {
        if let Some(first) = self.locals.iter().find(|local| local.name.text == name.text) {
            let diagnostic = items::twice("parameter", &name, &first.name);
            self.cx.report(diagnostic);
        }
        self.locals.push(Local { name, ty });
        LocalId(self.locals.len() as u32 - 1)
    }

    fn event(&mut self) -> Option<Event> {
        if let Some(timer) = self.tree.expiry() {
            return self.expiry(&tree::name(self.file, &timer));
        }
        let path = self.tree.event()?;
        let parts = tree::parts(self.file, &path);
        match parts.as_slice() {
            [_, name] if self.tree.is_change() => {
                self.none();
                Some(Event::Change { name: name.clone() })
            }
            [name] => self.plain(&name.clone()),
            [owner, name] => self.service(&owner.clone(), &name.clone()),
            _ => {
                let text = "no event has such a name";
                self.cx.error(
                    codes::UNKNOWN_EVENT,
                    text,
                    self.span,
                    "unknown",
                    "write `on deliver(…)`, `on resolve.ask(…)`",
                );
                None
            }
        }
    }

    fn plain(&mut self, name: &Name) -> Option<Event> {
        let shape = self.this().shape;
        if self.object.is_some() {
            let text = "an object handles the expiry of its timers alone";
            self.cx.error(codes::EVENT_SHAPE, text, name.span, "not in an object", "write the handler in the layer");
            return None;
        }
        let known = DOWN.contains(&name.text.as_str()) || UP.contains(&name.text.as_str());
        self.shape_knows(shape, name);
        if known || matches!(name.text.as_str(), "start" | "unmatched" | "settle") {
            self.stray_clauses(name);
        }
        Some(match name.text.as_str() {
            "start" => {
                self.none();
                Event::Start
            }
            "send" => Event::Send { message: self.only_message()?, flow: self.flow(Side::Above) },
            "deliver" => return self.deliver(),
            "open" => Event::Open { flow: self.flow_param(Side::Above) },
            "listen" => Event::Listen { flow: self.flow_param(Side::Above) },
            "bind" => Event::Bind { flow: self.flow_param(Side::Above) },
            "unlisten" => Event::Unlisten { flow: self.flow_param(Side::Above) },
            "accepted" => Event::Accepted { flow: self.flow_param(Side::Below) },
            "opened" => {
                self.none();
                Event::Opened
            }
            "close" => {
                self.none();
                Event::Close
            }
            "abort" => {
                self.none();
                Event::Abort
            }
            "closed" => {
                self.none();
                Event::Closed
            }
            "failed" => {
                let mut names = self.names(2).into_iter();
                let reason = names.next().map(|name| self.bind(name, Type::Reason));
                match (reason, names.next()) {
                    (Some(reason), Some(quote)) => {
                        Event::FailedQuoting { reason, message: self.bind(quote, Type::Message) }
                    }
                    _ => Event::Failed { reason },
                }
            }
            "unmatched" => Event::Unmatched { message: self.only_message()?, flow: self.flow(Side::Above) },
            "settle" => self.settle(),
            _ => return self.custom(name),
        })
    }

    fn shape_knows(&mut self, shape: Shape, name: &Name) {
        let text = name.text.as_str();
        if shape == Shape::Endpoint && DOWN.contains(&text) {
            let help = "nothing stands above an endpoint: it emits `below.send(…)` itself";
            self.cx.error(
                codes::EVENT_SHAPE,
                format!("nobody sends `{text}` to an endpoint"),
                name.span,
                "never comes",
                help,
            );
        }
        if text == "unmatched" && shape != Shape::Multiplexor {
            let help = "only a multiplexor looks for the layer that a message is for";
            self.cx.error(
                codes::EVENT_SHAPE,
                "`unmatched` is an event of multiplexors",
                name.span,
                "never comes",
                help,
            );
        }
    }

    /// `limit` and `later` stand behind the events that have them.
    fn stray_clauses(&mut self, name: &Name) {
        if let Some(limit) = self.tree.limit().filter(|_| name.text != "settle") {
            let place = limit.span(self.file);
            self.cx.error(codes::MISPLACED, "only `settle` has a limit", place, "not here", "leave it out");
        }
        if let Some(room) = self.tree.later() {
            let place = room.span(self.file);
            self.cx.error(codes::MISPLACED, "only events of `later` wait", place, "not here", "leave it out");
        }
    }

    fn settle(&mut self) -> Event {
        self.none();
        let limit = match self.tree.limit() {
            Some(limit) => super::body::Body::of_layer(self.cx, self.file, self.layer, super::body::Place::Argument)
                .size(Some(limit), self.span),
            None => {
                let help = "write `on settle limit 8 { … }`: so often it may settle in one reaction";
                self.cx.error(codes::MISSING_ARGUMENT, "`settle` has no limit", self.span, "expected `limit`", help);
                super::body::unknown(self.span)
            }
        };
        Event::Settle { limit }
    }

    /// Plain names in the parentheses; a report for more than `most`.
    fn names(&mut self, most: usize) -> Vec<Name> {
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

    fn none(&mut self) {
        self.names(0);
    }

    fn only_message(&mut self) -> Option<LocalId> {
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
    fn flow(&mut self, side: Side) -> Option<LocalId> {
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
    fn flow_param(&mut self, side: Side) -> Option<LocalId> {
        let names = self.names(1);
        match names.into_iter().next() {
            Some(name) => Some(self.bind(name, Type::Flow(side))),
            None => self.flow(side),
        }
    }

    fn expiry(&mut self, name: &Name) -> Option<Event> {
        self.none();
        let layer = self.this();
        let of = |members: &[Member]| super::lookups::position(members, &name.text);
        let found = match self.object {
            Some(object) => {
                of(&layer.objects[object.index()].members).map(|member| (ScopeKind::Object(object), member))
            }
            None => layer.scopes.iter().find_map(|scope| Some((scope.kind, of(&scope.members)?))),
        };
        let kind = found.and_then(|(scope, member)| match scope {
            ScopeKind::Object(id) => layer.objects[id.index()].members.get(member as usize),
            kind => layer.scopes.iter().find(|scope| scope.kind == kind)?.members.get(member as usize),
        });
        if let (Some((scope, member)), Some(MemberKind::Timer)) = (found, kind.map(|member| &member.kind)) {
            return Some(Event::Expiry { timer: StateRef { scope, member, object: None, span: name.span } });
        }
        let timers: Vec<String> = all_timers(layer, self.object);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no timer `{}` here", name.text))
            .at(name.span, "expected a timer");
        diagnostic.helps.extend(suggest::help(&name.text, timers.iter().map(String::as_str)));
        diagnostic.helps.push(format!(
            "declare it: `session {{ timer {} }}`; an object's timers expire within the object",
            name.text
        ));
        self.cx.report(diagnostic);
        None
    }

    /// `deliver(msg, seq)`, `deliver(msg, Data { seq })`, `deliver(Ack { next })`
    fn deliver(&mut self) -> Option<Event> {
        let header = self.this().header.clone();
        let owner = self.this().name.text.clone();
        let single =
            header.as_ref().filter(|header| layers::is_single(header)).map(|header| header.variants[0].clone());
        let mut message = None;
        let mut variant = None;
        let mut fields = Vec::new();
        for (index, pattern) in self.tree.patterns().into_iter().enumerate() {
            match pattern {
                Pattern::Alternative(alternative) => {
                    let Some(name) = tree::some_name(self.file, alternative.name()) else { continue };
                    let names: Vec<Name> =
                        alternative.fields().iter().map(|field| tree::name(self.file, field)).collect();
                    variant = self.chosen(header.as_ref(), &owner, &name, &names, &mut fields).or(variant);
                }
                Pattern::Param(param) => {
                    let Some(name) = tree::some_name(self.file, param.name()) else { continue };
                    let field = single
                        .as_ref()
                        .and_then(|single| single.fields.iter().position(|field| field.name.text == name.text));
                    let ty = field.and_then(|at| single.as_ref().map(|single| single.fields[at].ty));
                    let alternative = layers::variant(header.as_ref(), &name.text).filter(|_| single.is_none());
                    match (field, ty) {
                        (Some(at), Some(ty)) => {
                            let local = self.bind(name, ty);
                            fields.push((at as u32, local));
                        }
                        _ if alternative.is_some() => {
                            variant = self.chosen(header.as_ref(), &owner, &name, &[], &mut fields).or(variant);
                        }
                        _ if index == 0 => message = Some(self.bind(name, Type::Message)),
                        _ => self.no_field(header.as_ref(), &owner, &name),
                    }
                }
            }
        }
        self.with_message(header.as_ref(), variant, message);
        if single.is_some() {
            variant = Some(0);
        }
        let flow = self.flow(Side::Below);
        Some(Event::Deliver { message, variant, fields, flow })
    }

    fn chosen(
        &mut self,
        header: Option<&Header>,
        owner: &str,
        name: &Name,
        names: &[Name],
        fields: &mut Vec<(u32, LocalId)>,
    ) -> Option<u32> {
        let single = header.is_some_and(layers::is_single);
        let Some((index, variant)) = layers::variant(header, &name.text).filter(|_| !single) else {
            let known: Vec<&str> =
                header.iter().filter(|_| !single).flat_map(|h| &h.variants).map(|v| v.name.text.as_str()).collect();
            let text = format!("the header of `{owner}` has no alternative `{}`", name.text);
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_VARIANT, text).at(name.span, "unknown");
            diagnostic.helps.extend(suggest::help(&name.text, known));
            self.cx.report(diagnostic);
            for name in names {
                self.bind(name.clone(), Type::Unknown);
            }
            return None;
        };
        for name in names {
            match variant.fields.iter().position(|field| field.name.text == name.text) {
                Some(at) => {
                    let local = self.bind(name.clone(), variant.fields[at].ty);
                    fields.push((at as u32, local));
                }
                None => {
                    let known = variant.fields.iter().map(|field| field.name.text.as_str());
                    let text = format!("alternative `{}` has no field `{}`", variant.name.text, name.text);
                    let mut diagnostic = Diagnostic::error(codes::HANDLER_PARAMS, text)
                        .at(name.span, "unknown")
                        .label(variant.name.span, "declared here");
                    diagnostic.helps.extend(suggest::help(&name.text, known));
                    self.cx.report(diagnostic);
                    self.bind(name.clone(), Type::Unknown);
                }
            }
        }
        Some(index)
    }

    fn no_field(&mut self, header: Option<&Header>, owner: &str, name: &Name) {
        let known: Vec<&str> = header
            .iter()
            .flat_map(|header| &header.variants)
            .flat_map(|v| &v.fields)
            .map(|f| f.name.text.as_str())
            .collect();
        let text = format!("the header of `{owner}` has no field `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::HANDLER_PARAMS, text).at(name.span, "unknown");
        if header.is_some_and(|header| !layers::is_single(header)) {
            diagnostic = diagnostic.help("the header is a choice: write `deliver(msg, Data { seq })`");
        } else {
            diagnostic.helps.extend(suggest::help(&name.text, known));
        }
        self.cx.report(diagnostic);
        self.bind(name.clone(), Type::Unknown);
    }

    /// An alternative that goes alone brings no message.
    fn with_message(&mut self, header: Option<&Header>, variant: Option<u32>, message: Option<LocalId>) {
        let Some(variant) = variant.and_then(|index| header?.variants.get(index as usize)) else { return };
        if let (false, Some(message)) = (variant.with_message, message) {
            let name = self.locals[message.index()].name.clone();
            let text = format!("`{}` goes alone: it brings no message", variant.name.text);
            let diagnostic = Diagnostic::error(codes::WITH_MESSAGE, text)
                .at(name.span, "nothing comes here")
                .label(variant.name.span, "without `with message`")
                .help(format!("write `on deliver({} {{ … }})`", variant.name.text));
            self.cx.report(diagnostic);
            self.locals[message.index()].ty = Type::Unknown;
        }
    }

    /// `resolve.ask(next_hop)`: of a service that the layer serves, or an `out` of one that it uses.
    fn service(&mut self, owner: &Name, name: &Name) -> Option<Event> {
        let layer = self.this();
        let used = layer.uses.iter().position(|(_, alias)| alias.text == owner.text);
        let used_service = used.map(|index| layer.uses[index].0);
        let served = layers::served(&self.cx.program, layer, &owner.text);
        let find = |service: Option<ServiceId>, out: bool| {
            let service = service?;
            let list = &self.cx.program.services.get(service.index())?.operations;
            Some((service, list.iter().position(|op| op.name.text == name.text && op.out == out)? as u32))
        };
        let (service, operation, uses) = match (find(used_service, true), find(served, false)) {
            (Some((service, operation)), _) => (service, operation, used.map(|index| index as u32)),
            (None, Some((service, operation))) => (service, operation, None),
            (None, None) => {
                self.no_service(owner, name, used_service.or(served), used.is_some());
                return None;
            }
        };
        let params = self.cx.program.services[service.index()].operations[operation as usize].params.clone();
        let names = self.names(params.len());
        if names.len() < params.len() {
            let text = format!("`{}.{}` has {} parameters, not {}", owner.text, name.text, params.len(), names.len());
            let diagnostic = Diagnostic::error(codes::HANDLER_PARAMS, text)
                .at(self.span, "too few")
                .label(
                    self.cx.program.services[service.index()].operations[operation as usize].name.span,
                    "declared here",
                )
                .help("name each of them");
            self.cx.report(diagnostic);
        }
        let params = params
            .into_iter()
            .enumerate()
            .map(|(index, field)| {
                let name = names
                    .get(index)
                    .cloned()
                    .unwrap_or(Name { text: format!("_{}", field.name.text), span: self.span });
                self.bind(name, field.ty)
            })
            .collect();
        Some(Event::Service { service, operation, uses, params })
    }

    fn no_service(&mut self, owner: &Name, name: &Name, service: Option<ServiceId>, used: bool) {
        let Some(service) = service else {
            let layer = self.this();
            let mut names: Vec<String> = layer.uses.iter().map(|(_, alias)| alias.text.clone()).collect();
            names.extend(
                layer.serves.iter().map(|id| tree::snake_case(&self.cx.program.services[id.index()].name.text)),
            );
            let text = format!("this layer neither serves nor uses a service `{}`", owner.text);
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_OPERATION, text).at(owner.span, "unknown");
            diagnostic.helps.extend(suggest::help(&owner.text, names.iter().map(String::as_str)));
            self.cx.report(diagnostic.help(format!("add `serves …` or `uses … as {}`", owner.text)));
            return;
        };
        let service = &self.cx.program.services[service.index()];
        let title = service.name.text.clone();
        if service.operations.iter().any(|operation| operation.name.text == name.text) {
            let who = if used { "its server handles" } else { "its users handle" };
            let text = format!("`{}` of service `{title}` is something that {who}", name.text);
            let help = format!("emit it instead: `{}.{}(…)`", owner.text, name.text);
            self.cx.error(codes::SERVICE_WAY, text, name.span, "the other way", &help);
            return;
        }
        let names: Vec<&str> =
            service.operations.iter().filter(|op| op.out == used).map(|op| op.name.text.as_str()).collect();
        let text = format!("service `{title}` has no operation `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_OPERATION, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, names));
        self.cx.report(diagnostic);
    }

    /// An event of the layers' own.
    fn custom(&mut self, name: &Name) -> Option<Event> {
        let spoken = self.cx.spoken(self.layer, &name.text).or_else(|| grant(name));
        let emitted = spoken.is_some() || self.cx.emitted.iter().any(|(_, known, _)| *known == name.text);
        let own = layers::has_later(self.cx, self.layer, &name.text);
        if !emitted && !own {
            let known = DOWN.iter().chain(&UP).chain(&["start", "settle", "unmatched"]).copied();
            if let Some(near) = suggest::nearest(&name.text, known) {
                let text = format!("there is no event `{}`", name.text);
                self.cx.error(
                    codes::UNKNOWN_EVENT,
                    text,
                    name.span,
                    "nobody emits it",
                    &format!("did you mean `{near}`?"),
                );
                return None;
            }
            let untyped = |pattern: &Pattern| matches!(pattern, Pattern::Param(param) if param.ty().is_none());
            if self.tree.patterns().iter().any(untyped) {
                self.foreign_event(name);
                return None;
            }
        }
        let from = match &spoken {
            Some((_, true)) => Origin::Above,
            Some((_, false)) => Origin::Below,
            None => self.origin(name, own),
        };
        self.said_origin(name, &spoken);
        let later_capacity = match self.tree.later() {
            Some(room) => {
                let number = items::fixed(self.cx, self.file, &room, Type::UInt(32));
                if number == Some(0) {
                    let text = "nothing has room or runs here: the number is 0";
                    let place = room.span(self.file);
                    self.cx.error(codes::EMPTY_SIZE, text, place, "zero", "write how many there are at most");
                }
                number.unwrap_or(0) as u32
            }
            None => LATER_ROOM,
        };
        let mut params = Vec::new();
        for pattern in self.tree.patterns() {
            let Pattern::Param(param) = pattern else {
                let place = pattern.span(self.file);
                let help = "write `name: Type`";
                self.cx.error(codes::HANDLER_PARAMS, "own events have plain parameters", place, "no alternative", help);
                continue;
            };
            let Some(name) = tree::some_name(self.file, param.name()) else { continue };
            // Without a type, it is that of what `later` gives to it.
            let known = spoken.as_ref().and_then(|(known, _)| known.params.get(params.len())).map(|known| known.ty);
            let ty = match (param.ty(), known) {
                (None, Some(known)) => known,
                (None, None) if own => Type::Unknown,
                (ty, known) => self.as_spoken(&name, ty, known),
            };
            params.push(self.bind(name, ty));
        }
        self.count_spoken(name, params.len(), &spoken);
        Some(Event::Custom { name: name.clone(), from, params, later_capacity })
    }

    /// `on receive(msg)`: meant as an event of the language, which brings its types along.
    fn foreign_event(&mut self, name: &Name) {
        let text = format!("there is no event `{}`", name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text)
            .at(name.span, "nobody emits it")
            .help("messages come by `on send(msg)` from above, by `on deliver(msg)` from below")
            .help(format!("an event of the layers' own says its types: `on {}(msg: Message)`", name.text));
        self.cx.report(diagnostic);
    }

    /// The written type of a parameter, which is that of the vocabulary.
    fn as_spoken(&mut self, name: &Name, ty: Option<ast::Type>, known: Option<Type>) -> Type {
        let ty = items::typed(self.cx, self.file, name, ty);
        match known {
            Some(known) if !types::same(known, ty) => {
                let (is, wanted) = (self.cx.show(ty), self.cx.show(known));
                let text = format!("`{}` is {wanted} in the vocabulary, not {is}", name.text);
                self.cx.error(codes::MISMATCH, text, name.span, "another type", "leave the type out");
                known
            }
            _ => ty,
        }
    }

    fn count_spoken(&mut self, name: &Name, count: usize, spoken: &Option<(Carried, bool)>) {
        let Some((known, _)) = spoken.as_ref().filter(|(known, _)| known.params.len() != count) else { return };
        let text = format!("`{}` has {} parameters, not {count}", name.text, known.params.len());
        let diagnostic = mokume_base::Diagnostic::error(codes::WRONG_COUNT, text)
            .at(name.span, "here")
            .label(known.name.span, "as the vocabulary says")
            .help("name all of them");
        self.cx.report(diagnostic);
    }

    /// `from` is not needed, and does not say otherwise.
    fn said_origin(&mut self, name: &Name, spoken: &Option<(Carried, bool)>) {
        let clause = self.tree.from().and_then(|clause| tree::name_expr(self.file, &clause));
        let (Some(clause), Some((known, down))) = (clause, spoken) else { return };
        if clause.text != if *down { "above" } else { "below" } {
            self.cx.wrong_direction(known, *down, clause.span, false);
        }
        let _ = name;
    }

    /// Where an own event comes from: as `from` says, or from who emits it.
    fn origin(&mut self, name: &Name, own: bool) -> Origin {
        let clause = self.tree.from().and_then(|clause| tree::name_expr(self.file, &clause));
        match clause.as_ref().map(|clause| clause.text.as_str()) {
            Some("above") => return Origin::Above,
            Some("below") => return Origin::Below,
            Some(_) => {
                let place = clause.map_or(self.span, |clause| clause.span);
                let help = "write `from above` or `from below`";
                self.cx.error(codes::HANDLER_PARAMS, "own events have no flow", place, "unknown", help);
            }
            None => {}
        }
        let goes = |down: bool| {
            self.cx
                .emitted
                .iter()
                .any(|(layer, known, way)| *layer != self.layer && *known == name.text && *way == down)
        };
        match (own, goes(false), goes(true)) {
            (true, false, false) => Origin::Own,
            (_, false, true) => Origin::Above,
            _ => Origin::Below,
        }
    }
}

fn all_timers(layer: &Layer, object: Option<ObjectId>) -> Vec<String> {
    let own = object.and_then(|object| layer.objects.get(object.index())).map(|class| &class.members);
    let members = layer.scopes.iter().map(|scope| &scope.members).chain(own).flatten();
    members.filter(|member| matches!(member.kind, MemberKind::Timer)).map(|member| member.name.text.clone()).collect()
}

/// Events of back-pressure, which every layer knows.
fn grant(name: &Name) -> Option<(Carried, bool)> {
    let at = GRANTS.iter().position(|known| *known == name.text)?;
    let field = |text: &str| Field {
        name: Name { text: text.into(), span: name.span },
        ty: Type::UInt(32),
        big: None,
        common: None,
    };
    Some((Carried { name: name.clone(), params: vec![field("messages"), field("octets")] }, at == 1))
}
