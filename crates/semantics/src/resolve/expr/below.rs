//! `below.x`: what the layers below publish, what a device tells, and which of several layers below is meant.
//!
//! Keeps: a router over several layers always says which one; other layers never do.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use crate::program::*;
use crate::resolve::body::terms::{make, unknown};
use crate::resolve::body::Body;
use crate::resolve::expr;
use crate::resolve::expr::positional;
use crate::{codes, suggest, tree};

/// `below.name` in any layer, `below.count` in a router over several.
pub(super) fn of_below(body: &mut Body, name: &Name, span: Span) -> Expr {
    let Some(several) = body.this_layer().and_then(|layer| layer.several.clone()) else {
        return published(body, name, None, None, span);
    };
    if name.text == "count" {
        return make(ExprKind::BelowCount, Type::UInt(32), span);
    }
    let text = format!("`below.{}` of which of the layers below?", name.text);
    let mut found = Diagnostic::error(codes::WHICH_BELOW, text).at(span, "there are several");
    let flow = body.locals.names().into_iter().rev().find(|name| {
        let ty = body.locals.find(name).map(|local| body.locals.ty(local));
        ty == Some(Type::Flow(Side::Below))
    });
    found = match flow {
        Some(flow) => found
            .help(format!("write `below[{flow}.{}].{}`, or `below.{}({flow})`", several.text, name.text, name.text)),
        None => found.help(format!(
            "say which: `below[0].{0}`, or `below[i].{0}` for each `i` in `0 .. below.count`",
            name.text
        )),
    };
    if matches!(name.text.as_str(), "mtu" | "credit" | "credit_octets") {
        found = found.help(format!(
            "the smallest of all is worked out by a function: `let least = below[0].{0}  for i in 1 .. below.count limit below.count {{ least = min(least, below[i].{0}) }}  return least`",
            name.text
        ));
    }
    body.report(found);
    unknown(span)
}

/// `below[i].mtu`, `below[i].pseudo_sum(flow)`; `None` if `base` is something else.
pub(super) fn at_index(
    body: &mut Body,
    base: &Tree,
    name: &Name,
    args: Option<&[ast::Arg]>,
    span: Span,
) -> Option<Expr> {
    let Tree::Index(indexed) = base else { return None };
    let owner = tree::name_expr(body.file, &indexed.base()?)?;
    if owner.text != "below" || body.locals.find("below").is_some() || body.find_state("below").is_some() {
        return None;
    }
    if body.this_layer().is_none_or(|layer| layer.several.is_none()) {
        let text = "this layer stands on one other";
        let help = format!("write `below.{}`; a router over several says `below several path`", name.text);
        body.error(codes::WHICH_BELOW, text, owner.span, "not a choice", &help);
        return Some(unknown(span));
    }
    let indices = indexed.indices();
    let [index] = indices.as_slice() else {
        let help = format!("write `below[i].{}`", name.text);
        body.error(codes::WRONG_COUNT, "one number says which layer below", span, "expected one", &help);
        return Some(unknown(span));
    };
    let index = Box::new(expr::index(body, index));
    let flow = match args {
        None => None,
        Some(args) => {
            let values = positional::counted(body, &name.text, args, 1, span)?;
            Some(Box::new(expr::value(body, &values[0], Type::Flow(Side::Below))))
        }
    };
    Some(published(body, name, flow, Some(index), span))
}

/// `below.pseudo_sum(flow)`
pub(super) fn of_flow(body: &mut Body, name: &Name, args: &[ast::Arg], span: Span) -> Expr {
    if crate::events::DOWN.contains(&name.text.as_str()) {
        let help = "write it as a statement; the answer comes as an event of its own";
        body.error(codes::NO_VALUE, format!("`below.{}` gives no value", name.text), span, "no value", help);
        return unknown(span);
    }
    let Some(values) = positional::counted(body, &name.text, args, 1, span) else { return unknown(span) };
    let flow = expr::value(body, &values[0], Type::Flow(Side::Below));
    published(body, name, Some(Box::new(flow)), None, span)
}

