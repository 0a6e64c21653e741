//! Events of layers and of vocabularies: which layers handle and emit them, and whether they reach a port or come from
//! one.

use crate::program::*;
use crate::visit::{self, Met};

/// The event that a handler stops instead of passing it on, and the side that it comes from.
pub fn keeps(handler: &Handler) -> Option<(&str, Origin)> {
    let Event::Custom { name, from, .. } = &handler.event else { return None };
    let passes = visit::any(&handler.body, |met| matches!(met, Met::Stmt(Stmt { kind: StmtKind::Pass, .. })));
    (!passes).then_some((&name.text, *from))
}

/// Whether a layer declares the event in a vocabulary that it speaks.
pub(super) fn speaks(program: &Program, layer: &Layer, event: &str) -> bool {
    layer.speaks.iter().any(|(id, _)| program.vocabularies[id.index()].event(event).is_some())
}

/// The handler at which an event from that side ends, though it would otherwise go on: the handler does not pass it,
/// and no code of the layer emits it further.
pub(super) fn ends_at<'a>(
    program: &Program,
    layer: &'a Layer,
    event: &str,
    from: Origin,
) -> Option<(&'a Layer, &'a Handler)> {
    let kept = |handler: &&Handler| keeps(handler).is_some_and(|(name, side)| name == event && side == from);
    let handler = layer.handlers.iter().filter(|_| goes_on(program, layer, event)).find(kept)?;
    let says_on = match from {
        Origin::Below => emits_up(layer, event),
        _ => emits_down(layer, event),
    };
    (!says_on).then_some((layer, handler))
}

/// The event of this name in the vocabularies of a layer.
pub fn spoken<'a>(
    program: &'a Program,
    layer: &'a Layer,
    event: &'a str,
) -> impl Iterator<Item = &'a signature::Carried> {
    layer.speaks.iter().filter_map(move |(id, _)| program.vocabularies[id.index()].event(event))
}

/// Whether a vocabulary of the layer declares the event as optional.
pub fn is_optional(program: &Program, layer: &Layer, event: &str) -> bool {
    spoken(program, layer, event).any(|event| event.optional)
}

/// Whether a vocabulary of the program says that the event goes to all layers on its side.
fn is_of_all(program: &Program, event: &str) -> bool {
    program.vocabularies.iter().any(|known| known.event(event).is_some_and(|known| known.of_all))
}

/// Whether events from that side go on through a layer: workers pass what they do not handle, and all shapes but
/// endpoints pass events for all.
pub(super) fn lets_through(program: &Program, layer: &Layer, event: &str, from: Origin) -> bool {
    let kept = layer.handlers.iter().filter_map(keeps).any(|(name, side)| name == event && side == from);
    goes_on(program, layer, event) && !kept
}

/// Whether a layer passes events of this name if it has no handler.
fn goes_on(program: &Program, layer: &Layer, event: &str) -> bool {
    layer.shape == Shape::Worker || layer.shape != Shape::Endpoint && is_of_all(program, event)
}

/// Whether an event of a vocabulary comes from or goes to an application, past all layers above this one.
pub(super) fn meets_application(
    program: &Program,
    stack: &Stack,
    (index, at): (usize, usize),
    event: &str,
    from: Origin,
) -> bool {
    let through = |layers: &[&Layer]| layers.iter().all(|layer| lets_through(program, layer, event, from));
    if !through(&program.layers_of(&stack.instances[index].of)[..at]) {
        return false;
    }
    let mut front = vec![index];
    let mut seen = Vec::new();
    while let Some(below) = front.pop() {
        if stack.exports.iter().any(|export| export.text == stack.instances[below].name.text) {
            return true;
        }
        seen.push(below);
        for (above, instance) in stack.instances.iter().enumerate() {
            let over = |under: &Under| matches!(under.over, Over::Instance(lower) if lower as usize == below);
            let stands = instance.unders.iter().any(over);
            if stands && !seen.contains(&above) && through(&program.layers_of(&instance.of)) {
                front.push(above);
            }
        }
    }
    false
}

/// Whether a layer has a handler of this name for events from that side.
pub fn handles(layer: &Layer, event: &str, side: Origin) -> bool {
    layer.handlers.iter().any(|handler| match &handler.event {
        Event::Custom { name, from, .. } => name.text == event && *from == side,
        _ => false,
    })
}

/// Whether a layer's code contains `above.name(…)`.
pub fn emits_up(layer: &Layer, event: &str) -> bool {
    emits(layer, event, false)
}

/// Whether a layer's code contains `below.name(…)`.
pub(super) fn emits_down(layer: &Layer, event: &str) -> bool {
    emits(layer, event, true)
}

fn emits(layer: &Layer, event: &str, wanted: bool) -> bool {
    visit::any_in_layer(layer, |met| match met {
        Met::Stmt(Stmt { kind: StmtKind::Emit(Emission::Custom { name, down, .. }), .. }) => {
            *down == wanted && name.text == event
        }
        _ => false,
    })
}
