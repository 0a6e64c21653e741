//! A run test as data: inputs, times, and everything expected after each; and a network's inputs.

use mokume_reaction::{PortId, Report};

/// One run test. Times are nanoseconds since the start, which is at 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    pub name: String,
    /// Values of the stack's parameters by name; missing ones have their defaults, or 0.
    pub params: Vec<(String, u64)>,
    pub seed: u64,
    /// What is expected of the start handlers.
    pub start: Expect,
    pub steps: Vec<Step>,
    /// The line of the test in its file, from 1; 0 if a program made it.
    pub line: u32,
    /// Reports are counted since the start where a step says so ([`Counted::Reported`]), and not listed for each step.
    /// Reports that no step counts fail the test.
    pub counts_reports: bool,
}

/// One action and the expectation after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub action: Action,
    pub expect: Expect,
    pub line: u32,
}

/// What one step does to the stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// `port.event(args)` at the present time.
    Input { port: String, event: String, args: Vec<Arg> },
    /// Time passes, in nanoseconds; every timer runs at its deadline.
    After(u64),
    /// The same, until all expected outputs have come, and at most this long.
    Within(u64),
}

/// An argument of an input, or of an expected output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A scalar, or a constant such as an enum's name, resolved.
    Word(u64),
    Octets(Vec<u8>),
    /// The null handle.
    Null,
    /// The value of an earlier `Bind` of this name.
    Name(String),
    /// `?name`, in outputs only: matches anything and binds it.
    Bind(String),
    /// `_`, in outputs only: matches anything.
    Any,
    /// The value of an earlier `Bind` of this name plus a number, modulo the width of its place.
    Sum {
        name: String,
        plus: u64,
    },
    /// A message, by the fields of its wires.
    Packet(Box<Packet>),
    /// In outputs only: one of these scalars (a reason's short name stands for all reasons with it).
    OneOf(Vec<u64>),
}

/// A packet, from its front.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    pub parts: Vec<PacketPart>,
    /// What the checksum of the first wire includes besides the packet.
    pub over: Option<Vec<u64>>,
}

/// A part of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PacketPart {
    Wire(WirePattern),
    Octets(Vec<u8>),
    /// `_`, in outputs only: matches anything.
    Any,
}

/// The fields of one wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WirePattern {
    /// The wire's name in the stack.
    pub wire: String,
    /// The wire's name in the test.
    pub name: String,
    /// The fields; a field of a list occurs once for each element.
    pub fields: Vec<(String, Arg)>,
    /// `..`: other fields may have any value, except sizes and checksums.
    pub rest: bool,
    /// The values of other fields; zero if not listed.
    pub defaults: Vec<(String, mokume_wire::by_fields::Default)>,
    /// Fields that the checksum of the next wire includes.
    pub pseudo: Vec<String>,
}

/// The expectation after a step. Outputs are complete, and so are reports unless the script counts them: nothing else
/// may occur.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expect {
    /// The outputs are compared together with those of the next step, whose expectation covers both.
    pub later: bool,
    /// In order within each group of ports; the order between groups does not matter (docs/semantics.md, P1).
    pub outputs: Vec<ExpectedOutput>,
    pub reports: Vec<Report>,
    /// Whether the machine refuses the call.
    pub refused: bool,
    pub counts: Vec<Count>,
}

/// One expected output, by names, which are resolved in the stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectedOutput {
    pub port: String,
    pub event: String,
    pub args: Vec<Arg>,
    /// The time since the start, if it is given.
    pub at: Option<u64>,
}

/// A total since the start, as expected after the step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    pub what: Counted,
    pub total: u64,
}

/// A total of the stack's accounts (docs/semantics.md, F2 and F10).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Messages dropped, by the reason's name; `*.name` is the sum over all reasons that [`is_meant`](crate::is_meant)
    /// by the name.
    Dropped(String),
    /// Messages consumed, by the reason's name.
    Consumed(String),
    Gone,
    /// Messages gone, and those dropped for a layer's reason of this name, in the notation of [`Counted::Dropped`].
    GoneOr(String),
    /// Messages now in cells and in `later` queues.
    Held,
    Received,
    Delivered,
    Merged,
    /// Refused calls.
    Refused,
    /// Reports of a kind. Only in a script that counts them.
    Reported(Report),
    /// A counter cell, `class.cell`, summed over all objects; `*.name` is the sum over all counters that
    /// [`is_meant`](crate::is_meant) by the name.
    Counter(String),
}

/// An event of a network's host, resolved in its stack: an input, or a pattern of an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub port: PortId,
    /// Index of the port's input event, or of its output event.
    pub event: u32,
    pub args: Vec<Arg>,
}
