//! Parts of flows by name: their types, and which shape may use which part. Reads no tree but the names.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::Expr as Tree;

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::context::{Context, Item};
use crate::resolve::expr::names;
use crate::{codes, suggest, tree};

/// The type of the part of a lower flow that chooses one of several layers below.
pub(crate) const WHICH: Type = Type::UInt(8);

/// `flow.local.host`, `flow.remote.port`, `flow.protocol`; `None` if `base` is not a flow.
pub(super) fn read(body: &mut Body, base: &Tree, name: &Name, span: Span) -> Option<Expr> {
    let (owner, end) = match base {
        Tree::Field(field) => (field.base()?, tree::some_name(body.file, field.name())),
        _ => (base.clone(), None),
    };
    let owner = tree::name_expr(body.file, &owner)?;
    let (kind, side) = match body.locals.find(&owner.text) {
        Some(local) => match body.locals.ty(local) {
            Type::Flow(side) => (ExprKind::Local(local), side),
            _ => return None,
        },
        None if owner.text == "flow" && body.find_state("flow").is_none() && names::is_at_hand(body) => {
            (ExprKind::FlowHere, Side::Above)
        }
        None => return None,
    };
    let flow = Box::new(make(kind, Type::Flow(side), owner.span));
    let remote = match end.as_ref().map(|end| end.text.as_str()) {
        Some("local") => false,
        Some("remote") => true,
        Some(_) => return None,
        None if matches!(name.text.as_str(), "local" | "remote") => {
            let help = format!("name a part of it: `{}.{}.host`", owner.text, name.text);
            body.error(codes::UNKNOWN_FLOW_PART, "an end of a flow is no value", span, "several parts", &help);
            return Some(unknown(span));
        }
        None => false,
    };
    let ty = part_type(body, name, side, end.is_some());
    Some(make(ExprKind::FlowPart { flow, remote, field: name.clone() }, ty, span))
}

/// The type of a part that makes a flow, or of an end's only part, after checking that this shape may give it.
pub(super) fn given_type(body: &mut Body, part: Option<&Name>, side: Side, first: &Name, of_endpoint: bool) -> Type {
    if body.shape() == Some(Shape::Worker) {
        hidden_part(body, part.unwrap_or(first), "a worker makes no flow", "let a router or endpoint do it");
        return Type::Unknown;
    }
    match part {
        Some(part) => part_type(body, part, side, of_endpoint),
        None => only_part(body, side, first.span),
    }
}

/// The type of a flow's part, after checking that this shape may use it; `of_endpoint`: it is of one of the flow's two
/// ends.
fn part_type(body: &mut Body, name: &Name, side: Side, of_endpoint: bool) -> Type {
    match body.shape() {
        None => Type::Unknown,
        // The flows above a worker are those below it.
        Some(Shape::Worker) => address_part(body, name, Side::Below, of_endpoint),
        Some(Shape::Multiplexor) => key_part(body, name, of_endpoint),
        Some(Shape::Router) => address_part(body, name, side, of_endpoint),
        Some(Shape::Endpoint) => any_part(body, name).unwrap_or(Type::Unknown),
    }
}

fn type_in(cx: &Context, fields: &[Field], name: &Name) -> Option<Type> {
    let field = fields.iter().find(|field| field.name.text == name.text)?;
    cx.mention(name, field.name.span);
    Some(field.ty)
}

/// A part of a multiplexor's key.
fn key_part(body: &mut Body, name: &Name, of_endpoint: bool) -> Type {
    let key = body.this_layer().and_then(|layer| layer.key.as_ref());
    let symmetric = key.is_some_and(|key| key.symmetric);
    let Some(own) = key.and_then(|key| type_in(body.cx, &key.fields, name)) else {
        let help = "let a router or endpoint look at the rest";
        hidden_part(body, name, "a multiplexor sees its own key alone", help);
        return Type::Unknown;
    };
    if !symmetric && !of_endpoint {
        let text = format!("`{}` is a part of both ends", name.text);
        let help = format!("write `flow.local.{}` or `flow.remote.{}`", name.text, name.text);
        body.error(codes::UNKNOWN_FLOW_PART, text, name.span, "which end?", &help);
    }
    own
}

