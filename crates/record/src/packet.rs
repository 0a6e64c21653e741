//! A packet field by field, as `mokume dissect` reads it. Octets and bits are counted from the front of the packet.

use serde::{Deserialize, Serialize};

use crate::number;

/// What the wires of a stack say of a packet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    pub layers: Vec<Layer>,
    pub not_decoded: NotDecoded,
}

/// What no wire reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotDecoded {
    pub octet: usize,
    pub octets: usize,
    /// It is a part of something, or not as it was sent.
    pub part: bool,
}

/// What one wire says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    pub name: String,
    pub wire: String,
    pub alternatives: Vec<String>,
    pub octet: usize,
    pub octets: usize,
    pub fields: Vec<Field>,
    /// Why the wire does not take it, and where it saw that.
    pub malformed: Option<Malformed>,
    /// Why the layers drop it, whatever their state.
    pub dropped: Vec<Dropped>,
    /// Not all of it was captured.
    pub cut: bool,
    pub wrong_sum: Option<WrongSum>,
    /// Octets that are cut off behind its packet.
    pub padding: usize,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    /// The alternative that it is of.
    pub alternative: Option<String>,
    /// Its first octet, and the first bit of that.
    pub octet: usize,
    pub bit: usize,
    pub bits: u8,
    #[serde(with = "number")]
    pub value: u64,
    /// As its type writes it, where that is not the number.
    pub written: Option<String>,
    /// The wire looks at it.
    pub read: bool,
}

/// Why a wire does not take a packet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Malformed {
    pub reason: String,
    pub octet: usize,
    pub bit: usize,
}

/// Why a layer drops it, and where that is written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    pub reason: String,
    pub place: Option<String>,
}

/// A checksum that is not that of what is there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongSum {
    pub field: String,
    pub octet: usize,
    pub right: u64,
}
