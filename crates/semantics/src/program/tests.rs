//! Tests and networks: their steps, hosts and links.

use mokume_base::Span;

use super::{Name, StackId, WireId};

/// The label at the stack that a suite's test was run with, in reports about that run.
pub const OF_RUN: &str = "run with this stack";

/// A test. In a stack's expressions, `device.mac` and `device.mtu` are [`ExprKind::Below`](super::ExprKind::Below)
/// without a flow, with that name.
#[derive(Clone, Debug)]
pub struct Test {
    /// The name, in quotes in the source.
    pub name: String,
    /// The stack that is run.
    pub stack: StackId,
    /// Values of the stack's parameters by name (`device.mac` too).
    pub settings: Vec<(Name, Vec<u64>)>,
    /// In order.
    pub steps: Vec<Step>,
    /// The place of its first word.
    pub span: Span,
    /// For a suite's test: the stacks that it is run with, at their places in `run`.
    pub run_with: Vec<Name>,
}

impl Test {
    /// The place where it is run, or else where it is written: reports about it, and the file that it counts for, go by
    /// this.
    pub fn place(&self) -> Span {
        self.run_with.first().map_or(self.span, |name| name.span)
    }
}

/// One line of a test, or one input of a network.
#[derive(Clone, Debug)]
pub struct Step {
    /// What the step does or expects.
    pub kind: StepKind,
    /// The place of the whole step.
    pub span: Span,
}

impl Step {
    /// The size in octets of the longest message that it puts in.
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

/// What a step does or checks.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// `port.event(args)`: an input.
    Input {
        /// A device or an export.
        port: Name,
        /// The event of the port; resolved when the stack is lowered.
        event: Name,
        /// The arguments as written.
        args: Args,
    },
    /// `=> port.event(args)`: the expected outputs, in this order and no others; empty for `=> nothing`.
    Expect {
        /// Port, event and arguments of each output.
        outputs: Vec<(Name, Name, Args)>,
        /// `within 200 ms`: how long the outputs may take, in nanoseconds.
        within: Option<u64>,
    },
    /// `after 20 ms`: time passes.
    After {
        /// How much time.
        nanoseconds: u64,
    },
    /// `dropped stale 1`
    Dropped {
        /// The reason, as in `drop`.
        reason: String,
        /// The expected total since the start.
        count: u64,
    },
    /// `consumed used 1`
    Consumed {
        /// The reason, as in `consume`.
        reason: String,
        /// The expected total since the start.
        count: u64,
    },
    /// `counter tcp.resends 1`
    Counter {
        /// The counter's name in its layer, perhaps with layers in front.
        counter: Name,
        /// The expected total over all objects, since the start.
        count: u64,
    },
    /// `reported overflow 1`
    Reported {
        /// `overflow`, `division`, `bounds`, `misuse` or `narrow`.
        report: String,
        /// The expected total since the start.
        count: u64,
    },
}

/// The arguments of a port's event as a step gives them; lowering assigns them to parameters.
#[derive(Clone, Debug, Default)]
pub struct Args {
    /// The arguments; those without a name first, in the order of the parameters.
    pub given: Vec<Given>,
    /// `..`, in an output: arguments that are not given may have any value.
    pub rest: bool,
}

/// One argument of a step.
#[derive(Clone, Debug)]
pub struct Given {
    /// The name, `remote.port:`, with its place.
    pub name: Option<Name>,
    /// The value; a record has several words.
    pub values: Vec<Arg>,
    /// Where it stands, with its name.
    pub span: Span,
}

/// A value of a step.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Any scalar: durations in nanoseconds, addresses by their number.
    Word(u64),
    /// A message or a frame.
    Octets(Vec<u8>),
    /// `?s`
    Bind(String),
    /// `s`: what an output has bound, the name of an enum's value, or a reason; the port decides which.
    Handle(Name),
    /// `_`, in an output: any value.
    Any,
    /// `s + 1`: a bound value plus a number; wraps at the value's width.
    Sum {
        /// The name that an earlier output bound.
        handle: String,
        /// The number to add, modulo 2^64.
        plus: u64,
    },
    /// `Rfc791 { ttl: 64 } "data"`
    Packet(Packet),
}

impl Arg {
    /// The most octets that it has as a message.
    fn longest(&self) -> usize {
        match self {
            Arg::Octets(octets) => octets.len(),
            Arg::Packet(packet) => packet.parts.iter().map(PacketPart::longest).sum(),
            Arg::Word(_) | Arg::Bind(_) | Arg::Handle(_) | Arg::Any | Arg::Sum { .. } => 0,
        }
    }
}

/// A packet given by its fields.
#[derive(Clone, Debug)]
pub struct Packet {
    /// The parts, from the front.
    pub parts: Vec<PacketPart>,
    /// `over flow(…)`: the numbers that the checksum of the first wire includes.
    pub over: Option<Vec<u64>>,
    /// The place of the whole packet.
    pub span: Span,
}

