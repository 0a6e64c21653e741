//! Speed, queues, bursts and single frames: a machine that sends frames of 100 octets at once, and one that records
//! when it receives them.

use std::cell::RefCell;
use std::rc::Rc;

use mokume_reaction::{Accounts, Datum, Machine, Outcome, Output, PortId};
use mokume_simulate::{Host, Ill, Medium, Mishap, Simulation, Weather};

const MILLISECOND: u64 = 1_000_000;
const A: (usize, PortId) = (0, PortId(0));
const B: (usize, PortId) = (1, PortId(0));

/// Sends this many frames at its start; each is 100 octets, with its number in front.
struct Burst {
    frames: u8,
    heard: Rc<RefCell<Heard>>,
}

impl Machine for Burst {
    fn start(&mut self, _: u64) -> Outcome {
        let frame = |number| {
            let mut frame = vec![0; 100];
            frame[0] = number;
            Output { port: PortId(0), event: 0, args: vec![Datum::Message(frame)] }
        };
        Outcome { outputs: (0..self.frames).map(frame).collect(), ..Outcome::default() }
    }
    fn input(&mut self, now: u64, _: PortId, _: u32, args: &[Datum]) -> Outcome {
        if let [Datum::Message(frame)] = args {
            self.heard.borrow_mut().push((now, frame.clone()));
        }
        Outcome::default()
    }
    fn advance(&mut self, _: u64) -> Outcome {
        Outcome::default()
    }
    fn next_deadline(&self) -> Option<u64> {
        None
    }
    fn accounts(&self) -> Accounts {
        Accounts::default()
    }
}

/// Sends a frame each millisecond, so many; each is its number.
struct Ticking {
    frames: u8,
    sent: u8,
    heard: Rc<RefCell<Heard>>,
}

impl Machine for Ticking {
    fn start(&mut self, _: u64) -> Outcome {
        Outcome::default()
    }
    fn input(&mut self, now: u64, _: PortId, _: u32, args: &[Datum]) -> Outcome {
        if let [Datum::Message(frame)] = args {
            self.heard.borrow_mut().push((now, frame.clone()));
        }
        Outcome::default()
    }
    fn advance(&mut self, _: u64) -> Outcome {
        let output = Output { port: PortId(0), event: 0, args: vec![Datum::Message(vec![self.sent])] };
        self.sent += 1;
        Outcome { outputs: vec![output], ..Outcome::default() }
    }
    fn next_deadline(&self) -> Option<u64> {
        (self.sent < self.frames).then(|| u64::from(self.sent) * MILLISECOND)
    }
    fn accounts(&self) -> Accounts {
        Accounts::default()
    }
}

type Heard = Vec<(u64, Vec<u8>)>;

/// What is received of this many frames, and the random events that affected them.
fn run(weather: Weather, mishaps: Vec<Mishap>, seed: u64, frames: u8) -> (Heard, Vec<Mishap>) {
    let heard = Rc::new(RefCell::new(Vec::new()));
    let host = |name: &str, frames: u8| Host {
        name: name.into(),
        machine: Box::new(Burst { frames, heard: heard.clone() }),
        frame_events: vec![(PortId(0), 0)],
        turned_down: Vec::new(),
    };
    let medium = Medium { name: "lan".into(), members: vec![A, B], weather };
    let hosts = vec![host("a", frames), host("b", 0)];
    let simulation = Simulation::new(hosts, vec![medium], Vec::new(), seed);
    let mut simulation = simulation.befallen(mishaps).noting();
    simulation.run(100_000 * MILLISECOND, &mut |_| ());
    let noted = simulation.noted().iter().map(|(_, mishap)| mishap.clone()).collect();
    let heard = heard.borrow().clone();
    (heard, noted)
}

#[test]
fn a_line_sends_one_frame_after_the_other() {
    // 800 bits at 800 kbit/s take a millisecond.
    let weather = Weather { rate: 800_000, delay: (MILLISECOND, MILLISECOND), ..Weather::default() };
    let (heard, _) = run(weather, Vec::new(), 1, 10);
    let times: Vec<u64> = heard.iter().map(|(at, _)| at / MILLISECOND).collect();
    assert_eq!(times, (2..12).collect::<Vec<u64>>());
    let (heard, _) = run(Weather { rate: 0, ..weather }, Vec::new(), 1, 10);
    assert!(heard.iter().all(|(at, _)| *at == MILLISECOND), "without a rate all come at once");
}

