//! Many at once, at the library's default sizes: 200 neighbours who ask at the same time all get answers, and
//! incomplete fragments shut nobody out. On both back ends.

use mokume_base::world::RealWorld;
use mokume_driver::compile::{self, Compiled};
use mokume_driver::machines::{self, Backend};
use mokume_reaction::{Datum, Machine, Outcome, PortId};

use crate::attacks::{self, ethernet, ipv4, ipv6, udp, udp6, EVERYBODY, OWN, OWN6, OWN_MAC, PEER};

const CROWD: u32 = 200;

fn host() -> Compiled {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let checked = compile::check(&RealWorld, &[format!("{root}/examples/host6.mok")]).unwrap();
    let stack = compile::choose_stack(&checked, Some("Host6")).unwrap();
    compile::compile(&checked, stack, &RealWorld).0.expect("the example compiles")
}

/// The host of the example, after it has checked its addresses.
struct Host {
    machine: Box<dyn Machine>,
    now: u64,
}

impl Host {
    fn new(compiled: &Compiled, backend: Backend) -> Option<Host> {
        let set = [("address", "10.77.0.2/16"), ("address6", "fd00:77::2/64"), ("device.mac", "02:00:00:00:00:02")];
        let set: Vec<(String, String)> = set.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
        let params = machines::parameters(&compiled.composed, &compiled.written, &set, &|_| None).unwrap();
        match machines::machine(compiled, backend, &params, 1, 2048, &RealWorld) {
            Ok(machine) => {
                let mut host = Host { machine, now: 0 };
                host.machine.start(0);
                host.after(5_000_000_000);
                Some(host)
            }
            Err(failure) => {
                println!("SKIPPED: no C here ({failure})");
                None
            }
        }
    }

    fn after(&mut self, nanoseconds: u64) {
        let end = self.now + nanoseconds;
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= end) {
            self.machine.advance(due);
        }
        self.now = end;
    }

    /// The output for a frame; each frame comes a microsecond after the one before.
    fn frame(&mut self, frame: Vec<u8>) -> Vec<Vec<u8>> {
        self.now += 1_000;
        sent(&self.machine.input(self.now, PortId(0), 0, &[Datum::Message(frame)]))
    }
}

fn sent(outcome: &Outcome) -> Vec<Vec<u8>> {
    let frame = |args: &[Datum]| match args {
        [Datum::Message(frame)] => Some(frame.clone()),
        _ => None,
    };
    outcome.outputs.iter().filter_map(|output| frame(&output.args)).collect()
}

/// A frame from another station than the peer's.
fn by(station: [u8; 6], mut frame: Vec<u8>) -> Vec<u8> {
    frame[6..12].copy_from_slice(&station);
    frame
}

fn station(number: u32) -> [u8; 6] {
    [2, 0, 0, 1, (number >> 8) as u8, number as u8]
}

fn both(test: impl Fn(Host)) {
    let compiled = host();
    for backend in [Backend::Interpreter, Backend::C] {
        if let Some(host) = Host::new(&compiled, backend) {
            test(host);
        }
    }
}

/// RFC 1122 2.3.2.2: a message that waits for its address is kept, at least the latest for each host.
#[test]
fn two_hundred_neighbours_at_once_are_answered() {
    both(|mut host| {
        let neighbour = |number: u32| 0x0a4d_0100 + number;
        let ping =
            |number: u32| ipv4(1, neighbour(number), OWN, |_| (), &attacks::icmp(8, 0, &[0, 1, 0, number as u8]));
        let mut asked = 0;
        for number in 0..CROWD {
            asked += host.frame(by(station(number), ping(number))).len();
        }
        assert_eq!(asked, CROWD as usize, "each is looked for");
        for number in 0..CROWD {
            let (from, to) = (neighbour(number).to_be_bytes(), OWN.to_be_bytes());
            let told = [&[0, 1, 8, 0, 6, 4, 0, 2][..], &station(number), &from, &OWN_MAC, &to].concat();
            let answers = host.frame(ethernet(OWN_MAC, station(number), 0x0806, &told));
            assert_eq!(answers.len(), 1, "neighbour {number}");
            assert_eq!((&answers[0][..6], answers[0][34]), (&station(number)[..], 0), "an echo reply to {number}");
        }
        // All of them are still known.
        let again: usize = (0..CROWD)
            .map(|number| host.frame(by(station(number), ping(number))))
            .filter(|answers| answers[0][34] == 0)
            .count();
        assert_eq!(again, CROWD as usize);
    });
}

