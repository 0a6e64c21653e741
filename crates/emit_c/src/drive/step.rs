//! What is tried on a machine: one call, and how many of them.

use mokume_reaction::*;

/// A sequence ends, judged, after so many reactions: a stack whose parameters let it never rest makes 65,536 in each call,
/// and all that it does is more of the same.
pub(super) const BUSY: u64 = 100_000;

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drive {
    /// The first sequence's seed; sequence `i` has seed `seed + i`.
    pub seed: u64,
    pub sequences: u64,
    /// Events and passings of time in one sequence.
    pub steps: u32,
    /// Octets of a message, at most.
    pub longest: usize,
    /// So many sequences of a hundred have a sibling.
    pub siblings: u64,
    /// So many of a thousand fill what can be full, and are longer.
    pub bursts: u64,
    /// So many of a hundred begin with a lesson that has a seed, whole and as it is; those take turns.
    pub whole: u64,
    /// So many of a hundred that begin with what brought something new about do its last step again and again, as it was or changed in one thing.
    pub nearby: u64,
    pub accounts: AccountsCompared,
}

/// When the accounts of both machines are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccountsCompared {
    AfterEachStep,
    /// Of each sequence: cheaper.
    AtTheEnd,
}

impl Default for Drive {
    fn default() -> Self {
        Drive {
            seed: 1,
            sequences: 100,
            steps: 40,
            longest: 600,
            siblings: 0,
            bursts: 0,
            whole: 0,
            nearby: 0,
            accounts: AccountsCompared::AfterEachStep,
        }
    }
}

/// One call of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    Input { now: u64, port: PortId, event: u32, args: Vec<Datum> },
    Advance { now: u64 },
}

/// Makes the call.
pub(super) fn act(machine: &mut impl Machine, step: &Step) -> Outcome {
    match step {
        Step::Input { now, port, event, args } => machine.input(*now, *port, *event, args),
        Step::Advance { now } => machine.advance(*now),
    }
}
