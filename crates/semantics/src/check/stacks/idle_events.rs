//! Handlers of session events in workers that only ever carry flow traffic.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::check::descents;
use crate::check::stacks::context::StackCheck;
use crate::check::stacks::offers;
use crate::check::stacks::offers::Offer;
use crate::codes;
use crate::program::*;

/// A worker without a session scope gets session events only if they pass through it. Warns if they do so in no stack
/// that has the worker; layers that are in no stack are not judged.
pub fn check(program: &Program, out: &mut Vec<Diagnostic>) {
    let mut meets: BTreeMap<Span, (&Layer, bool)> = BTreeMap::new();
    for stack in &program.stacks {
        let layers = stack.instances.iter().map(|instance| program.layers_of(&instance.of)).collect();
        let check = StackCheck { program, stack, layers, out: &mut Vec::new() };
        for index in 0..stack.instances.len() {
            for descent in descents::all(stack, index) {
                for (at, layer) in check.layers[index].iter().enumerate() {
                    let has_sessions = match offers::below(&check, &descent, at) {
                        Offer::Flows => false,
                        Offer::Sessions => true,
                        Offer::Both => uses_sessions(&check, (index, at), &mut BTreeSet::new()),
                    };
                    meets.entry(layer.name.span).or_insert((layer, false)).1 |= has_sessions;
                }
            }
        }
    }
    for (layer, has_sessions) in meets.into_values() {
        let keeps_some = layer.has_scope(ScopeKind::Session) || layer.has_scope(ScopeKind::Point);
        if has_sessions || layer.shape != Shape::Worker || keeps_some {
            continue;
        }
        for handler in &layer.handlers {
            let Some(event) = of_sessions(&handler.event) else { continue };
            out.push(
                Diagnostic::warning(
                    codes::UNREACHED,
                    format!("`{event}` never comes to `{}`: it stands in flow traffic", layer.name.text),
                )
                .at(handler.span, "this handler never runs in any stack here")
                .help("give the layer a `session` scope, put it above the multiplexor whose sessions are meant, or remove the handler"),
            );
        }
    }
}

/// Whether what stands above the layer `at` of an instance uses sessions where it could have flow traffic, too.
fn uses_sessions(check: &StackCheck, (index, at): (usize, usize), seen: &mut BTreeSet<usize>) -> bool {
    for layer in check.layers[index][..at].iter().rev() {
        if layer.wants_sessions() || layer.awaits() {
            return true;
        }
        // Any other worker uses what stands above it uses.
        if layer.shape != Shape::Worker {
            return false;
        }
    }
    let instance = &check.stack.instances[index];
    let is_exported = check.stack.exports.iter().any(|export| export.text == instance.name.text);
    let is_over = |under: &Under| matches!(under.over, Over::Instance(below) if below as usize == index);
    is_exported
        || check.stack.instances.iter().enumerate().any(|(user, instance)| {
            let stands_on = instance.unders.iter().any(is_over) && seen.insert(user);
            stands_on && uses_sessions(check, (user, check.layers[user].len()), seen)
        })
}

fn of_sessions(event: &Event) -> Option<&'static str> {
    match event {
        Event::Open { .. } => Some("open"),
        Event::Opened => Some("opened"),
        Event::Accepted { .. } => Some("accepted"),
        Event::Close => Some("close"),
        Event::Abort => Some("abort"),
        Event::Closed => Some("closed"),
        Event::Failed { .. } => Some("failed"),
        _ => None,
    }
}