/// RFC 4861 7.2.2, the same.
#[test]
fn two_hundred_neighbours_of_ipv6_at_once_are_answered() {
    both(|mut host| {
        let neighbour = |number: u32| [attacks::PREFIX, 0x1_0000 + u64::from(number)];
        let ping = |number: u32| {
            let message = attacks::icmp6(neighbour(number), OWN6, [128, 0], &[0, 1, 0, number as u8]);
            ipv6(58, neighbour(number), OWN6, 64, &message)
        };
        let mut asked = 0;
        for number in 0..CROWD {
            asked += host.frame(by(station(number), ping(number))).len();
        }
        host.after(1_000_000);
        assert_eq!(asked, CROWD as usize, "each is looked for");
        for number in 0..CROWD {
            let target = neighbour(number).map(u64::to_be_bytes).concat();
            let rest = [&[0x60, 0, 0, 0][..], &target, &[2, 1], &station(number)].concat();
            let told = attacks::icmp6(neighbour(number), OWN6, [136, 0], &rest);
            let answers = host.frame(by(station(number), ipv6(58, neighbour(number), OWN6, 255, &told)));
            assert_eq!(answers.len(), 1, "neighbour {number}");
            assert_eq!((&answers[0][..6], answers[0][54]), (&station(number)[..], 129), "an echo reply to {number}");
        }
        let again: usize = (0..CROWD)
            .map(|number| host.frame(by(station(number), ping(number))))
            .filter(|answers| answers[0][54] == 129)
            .count();
        assert_eq!(again, CROWD as usize);
    });
}

/// The two fragments of a datagram of 1,480 octets, valid for both internets.
fn parts(version: u32, source: u32, number: u16) -> [Vec<u8>; 2] {
    let from6 = [attacks::PREFIX, u64::from(source)];
    let payload = vec![7; 1472];
    let whole = if version == 4 { udp(4000, 7, &payload) } else { udp6(from6, (4000, 7), &payload) };
    [0, 1]
        .map(|which| part(version, source, number, which * 736, which == 0, &whole[which * 736..][..[736, 744][which]]))
}

fn part(version: u32, source: u32, number: u16, at: usize, more: bool, octets: &[u8]) -> Vec<u8> {
    if version == 4 {
        let place = (at / 8) as u16 | u16::from(more) << 13;
        let tweak = |header: &mut Vec<u8>| {
            header[4..6].copy_from_slice(&number.to_be_bytes());
            header[6..8].copy_from_slice(&place.to_be_bytes());
        };
        return ipv4(17, source, OWN, tweak, octets);
    }
    let place = (at as u16 | u16::from(more)).to_be_bytes();
    let head = [17, 0, place[0], place[1], 0, 0, (number >> 8) as u8, number as u8];
    ipv6(44, [attacks::PREFIX, u64::from(source)], OWN6, 64, &[&head[..], octets].concat())
}

/// How many of 50 fragmented datagrams are answered while somebody sends `flood` fragments between theirs.
fn answered(host: &mut Host, version: u32, flood: impl Fn(u32) -> Vec<u8>) -> usize {
    let source = if version == 4 { PEER } else { 1 };
    let mut sent = 0..;
    let mut answers = 0;
    for number in 0..50 {
        let [first, last] = parts(version, source, 1000 + number as u16);
        host.frame(first);
        for _ in 0..4 {
            host.frame(flood(sent.next().unwrap_or(0)));
        }
        answers += host.frame(last).iter().filter(|frame| frame.len() > 700).count();
        host.after(10_000_000);
    }
    answers
}

/// 256 fragments of 8 octets took all of the reassembly's memory for half a minute.
#[test]
fn parts_that_come_to_nothing_shut_nobody_out() {
    both(|mut host| {
        // The address of the receiver of our answers is known.
        let request =
            [&[0, 1, 8, 0, 6, 4, 0, 1][..], &attacks::PEER_MAC, &PEER.to_be_bytes(), &[0; 6], &OWN.to_be_bytes()]
                .concat();
        host.frame(ethernet(EVERYBODY, attacks::PEER_MAC, 0x0806, &request));
        let peer6 = attacks::PEER6;
        let solicitation = [&[0; 4][..], &OWN6.map(u64::to_be_bytes).concat(), &[1, 1], &attacks::PEER_MAC].concat();
        let group = [0xff02_0000_0000_0000, 0x1_ff00_0002];
        host.frame(ipv6(58, peer6, group, 255, &attacks::icmp6(peer6, group, [135, 0], &solicitation)));
        for (version, attacker) in [(4, 0x0a4d_0909), (6, 0x99)] {
            let tiny = |number: u32, parts: u32| {
                part(version, attacker, (number / parts) as u16, (number % parts * 8) as usize + 8, true, &[1; 8])
            };
            // As few datagrams as possible, as many as possible, and some.
            for parts in [128, 1, 16] {
                (0..1000).for_each(|number| drop(host.frame(tiny(number, parts))));
                assert_eq!(
                    answered(&mut host, version, |number| tiny(number, parts)),
                    50,
                    "IPv{version}, {parts} parts"
                );
            }
            // As large as the others', from one host.
            let large = |number: u32| part(version, attacker, number as u16, 8, true, &[1; 1400]);
            (0..1000).for_each(|number| drop(host.frame(large(number))));
            assert_eq!(answered(&mut host, version, large), 50, "IPv{version}, large parts of one host");
        }
    });
}