#[test]
fn a_full_queue_loses_what_comes_next() {
    let weather = Weather { rate: 800_000, queue: 4, ..Weather::default() };
    let (heard, _) = run(weather, Vec::new(), 1, 10);
    let numbers: Vec<u8> = heard.iter().map(|(_, frame)| frame[0]).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    let (heard, _) = run(Weather { queue: 0, ..weather }, Vec::new(), 1, 10);
    assert_eq!(heard.len(), 10, "without a queue's room all wait");
}

#[test]
fn bursts_take_so_many_in_a_row() {
    let weather = Weather { burst_loss: 30_000, burst_length: 5, ..Weather::default() };
    let (heard, _) = run(weather, Vec::new(), 3, 250);
    let mut next = 0;
    let mut gaps = Vec::new();
    for (_, frame) in &heard {
        gaps.extend(Some(frame[0] - next).filter(|gap| *gap > 0));
        next = frame[0] + 1;
    }
    assert!(!gaps.is_empty(), "no burst in 250 frames at 3 %");
    assert!(gaps.iter().all(|gap| gap % 5 == 0), "{gaps:?}");
}

/// A line of 1 ms a frame: from 100 ms on nothing is lost, though a burst goes on, and nothing is late.
#[test]
fn when_it_is_calm_chance_does_nothing() {
    let weather = Weather {
        burst_loss: 500_000,
        burst_length: 5,
        reorder: 500_000,
        delay: (MILLISECOND, 4 * MILLISECOND),
        calm_from: Some(100 * MILLISECOND),
        ..Weather::default()
    };
    let run = |at| {
        let heard = Rc::new(RefCell::new(Vec::new()));
        let host = |frames| Host {
            name: "a".into(),
            machine: Box::new(Ticking { frames, sent: 0, heard: heard.clone() }),
            frame_events: vec![(PortId(0), 0)],
            turned_down: Vec::new(),
        };
        let weather = Weather { calm_from: at, ..weather };
        let medium = Medium { name: "lan".into(), members: vec![A, B], weather };
        Simulation::new(vec![host(200), host(0)], vec![medium], Vec::new(), 3).run(400 * MILLISECOND, &mut |_| ());
        heard.take()
    };
    let calm: Heard = run(weather.calm_from);
    let of_calm: Vec<_> = calm.iter().filter(|(_, frame)| frame[0] >= 100).collect();
    assert!(of_calm.len() == 100 && of_calm.iter().all(|(at, frame)| *at == (u64::from(frame[0]) + 1) * MILLISECOND));
    assert!(calm.len() < 180, "before, nearly all are lost");
    let rough: Heard = run(None);
    assert!(rough.iter().filter(|(_, frame)| frame[0] >= 100).count() < 80);
}

#[test]
fn a_single_frame_befalls_what_is_said() {
    let mishap = |number, what: &[Ill]| Mishap { from: A, number, to: Some(B), what: what.to_vec() };
    let what = vec![
        mishap(1, &[Ill::Lost]),
        mishap(2, &[Ill::Late(3)]),
        mishap(3, &[Ill::Turned(15)]),
        mishap(4, &[Ill::Twice(5), Ill::Turned(0), Ill::Turned(15), Ill::Turned(800)]),
    ];
    let (heard, noted) = run(Weather::default(), what, 1, 5);
    assert!(noted.is_empty(), "chance did nothing");
    let seen: Vec<(u64, u8, u8)> = heard.iter().map(|(at, frame)| (*at, frame[0], frame[1])).collect();
    // Each bit is flipped; there is no bit 800 of 800.
    assert_eq!(seen, [(0, 2, 1), (0, 3, 0), (0, 4, 0), (3, 1, 0), (5, 3 | 0x80, 1)]);
}

/// The recorded random events, in calm weather, give the same run; without one of them, another.
#[test]
fn what_chance_did_can_be_done_again_without_chance() {
    let weather = Weather {
        loss: 100_000,
        duplicate: 100_000,
        reorder: 200_000,
        corrupt: 200_000,
        burst_loss: 20_000,
        burst_length: 3,
        delay: (MILLISECOND, 4 * MILLISECOND),
        rate: 8_000_000,
        queue: 150,
        calm_from: None,
    };
    for seed in 0..20 {
        let (heard, noted) = run(weather, Vec::new(), seed, 200);
        let (again, none) = run(weather.calm(), noted.clone(), seed + 1000, 200);
        assert_eq!(heard, again, "seed {seed}");
        assert!(none.is_empty() && noted.len() > 100, "seed {seed}: {} noted", noted.len());
        let (other, _) = run(weather.calm(), noted[1..].to_vec(), seed, 200);
        assert_ne!(heard, other, "seed {seed}, without {:?}", noted[0]);
    }
}
