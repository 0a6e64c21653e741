//! Recordings of a run, for tools: branches taken, and the instants with their emissions (for sequence charts).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mokume_reaction::profile::{Going, Profile};
use mokume_reaction::{Automaton, BlockId, Handle, HandlerId, PortId, Unit};

/// A recording; off by default. Recording never changes what a run does.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    pub coverage: Option<Coverage>,
    pub instants: Option<Vec<Instant>>,
    /// Of each output, in their order, the instant that emitted it, if instants are recorded.
    pub outputs: Vec<usize>,
    pub(crate) ways: Option<Ways>,
}

/// The ways of reactions, which several instances add to one profile.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    pub going: Going,
    pub profile: Arc<Mutex<Profile>>,
}

impl Ways {
    /// Notes that a reaction has ended, and nothing is left to settle.
    pub fn end(&mut self) {
        self.going.end(&mut lock(&self.profile));
    }
}

/// How often each edge between blocks was taken.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    pub edges: Vec<u64>,
    pub handlers: Vec<u64>,
}

/// One event handled by one object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instant {
    /// The number of its reaction, from 0.
    pub reaction: u64,
    pub now: u64,
    pub object: Handle,
    pub handler: HandlerId,
    pub cause: Cause,
    pub emissions: Vec<Emission>,
}

/// The cause of an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    Start,
    Input(PortId),
    /// Index of an instant, and of an emission in it.
    Emission(usize, usize),
    Expiry,
    Settle,
    Later,
}

/// What an instant emitted, in order; `later` events are not included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emission {
    pub to: Recipient,
    /// Whether its object had already ended.
    pub gone: bool,
}

/// The receiver of an emission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recipient {
    Object { object: Handle, handler: HandlerId },
    Port { port: PortId, event: u32 },
}

impl Coverage {
    /// Each edge: the handler or procedure, the block, the index of the target in
    /// [`mokume_reaction::Terminator::targets`], and its count.
    pub fn taken<'a>(&'a self, automaton: &'a Automaton) -> impl Iterator<Item = (Unit, BlockId, usize, u64)> + 'a {
        let blocks = Unit::code(automaton).flat_map(|unit| {
            let blocks = unit.body(automaton).blocks.iter().enumerate();
            blocks.map(move |(block, body)| (unit, block, body.terminator.targets().len()))
        });
        let targets = blocks.flat_map(|(unit, block, targets)| (0..targets).map(move |t| (unit, block, t)));
        targets.zip(&self.edges).map(|((unit, block, target), count)| (unit, BlockId(block as u32), target, *count))
    }
}

/// Locks shared data, even if another holder has panicked: counts are always consistent.
pub fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
