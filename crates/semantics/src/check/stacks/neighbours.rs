//! The layers over one layer or device: cycles, endpoints with something above, too many above one, keys bound twice.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::Diagnostic;

use crate::check::descents;
use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::{codes, limits, lost, types};

/// Reports layers that are over themselves; returns whether there are any.
pub(super) fn cycles(check: &mut StackCheck) -> bool {
    let mut reported = BTreeSet::new();
    for index in 0..check.stack.instances.len() {
        let Some(circle) = descents::circle_from(check.stack, index) else { continue };
        if reported.insert(circle.iter().copied().min()) {
            let name = |index: &usize| check.stack.instances[*index].name.text.as_str();
            let mut names: Vec<&str> = circle.iter().map(name).collect();
            names.push(names[0]);
            let diagnostic = Diagnostic::error(codes::OVER_CYCLE, format!("`{}` stands on itself", names[0]))
                .at(check.stack.instances[circle[0]].name.span, "this layer")
                .note(format!("over: {}", names.join(" over ")))
                .help("one of them must stand on a device or on a layer outside of the circle");
            check.out.push(diagnostic);
        }
    }
    !reported.is_empty()
}

/// Checks what is over one layer or device: a multiplexor carries several, one for each key; so does a worker with
/// sessions.
pub(super) fn crowds<'a>(check: &mut StackCheck<'a, '_>) {
    let mut devices: BTreeMap<u32, &Instance> = BTreeMap::new();
    let mut bare: BTreeMap<u32, &Instance> = BTreeMap::new();
    let mut keys: BTreeMap<(u32, String), (&Instance, &Under)> = BTreeMap::new();
    let unders = |instance: &'a Instance| instance.unders.iter().map(move |under| (instance, under));
    for (instance, under) in check.stack.instances.iter().flat_map(unders) {
        match under.over {
            Over::Device(device) => {
                if let Some(first) = devices.insert(device, instance) {
                    crowded(check, "the device", first, instance, None);
                }
            }
            Over::Instance(below) => {
                let Some(top) = check.layers.get(below as usize).and_then(|layers| layers.first().copied()) else {
                    continue;
                };
                if top.shape == Shape::Endpoint {
                    over_endpoint(check, top, instance);
                } else if top.shape != Shape::Multiplexor && !is_of_sessions(top) {
                    if let Some(first) = bare.insert(below, instance) {
                        let text = format!("`{}`, which carries one", top.name.text);
                        crowded(check, &text, first, instance, bundle_of(check, below));
                    }
                } else if let Some(key) = key_text(under) {
                    if let Some((other, first)) = keys.insert((below, key), (instance, under)) {
                        same_key(check, (other, first), (instance, under));
                    }
                }
            }
        }
    }
}

/// Several layers may be over a worker whose sessions know their users; lowering checks that all of those have
/// sessions.
fn is_of_sessions(layer: &Layer) -> bool {
    layer.shape == Shape::Worker && layer.members(ScopeKind::Session).is_some()
}

/// No more layers may be over one than an octet can tell apart.
pub(super) fn on_one(check: &mut StackCheck) {
    let mut above = std::collections::BTreeMap::<u32, usize>::new();
    for under in check.stack.instances.iter().flat_map(|instance| &instance.unders) {
        if let Over::Instance(below) = under.over {
            *above.entry(below).or_default() += 1;
        }
    }
    for (below, count) in above.into_iter().filter(|(_, count)| *count > limits::ABOVE_ONE) {
        let name = &check.stack.instances[below as usize].name;
        let text = format!("{count} layers stand on `{}`, and {} is the most", name.text, limits::ABOVE_ONE);
        let diagnostic = Diagnostic::error(codes::TOO_MANY_LAYERS, text).at(name.span, "too many above it");
        check.out.push(diagnostic.help("put another multiplexor between some of them and this one"));
    }
}

/// The bundle that a layer of the stack is.
fn bundle_of<'a>(check: &StackCheck<'a, '_>, index: u32) -> Option<&'a Name> {
    match check.stack.instances.get(index as usize)?.of.of {
        Definition::Bundle(bundle) => Some(&check.program.bundles[bundle.index()].name),
        Definition::Layer(_) => None,
    }
}

fn crowded(check: &mut StackCheck, what: &str, first: &Instance, second: &Instance, bundle: Option<&Name>) {
    let text = format!("`{}` and `{}` both stand on {what}", first.name.text, second.name.text);
    let diagnostic = Diagnostic::error(codes::CROWDED, text)
        .at(second.name.span, "the second")
        .label(first.name.span, "the first")
        .note("of several layers on one, the one below must know which a message is for: a multiplexor knows it by its key, a worker by its sessions")
        .help("put a multiplexor between, and bind each to a key: `over between[key: 1]`");
    check.out.push(match bundle {
        Some(bundle) => diagnostic.needs(lost::order(bundle)),
        None => diagnostic,
    });
}

fn same_key(check: &mut StackCheck, (first, of_first): (&Instance, &Under), (second, of_second): (&Instance, &Under)) {
    let text = match first.name.span == second.name.span {
        true => format!("`{}` is bound to the same key twice", first.name.text),
        false => format!("`{}` and `{}` are bound to the same key", first.name.text, second.name.text),
    };
    let place =
        |instance: &Instance, under: &Under| under.bound.first().map_or(instance.name.span, |(name, _)| name.span);
    let diagnostic = Diagnostic::error(codes::SAME_KEY, text)
        .at(place(second, of_second), "taken already")
        .label(place(first, of_first), "bound first here")
        .loses(lost::below(check.stack, &second.name))
        .help("give each of them a key of its own");
    let at = check.stack.instances.iter().position(|instance| instance.name.text == first.name.text);
    let tells_apart = at.and_then(|at| check.layers[at].first()).is_some_and(|top| top.shape == Shape::Multiplexor);
    check.out.push(match tells_apart && first.name.span != second.name.span {
        true => diagnostic
            .help(format!("or put `{}` over `{}`, which has a key of its own", second.name.text, first.name.text)),
        false => diagnostic,
    });
}

fn over_endpoint(check: &mut StackCheck, top: &Layer, instance: &Instance) {
    let text = format!("`{}` is an endpoint, so nothing can stand on it", top.name.text);
    let diagnostic = Diagnostic::error(codes::SHAPE_ORDER, text)
        .at(instance.name.span, "stands on it here")
        .label(top.name.span, "an endpoint has nothing above")
        .help("stand on the layer below it, or make it a worker");
    check.out.push(diagnostic);
}

fn key_text(under: &Under) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for (name, value) in &under.bound {
        parts.push(format!("{}={}", name.text, types::number(value)?));
    }
    parts.sort();
    (!parts.is_empty()).then(|| parts.join(","))
}
