//! The other events of the language: deliveries, openings, failures, replies.

use mokume_base::Span;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::context::Item;
use crate::resolve::emit::clauses::Clauses;
use crate::resolve::emit::send;
use crate::resolve::expr;
use crate::resolve::expr::{flows, messages, names, positional};
use crate::{codes, tree};

/// `above.deliver(msg) from flow`
pub(super) fn deliver(body: &mut Body, args: &[ast::Arg], clauses: &Clauses, span: Span) -> Option<Emission> {
    let mut values = args.iter().filter_map(|arg| Some((arg.name(), arg.value()?)));
    let Some((None, first)) = values.next() else {
        body.error(
            codes::MISSING_ARGUMENT,
            "`deliver` needs a message",
            span,
            "missing here",
            "write `above.deliver(msg)`",
        );
        return None;
    };
    if let Some((label, extra)) = values.next() {
        let place = body.span(&extra);
        let label = label.map(|label| tree::path(body.file, &label));
        let attribute =
            label.as_ref().is_some_and(|name| matches!(body.cx.item_at(body.file, name), Some(Item::Attribute(_))));
        let help = match (label, &first) {
            (Some(name), ast::Expr::Name(message)) => {
                let (name, message) = (name.text.as_str(), message.syntax().text().to_string());
                let declared = match attribute {
                    true => String::new(),
                    false => format!("`attribute {name}: u8 = 0` in the file, "),
                };
                format!(
                    "beside a message goes an attribute: {declared}`writes {name}` in this layer, `{message}.{name} = …` \
                     before; the layer above `reads {name}`"
                )
            }
            _ => "the layer above sees the message alone; what it may know is an attribute or is published".to_string(),
        };
        body.error(codes::WRONG_COUNT, "`deliver` takes the message alone", place, "one too many", &help);
    }
    let message = messages::given(body, &first);
    let from = clauses.from.as_ref().map(|from| expr::value(body, from, Type::Flow(Side::Above)));
    if from.is_none() && body.shape() == Some(Shape::Router) && !body.this_layer().is_some_and(Layer::chooses) {
        let help = "write `above.deliver(msg) from flow(local: …, remote: …)`";
        body.error(codes::NO_FLOW, "a router says which flow it delivers from", span, "not said here", help);
    }
    Some(Emission::Deliver { message, from })
}

/// `below.open(…)`, `listen`, `bind`, `unlisten`: a flow, and the values that `open` and `listen` pass.
pub(super) fn opening(body: &mut Body, name: &Name, args: &[ast::Arg], span: Span) -> Emission {
    let (given, parts): (Vec<&ast::Arg>, Vec<&ast::Arg>) = args.iter().partition(|arg| {
        let label = arg.name().map(|label| tree::path(body.file, &label));
        label.is_some_and(|label| given_type(body, &name.text, &label.text).is_some())
    });
    let parts: Vec<ast::Arg> = parts.into_iter().cloned().collect();
    let mut values: Vec<(Name, Expr)> = Vec::new();
    for arg in given {
        let (Some(label), Some(value)) = (arg.name(), arg.value()) else { continue };
        let label = tree::path(body.file, &label);
        if let Some((first, _)) = values.iter().find(|(first, _)| first.text == label.text) {
            let first = first.span;
            body.cx.given_twice(&format!("`{}`", label.text), label.span, first);
            continue;
        }
        let ty = given_type(body, &name.text, &label.text).unwrap_or(Type::Unknown);
        values.push((label, expr::value(body, &value, ty)));
    }
    let flow = if body.shape() == Some(Shape::Worker) {
        let text = format!("a worker does not `{}`: it sees no addresses", name.text);
        let help = "the layer above opens; `pass` lets its event go on";
        body.error(codes::HIDDEN_FLOW, text, name.span, "not for a worker", help);
        unknown(span)
    } else {
        flows::of_side(body, &parts, Side::Below, span)
    };
    match name.text.as_str() {
        "open" => Emission::Open { flow, args: values },
        "listen" => Emission::Listen { flow, args: values },
        "bind" => Emission::Bind { flow },
        _ => Emission::Unlisten { flow },
    }
}

