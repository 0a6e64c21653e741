//! Watchers of running tests, for a parent that must know which test did not end.

use mokume_reaction::trace::Trace;
use mokume_reaction::{Accounts, Datum, Machine, Outcome as Reacted, PortId};
use mokume_script::Failure as Difference;

use crate::failure::Failure;
use crate::machines::Backend;

/// The result of one test on one back end.
pub struct Outcome {
    pub test: String,
    pub file: String,
    pub line: u32,
    pub backend: Backend,
    pub differences: Vec<Difference>,
    /// For a failed test, if requested: its page, or why there is none.
    pub page: Option<Result<String, Failure>>,
}

/// One test on one back end, before it runs.
pub struct Play<'a> {
    pub test: &'a str,
    pub file: &'a str,
    pub line: u32,
    pub backend: Backend,
    /// Whether it calls functions in C.
    pub calls_functions: bool,
}

/// Watches running tests.
pub trait Watch {
    /// Called before a test; returns whether to run it.
    fn begins(&mut self, play: &Play<'_>) -> bool;
    /// The stack has answered: all calls of C have returned.
    fn answers(&mut self);
    /// The test has ended.
    fn ended(&mut self, outcome: &Outcome);
}

/// No watcher: all tests run.
pub struct Unwatched;

impl Watch for Unwatched {
    fn begins(&mut self, _: &Play<'_>) -> bool {
        true
    }

    fn answers(&mut self) {}

    fn ended(&mut self, _: &Outcome) {}
}

/// A machine that tells when it has answered.
pub(super) struct Watched<'w, M> {
    pub machine: M,
    pub watch: &'w mut dyn Watch,
}

impl<M: Machine> Watched<'_, M> {
    fn answered(&mut self, outcome: Reacted) -> Reacted {
        self.watch.answers();
        outcome
    }
}

impl<M: Machine> Machine for Watched<'_, M> {
    fn start(&mut self, now: u64) -> Reacted {
        let outcome = self.machine.start(now);
        self.answered(outcome)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Reacted {
        let outcome = self.machine.input(now, port, event, args);
        self.answered(outcome)
    }

    fn advance(&mut self, now: u64) -> Reacted {
        let outcome = self.machine.advance(now);
        self.answered(outcome)
    }

    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }

    fn accounts(&self) -> Accounts {
        self.machine.accounts()
    }

    fn exhausted(&self) -> u64 {
        self.machine.exhausted()
    }

    fn reactions(&self) -> u64 {
        self.machine.reactions()
    }

    fn trace(&mut self) {
        self.machine.trace();
    }

    fn traced(&mut self) -> Option<Trace> {
        self.machine.traced()
    }
}
