//! Stacks: parameters, layers by name, what they stand on and whom they use.

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use super::apply::{self, Scene};
use super::body::Body;
use super::higher::Given;
use super::{items, settings, Context};
use crate::program::*;
use crate::{codes, suggest, tree};

/// How many sessions there are at most, where neither a scope nor the stack says.
const SESSIONS: u32 = 64;

pub(super) fn stacks(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.stacks {
        let stack = stack(cx, *file, item);
        cx.program.stacks.push(stack);
    }
}

fn stack(cx: &mut Context, file: FileId, item: &ast::Stack) -> Stack {
    let (params, devices) = params(cx, file, item);
    let mut stack = Stack {
        name: items::title(file, item.name()),
        params,
        devices,
        instances: Vec::new(),
        exports: Vec::new(),
        sessions: SESSIONS,
        outputs: 0,
        tick: 0,
        mtu: None,
        order: Vec::new(),
    };
    let mut layers: Vec<(ast::StackLayer, Name)> = Vec::new();
    for member in item.members() {
        let ast::StackMember::Layer(layer) = member else { continue };
        let Some(name) = tree::some_name(file, layer.name()) else { continue };
        let first = layers.iter().map(|(_, name)| name).chain(&stack.devices).find(|first| first.text == name.text);
        if let Some(first) = first {
            let diagnostic = items::twice("layer", &name, &first.clone());
            cx.report(diagnostic);
            continue;
        }
        layers.push((layer, name));
    }
    // A layer whose definition is unknown keeps its name, so that those above it are not blamed.
    let mut known: Vec<(Name, ast::StackLayer, Use)> = Vec::new();
    let mut broken: Vec<String> = Vec::new();
    for (layer, name) in layers {
        let given = Given::default();
        let scene = Scene { file, params: &stack.params, devices: &stack.devices, given: &given };
        let part = apply::chain(cx, &layer.layers(), scene);
        match part {
            Some(of) => known.push((name, layer, of)),
            None => broken.push(name.text),
        }
    }
    let names: Vec<String> = known.iter().map(|(name, _, _)| name.text.clone()).collect();
    // Of those that stand on nothing known, the ones that stay must still be numbered as in `known`.
    let mut kept: Vec<Option<Vec<Over>>> = Vec::new();
    for (name, layer, of) in &known {
        kept.push(overs(cx, file, (&stack, &names, &broken), name, layer, of));
    }
    drop_unsupported(&mut kept);
    let mut numbers = vec![0u32; known.len()];
    let mut next = 0;
    for (index, over) in kept.iter().enumerate() {
        numbers[index] = next;
        next += u32::from(over.is_some());
    }
    for (index, (name, layer, of)) in known.iter().enumerate() {
        let bounds: Vec<Vec<(Name, Expr)>> =
            layer.overs().iter().map(|over| bound(cx, file, &stack, below_of(&known, over), over, name)).collect();
        let with = with(cx, file, &names, &broken, layer);
        let Some(overs) = &kept[index] else { continue };
        let numbered = overs.iter().map(|over| match over {
            Over::Instance(below) => Over::Instance(numbers[*below as usize]),
            Over::Device(device) => Over::Device(*device),
        });
        let unders = numbered.zip(bounds).map(|(over, bound)| Under { over, bound }).collect();
        stack.instances.push(Instance { name: name.clone(), of: of.clone(), unders, with });
    }
    exports(cx, file, item, &names, &broken, &mut stack);
    settings::settings(cx, file, item, &mut stack);
    stack
}

/// The layer of the stack that another says it stands on, whether or not that one can stay.
fn below_of<'a>(known: &'a [(Name, ast::StackLayer, Use)], over: &ast::Over) -> Below<'a> {
    let Some(name) = over.name().map(|name| name.text()) else {
        return Below::Unknown;
    };
    match known.iter().find(|(other, _, _)| other.text == name) {
        Some((_, _, of)) => Below::Layer(of),
        None => Below::Other,
    }
}

