//! `over ethernet[type: 0x0800]`: what a layer is over, and the key that it is bound to there.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use super::layers::{Known, Layers};
use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::expr;
use crate::{codes, lost, suggest, tree};

/// The place of a stack's lines, and what they may name.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub file: FileId,
    pub stack: &'a Stack,
    pub layers: &'a Layers,
}

/// What a layer is over, layers by their index among the known; `None` if one of them is not known.
pub(super) fn overs(cx: &mut Context, at: At, layer: &Known) -> Option<Vec<Over>> {
    let overs = layer.tree.overs();
    let chooses = cx.program.layers_of(&layer.of).iter().any(|layer| layer.several.is_some());
    too_many(cx, at.file, &layer.tree, chooses);
    if overs.is_empty() {
        let text = format!("what does `{}` stand on?", layer.name.text);
        let help = "write `over device`, or name a layer of the stack";
        cx.error(codes::UNKNOWN_BELOW, text, layer.name.span, "no `over`", help);
        return None;
    }
    let found: Vec<Option<Over>> = overs.iter().map(|one| over(cx, at, one)).collect();
    let most = if chooses { found.len() } else { 1 };
    found.into_iter().take(most).collect()
}

/// Reports too many unders: only a router that `chooses` may be over several, up to a limit.
fn too_many(cx: &mut Context, file: FileId, layer: &ast::StackLayer, chooses: bool) {
    let overs = layer.overs();
    if let Some(second) = overs.get(1).filter(|_| !chooses) {
        let place = second.span(file);
        let help = "a router that says `below several path` stands on several; or write the layer twice";
        cx.error(codes::CROWDED, "a layer stands on one other", place, "the second", help);
    } else if let Some(second) = layer.clauses().get(1) {
        let place = second.span(file);
        let help = "write them in one list: `over (a, b)`";
        cx.error(codes::CROWDED, "`over` is said twice", place, "the second", help);
    }
    if let Some(last) = overs.get(usize::from(u8::MAX)) {
        let place = last.span(file);
        cx.error(codes::TOO_BIG, "a router stands on at most 255 layers", place, "one too many", "put routers between");
    }
}

fn over(cx: &mut Context, At { file, stack, layers }: At, over: &ast::Over) -> Option<Over> {
    let below = tree::some_name(file, over.name())?;
    if let Some(device) = stack.devices.iter().position(|device| device.text == below.text) {
        cx.mention(&below, stack.devices[device].span);
        return Some(Over::Device(device as u32));
    }
    if let Some(index) = layers.position(&below.text) {
        cx.mention(&below, layers.known[index].name.span);
        return Some(Over::Instance(index as u32));
    }
    if stack.lost.contains(&below.text) {
        return None;
    }
    if let Some(mut diagnostic) = layers.unknown(&below, codes::UNKNOWN_BELOW, &stack.devices) {
        if stack.devices.is_empty() {
            let name = &stack.name.text;
            diagnostic = diagnostic.help(format!("a device is a parameter: `stack {name}(device: Device) {{ … }}`"));
        }
        cx.report(diagnostic.loses(lost::named(stack, &below.text)));
    }
    None
}

/// The keys of what is below: those of a multiplexor on top of a layer; devices and other layers have none.
struct Keys {
    fields: Vec<Field>,
    /// The owner's name for reports.
    title: String,
    /// If the layer on top has none.
    deeper: Option<Deeper>,
}

/// A layer further down in a bundle that has keys.
struct Deeper {
    bundle: Name,
    layer: Name,
    top: Name,
    keys: Vec<String>,
}

/// The bound key of the multiplexor on top of what is below, by field.
pub(super) fn bound(cx: &mut Context, at: At, over: &ast::Over, layer: &Known) -> Vec<(Name, Expr)> {
    let given = over.keys();
    if given.is_empty() {
        return Vec::new();
    }
    let Some(keys) = keys_below(cx, at, over) else { return Vec::new() };
    let mut bound: Vec<(Name, Expr)> = Vec::new();
    for key in given {
        let Some(name) = tree::some_name(at.file, key.name()) else { continue };
        let Some(field) = keys.fields.iter().find(|field| field.name.text == name.text) else {
            unknown_key(cx, &keys, &name);
            continue;
        };
        cx.mention(&name, field.name.span);
        let mut body = Body::argument(cx, at.file, &at.stack.params, &at.stack.devices);
        let value = expr::some_value(&mut body, key.value(), field.ty, name.span);
        let value = body.folded(value);
        if let Some((first, _)) = bound.iter().find(|(first, _)| first.text == name.text) {
            cx.given_twice(&format!("key `{}`", name.text), name.span, first.span);
            continue;
        }
        bound.push((name, value));
    }
    missing_keys(cx, &keys, &bound, &layer.name);
    bound
}

