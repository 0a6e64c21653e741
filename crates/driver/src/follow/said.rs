//! The results for a followed capture: packet by packet, and for the whole.

use super::alike::Unlike;
use super::noted::Ended;

/// The direction of a packet, and its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub packet: u64,
    /// Nanoseconds since the stack's start.
    pub at: u64,
    pub about: String,
    pub what: What,
}

/// Whether it was received or sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Came(Came),
    Sent(Sent),
    /// Not complete in the capture: unknown what the layers do with it.
    Cut,
}

/// What the layers did with a received packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Came {
    pub fate: Fate,
    /// Messages that ended, where, and why.
    pub ended: Vec<Ended>,
    /// The cells where messages wait: `layer.cell`.
    pub kept: Vec<String>,
    /// The outputs to applications.
    pub outputs: Vec<String>,
    /// How many frames the stack sends immediately.
    pub answers: usize,
    /// Faults of the program.
    pub reports: Vec<String>,
    /// Messages dropped as gone, with their session.
    pub gone: u64,
    /// The lowest layers dropped it, and no decoder refused it.
    pub is_turned_away: bool,
}

/// The fate of a received packet, in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// Nothing was dropped; something was consumed, or changed.
    Taken,
    /// It, or a part of it, waits in a layer.
    Kept,
    /// The lowest layers dropped it, and would have whatever came before: as they do with frames for other hosts.
    NotForIt,
    Dropped,
    /// The stack had no room for it.
    Refused,
}

/// The comparison of a sent packet with the stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sent {
    pub how: Likeness,
    /// The stack's frame that it was compared with, if there was one: when the stack sent it, and the differences.
    pub against: Option<(u64, Vec<Unlike>)>,
    /// Fields from which random numbers of the host were inferred.
    pub learned: Vec<String>,
    /// The number of frames that the stack sent before the matching one.
    pub(super) number: Option<u64>,
}

/// How a sent packet compares with what the stack sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Likeness {
    /// The same.
    Same,
    /// Equal, but the stack sends another frame before, which comes later in the capture.
    Early,
    /// Of the same kind, with the same payload; fields differ.
    Alike,
    /// Equal to an earlier packet, which the stack sends once.
    Again(u64),
    /// The stack sends nothing similar up to here.
    Unlike,
}

/// A frame of the stack that the capture does not have: its time and summary.
pub type Missing = (u64, String);

/// All packets, and what the capture does not have.
pub struct Report {
    pub seen: Vec<Seen>,
    /// Frames that the stack sent up to the capture's last packet, and as answers to it.
    pub missing: Vec<Missing>,
    /// The number of inputs that wait for other hosts.
    pub waiting: usize,
    /// The first packet that the host sent, if it sets the stack's clock and differs from what the stack sends then: the host
    /// may have run for longer.
    pub clock_from: Option<u64>,
    /// The first packet that the host sent and the stack does not: after it, their states differ.
    pub apart_from: Option<u64>,
}

impl Report {
    /// Whether a received packet was dropped, refused, or caused a report.
    pub fn is_amiss(&self) -> bool {
        let is_amiss = |seen: &Seen| match &seen.what {
            What::Came(came) => matches!(came.fate, Fate::Dropped | Fate::Refused) || !came.reports.is_empty(),
            What::Sent(_) | What::Cut => false,
        };
        self.seen.iter().any(is_amiss)
    }
}
