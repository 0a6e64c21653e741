//! Sizes and checksums that a wire itself writes and checks.

use mokume_reaction::{Compare, FieldIndex, WireExpression as E, WireTest};

use crate::bits;

/// A field that was laid out or read.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its first bit, and its width.
    pub at: usize,
    pub width: u8,
    pub value: u64,
}

/// What an expression may refer to.
pub struct Facts<'a> {
    pub slots: &'a [Option<Slot>],
    pub packet: &'a [u8],
    pub packet_size: usize,
    pub header_size: usize,
    /// The field with the expression: it counts as zero in a checksum.
    pub own: Option<FieldIndex>,
}

/// Evaluates in u64: wraps around, division by zero gives 0, a field in an arm that was not taken is 0.
pub fn evaluate(expression: &E, facts: &Facts) -> u64 {
    let eval = |e: &E| evaluate(e, facts);
    match expression {
        E::Number(value) => *value,
        E::Field(index) => facts.slots.get(index.0 as usize).copied().flatten().map_or(0, |slot| slot.value),
        E::PacketSize => facts.packet_size as u64,
        E::HeaderSize => facts.header_size as u64,
        E::PayloadSize => facts.packet_size.wrapping_sub(facts.header_size) as u64,
        E::Add(a, b) => eval(a).wrapping_add(eval(b)),
        E::Sub(a, b) => eval(a).wrapping_sub(eval(b)),
        E::Mul(a, b) => eval(a).wrapping_mul(eval(b)),
        E::Div(a, b) => eval(a).checked_div(eval(b)).unwrap_or(0),
        E::HeaderChecksum => checksum(facts, facts.header_size),
        E::PacketChecksum => checksum(facts, facts.packet_size),
    }
}

/// Whether a condition holds for these fields and sizes.
pub fn is_met(test: &WireTest, facts: &Facts) -> bool {
    holds(test.compare, evaluate(&test.left, facts), evaluate(&test.right, facts))
}

/// Whether a comparison holds.
pub fn holds(compare: Compare, left: u64, right: u64) -> bool {
    match compare {
        Compare::Eq => left == right,
        Compare::Ne => left != right,
        Compare::Lt => left < right,
        Compare::Le => left <= right,
        Compare::Gt => left > right,
        Compare::Ge => left >= right,
    }
}

/// The checksum of the first `size` octets, with its own field as zero.
fn checksum(facts: &Facts, size: usize) -> u64 {
    let mut octets = facts.packet[..size.min(facts.packet.len())].to_vec();
    let own = facts.own.and_then(|index| facts.slots.get(index.0 as usize).copied().flatten());
    if let Some(slot) = own.filter(|slot| slot.at + usize::from(slot.width) <= octets.len() * 8) {
        bits::write(&mut octets, slot.at, slot.width, mokume_reaction::Endian::Big, 0);
    }
    u64::from(internet_checksum(&octets))
}

/// RFC 1071: the complement of the sum of big-endian u16s with end-around carry; an odd last octet is padded.
pub fn internet_checksum(octets: &[u8]) -> u16 {
    let pair = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u64::from(*low));
    let mut sum: u64 = octets.chunks(2).map(pair).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

/// What an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Named {
    pub packet: bool,
    pub header: bool,
    /// A checksum, known only at the end.
    pub octets: bool,
}

/// What an expression depends on; each field goes to `field`.
pub fn named(expression: &E, field: &mut impl FnMut(FieldIndex)) -> Named {
    match expression {
        E::Number(_) => Named::default(),
        E::Field(index) => {
            field(*index);
            Named::default()
        }
        E::PacketSize => Named { packet: true, ..Named::default() },
        E::HeaderSize => Named { header: true, ..Named::default() },
        E::PayloadSize => Named { packet: true, header: true, octets: false },
        E::HeaderChecksum | E::PacketChecksum => Named { octets: true, ..Named::default() },
        E::Add(a, b) | E::Sub(a, b) | E::Mul(a, b) | E::Div(a, b) => {
            let (a, b) = (named(a, field), named(b, field));
            Named { packet: a.packet | b.packet, header: a.header | b.header, octets: a.octets | b.octets }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_rfc_1071() {
        // RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
        assert_eq!(internet_checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(internet_checksum(&[0xff]), 0x00ff);
        assert_eq!(internet_checksum(&[]), 0xffff);
    }
}
