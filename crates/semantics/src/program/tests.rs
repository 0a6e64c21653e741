//! Tests and networks: their steps, and what hosts and links are.

use mokume_base::Span;

use super::{Name, StackId, WireId};

/// `device.mac`, `device.mtu` in a stack's expressions are [`ExprKind::Below`](super::ExprKind::Below) without a flow, named `device.mac`.
#[derive(Clone, Debug)]
pub struct Test {
    /// As the source has it in quotes.
    pub name: String,
    /// Which stack is run.
    pub stack: StackId,
    /// Values of the stack's parameters by name (`device.mac` too).
    pub settings: Vec<(Name, Vec<u64>)>,
    /// In order.
    pub steps: Vec<Step>,
    /// Of its first word.
    pub span: Span,
}

/// One line of a test, or one input of a network.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done, or expected.
    pub kind: StepKind,
    /// The whole of it.
    pub span: Span,
}

/// What a step does, or what it looks at.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// `port.event(args)`: something is put in.
    Input {
        /// A device or an export.
        port: Name,
        /// Of the port; known when the stack is lowered.
        event: Name,
        /// As they are written.
        args: Args,
    },
    /// `=> port.event(args)`: what must come out, in this order and nothing else; `=> nothing` is empty.
    Expect {
        /// Port, event and arguments each.
        outputs: Vec<(Name, Name, Args)>,
        /// `within 200 ms`: how long there is time for them, in nanoseconds.
        within: Option<u64>,
    },
    /// `after 20 ms`: time goes on.
    After {
        /// By how much.
        nanoseconds: u64,
    },
    /// `dropped stale 1`
    Dropped {
        /// As `drop` names it.
        reason: String,
        /// In all since the start.
        count: u64,
    },
    /// `consumed used 1`
    Consumed {
        /// As `consume` names it.
        reason: String,
        /// In all since the start.
        count: u64,
    },
    /// `reported overflow 1`
    Reported {
        /// `overflow`, `division`, `bounds`, `misuse` or `narrow`.
        report: String,
        /// In all since the start.
        count: u64,
    },
}

/// The arguments of a port's event, as a step gives them: which parameters these are is known after lowering.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// Those without a name first, in the order of the parameters.
    pub given: Vec<Given>,
    /// `..`, of an output: those that are not given may be anything.
    pub rest: bool,
}

/// One argument of a step.
#[derive(Clone, Debug)]
pub struct Given {
    /// `remote.port:`, with its place.
    pub name: Option<Name>,
    /// Records are several words.
    pub values: Vec<Arg>,
}

/// A value of a step.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Any scalar: durations in nanoseconds, addresses by their number.
    Word(u64),
    /// Of a message or a frame.
    Octets(Vec<u8>),
    /// `?s`
    Bind(String),
    /// `s`: what an output has bound, the name of an enum's value, or a reason; which it is follows from the port.
    Handle(Name),
    /// `_`, of an output.
    Any,
    /// `s + 1`: what was bound, and so much more; it wraps at its own width.
    Sum {
        /// Bound by an output in front.
        handle: String,
        /// Added to it, modulo 2^64.
        plus: u64,
    },
    /// `Rfc791 { ttl: 64 } "data"`
    Packet(Packet),
}

/// A packet by its fields.
#[derive(Clone, Debug)]
pub struct Packet {
    /// From its front on.
    pub parts: Vec<PacketPart>,
    /// `over flow(…)`: the numbers that the checksum of the first wire counts.
    pub over: Option<Vec<u64>>,
    /// The whole of it.
    pub span: Span,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub enum PacketPart {
    /// What a wire lays out.
    Wire(WirePattern),
    /// As they are.
    Octets(Vec<u8>),
    /// `_`: of an output, whatever comes.
    Any(Span),
}

/// `Rfc9293 { syn: 1, seq: ?iss, .. }`
#[derive(Clone, Debug)]
pub struct WirePattern {
    /// Which wire.
    pub wire: WireId,
    /// Where it is named.
    pub name: Name,
    /// In the order in which they are written; a field of a list comes once for each element. Of several words: the fields whose
    /// names begin so.
    pub fields: Vec<(Name, Vec<Arg>)>,
    /// `..`: what is not named may be anything, but for sizes and checksums.
    pub rest: bool,
}

/// Hosts and links in virtual time.
#[derive(Clone, Debug)]
pub struct Network {
    /// As `mokume sim` calls it.
    pub name: Name,
    /// Numbered in this order.
    pub hosts: Vec<Host>,
    /// Each joins devices of hosts.
    pub links: Vec<NetworkLink>,
    /// Time, host index, the input.
    pub script: Vec<(u64, u32, Step)>,
    /// When some hosts do not hear the others.
    pub partitions: Vec<Partition>,
    /// How long it runs, in nanoseconds.
    pub until: u64,
}

/// A stack in a network.
#[derive(Clone, Debug)]
pub struct Host {
    /// Unique in its network.
    pub name: Name,
    /// Which stack it runs.
    pub stack: StackId,
    /// Values of the stack's parameters by name (`device.mac` too).
    pub settings: Vec<(Name, Vec<u64>)>,
}

/// A medium that all named devices share. Rates are in millionths.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    /// For reports.
    pub name: Name,
    /// Host index, device index.
    pub devices: Vec<(u32, u32)>,
    /// Of frames that nobody hears.
    pub loss: u32,
    /// Of frames that are heard twice.
    pub duplicate: u32,
    /// Of frames that later ones overtake.
    pub reorder: u32,
    /// One bit of a frame is turned.
    pub corrupt: u32,
    /// From and to, in nanoseconds.
    pub delay: (u64, u64),
}

/// From `from` until `until` (nanoseconds), these hosts and the others do not hear each other.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Indices of hosts.
    pub hosts: Vec<u32>,
    /// The first instant.
    pub from: u64,
    /// The first instant at which they hear each other again.
    pub until: u64,
}
