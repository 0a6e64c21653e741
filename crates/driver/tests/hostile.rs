//! Malformed, truncated and random frames, and attacks on memory, against the example host with both internets, in C
//! under sanitizers and on the interpreter side by side.
//!
//! Every received frame has exactly one fate (the interpreter's ledger balances after each, and C's accounts are the
//! interpreter's); many reasons occur; after all timers nothing is held; the host still answers.

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_base::Random;
use mokume_driver::compile::{self, Compiled};
use mokume_driver::machines;
use mokume_emit_c::{Build, CMachine, Memory, Sanitize, Transport};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Machine, Outcome, PortId};

use crate::attacks::{self, ipv4, udp, OWN, PEER};

/// `MOKUME_FRAMES` overrides it: the campaign uses more.
const FRAMES: u64 = 100_000;

/// A stack of a file, with these parameters.
pub fn stack_of(file: &str, stack: &str, set: &[(&str, &str)]) -> (Compiled, Vec<u64>) {
    let file = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let checked = compile::check(&RealWorld, &[file]).unwrap();
    let stack = compile::choose_stack(&checked, Some(stack)).unwrap();
    let compiled = compile::compile(&checked, stack, &RealWorld).0.expect("it compiles");
    let set: Vec<(String, String)> = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let params = machines::parameters(&compiled.composed, &compiled.written, &set, &|_| None).unwrap();
    (compiled, params)
}

/// Both machines with the same inputs.
pub struct Pair {
    pub interpreter: Instance,
    pub c: CMachine,
    pub now: u64,
}

impl Pair {
    pub fn both(&mut self, act: impl Fn(&mut dyn Machine, u64) -> Outcome) -> Outcome {
        let ours = act(&mut self.interpreter, self.now);
        let theirs = act(&mut self.c, self.now);
        assert_eq!(self.c.failure(), None);
        assert_eq!(ours, theirs, "interpreter and C differ");
        ours
    }

