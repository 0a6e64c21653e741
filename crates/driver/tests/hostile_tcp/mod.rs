//! Hostile segments among sessions that keep to the rules: blind resets, SYNs, text and acknowledgements (RFC 5961),
//! window games, invalid options. In C under sanitizers and on the interpreter side by side.
//!
//! Each frame has exactly one fate on both. The existing sessions transfer their octets correctly meanwhile and
//! afterwards, and end cleanly; after all timers nothing is held.

mod client;

use std::collections::BTreeSet;

use mokume_base::Random;
use mokume_driver::compile::Compiled;
use mokume_reaction::Machine;

use client::{Client, Segment, Wire, ACK, ECHO, FIN, PSH, RST, SYN};

use crate::attacks::{self, OWN, PEER};
use crate::hostile::{stack_of, Pair};

/// `MOKUME_SEGMENTS` overrides it: the campaign uses more.
const SEGMENTS: u64 = 5_000;
/// Sessions that keep to the rules, from this port on.
const GUARDED: u16 = 8;
const FIRST: u16 = 30_000;
/// Ports of sessions that break the rules.
const EVIL: u16 = 40_000;

fn segments() -> u64 {
    std::env::var("MOKUME_SEGMENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(SEGMENTS)
}

/// An attacker's own session, as far as it knows it.
struct Evil {
    port: u16,
    seq: u32,
    ack: u32,
}

struct Attack<'r> {
    random: &'r mut Random,
    evil: Vec<Evil>,
}

