//! What a layer publishes for those above it: names and shapes, before a run.

use std::collections::BTreeMap;

use mokume_reaction::{Automaton, Function};
use mokume_script::Shape;
use mokume_semantics::program::Program;

use crate::shapes;

/// The end of the name of a function for a value of a flow.
const OF_FLOW: &str = "_of";

/// The shapes of published values by their names; `None` if layers publish different ones by one name.
pub(super) fn shapes_of(program: &Program) -> BTreeMap<String, Option<Shape>> {
    let mut found = BTreeMap::new();
    for publish in program.layers.iter().flat_map(|layer| &layer.publishes) {
        let shape = Some(shapes::of(program, publish.ty, publish.written));
        let known = found.entry(publish.name.text.clone()).or_insert_with(|| shape.clone());
        if *known != shape {
            *known = None;
        }
    }
    found
}

/// The names of the values that layers read of those below them.
pub(super) fn names(automaton: &Automaton) -> impl Iterator<Item = String> + '_ {
    automaton.functions.iter().filter_map(|function| Some(name_of(automaton, function)?.to_string()))
}

/// The name of a published value; `None` of another function.
pub(super) fn name_of<'a>(automaton: &'a Automaton, function: &'a Function) -> Option<&'a str> {
    let class = function.published()?;
    let own = function.name.strip_prefix(automaton.class(class).name.as_str())?.strip_prefix('.')?;
    let of_flow = own.strip_suffix(OF_FLOW).filter(|_| function.params.len() > 1);
    Some(of_flow.unwrap_or(own))
}
