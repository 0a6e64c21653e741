//! Heads of handlers: events and parameters.
//!
//! May assume: the layer's header, state and services. Keeps: every name in a head's parentheses is bound, so that the
//! body can use it.

mod deliver;
mod head;
mod own;
mod services;
mod shapes;

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode};

use crate::events::{DOWN, UP};
use crate::program::*;
use crate::resolve::body::terms::unknown;
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::expr;
use crate::resolve::layer::handlers::head::Head;
use crate::resolve::layer::reader::LayerReader;
use crate::{codes, suggest, tree};

/// Resolves the head of a handler; `None` if its event is not known.
pub fn read(reader: &mut LayerReader, object: Option<ObjectId>, tree: &ast::Handler) -> Option<Handler> {
    let (file, layer, part) = (reader.file, reader.id, reader.part);
    let span = match (tree.event(), tree::timer(file, tree)) {
        (Some(path), _) => path.span(file),
        (None, Some(name)) => name.span,
        (None, None) => return None,
    };
    let mut head = Head {
        cx: reader.cx,
        file,
        layer,
        part,
        object,
        tree,
        locals: Vec::new(),
        extra: Vec::new(),
        first: Vec::new(),
        span,
    };
    let event = event(&mut head)?;
    for name in std::mem::take(&mut head.extra) {
        if !head.locals.iter().any(|known| known.name.text == name.text) {
            head.bind(name, Type::Unknown);
        }
    }
    let (locals, body) = (head.locals, head.first);
    let scope = match (&event, object) {
        (_, Some(object)) => ScopeKind::Object(object),
        (Event::Expiry { timer }, None) => timer.scope,
        _ => ScopeKind::Entity,
    };
    Some(Handler { event, scope, locals, body, span })
}

/// Which special statements a handler of this event may contain.
pub fn role(event: &Event) -> Role {
    match event {
        Event::Start => Role::Start,
        // A session begins with one of these events.
        Event::Open { .. } | Event::Accepted { .. } => Role::Open,
        Event::Unmatched { .. } => Role::Unmatched,
        Event::Arrives { .. } => Role::Arrives,
        Event::Settle { .. } => Role::Settle,
        Event::Expiry { .. } => Role::Expiry,
        Event::Service { .. } | Event::Change { .. } | Event::Custom { from: Origin::Own, .. } => Role::Service,
        _ => Role::Other,
    }
}

