//! Handlers of the files' own layers that stand in the automaton of no stack: what they say never happens.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};
use mokume_semantics::codes;
use mokume_semantics::program::{Event, Layer};

use crate::compile::Checked;

/// The places of a stack's handlers in its automaton; `None` if it has errors.
type Reached<'m> = Option<&'m BTreeSet<Span>>;

/// Warns of handlers that run in none of the stacks here. Layers that are in no stack, or in one with errors, are not
/// judged; nor are handlers of which something was said already.
pub(crate) fn check<'m>(checked: &Checked, reached: &dyn Fn(u32) -> Reached<'m>, diagnostics: &mut Vec<Diagnostic>) {
    let program = &checked.program;
    let mut used: BTreeMap<Span, (&Layer, Vec<Reached>)> = BTreeMap::new();
    for (at, stack) in program.stacks.iter().enumerate() {
        let layers = stack.instances.iter().flat_map(|instance| program.layers_of(&instance.of));
        for layer in layers.filter(|layer| checked.roots.contains(&layer.name.span.file)) {
            used.entry(layer.name.span).or_insert((layer, Vec::new())).1.push(reached(at as u32));
        }
    }
    for (layer, stacks) in used.into_values() {
        let Some(stacks) = stacks.into_iter().collect::<Option<Vec<&BTreeSet<Span>>>>() else { continue };
        // Who serves a service serves all of it, whatever is asked.
        let handlers = layer.handlers.iter().filter(|handler| !matches!(handler.event, Event::Service { .. }));
        for handler in handlers {
            let is_said = |found: &Diagnostic| {
                found.primary.as_ref().is_some_and(|label| {
                    label.span.file == handler.span.file
                        && handler.span.start <= label.span.start
                        && label.span.end <= handler.span.end
                })
            };
            if stacks.iter().any(|reached| reached.contains(&handler.span)) || diagnostics.iter().any(is_said) {
                continue;
            }
            let text = format!("nothing here makes this handler of `{}` run", layer.name.text);
            let found = Diagnostic::warning(codes::UNREACHED, text)
                .at(handler.span, "never runs in any stack here")
                .help("remove it, or put the layer where the event comes: `mokume doc` shows who emits it");
            diagnostics.push(found);
        }
    }
}
