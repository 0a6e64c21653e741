//! Hostile frames: correct except for one thing, cut, lengthened, overwritten; and attacks on memory.
#![allow(dead_code)]

use mokume_base::Random;

pub const OWN: u32 = 0x0a4d_0002;
pub const PEER: u32 = 0x0a4d_0001;
pub const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
pub const EVERYBODY: [u8; 6] = [0xff; 6];
pub const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The ports of one of our sessions, local and remote.
pub const OPEN: (u16, u16) = (4242, 4001);
pub const PREFIX: u64 = 0xfd00_0077_0000_0000;
pub const OWN6: [u64; 2] = [PREFIX, 2];
pub const PEER6: [u64; 2] = [PREFIX, 1];

pub fn sum(octets: &[u8]) -> u32 {
    octets.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
}

pub fn fold(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

pub fn ethernet(to: [u8; 6], from: [u8; 6], kind: u16, payload: &[u8]) -> Vec<u8> {
    [to.as_slice(), &from, &kind.to_be_bytes(), payload].concat()
}

pub fn arp(operation: u16, sender: u32, target: u32) -> Vec<u8> {
    let head = [0, 1, 8, 0, 6, 4];
    let body =
        [operation.to_be_bytes().as_slice(), &PEER_MAC, &sender.to_be_bytes(), &[0; 6], &target.to_be_bytes()].concat();
    ethernet([0xff; 6], PEER_MAC, 0x0806, &[head.as_slice(), &body].concat())
}

/// A packet with these header fields and a correct checksum.
pub fn ipv4(protocol: u8, source: u32, destination: u32, tweak: impl FnOnce(&mut Vec<u8>), payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len()) as u16;
    let mut header = vec![0x45, 0];
    header.extend(length.to_be_bytes());
    header.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    header.extend(source.to_be_bytes());
    header.extend(destination.to_be_bytes());
    tweak(&mut header);
    let check = !fold(sum(&header));
    header[10..12].copy_from_slice(&check.to_be_bytes());
    ethernet(OWN_MAC, PEER_MAC, 0x0800, &[header.as_slice(), payload].concat())
}

pub fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let mut datagram = [source, destination, length, 0].map(u16::to_be_bytes).concat();
    datagram.extend(payload);
    let pseudo = sum(&PEER.to_be_bytes()) + sum(&OWN.to_be_bytes()) + 17 + u32::from(length);
    let check = !fold(pseudo + sum(&datagram));
    datagram[6..8].copy_from_slice(&(if check == 0 { 0xffff } else { check }).to_be_bytes());
    datagram
}

pub fn icmp(kind: u8, code: u8, payload: &[u8]) -> Vec<u8> {
    let mut message = [[kind, code, 0, 0].as_slice(), payload].concat();
    let check = !fold(sum(&message));
    message[2..4].copy_from_slice(&check.to_be_bytes());
    message
}

/// Half of the frames are correct except for one thing, so that every layer gets its share.
pub fn frame(random: &mut Random) -> Vec<u8> {
    let frame = if random.below(2) == 0 { frame4(random) } else { frame6(random) };
    mutilated(frame, random)
}

