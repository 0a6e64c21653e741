//! Tests and networks: their steps, and what hosts and links are.

use mokume_base::Span;

use super::{Name, StackId, WireId};

/// The label of the stack that a suite's test was run with, where something is wrong with that.
pub const OF_RUN: &str = "run with this stack";

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
    /// Of a suite's test: the stacks that it is run with, where that is said.
    pub run_with: Vec<Name>,
}

impl Test {
    /// Where it is said that it is run: what is wrong with it, and the file that it is a test of, follow from that.
    pub fn place(&self) -> Span {
        self.run_with.first().map_or(self.span, |name| name.span)
    }
}

/// One line of a test, or one input of a network.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done, or expected.
    pub kind: StepKind,
    /// The whole of it.
    pub span: Span,
}

impl Step {
    /// Octets that the longest message which it puts in has at most.
    pub fn longest(&self) -> usize {
        let values = match &self.kind {
            StepKind::Input { args, .. } => args.given.iter().flat_map(|given| &given.values),
            StepKind::Expect { .. }
            | StepKind::After { .. }
            | StepKind::Dropped { .. }
            | StepKind::Consumed { .. }
            | StepKind::Counter { .. }
            | StepKind::Reported { .. } => return 0,
        };
        values.map(Arg::longest).max().unwrap_or(0)
    }
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
    /// `counter tcp.resends 1`
    Counter {
        /// As its layer names it, perhaps with layers in front.
        counter: Name,
        /// In all objects, in all since the start.
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

impl Arg {
    /// Octets that it has at most, if it is a message.
    fn longest(&self) -> usize {
        match self {
            Arg::Octets(octets) => octets.len(),
            Arg::Packet(packet) => packet.parts.iter().map(PacketPart::longest).sum(),
            Arg::Word(_) | Arg::Bind(_) | Arg::Handle(_) | Arg::Any | Arg::Sum { .. } => 0,
        }
    }
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

/// A wire lays out more than a test names: constants, what is added to fill a word.
const LAID_OUT: usize = 256;

impl PacketPart {
    /// Octets that it has at most.
    fn longest(&self) -> usize {
        match self {
            PacketPart::Octets(octets) => octets.len(),
            PacketPart::Wire(pattern) => LAID_OUT + 16 * pattern.fields.len(),
            PacketPart::Any(_) => 0,
        }
    }

    /// The values of its fields.
    pub fn args(&self) -> Vec<&Arg> {
        match self {
            PacketPart::Wire(pattern) => pattern.fields.iter().flat_map(|(_, values)| values).collect(),
            PacketPart::Octets(_) | PacketPart::Any(_) => Vec::new(),
        }
    }
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
    /// What outputs bring about.
    pub whens: Vec<When>,
    /// What must come, and what must not.
    pub expectations: Vec<Expectation>,
    /// What becomes of single frames.
    pub faults: Vec<FrameFault>,
    /// Hosts that crash and begin again, in order of time.
    pub outages: Vec<Outage>,
    /// Clocks of hosts that are not the network's.
    pub clocks: Vec<Clock>,
    /// What hosts cast, deliver and enter.
    pub casts: Casts,
    /// What holds of that.
    pub promises: Vec<Promise>,
    /// How long it runs, in nanoseconds.
    pub until: u64,
}

impl Network {
    /// One in which nothing happens yet.
    pub fn of(name: Name, hosts: Vec<Host>, until: u64) -> Self {
        Network {
            name,
            hosts,
            until,
            links: Vec::new(),
            script: Vec::new(),
            partitions: Vec::new(),
            whens: Vec::new(),
            expectations: Vec::new(),
            faults: Vec::new(),
            outages: Vec::new(),
            clocks: Vec::new(),
            casts: Casts::default(),
            promises: Vec::new(),
        }
    }
}

/// `crash a  at 2 s`, `restart a(life: 2)  at 3 s`
#[derive(Clone, Debug)]
pub struct Outage {
    /// Index of the host.
    pub host: u32,
    /// When, in nanoseconds.
    pub at: u64,
    /// Of one that begins again: the values of its stack's parameters by name; none of one that crashes.
    pub again: Option<Vec<(Name, Vec<u64>)>>,
    /// The whole of it.
    pub span: Span,
}

/// `clock a  ahead 3 s  gains 50 us`: against the network's.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Index of the host.
    pub host: u32,
    /// What it shows when the network begins, in nanoseconds.
    pub ahead: u64,
    /// By how many nanoseconds a second it is too fast, or too slow.
    pub gains: i64,
}

/// An event of a port that each host has whose stack has it: `app.deliver_from(_, ?from, _)`.
#[derive(Clone, Debug)]
pub struct Heard {
    /// An export.
    pub port: Name,
    /// Of the port; known when the stack is lowered.
    pub event: Name,
    /// Patterns; without any, whatever goes with it.
    pub args: Args,
    /// The whole of it.
    pub span: Span,
}

/// `casts …`, `delivers …`, `views …`: a message is known by its octets, a view by what its pattern binds.
#[derive(Clone, Debug, Default)]
pub struct Casts {
    /// An input.
    pub casts: Option<Heard>,
    /// An output.
    pub delivers: Option<Heard>,
    /// An output; it may be of the same event, and goes before.
    pub views: Option<Heard>,
}

/// `expect casts total`
#[derive(Clone, Debug)]
pub struct Promise {
    /// What holds.
    pub what: Promised,
    /// Of its word.
    pub span: Span,
}

/// What holds of casts. A *life* is a host from its start to its crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promised {
    /// What two lives both deliver, they deliver in one order.
    Total,
    /// Each life delivers what another has cast in the order in which that cast it.
    Fifo,
    /// What a life had cast or delivered before it cast something comes before that everywhere.
    Causal,
    /// A life that lasts delivers all that it has cast.
    Own,
    /// What is delivered was cast before, and comes once in a life.
    Real,
    /// Lives that go together from one view to the next have delivered the same in it.
    Agreed,
    /// In the end all hosts that run are in one view.
    Together,
}

impl Promised {
    /// By their words.
    pub const ALL: [(&'static str, Promised); 7] = [
        ("total", Promised::Total),
        ("fifo", Promised::Fifo),
        ("causal", Promised::Causal),
        ("own", Promised::Own),
        ("real", Promised::Real),
        ("agreed", Promised::Agreed),
        ("together", Promised::Together),
    ];

    /// Whether it says something of views.
    pub fn is_of_views(self) -> bool {
        matches!(self, Promised::Agreed | Promised::Together)
    }
}

/// `a.app.opened(1, ?s)`: outputs of a host, by patterns.
#[derive(Clone, Debug)]
pub struct HostOutput {
    /// Index of the host.
    pub host: u32,
    /// An export.
    pub port: Name,
    /// Of the port; known when the stack is lowered.
    pub event: Name,
    /// Patterns; without any, whatever goes with it.
    pub args: Args,
    /// The whole of it.
    pub span: Span,
}

/// `when a.app.opened(1, ?s)  after 5 ms  a.app.send(s, "x")`
#[derive(Clone, Debug)]
pub struct When {
    /// Each one brings the input about.
    pub output: HostOutput,
    /// So much later, in nanoseconds.
    pub delay: u64,
    /// The host that the input is for.
    pub host: u32,
    /// What is put in.
    pub step: Step,
}

/// `expect b.app.deliver(_, "hello")  20 times until 2 s`
#[derive(Clone, Debug)]
pub struct Expectation {
    /// What is counted.
    pub output: HostOutput,
    /// How many of them there must be.
    pub times: Times,
    /// Those that come later do not count, in nanoseconds since the start.
    pub until: u64,
    /// The whole of it.
    pub span: Span,
}

/// How often something must come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// Once, or more often.
    Some,
    /// So often, and no more.
    Exactly(u64),
}

/// `frame 3 of a.device to b.device  late 4 ms`: beside what the link's weather does.
#[derive(Clone, Debug)]
pub struct FrameFault {
    /// From 1.
    pub number: u64,
    /// Host index, device index: who sends it.
    pub from: (u32, u32),
    /// Who hears it so; everybody, if nobody is named.
    pub to: Option<(u32, u32)>,
    /// In the order in which they are written.
    pub what: Vec<Mishap>,
    /// The whole of it.
    pub span: Span,
}

/// What becomes of one frame on its way to one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mishap {
    /// `lost`
    Lost,
    /// `late 4 ms`: in nanoseconds, beside the link's delay.
    Late(u64),
    /// `turned 12`: this bit, from 0, the highest of the first octet.
    Turned(u64),
    /// `twice 1 ms`: a second copy, so much later than without a mishap.
    Twice(u64),
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
    /// Bursts of lost frames: how often one begins, and how many it takes.
    pub burst: (u32, u32),
    /// Bits a second that each device can send; 0 without limit.
    pub rate: u64,
    /// Frames that wait for the line at each device; 0 without limit.
    pub queue: u64,
}

impl NetworkLink {
    /// One on which nothing happens to frames.
    pub fn of(name: Name) -> Self {
        NetworkLink {
            name,
            devices: Vec::new(),
            loss: 0,
            duplicate: 0,
            reorder: 0,
            corrupt: 0,
            delay: (0, 0),
            burst: (0, 0),
            rate: 0,
            queue: 0,
        }
    }
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
