//! A machine whose clock differs from the network's.

use mokume_reaction::trace::{Held, Trace};
use mokume_reaction::{Accounts, Datum, Machine, Outcome, PortId};

/// A clock that is ahead by some nanoseconds at the network's start, and gains or loses some each second.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Clock {
    pub ahead: u64,
    /// Nanoseconds per second, less than a second in either direction.
    pub gains: i64,
}

/// A machine with its own time.
pub struct Clocked {
    machine: Box<dyn Machine>,
    clock: Clock,
}

const SECOND: i128 = 1_000_000_000;

impl Clocked {
    /// The machine with a clock.
    pub fn new(machine: Box<dyn Machine>, clock: Clock) -> Self {
        Clocked { machine, clock }
    }
}

impl Clock {
    /// The clock's time at a time of the network. It never goes backwards.
    pub fn shown(&self, now: u64) -> u64 {
        let passed = i128::from(now) * (SECOND + i128::from(self.gains)) / SECOND;
        u64::try_from(i128::from(self.ahead) + passed).unwrap_or(u64::MAX)
    }

    /// The first time of the network at which the clock shows this time or more.
    fn first(&self, shown: u64) -> u64 {
        let Some(passed) = shown.checked_sub(self.ahead) else { return 0 };
        let rate = SECOND + i128::from(self.gains);
        let at = (i128::from(passed) * SECOND + rate - 1) / rate;
        u64::try_from(at).unwrap_or(u64::MAX)
    }
}

impl Machine for Clocked {
    fn start(&mut self, now: u64) -> Outcome {
        self.machine.start(self.clock.shown(now))
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        self.machine.input(self.clock.shown(now), port, event, args)
    }

    fn advance(&mut self, now: u64) -> Outcome {
        self.machine.advance(self.clock.shown(now))
    }

    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline().map(|deadline| self.clock.first(deadline))
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

    /// Deadlines are told in the network's time, as all other times of a record.
    fn traced(&mut self) -> Option<Trace> {
        let mut trace = self.machine.traced()?;
        for due in trace.steps.iter_mut().filter_map(|step| step.due.as_mut()) {
            *due = self.clock.first(*due);
        }
        for cell in trace.changes.iter_mut().flat_map(|change| &mut change.cells) {
            for held in [&mut cell.from, &mut cell.to].into_iter().flatten() {
                if let Held::Armed(deadline) = held {
                    *deadline = self.clock.first(*deadline);
                }
            }
        }
        Some(trace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deadline is reached at the first moment at which the clock shows it, and not before.
    #[test]
    fn first_is_the_inverse_of_shown() {
        for gains in [0, 1, -1, 50_000, -50_000, 499_999_999, -499_999_999] {
            for ahead in [0, 3, 5_000_000_000] {
                let clock = Clock { ahead, gains };
                for shown in [0, 1, 2, 7, 1_000_000, 999_999_999, 1_000_000_001, 5_000_000_000, 77_777_777_777] {
                    let at = clock.first(shown);
                    assert!(clock.shown(at) >= shown, "{gains} {ahead} {shown}");
                    assert!(at == 0 || clock.shown(at - 1) < shown, "{gains} {ahead} {shown} at {at}");
                }
            }
        }
    }
}