/// A part of a packet.
#[derive(Clone, Debug)]
pub enum PacketPart {
    /// The fields of a wire.
    Wire(WirePattern),
    /// Literal octets.
    Octets(Vec<u8>),
    /// `_`, in an output: any octets.
    Any(Span),
}

/// The most octets of a wire: it contains more than a test names, such as constants and padding.
const LAID_OUT: usize = 256;

impl PacketPart {
    /// The most octets that it has.
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
    /// The wire.
    pub wire: WireId,
    /// The place where it is named.
    pub name: Name,
    /// The fields as written, in order; a field of a list occurs once for each element. One with several words stands
    /// for the fields whose names begin with it.
    pub fields: Vec<(Name, Vec<Arg>)>,
    /// `..`: fields that are not named may have any value, except sizes and checksums.
    pub rest: bool,
}

/// A network: hosts and links in virtual time.
#[derive(Clone, Debug)]
pub struct Network {
    /// The name, as in `mokume sim`.
    pub name: Name,
    /// The hosts; indices refer to this list.
    pub hosts: Vec<Host>,
    /// The links, which connect devices of hosts.
    pub links: Vec<NetworkLink>,
    /// The inputs: time, host index, input.
    pub script: Vec<(u64, u32, Step)>,
    /// The times when some hosts cannot reach the others.
    pub partitions: Vec<Partition>,
    /// Inputs that outputs trigger.
    pub whens: Vec<When>,
    /// Outputs that must or must not occur.
    pub expectations: Vec<Expectation>,
    /// Totals of what hosts have counted, dropped or consumed.
    pub tallies: Vec<Tally>,
    /// Faults of single frames.
    pub faults: Vec<FrameFault>,
    /// Crashes and restarts of hosts, ordered by time.
    pub outages: Vec<Outage>,
    /// Clocks of hosts that differ from the network's.
    pub clocks: Vec<Clock>,
    /// The events with which hosts cast, deliver and enter views.
    pub casts: Casts,
    /// What must hold for those events.
    pub promises: Vec<Promise>,
    /// The end of the run, in nanoseconds.
    pub until: u64,
}

impl Network {
    /// A network in which nothing happens yet.
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
            tallies: Vec::new(),
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
    /// The time, in nanoseconds.
    pub at: u64,
    /// For a restart: the values of its stack's parameters by name; `None` for a crash.
    pub again: Option<Vec<(Name, Vec<u64>)>>,
    /// The place of the whole line.
    pub span: Span,
}

/// `clock a  ahead 3 s  gains 50 us`: a clock, compared with the network's.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Index of the host.
    pub host: u32,
    /// Its time when the network begins, in nanoseconds.
    pub ahead: u64,
    /// How many nanoseconds it gains each second; negative if it loses.
    pub gains: i64,
}

/// An event of a port, on each host whose stack has it: `app.deliver_from(_, ?from, _)`.
#[derive(Clone, Debug)]
pub struct Heard {
    /// An export.
    pub port: Name,
    /// The event of the port; resolved when the stack is lowered.
    pub event: Name,
    /// Patterns; without any, all arguments match.
    pub args: Args,
    /// The place of the whole event.
    pub span: Span,
}

/// `casts …`, `delivers …`, `views …`: messages are identified by their octets, views by what their pattern binds.
#[derive(Clone, Debug, Default)]
pub struct Casts {
    /// An input.
    pub casts: Option<Heard>,
    /// An output. What its pattern binds is the sender.
    pub delivers: Option<Heard>,
    /// An output; it may be the same event as `delivers`, and is tested first.
    pub views: Option<Heard>,
}

/// `expect casts total`
#[derive(Clone, Debug)]
pub struct Promise {
    /// The promise.
    pub what: Promised,
    /// The place of its word.
    pub span: Span,
}

/// Promises about casts. A *life* is a host from its start to its crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promised {
    /// Messages that two lives both deliver are delivered in the same order.
    Total,
    /// Each life delivers the messages of another in the order in which that one cast them.
    Fifo,
    /// Messages that a life had cast or delivered before it cast one come before that one everywhere.
    Causal,
    /// A life that does not crash delivers all that it has cast.
    Own,
    /// What is delivered was cast before, and is delivered once in a life.
    Real,
    /// Lives that go together from one view to the next have delivered the same messages in it.
    Agreed,
    /// In the end all running hosts are in one view.
    Together,
    /// In a view all that one life has cast comes with one sender, and what two have cast with two.
    Senders,
}

