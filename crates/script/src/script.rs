//! A run test as data: inputs, the passing of time, and everything that must be seen after each; and a network's inputs.

use mokume_reaction::{PortId, Report};

/// One run test. Times are nanoseconds since the start, which is at 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    pub name: String,
    /// Values of the stack's parameters, by name; the others have their defaults, or 0.
    pub params: Vec<(String, u64)>,
    pub seed: u64,
    /// What the start handlers bring about.
    pub start: Expect,
    pub steps: Vec<Step>,
    /// The line of the test in its file, from 1; 0 when it was made by a program.
    pub line: u32,
    /// Reports are counted since the start, where a step says so ([`Counted::Reported`]), and not listed for each step. Those that no
    /// step counts fail the test.
    pub counts_reports: bool,
}

/// One action and what follows from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub action: Action,
    pub expect: Expect,
    pub line: u32,
}

/// What one step does to the stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// `port.event(args)`, now.
    Input { port: String, event: String, args: Vec<Arg> },
    /// Time passes, in nanoseconds; every timer due runs at its time.
    After(u64),
    /// The same, until all outputs that are expected have come; for so long at most.
    Within(u64),
}

/// An argument: of an input, or what an output's argument must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A scalar, or a handle-free constant such as an enum's name, resolved.
    Word(u64),
    Octets(Vec<u8>),
    /// The handle that refers to nothing.
    Null,
    /// What an earlier `Bind` of this name met.
    Name(String),
    /// `?name`, of outputs only: anything, remembered.
    Bind(String),
    /// `_`, of outputs only: anything.
    Any,
    /// What an earlier `Bind` of this name met, and so much more: modulo the width of what it met.
    Sum {
        name: String,
        plus: u64,
    },
    /// A message, by the fields of the wires that lay it out.
    Packet(Box<Packet>),
    /// Of outputs only: one of these scalars (a reason's short name stands for all that have it).
    OneOf(Vec<u64>),
}

/// A packet, from its front on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    pub parts: Vec<PacketPart>,
    /// What the checksum of the first wire counts beside the packet.
    pub over: Option<Vec<u64>>,
}

/// A part of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PacketPart {
    Wire(WirePattern),
    Octets(Vec<u8>),
    /// `_`, of outputs only: whatever comes.
    Any,
}

/// What one wire lays out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WirePattern {
    /// The stack's name for it.
    pub wire: String,
    /// As the test calls it.
    pub name: String,
    /// Numbers; a field of a list comes once for each element.
    pub fields: Vec<(String, Arg)>,
    /// `..`: what is not among them may be anything, but for sizes and checksums.
    pub rest: bool,
    /// What fields have that are not among them; zero without.
    pub defaults: Vec<(String, mokume_wire::by_fields::Default)>,
    /// Fields that a checksum of the wire behind this one counts.
    pub pseudo: Vec<String>,
}

/// What must be seen after a step. Outputs are complete, and reports where the script does not count them: what is not listed must not
/// come.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Expect {
    /// The outputs are looked at with those of the next step, whose expectation is of both.
    pub later: bool,
    /// In order within each group of ports; between groups the order is not looked at (docs/semantics.md, P1).
    pub outputs: Vec<ExpectedOutput>,
    pub reports: Vec<Report>,
    /// The call itself was refused at the door.
    pub refused: bool,
    pub counts: Vec<Count>,
}

/// One output that must come, as names; the stack's own say which they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectedOutput {
    pub port: String,
    pub event: String,
    pub args: Vec<Arg>,
    /// If given: the time since the start at which it came.
    pub at: Option<u64>,
}

/// A total since the start, as it must be after the step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Count {
    pub what: Counted,
    pub total: u64,
}

/// A total of the stack's accounts (docs/semantics.md, F2 and F10).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Messages dropped, by the reason's name; `*.name` is the sum over all that [`is_meant`](crate::is_meant) by the name.
    Dropped(String),
    /// Messages consumed, by the reason's name.
    Consumed(String),
    Gone,
    /// These, and those dropped for a layer's reason of the same name, written as of [`Counted::Dropped`].
    GoneOr(String),
    /// Messages in cells and in `later` queues, now.
    Held,
    Received,
    Delivered,
    Merged,
    /// Calls refused at the door.
    Refused,
    /// Reports of a kind. Only of a script that counts them.
    Reported(Report),
    /// A counter cell, `class.cell`, summed over all objects; `*.name` is the sum over all that [`is_meant`](crate::is_meant) by the name.
    Counter(String),
}

/// An event of a network's host, for the stack that it runs: what is put in, or a pattern of what comes out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub port: PortId,
    /// Index of the port's input event, or of its output event.
    pub event: u32,
    pub args: Vec<Arg>,
}
