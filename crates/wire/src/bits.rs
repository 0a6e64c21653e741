//! Fields of any width at any bit of a packet.

use mokume_reaction::Endian;

/// All ones in the low `width` bits.
pub fn mask(width: u8) -> u64 {
    u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0)
}

fn is_whole(at: usize, width: u8) -> bool {
    at.is_multiple_of(8) && width.is_multiple_of(8)
}

/// Reads the bits `at .. at + width`, which must lie in `octets`. Whole octets are in byte order `endian`, other fields
/// high bit first.
pub fn read(octets: &[u8], at: usize, width: u8, endian: Endian) -> u64 {
    if is_whole(at, width) {
        let field = &octets[at / 8..at / 8 + usize::from(width / 8)];
        let join = |value: u64, octet: &u8| value << 8 | u64::from(*octet);
        return match endian {
            Endian::Big => field.iter().fold(0, join),
            Endian::Little => field.iter().rev().fold(0, join),
        };
    }
    (at..at + usize::from(width)).fold(0, |value, bit| value << 1 | u64::from(octets[bit / 8] >> (7 - bit % 8) & 1))
}

/// The inverse of [`read`]: writes the low `width` bits of `value`; nothing else changes.
pub fn write(octets: &mut [u8], at: usize, width: u8, endian: Endian, value: u64) {
    if is_whole(at, width) {
        let size = usize::from(width / 8);
        for (place, octet) in octets[at / 8..at / 8 + size].iter_mut().enumerate() {
            let shift = match endian {
                Endian::Big => size - 1 - place,
                Endian::Little => place,
            };
            *octet = (value >> (8 * shift)) as u8;
        }
        return;
    }
    for place in 0..usize::from(width) {
        let bit = at + place;
        let one = 1 << (7 - bit % 8);
        match value >> (usize::from(width) - 1 - place) & 1 {
            0 => octets[bit / 8] &= !one,
            _ => octets[bit / 8] |= one,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else_changes() {
        for endian in [Endian::Big, Endian::Little] {
            for at in 0..24 {
                for width in 1..=64u8 {
                    let mut octets = [0xa5u8; 12];
                    let value = 0x9e37_79b9_7f4a_7c15 & mask(width);
                    write(&mut octets, at, width, endian, value);
                    assert_eq!(read(&octets, at, width, endian), value);
                    write(&mut octets, at, width, endian, read(&[0xa5; 12], at, width, endian));
                    assert_eq!(octets, [0xa5; 12]);
                }
            }
        }
    }

    #[test]
    fn octets_are_in_their_order() {
        let mut octets = [0; 2];
        write(&mut octets, 0, 16, Endian::Little, 0x1234);
        assert_eq!(octets, [0x34, 0x12]);
        assert_eq!(read(&octets, 0, 16, Endian::Big), 0x3412);
        assert_eq!(read(&octets, 4, 8, Endian::Little), 0x41);
    }
}
