//! Reads captures in pcapng form (draft-ietf-opsawg-pcapng), block by block as they come: packets, and the properties
//! of their interfaces.
//!
//! Unknown options and blocks are skipped, whatever they contain; only impossible lengths are errors.

use std::io::Read;
use std::time::Duration;

/// The first octets of a file, in either byte order.
pub const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;

/// The options for the units of a second, and for the second from which times count.
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;

/// The longest block: a file with a longer one is not valid, and would use up our memory.
const LONGEST_BLOCK: u32 = 64 << 20;

/// A packet as in its block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub link: u16,
    /// Time since 1970; a simple packet has none.
    pub at: Option<Duration>,
    /// Its length on the line.
    pub length: u32,
    pub octets: Vec<u8>,
}

/// The properties of an interface of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Interface {
    link: u16,
    /// The most captured octets of a packet; 0 for no limit.
    most: u32,
    /// Units per second.
    units: u128,
    /// Seconds to add.
    offset: i64,
}

/// The blocks of a file, or of a stream that has not ended.
pub struct Blocks<R> {
    input: R,
    big: bool,
    interfaces: Vec<Interface>,
}

/// The octets of a block, with the byte order of its section.
struct Body<'b> {
    octets: &'b [u8],
    big: bool,
}

impl<'b> Body<'b> {
    /// A number; `None` if the block ends before.
    fn word(&self, at: usize) -> Option<u32> {
        let octets: [u8; 4] = self.octets.get(at..at + 4)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) })
    }

    fn half(&self, at: usize) -> Option<u16> {
        let octets: [u8; 2] = self.octets.get(at..at + 2)?.try_into().ok()?;
        Some(if self.big { u16::from_be_bytes(octets) } else { u16::from_le_bytes(octets) })
    }

    /// The number and value of each option, up to the one that ends them or the first that exceeds the block.
    fn options(&self, mut at: usize) -> Vec<(u16, Body<'b>)> {
        let mut found = Vec::new();
        while let (Some(number @ 1..), Some(length)) = (self.half(at), self.half(at + 2)) {
            let length = usize::from(length);
            let Some(octets) = self.octets.get(at + 4..at + 4 + length) else { break };
            found.push((number, Body { octets, big: self.big }));
            at += 4 + length.next_multiple_of(4);
        }
        found
    }
}

impl<R: Read> Blocks<R> {
    /// The first block is read with the first packet.
    pub fn new(input: R) -> Self {
        Blocks { input, big: false, interfaces: Vec::new() }
    }

    /// The next packet; `None` at the end; an error, in a few words, if the file is corrupted.
    pub fn next_packet(&mut self) -> Result<Option<Seen>, String> {
        while let Some((kind, octets)) = self.block()? {
            let body = Body { octets: &octets, big: self.big };
            let seen = match kind {
                INTERFACE => {
                    self.interfaces.push(interface(&body).ok_or("an interface's block is too short")?);
                    continue;
                }
                PACKET => packet(&body, &self.interfaces, body.word(0)),
                OLD_PACKET => packet(&body, &self.interfaces, body.half(0).map(u32::from)),
                SIMPLE_PACKET => simple(&body, &self.interfaces),
                _ => continue,
            };
            return seen.map(Some);
        }
        Ok(None)
    }

    /// The next block's kind and content. A section's block has no content, and changes how others are read.
    fn block(&mut self) -> Result<Option<(u32, Vec<u8>)>, String> {
        let mut head = [0; 8];
        if !self.fill(&mut head)? {
            return Ok(None);
        }
        let mut done = 8;
        if head[..4] == SECTION {
            let mut order = [0; 4];
            self.whole(&mut order)?;
            self.big = match order {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => return Err("a section has no order of octets".into()),
            };
            self.interfaces.clear();
            done = 12;
        }
        let head = Body { octets: &head, big: self.big };
        let (kind, length) = (head.word(0).unwrap_or(0), head.word(4).unwrap_or(0));
        if length < done + 4 || length % 4 != 0 || length > LONGEST_BLOCK {
            return Err(format!("a block of {length} octets"));
        }
        let mut octets = vec![0; (length - done) as usize];
        self.whole(&mut octets)?;
        let again = Body { octets: &octets[octets.len() - 4..], big: self.big }.word(0);
        if again != Some(length) {
            return Err("a block that says two lengths of itself".into());
        }
        octets.truncate(octets.len() - 4);
        if done == 12 {
            octets.clear();
        }
        Ok(Some((kind, octets)))
    }

