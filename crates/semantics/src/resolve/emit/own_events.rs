//! Own events of layers, and events of vocabularies, which define types and directions.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::events::{DOWN, GRANTS, UP};
use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr;
use crate::signature::Carried;
use crate::{codes, lost, suggest};

/// An own event; its parameters are those of a handler of that name, if there is one.
pub(super) fn read(body: &mut Body, name: &Name, event: &str, down: bool, args: &[ast::Arg]) -> Option<Emission> {
    if is_never_emitted_so(body, name, event, down) {
        return None;
    }
    let spoken = body.view.layer.and_then(|layer| spoken(body.cx, layer, event));
    if let Some((known, goes_down)) = spoken.as_ref().filter(|(_, goes_down)| *goes_down != down) {
        wrong_direction(body.cx, known, *goes_down, name.span, true);
        return None;
    }
    let types = match &spoken {
        Some((known, _)) => Some(known.params.iter().map(|param| param.ty).collect()),
        None if GRANTS.contains(&event) => Some(vec![Type::UInt(32), Type::UInt(32)]),
        None => event_types(body.cx, event),
    };
    if types.is_none() && is_misspelt(body, name, down) {
        args.iter().filter_map(|arg| arg.value()).for_each(|value| drop(expr::infer(body, &value, None)));
        return None;
    }
    for label in args.iter().filter_map(|arg| arg.name()) {
        let place = body.span(&label);
        let help = "leave the name out: they are given in the order of the handler's";
        body.error(
            codes::UNKNOWN_PARAMETER,
            format!("what `{event}` takes has no names here"),
            place,
            "not here",
            help,
        );
    }
    let values: Vec<Tree> = args.iter().filter_map(|arg| arg.value()).collect();
    if let Some(types) = types.as_ref().filter(|types| types.len() != values.len()) {
        let text = format!("handlers of `{event}` take {} parameters, not {}", types.len(), values.len());
        let diagnostic =
            Diagnostic::error(codes::WRONG_COUNT, text).at(name.span, "here").loses(lost::arguments(name.span));
        let names = match &spoken {
            Some((known, _)) => known.params.iter().map(|param| param.name.text.clone()).collect(),
            None if GRANTS.contains(&event) => vec!["messages".to_string(), "octets".to_string()],
            None => event_names(body.cx, event),
        };
        let side = if down { "below" } else { "above" };
        body.report(diagnostic.help(format!("give one value for each: `{side}.{event}({})`", names.join(", "))));
    }
    let said = body.cx.out.len();
    let args: Vec<Expr> = values
        .iter()
        .enumerate()
        .map(|(index, value)| match types.as_ref().and_then(|types| types.get(index)) {
            Some(ty) => expr::value(body, value, *ty),
            None => expr::infer(body, value, None),
        })
        .collect();
    lost::if_there(&mut body.cx.out[said..], &lost::arguments(name.span));
    if down {
        message_to_all(body, event, &args);
    }
    Some(Emission::Custom { name: name.clone(), down, args })
}

/// Reports an event of the language that goes in the other direction, or that the layer itself receives; returns
/// whether it is one.
fn is_never_emitted_so(body: &mut Body, name: &Name, event: &str, down: bool) -> bool {
    let wrong_way = if down { UP.contains(&event) } else { DOWN.contains(&event) };
    if !wrong_way && !matches!(event, "start" | "settle" | "expiry" | "unmatched") {
        return false;
    }
    let (side, way) = if down { ("above", "up") } else { ("below", "down") };
    let (text, help) = match wrong_way {
        true => (format!("`{event}` goes {way}"), format!("write `{side}.{event}(…)`")),
        false => (format!("`{event}` is never emitted"), "the layer itself gets it".to_string()),
    };
    body.error(codes::WRONG_WAY, text, name.span, "not this way", &help);
    true
}

/// Reports a message in an event that goes to all layers below.
fn message_to_all(body: &mut Body, event: &str, args: &[Expr]) {
    let Some(several) = body.this_layer().and_then(|layer| layer.several.clone()) else { return };
    if let Some(message) = args.iter().find(|arg| arg.ty == Type::Message) {
        let help = format!("send it one way: `below.send(msg) to flow({}: i)`", several.text);
        let text = format!("`{event}` goes to all layers below, and a message has one way");
        body.error(codes::TO_ALL_BELOW, text, message.span, "given to several", &help);
    }
}

/// `below.sned(msg)`: similar to an event of the language, and no layer handles it. Reported here once, not in each
/// stack.
fn is_misspelt(body: &mut Body, name: &Name, down: bool) -> bool {
    let known = if down { &DOWN[..] } else { &UP[..] };
    let near = suggest::nearest(&name.text, known.iter().copied());
    if let Some(near) = near {
        let text = format!("no layer handles an event `{}`", name.text);
        body.error(codes::UNKNOWN_EVENT, text, name.span, "unknown", &format!("did you mean `{near}`?"));
    }
    near.is_some()
}

/// The parameters of an own event, from the first handler for it.
fn event_params<'a>(cx: &'a Context, event: &str) -> Option<Vec<&'a Local>> {
    cx.program.layers.iter().flat_map(|layer| &layer.handlers).find_map(|handler| match &handler.event {
        Event::Custom { name, params, .. } if name.text == event => {
            Some(params.iter().map(|local| &handler.locals[local.index()]).collect())
        }
        _ => None,
    })
}

fn event_types(cx: &Context, event: &str) -> Option<Vec<Type>> {
    Some(event_params(cx, event)?.iter().map(|local| local.ty).collect())
}

fn event_names(cx: &Context, event: &str) -> Vec<String> {
    event_params(cx, event).unwrap_or_default().iter().map(|local| local.name.text.clone()).collect()
}

/// An event of a vocabulary that the layer speaks, and whether it goes down.
pub fn spoken(cx: &Context, layer: LayerId, event: &str) -> Option<(Carried, bool)> {
    let speaks = &cx.program.layers.get(layer.index())?.speaks;
    speaks.iter().find_map(|(id, _)| {
        let vocabulary = &cx.program.vocabularies[id.index()];
        let find = |list: &[Carried]| list.iter().find(|known| known.name.text == event).cloned();
        let down = find(&vocabulary.down).map(|known| (known, true));
        down.or_else(|| find(&vocabulary.up).map(|known| (known, false)))
    })
}

/// Reports an event of a vocabulary in the wrong direction; it has only one.
pub fn wrong_direction(cx: &mut Context, known: &Carried, down: bool, span: Span, emitted: bool) {
    let (way, side) = if down { ("down", "above") } else { ("up", "below") };
    let name = &known.name.text;
    let help = match (emitted, down) {
        (true, true) => format!("write `below.{name}(…)`"),
        (true, false) => format!("write `above.{name}(…)`"),
        (false, _) => format!("it comes from {side}: leave `from` out"),
    };
    let diagnostic = Diagnostic::error(codes::VOCABULARY_WAY, format!("`{name}` goes {way}"))
        .at(span, "not this way")
        .label(known.name.span, format!("declared as going {way}"))
        .help(help);
    cx.report(diagnostic);
}
