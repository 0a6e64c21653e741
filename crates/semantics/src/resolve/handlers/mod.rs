//! Heads of handlers: which event, which parameters, and whether this shape knows it.

mod deliver;
mod operations;
mod own;

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode, Pattern};

use super::body::Role;
use super::{items, Context};
use crate::events::{DOWN, UP};
use crate::program::*;
use crate::{codes, suggest, tree};

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
        let quoted = self.tree.patterns().len() == 2;
        let has_sessions = self.this().scopes.iter().any(|scope| scope.kind == ScopeKind::Session);
        let never = match shape {
            Shape::Router => matches!(text, "open" | "close" | "abort" | "opened" | "accepted" | "closed" | "failed"),
            Shape::Multiplexor => matches!(text, "opened" | "accepted" | "closed") || text == "failed" && !quoted,
            Shape::Endpoint if !has_sessions => {
                matches!(text, "opened" | "accepted" | "closed") || text == "failed" && !quoted
            }
            _ => false,
        };
        if never {
            let (who, help) = match shape {
                Shape::Router => ("a router", "it has no sessions: put a worker or a multiplexor above it that has"),
                Shape::Multiplexor => (
                    "a multiplexor",
                    "it tells its own sessions: `on open`, `on close`; a worker above it hears the others",
                ),
                _ => ("an endpoint without sessions", "give it a `session` scope: `session { }`"),
            };
            let text = format!("`{text}` never comes to {who}");
            self.cx.error(codes::EVENT_SHAPE, text, name.span, "never runs", help);
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
        let of = |members: &[Member]| position(members, &name.text);
        let found = match self.object {
            Some(object) => {
                of(&layer.objects[object.index()].members).map(|member| (ScopeKind::Object(object), member))
            }
            None => layer.scopes.iter().find_map(|scope| Some((scope.kind, of(&scope.members)?))),
        };
        let kind = found.and_then(|(scope, member)| layer.members(scope)?.get(member as usize));
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
}

fn all_timers(layer: &Layer, object: Option<ObjectId>) -> Vec<String> {
    let own = object.and_then(|object| layer.objects.get(object.index())).map(|class| &class.members);
    let members = layer.scopes.iter().map(|scope| &scope.members).chain(own).flatten();
    members.filter(|member| matches!(member.kind, MemberKind::Timer)).map(|member| member.name.text.clone()).collect()
}
