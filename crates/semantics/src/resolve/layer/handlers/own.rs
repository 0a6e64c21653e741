//! Own events of layers: of a vocabulary, of `later`, of any other name; their origin and parameters.

use std::collections::BTreeSet;

use mokume_base::Diagnostic;
use mokume_syntax::ast::{self, AstNode, Pattern};

use crate::events::{DOWN, GRANTS, UP};
use crate::program::*;
use crate::resolve::context::{Context, Item};
use crate::resolve::emit::own_events;
use crate::resolve::expr::{annotations, fixed};
use crate::resolve::layer::handlers::head::Head;
use crate::resolve::layer::handlers::services;
use crate::signature::{Carried, Vocabulary};
use crate::{codes, lost, suggest, tree, types};

/// The room for `later` events of a handler that does not give one.
const LATER_ROOM: u32 = 16;

/// An event of the layers' own.
pub(super) fn read(head: &mut Head, name: &Name) -> Option<Event> {
    let spoken = own_events::spoken(head.cx, head.layer, &name.text).or_else(|| grant(name));
    let emitted = spoken.is_some() || head.cx.said.emitted.iter().any(|(_, known, _)| *known == name.text);
    let own = has_later(head.cx, head.layer, &name.text);
    if spoken.is_none()
        && !own
        && (is_unspoken(head, name) || is_timer(head, name) || !emitted && is_alternative(head, name))
    {
        return None;
    }
    if !emitted && !own && is_strange(head, name) {
        return None;
    }
    let from = match &spoken {
        Some((_, true)) => Origin::Above,
        Some((_, false)) => Origin::Below,
        None => origin(head, name, own),
    };
    said_origin(head, &spoken);
    let later_capacity = room(head);
    let params = params(head, own, spoken.as_ref().map(|(known, _)| known));
    count_spoken(head, name, params.len(), &spoken);
    Some(Event::Custom { name: name.clone(), from, params, later_capacity })
}

fn has_untyped(head: &Head) -> bool {
    let untyped = |pattern: &Pattern| !matches!(pattern, Pattern::Param(param) if param.ty().is_some());
    head.tree.patterns().iter().any(untyped)
}

/// Whether the missing types are those of a vocabulary that the file sees and the layer does not speak; then reports.
fn is_unspoken(head: &mut Head, name: &Name) -> bool {
    if !has_untyped(head) {
        return false;
    }
    let seen = |cx: &Context, vocabulary: &Vocabulary| {
        let item = cx.item_at(head.file, &vocabulary.name);
        let events = vocabulary.down.iter().chain(&vocabulary.up);
        matches!(item, Some(Item::Vocabulary(_))) && events.into_iter().any(|known| known.name.text == name.text)
    };
    let Some(known) = head.cx.program.vocabularies.iter().find(|known| seen(head.cx, known)) else { return false };
    let (of, declared, layer) = (known.name.text.clone(), known.name.span, head.this().name.span);
    let text = format!("`{}` is an event of the vocabulary `{of}`, which this layer does not speak", name.text);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text).at(name.span, "not known without it");
    let diagnostic = diagnostic.label(declared, "the vocabulary").help(format!("add `speaks {of}` to the layer"));
    let diagnostic = diagnostic.loses(lost::within(layer, &format!("what goes up by {of}")));
    head.cx.report(diagnostic.lacks(lost::within(layer, &format!("speaks {of}"))));
    true
}

/// Whether the name is that of a timer of the layer; then reports.
fn is_timer(head: &mut Head, name: &Name) -> bool {
    let layer = head.this();
    let timer = |member: &Member| matches!(member.kind, MemberKind::Timer) && member.name.text == name.text;
    let declared = layer.all_members().flat_map(|(_, members)| members).find(|member| timer(member));
    let Some(declared) = declared.map(|member| member.name.span) else { return false };
    let text = format!("there is no event `{}`: that is a timer", name.text);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text).at(name.span, "nobody emits it");
    let help = format!("write `on expiry {} {{ … }}`", name.text);
    head.cx.report(diagnostic.label(declared, "the timer").help(help));
    true
}

/// Whether the name is that of an alternative of the header, which only `deliver` brings; then reports.
fn is_alternative(head: &mut Head, name: &Name) -> bool {
    let header = head.this().header.as_ref();
    let Some(variant) = header.and_then(|header| header.variants.iter().find(|known| known.name.text == name.text))
    else {
        return false;
    };
    let fields: Vec<&str> = variant.fields.iter().map(|field| field.name.text.as_str()).collect();
    let given =
        if fields.is_empty() { name.text.clone() } else { format!("{} {{ {} }}", name.text, fields.join(", ")) };
    let shown = if variant.with_message { format!("msg, {given}") } else { given };
    let text = format!("there is no event `{}`: that is an alternative of the header", name.text);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text)
        .at(name.span, "nobody emits it")
        .label(variant.name.span, "the alternative")
        .help(format!("what comes from the other end is delivered: write `on deliver({shown}) {{ … }}`"));
    head.cx.report(diagnostic);
    true
}