/// The type of a value that some layer asks for by `from open` or `from listen`; `None` if the name is a part of a
/// flow. The stack is not known here, and layers of other files may use the name for something else, so the nearest
/// layer with the name decides.
fn given_type(body: &Body, event: &str, name: &str) -> Option<Type> {
    let layers = body.cx.program.layers.iter().enumerate();
    let known = layers.filter_map(|(at, layer)| {
        let mut parts = layer.key.iter().flat_map(|key| &key.fields).chain(&layer.address);
        let is_part = parts.any(|field| field.name.text == name);
        let ty = if is_part { None } else { Some(asked_type(layer, event, name)?) };
        Some((distance(body, at, layer), ty))
    });
    // A part of a flow wins over a value.
    known.min_by_key(|(distance, ty)| (*distance, ty.is_some()))?.1
}

/// How near a layer is to the current code: in its file, visible there by name, or elsewhere.
fn distance(body: &Body, at: usize, layer: &Layer) -> u32 {
    if layer.name.span.file == body.file {
        return 0;
    }
    let is_known = body.cx.item(body.file, &layer.name.text) == Some(Item::Layer(LayerId(at as u32)));
    match is_known {
        true => 1,
        false => 2,
    }
}

/// The type of the value that a layer asks for by this name.
fn asked_type(layer: &Layer, event: &str, name: &str) -> Option<Type> {
    let asked = match event {
        "open" => &layer.given,
        "listen" => &layer.listened,
        _ => return None,
    };
    match layer.asked(asked).find(|(_, member)| member.name.text == name)?.1.kind {
        MemberKind::Var { ty, .. } => Some(ty),
        _ => None,
    }
}

/// `reply(msg)` in `unmatched`; outer `None` if the call is another one.
pub fn reply(body: &mut Body, call: &ast::CallExpr, span: Span) -> Option<Option<StmtKind>> {
    let name = tree::name_expr(body.file, &call.callee()?)?;
    let own = body.this_layer()?.functions.iter().any(|function| function.name.text == name.text);
    if name.text != "reply" || own {
        return None;
    }
    if body.kind == BodyKind::Handler(Role::Arrives) {
        let emission = send::send(body, &call.args(), &Clauses { to: None, from: None }, span);
        return Some(Some(StmtKind::Emit(emission)));
    }
    if body.kind != BodyKind::Handler(Role::Unmatched) {
        let help = "it answers a message that nobody matched: `on unmatched(msg) { … }`; elsewhere `below.send(…)`";
        body.error(codes::MISPLACED, "nothing is replied here", span, "not in `unmatched`", help);
        return Some(None);
    }
    let values = positional::counted(body, "reply", &call.args(), 1, span);
    let message = values.map(|values| messages::given(body, &values[0]));
    if let Some(header) = body.this_layer().and_then(|layer| layer.header.clone()) {
        let field = header.variants.first().and_then(|variant| variant.fields.first());
        let field = field.map_or("…".to_string(), |field| format!("{}: …", field.name.text));
        let text = "this layer says more to its peer than the key";
        let help = format!("write `below.send(msg, {field})`, which goes to the flow at hand");
        body.error(codes::HEADER_FIELDS, text, span, "and not here", &help);
        return Some(None);
    }
    let send = message.map(|message| Emission::Send { message: Some(message), fields: None, to: None });
    Some(send.map(StmtKind::Emit))
}

/// `above.failed(reason, quote) from flow(…)`
pub(super) fn failed_flow(body: &mut Body, args: &[ast::Arg], clauses: &Clauses, span: Span) -> Option<Emission> {
    let name = tree::name_expr(body.file, &args[0].value()?)?;
    body.note(&name);
    let known = names::reason(body, &name);
    let reason = known.unwrap_or_else(|| make(ExprKind::Reason(name.clone()), Type::Reason, name.span));
    let quote = messages::given(body, &args[1].value()?);
    let Some(from) = &clauses.from else {
        let help = "write `above.failed(reason, quote) from flow(…)`; a handler that was told passes it on by `pass`";
        body.error(codes::NO_FLOW, "of which flow is this quoted?", span, "not said here", help);
        return None;
    };
    let from = expr::value(body, from, Type::Flow(Side::Above));
    Some(Emission::FailedFlow { reason, quote, from })
}

/// `above.failed(reason)`
pub(super) fn failed(body: &mut Body, args: &[ast::Arg], span: Span) -> Option<Emission> {
    let reason = args.first().and_then(|arg| arg.value()).and_then(|value| tree::name_expr(body.file, &value));
    let Some(reason) = reason else {
        body.error(
            codes::MISSING_ARGUMENT,
            "`failed` needs a reason",
            span,
            "missing here",
            "write `above.failed(timed_out)`",
        );
        return None;
    };
    body.note(&reason);
    Some(match names::reason(body, &reason) {
        Some(reason) => Emission::FailedAs { reason },
        None => Emission::Failed { reason },
    })
}