impl Attack<'_> {
    fn any(&mut self) -> u32 {
        self.random.word() as u32
    }
    fn below(&mut self, most: u64) -> u64 {
        self.random.below(most)
    }

    fn text(&mut self, most: u64) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.random.word() as u8).collect()
    }

    /// An attacker who does not know the numbers guesses them, and the session.
    fn blind(&mut self) -> Segment {
        let mut segment = Segment::of(FIRST + self.below(u64::from(GUARDED) + 2) as u16);
        (segment.seq, segment.ack) = (self.any(), self.any());
        segment.flags = match self.below(8) {
            0 => RST,
            1 => RST | ACK,
            2 => SYN,
            3 => SYN | ACK,
            4 => FIN | ACK,
            5 => self.any() as u8,
            _ => ACK | PSH,
        };
        if segment.flags & SYN == 0 {
            segment.text = self.text(100);
        }
        segment
    }

    /// An attacker who has observed the session nearly knows the numbers: in the window but not the next one, or never
    /// sent.
    fn near(&mut self, guarded: &[Client]) -> Segment {
        let which = self.below(guarded.len() as u64) as usize;
        let session = &guarded[which];
        let mut segment = Segment::of(session.port);
        let away = 1 + self.below(60_000) as u32;
        (segment.seq, segment.ack) = (session.next.wrapping_add(away), session.heard);
        match self.below(6) {
            0 => segment.flags = RST,
            1 => segment.flags = SYN,
            2 => segment.flags = SYN | ACK,
            // RFC 5961 5.2: text that acknowledges what was never sent, or what is long past.
            3 => {
                segment.ack = session.heard.wrapping_add(1 + self.below(1 << 30) as u32);
                segment.text = self.text(500);
            }
            4 => {
                segment.ack = session.heard.wrapping_sub(200_000 + self.below(1 << 30) as u32);
                segment.text = self.text(500);
            }
            _ => {
                (segment.seq, segment.flags) = (session.next.wrapping_sub(away), ACK | PSH);
                segment.text = self.text(u64::from(away.min(900)));
            }
        }
        segment
    }

    /// Random options, with invalid lengths.
    fn options(&mut self) -> Vec<u8> {
        let mut options = Vec::new();
        while options.len() < 36 && self.below(5) > 0 {
            let kind = [0, 1, 2, 3, 4, 5, 8, 14, 19, 28, 30, 254][self.below(12) as usize];
            let length = match self.below(4) {
                0 => self.any() as u8,
                1 => self.below(3) as u8,
                _ => [2, 4, 3, 10, 18][self.below(5) as usize],
            };
            options.extend([kind, length]);
            options.extend(self.text(10));
        }
        options.truncate(40);
        options
    }

    /// Receives what is sent to the attacker's own sessions.
    fn listen(&mut self, wire: &Wire<'_>) {
        for heard in &wire.heard {
            if let Some(evil) = self.evil.iter_mut().find(|evil| evil.port == heard.destination) {
                evil.ack = heard.seq.wrapping_add(heard.text.len() as u32 + u32::from(heard.flags & (SYN | FIN) != 0));
            }
        }
    }

    /// A session of the attacker's own, or the beginning of one, in which anything may follow.
    fn play(&mut self) -> Segment {
        if self.evil.len() < 20 || self.below(20) == 0 {
            let (port, seq) = (EVIL + self.below(2000) as u16, self.any());
            if self.evil.len() == 40 {
                self.evil.remove(0);
            }
            self.evil.push(Evil { port, seq: seq.wrapping_add(1), ack: 0 });
            let options = if self.below(4) == 0 { self.options() } else { vec![2, 4, 5, 0xb4] };
            return Segment { seq, flags: SYN, options, ..Segment::of(port) };
        }
        let which = self.below(self.evil.len() as u64) as usize;
        let what = self.below(12);
        let (any, text, options) = (self.any(), self.text(1400), self.options());
        let evil = &mut self.evil[which];
        let mut segment = Segment { seq: evil.seq, ack: evil.ack, ..Segment::of(evil.port) };
        match what {
            0 => segment.window = 0,
            1 => segment.window = (any & 3) as u16,
            2 => segment.ack = evil.ack.wrapping_add(any % 100_000),
            3 => segment.ack = evil.ack.wrapping_sub(any % 5_000),
            // Holes, and data that overlaps them.
            4 | 5 => {
                segment.seq = evil.seq.wrapping_add(any % 70_000);
                segment.text = text;
            }
            6 => {
                segment.text = text;
                evil.seq = evil.seq.wrapping_add(segment.text.len() as u32);
                (segment.window, segment.options) = (any as u16, options);
            }
            7 => {
                segment.text = vec![any as u8];
                evil.seq = evil.seq.wrapping_add(1);
            }
            8 => {
                segment.seq = evil.seq.wrapping_sub(any % 3_000);
                segment.text = text;
            }
            9 => segment.flags = FIN | ACK,
            10 => segment.flags = any as u8,
            _ if any % 8 == 0 => segment.flags = RST,
            _ => segment.options = options,
        }
        segment
    }

    fn frame(&mut self, wire: &Wire<'_>, guarded: &[Client]) -> Vec<u8> {
        self.listen(wire);
        let what = self.below(20);
        let mut segment = match what {
            0..=4 => self.blind(),
            5..=8 => self.near(guarded),
            _ => self.play(),
        };
        match what {
            // A SYN from nobody; from oneself; to everybody; to another port.
            17 => {
                segment =
                    Segment { from: OWN & 0xffff_ff00 | self.any() & 0xff, flags: SYN, seq: self.any(), ..segment };
                segment.source = self.any() as u16;
            }
            18 => (segment.from, segment.source) = (OWN, ECHO),
            19 if self.below(2) == 0 => segment.to = [0x0a4d_00ff, 0xffff_ffff, 0xe000_0001][self.below(3) as usize],
            19 => segment.destination = self.any() as u16,
            _ => {}
        }
        let mut octets = segment.octets();
        match self.below(40) {
            0 => octets[12] = self.any() as u8,
            1 => octets.truncate(self.below(24) as usize),
            2 => octets[18..20].copy_from_slice(&(segment.seq as u16).to_be_bytes()),
            3 => octets[12] |= 15,
            _ => {}
        }
        if octets.len() >= 20 {
            segment.sum(&mut octets);
            if self.below(40) == 0 {
                let at = self.below(octets.len() as u64) as usize;
                octets[at] ^= 1 << self.below(8);
            }
        }
        attacks::ipv4(6, segment.from, segment.to, |_| (), &octets)
    }
}

/// Interpreter and sanitized C of the echoing stack; `None` if there is no sanitized C.
fn pair() -> Option<(Pair, Compiled)> {
    let set = [("address", "10.77.0.2/24"), ("device.mac", "02:00:00:00:00:02")];
    let (compiled, params) = stack_of("tests/host/peers.mok", "Echoes", &set);
    let pair = Pair::of("hostile_tcp", (&compiled, &params), 2048)?;
    Some((pair, compiled))
}