/// What stands below, as far as its keys go.
enum Below<'a> {
    Layer(&'a Use),
    /// A device, or what could not be understood.
    Other,
    Unknown,
}

/// Layers over others that could not be kept go too.
fn drop_unsupported(kept: &mut [Option<Vec<Over>>]) {
    loop {
        let gone = |over: &Over| matches!(over, Over::Instance(below) if kept[*below as usize].is_none());
        let lost: Vec<usize> = (0..kept.len()).filter(|index| kept[*index].iter().flatten().any(gone)).collect();
        if lost.is_empty() {
            return;
        }
        lost.into_iter().for_each(|index| kept[index] = None);
    }
}

fn params(cx: &mut Context, file: FileId, item: &ast::Stack) -> (Vec<Param>, Vec<Name>) {
    let mut plain = Vec::new();
    let mut devices = Vec::new();
    for param in item.params() {
        let named = match param.ty() {
            Some(ast::Type::Named(named)) => named.name().map(|name| name.text()),
            _ => None,
        };
        match (named.as_deref(), tree::some_name(file, param.name())) {
            (Some("Device"), Some(name)) => devices.push(name),
            _ => plain.push(param),
        }
    }
    let mut params = items::params(cx, file, &plain);
    for device in &devices {
        let local = LocalId(params.len() as u32);
        params.push(Param { name: device.clone(), ty: Type::Unit, default: None, local });
    }
    (params, devices)
}

/// What a layer stands on; none if a part of it is not known.
fn overs(
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
fn bound(
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
        let value = body.some_value(key.value(), field.ty, key_name.span);
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

fn with(cx: &mut Context, file: FileId, names: &[String], broken: &[String], layer: &ast::StackLayer) -> Vec<Name> {
    let mut with = Vec::new();
    for name in layer.with().iter().map(|name| tree::name(file, name)) {
        if names.contains(&name.text) {
            with.push(name);
        } else if !broken.contains(&name.text) {
            let text = format!("this stack has no layer `{}`", name.text);
            let mut diagnostic = Diagnostic::error(codes::UNKNOWN_BELOW, text).at(name.span, "unknown");
            diagnostic.helps.extend(suggest::help(&name.text, names.iter().map(String::as_str)));
            cx.report(diagnostic);
        }
    }
    with
}

fn exports(cx: &mut Context, file: FileId, item: &ast::Stack, names: &[String], broken: &[String], stack: &mut Stack) {
    for member in item.members() {
        let ast::StackMember::Export(export) = member else { continue };
        for name in export.syntax().children().filter_map(ast::Name::cast).map(|name| tree::name(file, &name)) {
            if !names.contains(&name.text) {
                if !broken.contains(&name.text) {
                    let text = format!("this stack has no layer `{}`", name.text);
                    let mut diagnostic = Diagnostic::error(codes::UNKNOWN_EXPORT, text).at(name.span, "unknown");
                    diagnostic.helps.extend(suggest::help(&name.text, names.iter().map(String::as_str)));
                    cx.report(diagnostic);
                }
                continue;
            }
            let instance = stack.instances.iter().find(|instance| instance.name.text == name.text);
            let top = instance.and_then(|instance| cx.program.layers_of(&instance.of).first().map(|top| top.shape));
            if top == Some(Shape::Endpoint) {
                let text = format!("`{}` is an endpoint: no application stands on it", name.text);
                cx.error(codes::UNKNOWN_EXPORT, text, name.span, "nothing to export", "export the layer below it");
                continue;
            }
            if stack.exports.iter().any(|first| first.text == name.text) {
                cx.error(
                    codes::DEFINED_TWICE,
                    "this layer is exported twice",
                    name.span,
                    "again here",
                    "leave one of them out",
                );
                continue;
            }
            if instance.is_some() {
                stack.exports.push(name);
            }
        }
    }
}
