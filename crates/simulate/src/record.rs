//! What happened in a run, in order, with causes: for charts, captures, records and people.

use mokume_reaction::trace::Trace;
use mokume_reaction::{Datum, PortId, ReasonId, Report};

/// One event, with its time and cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The number, from 1, in the order of events.
    pub id: u64,
    /// The cause, an earlier record; `None` for what comes from outside.
    pub cause: Option<u64>,
    /// Nanoseconds since the start.
    pub at: u64,
    pub what: RecordedEvent,
    /// For a call of a machine, if recorded: what it did.
    pub did: Option<Box<Trace>>,
}

/// An event. Hosts and media are indices into the simulation's lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordedEvent {
    /// A host started. Recorded only if that had some effect.
    Started { host: usize },
    /// Timers of a host, or its queued work, were due. Recorded only if that had some effect.
    Woken { host: usize },
    /// A frame left a host. `number`, from 1, identifies it in [`RecordedEvent::Arrived`], and is its packet number in
    /// a capture of the run; `fates` has the medium's decision for each other member: a host, and its device there.
    Sent { host: usize, port: PortId, medium: usize, number: u64, frame: Vec<u8>, fates: Vec<((usize, PortId), Fate)> },
    /// A copy of a frame arrived at a host.
    Arrived { host: usize, port: PortId, number: u64, frame: Vec<u8>, refused: bool },
    /// The script's input.
    Input { host: usize, port: PortId, event: u32, args: Vec<Datum>, refused: bool },
    /// An output at an application's port (or at a device without a medium).
    Output { host: usize, port: PortId, event: u32, args: Vec<Datum> },
    /// Layers ended this many messages for a reason.
    Ended { host: usize, how: Ending, reason: ReasonId, count: u64 },
    /// Messages were dropped as gone, with their objects.
    Gone { host: usize, count: u64 },
    /// A copy of a frame arrived at a host that had crashed.
    Unheard { host: usize, number: u64 },
    /// A host crashed, with its whole state.
    Crashed { host: usize },
    /// A crashed host restarted.
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
    /// The copies, unordered.
    Arrives(Vec<Coming>),
}

/// Why a frame does not reach a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// By chance, or by a fault of this frame.
    Weather,
    /// A partition separated the two.
    Partition,
    /// The sender's queue was full.
    Queue,
}

/// A copy of a frame on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Coming {
    /// Nanoseconds since the start.
    pub at: u64,
    /// The bits that differ from the sent ones; 0 is the highest of the first octet.
    pub turned: Vec<u64>,
}

impl RecordedEvent {
    /// The host that the event belongs to.
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
