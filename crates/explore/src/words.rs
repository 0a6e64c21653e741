//! Operations on words and octets: comparison, numbers in packets, sums.

use mokume_reaction::{Compare, Endian, Type};

use crate::message::Message;
use crate::program::mask;

/// Compares two numbers. `seqN` is circular: `a < b` when `b - a` is in `1 .. 2^(n-1)` (RFC 1982).
pub fn compare(op: Compare, ty: Type, a: u64, b: u64) -> bool {
    let less = |a: u64, b: u64| match ty {
        Type::Seq(width) => {
            let ahead = b.wrapping_sub(a) & mask(width);
            ahead > 0 && ahead < 1 << (width - 1)
        }
        _ => a < b,
    };
    match op {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::Lt => less(a, b),
        Compare::Le => a == b || less(a, b),
        Compare::Gt => less(b, a),
        Compare::Ge => a == b || less(b, a),
    }
}

/// Octets as a number. If there are more than eight, only the eight least significant count.
pub fn number(octets: &[u8], endian: Endian) -> u64 {
    let join = |value: u64, octet: &u8| value << 8 | u64::from(*octet);
    match endian {
        Endian::Big => octets.iter().fold(0, join),
        Endian::Little => octets.iter().rev().fold(0, join),
    }
}

/// Writes the low `size` octets of a number at an offset. Returns false, and writes nothing, if the message ends
/// before. `size` is at most 8.
pub fn store(message: &mut Message, at: u64, size: usize, endian: Endian, value: u64) -> bool {
    let at = usize::try_from(at).ok();
    let place = at.and_then(|at| message.octets.get_mut(at..at.checked_add(size)?));
    let Some(place) = place else { return false };
    match endian {
        Endian::Big => place.copy_from_slice(&value.to_be_bytes()[8 - size..]),
        Endian::Little => place.copy_from_slice(&value.to_le_bytes()[..size]),
    }
    true
}

/// The sum of 16-bit numbers modulo 2^32; a last odd octet is followed by a zero (docs/semantics.md, A9).
pub fn sum16(octets: &[u8]) -> u32 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    octets.chunks(2).map(word).fold(0, u32::wrapping_add)
}

/// Folds a sum of 32 bits to 16 with end-around carry (RFC 1071; docs/semantics.md, A9). It is not inverted.
pub fn fold16(sum: u64) -> u64 {
    let once = (sum & 0xffff) + (sum >> 16);
    (once & 0xffff) + (once >> 16)
}
