//! The room of stacks: parameters, layers by name, what they stand on and whom they use.
//!
//! May assume: layers and bundles. Keeps: a layer that is not understood leaves the stack with those above it, which are not blamed;
//! whether neighbours fit is `check`'s.

mod over;
mod settings;

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::bundle::apply;
use crate::resolve::bundle::apply::Scene;
use crate::resolve::context::{twice, Context, Given};
use crate::resolve::items::params;
use crate::{codes, suggest, tree};

/// How many sessions there are at most, where neither a scope nor the stack says.
const SESSIONS: u32 = 64;

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
            let diagnostic = twice("layer", &name, &first.clone());
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
        kept.push(over::overs(cx, file, (&stack, &names, &broken), name, layer, of));
    }
    drop_unsupported(&mut kept);
    let mut numbers = vec![0u32; known.len()];
    let mut next = 0;
    for (index, over) in kept.iter().enumerate() {
        numbers[index] = next;
        next += u32::from(over.is_some());
    }
    for (index, (name, layer, of)) in known.iter().enumerate() {
        let bounds: Vec<Vec<(Name, Expr)>> = layer
            .overs()
            .iter()
            .map(|over| over::bound(cx, file, &stack, over::below_of(&known, over), over, name))
            .collect();
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
    settings::read(cx, file, item, &mut stack);
    stack
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
    let mut params = params::read(cx, file, &plain);
    for device in &devices {
        let local = LocalId(params.len() as u32);
        params.push(Param { name: device.clone(), ty: Type::Unit, default: None, local });
    }
    (params, devices)
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
