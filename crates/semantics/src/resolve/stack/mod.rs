//! Stacks: parameters, layers by name, what they are over, and which services they use.
//!
//! May assume: layers and bundles. Keeps: a layer that could not be resolved is removed with those over it, which are
//! not reported. `check` decides whether neighbours fit.

mod layers;
mod over;
mod settings;

use mokume_base::FileId;
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::bundle;
use crate::resolve::context::{twice, type_of, Context, Item};
use crate::resolve::items::params;
use crate::{codes, limits, suggest, tree};
use layers::Layers;
use over::At;

/// The most sessions, if neither a scope nor the stack says.
const SESSIONS: u32 = 64;

/// Resolves all stacks.
pub fn stacks(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (file, item) in &trees.stacks {
        let stack = stack(cx, *file, item);
        cx.program.stacks.push(stack);
    }
}

fn stack(cx: &mut Context, file: FileId, item: &ast::Stack) -> Stack {
    let (params, devices) = params(cx, file, item);
    let mut stack = Stack {
        name: tree::title(file, item.name()),
        params,
        devices,
        instances: Vec::new(),
        exports: Vec::new(),
        extras: Vec::new(),
        sessions: SESSIONS,
        says_sessions: false,
        outputs: 0,
        tick: 0,
        mtu: None,
        order: Vec::new(),
        lost: Vec::new(),
    };
    lost_params(&mut stack);
    let written = item.members().iter().filter(|member| matches!(member, ast::StackMember::Layer(_))).count() as u64;
    if too_many(cx, &stack.name, written) {
        stack.lost.extend(export_names(file, item).into_iter().map(|name| name.text));
        return stack;
    }
    let made = cx.program.bundles.len();
    let layers = layers::read(cx, file, item, &stack);
    bundle::sizes::check(cx, made);
    stack.instances = instances(cx, At { file, stack: &stack, layers: &layers });
    let all = stack.instances.iter().map(|instance| cx.program.layers_of(&instance.of).len() as u64).sum();
    if too_many(cx, &stack.name, all) {
        stack.instances.clear();
    }
    exports(cx, file, item, &layers, &mut stack);
    lost_devices(item, &layers, &mut stack);
    settings::read(cx, file, item, &mut stack);
    stack
}

/// Reports a stack with more layers than the limit; returns whether it has.
fn too_many(cx: &mut Context, name: &Name, layers: u64) -> bool {
    let too_many = layers > limits::LAYERS;
    if too_many {
        let text = format!("stack `{}` has {layers} layers, and {} is the most", name.text, limits::LAYERS);
        cx.error(codes::TOO_MANY_LAYERS, text, name.span, "too large", "make several stacks of it");
    }
    too_many
}

/// The layers whose unders are known, renumbered.
fn instances(cx: &mut Context, at: At) -> Vec<Instance> {
    let known = &at.layers.known;
    let mut kept: Vec<Option<Vec<Over>>> = known.iter().map(|layer| over::overs(cx, at, layer)).collect();
    drop_unsupported(&mut kept);
    let number = |place: u32| kept[..place as usize].iter().flatten().count() as u32;
    let mut instances = Vec::new();
    for (layer, overs) in known.iter().zip(&kept) {
        let bounds: Vec<_> = layer.tree.overs().iter().map(|one| over::bound(cx, at, one, layer)).collect();
        let (with, with_lost) = with(cx, at, &layer.tree);
        let numbered = overs.iter().flatten().map(|over| match over {
            Over::Instance(below) => Over::Instance(number(*below)),
            Over::Device(device) => Over::Device(*device),
        });
        let unders = numbered.zip(bounds).map(|(over, bound)| Under { over, bound }).collect();
        if overs.is_some() {
            let place = layer.tree.span(at.file);
            instances.push(Instance { name: layer.name.clone(), of: layer.of.clone(), unders, with, with_lost, place });
        }
    }
    instances
}

/// A parameter of unknown type may be meant to be a device.
fn lost_params(stack: &mut Stack) {
    let unknown = stack.params.iter().filter(|param| param.ty == Type::Unknown);
    stack.lost.extend(unknown.map(|param| param.name.text.clone()));
}

/// Names that layers are over and that are neither a layer nor a device.
fn lost_devices(item: &ast::Stack, layers: &Layers, stack: &mut Stack) {
    for member in item.members() {
        let ast::StackMember::Layer(layer) = member else { continue };
        for below in layer.overs().iter().filter_map(|over| over.name()).map(|name| name.text()) {
            let known = layers.position(&below).is_some() || stack.devices.iter().any(|device| device.text == below);
            if !known && !stack.lost.contains(&below) {
                stack.lost.push(below);
            }
        }
    }
}