/// The type of what layers here publish by this name; `None` if no layer does.
pub fn type_of(body: &Body, name: &Name) -> Option<Type> {
    let own = || body.this_layer()?.publishes.iter().find(|known| known.name.text == name.text).map(|known| known.ty);
    match name.text.as_str() {
        "credit" | "credit_octets" | "mtu" => Some(Type::UInt(32)),
        "mac" => Some(Type::UInt(48)),
        text => own().or_else(|| body.cx.said.published.get(text).copied()),
    }
}

/// `below.name`: a value that layers below publish.
fn published(body: &mut Body, name: &Name, flow: Option<Box<Expr>>, index: Option<Box<Expr>>, span: Span) -> Expr {
    if body.view.layer.is_none() || body.is_fixed() {
        let text = format!("`below.{}` is not known here", name.text);
        body.error(
            codes::NOT_CONSTANT,
            text,
            span,
            "not constant",
            "what is below is known to the code of layers only",
        );
        return unknown(span);
    }
    let ty = type_of(body, name).unwrap_or_else(|| {
        misspelt(body, name);
        Type::Unknown
    });
    make(ExprKind::Below { name: name.clone(), flow, index }, ty, span)
}

/// Reports a typing mistake. A layer may be checked without the layers that will be below it; each stack checks whether
/// the value is published.
fn misspelt(body: &mut Body, name: &Name) {
    if let Some(near) = nearest_published(body, name) {
        let help = format!("did you mean `{near}`?");
        let text = format!("no layer here publishes `{}`", name.text);
        body.error(codes::UNKNOWN_PUBLISHED, text, name.span, "unknown", &help);
    }
}

/// The name of a published value, or of one that is always there, that a name is almost.
fn nearest_published<'b>(body: &'b Body, name: &Name) -> Option<&'b str> {
    let known = body.cx.said.published.keys().map(String::as_str).chain(["mtu", "mac", "credit", "credit_octets"]);
    suggest::nearest(&name.text, known)
}

/// Reports a part of a value that no layer here publishes: its type is not known, so neither are its parts.
pub(super) fn without_type(body: &mut Body, base: &Expr, part: &Name) {
    let ExprKind::Below { name, .. } = &base.kind else { return };
    // That was reported.
    if nearest_published(body, name).is_some() || type_of(body, name).is_some() {
        return;
    }
    let text = format!("no layer here publishes `{}`, so its part `{}` is not known", name.text, part.text);
    let help = format!("let a layer that this file sees say `publish {}: T = …`, where `T` is a record", name.text);
    body.error(codes::UNKNOWN_PUBLISHED, text, name.span, "unknown", &help);
}

/// `above.layout`: known when the stack is assembled, so that a layer can compare it with its peer's.
pub(super) fn above_layout(body: &mut Body, span: Span) -> Expr {
    if body.view.layer.is_none() || body.is_fixed() {
        let help = "what is above is known to the code of layers only";
        body.error(codes::NOT_CONSTANT, "`above.layout` is not known here", span, "not constant", help);
        return unknown(span);
    }
    make(ExprKind::AboveLayout, Type::UInt(32), span)
}

/// `device.mac`, `device.mtu`, in a stack's arguments.
pub(super) fn of_device(body: &mut Body, owner: &Name, name: &Name, span: Span) -> Expr {
    let ty = match name.text.as_str() {
        "mac" => Type::UInt(48),
        "mtu" => Type::UInt(32),
        _ => {
            let text = format!("a device has no `{}`", name.text);
            body.error(codes::UNKNOWN_FIELD, text, name.span, "unknown", "it has `mac` and `mtu`");
            return unknown(span);
        }
    };
    let name = Name { text: format!("{}.{}", owner.text, name.text), span };
    make(ExprKind::Below { name, flow: None, index: None }, ty, span)
}
