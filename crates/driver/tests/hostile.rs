//! 100,000 malformed, truncated and random frames against the example host, in C under sanitizers and on the interpreter side by side.
//!
//! Every received frame has exactly one fate (the interpreter's ledger balances after each, and C's accounts are the
//! interpreter's); many reasons are hit; after all timers nothing is held; the host still answers.

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::compile::{self, Compiled};
use mokume_driver::machines;
use mokume_emit_c::{Build, CMachine, Memory, Sanitize, Transport};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Machine, Outcome, PortId};
use mokume_simulate::Chance;

const FRAMES: u64 = 100_000;
const OWN: u32 = 0x0a4d_0002;
const PEER: u32 = 0x0a4d_0001;
const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

fn host() -> Compiled {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let checked = compile::check(&RealWorld, &[format!("{root}/examples/host.mok")]).unwrap();
    let stack = compile::choose_stack(&checked, Some("Host")).unwrap();
    compile::compile(&checked, stack).0.expect("the example compiles")
}

fn parameters(automaton: &Automaton) -> Vec<u64> {
    let set = [("address", "10.77.0.2/24"), ("device.mac", "02:00:00:00:00:02")];
    let set: Vec<(String, String)> = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    machines::parameters(automaton, &set, &|_| None).unwrap()
}

fn sum(octets: &[u8]) -> u32 {
    octets.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn ethernet(to: [u8; 6], from: [u8; 6], kind: u16, payload: &[u8]) -> Vec<u8> {
    [to.as_slice(), &from, &kind.to_be_bytes(), payload].concat()
}

fn arp(operation: u16, sender: u32, target: u32) -> Vec<u8> {
    let head = [0, 1, 8, 0, 6, 4];
    let body =
        [operation.to_be_bytes().as_slice(), &PEER_MAC, &sender.to_be_bytes(), &[0; 6], &target.to_be_bytes()].concat();
    ethernet([0xff; 6], PEER_MAC, 0x0806, &[head.as_slice(), &body].concat())
}

/// The header's fields as given, the checksum right.
fn ipv4(protocol: u8, source: u32, destination: u32, tweak: impl FnOnce(&mut Vec<u8>), payload: &[u8]) -> Vec<u8> {
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

fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len()) as u16;
    let mut datagram = [source, destination, length, 0].map(u16::to_be_bytes).concat();
    datagram.extend(payload);
    let pseudo = sum(&PEER.to_be_bytes()) + sum(&OWN.to_be_bytes()) + 17 + u32::from(length);
    let check = !fold(pseudo + sum(&datagram));
    datagram[6..8].copy_from_slice(&(if check == 0 { 0xffff } else { check }).to_be_bytes());
    datagram
}

fn icmp(kind: u8, code: u8, payload: &[u8]) -> Vec<u8> {
    let mut message = [[kind, code, 0, 0].as_slice(), payload].concat();
    let check = !fold(sum(&message));
    message[2..4].copy_from_slice(&check.to_be_bytes());
    message
}

/// Half of the frames are right but for one thing, so that every layer gets its share.
fn frame(chance: &mut Chance) -> Vec<u8> {
    let payload: Vec<u8> = (0..chance.below(64)).map(|_| chance.next() as u8).collect();
    let word = chance.next();
    let any = word as u32;
    let frame = match chance.below(24) {
        0 => arp(1, PEER, OWN),
        1 => arp(1, 0, OWN),
        2 => arp(chance.below(4) as u16, any, if word & 1 == 0 { OWN } else { PEER }),
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
            let at = chance.below(datagram.len() as u64) as usize;
            datagram[at] ^= 1 << chance.below(8);
            ipv4(17, PEER, OWN, |_| (), &datagram)
        }
        17 => ethernet(OWN_MAC, PEER_MAC, any as u16, &payload),
        18 => ethernet([word as u8; 6], PEER_MAC, 0x0800, &payload),
        19 => ipv4(1, PEER, OWN, |_| (), &icmp(3, 3, &ipv4(17, OWN, PEER, |_| (), &udp(7, 4000, &payload))[14..])),
        20 => payload,
        _ => ipv4(17, PEER, OWN, |_| (), &udp(any as u16, 7, &payload)),
    };
    mutilated(frame, chance)
}