/// Whether an event that no layer emits is meant as another; then reports.
fn is_strange(head: &mut Head, name: &Name) -> bool {
    let known = DOWN.iter().chain(&UP).chain(&["start", "settle", "unmatched"]).copied();
    if let Some(near) = suggest::nearest(&name.text, known) {
        let text = format!("there is no event `{}`", name.text);
        head.cx.error(codes::UNKNOWN_EVENT, text, name.span, "nobody emits it", &format!("did you mean `{near}`?"));
        return true;
    }
    if let Some((whole, thing)) = of_a_service(head, &name.text) {
        let text = format!("there is no event `{}`: that is an operation of a service", name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text).at(name.span, "of which service?");
        head.cx.report(diagnostic.loses(thing).help(format!("write `on {whole}(…)`")));
        return true;
    }
    let ours = of_other_languages(&name.text);
    let foreign = has_untyped(head) || head.tree.patterns().is_empty() && ours.is_some();
    if foreign {
        foreign_event(head, name, ours);
    }
    foreign
}

/// An operation that the layer receives, with the service's name in it, and the thing that is missing without it.
fn of_a_service(head: &Head, operation: &str) -> Option<(String, mokume_base::Thing)> {
    let (layer, program) = (head.this(), &head.cx.program);
    let comes = |service: ServiceId, out: bool| {
        let operations = &program.services.get(service.index())?.operations;
        operations.iter().find(|known| known.name.text == operation && known.out == out).map(|known| known.name.span)
    };
    let served = layer.serves.iter().find_map(|id| {
        let name = tree::snake_case(&program.services.get(id.index())?.name.text);
        Some((format!("{name}.{operation}"), comes(*id, false)?))
    });
    let used =
        || layer.uses.iter().find_map(|(id, alias)| Some((format!("{}.{operation}", alias.text), comes(*id, true)?)));
    let (whole, declared) = served.or_else(used)?;
    Some((whole, lost::within(declared, "handled")))
}

/// Our event for a word of other languages.
fn of_other_languages(word: &str) -> Option<&'static str> {
    Some(match word {
        "receive" | "received" | "recv" | "rx" | "input" | "incoming" | "indication" | "packet" | "frame" | "data" => {
            "deliver"
        }
        "transmit" | "tx" | "output" | "outgoing" | "request" | "write" => "send",
        "timeout" | "timer" | "expire" | "expired" | "alarm" | "tick" => "expiry t",
        "init" | "begin" | "setup" | "create" | "boot" => "start",
        "connect" => "open",
        "connected" | "established" => "opened",
        "accept" | "incoming_session" => "accepted",
        "disconnect" | "shutdown" | "shut" => "close",
        "disconnected" => "closed",
        "error" | "failure" => "failed",
        "changed" | "changes" | "changing" => "change below.x",
        _ => return None,
    })
}

/// The room for `later` events.
fn room(head: &mut Head) -> u32 {
    let Some(room) = head.tree.later() else { return LATER_ROOM };
    let number = fixed::number(head.cx, head.file, &room, Type::UInt(32));
    if number == Some(0) {
        let text = "nothing has room or runs here: the number is 0";
        let place = room.span(head.file);
        head.cx.error(codes::EMPTY_SIZE, text, place, "zero", "write how many there are at most");
    }
    number.unwrap_or(0) as u32
}

fn params(head: &mut Head, own: bool, spoken: Option<&Carried>) -> Vec<LocalId> {
    let mut params = Vec::new();
    for pattern in head.tree.patterns() {
        let Pattern::Param(param) = pattern else {
            let place = pattern.span(head.file);
            let help = "write `name: Type`";
            head.cx.error(codes::HANDLER_PARAMS, "own events have plain parameters", place, "no alternative", help);
            continue;
        };
        let Some(mut name) = tree::some_name(head.file, param.name()) else { continue };
        if let (Some(spoken), Some(ty)) = (spoken, param.ty().filter(services::is_a_name)) {
            name = renamed(head, &ty, spoken);
            let ty = spoken.params.get(params.len()).map_or(Type::Unknown, |known| known.ty);
            params.push(head.bind(name, ty));
            continue;
        }
        // Without a type, it has that of the arguments of `later`.
        let known = spoken.and_then(|known| known.params.get(params.len())).map(|known| known.ty);
        let ty = match (param.ty(), known) {
            (None, Some(known)) => known,
            (None, None) if own => Type::Unknown,
            (ty, known) => as_spoken(head, &name, ty, known),
        };
        let local = head.bind(name, ty);
        head.locals[local.index()].written = annotations::notation(head.cx, head.file, param.ty());
        params.push(local);
    }
    params
}

