//! Runs wires: the encoder and the total decoder that a [`mokume_reaction::Wire`] defines.
//!
//! [`encode`] and [`decode`] are inverse to each other: `decode(encode(x)) = x`, and `encode(decode(p)) = p` for an
//! accepted packet, except for bits that the wire leaves open (`Placed`, `Reserved`) and octets behind the trim. The
//! decoder never reads beyond the packet, and rejects with a reason.
//!
//! The order in which a decoder rejects is part of the meaning, for every back end:
//! 1. items in order; a field: `short` if it ends beyond the packet; then its own value (a constant, a header field
//!    that does not divide or fit); then all constraints so far, in order, of which everything they name is known;
//!    then, if it trims: `short` if the packet has fewer octets, or more were read already, and the constraints again;
//! 2. a choice whose tag no arm has: `unknown`; after an arm's items, if an earlier arm leaves out exactly these:
//!    `unknown`;
//! 3. options: `short` if they end beyond the packet or before what was read; then option by option: `malformed` if its
//!    kind goes beyond their end; `unknown` if no arm has it (or it is skipped); `malformed` if its length goes beyond
//!    the end, or is not that of its fields; its fields as in 1. A reach: `short` likewise, then the constraints; a
//!    list: its elements' items in order; if a list to the packet's end has its most elements and octets are left: its
//!    reason;
//! 4. at the end the remaining constraints, in order. The value of a computed field is its first constraint.
//!
//! Known from the start are the size of the packet if no field trims it, and that of the header if the wire has only
//! fields.

mod bits;
pub mod by_fields;
mod decode;
mod encode;
mod expression;
pub mod native;
pub mod trial;

use mokume_reaction::{Automaton, HeaderId, ReasonId, VariantId};

pub use decode::{decode, read};
pub use encode::encode;
pub use expression::internet_checksum;

/// One header of a message: its record, and the values of its fields.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct HeaderValue {
    pub header: HeaderId,
    pub variant: VariantId,
    pub fields: Vec<u64>,
}

impl HeaderValue {
    /// The header that a message without headers has when one is taken off: the first alternative, all zeros
    /// (docs/semantics.md, F8).
    pub fn nothing(automaton: &Automaton, header: HeaderId) -> HeaderValue {
        let fields = automaton.headers[header.index()].variants.first().map_or(0, |first| first.fields.len());
        HeaderValue { header, variant: VariantId(0), fields: vec![0; fields] }
    }
}

/// A packet. `narrow` if some value did not fit its field and was truncated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    pub octets: Vec<u8>,
    pub narrow: bool,
}

/// The headers, top of the message first, and the place of the payload in the packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    pub headers: Vec<HeaderValue>,
    pub payload: std::ops::Range<usize>,
}

/// The result of a decoder.
pub type Decoding = Result<Decoded, Refusal>;

/// Why a packet is rejected, and the first bit of what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub reason: ReasonId,
    pub bit: usize,
}

/// The result of a decoder, with what it has read on the way.
pub struct Read<'a> {
    pub decoding: Decoding,
    pub fields: Vec<Seen<'a>>,
    /// In octets; 0 if the packet was rejected before that was known.
    pub header_size: usize,
    /// In octets, without what the wire trims.
    pub packet_size: usize,
    /// Whether it skipped an option that has something in it: nobody knows what that says of the packet.
    pub passed_over: bool,
}

/// A field of a packet; kinds and lengths of options have no `field`.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub name: &'a str,
    pub bit: usize,
    pub width: u8,
    pub value: u64,
    pub field: Option<&'a mokume_reaction::WireField>,
}