/// A part of a router's addresses: those that it adds above, or needs from below; or of what a worker asks for.
fn address_part(body: &mut Body, name: &Name, side: Side, of_endpoint: bool) -> Type {
    let Some(layer) = body.this_layer() else { return Type::Unknown };
    let (fields, what) = match side {
        Side::Above => (&layer.address, "the `address` it makes"),
        Side::Below => (&layer.below_address, "the `below address` it asks for"),
    };
    let which = layer.several.as_ref().filter(|_| side == Side::Below && !of_endpoint);
    if which.is_some_and(|which| which.text == name.text) {
        return WHICH;
    }
    if let Some(own) = type_in(body.cx, fields, name) {
        return own;
    }
    let mut known: Vec<&str> = fields.iter().map(|field| field.name.text.as_str()).collect();
    known.extend(which.map(|which| which.text.as_str()));
    let who = if layer.shape == Shape::Router { "router" } else { "worker" };
    let text = match layer.shape == Shape::Worker && fields.is_empty() {
        true => "a worker sees the parts of flows that it asks for, and this one asks for none".to_string(),
        false => format!("a {who} sees {what}, and that has no `{}`", name.text),
    };
    let mut diagnostic = Diagnostic::error(codes::HIDDEN_FLOW, text)
        .at(name.span, "not seen here")
        .lacks(body.named(&format!("{} {side:?}", name.text)));
    let help = suggest::help(&name.text, known.iter().copied())
        .or_else(|| (!known.is_empty()).then(|| format!("it sees {}", suggest::list(&known))));
    let declared = if side == Side::Above { "address" } else { "below address" };
    let ask = || format!("ask for it in the {who}: `{declared} {{ {}: u32 }}`, of its type", name.text);
    diagnostic.helps.push(help.unwrap_or_else(ask));
    body.report(diagnostic);
    Type::Unknown
}

fn hidden_part(body: &mut Body, name: &Name, why: &str, help: &str) {
    body.error(codes::HIDDEN_FLOW, why, name.span, "a part of a flow", help);
}

/// The type of a part that some layer adds; layers that this file sees by name win.
fn any_part(body: &mut Body, name: &Name) -> Option<Type> {
    if let Some(ty) = seen_part(body, name) {
        return Some(ty);
    }
    let layers = &body.cx.program.layers;
    let parts =
        || layers.iter().flat_map(|layer| layer.address.iter().chain(layer.key.iter().flat_map(|key| &key.fields)));
    let found = parts().find(|field| field.name.text == name.text).map(|field| field.ty);
    if found.is_none() {
        // The layers below may be unknown here; each stack checks them. Only a typing mistake is reported.
        let near = suggest::nearest(&name.text, parts().map(|field| field.name.text.as_str())).map(String::from);
        if let Some(near) = near {
            let text = format!("no layer here gives its flows a part `{}`", name.text);
            body.error(codes::UNKNOWN_FLOW_PART, text, name.span, "unknown", &format!("did you mean `{near}`?"));
        }
    }
    found
}

/// Two internets may give their addresses the same name; the file's `use` decides which one is meant.
fn seen_part(body: &Body, name: &Name) -> Option<Type> {
    let layers = body.cx.program.layers.iter().enumerate();
    let seen = layers.filter(|(index, layer)| {
        matches!(body.cx.item(body.file, &layer.name.text), Some(Item::Layer(id)) if id.index() == *index)
    });
    let mut parts = seen
        .flat_map(|(_, layer)| layer.address.iter().chain(layer.key.iter().flat_map(|key| &key.fields)))
        .filter(|field| field.name.text == name.text);
    parts.next().map(|field| field.ty)
}

/// The type of the only part of a side's end, if this layer knows it.
fn only_part(body: &mut Body, side: Side, span: Span) -> Type {
    let Some(layer) = body.this_layer() else { return Type::Unknown };
    let fields: Vec<Field> = match (layer.shape, side) {
        (Shape::Router, Side::Above) => layer.address.clone(),
        (Shape::Router, Side::Below) => layer.below_address.clone(),
        (Shape::Multiplexor, Side::Above) => layer.key.iter().flat_map(|key| key.fields.clone()).collect(),
        _ => return Type::Unknown,
    };
    match fields.as_slice() {
        [only] => only.ty,
        [] if layer.shape == Shape::Router && side == Side::Below => {
            let help = "say what it asks for: `below address { station: u48 }`";
            body.error(
                codes::UNKNOWN_FLOW_PART,
                "this router asks for no address of the layer below",
                span,
                "of what?",
                help,
            );
            Type::Unknown
        }
        [] => Type::Unknown,
        _ => {
            let names: Vec<&str> = fields.iter().map(|field| field.name.text.as_str()).collect();
            let help = format!("name one: `local.{}`; there is {}", names[0], suggest::list(&names));
            body.error(codes::UNKNOWN_FLOW_PART, "this end of the flow has several parts", span, "which one?", &help);
            Type::Unknown
        }
    }
}
