//! Runs wires: the encoder and the total decoder that a [`mokume_reaction::Wire`] stands for.
//!
//! [`encode`] and [`decode`] are inverse to each other: `decode(encode(x)) = x`, and for a packet that is accepted
//! `encode(decode(p)) = p`, but for bits that the wire leaves open (`Placed`, `Reserved`) and octets behind the trim.
//! The decoder looks at no octet beyond the packet and refuses with a reason.
//!
//! The order in which a decoder refuses is part of the meaning, for every back end:
//! 1. items in order; a field: `short` if it ends beyond the packet; then its own value (a constant, a header field
//!    that does not divide or fit); then all constraints so far, in order, of which everything they name is known;
//!    then, if it trims: `short` if the packet has fewer octets, or more were read already, and the constraints again;
//! 2. a choice whose tag no arm has: `unknown`; behind an arm's items, if they are what an arm before it leaves out: `unknown`;
//! 3. options: `short` if they end beyond the packet or in front of what was read; then option by option: `malformed` if
//!    its kind goes beyond their end; `unknown` if no arm has it (or it is skipped); `malformed` if its length goes beyond
//!    the end, or is not that of its fields; its fields as in 1. A reach: `short` likewise, then the constraints;
//!    a list: its elements' items in order; one to the packet's end, of which nothing is left for as many as there may be, but
//!    octets of the packet: what it is refused for;
//! 4. at the end what is left of the constraints, in order. The value of a computed field is its first constraint.
//!
//! Known from the start is the size of the packet if no field trims it, and of the header if the wire has fields alone.

mod bits;
pub mod by_fields;
mod decode;
mod encode;
mod expression;
pub mod native;

use mokume_reaction::{Automaton, HeaderId, ReasonId, VariantId};

pub use decode::{decode, read};
pub use encode::encode;
pub use expression::internet_checksum;

/// One header of a message: which record, and the values of its fields.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct HeaderValue {
    pub header: HeaderId,
    pub variant: VariantId,
    pub fields: Vec<u64>,
}

impl HeaderValue {
    /// What a message without headers has where one is taken off: the first alternative, of zeros (docs/semantics.md, F8).
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

/// The headers, top of the message first, and where in the packet the rest lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    pub headers: Vec<HeaderValue>,
    pub payload: std::ops::Range<usize>,
}

/// What a decoder answers.
pub type Decoding = Result<Decoded, Refusal>;

/// Why a packet is refused, and the bit of the packet at which what is wrong begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub reason: ReasonId,
    pub bit: usize,
}

/// A decoder's answer with what it has seen on the way.
pub struct Read<'a> {
    pub decoding: Decoding,
    pub fields: Vec<Seen<'a>>,
    /// In octets; 0 where the packet was refused before that was known.
    pub header_size: usize,
    /// In octets, without what the wire cuts off.
    pub packet_size: usize,
}

/// A field of the packet at hand; kinds and lengths of options have no `field`.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub name: &'a str,
    pub bit: usize,
    pub width: u8,
    pub value: u64,
    pub field: Option<&'a mokume_reaction::WireField>,
}