/// Removes layers that are over removed ones.
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
            (Some("Device"), Some(name)) => match devices.iter().find(|first: &&Name| first.text == name.text) {
                Some(first) => cx.report(twice("device", &name, first)),
                None => devices.push(name),
            },
            (Some(near), Some(name)) if is_slip_of_device(cx, file, near) => {
                let place = param.ty().map_or(name.span, |ty| ty.span(file));
                cx.error(
                    codes::UNKNOWN_TYPE,
                    format!("there is no `{near}` here"),
                    place,
                    "expected a type",
                    "did you mean `Device`?",
                );
                devices.push(name);
            }
            _ => plain.push(param),
        }
    }
    let mut params = params::read(cx, file, &plain);
    for param in &params {
        if let Some(device) = devices.iter().find(|device| device.text == param.name.text) {
            let (first, again) = match device.span.start < param.name.span.start {
                true => (device, &param.name),
                false => (&param.name, device),
            };
            cx.report(twice("parameter", again, first));
        }
    }
    for device in &devices {
        let local = LocalId(params.len() as u32);
        params.push(Param { name: device.clone(), ty: Type::Unit, default: None, local, written: None });
    }
    (params, devices)
}

/// Whether a type's name is unknown, and most likely means `Device`.
fn is_slip_of_device(cx: &Context, file: FileId, name: &str) -> bool {
    cx.item(file, name).is_none() && type_of(name).is_none() && suggest::nearest(name, ["Device"]).is_some()
}

fn with(cx: &mut Context, At { file, layers, .. }: At, layer: &ast::StackLayer) -> (Vec<Name>, bool) {
    let (mut with, mut lost) = (Vec::new(), false);
    for name in layer.with().iter().map(|name| tree::name(file, name)) {
        match layers.position(&name.text) {
            Some(index) => {
                cx.mention(&name, layers.known[index].name.span);
                with.push(name);
            }
            None => {
                lost = true;
                cx.out.extend(layers.unknown(&name, codes::UNKNOWN_BELOW, &[]));
            }
        }
    }
    (with, lost)
}

fn exports(cx: &mut Context, file: FileId, item: &ast::Stack, layers: &Layers, stack: &mut Stack) {
    for member in item.members() {
        let ast::StackMember::Export(export) = member else { continue };
        for name in names_of(file, &export) {
            match layers.position(&name.text) {
                Some(index) => {
                    cx.mention(&name, layers.known[index].name.span);
                    add_export(cx, name, stack);
                }
                None => {
                    cx.out.extend(layers.unknown(&name, codes::UNKNOWN_EXPORT, &[]));
                    stack.lost.push(name.text);
                }
            }
        }
        let extras = extras(cx, file, &export);
        let exported = |extras: &Extras| stack.exports.iter().any(|known| known.span == extras.export.span);
        let extras = extras.filter(exported);
        stack.extras.extend(extras);
    }
}

fn names_of(file: FileId, export: &ast::Export) -> Vec<Name> {
    export.syntax().children().filter_map(ast::Name::cast).map(|name| tree::name(file, &name)).collect()
}

fn export_names(file: FileId, item: &ast::Stack) -> Vec<Name> {
    let exports = item.members().into_iter().filter_map(|member| match member {
        ast::StackMember::Export(export) => Some(names_of(file, &export)),
        _ => None,
    });
    exports.flatten().collect()
}

/// The names behind `with`: a name of an attribute is one; for the others, each stack checks that a layer below
/// publishes it.
fn extras(cx: &mut Context, file: FileId, export: &ast::Export) -> Option<Extras> {
    let names: Vec<Name> = export.with().iter().map(|name| tree::name(file, name)).collect();
    let export = tree::name(file, &export.name()?);
    cx.given_once_each(&names);
    let (mut attributes, mut values): (Vec<(Name, AttributeId)>, Vec<Name>) = Default::default();
    for name in names {
        let known = attributes.iter().map(|(known, _)| known).chain(&values).any(|known| known.text == name.text);
        match cx.item_at(file, &name) {
            _ if known => {}
            Some(Item::Attribute(id)) => match attributes.iter().find(|(_, known)| *known == id) {
                Some((first, _)) => cx.given_twice(&format!("`{}`", name.plain()), name.span, first.span),
                None => attributes.push((name, id)),
            },
            _ => values.push(name),
        }
    }
    (!attributes.is_empty() || !values.is_empty()).then_some(Extras { export, attributes, values })
}

fn add_export(cx: &mut Context, name: Name, stack: &mut Stack) {
    let instance = stack.instances.iter().find(|instance| instance.name.text == name.text);
    let top = instance.and_then(|instance| cx.program.layers_of(&instance.of).first().map(|top| top.shape));
    if top == Some(Shape::Endpoint) {
        let text = format!("`{}` is an endpoint: no application stands on it", name.text);
        cx.error(codes::UNKNOWN_EXPORT, text, name.span, "nothing to export", "export the layer below it");
    } else if stack.exports.iter().any(|first| first.text == name.text) {
        let help = "leave one of them out";
        cx.error(codes::DEFINED_TWICE, "this layer is exported twice", name.span, "again here", help);
    } else if instance.is_some() {
        stack.exports.push(name);
    } else {
        stack.lost.push(name.text);
    }
}