fn guarded(wire: &mut Wire<'_>, random: &mut Random) -> Vec<Client> {
    let open = |number| Client::open(wire, FIRST + number, random.word() as u32, number % 2 == 0);
    (0..GUARDED).map(open).collect()
}

/// Each sends something, and receives it back.
fn all_are_well(wire: &mut Wire<'_>, guarded: &mut [Client], random: &mut Random) {
    for session in guarded {
        let text: Vec<u8> = (0..1 + random.below(1400)).map(|_| random.word() as u8).collect();
        session.echoed(wire, &text);
    }
}

/// Ends what the attacker has begun: a segment far from the window gets the next number as the answer, and a reset with
/// that number ends the session.
fn sweep(wire: &mut Wire<'_>) {
    for port in EVIL..EVIL + 2000 {
        // Includes a timestamp, as sessions that have seen timestamps ignore segments without one.
        let options = vec![8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
        for far in [0, 1 << 31] {
            wire.heard.clear();
            wire.send(&Segment { seq: far, options: options.clone(), ..Segment::of(port) }.frame());
            let told = wire.heard.iter().find(|heard| heard.destination == port && heard.flags & (RST | ACK) == ACK);
            if let Some(next) = told.map(|heard| heard.ack) {
                wire.send(&Segment { seq: next, flags: RST, ..Segment::of(port) }.frame());
            }
        }
    }
}

#[test]
fn hostile_segments_have_one_fate_each_and_harm_no_session() {
    let Some((mut pair, compiled)) = pair() else { return };
    pair.both(|machine, now| machine.start(now));
    pair.now += 5_000_000_000;
    pair.both(|machine, now| machine.advance(now));
    let mut random = Random::new(11);
    let mut wire = Wire { pair: &mut pair, received: 0, heard: Vec::new() };
    wire.send(&attacks::arp(1, PEER, OWN));
    let mut sessions = guarded(&mut wire, &mut random);
    all_are_well(&mut wire, &mut sessions, &mut random);
    let mut own = Random::new(12);
    let mut attack = Attack { random: &mut own, evil: Vec::new() };
    let segments = segments();
    for number in 0..segments {
        wire.pair.now += random.below(2_000_000);
        let frame = attack.frame(&wire, &sessions);
        wire.heard.clear();
        wire.send(&frame);
        if number % 500 == 0 {
            all_are_well(&mut wire, &mut sessions, &mut random);
            assert_eq!(wire.pair.interpreter.accounts(), wire.pair.c.accounts());
        }
    }
    all_are_well(&mut wire, &mut sessions, &mut random);
    sessions.into_iter().for_each(|session| session.close(&mut wire));
    // What a session holds while it waits for something that never comes is not a leak.
    sweep(&mut wire);
    let received = wire.received;
    while let Some(next) = pair.interpreter.next_deadline().filter(|next| *next < 86_400_000_000_000) {
        assert_eq!(pair.c.next_deadline(), Some(next));
        pair.now = next.max(pair.now);
        pair.both(|machine, now| machine.advance(now));
    }
    let accounts = pair.interpreter.accounts();
    assert_eq!(accounts, pair.c.accounts());
    assert_eq!((accounts.received, accounts.held), (received, 0));
    assert_eq!(pair.c.exhausted(), 0, "a buffer was wanted and not there");
    let fates = accounts.dropped.iter().chain(&accounts.consumed);
    let fates: Vec<(&str, u64)> =
        fates.map(|(reason, count)| (compiled.composed.reasons[reason.index()].name.as_str(), *count)).collect();
    println!("FIGURE: hostile segments: {segments} among {received} frames, {} reasons: {fates:?}", fates.len());
    let reasons: BTreeSet<&str> = fates.iter().map(|(name, _)| name.rsplit('.').next().unwrap_or(name)).collect();
    let wanted = [
        "outside",
        "challenged",
        "bad_ack",
        "asked",
        "nobody",
        "damaged",
        "broadcast",
        "old",
        "no_ack",
        "duplicate",
        "ack_of_nothing",
    ];
    assert!(wanted.iter().all(|name| reasons.contains(name)), "{reasons:?}");
}
