//! The common way through a composed stack as one path: emissions into calls, calls into one body, headers forwarded.
//!
//! Origin: the layers' inlining of Morpheus and the bypass of Ensemble; here from the automaton alone. Precondition: a composed
//! automaton; reactions that use queued channels are left layered.

mod guards;
mod lenses;
mod message;
mod operation;
mod walk;

use mokume_reaction::{Automaton, Path, PortId};

pub use message::{binary, cast, number, Packet};
pub use walk::{compare, Value, Way};

/// The automaton with paths for each port event whose common ways can be read, and a plain lens for each record they touch.
pub fn fuse(automaton: &Automaton) -> Automaton {
    let mut fused = Automaton { lenses: lenses::plain(automaton), ..automaton.clone() };
    let mut paths = Vec::new();
    for (port, described) in automaton.ports.iter().enumerate() {
        for event in 0..described.inputs.len() {
            let (port, event) = (PortId::from(port), event as u32);
            for (place, way) in common_ways(&fused, port, event).into_iter().enumerate() {
                let path = path_of(&fused, port, event, place, way);
                if !guards::is_contradictory(&path) {
                    paths.push(path);
                }
            }
        }
    }
    fused.paths = paths;
    fused
}

/// Paths for one event at most, and the least share of its events that is worth one.
const MOST_PATHS: usize = 3;
const LEAST_SHARE: f64 = 0.1;

/// The likeliest ways that do something for their event: send, deliver or use up what came.
pub fn common_ways(automaton: &Automaton, port: PortId, event: u32) -> Vec<Way> {
    let mut useful: Vec<Way> = walk::ways(automaton, port, event).into_iter().filter(Way::is_useful).collect();
    useful.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    useful.retain(|way| way.likelihood >= LEAST_SHARE);
    useful.truncate(MOST_PATHS);
    useful
}

fn path_of(automaton: &Automaton, port: PortId, event: u32, place: usize, way: Way) -> Path {
    let described = &automaton.ports[port.index()];
    let mut name = format!("{}.{}", described.name, described.inputs[event as usize].event);
    if place > 0 {
        name.push_str(&format!(".{}", place + 1));
    }
    let (commit, outs) = (way.commit(), way.outs());
    let mut path = Path { name, port, event, steps: way.steps, commit, outs };
    guards::drop_implied(automaton, &mut path);
    path
}