impl Promised {
    /// All promises, with their words.
    pub const ALL: [(&'static str, Promised); 8] = [
        ("total", Promised::Total),
        ("fifo", Promised::Fifo),
        ("causal", Promised::Causal),
        ("own", Promised::Own),
        ("real", Promised::Real),
        ("agreed", Promised::Agreed),
        ("together", Promised::Together),
        ("senders", Promised::Senders),
    ];

    /// Whether it is about views.
    pub fn is_of_views(self) -> bool {
        matches!(self, Promised::Agreed | Promised::Together)
    }
}

/// `a.app.opened(1, ?s)`: outputs of a host that match patterns.
#[derive(Clone, Debug)]
pub struct HostOutput {
    /// Index of the host.
    pub host: u32,
    /// An export.
    pub port: Name,
    /// The event of the port; resolved when the stack is lowered.
    pub event: Name,
    /// Patterns; without any, all arguments match.
    pub args: Args,
    /// The place of the whole pattern.
    pub span: Span,
}

/// `when a.app.opened(1, ?s)  after 5 ms  a.app.send(s, "x")`
#[derive(Clone, Debug)]
pub struct When {
    /// Each matching output triggers the input.
    pub output: HostOutput,
    /// The delay of the input, in nanoseconds.
    pub delay: u64,
    /// The host that gets the input.
    pub host: u32,
    /// The input.
    pub step: Step,
}

/// `expect b.app.deliver(_, "hello")  20 times until 2 s`
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The output that is counted.
    pub output: HostOutput,
    /// How often it must occur.
    pub times: Times,
    /// The deadline in nanoseconds since the start; later outputs do not count.
    pub until: u64,
    /// The place of the whole expectation.
    pub span: Span,
}

/// How often an output must occur.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Times {
    /// At least once.
    Some,
    /// Exactly this often.
    Exactly(u64),
}

/// `expect dropped b.stale 1 .. 3  until 2 s`: a total since the start, over all lives of the hosts.
#[derive(Clone, Debug)]
pub struct Tally {
    /// What is counted.
    pub what: Tallied,
    /// Index of the host; `None`: all hosts together.
    pub host: Option<u32>,
    /// The counter or the reason, perhaps with layers in front, without the host.
    pub name: Name,
    /// The least and the greatest total.
    pub within: (u64, u64),
    /// The time of the comparison, in nanoseconds since the start.
    pub until: u64,
    /// The place of the whole expectation.
    pub span: Span,
}

/// What a [`Tally`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tallied {
    /// Messages dropped for a reason.
    Dropped,
    /// Messages consumed for a reason.
    Consumed,
    /// What a counter counts.
    Counter,
}

/// `frame 3 of a.device to b.device  late 4 ms`: a fault in addition to the link's weather.
#[derive(Clone, Debug)]
pub struct FrameFault {
    /// The frame's number, from 1.
    pub number: u64,
    /// The sender: host index, device index.
    pub from: (u32, u32),
    /// The receiver for which the fault holds; `None`: all.
    pub to: Option<(u32, u32)>,
    /// The mishaps, as written.
    pub what: Vec<Mishap>,
    /// The place of the whole fault.
    pub span: Span,
}

/// What happens to one frame on its way to one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mishap {
    /// `lost`
    Lost,
    /// `late 4 ms`: an additional delay, in nanoseconds.
    Late(u64),
    /// `turned 12`: this bit is flipped; bit 0 is the highest of the first octet.
    Turned(u64),
    /// `twice 1 ms`: a second copy arrives, this much later than the first would without mishaps.
    Twice(u64),
}

/// A stack in a network.
#[derive(Clone, Debug)]
pub struct Host {
    /// The name, unique in its network.
    pub name: Name,
    /// The stack that it runs.
    pub stack: StackId,
    /// Values of the stack's parameters by name (`device.mac` too).
    pub settings: Vec<(Name, Vec<u64>)>,
}

/// A medium that all its devices share. Rates are in millionths.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    /// The name, for reports.
    pub name: Name,
    /// The devices: host index, device index.
    pub devices: Vec<(u32, u32)>,
    /// How many frames are lost.
    pub loss: u32,
    /// How many frames arrive twice.
    pub duplicate: u32,
    /// How many frames are overtaken by later ones.
    pub reorder: u32,
    /// In how many frames one bit is flipped.
    pub corrupt: u32,
    /// The least and the most delay, in nanoseconds.
    pub delay: (u64, u64),
    /// Bursts of lost frames: how often one begins, and how many frames it loses.
    pub burst: (u32, u32),
    /// Bits per second that each device can send; 0 without limit.
    pub rate: u64,
    /// The most frames that wait at each device; 0 without limit.
    pub queue: u64,
    /// From this instant on (nanoseconds) chance does nothing to frames, and each takes the least delay.
    pub calm_from: Option<u64>,
}

impl NetworkLink {
    /// A link without faults.
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
            calm_from: None,
        }
    }
}

/// From `from` until `until` (nanoseconds), these hosts and the others cannot reach each other.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Indices of the hosts.
    pub hosts: Vec<u32>,
    /// The first instant.
    pub from: u64,
    /// The first instant after it.
    pub until: u64,
}
