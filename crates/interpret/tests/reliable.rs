//! Two hosts over a network that loses, duplicates and reorders: a thousand seeded runs deliver everything in order.
//!
//! The stack is `tests/reaction/right/stop_and_wait.ra` with 16-bit numbers. Planted faults must fail: one-bit numbers
//! (which reordering breaks), no timer, no check for duplicates, an acknowledgement that is not sent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use mokume_base::{Random, SourceMap};
use mokume_compose::{compose, Options};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Machine, Outcome, PortId};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reaction/right/stop_and_wait.ra");
const MILLISECOND: u64 = 1_000_000;
const MESSAGES: usize = 12;
const APP: PortId = PortId(0);
const NET: PortId = PortId(1);

fn source() -> String {
    std::fs::read_to_string(FILE).expect("the stop-and-wait automaton")
}

fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is not in the automaton");
        text.replace(from, to)
    })
}

fn numbered(text: &str) -> String {
    changed(
        text,
        &[
            ("u1\n", "u16\n"),
            ("u1}", "u16}"),
            ("u1)", "u16)"),
            ("field kind: 7", "field kind: 8"),
            ("field bit: 1 ", "field bit: 16 "),
            ("field acked: 1 ", "field acked: 16 "),
            ("not expected", "add.wrap expected, 1"),
            ("not sending", "add.wrap sending, 1"),
        ],
    )
}

fn automaton(text: &str) -> Arc<Automaton> {
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add("stop_and_wait", text), text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics.first());
    Arc::new(parsed.automaton)
}

#[derive(Clone, Copy)]
struct Weather {
    loss: u64,
    duplicate: u64,
    /// Frames take 1 ms up to this; with 1, none overtakes another.
    delay: u64,
}

const BAD: Weather = Weather { loss: 20, duplicate: 20, delay: 60 };
const IN_ORDER: Weather = Weather { loss: 20, duplicate: 20, delay: 1 };

#[derive(Default)]
struct Totals {
    complete: u64,
    frames: u64,
    lost: u64,
    duplicated: u64,
    resent: u64,
    longest: u64,
}

/// Time, sequence number, place, content.
type Arrival = (u64, u64, usize, Vec<u8>);

struct World {
    hosts: [Instance; 2],
    random: Random,
    weather: Weather,
    coming: BinaryHeap<Reverse<Arrival>>,
    made: u64,
    sent: [usize; 2],
    delivered: [Vec<Vec<u8>>; 2],
    totals: Totals,
}

fn message(host: usize, number: usize) -> Vec<u8> {
    format!("message {number} of host {host}").into_bytes()
}

impl World {
    fn new(machine: &Instance, weather: Weather, seed: u64) -> Self {
        World {
            hosts: [machine.sibling(seed), machine.sibling(seed + 1)],
            random: Random::new(seed),
            weather,
            coming: BinaryHeap::new(),
            made: 0,
            sent: [0; 2],
            delivered: [Vec::new(), Vec::new()],
            totals: Totals::default(),
        }
    }

    fn take(&mut self, now: u64, host: usize, outcome: Outcome) {
        assert!(outcome.reports.is_empty() && !outcome.refused, "{outcome:?}");
        for output in outcome.outputs {
            let [Datum::Message(octets)] = &output.args[..] else { panic!("a message") };
            match output.port {
                NET => self.transmit(now, 1 - host, octets),
                _ => self.delivered[host].push(octets.clone()),
            }
        }
    }

    fn transmit(&mut self, now: u64, to: usize, frame: &[u8]) {
        self.totals.frames += 1;
        if self.random.below(100) < self.weather.loss {
            self.totals.lost += 1;
            return;
        }
        let copies = 1 + u64::from(self.random.below(100) < self.weather.duplicate);
        self.totals.duplicated += copies - 1;
        for _ in 0..copies {
            let at = now + (1 + self.random.below(self.weather.delay)) * MILLISECOND;
            self.made += 1;
            self.coming.push(Reverse((at, self.made, to, frame.to_vec())));
        }
    }

    /// At most four messages ahead of the peer, so that no queue is full.
    fn offer(&mut self, now: u64) {
        for host in 0..2 {
            while self.sent[host] < MESSAGES && self.sent[host] < self.delivered[1 - host].len() + 4 {
                let octets = message(host, self.sent[host]);
                self.sent[host] += 1;
                let outcome = self.hosts[host].input(now, APP, 0, &[Datum::Message(octets)]);
                self.take(now, host, outcome);
            }
        }
    }

