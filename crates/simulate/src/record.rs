//! What happened in a run, in order, and what brought it about: for charts, captures, records and people.

use mokume_reaction::trace::Trace;
use mokume_reaction::{Datum, PortId, ReasonId, Report};

/// One thing that happened, when, and by what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// From 1, in the order in which things happened.
    pub id: u64,
    /// What brought it about: an earlier record; none of what comes from outside.
    pub cause: Option<u64>,
    /// Nanoseconds since the start.
    pub at: u64,
    pub what: RecordedEvent,
    /// Of a call of a machine, where that is noted: what it did.
    pub did: Option<Box<Trace>>,
}

/// What happened. Hosts and media are their places in the simulation's lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordedEvent {
    /// A host started. It stands there only if that brought something about.
    Started { host: usize },
    /// Timers of a host were due, or what it does later. It stands there only if that brought something about.
    Woken { host: usize },
    /// A frame left a host; `number`, from 1, names it in [`RecordedEvent::Arrived`] and is its packet's in a capture of the run, `fates`
    /// says what the medium does for each other member.
    Sent { host: usize, port: PortId, medium: usize, number: u64, frame: Vec<u8>, fates: Vec<(usize, Fate)> },
    /// A copy of a frame came to a host.
    Arrived { host: usize, port: PortId, number: u64, frame: Vec<u8>, refused: bool },
    /// The script's input.
    Input { host: usize, port: PortId, event: u32, args: Vec<Datum>, refused: bool },
    /// An output by an application's port (or by a device that is on no medium).
    Output { host: usize, port: PortId, event: u32, args: Vec<Datum> },
    /// Layers ended messages for a reason, so many of them.
    Ended { host: usize, how: Ending, reason: ReasonId, count: u64 },
    /// Messages were lost with the objects that they were for.
    Gone { host: usize, count: u64 },
    /// A copy of a frame came to a host that had crashed.
    Unheard { host: usize, number: u64 },
    /// A host stopped, with all that it held.
    Crashed { host: usize },
    /// A host that had crashed began anew.
    Restarted { host: usize },
    /// A report (overflow and the like): a fault of the program.
    Reported { host: usize, report: Report, place: String },
}

/// How a layer ended a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    Dropped,
    Consumed,
}

/// What a medium does with a frame for one receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    Lost(Loss),
    /// Each copy, in no order.
    Arrives(Vec<Coming>),
}

/// Why a frame does not come to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// By chance, or as the network says of this frame.
    Weather,
    /// A partition stood between the two.
    Partition,
    /// The line's queue was full.
    Queue,
}

/// A copy of a frame that is under way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coming {
    /// Nanoseconds since the start.
    pub at: u64,
    /// The bits that differ from what was sent: 0 is the highest of the first octet.
    pub turned: Vec<u64>,
}

impl RecordedEvent {
    /// The host that it is of.
    pub fn host(&self) -> usize {
        match self {
            RecordedEvent::Started { host }
            | RecordedEvent::Woken { host }
            | RecordedEvent::Sent { host, .. }
            | RecordedEvent::Arrived { host, .. }
            | RecordedEvent::Input { host, .. }
            | RecordedEvent::Output { host, .. }
            | RecordedEvent::Ended { host, .. }
            | RecordedEvent::Gone { host, .. }
            | RecordedEvent::Unheard { host, .. }
            | RecordedEvent::Crashed { host }
            | RecordedEvent::Restarted { host }
            | RecordedEvent::Reported { host, .. } => *host,
        }
    }
}
