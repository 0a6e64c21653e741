//! How a running stack is driven, whether the interpreter runs it or C.
//!
//! Time and randomness enter here only: `now` with each call, the seed when the machine is made.

use crate::trace::Trace;
use crate::{Handle, PortId, ReasonId};

/// An argument of a port's event.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Datum {
    /// A scalar; booleans are 0 and 1.
    Word(u64),
    /// A handle of an object, as applications see it.
    Handle(Handle),
    /// A message's octets.
    Message(Vec<u8>),
}

/// An event that left at a port; `event` is the index in [`crate::Port::outputs`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Datum>,
}

/// Reports of arithmetic and bounds (docs/semantics.md, A11 and A12). They are outputs, and the same on every back end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Report {
    /// `+ - *` overflowed, or the value did not fit in a checked cast.
    Overflow,
    DivisionByZero,
    /// An index, offset or size outside its container.
    Bounds,
    /// More was given back to a quota than was taken, or a place was not empty.
    Misuse,
    /// A value did not fit in a wire's field.
    Narrow,
}

impl Report {
    /// All kinds, in their order.
    pub const ALL: [Report; 5] =
        [Report::Overflow, Report::DivisionByZero, Report::Bounds, Report::Misuse, Report::Narrow];

    /// The word for this report in tests and in output to people.
    pub fn word(self) -> &'static str {
        match self {
            Report::Overflow => "overflow",
            Report::DivisionByZero => "division",
            Report::Bounds => "bounds",
            Report::Misuse => "misuse",
            Report::Narrow => "narrow",
        }
    }

    /// The report with this word.
    pub fn named(word: &str) -> Option<Report> {
        Report::ALL.into_iter().find(|report| report.word() == word)
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// The result of one call. Reports are in the order of their operations, with the source line if there is one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    pub outputs: Vec<Output>,
    pub reports: Vec<(Report, String)>,
    /// The machine refused the call: the pool has no room for a reaction, or the handle is of no living object.
    pub refused: bool,
}

/// What became of the messages that came in by ports, and how many are held now; totals since the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accounts {
    /// Messages that came in by ports of kind `Device`.
    pub received: u64,
    /// Messages dropped and consumed, by reason, whatever their origin; only reasons that occurred.
    pub dropped: Vec<(ReasonId, u64)>,
    pub consumed: Vec<(ReasonId, u64)>,
    /// Messages dropped because their object had ended.
    pub gone: u64,
    /// Messages that left by a port.
    pub delivered: u64,
    /// Messages joined into another message.
    pub merged: u64,
    /// Messages now in cells or in `later` queues.
    pub held: u64,
    pub refused: u64,
    /// Counter cells: `class.cell`, summed over objects, living and ended.
    pub counters: Vec<(String, u64)>,
}

impl Accounts {
    /// Adds the accounts of another machine with the same automaton.
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
    /// Runs the start handlers, in order. Called once, before anything else.
    fn start(&mut self, now: u64) -> Outcome;
    /// Runs the timers due at or before `now`, then the event; `event` is the index in [`crate::Port::inputs`].
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome;
    /// Runs the timers due at or before `now`, and continuations.
    fn advance(&mut self, now: u64) -> Outcome;
    /// The next time at which `advance` has work, in nanoseconds.
    fn next_deadline(&self) -> Option<u64>;
    fn accounts(&self) -> Accounts;
    /// How often a request found no room; 0 if the machine has room for everything.
    fn exhausted(&self) -> u64 {
        0
    }
    /// The number of reactions so far; 0 if the machine does not count them.
    fn reactions(&self) -> u64 {
        0
    }
    /// From now on records what each call does, if the machine can: see [`Machine::traced`].
    fn trace(&mut self) {}
    /// What the last call did; `None` on a second call, and from a machine that records nothing.
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

/// The C functions of a stack, for machines that are not C themselves.
pub trait Natives: Send + Sync {
    /// Calls a function; the result is 0 if it has none. `octets` are its message's octets, and the most there may be
    /// afterwards.
    fn call(&self, symbol: &str, args: &[u64], octets: Option<(&mut Vec<u8>, u32)>) -> u64;
}