fn frame4(random: &mut Random) -> Vec<u8> {
    let payload: Vec<u8> = (0..random.below(64)).map(|_| random.word() as u8).collect();
    let word = random.word();
    let any = word as u32;
    match random.below(32) {
        0 => arp(1, PEER, OWN),
        1 => arp(1, 0, OWN),
        2 => arp(random.below(4) as u16, any, if word & 1 == 0 { OWN } else { PEER }),
        3 => ipv4(1, PEER, OWN, |_| (), &icmp(8, 0, &payload)),
        4 => ipv4(1, PEER, OWN, |_| (), &icmp(word as u8, (word >> 8) as u8, &payload)),
        5 => ipv4(17, PEER, OWN, |_| (), &udp(4000, 7, &payload)),
        6 => ipv4(17, PEER, OWN, |_| (), &udp(4000, any as u16, &payload)),
        7 => ipv4(word as u8, PEER, OWN, |_| (), &payload),
        8 => ipv4(17, any, OWN, |_| (), &udp(4000, 7, &payload)),
        9 => ipv4(17, PEER, any, |_| (), &udp(4000, 7, &payload)),
        10 => ipv4(17, PEER, 0x0a4d_00ff, |_| (), &udp(4000, 9, &payload)),
        11 => ipv4(17, PEER, OWN, |header| header[6] = 0x20, &udp(4000, 7, &payload)),
        12 => ipv4(17, PEER, OWN, |header| header[7] = 1, &udp(4000, 7, &payload)),
        13 => ipv4(17, PEER, OWN, |header| header[0] = word as u8, &udp(4000, 7, &payload)),
        14 => ipv4(
            17,
            PEER,
            OWN,
            |header| header[2..4].copy_from_slice(&(any as u16 & 0xff).to_be_bytes()),
            &udp(4000, 7, &payload),
        ),
        15 => {
            let mut datagram = udp(4000, 7, &payload);
            datagram[4..6].copy_from_slice(&(any as u16 & 0x3f).to_be_bytes());
            ipv4(17, PEER, OWN, |_| (), &datagram)
        }
        16 => {
            let mut datagram = udp(4000, 7, &payload);
            let at = random.below(datagram.len() as u64) as usize;
            datagram[at] ^= 1 << random.below(8);
            ipv4(17, PEER, OWN, |_| (), &datagram)
        }
        17 => ethernet(OWN_MAC, PEER_MAC, any as u16, &payload),
        18 => ethernet([word as u8; 6], PEER_MAC, 0x0800, &payload),
        19 | 28 | 29 => ipv4(1, PEER, OWN, |_| (), &quoting4(word, &payload)),
        20 => payload,
        // Fragments of few datagrams, at few offsets: they join, overlap, and end twice.
        21..=24 => ipv4(
            if word & 64 == 0 { 17 } else { word as u8 },
            if word & 32 == 0 { PEER } else { any },
            OWN,
            |header| {
                header[5] = (word >> 8) as u8 & 7;
                header[6] = (word >> 16) as u8 & 0x20;
                header[7] = (word >> 24) as u8 & 15;
            },
            &payload[..payload.len() & !(7 * usize::from(word & 1 == 0))],
        ),
        // Stations in turn: they fill a cache.
        25 => arp(1, OWN & 0xffff_ff00 | any & 0xff, OWN),
        26 => ipv4(17, OWN & 0xffff_ff00 | any & 0xff, OWN, |_| (), &udp(4000, 9, &payload)),
        27 => ipv4(
            17,
            PEER,
            OWN,
            |header| {
                header[0] = 0x46;
                header[3] += 4;
                header.extend([word as u8 & 0x9f, (word >> 8) as u8 & 7, 4, 0]);
            },
            &udp(4000, 7, &payload),
        ),
        _ => ipv4(17, PEER, OWN, |_| (), &udp(any as u16, 7, &payload)),
    }
}

/// An error about one of our packets, or a similar one: of the open session, of another, of a fragment, from another
/// host, or cut off.
fn quoting4(word: u64, payload: &[u8]) -> Vec<u8> {
    let port = if word & 1 == 0 { OPEN.0 } else { 7 };
    let peer = if word & 6 == 6 { PEER + 1 } else { PEER };
    let own = if word & 24 == 24 { OWN + 1 } else { OWN };
    let tweak = |header: &mut Vec<u8>| header[7] = u8::from(word & 0xe0 == 0xe0);
    let mut packet = ipv4(17, own, peer, tweak, &udp(port, OPEN.1, payload)).split_off(14);
    if word & 0x300 == 0x300 {
        packet.truncate((word >> 10) as usize & 31);
    }
    let kind = [3, 3, 3, 11, 12, 4, 5, 3][(word >> 16) as usize & 7];
    let narrow = (word >> 32) as u16 >> ((word >> 48) & 15);
    let rest = [[0, 0].as_slice(), &narrow.to_be_bytes(), &packet].concat();
    icmp(kind, (word >> 20) as u8 & 7, &rest)
}

fn wide(address: [u64; 2]) -> Vec<u8> {
    address.iter().flat_map(|half| half.to_be_bytes()).collect()
}

