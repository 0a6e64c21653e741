//! How a running stack is driven, whatever runs it: the interpreter, or C behind the same door.
//!
//! Time and randomness enter here only: `now` with each call, the seed when the machine is made.

use crate::trace::Trace;
use crate::{Handle, PortId, ReasonId};

/// An argument of a port's event.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Datum {
    /// A scalar; booleans are 0 and 1.
    Word(u64),
    /// An object, as applications see it.
    Handle(Handle),
    /// A message's octets.
    Message(Vec<u8>),
}

/// An event that left by a port; `event` is the index in [`crate::Port::outputs`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Datum>,
}

/// Arithmetic and bounds reports (docs/semantics.md, A11 and A12): an output, the same on every back end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Report {
    /// `+ - *` carried, or a cast by the language's checked form did not fit.
    Overflow,
    DivisionByZero,
    /// An index, offset or size beyond its container.
    Bounds,
    /// A quota got back more than was taken; a place was not empty.
    Misuse,
    /// A wire's field was too narrow for its value.
    Narrow,
}

impl Report {
    /// All kinds, in their order.
    pub const ALL: [Report; 5] =
        [Report::Overflow, Report::DivisionByZero, Report::Bounds, Report::Misuse, Report::Narrow];

    /// As tests name it, and all that shows it to people.
    pub fn word(self) -> &'static str {
        match self {
            Report::Overflow => "overflow",
            Report::DivisionByZero => "division",
            Report::Bounds => "bounds",
            Report::Misuse => "misuse",
            Report::Narrow => "narrow",
        }
    }

    /// The one of that word.
    pub fn named(word: &str) -> Option<Report> {
        Report::ALL.into_iter().find(|report| report.word() == word)
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What one call brought about. Reports are in order of their operations, with the source line where there is one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    pub outputs: Vec<Output>,
    pub reports: Vec<(Report, String)>,
    /// The call was refused at the door: the pool has no room for a reaction, or the handle refers to nothing.
    pub refused: bool,
}

/// What became of the messages that came in by ports, and what is held; totals since the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accounts {
    /// Messages that came in by ports of kind `Device`.
    pub received: u64,
    /// Messages dropped and consumed, by reason (only those that occurred), of whatever origin.
    pub dropped: Vec<(ReasonId, u64)>,
    pub consumed: Vec<(ReasonId, u64)>,
    /// Dropped because their object had ended.
    pub gone: u64,
    /// Messages that left by a port.
    pub delivered: u64,
    /// Joined into another message.
    pub merged: u64,
    /// Messages in cells or in `later` queues now.
    pub held: u64,
    pub refused: u64,
    /// Counter cells: `class.cell`, summed over objects, living and ended.
    pub counters: Vec<(String, u64)>,
}

impl Accounts {
    /// Adds those of another machine of the same automaton.
    pub fn add(&mut self, other: &Accounts) {
        self.received += other.received;
        self.gone += other.gone;
        self.delivered += other.delivered;
        self.merged += other.merged;
        self.held += other.held;
        self.refused += other.refused;
        add_by(&mut self.dropped, &other.dropped);
        add_by(&mut self.consumed, &other.consumed);
        add_by(&mut self.counters, &other.counters);
    }
}

fn add_by<K: PartialEq + Clone>(sums: &mut Vec<(K, u64)>, more: &[(K, u64)]) {
    for (key, count) in more {
        match sums.iter_mut().find(|(known, _)| known == key) {
            Some((_, sum)) => *sum += count,
            None => sums.push((key.clone(), *count)),
        }
    }
}

/// A running stack.
pub trait Machine {
    /// The start handlers, in order. Called once, first.
    fn start(&mut self, now: u64) -> Outcome;
    /// Runs the timers due at or before `now`, then the event; `event` is the index in [`crate::Port::inputs`].
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome;
    /// Runs the timers due at or before `now`, and continuations.
    fn advance(&mut self, now: u64) -> Outcome;
    /// When `advance` has something to do next, in nanoseconds.
    fn next_deadline(&self) -> Option<u64>;
    fn accounts(&self) -> Accounts;
    /// How often something was asked for that there was no room for; 0 of a machine that has room for all.
    fn exhausted(&self) -> u64 {
        0
    }
    /// How many reactions there were; 0 of a machine that does not say.
    fn reactions(&self) -> u64 {
        0
    }
    /// From here on what each call does is noted, by a machine that can: see [`Machine::traced`].
    fn trace(&mut self) {}
    /// What the last call did, once; none of a machine that does not note it.
    fn traced(&mut self) -> Option<Trace> {
        None
    }
}

impl<M: Machine + ?Sized> Machine for &mut M {
    fn start(&mut self, now: u64) -> Outcome {
        (**self).start(now)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        (**self).input(now, port, event, args)
    }

    fn advance(&mut self, now: u64) -> Outcome {
        (**self).advance(now)
    }

    fn next_deadline(&self) -> Option<u64> {
        (**self).next_deadline()
    }

    fn accounts(&self) -> Accounts {
        (**self).accounts()
    }

    fn exhausted(&self) -> u64 {
        (**self).exhausted()
    }

    fn reactions(&self) -> u64 {
        (**self).reactions()
    }

    fn trace(&mut self) {
        (**self).trace();
    }

    fn traced(&mut self) -> Option<Trace> {
        (**self).traced()
    }
}

/// Functions in C, for who runs a stack without being C.
pub trait Natives: Send + Sync {
    /// The result of a function, 0 if it has none. `octets` are those of its message and how many there may be afterwards.
    fn call(&self, symbol: &str, args: &[u64], octets: Option<(&mut Vec<u8>, u32)>) -> u64;
}
