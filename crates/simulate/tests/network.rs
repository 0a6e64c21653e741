//! The network with machines of known behaviour: each sends `left` numbered frames, one a millisecond, and counts.

use std::cell::RefCell;
use std::rc::Rc;

use mokume_reaction::{Accounts, Datum, Machine, Outcome, Output, PortId};
use mokume_simulate::{Again, Fate, Host, Medium, Much, Partition, RecordedEvent, Restless, Simulation, Weather};

const MILLISECOND: u64 = 1_000_000;

struct Beacon {
    left: u8,
    next: Option<u64>,
    heard: Rc<RefCell<Vec<u8>>>,
}

impl Beacon {
    fn beat(&mut self, now: u64) -> Outcome {
        let mut outcome = Outcome::default();
        if self.next.is_some_and(|at| at <= now) && self.left > 0 {
            self.left -= 1;
            self.next = (self.left > 0).then_some(now + MILLISECOND);
            outcome.outputs.push(Output { port: PortId(0), event: 0, args: vec![Datum::Message(vec![self.left])] });
        }
        outcome
    }
}

impl Machine for Beacon {
    fn start(&mut self, _: u64) -> Outcome {
        Outcome::default()
    }
    fn input(&mut self, _: u64, _: PortId, _: u32, args: &[Datum]) -> Outcome {
        if let [Datum::Message(frame)] = args {
            self.heard.borrow_mut().extend(frame);
        }
        Outcome::default()
    }
    fn advance(&mut self, now: u64) -> Outcome {
        self.beat(now)
    }
    fn next_deadline(&self) -> Option<u64> {
        self.next
    }
    fn accounts(&self) -> Accounts {
        Accounts::default()
    }
}

fn run(weather: Weather, seed: u64, frames: u8) -> (Vec<u8>, usize, Vec<mokume_simulate::Record>) {
    run_parted(weather, Vec::new(), seed, frames)
}

fn run_parted(
    weather: Weather,
    partitions: Vec<Partition>,
    seed: u64,
    frames: u8,
) -> (Vec<u8>, usize, Vec<mokume_simulate::Record>) {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let host = |name: &str, left: u8, heard: &Rc<RefCell<Vec<u8>>>| Host {
        name: name.into(),
        machine: Box::new(Beacon { left, next: (left > 0).then_some(MILLISECOND), heard: heard.clone() }),
        frame_events: vec![(PortId(0), 0)],
        turned_down: Vec::new(),
    };
    let silent = Rc::new(RefCell::new(Vec::new()));
    let hosts = vec![host("a", frames, &silent), host("b", 0, &heard)];
    let medium = Medium { name: "lan".into(), members: vec![(0, PortId(0)), (1, PortId(0))], weather };
    let mut simulation = Simulation::new(hosts, vec![medium], Vec::new(), seed).parted(partitions);
    let records = simulation.run(10_000 * MILLISECOND, &mut |_| ()).to_vec();
    let lost = records
        .iter()
        .filter(|record| matches!(&record.what, RecordedEvent::Sent { fates, .. } if fates.iter().any(|(_, fate)| matches!(fate, Fate::Lost(_)))))
        .count();
    let result = heard.borrow().clone();
    (result, lost, records)
}

#[test]
fn fair_weather_delivers_all_in_order() {
    let (heard, lost, _) = run(Weather { delay: (MILLISECOND, MILLISECOND), ..Weather::default() }, 1, 50);
    assert_eq!(heard, (0..50).rev().collect::<Vec<u8>>());
    assert_eq!(lost, 0);
}

#[test]
fn loss_is_what_the_records_say() {
    let (heard, lost, _) = run(Weather { loss: 300_000, ..Weather::default() }, 7, 200);
    assert_eq!(heard.len() + lost, 200);
    assert!((30..100).contains(&lost), "{lost} of 200 lost at 30 %");
}