fn mutilated(mut frame: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    match chance.below(8) {
        0 => frame.truncate(chance.below(frame.len() as u64 + 1) as usize),
        1 if !frame.is_empty() => {
            for _ in 0..=chance.below(4) {
                let at = chance.below(frame.len() as u64) as usize;
                frame[at] = chance.next() as u8;
            }
        }
        2 => frame.extend((0..chance.below(40)).map(|_| chance.next() as u8)),
        _ => {}
    }
    frame
}

/// Both machines, driven alike.
struct Pair {
    interpreter: Instance,
    c: CMachine,
    now: u64,
}

impl Pair {
    fn both(&mut self, act: impl Fn(&mut dyn Machine, u64) -> Outcome) -> Outcome {
        let ours = act(&mut self.interpreter, self.now);
        let theirs = act(&mut self.c, self.now);
        assert_eq!(self.c.failure(), None);
        assert_eq!(ours, theirs, "interpreter and C differ");
        ours
    }

    fn frame(&mut self, frame: &[u8]) -> Outcome {
        self.both(|machine, now| machine.input(now, PortId(0), 0, &[Datum::Message(frame.to_vec())]))
    }
}

fn device(automaton: &Automaton) -> PortId {
    PortId::from(automaton.ports.iter().position(|port| port.name == "device").expect("a device"))
}

#[test]
fn hostile_frames_have_one_fate_each_and_leave_nothing_behind() {
    let compiled = host();
    let params = parameters(&compiled.composed);
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    let build =
        Build { optimize: 1, sanitize: Sanitize::AddressUndefined, transport: Transport::Process, ..Build::new(cache) };
    let program = match machines::program(&[&compiled.composed], &build) {
        Ok(program) => program,
        Err(failure) => {
            println!("SKIPPED: no C with sanitizers here ({failure})");
            return;
        }
    };
    let memory = Memory { buffers: 1024, buffer_octets: 4096, messages: 2048, outputs: 512, reports: 64 };
    let c = CMachine::new(&program, 0, &params, 1, memory).unwrap();
    let mut pair = Pair { interpreter: Instance::new(&compiled.uncomposed, &params, 1), c, now: 0 };
    assert_eq!(device(&compiled.composed), PortId(0));
    pair.both(|machine, now| machine.start(now));
    let mut chance = Chance::new(7);
    for number in 0..FRAMES {
        pair.now += chance.below(2_000_000);
        let frame = frame(&mut chance);
        let outcome = pair.frame(&frame);
        assert_eq!(outcome.reports, [], "frame {number}: {frame:02x?}");
        let ledger = pair.interpreter.ledger();
        assert_eq!(ledger.origins, ledger.fates, "frame {number}: a message without a fate, or with two");
        if number % 1000 == 0 {
            assert_eq!(pair.interpreter.accounts(), pair.c.accounts());
        }
    }
    while let Some(next) = pair.interpreter.next_deadline() {
        assert_eq!(pair.c.next_deadline(), Some(next));
        pair.now = next.max(pair.now);
        pair.both(|machine, now| machine.advance(now));
        if pair.now > 3_600_000_000_000 * 24 {
            break;
        }
    }
    let accounts = pair.interpreter.accounts();
    assert_eq!(accounts, pair.c.accounts());
    assert_eq!((accounts.received, accounts.held), (FRAMES, 0));
    // Far more frames than there are buffers have come: a single one that did not come back each time would have been missed.
    assert_eq!(pair.c.exhausted(), 0, "a buffer was wanted and not there");
    let reasons: BTreeSet<&str> = accounts
        .dropped
        .iter()
        .chain(&accounts.consumed)
        .map(|(reason, _)| compiled.composed.reasons[reason.index()].name.as_str())
        .collect();
    println!("FIGURE: hostile frames: {FRAMES} received, {} reasons: {reasons:?}", reasons.len());
    assert!(reasons.len() >= 15, "{reasons:?}");
    let answer = pair.frame(&ipv4(17, PEER, OWN, |_| (), &udp(4000, 7, b"still there?")));
    let asked =
        answer.outputs.iter().any(|output| matches!(&output.args[..], [Datum::Message(frame)] if frame.len() >= 42));
    assert!(asked, "the host answers, or asks who should get the answer: {answer:?}");
}
