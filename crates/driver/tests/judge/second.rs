//! Each question of a proof goes to two solvers: to bitwuzla as always, and to the other one with all of the session so
//! far.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mokume_driver::usual;
use mokume_prove::judge::{judge_watched, Step};
use mokume_prove::solver::{Answer, Solver};

use super::{there, LIMIT};
use crate::campaign::stacks::of_files;

/// Stacks of the library, UDP and IP among them.
const STACKS: &[&str] = &[
    "benches/sequencer.mok",
    "benches/stacks/four.mok",
    "benches/stacks/sliding.mok",
    "benches/stacks/ten.mok",
    "examples/host.mok",
    "examples/morpheus.mok",
    "examples/selective.mok",
    "examples/meter.mok",
    "examples/services.mok",
    "examples/budget.mok",
];

/// The time limit of a path: each question is answered twice.
const PATH_LIMIT: Duration = Duration::from_secs(400);

/// The answers of both to all questions.
#[derive(Clone, Default, Debug)]
struct Said {
    both: u64,
    /// Questions that one of them did not answer: by that solver's name; with the question's number.
    one: BTreeMap<&'static str, u64>,
    neither: u64,
    /// Contradicting answers, with the script.
    against: Vec<String>,
}

impl Said {
    fn all(&self) -> u64 {
        self.both + self.one.values().sum::<u64>() + self.neither + self.against.len() as u64
    }

    fn add(&mut self, other: Said) {
        self.both += other.both;
        self.neither += other.neither;
        other.one.into_iter().for_each(|(name, count)| *self.one.entry(name).or_default() += count);
        self.against.extend(other.against);
    }

    /// Records the answers of two solvers to a question.
    fn note(&mut self, (name, a): (&'static str, &Answer), (other, b): (&'static str, &Answer), script: &str) {
        match (a, b) {
            (Answer::Unsat, Answer::Unsat) | (Answer::Sat(_), Answer::Sat(_)) => self.both += 1,
            (Answer::Unknown(_), Answer::Unknown(_)) => self.neither += 1,
            (Answer::Unknown(_), _) => *self.one.entry(name).or_default() += 1,
            (_, Answer::Unknown(_)) => *self.one.entry(other).or_default() += 1,
            _ => self.against.push(format!("{name} says {a:?}, {other} says {b:?} of\n{script}")),
        }
    }
}

/// The first one's answers count; the second is asked the same.
struct Both<'w> {
    first: Box<dyn Solver + 'w>,
    second: Box<dyn Solver + 'w>,
    /// The script of the session.
    session: String,
    said: Rc<RefCell<Said>>,
}

impl Solver for Both<'_> {
    fn name(&self) -> &'static str {
        "both"
    }

    fn ask(&mut self, script: &str, wanted: &[String]) -> Answer {
        let (a, b) = (self.first.ask(script, wanted), self.second.ask(script, &[]));
        self.said.borrow_mut().note((self.first.name(), &a), (self.second.name(), &b), script);
        a
    }

    fn begin(&mut self, script: &str) -> bool {
        self.session = script.to_owned();
        self.first.begin(script)
    }

    fn check(&mut self, script: &str, assumed: &[String], wanted: &[String], limit: Duration) -> Option<Answer> {
        let a = self.first.check(script, assumed, wanted, limit)?;
        self.session.push('\n');
        self.session.push_str(script);
        let assumed = assumed.iter().map(|fact| format!("(assert {fact})\n"));
        let whole = format!("{}\n{}(check-sat)\n", self.session, assumed.collect::<String>());
        let b = self.second.ask(&whole, &[]);
        self.said.borrow_mut().note((self.first.name(), &a), (self.second.name(), &b), &whole);
        Some(a)
    }
}

/// The results for one stack's paths: by the name of a path.
type Paths = Vec<(String, bool, Said)>;

fn of_stack(stack: &crate::campaign::stacks::Stack) -> Paths {
    let fused = mokume_fuse::with_memos(&stack.composed, &usual::of(&stack.composed), mokume_fuse::WORTH);
    let flat = mokume_analyse::flat(&fused).into_owned();
    let mut paths = Paths::new();
    for path in &flat.paths {
        let said = Rc::new(RefCell::new(Said::default()));
        let mut own = there(LIMIT);
        assert!(own.len() > 1, "two solvers are needed; scripts/setup prepares z3 and bitwuzla");
        let (second, first) = (own.remove(1), own.remove(0));
        let both = Both { first, second, session: String::new(), said: said.clone() };
        let mut solvers: Vec<Box<dyn Solver + '_>> = vec![Box::new(both)];
        let started = Instant::now();
        let mut watch = |_: Step| {
            let left = PATH_LIMIT.checked_sub(started.elapsed()).filter(|left| !left.is_zero());
            left.ok_or_else(|| "no answer in time".to_owned())
        };
        let judged = judge_watched(&flat, path, &mut solvers, &mut watch);
        let is_proved = judged.is_ok_and(|judged| judged.is_proved());
        drop(solvers);
        let said = said.borrow().clone();
        paths.push((format!("{} {}", stack.name, flat.handler_name(path.handler)), is_proved, said));
    }
    paths
}

fn compare(files: &[&str]) -> (Said, usize) {
    let stacks = of_files(files);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(stack) = stacks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let paths = of_stack(stack);
            found.lock().unwrap().push(paths);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let (mut all, mut paths) = (Said::default(), 0);
    for (name, is_proved, said) in found.into_inner().unwrap().into_iter().flatten() {
        paths += 1;
        if said.both < said.all() {
            let open = if is_proved { "" } else { ", open" };
            println!(
                "{name}{open}: {} questions; without an answer: {:?}, of neither {}",
                said.all(),
                said.one,
                said.neither
            );
        }
        all.add(said);
    }
    println!(
        "FIGURE: solvers: {} questions of {paths} paths of {} stacks; both decide {} ({:.1} %), without an answer {:?}, \
         neither {}; {} disagreements",
        all.all(),
        stacks.len(),
        all.both,
        100.0 * all.both as f64 / all.all().max(1) as f64,
        all.one,
        all.neither,
        all.against.len()
    );
    (all, paths)
}

#[test]
fn two_solvers_say_the_same() {
    let (said, _) = compare(&["benches/stacks/four.mok"]);
    assert!(said.against.is_empty(), "{}", said.against.join("\n\n"));
    assert!(said.both * 10 >= said.all() * 9 && said.all() > 10, "{said:?}");
}

/// A solver that says the opposite is noticed.
#[test]
fn a_disagreement_is_seen() {
    let mut said = Said::default();
    said.note(("a", &Answer::Unsat), ("b", &Answer::Sat(Vec::new())), "(check-sat)");
    said.note(("a", &Answer::Unsat), ("b", &Answer::Unknown(String::new())), "(check-sat)");
    assert_eq!((said.against.len(), said.one.get("b"), said.both), (1, Some(&1), 0));
}

#[test]
#[ignore = "campaign: solvers"]
fn two_solvers_say_the_same_of_many_stacks() {
    let (said, paths) = compare(STACKS);
    assert!(said.against.is_empty(), "{}", said.against.join("\n\n"));
    assert!(paths > 30 && said.both * 10 >= said.all() * 9, "{paths} paths, {said:?}");
}
