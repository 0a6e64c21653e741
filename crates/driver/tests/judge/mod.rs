//! Tests the judge of paths: faults are planted in optimised automata, and it must prove none with visible effects. A
//! faulty path that is still proved runs beside the layers, by random events that begin with the tests of the stack and
//! continue from what took the path.
//!
//! `MOKUME_MUTANTS=1000` tries more, `MOKUME_SEED=7` others.

mod equal;
mod faults;
mod replayed;
mod second;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::Duration;

use mokume_analyse::Liveness;
use mokume_base::{Random, RealWorld};
use mokume_driver::prove::Beside;
use mokume_driver::usual;
use mokume_emit_c::drive::Difference;
use mokume_prove::judge::{judge_watched, Judged, Step};
use mokume_prove::solver::{solvers, Solver};
use mokume_reaction::{verify, Automaton, Body, Operation};

use crate::campaign::stacks::{of_files, Stack};
use faults::{concerned, Change, Fault};

/// A question without an answer by then stays open.
const LIMIT: Duration = Duration::from_secs(10);

/// The time limit of a path.
const PATH_LIMIT: Duration = Duration::from_secs(100);

/// The stacks in `./test`: each path of these is proved quickly.
const QUICK: &[&str] = &["benches/sequencer.mok", "benches/stacks/four.mok", "examples/morpheus.mok"];

/// The stacks in `./campaign judge`: UDP and IPv6 among them.
const ALL: &[&str] = &[
    "benches/sequencer.mok",
    "benches/stacks/four.mok",
    "benches/stacks/sliding.mok",
    "benches/stacks/ten.mok",
    "examples/host.mok",
    "examples/morpheus.mok",
    "examples/window.mok",
    "examples/reliable.mok",
    "examples/selective.mok",
    "examples/router.mok",
    "examples/services.mok",
    "examples/numbers.mok",
    "examples/meter.mok",
    "examples/budget.mok",
];

/// z3 and bitwuzla: where the variable says, as for users, or where the set-up puts them. Without a solver nothing is
/// judged, which is a failure.
pub fn there<'w>(limit: Duration) -> Vec<Box<dyn Solver + 'w>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let environment = std::env::var_os("MOKUME_SOLVERS").map_or_else(|| root.join(".venv"), PathBuf::from);
    let all = solvers(&RealWorld, &environment.to_string_lossy(), limit);
    assert!(!all.is_empty(), "no solver; scripts/setup prepares z3 and bitwuzla");
    all
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A stack with its original paths.
struct Subjected {
    stack: Stack,
    fused: Automaton,
    /// The same with procedures and memos inlined.
    flat: Automaton,
    /// Of each path, whether it is proved.
    proved: Vec<bool>,
}