#[test]
fn duplicates_and_reordering_happen_when_asked_for_and_only_then() {
    let weather = Weather { duplicate: 200_000, reorder: 300_000, delay: (0, 2 * MILLISECOND), ..Weather::default() };
    let (heard, _, _) = run(weather, 3, 200);
    assert!(heard.len() > 210, "{} of 200 frames heard", heard.len());
    assert!(heard.windows(2).any(|pair| pair[0] < pair[1]), "nothing out of order");
}

#[test]
fn a_seed_replays_the_run_and_another_does_not() {
    let weather = Weather { loss: 200_000, duplicate: 100_000, delay: (0, 3 * MILLISECOND), ..Weather::default() };
    let (one, two, three) = (run(weather, 42, 100).2, run(weather, 42, 100).2, run(weather, 43, 100).2);
    assert_eq!(one, two);
    assert_ne!(one, three);
}

#[test]
fn corruption_changes_one_bit() {
    let (heard, _, _) = run(Weather { corrupt: 1_000_000, ..Weather::default() }, 5, 20);
    let sent: Vec<u8> = (0..20).rev().collect();
    assert_eq!(heard.len(), sent.len());
    assert!(heard.iter().zip(&sent).all(|(a, b)| (a ^ b).count_ones() == 1));
}

/// Due again at once, for ever; counts its calls.
struct NeverRests(std::rc::Rc<std::cell::Cell<u32>>);

impl Machine for NeverRests {
    fn start(&mut self, _: u64) -> Outcome {
        Outcome::default()
    }
    fn input(&mut self, _: u64, _: PortId, _: u32, _: &[Datum]) -> Outcome {
        Outcome::default()
    }
    fn advance(&mut self, _: u64) -> Outcome {
        self.0.set(self.0.get() + 1);
        Outcome::default()
    }
    fn next_deadline(&self) -> Option<u64> {
        Some(MILLISECOND)
    }
    fn accounts(&self) -> Accounts {
        Accounts::default()
    }
}

#[test]
fn a_host_that_never_rests_ends_the_run_and_is_said() {
    let asked = std::rc::Rc::default();
    let machine = Box::new(NeverRests(std::rc::Rc::clone(&asked)));
    let host = Host { name: "a".into(), machine, frame_events: Vec::new(), turned_down: Vec::new() };
    let mut simulation = Simulation::new(vec![host], Vec::new(), Vec::new(), 1);
    simulation.run(10 * MILLISECOND, &mut |_| ());
    let Some(Restless::AtOnce { by, hosts, last }) = simulation.restless() else {
        panic!("{:?}", simulation.restless())
    };
    assert_eq!(*by, Again::Due);
    assert!(!hosts.is_empty() && !last.is_empty(), "{hosts:?} {last:?}");
    assert_eq!(simulation.now(), MILLISECOND);
    // Each call of a stack that never rests takes as many reactions as a call may have.
    assert!(asked.get() < 20, "{} calls", asked.get());
}

#[test]
fn a_partition_loses_what_is_sent_across_it_meanwhile_and_nothing_else() {
    let weather = Weather { loss: 100_000, delay: (MILLISECOND, MILLISECOND), ..Weather::default() };
    let (whole, ..) = run(weather, 5, 50);
    let cut = |hosts: Vec<usize>| Partition { hosts, from: 11 * MILLISECOND, until: 21 * MILLISECOND };
    let (parted, lost, _) = run_parted(weather, vec![cut(vec![1])], 5, 50);
    // Frames count down from 49, one a millisecond, the first at 1 ms: those from 11 ms to 20 ms are 39 to 30.
    let left: Vec<u8> = whole.iter().copied().filter(|frame| !(30..=39).contains(frame)).collect();
    assert_eq!(parted, left, "the weather of the others is as it was");
    assert_eq!(parted.len() + lost, 50);
    let (together, ..) = run_parted(weather, vec![cut(vec![0, 1])], 5, 50);
    assert_eq!(together, whole, "both are on one side");
}

