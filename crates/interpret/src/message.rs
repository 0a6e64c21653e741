//! Messages: a stack of headers, octets, attributes, and the packets they came in.

use std::sync::Arc;

use mokume_reaction::{Automaton, Endian, WireId};
use mokume_wire::HeaderValue;

/// A message. Linear in handlers; here a plain value that is moved.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Message {
    /// The headers, the top one last.
    pub headers: Vec<HeaderValue>,
    pub octets: Vec<u8>,
    /// The attributes, by [`mokume_reaction::AttributeId`].
    pub attributes: Vec<u64>,
    /// The packets that the message came in, as each wire received them.
    pub met: Vec<(WireId, Arc<[u8]>)>,
}

impl Message {
    /// A message without headers, not received by any wire; its attributes have their declared defaults
    /// (docs/semantics.md, F7).
    pub fn new(automaton: &Automaton, octets: Vec<u8>) -> Self {
        let attributes = automaton.attributes.iter().map(|attribute| attribute.default).collect();
        Message { headers: Vec::new(), octets, attributes, met: Vec::new() }
    }

    /// Splits off the second part, with the same attributes and without headers.
    pub fn split_off(&mut self, at: usize) -> Message {
        let octets = self.octets.split_off(at);
        Message { headers: Vec::new(), octets, attributes: self.attributes.clone(), met: self.met.clone() }
    }

    /// Stores a packet as a wire received it. Only the last one of each wire is kept (docs/semantics.md, F9).
    pub fn note_met(&mut self, wire: WireId, packet: &[u8]) {
        self.met.retain(|(known, _)| *known != wire);
        self.met.push((wire, packet.into()));
    }

    /// The packet as the wire received it; empty if it received none (docs/semantics.md, F9).
    pub fn received(&self, wire: WireId) -> &[u8] {
        self.met.iter().find(|(known, _)| *known == wire).map_or(&[], |(_, packet)| packet)
    }

    /// The octets of a field, if the message has them.
    pub fn field(&self, at: u64, octets: usize) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.octets.get(at..at.checked_add(octets)?)
    }

    /// Writes the low `octets` octets of a number at an offset; `octets` is at most 8. Returns false, and writes
    /// nothing, if the message ends before.
    pub fn store(&mut self, at: u64, octets: usize, endian: Endian, value: u64) -> bool {
        let place = usize::try_from(at).ok().and_then(|at| self.octets.get_mut(at..at.checked_add(octets)?));
        let Some(place) = place else { return false };
        match endian {
            Endian::Big => place.copy_from_slice(&value.to_be_bytes()[8 - octets..]),
            Endian::Little => place.copy_from_slice(&value.to_le_bytes()[..octets]),
        }
        true
    }
}

/// The number in a field of octets.
pub fn number(octets: &[u8], endian: Endian) -> u64 {
    let join = |value: u64, octet: &u8| value << 8 | u64::from(*octet);
    match endian {
        Endian::Big => octets.iter().fold(0, join),
        Endian::Little => octets.iter().rev().fold(0, join),
    }
}

/// The sum of the octets as big-endian u16s modulo 2^32, an odd last octet padded.
pub fn sum16(octets: &[u8]) -> u32 {
    let pair = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    octets.chunks(2).fold(0, |sum, octets| sum.wrapping_add(pair(octets)))
}

/// A sum folded to 16 bits, with end-around carry (RFC 1071).
pub fn fold16(sum: u64) -> u64 {
    let once = (sum & 0xffff) + (sum >> 16);
    (once & 0xffff) + (once >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_linear_and_folds_carry_around() {
        assert_eq!(sum16(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0x2ddf0);
        assert_eq!(fold16(0x2ddf0), 0xddf2);
        assert_eq!(fold16(0xffff_ffff), 0xffff);
        assert_eq!(sum16(&[0xab]), 0xab00);
    }

    #[test]
    fn a_field_beyond_the_end_is_none() {
        let mut message = Message { octets: vec![1, 2, 3], ..Message::default() };
        assert_eq!(message.field(1, 2).map(|field| number(field, Endian::Little)), Some(0x0302));
        assert_eq!(message.field(2, 2), None);
        assert_eq!(message.field(u64::MAX, 2), None);
        assert!(!message.store(2, 2, Endian::Big, 7));
        assert!(message.store(1, 2, Endian::Big, 0x0708));
        assert_eq!(message.octets, [1, 7, 8]);
    }
}
