//! The other end of a connection, as simple as possible: it sends one thing at a time, and receives the echo.

use mokume_reaction::{Datum, Outcome};

use crate::attacks::{self, OWN, PEER};
use crate::hostile::Pair;

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const PSH: u8 = 8;
pub const ACK: u8 = 16;
pub const ECHO: u16 = 7;

/// A segment before it is put into a frame.
#[derive(Clone)]
pub struct Segment {
    pub from: u32,
    pub to: u32,
    pub source: u16,
    pub destination: u16,
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    /// Padded with end-of-options.
    pub options: Vec<u8>,
    pub text: Vec<u8>,
}

impl Segment {
    pub fn of(source: u16) -> Segment {
        let (from, to) = (PEER, OWN);
        let (options, text) = (Vec::new(), Vec::new());
        Segment { from, to, source, destination: ECHO, seq: 0, ack: 0, flags: ACK, window: 0xffff, options, text }
    }

    /// The segment with its own correct checksum.
    pub fn octets(&self) -> Vec<u8> {
        let mut options = self.options.clone();
        options.resize(options.len().next_multiple_of(4).min(40), 0);
        let mut octets = [self.source.to_be_bytes(), self.destination.to_be_bytes()].concat();
        octets.extend(self.seq.to_be_bytes());
        octets.extend(self.ack.to_be_bytes());
        octets.extend([((5 + options.len() / 4) << 4) as u8, self.flags]);
        octets.extend(self.window.to_be_bytes());
        octets.extend([0; 4]);
        octets.extend(options);
        octets.extend(&self.text);
        self.sum(&mut octets);
        octets
    }

    pub fn sum(&self, octets: &mut [u8]) {
        octets[16..18].fill(0);
        let pseudo = attacks::sum(&self.from.to_be_bytes()) + attacks::sum(&self.to.to_be_bytes()) + 6;
        let check = !attacks::fold(pseudo + octets.len() as u32 + attacks::sum(octets));
        octets[16..18].copy_from_slice(&check.to_be_bytes());
    }

    pub fn frame(&self) -> Vec<u8> {
        attacks::ipv4(6, self.from, self.to, |_| (), &self.octets())
    }

    /// A segment that our side sent; `None` for other frames.
    fn read(frame: &[u8]) -> Option<Segment> {
        if frame.len() < 54 || frame[12..14] != [8, 0] || frame[23] != 6 {
            return None;
        }
        let word = |at: usize| u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
        let half = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let length = usize::from(half(16));
        let text = 34 + usize::from(frame[46] >> 4) * 4;
        Some(Segment {
            from: word(26),
            to: word(30),
            source: half(34),
            destination: half(36),
            seq: word(38),
            ack: word(42),
            flags: frame[47],
            window: half(48),
            options: frame[54..text].to_vec(),
            text: frame[text..14 + length].to_vec(),
        })
    }
}

/// Passes frames in and out, and answers our side's address requests.
pub struct Wire<'p> {
    pub pair: &'p mut Pair,
    pub received: u64,
    pub heard: Vec<Segment>,
}

impl Wire<'_> {
    pub fn send(&mut self, frame: &[u8]) {
        self.received += 1;
        let outcome = self.pair.frame(frame);
        self.take(outcome);
        let ledger = self.pair.interpreter.ledger();
        assert_eq!(ledger.origins, ledger.fates, "a message without a fate, or with two: {frame:02x?}");
    }

    pub fn wait(&mut self, nanoseconds: u64) {
        self.pair.now += nanoseconds;
        let outcome = self.pair.both(|machine, now| machine.advance(now));
        self.take(outcome);
    }

    fn take(&mut self, outcome: Outcome) {
        assert_eq!(outcome.reports, []);
        let mut asked = false;
        for output in outcome.outputs {
            let Some(Datum::Message(frame)) = output.args.first() else { continue };
            asked |= frame.len() >= 42 && frame[12..14] == [8, 6] && frame[38..42] == PEER.to_be_bytes();
            self.heard.extend(Segment::read(frame).filter(|segment| segment.to == PEER));
        }
        if asked {
            self.send(&attacks::arp(2, PEER, OWN));
        }
    }
}

/// A client that keeps to the rules.
pub struct Client {
    pub port: u16,
    pub next: u32,
    pub heard: u32,
    timed: bool,
}

impl Client {
    /// The three segments of the handshake.
    pub fn open(wire: &mut Wire<'_>, port: u16, iss: u32, timed: bool) -> Client {
        let mut client = Client { port, next: iss, heard: 0, timed };
        let mut ask = client.segment(wire, SYN, b"");
        ask.options.extend([2, 4, 5, 0xb4]);
        wire.heard.clear();
        wire.send(&ask.frame());
        let answer = wire.heard.iter().find(|heard| heard.destination == port && heard.flags == SYN | ACK);
        client.heard = answer.expect("who listens answers").seq.wrapping_add(1);
        client.next = iss.wrapping_add(1);
        let last = client.segment(wire, ACK, b"");
        wire.send(&last.frame());
        client
    }

    pub fn segment(&self, wire: &Wire<'_>, flags: u8, text: &[u8]) -> Segment {
        let mut segment = Segment { seq: self.next, ack: self.heard, flags, ..Segment::of(self.port) };
        if self.timed {
            segment.options.extend([8, 10]);
            segment.options.extend(((wire.pair.now / 1_000_000) as u32).to_be_bytes());
            segment.options.extend([0, 0, 0, 0, 1, 1]);
        }
        segment.text = text.to_vec();
        segment
    }

    /// Sends this, and receives the same, with as many retransmissions as needed.
    pub fn echoed(&mut self, wire: &mut Wire<'_>, text: &[u8]) {
        let mut back = Vec::new();
        for _ in 0..40 {
            wire.heard.clear();
            let said = self.segment(wire, ACK | PSH, text);
            wire.send(&said.frame());
            self.listen(wire, &mut back);
            if back.len() >= text.len() {
                break;
            }
            wire.wait(300_000_000);
            self.listen(wire, &mut back);
        }
        assert_eq!(back, text, "session {} is harmed", self.port);
        self.next = self.next.wrapping_add(text.len() as u32);
        let last = self.segment(wire, ACK, b"");
        wire.send(&last.frame());
    }

    fn listen(&mut self, wire: &mut Wire<'_>, back: &mut Vec<u8>) {
        for segment in std::mem::take(&mut wire.heard) {
            if segment.destination != self.port {
                continue;
            }
            assert_eq!(segment.flags & RST, 0, "session {} is reset", self.port);
            let old = self.heard.wrapping_sub(segment.seq) as usize;
            if old < segment.text.len() {
                back.extend(&segment.text[old..]);
                self.heard = self.heard.wrapping_add((segment.text.len() - old) as u32);
            }
        }
    }

    /// Both ends close.
    pub fn close(mut self, wire: &mut Wire<'_>) {
        wire.heard.clear();
        let last = self.segment(wire, FIN | ACK, b"");
        wire.send(&last.frame());
        self.next = self.next.wrapping_add(1);
        let ended = wire.heard.iter().find(|heard| heard.destination == self.port && heard.flags & FIN != 0);
        let ended = ended.expect("the other end ends, too");
        assert_eq!((ended.seq, ended.ack), (self.heard, self.next));
        self.heard = self.heard.wrapping_add(1);
        let known = self.segment(wire, ACK, b"");
        wire.send(&known.frame());
    }
}