    /// Interpreter and sanitized C of a stack, not started, with exactly as many buffers as composing demands: a single
    /// leaked one would block the stack. `None`, with a message, if there is no sanitized C.
    pub fn of(name: &str, (compiled, params): (&Compiled, &[u64]), outputs: u32) -> Option<Pair> {
        let build = Build {
            optimize: 1,
            sanitize: Sanitize::AddressUndefined,
            transport: Transport::Process,
            ..Build::new(&RealWorld, Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
        };
        let program = match machines::program(&[&compiled.composed], &build) {
            Ok(program) => program,
            Err(failure) => {
                println!("SKIPPED: no C with sanitizers here ({failure})");
                return None;
            }
        };
        let buffers = compiled.composed.pool;
        // Fragments in a capture are joined again: a message may be of any length.
        let memory = Memory { buffers, buffer_octets: 1 << 16 | 512, messages: buffers * 2, outputs, reports: 64 };
        let c = CMachine::new(&program, 0, params, 1, memory).unwrap();
        Some(Pair { interpreter: Instance::new(&compiled.uncomposed, params, 1), c, now: 0 })
    }

    /// Opens a session to the peer: errors may quote what it sent.
    fn open(&mut self, port: &str, own: &[u64], peer: &[u64]) {
        let automaton = self.interpreter.automaton().clone();
        let place = automaton.ports.iter().position(|known| known.name == port).expect("a port");
        let event = automaton.ports[place].inputs.iter().position(|input| input.event == "open").expect("it opens");
        let (local, remote) = (u64::from(attacks::OPEN.0), u64::from(attacks::OPEN.1));
        let args = [&[1], own, &[local], peer, &[remote]].concat().into_iter().map(Datum::Word).collect::<Vec<_>>();
        self.both(|machine, now| machine.input(now, PortId::from(place), event as u32, &args));
    }

    pub fn frame(&mut self, frame: &[u8]) -> Outcome {
        self.both(|machine, now| machine.input(now, PortId(0), 0, &[Datum::Message(frame.to_vec())]))
    }
}

fn device(automaton: &Automaton) -> PortId {
    PortId::from(automaton.ports.iter().position(|port| port.name == "device").expect("a device"))
}

fn frames() -> u64 {
    std::env::var("MOKUME_FRAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(FRAMES)
}

/// Frames of the captures that the campaign names, to be changed: ideas of other programs.
fn foreign() -> Vec<Vec<u8>> {
    let names = std::env::var("MOKUME_CAPTURES").unwrap_or_default();
    let read = |name: &str| mokume_driver::devices::capture::read_frames(name).unwrap_or_default();
    let frames = names.split(':').filter(|name| !name.is_empty()).flat_map(read).map(|(_, frame)| frame);
    let fit = frames.filter(|frame| (14..3000).contains(&frame.len()));
    fit.map(|mut frame| {
        // What was for some host is for ours here.
        if frame[0] & 1 == 0 {
            frame[..6].copy_from_slice(&attacks::OWN_MAC);
        }
        frame
    })
    .collect()
}

#[test]
fn hostile_frames_have_one_fate_each_and_leave_nothing_behind() {
    let set = [("address", "10.77.0.2/24"), ("address6", "fd00:77::2/64"), ("device.mac", "02:00:00:00:00:02")];
    let (compiled, params) = stack_of("examples/host6.mok", "Host6", &set);
    let Some(mut pair) = Pair::of("hostile", (&compiled, &params), 512) else { return };
    assert_eq!(device(&compiled.composed), PortId(0));
    pair.both(|machine, now| machine.start(now));
    // The host has checked its addresses: later claims of them are ignored.
    pair.now += 5_000_000_000;
    pair.both(|machine, now| machine.advance(now));
    let mut random = Random::new(7);
    let frames = frames();
    let foreign = foreign();
    for number in 0..frames {
        if number % 500 == 0 {
            pair.open("udp", &[0], &[u64::from(PEER)]);
            pair.open("udp6", &[0, 0], &attacks::PEER6);
        }
        pair.now += random.below(2_000_000);
        let frame = match foreign.len() as u64 {
            some @ 1.. if random.below(3) == 0 => {
                attacks::mutilated(foreign[random.below(some) as usize].clone(), &mut random)
            }
            _ => attacks::frame(&mut random),
        };
        let outcome = pair.frame(&frame);
        assert_eq!(outcome.reports, [], "frame {number}: {frame:02x?}");
        let ledger = pair.interpreter.ledger();
        assert_eq!(ledger.origins, ledger.fates, "frame {number}: a message without a fate, or with two");
        if number % 1000 == 0 {
            let accounts = pair.interpreter.accounts();
            assert_eq!(accounts, pair.c.accounts());
            // Whatever is attacked, quotas limit what is held.
            assert!(accounts.held <= u64::from(compiled.composed.pool), "{} held", accounts.held);
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
    assert_eq!((accounts.received, accounts.held), (frames, 0));
    // Far more frames than buffers have come: if one buffer leaked each time, that would have been noticed.
    assert_eq!(pair.c.exhausted(), 0, "a buffer was wanted and not there");
    let reasons: BTreeSet<&str> = accounts
        .dropped
        .iter()
        .chain(&accounts.consumed)
        .map(|(reason, _)| compiled.composed.reasons[reason.index()].name.as_str())
        .collect();
    println!("FIGURE: hostile frames: {frames} received, {} reasons: {reasons:?}", reasons.len());
    assert!(reasons.len() >= 25, "{reasons:?}");
    let quotes = ["bad_quote", "quote_short", "soft", "unmatched"];
    assert!(quotes.iter().all(|quote| reasons.iter().any(|reason| reason.ends_with(quote))), "{reasons:?}");
    let answer = pair.frame(&ipv4(17, PEER, OWN, |_| (), &udp(4000, 7, b"still there?")));
    let asked =
        answer.outputs.iter().any(|output| matches!(&output.args[..], [Datum::Message(frame)] if frame.len() >= 42));
    assert!(asked, "the host answers, or asks who should get the answer: {answer:?}");
}