    fn run(&mut self, until: u64) {
        for host in 0..2 {
            let outcome = self.hosts[host].start(0);
            self.take(0, host, outcome);
        }
        self.offer(0);
        loop {
            let arrival = self.coming.peek().map(|Reverse((at, ..))| *at);
            let deadline = self.hosts.iter().filter_map(Machine::next_deadline).min();
            let Some(now) = arrival.into_iter().chain(deadline).min().filter(|now| *now <= until) else { return };
            for host in 0..2 {
                let outcome = self.hosts[host].advance(now);
                self.take(now, host, outcome);
            }
            while self.coming.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
                let Some(Reverse((_, _, host, frame))) = self.coming.pop() else { break };
                let outcome = self.hosts[host].input(now, NET, 0, &[Datum::Message(frame)]);
                self.take(now, host, outcome);
            }
            self.offer(now);
            self.totals.longest = now;
        }
    }

    /// Whether everything arrived, once and in order, and nothing is kept or unaccounted for.
    fn is_right(&self) -> bool {
        let expected = |host: usize| (0..MESSAGES).map(|number| message(host, number)).collect::<Vec<_>>();
        let settled = self.hosts.iter().all(|host| {
            let ledger = host.ledger();
            ledger.origins == ledger.fates && host.leaked() == 0 && host.accounts().held == 0
        });
        self.delivered[0] == expected(1) && self.delivered[1] == expected(0) && settled
    }
}

fn campaign(automaton: &Arc<Automaton>, weather: Weather, runs: u64) -> Totals {
    let params: Vec<u64> = automaton.params.iter().map(|param| param.default.unwrap_or_default()).collect();
    let machine = Instance::shared(automaton.clone(), &params, 0);
    let mut totals = Totals::default();
    for seed in 0..runs {
        let mut world = World::new(&machine, weather, seed);
        world.run(600_000 * MILLISECOND);
        totals.complete += u64::from(world.is_right());
        totals.frames += world.totals.frames;
        totals.lost += world.totals.lost;
        totals.duplicated += world.totals.duplicated;
        totals.longest = totals.longest.max(world.totals.longest);
        totals.resent +=
            world.hosts.iter().map(|host| host.accounts().counters.first().map_or(0, |(_, count)| *count)).sum::<u64>();
    }
    totals
}

#[test]
fn a_thousand_runs_deliver_everything_in_order() {
    let uncomposed = automaton(&numbered(&source()));
    let composed = Arc::new(compose(&uncomposed, Options::default()).automaton.expect("composes"));
    for (name, automaton) in [("uncomposed", uncomposed), ("composed", composed)] {
        let totals = campaign(&automaton, BAD, 1000);
        println!(
            "{name}: {} of 1000 runs right; {} frames, {} lost, {} duplicated, {} resent; longest run {} s",
            totals.complete,
            totals.frames,
            totals.lost,
            totals.duplicated,
            totals.resent,
            totals.longest / 1000 / MILLISECOND
        );
        assert_eq!(totals.complete, 1000);
        assert!(totals.lost > 1000 && totals.duplicated > 1000 && totals.resent > 1000);
    }
}

#[test]
fn one_bit_is_enough_when_nothing_overtakes() {
    assert_eq!(campaign(&automaton(&source()), IN_ORDER, 300).complete, 300);
}

#[test]
fn planted_faults_fail() {
    let faults: [(&str, String); 5] = [
        ("one bit under reordering", source()),
        ("no retransmission timer", changed(&numbered(&source()), &[("    arm c.retry, deadline\n", "")])),
        (
            "duplicates are delivered",
            changed(&numbered(&source()), &[("br new @0.99 deliver, old", "br new @0.99 deliver, deliver")]),
        ),
        (
            "any acknowledgement counts",
            changed(&numbered(&source()), &[("right = eq acked, sending", "right = eq acked, acked")]),
        ),
        ("the quota is not given back", changed(&numbered(&source()), &[("    give c.kept, 1\n", "")])),
    ];
    for (name, text) in faults {
        let right = campaign_of_faulty(&text);
        println!("{name}: {right} of 100 runs right");
        assert!(right < 100, "{name} is not found");
    }
}

/// Faulty stacks may do what a right one never does, such as refusing a message: that counts as wrong.
fn campaign_of_faulty(text: &str) -> u64 {
    campaign(&automaton(text), BAD, 100).complete
}

/// Retransmit, RoundTrip and Output as processes, lowered by hand: instants, signals, published values, level awaits,
/// settling.
const PROCESSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reaction/right/processes.ra");

#[test]
fn a_thousand_runs_of_processes_deliver_everything_in_order() {
    let text = std::fs::read_to_string(PROCESSES).expect("the processes");
    let totals = campaign(&automaton(&text), BAD, 1000);
    println!(
        "FIGURE: processes: {} of 1000 runs right; {} frames, {} lost, {} duplicated",
        totals.complete, totals.frames, totals.lost, totals.duplicated
    );
    assert_eq!(totals.complete, 1000);
    assert!(totals.lost > 1000 && totals.duplicated > 1000);
    let deaf: String =
        text.lines().filter(|line| !line.trim_start().starts_with("arm ")).map(|line| format!("{line}\n")).collect();
    assert_ne!(deaf, text);
    assert!(campaign(&automaton(&deaf), BAD, 20).complete < 20, "without timers something must stay behind");
}
