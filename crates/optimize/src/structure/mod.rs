//! The common way through a composed stack as one path: emissions into calls, calls into one body, headers forwarded.
//!
//! Origin: the layers' inlining of Morpheus and the bypass of Ensemble; here from the automaton alone. Precondition: a composed
//! automaton; reactions that use queued channels are left layered.

mod lenses;
mod message;
mod operation;
mod walk;

use mokume_reaction::{Automaton, Path, PortId};

pub use message::Packet;
pub use walk::{Value, Way};

/// The automaton with a path for each port event whose common way can be read, and a plain lens for each record they touch.
pub fn fuse(automaton: &Automaton) -> Automaton {
    let mut fused = Automaton { lenses: lenses::plain(automaton), ..automaton.clone() };
    let mut paths = Vec::new();
    for (port, described) in automaton.ports.iter().enumerate() {
        for event in 0..described.inputs.len() {
            if let Some(way) = common_way(&fused, PortId::from(port), event as u32) {
                paths.push(path_of(&fused, PortId::from(port), event as u32, way));
            }
        }
    }
    fused.paths = paths;
    fused
}

/// The likeliest way that does something for its event: sends, delivers or keeps what came.
pub fn common_way(automaton: &Automaton, port: PortId, event: u32) -> Option<Way> {
    let ways = walk::ways(automaton, port, event);
    let useful = ways.into_iter().filter(|way| way.is_useful());
    useful.fold(None, |best: Option<Way>, way| match best {
        Some(best) if best.likelihood >= way.likelihood => Some(best),
        _ => Some(way),
    })
}

fn path_of(automaton: &Automaton, port: PortId, event: u32, way: Way) -> Path {
    let described = &automaton.ports[port.index()];
    let name = format!("{}.{}", described.name, described.inputs[event as usize].event);
    let (commit, outs) = (way.commit(), way.outs());
    Path { name, port, event, steps: way.steps, commit, outs }
}
