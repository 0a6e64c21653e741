//! What happened in a run, in order: for charts, captures and people.

use mokume_reaction::{Datum, PortId, Report};

/// One thing that happened, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Nanoseconds since the start.
    pub at: u64,
    pub what: RecordedEvent,
}

/// What happened. Hosts and media are their places in the simulation's lists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RecordedEvent {
    /// A frame left a host; `number`, from 1, names it in [`RecordedEvent::Arrived`] and is its packet's in a capture of the run, `fates`
    /// says what the medium does for each other member.
    Sent { host: usize, port: PortId, medium: usize, number: u64, frame: Vec<u8>, fates: Vec<(usize, Fate)> },
    /// A copy of a frame came to a host.
    Arrived { host: usize, port: PortId, number: u64, frame: Vec<u8>, refused: bool },
    /// The script's input.
    Input { host: usize, port: PortId, event: u32, args: Vec<Datum>, refused: bool },
    /// An output by an application's port (or by a device that is on no medium).
    Output { host: usize, port: PortId, event: u32, args: Vec<Datum> },
    /// A copy of a frame came to a host that had crashed.
    Unheard { host: usize, number: u64 },
    /// A host stopped, with all that it held.
    Crashed { host: usize },
    /// A host that had crashed began anew.
    Restarted { host: usize },
    /// A report (overflow and the like): a fault of the program.
    Reported { host: usize, report: Report, place: String },
}

/// What a medium does with a frame for one receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    Lost,
    /// When each copy arrives, nanoseconds since the start.
    Arrives(Vec<u64>),
}