/// `None` if the layer below could not be resolved.
fn keys_below(cx: &Context, At { stack, layers, .. }: At, over: &ast::Over) -> Option<Keys> {
    let name = over.name()?.text();
    let Some(below) = layers.position(&name) else {
        let is_device = stack.devices.iter().any(|device| device.text == name);
        return is_device.then(|| Keys { fields: Vec::new(), title: "a device".to_string(), deeper: None });
    };
    let Some(top) = cx.program.layers_of(&layers.known[below].of).first().copied() else {
        return Some(Keys { fields: Vec::new(), title: "a device".to_string(), deeper: None });
    };
    let fields = top.key.iter().flat_map(|key| key.fields.clone()).collect();
    let deeper = if top.key.is_none() { deeper(cx, &layers.known[below].of) } else { None };
    Some(Keys { fields, title: format!("`{}`", top.name.text), deeper })
}

fn deeper(cx: &Context, of: &Use) -> Option<Deeper> {
    let Definition::Bundle(bundle) = of.of else { return None };
    let layers = cx.program.layers_of(of);
    let (top, below) = layers.split_first()?;
    let (layer, key) = below.iter().find_map(|layer| Some((layer, layer.key.as_ref()?)))?;
    Some(Deeper {
        bundle: cx.program.bundles[bundle.index()].name.clone(),
        layer: layer.name.clone(),
        top: top.name.clone(),
        keys: key.fields.iter().map(|field| field.name.text.clone()).collect(),
    })
}

/// Reports, once, a bundle whose layer with keys is not on top.
fn other_order(cx: &mut Context, Deeper { bundle, layer, top, keys }: &Deeper, name: &Name) {
    let text = format!("`{}` stands below `{}`: nothing can be bound to its key", layer.text, top.text);
    let order = lost::order(bundle);
    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_KEY, text)
        .at(bundle.span, "a bundle is written from top to bottom")
        .label(name.span, format!("`{}` is the key of `{}`", keys.join("`, `"), layer.text));
    diagnostic = diagnostic.help(format!("write `{}` in front of `{}`", layer.text, top.text));
    cx.report(diagnostic.lacks(order.clone()).loses(order));
}

fn unknown_key(cx: &mut Context, Keys { fields, title, deeper }: &Keys, name: &Name) {
    if let Some(deeper) = deeper.as_ref().filter(|deeper| deeper.keys.contains(&name.text)) {
        return other_order(cx, deeper, name);
    }
    let (text, help) = match fields.is_empty() {
        true => (
            format!("{title} has no keys"),
            "only on a multiplexor layers are bound to keys: leave the brackets out".to_string(),
        ),
        false => {
            let help = suggest::help(&name.text, fields.iter().map(|field| field.name.text.as_str()));
            (format!("{title} has no key `{}`", name.text), help.unwrap_or_default())
        }
    };
    cx.error(codes::UNKNOWN_KEY, text, name.span, "unknown", &help);
}

/// Reports missing parts of a key: a layer is bound to all parts or none.
fn missing_keys(cx: &mut Context, Keys { fields, title, .. }: &Keys, bound: &[(Name, Expr)], layer: &Name) {
    let (Some((first, _)), true) = (bound.first(), bound.len() < fields.len()) else { return };
    let missing: Vec<&str> = fields
        .iter()
        .filter(|field| !bound.iter().any(|(name, _)| name.text == field.name.text))
        .map(|field| field.name.text.as_str())
        .collect();
    let text = format!("`{}` is bound to a part of the key of {title}", layer.text);
    let help = format!("add {}", suggest::list(&missing));
    cx.error(codes::UNKNOWN_KEY, text, first.span, "not the whole key", &help);
}
