//! From a composed automaton to paths: a whole reaction, through all layers, as one straight piece of the form.
//!
//! For each event of a port the likeliest way is followed from its handler to its outputs ([`paths`]). What is asked on the
//! way becomes a guard, where the path refuses; what is done is done behind the last guard. Values are folded, headers are
//! octets at once, what was written is read back. It knows no protocol.
//!
//! Invariant: where a path does not refuse, it does what the handlers do, output for output.

mod decisions;
mod follow;
mod graph;
mod memos;
mod message;
mod pure;
mod region;
mod wires;
mod write;

use mokume_reaction::{Automaton, HandlerId, LayerId, Path, Trigger};

use decisions::search;
pub use memos::{remembered, WORTH};
pub use region::Why;
use region::{Do, Region};
use write::Ways;

/// What came of an event of a port.
#[derive(Clone, Debug)]
pub struct Found {
    /// The handler of the event.
    pub handler: HandlerId,
    /// The path, with the layers that it goes through, in order; or why there is none.
    pub path: Result<(Path, Vec<LayerId>), Why>,
}

/// Ways that are tried for an event.
const MOST_WAYS: usize = 400;
/// Ways of one path, which part where they differ.
const LEAVES: usize = 6;
/// A way that is taken less often than this, where the likeliest is taken once, is left to the handlers.
const SELDOM: f32 = 0.01;

/// For each event that enters by a port, the likeliest way through the reaction. The automaton must have been verified; one that was
/// not composed has queues everywhere.
pub fn paths(automaton: &Automaton) -> Vec<Found> {
    let flat = mokume_analyse::flat(automaton);
    let flat = &*flat;
    entries(flat)
        .into_iter()
        .map(|handler| {
            let found = search((LEAVES, MOST_WAYS), |decisions| {
                let mut region = Region::new(flat, decisions);
                let followed = region.reaction(handler);
                let decisions = std::mem::take(&mut region.decisions);
                (decisions, followed.map(|()| region))
            });
            let path = found.and_then(|(mut taken, failed)| {
                // Who measures nothing expects that messages arrive: a way that drops them is not the usual one.
                let drops = taken[0].found.deeds.iter().any(|deed| matches!(deed.what, Do::Drop { .. }));
                if drops && failed.is_some() {
                    return Err(failed);
                }
                let first = taken.remove(0);
                let layers = first.found.layers.clone();
                let least = first.likely * SELDOM;
                let mut ways = Ways { region: first.found, ways: first.ways, others: Vec::new() };
                let others = taken.into_iter().filter(|other| other.likely >= least);
                others.for_each(|other| ways.add(other.found, other.ways));
                Ok((Path { handler, body: write::body(ways, handler) }, layers))
            });
            let nowhere = || Why { what: "leads nowhere".to_owned(), source: None };
            Found { handler, path: path.map_err(|why| why.unwrap_or_else(nowhere)) }
        })
        .collect()
}

/// The handlers of events that enter by a port, each once.
fn entries(automaton: &Automaton) -> Vec<HandlerId> {
    let mut entries = Vec::new();
    for input in automaton.ports.iter().flat_map(|port| &port.inputs) {
        let handler = automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()));
        entries.extend(handler.filter(|handler| !entries.contains(handler)));
    }
    entries
}

/// The automaton with the paths that were found.
pub fn with_paths(automaton: &Automaton) -> Automaton {
    let paths = paths(automaton).into_iter().filter_map(|found| Some(found.path.ok()?.0)).collect();
    Automaton { paths, ..automaton.clone() }
}