pub fn ipv6(next: u8, source: [u64; 2], destination: [u64; 2], hops: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next, hops]);
    packet.extend([wide(source), wide(destination)].concat());
    packet.extend(payload);
    let group = destination[0] >> 56 == 0xff;
    let low = destination[1].to_be_bytes();
    ethernet(if group { [0x33, 0x33, low[4], low[5], low[6], low[7]] } else { OWN_MAC }, PEER_MAC, 0x86dd, &packet)
}

/// Inserts the checksum over the addresses at `at`.
fn summed6(protocol: u8, source: [u64; 2], destination: [u64; 2], mut message: Vec<u8>, at: usize) -> Vec<u8> {
    let pseudo = sum(&wide(source)) + sum(&wide(destination)) + u32::from(protocol) + message.len() as u32;
    let check = !fold(pseudo + sum(&message));
    message[at..at + 2].copy_from_slice(&(if check == 0 { 0xffff } else { check }).to_be_bytes());
    message
}

pub fn udp6(source: [u64; 2], ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut datagram = [ports.0, ports.1, 8 + payload.len() as u16, 0].map(u16::to_be_bytes).concat();
    datagram.extend(payload);
    summed6(17, source, OWN6, datagram, 6)
}

pub fn icmp6(source: [u64; 2], destination: [u64; 2], head: [u8; 2], rest: &[u8]) -> Vec<u8> {
    summed6(58, source, destination, [[head[0], head[1], 0, 0].as_slice(), rest].concat(), 2)
}

/// A solicitation or an advertisement about an address, with an option.
fn neighbour(kind: u8, flags: u8, source: [u64; 2], destination: [u64; 2], about: [u64; 2], option: u8) -> Vec<u8> {
    let rest = [[flags, 0, 0, 0].as_slice(), &wide(about), &[option, 1], &PEER_MAC].concat();
    ipv6(58, source, destination, 255, &icmp6(source, destination, [kind, 0], &rest))
}