#[test]
fn corruption_turns_one_bit() {
    let weather = Weather { corrupt: 500_000, ..Weather::default() };
    let (heard, _, _) = run(weather, 2, 100);
    let wrong: Vec<u8> = heard.iter().zip((0..100).rev()).map(|(heard, sent): (&u8, u8)| heard ^ sent).collect();
    assert!(wrong.iter().all(|bits| bits.count_ones() <= 1), "{wrong:?}");
    assert!((20..80).contains(&wrong.iter().filter(|bits| **bits != 0).count()), "about half: {wrong:?}");
}

/// Due again after this many nanoseconds, for ever.
struct Ticking(u64, u64);

impl Machine for Ticking {
    fn start(&mut self, _: u64) -> Outcome {
        Outcome::default()
    }
    fn input(&mut self, _: u64, _: PortId, _: u32, _: &[Datum]) -> Outcome {
        Outcome::default()
    }
    fn advance(&mut self, now: u64) -> Outcome {
        self.1 = now + self.0;
        Outcome::default()
    }
    fn next_deadline(&self) -> Option<u64> {
        Some(self.1)
    }
    fn accounts(&self) -> Accounts {
        Accounts::default()
    }
}

#[test]
fn a_host_that_all_but_stops_the_time_ends_the_run_and_is_said() {
    let run = |every: u64| {
        let host = Host {
            name: "a".into(),
            machine: Box::new(Ticking(every, 1)),
            frame_events: Vec::new(),
            turned_down: Vec::new(),
        };
        let mut simulation = Simulation::new(vec![host], Vec::new(), Vec::new(), 1);
        simulation.run(1000 * MILLISECOND / 50, &mut |_| ());
        (simulation.restless().cloned(), simulation.now())
    };
    let (found, at) = run(5);
    assert!(matches!(found, Some(Restless::Hurried { host: 0, .. })), "{found:?}");
    assert!(at < 3 * MILLISECOND, "{at}");
    // Many reactions, but time advances.
    assert_eq!(run(40), (None, 20 * MILLISECOND));
}

/// Due each so many nanoseconds, so many times: then it puts out so much, at this port.
struct Busy {
    every: u64,
    times: u32,
    outputs: usize,
    port: PortId,
    next: u64,
}

impl Machine for Busy {
    fn start(&mut self, _: u64) -> Outcome {
        Outcome::default()
    }
    fn input(&mut self, _: u64, _: PortId, _: u32, _: &[Datum]) -> Outcome {
        Outcome::default()
    }
    fn advance(&mut self, now: u64) -> Outcome {
        self.next = now + self.every;
        self.times -= 1;
        let output = Output { port: self.port, event: 0, args: vec![Datum::Message(vec![1])] };
        Outcome { outputs: vec![output; self.outputs], ..Outcome::default() }
    }
    fn next_deadline(&self) -> Option<u64> {
        (self.times > 0).then_some(self.next)
    }
    fn accounts(&self) -> Accounts {
        Accounts::default()
    }
}

/// A run of these on one link whose frames take a second: why it ends, when, and how many frames were sent, and things put
/// out elsewhere.
fn run_busy(hosts: Vec<Busy>) -> (Option<Restless>, u64, usize, usize) {
    let members = (0..hosts.len()).map(|host| (host, PortId(0))).collect();
    let weather = Weather { delay: (1000 * MILLISECOND, 1000 * MILLISECOND), ..Weather::default() };
    let host = |machine: Busy| Host {
        name: "h".into(),
        machine: Box::new(machine),
        frame_events: vec![(PortId(0), 0)],
        turned_down: Vec::new(),
    };
    let hosts = hosts.into_iter().map(host).collect();
    let medium = Medium { name: "lan".into(), members, weather };
    let mut simulation = Simulation::new(hosts, vec![medium], Vec::new(), 1);
    let records = simulation.run(10_000 * MILLISECOND, &mut |_| ());
    let of = |is: fn(&RecordedEvent) -> bool| records.iter().filter(|record| is(&record.what)).count();
    let sent = of(|what| matches!(what, RecordedEvent::Sent { .. }));
    let put_out = of(|what| matches!(what, RecordedEvent::Output { .. }));
    (simulation.restless().cloned(), simulation.now(), sent, put_out)
}

