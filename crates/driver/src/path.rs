//! `mokume path`: for each event of a port, the likeliest way through all layers, in the words of the source.

use mokume_fuse::Found;
use mokume_reaction::{Automaton, Block, SourceId, Terminator, Trigger};

/// What is known of an event's path.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The events of ports that lead to it: `port.event`.
    pub events: Vec<String>,
    /// The path, or why there is none.
    pub path: Result<Way, Nowhere>,
}

/// A way through the layers.
#[derive(Clone, Debug)]
pub struct Way {
    /// The layers that it goes through, in order.
    pub layers: Vec<String>,
    /// What it asks before it does anything; where an answer is another one, the handlers do it all.
    pub guards: usize,
    pub operations: usize,
    /// Its operations, each with the place in the source where it comes from, if one is known.
    pub lines: Vec<(String, Option<String>)>,
}

/// Why there is no path.
#[derive(Clone, Debug)]
pub struct Nowhere {
    /// What the way that was tried first meets: a sentence about an operation.
    pub why: String,
    /// `file:line`.
    pub place: Option<String>,
}

/// The automaton with a path in front of the handlers of each event that has one.
pub fn fused(composed: &Automaton) -> Automaton {
    mokume_fuse::with_paths(composed)
}

/// For each event of a port, in their order.
pub fn paths(composed: &Automaton) -> Vec<Shown> {
    mokume_fuse::paths(composed).into_iter().map(|found| shown(composed, found)).collect()
}

fn shown(automaton: &Automaton, found: Found) -> Shown {
    let handler = automaton.handler(found.handler);
    let inputs = automaton.ports.iter().flat_map(|port| port.inputs.iter().map(move |input| (port, input)));
    let leads = inputs
        .filter(|(_, input)| input.class == handler.class && handler.trigger == Trigger::Event(input.handler.clone()));
    let events = leads.map(|(port, input)| format!("{}.{}", port.name, input.event)).collect();
    let place = |source: SourceId| {
        let source = automaton.sources.get(source.index())?;
        Some(format!("{}:{}", source.file, source.line))
    };
    let path = match found.path {
        Ok((path, layers)) => {
            let asks = |block: &&Block| matches!(block.terminator, Terminator::Branch { .. } | Terminator::Try { .. });
            let lines = mokume_reaction::text::path_lines(automaton, &path).into_iter();
            Ok(Way {
                layers: layers.iter().map(|layer| automaton.layers[layer.index()].name.clone()).collect(),
                guards: path.body.blocks.iter().filter(asks).count(),
                operations: path.body.ops().count(),
                lines: lines.map(|(text, source)| (text, source.and_then(place))).collect(),
            })
        }
        Err(why) => Err(Nowhere { why: why.what, place: why.source.and_then(place) }),
    };
    Shown { events, path }
}
