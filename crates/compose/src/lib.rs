//! From the layers of a stack to one automaton: which channels need a queue, which objects are merged, how much memory
//! is needed.
//!
//! [`compose`] fills in [`mokume_reaction::Composition`]; no handler changes. It rejects a stack with a cycle that
//! crosses neither a device, nor an application port, nor a `later` event, and one whose pool is too small.
//!
//! Invariant: a composed automaton does what the uncomposed one does, output for output (docs/semantics.md, E1).

mod advice;
mod channels;
pub mod codes;
mod cycles;
mod findings;
mod graph;
mod held;
mod merge;
mod peak;
mod pool;

use mokume_reaction::{Automaton, Composition};

pub use advice::QUEUED;
#[doc(hidden)]
pub use channels::queued_by_the_graph_alone;
pub use channels::{queued_channels, Reason};
pub use findings::Finding;
pub use graph::{Channel, Emission, EventGraph, Node, NodeId, Receiver};
pub use pool::{Need, Options, Pool};

/// The composed automaton, if there is no error.
#[derive(Clone, Debug)]
pub struct Composed {
    pub automaton: Option<Automaton>,
    pub pool: Pool,
    pub findings: Vec<Finding>,
}

/// Composes a verified, uncomposed automaton. A pool of 0 buffers is replaced by the size that is needed.
pub fn compose(automaton: &Automaton, options: Options) -> Composed {
    let flat = &*mokume_analyse::flat(automaton);
    let graph = EventGraph::new(flat);
    let mut findings = cycles::check(flat, &graph);
    if !findings.is_empty() {
        return Composed { automaton: None, pool: Pool::default(), findings };
    }
    let reasons = queued_channels(flat, &graph);
    findings.extend(advice::warnings(flat, &graph, &reasons));
    let (held, outputs) = (peak::peak(flat, &graph), peak::outputs(flat, &graph));
    let pool = pool::pool(flat, options, &held);
    let peak = u32::try_from(held.sum).unwrap_or(u32::MAX);
    // Outputs are also held until then: a reaction with too many outputs is reported once.
    let too_much = pool::check_outputs(flat, &graph, outputs, &pool);
    findings.extend(too_much.or_else(|| pool.check(flat).map(Finding::of_stack)));
    let refused = findings.iter().any(|found| found.diagnostic.severity == mokume_base::Severity::Error);
    let automaton = (!refused).then(|| Automaton {
        pool: if automaton.pool == 0 { pool.sum() } else { automaton.pool },
        composition: Some(composition(automaton, &reasons, (peak, outputs))),
        ..automaton.clone()
    });
    Composed { automaton, pool, findings }
}

fn composition(automaton: &Automaton, reasons: &[Reason], (peak, outputs): (u32, u32)) -> Composition {
    let mut composition = Composition { merged: merge::merged(automaton), peak, outputs, ..Composition::default() };
    for reason in reasons {
        match reason.channel.to {
            Receiver::Layer(to) => composition.queued.push((reason.channel.from, to)),
            Receiver::Port(to) => composition.queued_outputs.push((reason.channel.from, to)),
        }
    }
    composition.queued.sort_unstable();
    composition.queued_outputs.sort_unstable();
    composition
}