const DEVICE: PortId = PortId(0);
const OTHER: PortId = PortId(1);

/// Two million frames were kept before it was said.
#[test]
fn hosts_that_send_at_one_time_for_ever_are_found_before_their_frames_are_too_many() {
    let busy = |times, outputs| Busy { every: 0, times, outputs, port: DEVICE, next: MILLISECOND };
    // The third comes to rest; the fourth never does, and sends nothing.
    let (why, at, sent, _) =
        run_busy(vec![busy(u32::MAX, 60_000), busy(u32::MAX, 60_000), busy(2, 10), busy(u32::MAX, 0)]);
    let Some(Restless::AtOnce { by: Again::Due, hosts, .. }) = why else { panic!("{why:?}") };
    assert_eq!((hosts.into_iter().collect::<Vec<_>>(), at), (vec![0, 1, 3], MILLISECOND));
    // A frame has three copies on its way.
    assert!(sent * 3 <= 500_003, "{sent}");
    let (why, _, _, put_out) = run_busy(vec![Busy { port: OTHER, ..busy(u32::MAX, 60_000) }]);
    assert!(matches!(why, Some(Restless::AtOnce { by: Again::Due, .. })), "{why:?}");
    assert_eq!(put_out, 120_000);
    // What takes several calls at one time, and then rests, may put out as much as it does.
    let other = |times, outputs| Busy { port: OTHER, ..busy(times, outputs) };
    let (why, _, _, put_out) = run_busy(vec![other(1, 120_000), other(2, 50_000)]);
    assert_eq!((why, put_out), (None, 220_000));
    // Their first calls are too much together.
    let (why, ..) =
        run_busy(vec![busy(2, 100), busy(u32::MAX, 90_000), busy(u32::MAX, 90_000), busy(u32::MAX, 90_000)]);
    let Some(Restless::AtOnce { by: Again::Due, hosts, .. }) = why else { panic!("{why:?}") };
    assert_eq!(hosts.into_iter().collect::<Vec<_>>(), [1, 2, 3]);
}

/// Frames were only counted as others arrived.
#[test]
fn frames_that_all_are_on_their_way_are_not_too_many_to_keep() {
    let (why, at, sent, _) = run_busy(vec![
        Busy { every: 1_000, times: 900_000, outputs: 1, port: DEVICE, next: MILLISECOND },
        Busy { every: 1_000_000, times: 100, outputs: 1, port: DEVICE, next: MILLISECOND },
    ]);
    let Some(Restless::Many { at_once: false, frames: 500_001, answers: false, hosts }) = why else {
        panic!("{why:?}")
    };
    assert_eq!(hosts.into_iter().collect::<Vec<_>>(), [0]);
    assert!(sent == 500_001 && at < 502 * MILLISECOND, "{sent} {at}");
    // Also if a single call sends them.
    let (why, _, sent, _) = run_busy(vec![
        Busy { every: 1, times: 1, outputs: 700_000, port: DEVICE, next: 1 },
        Busy { every: 1, times: 1, outputs: 0, port: DEVICE, next: 1 },
    ]);
    assert!(matches!(why, Some(Restless::Many { at_once: false, .. })), "{why:?}");
    assert_eq!(sent, 500_001);
}

#[test]
fn a_host_that_puts_out_too_much_while_time_all_but_stands_is_said() {
    let busy = |every| Busy { every, times: 10_000, outputs: 100, port: OTHER, next: MILLISECOND };
    let (why, at, _, put_out) = run_busy(vec![busy(1_000)]);
    assert!(matches!(why, Some(Restless::Hurried { host: 0, much: Much::Effects(500_100), .. })), "{why:?}");
    assert!(put_out == 500_100 && at < 7 * MILLISECOND, "{put_out} {at}");
    assert_eq!(run_busy(vec![busy(3_000)]).0, None);
}
