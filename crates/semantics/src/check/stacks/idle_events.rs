//! Handlers of session events in workers that only ever carry flow traffic.

use std::collections::BTreeMap;

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
                    let has_sessions = offers::below(&check, &descent, at) != Offer::Flows;
                    meets.entry(layer.name.span).or_insert((layer, false)).1 |= has_sessions;
                }
            }
        }
    }
    for (layer, has_sessions) in meets.into_values() {
        let keeps_some = offers::has_scope(layer, ScopeKind::Session) || offers::has_scope(layer, ScopeKind::Point);
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
                .help("give the layer a `session` scope, put it over a multiplexor, or remove the handler"),
            );
        }
    }
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
