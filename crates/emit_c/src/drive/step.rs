//! What is tried on a machine: one call, and the amounts.

use mokume_reaction::*;

/// A sequence ends, with a verdict, after this many reactions. A stack whose parameters never let it rest makes 65,536
/// in each call, all of the same kind.
pub(super) const BUSY: u64 = 100_000;

/// How much is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drive {
    /// The first sequence's seed; sequence `i` has seed `seed + i`.
    pub seed: u64,
    pub sequences: u64,
    /// The number of events and passings of time in a sequence.
    pub steps: u32,
    /// The most octets of a message.
    pub longest: usize,
    /// How many of 100 sequences have a sibling.
    pub siblings: u64,
    /// How many of 1000 sequences fill containers, and are longer.
    pub bursts: u64,
    /// How many of 100 sequences begin with a whole, unchanged lesson that has a seed; the lessons take turns.
    pub whole: u64,
    /// How many of 100 sequences that begin with something that was new repeat its last step, unchanged or changed in
    /// one thing.
    pub nearby: u64,
    pub accounts: AccountsCompared,
    /// Whether the next deadlines are compared: not if one of the two has a timer more.
    pub deadlines: bool,
}

/// When the accounts of both machines are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccountsCompared {
    AfterEachStep,
    /// At the end of each sequence, which is cheaper.
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
            deadlines: true,
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
