//! `over ethernet[type: 0x0800]`: what a layer stands on, and the key that it is bound to there.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr;
use crate::{codes, suggest, tree};

/// What stands below, as far as its keys go.
pub(super) enum Below<'a> {
    Layer(&'a Use),
    /// A device, or what could not be understood.
    Other,
    Unknown,
}

/// The layer of the stack that another says it stands on, whether or not that one can stay.
pub(super) fn below_of<'a>(known: &'a [(Name, ast::StackLayer, Use)], over: &ast::Over) -> Below<'a> {
    let Some(name) = over.name().map(|name| name.text()) else {
        return Below::Unknown;
    };
    match known.iter().find(|(other, _, _)| other.text == name) {
        Some((_, _, of)) => Below::Layer(of),
        None => Below::Other,
    }
}

/// What a layer stands on; none if a part of it is not known.
pub(super) fn overs(
    cx: &mut Context,
    file: FileId,
    of_stack: (&Stack, &[String], &[String]),
    name: &Name,
    layer: &ast::StackLayer,
    of: &Use,
) -> Option<Vec<Over>> {
    let overs = layer.overs();
    let chooses = cx.program.layers_of(of).iter().any(|layer| layer.several.is_some());
    if let Some(second) = overs.get(1).filter(|_| !chooses) {
        let place = second.span(file);
        let help = "a router that says `below several path` stands on several; or write the layer twice";
        cx.error(codes::CROWDED, "a layer stands on one other", place, "the second", help);
    } else if let Some(second) = layer.clauses().get(1) {
        let place = second.span(file);
        let help = "write them in one list: `over (a, b)`";
        cx.error(codes::CROWDED, "`over` is said twice", place, "the second", help);
    }
    if overs.len() > usize::from(u8::MAX) {
        let place = overs[usize::from(u8::MAX)].span(file);
        cx.error(codes::TOO_BIG, "a router stands on at most 255 layers", place, "one too many", "put routers between");
    }
    if overs.is_empty() {
        let text = format!("what does `{}` stand on?", name.text);
        let help = "write `over device`, or name a layer of the stack";
        cx.error(codes::UNKNOWN_BELOW, text, name.span, "no `over`", help);
        return None;
    }
    let found: Vec<Option<Over>> = overs.iter().map(|one| over(cx, file, of_stack, one)).collect();
    let most = if chooses { found.len() } else { 1 };
    found.into_iter().take(most).collect()
}

fn over(
    cx: &mut Context,
    file: FileId,
    (stack, names, broken): (&Stack, &[String], &[String]),
    over: &ast::Over,
) -> Option<Over> {
    let below = tree::some_name(file, over.name())?;
    if let Some(device) = stack.devices.iter().position(|device| device.text == below.text) {
        return Some(Over::Device(device as u32));
    }
    if let Some(index) = names.iter().position(|known| *known == below.text) {
        return Some(Over::Instance(index as u32));
    }
    if !broken.contains(&below.text) {
        let known = names.iter().map(String::as_str).chain(stack.devices.iter().map(|device| device.text.as_str()));
        let text = format!("this stack has no layer `{}`", below.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_BELOW, text).at(below.span, "unknown");
        diagnostic.helps.extend(suggest::help(&below.text, known));
        if stack.devices.is_empty() {
            diagnostic = diagnostic
                .help(format!("a device is a parameter: `stack {}(device: Device) {{ … }}`", stack.name.text));
        }
        cx.report(diagnostic);
    }
    None
}

/// `over ethernet[type: 0x0800]`: the key of the multiplexor on top of what is below.
pub(super) fn bound(
    cx: &mut Context,
    file: FileId,
    stack: &Stack,
    below: Below,
    over: &ast::Over,
    name: &Name,
) -> Vec<(Name, Expr)> {
    let keys = over.keys();
    if keys.is_empty() {
        return Vec::new();
    }
    let top = match below {
        Below::Layer(below) => cx.program.layers_of(below).first().copied().cloned(),
        Below::Other => {
            let name = over.name().map(|name| name.text());
            // Of a layer that is not understood nothing is known; a device has no keys.
            if !stack.devices.iter().any(|device| Some(&device.text) == name.as_ref()) {
                return Vec::new();
            }
            None
        }
        Below::Unknown => return Vec::new(),
    };
    let fields = top.as_ref().and_then(|top| top.key.clone()).map_or(Vec::new(), |key| key.fields);
    let title = top.as_ref().map_or("a device".to_string(), |top| format!("`{}`", top.name.text));
    let mut bound: Vec<(Name, Expr)> = Vec::new();
    for key in keys {
        let Some(key_name) = tree::some_name(file, key.name()) else { continue };
        let Some(field) = fields.iter().find(|field| field.name.text == key_name.text) else {
            let (text, help) = match fields.is_empty() {
                true => (
                    format!("{title} has no keys"),
                    "only on a multiplexor layers are bound to keys: leave the brackets out".to_string(),
                ),
                false => {
                    let help = suggest::help(&key_name.text, fields.iter().map(|field| field.name.text.as_str()));
                    (format!("{title} has no key `{}`", key_name.text), help.unwrap_or_default())
                }
            };
            cx.error(codes::UNKNOWN_KEY, text, key_name.span, "unknown", &help);
            continue;
        };
        let mut body = Body::argument(cx, file, &stack.params, &stack.devices);
        let value = expr::some_value(&mut body, key.value(), field.ty, key_name.span);
        let value = body.folded(value);
        if bound.iter().any(|(first, _)| first.text == key_name.text) {
            cx.error(
                codes::DEFINED_TWICE,
                "this key is bound twice",
                key_name.span,
                "again here",
                "leave one of them out",
            );
            continue;
        }
        bound.push((key_name, value));
    }
    if !bound.is_empty() && bound.len() < fields.len() {
        let missing: Vec<&str> = fields
            .iter()
            .filter(|field| !bound.iter().any(|(name, _)| name.text == field.name.text))
            .map(|field| field.name.text.as_str())
            .collect();
        let text = format!("`{}` is bound to a part of the key of {title}", name.text);
        let help = format!("add {}", suggest::list(&missing));
        cx.error(codes::UNKNOWN_KEY, text, bound[0].0.span, "not the whole key", &help);
    }
    bound
}