    fn whole(&mut self, into: &mut [u8]) -> Result<(), String> {
        match self.fill(into)? {
            true => Ok(()),
            false => Err("it ends within a block".into()),
        }
    }

    /// `false` at the end of the input.
    fn fill(&mut self, into: &mut [u8]) -> Result<bool, String> {
        let mut got = 0;
        while got < into.len() {
            match self.input.read(&mut into[got..]) {
                Ok(0) if got == 0 => return Ok(false),
                Ok(0) => return Err("it ends within a block".into()),
                Ok(more) => got += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(true)
    }
}

fn interface(body: &Body<'_>) -> Option<Interface> {
    let (link, most) = (body.half(0)?, body.word(4)?);
    let (mut units, mut offset) = (None, 0);
    for (number, value) in body.options(8) {
        match (number, value.octets) {
            // The high bit says whether the others are a power of 2 or of 10.
            (RESOLUTION, [power, ..]) if power & 0x80 != 0 => units = 1u128.checked_shl(u32::from(power & 0x7f)),
            (RESOLUTION, [power, ..]) => units = 10u128.checked_pow(u32::from(*power)),
            (OFFSET, octets) => offset = seconds(octets, body.big).unwrap_or(0),
            _ => {}
        }
    }
    Some(Interface { link, most, units: units.filter(|units| *units > 0).unwrap_or(1_000_000), offset })
}

fn seconds(octets: &[u8], big: bool) -> Option<i64> {
    let octets: [u8; 8] = octets.try_into().ok()?;
    Some(if big { i64::from_be_bytes(octets) } else { i64::from_le_bytes(octets) })
}

/// A packet's block; in the older form the interface's number has half the octets.
fn packet(body: &Body<'_>, interfaces: &[Interface], of: Option<u32>) -> Result<Seen, String> {
    let short = "a packet's block is too short";
    let from = of.and_then(|of| interfaces.get(of as usize)).ok_or("a packet of an interface that is not described")?;
    let word = |at| body.word(at).ok_or(short);
    let (high, low, captured, length) = (word(4)?, word(8)?, word(12)? as usize, word(16)?);
    let octets = body.octets.get(20..).and_then(|rest| rest.get(..captured)).ok_or(short)?;
    let count = u128::from(high) << 32 | u128::from(low);
    Ok(Seen { link: from.link, at: Some(time(count, from)), length, octets: octets.to_vec() })
}

fn simple(body: &Body<'_>, interfaces: &[Interface]) -> Result<Seen, String> {
    let from = interfaces.first().ok_or("a packet of an interface that is not described")?;
    let length = body.word(0).ok_or("a packet's block is too short")?;
    let most = if from.most == 0 { length } else { from.most.min(length) };
    let octets =
        body.octets.get(4..).and_then(|rest| rest.get(..most as usize)).ok_or("a packet's block is too short")?;
    Ok(Seen { link: from.link, at: None, length, octets: octets.to_vec() })
}

fn time(count: u128, from: &Interface) -> Duration {
    let seconds = i128::try_from(count / from.units).unwrap_or(i128::MAX).saturating_add(from.offset.into());
    let nanos = (count % from.units).saturating_mul(1_000_000_000) / from.units;
    Duration::new(u64::try_from(seconds.max(0)).unwrap_or(u64::MAX), u32::try_from(nanos).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, body: &[u8], big: bool) -> Vec<u8> {
        let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = word(body.len() as u32 + 12);
        [&word(kind)[..], &length, &body, &length].concat()
    }

    fn section(big: bool) -> Vec<u8> {
        let order: [u8; 4] = if big { [0x1a, 0x2b, 0x3c, 0x4d] } else { [0x4d, 0x3c, 0x2b, 0x1a] };
        block(0x0a0d_0d0a, &[&order[..], &[0; 4], &[0xff; 8]].concat(), big)
    }

    fn packets(file: &[u8]) -> Result<Vec<Seen>, String> {
        let mut blocks = Blocks::new(file);
        let mut found = Vec::new();
        while let Some(seen) = blocks.next_packet()? {
            found.push(seen);
        }
        Ok(found)
    }

    /// Foreign options and blocks, some of them malformed, are in between.
    #[test]
    fn what_is_not_known_is_passed_over() {
        let options = [
            &[0x2c, 0x01, 3, 0, 0xff, 0xfe, 0xfd, 0][..],
            &[2, 0, 2, 0, 0xc3, 0x28, 0, 0],
            &[9, 0, 1, 0, 3, 0, 0, 0],
            &[14, 0, 8, 0, 5, 0, 0, 0, 0, 0, 0, 0],
            &[77, 0, 0xff, 0xff],
        ];
        let interface = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &options.concat()].concat();
        let of = |number: u8| [number, 0, 0, 0, 0, 0, 0, 0, 0xdc, 5, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, b'a', b'b', b'c'];
        let file = [
            section(false),
            block(0x0bad, b"what", false),
            block(INTERFACE, &interface, false),
            block(PACKET, &[&of(0)[..], &[0, 1, 0, 200, 0]].concat(), false),
            block(SIMPLE_PACKET, &[2, 0, 0, 0, b'd', b'e'], false),
            block(OLD_PACKET, &of(0), false),
        ]
        .concat();
        let seen = packets(&file).unwrap();
        assert_eq!(seen.len(), 3);
        let first = Seen { link: 1, at: Some(Duration::from_millis(6500)), length: 9, octets: b"abc".to_vec() };
        assert_eq!((&seen[0], &seen[2]), (&first, &first));
        assert_eq!(seen[1], Seen { link: 1, at: None, length: 2, octets: b"de".to_vec() });
        let strange = [section(false), block(INTERFACE, &interface, false), block(PACKET, &of(1), false)].concat();
        assert_eq!(packets(&strange).unwrap_err(), "a packet of an interface that is not described");
    }

    #[test]
    fn a_section_may_have_the_other_order_of_octets() {
        let interface = [0, 101, 0, 0, 0, 0, 0, 0];
        let packet = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16, 0xe3, 0x60, 0, 0, 0, 1, 0, 0, 0, 1, b'x'];
        let big = [section(true), block(INTERFACE, &interface, true), block(PACKET, &packet, true)].concat();
        let seen = Seen { link: 101, at: Some(Duration::from_millis(1500)), length: 1, octets: b"x".to_vec() };
        assert_eq!(packets(&big).unwrap(), [seen]);
        // An interface belongs to its section only.
        let two = [big, section(false), block(PACKET, &[0; 20], false)].concat();
        assert!(packets(&two).is_err());
    }

    #[test]
    fn lengths_that_cannot_be() {
        for length in [0u32, 8, 13, 0x7fff_fffc] {
            let mut file = section(false);
            file.extend([&6u32.to_le_bytes()[..], &length.to_le_bytes()].concat());
            assert!(packets(&file).is_err(), "{length}");
        }
        let file = [section(false), block(INTERFACE, &[1, 0, 0, 0, 0, 0, 0, 0], false)].concat();
        for cut in 1..file.len() {
            let whole = cut == section(false).len();
            assert_eq!(packets(&file[..cut]).is_ok(), whole, "{cut}");
        }
    }

    #[test]
    fn units_of_an_interface() {
        let of = |units| Interface { link: 1, most: 0, units, offset: 0 };
        assert_eq!(time(1_500_000, &of(1_000_000)), Duration::from_millis(1500));
        assert_eq!(time(3, &of(2)), Duration::from_millis(1500));
    }
}
