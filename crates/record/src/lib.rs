//! A run as events, from which charts, logs and JSON are made.
//!
//! Data, the text form (a head and an event a line, JSON), and its reader. Hosts, layers and ports are given by names,
//! so a record is understandable without its program. `docs/records.md` is the user's page, `schemas/record-4.json` the
//! schema of the text form.
//!
//! Invariant: `read(text(record)) = record`; 64-bit numbers survive readers that only have 53 bits.

mod number;
mod octets;
pub mod packet;
mod shown;
pub mod steps;
mod text;

use serde::{Deserialize, Serialize};

pub use shown::{arguments, front_of, session, text_of, Receiver};
pub use text::{read, Unread};

/// The version of the text form. It changes whenever a reader of the previous version would misread something.
pub const VERSION: u32 = 4;

/// The JSON Schema of the text form.
pub const SCHEMA: &str = include_str!("../../../schemas/record-4.json");

/// A complete run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    pub head: Head,
    /// The files whose lines the steps name.
    pub sources: Vec<steps::Source>,
    pub events: Vec<Event>,
}

/// What was run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// [`VERSION`].
    pub record: u32,
    pub kind: Kind,
    /// The name of the network, the stack or the test.
    pub name: String,
    /// The place of the test: `file:line`.
    pub place: Option<String>,
    #[serde(with = "number")]
    pub seed: u64,
    pub backend: String,
    /// The link type of its frames, as a number of captures.
    pub link: u32,
    pub hosts: Vec<Host>,
    /// The links of a network, or the devices of a stack.
    pub media: Vec<String>,
}

/// What was run: a network of hosts, or one stack on devices or in a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Network,
    Stack,
    Test,
}

/// A host and its stack.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: String,
    pub stack: String,
    /// The layers that frames reach first: what these drop is for other hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lowest: Vec<String>,
}

/// One thing that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The number, from 1, in the order of events.
    #[serde(with = "number")]
    pub id: u64,
    /// The event that caused it; `None` for what came from outside.
    #[serde(with = "number::perhaps")]
    pub cause: Option<u64>,
    /// Nanoseconds since the start.
    #[serde(with = "number")]
    pub at: u64,
    /// The host; `None` for events of the whole run.
    pub host: Option<String>,
    #[serde(flatten)]
    pub what: What,
    /// For a call of a stack, if recorded: what it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<Box<steps::Did>>,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The host started, which had some effect.
    Starts,
    /// Timers were due, or queued work, which had some effect.
    Wakes,
    /// An event came to an application's port.
    Input {
        port: String,
        name: String,
        args: Vec<Arg>,
        /// The stack refused it: there was no room, or the session had ended.
        refused: bool,
    },
    /// An event left by an application's port.
    Output { port: String, name: String, args: Vec<Arg> },
    /// A frame left by a device.
    Sends {
        #[serde(with = "number")]
        frame: u64,
        port: String,
        medium: String,
        /// What it is about.
        about: String,
        #[serde(with = "octets")]
        octets: Vec<u8>,
        /// The copies that are now on their way, by receiver.
        copies: Vec<Copy>,
        lost: Vec<Lost>,
        /// The fields of the packet, if recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packet: Option<Box<packet::Packet>>,
    },
    /// A frame came by a device.
    Receives {
        #[serde(with = "number")]
        frame: u64,
        port: String,
        /// What it is about, if no host of the run sent it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<String>,
        /// The octets; `None` if they are as sent.
        #[serde(with = "octets::perhaps")]
        octets: Option<Vec<u8>>,
        refused: bool,
        /// The fields of a packet that is not as sent, or that the receiver's stack reads otherwise than the sender's, if recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packet: Option<Box<packet::Packet>>,
    },
    /// Messages were dropped for a reason.
    Drops(Ended),
    /// Messages were consumed for a reason.
    Consumes(Ended),
    /// Messages were dropped as gone, with their sessions.
    Gone {
        #[serde(with = "number")]
        count: u64,
    },
    /// A copy of a frame reached a host that had crashed.
    Misses {
        #[serde(with = "number")]
        frame: u64,
    },
    /// The host crashed, with its whole state.
    Crashes,
    /// The host restarted.
    Restarts,
    /// A fault of the program: an overflow and the like.
    Reports { report: String, place: String },
    /// The run ended: `failed`, expectations that were not met; `restless`, why it ended early.
    Ends { failed: Vec<Failed>, restless: Option<String> },
}

/// Messages that layers ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    pub reason: String,
    #[serde(with = "number")]
    pub count: u64,
    /// The layers that do this for this reason.
    pub layers: Vec<String>,
    /// The statements that do this, `file:line`.
    pub places: Vec<String>,
}

/// An argument of a port's event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arg {
    pub name: String,
    #[serde(flatten)]
    pub value: Value,
}

/// The value of an argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Value {
    /// A scalar, or the parts of a wider value; and its notation.
    Number {
        #[serde(with = "number::list")]
        numbers: Vec<u64>,
        written: String,
    },
    /// A session, as applications see it: an object's number may be reused, with another generation.
    Session {
        object: u32,
        generation: u32,
    },
    NoSession,
    Message {
        #[serde(with = "octets")]
        octets: Vec<u8>,
    },
}

/// A copy of a frame on its way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    pub to: String,
    #[serde(with = "number")]
    pub at: u64,
    /// Bits that differ from the sent ones; 0 is the highest of the first octet.
    #[serde(with = "number::list")]
    pub turned: Vec<u64>,
}

/// A frame that does not reach a receiver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    pub to: String,
    pub by: Loss,
}

/// Why a frame does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    Weather,
    Partition,
    Queue,
}

/// An expectation that was not met.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    #[serde(with = "number")]
    pub at: u64,
    pub place: String,
    pub wanted: String,
    pub found: String,
}

impl Run {
    /// The event with this number.
    pub fn event(&self, id: u64) -> Option<&Event> {
        let place = usize::try_from(id).ok()?.checked_sub(1)?;
        self.events
            .get(place)
            .filter(|event| event.id == id)
            .or_else(|| self.events.iter().find(|event| event.id == id))
    }
}
