//! A packet's fields, as `mokume dissect` reads them. Octets and bits count from the front of the packet.

use serde::{Deserialize, Serialize};

use crate::number;

/// What the wires of a stack read in a packet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packet {
    pub layers: Vec<Layer>,
    pub not_decoded: NotDecoded,
}

/// Octets that no wire reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotDecoded {
    pub octet: usize,
    pub octets: usize,
    /// Whether they are a fragment, or not as they were sent.
    pub part: bool,
}

/// What one wire reads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    pub name: String,
    pub wire: String,
    /// Whether a layer below decides by its state which layer gets the packet. If the packet is for another layer, the
    /// verdicts on it do not hold.
    #[serde(default)]
    pub may_be_for_another: bool,
    pub alternatives: Vec<String>,
    pub octet: usize,
    pub octets: usize,
    pub fields: Vec<Field>,
    /// Why the wire rejects it, and at which place.
    pub malformed: Option<Malformed>,
    /// Why the layers drop it, whatever their state.
    pub dropped: Vec<Dropped>,
    /// Whether the capture has only a part of it.
    pub cut: bool,
    pub wrong_sum: Option<WrongSum>,
    /// Octets cut off after its packet.
    pub padding: usize,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    /// The alternative that it belongs to.
    pub alternative: Option<String>,
    /// Its first octet, and its first bit in that octet.
    pub octet: usize,
    pub bit: usize,
    pub bits: u8,
    #[serde(with = "number")]
    pub value: u64,
    /// Its value in its type's notation, if there is one.
    pub written: Option<String>,
    /// Whether the wire reads it.
    pub read: bool,
}

/// Why a wire rejects a packet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Malformed {
    pub reason: String,
    pub octet: usize,
    pub bit: usize,
}

/// Why a layer drops it, and the place of the drop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dropped {
    pub reason: String,
    pub place: Option<String>,
}

/// A wrong checksum.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongSum {
    pub field: String,
    pub octet: usize,
    pub right: u64,
}
