//! A run as events: what charts, logs and JSON are read from.
//!
//! Data, the text form (a head and an event a line, JSON), and its reader. Who ran is said by names; a record is understood without the
//! program that it is of. `docs/records.md` is the user's page, `schemas/record-2.json` what the text form may be.
//!
//! Invariant: `read(text(record)) = record`; every number of 64 bits survives readers that know 53 bits alone.

mod number;
mod octets;
pub mod packet;
mod shown;
pub mod steps;
mod text;

use serde::{Deserialize, Serialize};

pub use shown::{arguments, front_of, text_of, Receiver};
pub use text::{read, Unread};

/// Of the text form. It changes whenever a reader of the one before would read something wrong.
pub const VERSION: u32 = 2;

/// What the text form may be, as JSON Schema.
pub const SCHEMA: &str = include_str!("../../../schemas/record-2.json");

/// A run, whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    pub head: Head,
    /// The files whose lines the steps name.
    pub sources: Vec<steps::Source>,
    pub events: Vec<Event>,
}

/// What ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// [`VERSION`].
    pub record: u32,
    pub kind: Kind,
    /// Of the network, the stack or the test.
    pub name: String,
    /// Where the test is: `file:line`.
    pub place: Option<String>,
    #[serde(with = "number")]
    pub seed: u64,
    pub backend: String,
    /// What its frames begin with, as captures number it.
    pub link: u32,
    pub hosts: Vec<Host>,
    /// The links of a network, or the devices of a stack.
    pub media: Vec<String>,
}

/// What ran: a network of hosts, or one stack on devices or in a test.
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
    /// The layers that frames come to first: what these drop is for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lowest: Vec<String>,
}

/// One thing that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// From 1, in the order in which things happened.
    #[serde(with = "number")]
    pub id: u64,
    /// The event that brought it about; none of what came from outside.
    #[serde(with = "number::perhaps")]
    pub cause: Option<u64>,
    /// Nanoseconds since the start.
    #[serde(with = "number")]
    pub at: u64,
    /// None of what is of the whole run.
    pub host: Option<String>,
    #[serde(flatten)]
    pub what: What,
    /// Of a call of a stack, where that is noted: what it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<Box<steps::Did>>,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The host started, and that brought something about.
    Starts,
    /// Timers were due, or what a layer does later, and that brought something about.
    Wakes,
    /// An event came to an application's port.
    Input {
        port: String,
        name: String,
        args: Vec<Arg>,
        /// Not taken: there was no room, or the session had ended.
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
        /// The copies that are under way from here, by receiver.
        copies: Vec<Copy>,
        lost: Vec<Lost>,
        /// Field by field, where that is noted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packet: Option<Box<packet::Packet>>,
    },
    /// A frame came by a device.
    Receives {
        #[serde(with = "number")]
        frame: u64,
        port: String,
        /// None if it is as it was sent.
        #[serde(with = "octets::perhaps")]
        octets: Option<Vec<u8>>,
        refused: bool,
        /// The same of one that is not as it was sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        packet: Option<Box<packet::Packet>>,
    },
    /// Messages were dropped for a reason.
    Drops(Ended),
    /// Messages came to their end as they should, for a reason.
    Consumes(Ended),
    /// Messages were lost with the sessions that they were for.
    Gone {
        #[serde(with = "number")]
        count: u64,
    },
    /// A copy of a frame came to a host that had crashed.
    Misses {
        #[serde(with = "number")]
        frame: u64,
    },
    /// The host stopped, with all that it held.
    Crashes,
    /// The host began anew.
    Restarts,
    /// A fault of the program: an overflow and the like.
    Reports { report: String, place: String },
    /// The run ended: `failed`, what was not as expected; `restless`, why it ended before its time.
    Ends { failed: Vec<Failed>, restless: Option<String> },
}

/// Messages that layers ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ended {
    pub reason: String,
    #[serde(with = "number")]
    pub count: u64,
    /// The layers that do so for this reason.
    pub layers: Vec<String>,
    /// The statements that do, `file:line`.
    pub places: Vec<String>,
}

/// An argument of a port's event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arg {
    pub name: String,
    #[serde(flatten)]
    pub value: Value,
}

/// What an argument is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Value {
    /// A scalar, or the parts of a value that is wider, and how it is written.
    Number {
        #[serde(with = "number::list")]
        numbers: Vec<u64>,
        written: String,
    },
    /// A session, as applications see it: an object's number may be given again, with another generation.
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

/// A copy of a frame under way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    pub to: String,
    #[serde(with = "number")]
    pub at: u64,
    /// Bits that differ from what was sent: 0 is the highest of the first octet.
    #[serde(with = "number::list")]
    pub turned: Vec<u64>,
}

/// A frame that does not come to a receiver.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    pub to: String,
    pub by: Loss,
}

/// Why a frame does not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    Weather,
    Partition,
    Queue,
}

/// What was not as expected.
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
    /// The event of this number.
    pub fn event(&self, id: u64) -> Option<&Event> {
        let place = usize::try_from(id).ok()?.checked_sub(1)?;
        self.events
            .get(place)
            .filter(|event| event.id == id)
            .or_else(|| self.events.iter().find(|event| event.id == id))
    }
}