/// `on pace(every: mine)`: renaming, as for fields of headers, is not allowed; reports it, and returns the name that is
/// meant.
fn renamed(head: &mut Head, ty: &ast::Type, spoken: &Carried) -> Name {
    let name = Name { text: services::place_text(ty), span: ty.span(head.file) };
    let names: Vec<String> = head
        .tree
        .patterns()
        .iter()
        .filter_map(|pattern| match pattern {
            Pattern::Param(param) => match param.ty() {
                Some(ty) if services::is_a_name(&ty) => Some(services::place_text(&ty)),
                _ => param.name().map(|name| name.text()),
            },
            _ => None,
        })
        .collect();
    let text = format!("`{}` is no type: parameters are taken in order, by any name", name.text);
    let help = format!("write `on {}({})`", spoken.name.text, names.join(", "));
    head.cx.error(codes::HANDLER_PARAMS, text, name.span, "a name of its own", &help);
    name
}

/// `on receive(msg)`: an event of the language is meant, whose parameters have known types.
fn foreign_event(head: &mut Head, name: &Name, ours: Option<&str>) {
    let text = format!("there is no event `{}`", name.text);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_EVENT, text).at(name.span, "nobody emits it");
    let diagnostic = match ours {
        Some(ours) => diagnostic.help(format!("write `on {ours}`")),
        None => diagnostic.help("messages come by `on send(msg)` from above, by `on deliver(msg)` from below"),
    };
    let own = format!("an event of the layers' own says its types: `on {}(msg: Message)`", name.text);
    head.cx.report(diagnostic.help(own));
}

/// Checks the written type of a parameter against that of the vocabulary.
fn as_spoken(head: &mut Head, name: &Name, ty: Option<ast::Type>, known: Option<Type>) -> Type {
    let ty = annotations::of_param(head.cx, head.file, name, ty);
    match known {
        Some(known) if !types::same(known, ty) => {
            let (is, wanted) = (head.cx.show(ty), head.cx.show(known));
            let text = format!("`{}` is {wanted} in the vocabulary, not {is}", name.text);
            head.cx.error(codes::MISMATCH, text, name.span, "another type", "leave the type out");
            known
        }
        _ => ty,
    }
}

fn count_spoken(head: &mut Head, name: &Name, count: usize, spoken: &Option<(Carried, bool)>) {
    let Some((known, _)) = spoken.as_ref().filter(|(known, _)| known.params.len() != count) else { return };
    let text = format!("`{}` has {} parameters, not {count}", name.text, known.params.len());
    let diagnostic = Diagnostic::error(codes::WRONG_COUNT, text)
        .at(name.span, "here")
        .label(known.name.span, "as the vocabulary says")
        .help("name all of them");
    head.cx.report(diagnostic);
}

/// Checks a `from` against the vocabulary's direction; it is not needed.
fn said_origin(head: &mut Head, spoken: &Option<(Carried, bool)>) {
    let clause = head.tree.from().and_then(|clause| tree::name_expr(head.file, &clause));
    let (Some(clause), Some((known, down))) = (clause, spoken) else { return };
    if clause.text != if *down { "above" } else { "below" } {
        own_events::wrong_direction(head.cx, known, *down, clause.span, false);
    }
}

/// The origin of an own event: from its `from`, or from the layers that emit it.
fn origin(head: &mut Head, name: &Name, own: bool) -> Origin {
    let clause = head.tree.from().and_then(|clause| tree::name_expr(head.file, &clause));
    match clause.as_ref().map(|clause| clause.text.as_str()) {
        Some("above") => return Origin::Above,
        Some("below") => return Origin::Below,
        Some(_) => {
            let place = clause.map_or(head.span, |clause| clause.span);
            let help = "write `from above` or `from below`";
            head.cx.error(codes::HANDLER_PARAMS, "own events have no flow", place, "unknown", help);
        }
        None => {}
    }
    let goes = |down: bool| {
        head.cx
            .said
            .emitted
            .iter()
            .any(|(layer, known, way)| *layer != head.layer && *known == name.text && *way == down)
    };
    match (own, goes(false), goes(true)) {
        (true, false, false) => Origin::Own,
        (_, false, true) => Origin::Above,
        _ => Origin::Below,
    }
}

/// An event of back-pressure, which every layer knows.
fn grant(name: &Name) -> Option<(Carried, bool)> {
    let at = GRANTS.iter().position(|known| *known == name.text)?;
    let field = |text: &str| Field {
        name: Name { text: text.into(), span: name.span },
        ty: Type::UInt(32),
        big: None,
        common: None,
        written: None,
    };
    Some((
        Carried {
            name: name.clone(),
            params: vec![field("messages"), field("octets")],
            optional: false,
            of_all: false,
            begins: false,
            ends: false,
        },
        at == 1,
    ))
}

/// Whether the layer's code contains `later NAME(…)`.
fn has_later(cx: &mut Context, layer: LayerId, name: &str) -> bool {
    let trees = &cx.trees;
    let said = cx.said.later.entry(layer).or_insert_with(|| {
        let Some((file, tree)) = trees.layers.get(layer.index()) else { return BTreeSet::new() };
        let laters = tree.syntax().descendants().filter_map(ast::LaterStmt::cast);
        laters.filter_map(|later| Some(tree::some_name(*file, later.event())?.text)).collect()
    });
    said.contains(name)
}