fn frame6(random: &mut Random) -> Vec<u8> {
    let payload: Vec<u8> = (0..random.below(64)).map(|_| random.word() as u8).collect();
    let word = random.word();
    let stranger = [PREFIX, word & 0xff];
    let any = [random.word(), random.word()];
    let nodes = [0xff02_0000_0000_0000, 1];
    let ours = [0xff02_0000_0000_0000, 0x1_ff00_0002];
    let extended = |first: u8, headers: &[u8], protocol: u8, payload: &[u8]| {
        let mut all = headers.to_vec();
        all[0] = protocol;
        ipv6(first, PEER6, OWN6, 64, &[all.as_slice(), payload].concat())
    };
    let datagram = udp6(PEER6, (4000, 7), &payload);
    match random.below(30) {
        0 => ipv6(58, PEER6, OWN6, 64, &icmp6(PEER6, OWN6, [128, 0], &[[0, 1, 0, 2].as_slice(), &payload].concat())),
        1 => ipv6(58, PEER6, OWN6, 64, &icmp6(PEER6, OWN6, [word as u8, (word >> 8) as u8], &payload)),
        2 => ipv6(17, PEER6, OWN6, 64, &udp6(PEER6, (4000, word as u16), &payload)),
        3 => ipv6(17, any, OWN6, 64, &udp6(any, (4000, 7), &payload)),
        4 => ipv6(17, PEER6, any, 64, &datagram),
        5 => ipv6(word as u8, PEER6, if word & 256 == 0 { OWN6 } else { nodes }, 64, &payload),
        6 => neighbour(135, 0, stranger, ours, OWN6, 1),
        7 => neighbour(135, 0, PEER6, ours, OWN6, (word >> 8) as u8 & 3),
        8 => neighbour(135, 0, [0, 0], ours, OWN6, (word >> 8) as u8 & 3),
        9 => neighbour(136, word as u8, stranger, OWN6, stranger, 2),
        10 => neighbour(136, word as u8, PEER6, if word & 256 == 0 { OWN6 } else { nodes }, PEER6, 2),
        11 => neighbour(136, 0x20, PEER6, nodes, OWN6, 2),
        12 => ipv6(58, PEER6, OWN6, word as u8, &icmp6(PEER6, OWN6, [135, 0], &payload)),
        13 => ipv6(17, stranger, OWN6, 64, &udp6(stranger, (4000, 9), &payload)),
        14 => extended(0, &[0, 0, 5, 2, 0, 0, 1, 0], 17, &datagram),
        15 => extended(60, &[0, 0, word as u8, (word >> 8) as u8 & 7, 0, 0, 0, 0], 17, &datagram),
        16 => extended(43, &[0, 0, 0, word as u8 & 1, 0, 0, 0, 0], 17, &datagram),
        17 => extended([0, 43, 44, 60][word as usize & 3], &[0, (word >> 8) as u8 & 1, 1, 4, 0, 0, 0, 0], 60, &payload),
        18..=21 => {
            let place = (word >> 8) as u8 & 0x79;
            let head = [0, 0, 0, place, 0, 0, 0, (word >> 16) as u8 & 7];
            extended(44, &head, 17, &payload[..payload.len() & !(7 * usize::from(word & 2 == 0))])
        }
        22 | 24 => {
            let own = if word & 24 == 24 { PEER6 } else { OWN6 };
            let ours = udp6(PEER6, if word & 32 == 0 { OPEN } else { (7, 4000) }, &payload);
            let part = [17, 0, 0, (word >> 8) as u8 & 9, 0, 0, 0, 1];
            let extended = [part.as_slice(), &ours].concat();
            let packet =
                if word & 64 == 0 { ipv6(17, own, PEER6, 64, &ours) } else { ipv6(44, own, PEER6, 64, &extended) };
            let narrow = (word >> 32) as u16 >> ((word >> 48) & 15);
            let upto = if word & 0x3000 == 0x3000 { (word >> 14) as usize & 63 } else { packet.len() };
            let rest = [[0, 0].as_slice(), &narrow.to_be_bytes(), &packet[14..upto.max(14)]].concat();
            ipv6(58, PEER6, OWN6, 64, &icmp6(PEER6, OWN6, [word as u8 & 7, (word >> 20) as u8 & 7], &rest))
        }
        26 => {
            // Listener discovery (RFC 3810, RFC 2710), correct or not.
            let link = [0xfe80_0000_0000_0000, word & 0xff];
            let group = if word & 256 == 0 { [0, 0] } else { ours };
            let longer = (word >> 9) as usize % 7 * 4;
            let rest = [&[(word >> 16) as u8, 0, 0, 0][..], &wide(group), &[0; 24][..longer]].concat();
            let message = icmp6(link, nodes, [130 + (word >> 12) as u8 % 3, 0], &rest);
            let alerted = [&[58, 0, 5, 2, 0, (word >> 20) as u8 & 1, 1, 0][..], &message].concat();
            ipv6(0, link, nodes, 1 + ((word >> 21) as u8 & 1), &alerted)
        }
        27 | 28 => {
            // Chains of headers, with fragments among them.
            let mut chain = Vec::new();
            let kinds = [0, 43, 44, 60, 60, 44, 59, 17];
            for at in 0..(word & 3) + 1 {
                let next = kinds[(word >> (8 + 3 * at)) as usize & 7];
                let more = (word >> (24 + at)) as u8 & 9;
                chain.extend([
                    next,
                    (word >> (30 + at)) as u8 & 1,
                    [1, 0, 5, 0xc2][(word >> (34 + at)) as usize & 3],
                    more,
                    0,
                    0,
                    0,
                    0,
                ]);
            }
            ipv6(kinds[(word >> 40) as usize & 3], PEER6, OWN6, 64, &[chain, datagram].concat())
        }
        _ => ipv6(17, PEER6, OWN6, 64, &datagram),
    }
}

/// Changes a frame in one way: cuts it, overwrites a few octets, or lengthens it; most stay as they are.
pub fn mutilated(mut frame: Vec<u8>, random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0 => frame.truncate(random.below(frame.len() as u64 + 1) as usize),
        1 if !frame.is_empty() => {
            for _ in 0..=random.below(4) {
                let at = random.below(frame.len() as u64) as usize;
                frame[at] = random.word() as u8;
            }
        }
        2 => frame.extend((0..random.below(40)).map(|_| random.word() as u8)),
        _ => {}
    }
    frame
}
