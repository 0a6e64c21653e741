//! The common path, taken event after event, is the body of a loop: what a loop optimiser knows applies to it.

pub mod budget;
pub mod counters;
mod records;

use mokume_reaction::{Automaton, CellId, ClassId, LensCellId, LensId, Term};

/// A lens cell that runs down by one with every event of some paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Base {
    pub lens: LensId,
    pub width: u8,
    /// The paths that move it, by index.
    pub paths: Vec<usize>,
    pub counters: Vec<Counter>,
    /// What a fast path may take before it must look at the layered state again; none: nothing is asked of the state.
    pub limit: Option<Limit>,
    /// Its cell, once the lens has it.
    pub cell: LensCellId,
}

/// A layered cell that moves by `step` whenever its base moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    pub class: ClassId,
    pub cell: CellId,
    pub width: u8,
    /// Modulo 2^width.
    pub step: u64,
}

/// Guards that depend on state alone, as a number of events.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// How many events the guards let through, over layered cells of object 0; of the base's width.
    pub room: Term,
    /// The guards that it stands for: path and condition.
    pub guards: Vec<(usize, Term)>,
    /// The layered cells that it speaks of.
    pub cells: Vec<(ClassId, CellId)>,
}

/// Counters unified, and guards on state folded into budgets where `limits` says so.
pub fn run(automaton: &Automaton, limits: bool) -> Automaton {
    let mut bases = counters::find(automaton);
    if limits {
        budget::find(automaton, &mut bases);
    }
    // One counter alone gains nothing from a base, unless its base is also the limit for several guards.
    bases.retain(|base| base.counters.len() >= 2 || base.limit.as_ref().is_some_and(|limit| limit.guards.len() >= 2));
    records::rebuild(automaton, bases)
}
