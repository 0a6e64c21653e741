//! What is said of a followed capture: packet by packet, and of all.

use super::alike::Unlike;
use super::noted::Ended;

/// What a packet is to the host, and what became of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub packet: u64,
    /// Nanoseconds since the stack's start.
    pub at: u64,
    pub about: String,
    pub what: What,
}

/// Whether it came or was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Came(Came),
    Sent(Sent),
    /// Not whole in the capture: nobody can say what the layers do with it.
    Cut,
}

/// What the layers did with a packet that came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Came {
    pub fate: Fate,
    /// Messages that ended, where, and why.
    pub ended: Vec<Ended>,
    /// Where messages wait: `layer.cell`.
    pub kept: Vec<String>,
    /// What applications got.
    pub outputs: Vec<String>,
    /// How many frames the stack sends at once.
    pub answers: usize,
    /// Faults of the program.
    pub reports: Vec<String>,
    /// Messages that were lost with the session that they were for.
    pub gone: u64,
}

/// What became of a packet that came, in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// Nothing was dropped; something was taken, or changed.
    Taken,
    /// It, or a part, waits in a layer.
    Kept,
    /// The lowest layers dropped it, as they do with what is for others.
    NotForIt,
    Dropped,
    /// The stack had no room for it.
    Refused,
}

/// What the stack says of a packet that the host sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sent {
    pub how: Likeness,
    /// The frame of the stack's that it was held against, if there was one: when the stack sent it, and how it is unlike.
    pub against: Option<(u64, Vec<Unlike>)>,
    /// Fields of which the capture says what the host had drawn at random.
    pub learned: Vec<String>,
    /// How many frames the stack sent before the one that it is.
    pub(super) number: Option<u64>,
}

/// How a packet that was sent is to what the stack sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Likeness {
    /// The same.
    Same,
    /// The same, and the stack sends another one before, which the capture has behind it.
    Early,
    /// Of the same kind, with the same payload; fields differ.
    Alike,
    /// The same as a packet before, which the stack sends once.
    Again(u64),
    /// The stack sends nothing like it up to here.
    Unlike,
}

/// A frame of the stack's that the capture does not have: when, what about.
pub type Missing = (u64, String);

/// All packets, and what the capture does not have.
pub struct Report {
    pub seen: Vec<Seen>,
    /// Those that the stack sent before the capture's last packet.
    pub missing: Vec<Missing>,
    /// Inputs that wait for other hosts.
    pub waiting: usize,
    /// The first packet that the host sent and the stack does not: behind it the stack's state is not the host's.
    pub apart_from: Option<u64>,
}

impl Report {
    /// Whether a packet that came was not taken as all others were: dropped, refused, or the cause of a report.
    pub fn is_amiss(&self) -> bool {
        let is_amiss = |seen: &Seen| match &seen.what {
            What::Came(came) => matches!(came.fate, Fate::Dropped | Fate::Refused) || !came.reports.is_empty(),
            What::Sent(_) | What::Cut => false,
        };
        self.seen.iter().any(is_amiss)
    }
}