/// Whether two handlers of a layer are for the same event.
pub fn same_event(a: &Handler, b: &Handler) -> bool {
    match (&a.event, &b.event) {
        (Event::Deliver { variant: x, .. }, Event::Deliver { variant: y, .. })
        | (Event::Arrives { variant: x, .. }, Event::Arrives { variant: y, .. }) => x == y,
        (Event::Expiry { timer: x }, Event::Expiry { timer: y }) => x.place() == y.place(),
        (Event::Service { service: x, operation: i, .. }, Event::Service { service: y, operation: j, .. }) => {
            (x, i) == (y, j)
        }
        (Event::Custom { name: x, .. }, Event::Custom { name: y, .. }) => x.text == y.text,
        (Event::Change { name: x }, Event::Change { name: y }) => x.text == y.text,
        (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
    }
}

fn event(head: &mut Head) -> Option<Event> {
    if let Some(timer) = tree::timer(head.file, head.tree) {
        return expiry(head, &timer);
    }
    let path = head.tree.event()?;
    let parts = tree::parts(head.file, &path);
    match parts.as_slice() {
        [_, name] if head.tree.is_change() => Some(bare(head, Event::Change { name: name.clone() })),
        [name] => plain(head, &name.clone()),
        [owner, name] => services::read(head, &owner.clone(), &name.clone()),
        _ => {
            let help = "write `on deliver(…)`, `on resolve.ask(…)`";
            head.cx.error(codes::UNKNOWN_EVENT, "no event has such a name", head.span, "unknown", help);
            None
        }
    }
}

fn plain(head: &mut Head, name: &Name) -> Option<Event> {
    let shape = head.this().shape;
    if head.object.is_some() {
        let text = "an object handles the expiry of its timers alone";
        head.cx.error(codes::EVENT_SHAPE, text, name.span, "not in an object", "write the handler in the layer");
        return None;
    }
    let known = DOWN.contains(&name.text.as_str()) || UP.contains(&name.text.as_str());
    shapes::shape_knows(head, shape, name);
    if known || matches!(name.text.as_str(), "start" | "unmatched" | "arrives" | "settle") {
        shapes::stray_clauses(head, name);
    }
    Some(match name.text.as_str() {
        "start" => bare(head, Event::Start),
        "send" => Event::Send { message: head.only_message()?, flow: head.flow(Side::Above) },
        "deliver" => return deliver::read(head),
        "arrives" => match deliver::read(head)? {
            Event::Deliver { message, variant, fields, flow } => Event::Arrives { message, variant, fields, flow },
            _ => return None,
        },
        "open" => Event::Open { flow: head.flow_param(Side::Above) },
        "listen" => Event::Listen { flow: head.flow_param(Side::Above) },
        "bind" => Event::Bind { flow: head.flow_param(Side::Above) },
        "unlisten" => Event::Unlisten { flow: head.flow_param(Side::Above) },
        "accepted" => Event::Accepted { flow: head.flow_param(Side::Below) },
        "opened" => bare(head, Event::Opened),
        "close" => bare(head, Event::Close),
        "abort" => bare(head, Event::Abort),
        "closed" => bare(head, Event::Closed),
        "failed" => failed(head),
        "unmatched" => Event::Unmatched { message: head.only_message()?, flow: head.flow(Side::Above) },
        "settle" => settle(head),
        _ => return own::read(head, name),
    })
}

/// An event without parameters.
fn bare(head: &mut Head, event: Event) -> Event {
    head.none();
    event
}

/// `failed`, `failed(reason)`, `failed(reason, quote) from flow`
fn failed(head: &mut Head) -> Event {
    let mut names = head.names(2).into_iter();
    let reason = names.next().map(|name| head.bind(name, Type::Reason));
    match (reason, names.next()) {
        (Some(reason), Some(quote)) => {
            let message = head.bind(quote, Type::Message);
            Event::FailedQuoting { reason, message, flow: head.flow(Side::Below) }
        }
        _ => Event::Failed { reason },
    }
}

fn settle(head: &mut Head) -> Event {
    head.none();
    let limit = match head.tree.limit() {
        Some(limit) => {
            expr::size(&mut Body::of_layer(head.cx, head.file, head.layer, BodyKind::Argument), Some(limit), head.span)
        }
        None => {
            let help = "write `on settle limit 8 { … }`: so often it may settle in one reaction";
            head.cx.error(codes::MISSING_ARGUMENT, "`settle` has no limit", head.span, "expected `limit`", help);
            unknown(head.span)
        }
    };
    Event::Settle { limit }
}

fn expiry(head: &mut Head, name: &Name) -> Option<Event> {
    head.none();
    let layer = head.this();
    let of = |members: &[Member]| position(members, &name.text);
    let found = match head.object {
        Some(object) => of(&layer.objects[object.index()].members).map(|member| (ScopeKind::Object(object), member)),
        None => {
            let own = head.part.and_then(|part| layer.parts[part].member(&name.text));
            own.or_else(|| layer.scopes.iter().find_map(|scope| Some((scope.kind, of(&scope.members)?))))
        }
    };
    let kind = found.and_then(|(scope, member)| layer.members(scope)?.get(member as usize));
    if let (Some((scope, member)), Some(known)) = (found, kind.filter(|known| matches!(known.kind, MemberKind::Timer)))
    {
        head.cx.mention(name, known.name.span);
        return Some(Event::Expiry { timer: StateRef { scope, member, object: None, span: name.span } });
    }
    // `Objects.timer`, or the timer alone.
    let (objects, own) = name.text.split_once('.').map_or((None, name.text.as_str()), |(of, own)| (Some(of), own));
    let owner = layer.objects.iter().filter(|class| objects.is_none_or(|of| class.name.text == of)).find(|class| {
        class.members.iter().any(|member| member.name.text == own && matches!(member.kind, MemberKind::Timer))
    });
    if let Some(owner) = owner {
        let text = format!("`{own}` is a timer of the objects `{}`, and expires there", owner.name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, text)
            .at(name.span, "of objects")
            .label(owner.name.span, "these objects")
            .help(format!(
                "write the handler within the object: `object {} … {{ … on expiry {} {{ … }} }}`",
                owner.name.text, own
            ));
        head.cx.report(diagnostic);
        return None;
    }
    let timers: Vec<String> = all_timers(layer, head.part, head.object);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no timer `{}` here", name.text))
        .at(name.span, "expected a timer");
    diagnostic.helps.extend(suggest::help(&name.text, timers.iter().map(String::as_str)));
    diagnostic
        .helps
        .push(format!("declare it: `session {{ timer {} }}`; an object's timers expire within the object", name.text));
    head.cx.report(diagnostic);
    None
}

/// The timers that a handler may name: of its object or part, and of the layer.
fn all_timers(layer: &Layer, part: Option<usize>, object: Option<ObjectId>) -> Vec<String> {
    let own = object.and_then(|object| layer.objects.get(object.index())).map(|class| &class.members);
    let members = layer.scopes.iter().map(|scope| &scope.members).chain(own).flatten();
    let timers = members.filter(|member| matches!(member.kind, MemberKind::Timer)).map(|member| &member.name.text);
    let seen = |name: &String| match layer.owner_of(name) {
        Owner::Part(of) if Some(of) == part => name.split_once('.').map(|(_, own)| own.to_string()),
        Owner::Part(_) => None,
        Owner::Layer(_) => Some(name.clone()),
    };
    timers.filter_map(seen).collect()
}
