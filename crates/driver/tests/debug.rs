//! Debugging: every statement is visited, in order; what is visible at a moment is the same each time, forwards,
//! backwards and again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mokume_base::world::RealWorld;
use mokume_base::Random;
use mokume_driver::compile::{self, Checked};
use mokume_driver::debug::{self, By, End, Facts, Fault, Front, Go, Points, Stopped, Target, Where, Why};
use mokume_driver::{sim, test};
use mokume_interpret::{Moment, Observed, Observer, What};

const FILE: &str = concat!(
    include_str!("debug/counts.mok"),
    "test \"right\" {
    stack S
    app.send_to(\"x\")
    => device.frame(x\"03 0004 78\")
}
test \"wrong\" {
    stack S
    app.send_to(\"x\")
    => device.frame(x\"03 0005 78\")
}
network Pair {
    host a = S()
    host b = S()
    link lan { a.device, b.device   delay 1 ms }
    at 1 ms  a.app.send_to(\"hello\")
    at 2 ms  a.app.send_to(\"again\")
    at 30 ms  b.app.send_to(\"back\")
    until 100 ms
}
"
);

fn checked() -> Checked {
    checked_text(FILE)
}

fn checked_text(text: &str) -> Checked {
    let checked = compile::check_texts(&RealWorld, vec![("d.mok".to_string(), text.to_string())], Vec::new());
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    checked
}

/// All that is visible at a stop.
#[derive(Clone, PartialEq, Debug)]
struct Sight {
    number: u64,
    host: String,
    now: u64,
    line: Option<u32>,
    what: String,
    calls: Vec<String>,
    locals: String,
    state: String,
    causes: Vec<String>,
    why: Why,
}

fn sight(at: &Stopped<'_>) -> Sight {
    Sight {
        number: at.number,
        host: at.host_name().to_string(),
        now: at.now(),
        line: at.place().map(|place| place.line),
        what: at.what(),
        calls: at.calls().into_iter().map(|(name, _)| name).collect(),
        locals: format!("{:?}", at.locals()),
        state: format!("{:?}", at.state()),
        causes: at.causes(),
        why: at.why,
    }
}

/// What was visible at each stop, and the ends.
#[derive(Clone, Default)]
struct Seen {
    sights: Vec<Sight>,
    ends: Vec<End>,
}

/// Answers a stop by its number; `None` at the end of the run.
type Answer = dyn FnMut(usize, Option<&Sight>) -> Go + Send;

/// A front end that a function controls by the number of its stop; `None` at the end of the run quits.
struct Script {
    seen: Arc<Mutex<Seen>>,
    points: Vec<(&'static str, Option<&'static str>)>,
    go: Box<Answer>,
}

impl Front for Script {
    fn stopped(&mut self, at: &Stopped<'_>, points: &mut Points) -> Go {
        for (place, host) in self.points.drain(..) {
            let place = Where::read(place, "d.mok", at.facts).unwrap();
            points.add(place, host.map(str::to_string));
        }
        let now = sight(at);
        let mut seen = self.seen.lock().unwrap();
        seen.sights.push(now.clone());
        (self.go)(seen.sights.len() - 1, Some(&now))
    }

    fn ended(&mut self, end: &End, _: &Facts, _: &mut Points) -> Go {
        let mut seen = self.seen.lock().unwrap();
        seen.ends.push(end.clone());
        (self.go)(seen.sights.len(), None)
    }
}

type Placed = (&'static str, Option<&'static str>);

fn led(fault: Option<Fault>, points: &[Placed], go: impl FnMut(usize, Option<&Sight>) -> Go + Send + 'static) -> Seen {
    let checked = checked();
    let network = sim::choose(&checked, None).unwrap();
    let stacks = sim::sound_stacks(&checked, network, &RealWorld).unwrap();
    let prepared = sim::Prepared::new(&checked, network, &stacks, Target::BACKEND).unwrap();
    let target = Target::Network { prepared, seed: 1 };
    let seen = Arc::new(Mutex::new(Seen::default()));
    let front = Script { seen: Arc::clone(&seen), points: points.to_vec(), go: Box::new(go) };
    debug::run_faulty(&target, Box::new(front), &RealWorld, fault).unwrap();
    let seen = seen.lock().unwrap().clone();
    seen
}

/// Every statement from the beginning to the end, by steps.
fn by_steps(fault: Option<Fault>) -> Vec<Sight> {
    let seen = led(fault, &[], |_, at| if at.is_some() { Go::Forward(By::Statement) } else { Go::Quit });
    seen.sights.into_iter().filter(|sight| sight.what == "statement").collect()
}

/// The lines of all statements, from an independent observer that knows no debugger.
struct Lines(Arc<Mutex<Vec<u32>>>);

impl Observer for Lines {
    fn see(&mut self, moment: &Moment<'_>) {
        if let What::Statement(source) = moment.what {
            self.0.lock().unwrap().push(moment.automaton().sources[source.index()].line);
        }
    }
}

fn all_lines() -> Vec<u32> {
    let checked = checked();
    let network = sim::choose(&checked, None).unwrap();
    let stacks = sim::sound_stacks(&checked, network, &RealWorld).unwrap();
    let prepared = sim::Prepared::new(&checked, network, &stacks, Target::BACKEND).unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let observed = |_: usize| -> Observed { Arc::new(Mutex::new(Lines(Arc::clone(&lines)))) };
    let how = sim::How { seed: 1, keep: sim::Keep::Reports, weather: sim::Sky::Seeded };
    prepared.observed(how, &observed, &RealWorld).unwrap();
    let found = lines.lock().unwrap().clone();
    found
}

#[test]
fn steps_meet_every_statement_in_order() {
    let met = by_steps(None);
    let lines: Vec<u32> = met.iter().filter_map(|sight| sight.line).collect();
    assert_eq!(lines, all_lines());
    // The first message, down on one host and up on the other: what a person finds by reading.
    assert_eq!(lines[..7], [15, 11, 12, 16, 17, 20, 21]);
    assert!(lines.contains(&18) && lines.contains(&32) && lines.contains(&28), "{lines:?}");
    // A planted fault is found.
    let faulty: Vec<u32> = by_steps(Some(Fault::Skips)).iter().filter_map(|sight| sight.line).collect();
    assert_ne!(faulty, lines);
}

#[test]
fn who_looks_on_changes_nothing() {
    let checked = checked();
    let network = sim::choose(&checked, None).unwrap();
    let stacks = sim::sound_stacks(&checked, network, &RealWorld).unwrap();
    let prepared = sim::Prepared::new(&checked, network, &stacks, Target::BACKEND).unwrap();
    let how = || sim::How { seed: 3, keep: sim::Keep::All, weather: sim::Sky::Seeded };
    let observed = |_: usize| -> Observed { Arc::new(Mutex::new(Lines(Arc::default()))) };
    let watched = prepared.observed(how(), &observed, &RealWorld).unwrap();
    let alone = prepared.run(how(), &RealWorld, &mut |_| {}).unwrap();
    assert_eq!(watched.records, alone.records);
}

/// Backwards statement by statement: each looks as it did on the way forwards.
fn backwards(fault: Option<Fault>) -> (Vec<Sight>, Vec<Sight>) {
    let forwards = by_steps(None);
    let mut is_at_end = false;
    let seen = led(fault, &[], move |number, at| match at {
        Some(at) if is_at_end && at.why == Why::Beginning => Go::Quit,
        Some(_) if is_at_end && number > 200 => Go::Quit,
        Some(_) if is_at_end => Go::Back(By::Statement),
        Some(_) => Go::On,
        None => {
            is_at_end = true;
            Go::Back(By::Statement)
        }
    });
    let back = seen.sights.into_iter().filter(|sight| sight.why == Why::Stepped).collect();
    (forwards, back)
}

#[test]
fn steps_back_see_what_steps_forwards_saw() {
    let (mut forwards, back) = backwards(None);
    forwards.reverse();
    assert_eq!(back, forwards);
    assert!(back.len() > 20);
    let (_, faulty) = backwards(Some(Fault::TooFar));
    assert_ne!(faulty, forwards, "a planted fault is found");
}

#[test]
fn a_moment_is_the_same_however_it_is_come_to() {
    let known: BTreeMap<u64, Sight> = by_steps(None).into_iter().map(|sight| (sight.number, sight)).collect();
    let all = [By::Statement, By::Over, By::Out, By::Reaction, By::Frame, By::Point];
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let points = [("drop", None), ("send", Some("b")), ("20", None)];
        let seen = led(None, &points, move |number, at| {
            let by = all[random.below(all.len() as u64) as usize];
            let is_back = random.below(3) == 0;
            match at {
                _ if number > 60 => Go::Quit,
                None => Go::Back(by),
                Some(_) if is_back => Go::Back(by),
                Some(_) if random.below(20) == 0 => Go::Restart,
                Some(_) if random.below(9) == 0 => Go::On,
                Some(_) => Go::Forward(by),
            }
        });
        assert!(seen.sights.len() > 60);
        for mut sight in seen.sights {
            let Some(before) = known.get(&sight.number) else { continue };
            sight.why = before.why;
            assert_eq!(&sight, before, "seed {seed}");
        }
    }
}

fn at_points(points: &[Placed]) -> Vec<(String, u64, Option<u32>, String)> {
    let seen = led(None, points, |_, at| if at.is_some() { Go::On } else { Go::Quit });
    let stops = seen.sights.into_iter().filter(|sight| matches!(sight.why, Why::Point(_)));
    stops.map(|sight| (sight.host, sight.now / 1_000_000, sight.line, sight.what)).collect()
}

fn stop(host: &str, ms: u64, line: u32, what: &str) -> (String, u64, Option<u32>, String) {
    (host.to_string(), ms, Some(line), what.to_string())
}

fn stop_in(host: &str, ms: u64, what: &str) -> (String, u64, Option<u32>, String) {
    (host.to_string(), ms, None, what.to_string())
}

#[test]
fn points_are_met() {
    assert_eq!(at_points(&[("16", None)]).len(), 3);
    assert_eq!(at_points(&[("16", Some("b"))]), [stop("b", 30, 16, "statement")]);
    assert_eq!(at_points(&[("d.mok:32", None)]).len(), 1);
    let drops = at_points(&[("drop", None)]);
    assert_eq!(drops, at_points(&[("drop no_room", None)]));
    assert_eq!(drops.first(), Some(&stop("a", 2, 18, "a message ends: app.Counts.no_room")));
    assert_eq!(at_points(&[("drop malformed", None)]), []);
    let sends = at_points(&[("Counts.send", None)]);
    assert_eq!(sends.len(), 3);
    assert_eq!(sends[0], stop("a", 1, 14, "begins app.Counts: on send"));
    assert_eq!(at_points(&[("expiry wait", Some("a"))]).len(), 1);
    assert_eq!(at_points(&[("device.frame", None)]), [stop_in("b", 2, "begins device: on frame")]);
}

#[test]
fn steps_go_over_and_out_of_what_is_called() {
    let seen = led(None, &[], |number, at| match (number, at) {
        (_, None) => Go::Quit,
        (0, _) => Go::Forward(By::Statement),
        (1..3, _) => Go::Forward(By::Over),
        (3, _) => Go::Restart,
        (4, _) => Go::Forward(By::Statement),
        (5, _) => Go::Forward(By::Statement),
        (6, _) => Go::Forward(By::Out),
        _ => Go::Quit,
    });
    let lines: Vec<Option<u32>> = seen.sights.iter().map(|sight| sight.line).collect();
    assert_eq!(lines[1..4], [Some(15), Some(16), Some(17)], "over the call");
    assert_eq!(lines[5..8], [Some(15), Some(11), Some(16)], "into it, and out");
    assert_eq!(seen.sights[6].calls, ["fn ahead", "app.Counts: on send"]);
}

#[test]
fn what_is_bound_and_what_layers_know_is_seen() {
    let seen = led(None, &[("20", None)], |number, _| if number < 1 { Go::On } else { Go::Quit });
    let at = &seen.sights[1];
    for wanted in ["\"own\", value: \"4\"", "\"msg\", value: \"5 octets \\\"hello\\\"\""] {
        assert!(at.locals.contains(wanted), "{wanted} in {}", at.locals);
    }
    assert!(at.state.contains("\"next\", value: \"1\"") && at.state.contains("not running"), "{}", at.state);
    assert_eq!(at.causes, ["app.Counts: on send", "sent by app.application: on send_to", "what came in at app"]);
}

#[test]
fn places_that_are_none_say_what_there_is() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let checked = checked();
    let network = sim::choose(&checked, None).unwrap();
    let stacks = sim::sound_stacks(&checked, network, &RealWorld).unwrap();
    let prepared = sim::Prepared::new(&checked, network, &stacks, Target::BACKEND).unwrap();
    let facts = Target::Network { prepared, seed: 1 }.facts();
    for place in ["", "3", "99999999999", "other.mok:3", "drop nothing", "dance", "d.mok:"] {
        let failure = Where::read(place, "d.mok", &facts).unwrap_err();
        seen.lock().unwrap().push(format!("{place}: {}: {}", failure.message, failure.help));
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen[1], "3: there is no code in line 3 of d.mok: there is code in line 11");
    assert_eq!(seen[3], "other.mok:3: nothing of `other.mok` runs here: there is code of d.mok");
    assert!(seen[4].contains("there is") && seen[4].contains("no_room"), "{}", seen[4]);
}

#[test]
fn tests_are_debugged_too() {
    let checked = checked();
    let ends = |number: usize| {
        let mut prepared = test::prepare(&checked, "", &RealWorld);
        prepared.diagnostics.clear();
        let target = Target::Test { checked: &checked, prepared, number };
        let seen = Arc::new(Mutex::new(Seen::default()));
        let go = |_: usize, at: Option<&Sight>| if at.is_some() { Go::Forward(By::Statement) } else { Go::Quit };
        let front = Script { seen: Arc::clone(&seen), points: Vec::new(), go: Box::new(go) };
        debug::run(&target, Box::new(front), &RealWorld).unwrap();
        let seen = seen.lock().unwrap().clone();
        seen
    };
    let right = ends(0);
    let lines: Vec<u32> =
        right.sights.iter().filter(|sight| sight.what == "statement").filter_map(|sight| sight.line).collect();
    assert_eq!(lines, [15, 11, 12, 16, 17, 20, 21]);
    assert_eq!(right.ends, [End::default()]);
    let wrong = ends(1);
    assert!(wrong.ends[0].failed[0].contains("outputs differ"), "{:?}", wrong.ends);
}

/// A front end that interrupts the way back from the end of the run's last point.
struct Impatient {
    seen: Arc<Mutex<Vec<(u64, Why)>>>,
    is_on_the_way: bool,
}

impl Front for Impatient {
    fn interrupts(&mut self) -> bool {
        self.is_on_the_way
    }

    fn stopped(&mut self, at: &Stopped<'_>, points: &mut Points) -> Go {
        self.seen.lock().unwrap().push((at.number, at.why));
        match at.why {
            Why::Beginning => {
                points.add(Where::read("send", "d.mok", at.facts).unwrap(), Some("b".to_string()));
                Go::On
            }
            Why::Point(_) => {
                self.is_on_the_way = true;
                Go::Back(By::Point)
            }
            Why::AskedOnTheWayBack => {
                self.is_on_the_way = false;
                Go::Home
            }
            _ => Go::Quit,
        }
    }

    fn ended(&mut self, _: &End, _: &Facts, _: &mut Points) -> Go {
        Go::Quit
    }
}

/// Who interrupted a way back was left where the replay had come to.
#[test]
fn who_interrupts_a_way_back_is_where_he_was() {
    // Enough for a run to be asked on its way.
    let more: String = (3..28).map(|at| format!("    at {at} ms  a.app.send_to(\"more\")\n")).collect();
    let checked = checked_text(&FILE.replace("    at 30 ms", &format!("{more}    at 30 ms")));
    let network = sim::choose(&checked, None).unwrap();
    let stacks = sim::sound_stacks(&checked, network, &RealWorld).unwrap();
    let prepared = sim::Prepared::new(&checked, network, &stacks, Target::BACKEND).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let front = Impatient { seen: Arc::clone(&seen), is_on_the_way: false };
    debug::run(&Target::Network { prepared, seed: 1 }, Box::new(front), &RealWorld).unwrap();
    let seen = seen.lock().unwrap().clone();
    let [_, (home, Why::Point(_)), (replayed, Why::AskedOnTheWayBack), (back, Why::Home)] = seen[..] else {
        panic!("{seen:?}")
    };
    assert!(replayed < home && back == home, "{seen:?}");
}