/// Judges a path until one way is open: the rest does not matter then.
fn judged(flat: &Automaton, path: usize, solvers: &mut [Box<dyn Solver + '_>]) -> Result<Judged, String> {
    let started = std::time::Instant::now();
    let mut watch = |step: Step| match PATH_LIMIT.checked_sub(started.elapsed()) {
        _ if step.open > 0 => Err("another way is open".to_owned()),
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err("no answer in time".to_owned()),
    };
    judge_watched(flat, &flat.paths[path], solvers, &mut watch)
}

fn is_proved(flat: &Automaton, path: usize, solvers: &mut [Box<dyn Solver + '_>]) -> bool {
    judged(flat, path, solvers).is_ok_and(|judged| judged.is_proved())
}

impl Subjected {
    fn of(stack: Stack, solvers: &mut [Box<dyn Solver + '_>]) -> Subjected {
        let fused = mokume_fuse::with_memos(&stack.composed, &usual::of(&stack.composed), mokume_fuse::WORTH);
        let flat = mokume_analyse::flat(&fused).into_owned();
        let proved = (0..flat.paths.len()).map(|path| is_proved(&flat, path, solvers)).collect();
        Subjected { stack, fused, flat, proved }
    }
}

/// Runs the layers beside the paths of an automaton, by random events. Returns the first difference, and how often the
/// path in question was taken.
fn run(stack: &Stack, pathed: &Automaton, aimed: usize, how: (u64, u64)) -> (Option<Box<Difference>>, u64) {
    Beside { layers: &stack.uncomposed, natives: &stack.natives, lessons: &stack.lessons }.run(pathed, aimed, how)
}

/// The fate of one fault.
#[derive(Debug)]
enum Fate {
    /// A state and an event were found for which it behaves differently; and whether a run shows it, too.
    Refused { is_shown: bool },
    /// It is not read, or a solver has no answer.
    Open(String),
    /// It is proved, by each solver alone or not, and the layers do the same in all runs; with how often the path was
    /// taken without the fault, and with it.
    Same { before: u64, after: u64, by_each: bool },
    /// It is proved, and wrong.
    Wrong(String),
}

/// A body without operations on which nothing depends: a memo computes for all who recall it, and a path uses a part of that.
fn used(body: &Body) -> Body {
    let mut body = body.clone();
    let live = Liveness::of(&body);
    for block in &mut body.blocks {
        block.ops.retain(|op| !op.kind.is_removable() || op.results.iter().any(|result| live.is_live(*result)));
    }
    body
}

/// Judges one fault; `None` if the automaton is invalid, or no proved path changes.
fn fate(
    subjected: &Subjected,
    fault: &Fault,
    solvers: &mut [Box<dyn Solver + '_>],
    sequences: (u64, u64),
) -> Option<Fate> {
    let faulty = fault.planted(&subjected.fused);
    if !verify(&faulty).is_empty() {
        return None;
    }
    let faulty = mokume_analyse::flat(&faulty).into_owned();
    let changed: Vec<usize> = concerned(&subjected.fused, fault.home)
        .into_iter()
        .filter(|path| {
            subjected.proved[*path] && used(&faulty.paths[*path].body) != used(&subjected.flat.paths[*path].body)
        })
        .collect();
    if changed.is_empty() {
        return None;
    }
    // A proved one runs, beside the original paths.
    let mut proved = subjected.flat.clone();
    let mut aimed = None;
    let mut open = None;
    for path in changed.clone() {
        match judged(&faulty, path, solvers) {
            Ok(judged) if judged.is_proved() => {
                proved.paths[path] = faulty.paths[path].clone();
                aimed = Some(path);
            }
            Ok(judged) => {
                let found = judged.ways.iter().filter_map(|way| way.verdict.as_ref().err());
                let shown = found.clone().any(|open| !open.values.is_empty() || open.why.contains("may differ"));
                let never = "it is never taken".to_owned();
                let why = found.clone().next().map_or(never, |open| open.why.clone());
                open = Some(if shown { Fate::Refused { is_shown: false } } else { Fate::Open(why) });
            }
            Err(why) => open = Some(Fate::Open(why)),
        }
    }
    let Some(aimed) = aimed else {
        return Some(match open? {
            // Runs are well aimed if they show most of these.
            Fate::Refused { .. } => {
                let (found, _) = run(&subjected.stack, &faulty, changed[0], (sequences.0.div_ceil(4), sequences.1));
                Fate::Refused { is_shown: found.is_some() }
            }
            other => other,
        });
    };
    let (found, after) = run(&subjected.stack, &proved, aimed, sequences);
    match (found, open) {
        (Some(difference), _) => Some(Fate::Wrong(difference.to_string())),
        (None, Some(open)) => Some(open),
        (None, None) => {
            let (_, before) = run(&subjected.stack, &subjected.flat, aimed, sequences);
            let by_each = solvers.iter_mut().all(|solver| is_proved(&faulty, aimed, std::slice::from_mut(solver)));
            Some(Fate::Same { before, after, by_each })
        }
    }
}

/// Shuffles faults by the seed.
fn shuffled(mut faults: Vec<Fault>, seed: u64) -> Vec<Fault> {
    let mut random = Random::new(seed);
    for place in (1..faults.len()).rev() {
        faults.swap(place, random.place(place + 1));
    }
    faults
}

/// The results for all faults.
#[derive(Default)]
struct Counted {
    refused: u64,
    shown: u64,
    open: Vec<String>,
    same: Vec<(String, bool, String)>,
    wrong: Vec<String>,
    kinds: BTreeMap<&'static str, (u64, u64)>,
    stacks: BTreeSet<String>,
}

impl Counted {
    fn judged(&self) -> u64 {
        self.refused + (self.open.len() + self.same.len() + self.wrong.len()) as u64
    }
}

/// Plants this many faults in the stacks of some files, equally distributed as far as each has enough.
fn judge_all(files: &[&str], mutants: u64, (sequences, seed): (u64, u64)) -> Counted {
    let stacks = of_files(files);
    let each = mutants.div_ceil(stacks.len() as u64);
    let counted = Mutex::new(Counted::default());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut solvers = there(LIMIT);
        while let Some(stack) = stacks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let started = std::time::Instant::now();
            let subjected = Subjected::of(stack.clone(), &mut solvers);
            let all = shuffled(faults::all(&subjected.fused, seed), seed);
            let (candidates, mut tried) = (all.len(), 0);
            for fault in all {
                if tried >= each {
                    break;
                }
                let Some(fate) = fate(&subjected, &fault, &mut solvers, (sequences, seed)) else { continue };
                tried += 1;
                let name = format!("{}: {fault}", stack.name);
                let mut counted = counted.lock().unwrap();
                let kind = counted.kinds.entry(fault.change.kind()).or_default();
                kind.0 += 1;
                kind.1 += u64::from(matches!(fate, Fate::Refused { .. } | Fate::Open(_)));
                counted.stacks.insert(stack.name.clone());
                match fate {
                    Fate::Refused { is_shown } => {
                        counted.refused += 1;
                        counted.shown += u64::from(is_shown);
                    }
                    Fate::Open(why) => counted.open.push(format!("{name}: {why}")),
                    Fate::Same { before, after, by_each } => {
                        counted.same.push((name, by_each, explained(&fault.change, before, after)));
                    }
                    Fate::Wrong(difference) => counted.wrong.push(format!("{name}\n{difference}")),
                }
            }
            println!(
                "{}: {} of {} paths are proved; {tried} of {candidates} faults, {:?}",
                stack.name,
                subjected.proved.iter().filter(|proved| **proved).count(),
                subjected.proved.len(),
                started.elapsed()
            );
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    counted.into_inner().unwrap()
}

/// Why a proved fault changes nothing: how often runs take the path, and when such a change has no effect.
fn explained(change: &Change, before: u64, after: u64) -> String {
    let often = match () {
        () if before == 0 && after == 0 => "no run takes the path",
        () if after < before => {
            return format!("it refuses more ({after} times taken, not {before}): the layers do it then")
        }
        () if after > before => {
            return format!("it refuses less ({after} times taken, not {before}): what it asked is not needed")
        }
        () => "taken as often",
    };
    let why = match change {
        Change::Octet(_) | Change::Shorter => "an octet that a store writes over",
        Change::Twice => "the same again",
        Change::Later => "two that do not meet",
        Change::Comparison(_) => "the number at the border is refused elsewhere, or never come to",
        Change::NotAsked | Change::Turned | Change::Case(_) => "another guard asks the same, or neither side differs",
        Change::Number(_) | Change::Operator(_) => "what is made of it is the same number, or is not used",
        Change::Operand(..) | Change::Exchanged(..) | Change::Given(..) | Change::Cell(_) => {
            "the same number there, or not used"
        }
        Change::NotDone
        | Change::Reason(_)
        | Change::OtherEnd
        | Change::Endian
        | Change::Attribute(_)
        | Change::Param(_) => "written over, or not used",
    };
    format!("{often}; {why}")
}

fn say(counted: &Counted) {
    println!(
        "FIGURE: judge: {} mutants of {} stacks: {} refused (runs show {}), {} open, {} proved and the same in all runs ({} by each \
         solver alone), {} false proofs",
        counted.judged(),
        counted.stacks.len(),
        counted.refused,
        counted.shown,
        counted.open.len(),
        counted.same.len(),
        counted.same.iter().filter(|(_, by_each, _)| *by_each).count(),
        counted.wrong.len()
    );
    counted.kinds.iter().for_each(|(kind, (all, refused))| println!("{kind}: {refused} of {all} refused"));
    counted.open.iter().for_each(|open| println!("open: {open}"));
    for (name, by_each, why) in &counted.same {
        println!("proved{}: {name}: {why}", if *by_each { " by each" } else { "" });
    }
}

#[test]
fn no_mutant_that_shows_is_proved() {
    let counted = judge_all(QUICK, number("MOKUME_MUTANTS", 25), (60, number("MOKUME_SEED", 1)));
    say(&counted);
    assert!(counted.wrong.is_empty(), "proved, and wrong:\n{}", counted.wrong.join("\n\n"));
    assert!(counted.judged() >= 20 && counted.refused * 10 >= counted.judged() * 5, "too few are refused");
}

#[test]
#[ignore = "campaign: judge"]
fn no_mutant_of_many_stacks_that_shows_is_proved() {
    let counted = judge_all(ALL, number("MOKUME_MUTANTS", 500), (1000, number("MOKUME_SEED", 1)));
    say(&counted);
    assert!(counted.wrong.is_empty(), "proved, and wrong:\n{}", counted.wrong.join("\n\n"));
    assert!(counted.judged() >= 400 && counted.stacks.len() >= 10, "{} of {}", counted.judged(), counted.stacks.len());
    assert!(counted.refused * 10 >= counted.judged() * 5, "{} of {} are refused", counted.refused, counted.judged());
}
