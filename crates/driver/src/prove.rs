//! `mokume prove`: whether each path of a stack does what the layers do, by external solvers.

pub mod equal;
mod kept;
mod replay;

use std::time::Duration;

pub use kept::{judged_by, shipped, shipped_line};
use mokume_base::World;
use mokume_prove::judge::judge_watched;
pub use mokume_prove::judge::Step;
use mokume_prove::solver::{solvers, Solver};
use mokume_reaction::profile::Profile;
use mokume_reaction::{Automaton, HandlerId};

use crate::compile::Compiled;
use crate::failure::Failure;
pub use replay::{replay, Beside, Replayed};

/// Where solvers are searched besides the system's path: a Python virtual environment.
const ENVIRONMENT: &str = ".venv";
/// The timeout of a question; its way is then open.
const LIMIT: Duration = Duration::from_secs(30);
/// The environment variable with another virtual environment.
const VARIABLE: &str = "MOKUME_SOLVERS";

/// The result for the path of an event.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The events of ports that lead to it: `port.event`.
    pub events: Vec<String>,
    /// Its complete ways, each proved or open; or why it could not be read.
    pub ways: Result<Vec<Way>, String>,
    pub took: Duration,
    pub known: Known,
    /// For a path with a counterexample from a solver: a run from the start in which it differs from the layers, if one
    /// was found.
    pub replayed: Option<Replayed>,
}

/// Where the result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It was judged now.
    Judged,
    /// It was proved before, and has not changed.
    Kept,
    /// It was proved when Mokume was built: the verdict is part of the program.
    Shipped,
}

impl Proof {
    /// Whether every way is proved, and at least one can be taken.
    pub fn is_proved(&self) -> bool {
        let is_taken = |way: &Way| way.verdict.as_ref().is_ok_and(|shown| !shown.goals.is_empty());
        self.ways.as_ref().is_ok_and(|ways| ways.iter().all(|way| way.verdict.is_ok()) && ways.iter().any(is_taken))
    }

    /// A solver's values for which it may differ.
    pub fn found(&self) -> Option<&[(String, u64)]> {
        let mut open = self.ways.iter().flatten().filter_map(|way| way.verdict.as_ref().err());
        open.find(|open| !open.values.is_empty()).map(|open| &open.values[..])
    }
}

/// One way through a path.
#[derive(Clone, Debug)]
pub struct Way {
    /// The number of guards on it.
    pub guards: usize,
    pub verdict: Result<Shown, Open>,
}

/// What was proved of a way.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Goals by kind: `outputs`, `state`, `timers`, `ends`, `reports`, `there`. Empty if the way is never taken.
    pub goals: Vec<(&'static str, u32)>,
}

/// Why a way is not proved.
#[derive(Clone, Debug)]
pub struct Open {
    pub why: String,
    /// A state and an event, by names, for which it could not be proved; such a state may be unreachable.
    pub values: Vec<(String, u64)>,
}

/// Receives progress and results.
pub trait Told {
    /// Work on the path of some events begins.
    fn works_on(&mut self, events: &[String], step: Step);
    /// The result for a path.
    fn knows(&mut self, proof: &Proof);
}

/// What to prove, and how.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// Only the path of this event; `None`: all.
    pub event: Option<&'a str>,
    /// The timeout of a path, which is then open.
    pub limit: Duration,
    /// The folder of kept verdicts.
    pub kept: String,
    /// Whether to judge again despite kept verdicts.
    pub again: bool,
}

/// The folder of kept verdicts: in the project of a file, or else beside the file.
pub fn folder(world: &dyn World, file: Option<&str>) -> Result<String, Failure> {
    let around = match file {
        Some(file) => std::path::Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty()),
        None => None,
    };
    let around = around.unwrap_or(std::path::Path::new("."));
    let project = crate::project::find(world, &around.to_string_lossy())?;
    let home = project.map_or_else(|| around.to_path_buf(), |(home, _)| home);
    Ok(home.join(".mokume/proofs").to_string_lossy().into_owned())
}

/// The handlers whose paths in this fused automaton are proved, by verdicts in a folder or in the program.
pub fn kept(world: &dyn World, folder: &str, fused: &Automaton) -> Vec<HandlerId> {
    let flat = mokume_analyse::flat(fused);
    let numbers = kept::Numbers::of(&flat);
    let is_proved = |path: &&mokume_reaction::Path| kept::read(world, folder, &numbers.number(path), &[]).is_some();
    flat.paths.iter().filter(is_proved).map(|path| path.handler).collect()
}

/// The paths of a composed stack: the events of each, and the number of its verdict in `library/verdicts.txt`.
pub fn numbers(composed: &Automaton, profile: &Profile) -> Vec<(Vec<String>, String)> {
    let fused = crate::path::fused(composed, profile, crate::path::Fuse::default());
    let flat = mokume_analyse::flat(&fused);
    let numbers = kept::Numbers::of(&flat);
    flat.paths.iter().map(|path| (crate::path::events(composed, path.handler), numbers.number(path))).collect()
}

fn there<'w>(world: &'w dyn World) -> Result<Vec<Box<dyn Solver + 'w>>, Failure> {
    let environment = world.environment(VARIABLE).unwrap_or_else(|| ENVIRONMENT.to_owned());
    let solvers = solvers(world, &environment, LIMIT);
    if solvers.is_empty() {
        return Err(Failure::of_machine(
            "there is no solver: neither z3 nor bitwuzla is found",
            format!(
                "install z3, or say in {VARIABLE} which virtual environment of Python has `bitwuzla` or `z3-solver`"
            ),
        ));
    }
    Ok(solvers)
}

/// The names of the available solvers.
///
/// # Errors
/// There is none.
pub fn solver_names(world: &dyn World) -> Result<Vec<&'static str>, Failure> {
    there(world).map(|solvers| solvers.iter().map(|solver| solver.name()).collect())
}

/// Proves the paths of a composed stack: of one event, or of all.
///
/// Fails if a solver is needed and there is none.
pub fn prove(
    world: &dyn World,
    (compiled, profile): (&Compiled, &Profile),
    choice: &Choice,
    told: &mut dyn Told,
) -> Result<Vec<Proof>, Failure> {
    let composed = &compiled.composed;
    let (event, limit) = (choice.event, choice.limit);
    let mut solvers = None;
    // Memos are proved as if they were recomputed each time.
    let fused = crate::path::fused(composed, profile, crate::path::Fuse::default());
    let flat = mokume_analyse::flat(&fused);
    let numbers = kept::Numbers::of(&flat);
    let found = crate::path::found(composed, profile);
    if let Some(event) = event {
        crate::path::known(composed, found.iter().map(|(events, _)| events), event)?;
    }
    let mut proofs = Vec::new();
    for (events, path) in found {
        let Ok((path, _)) = path else { continue };
        let Some(path) = flat.paths.iter().find(|found| found.handler == path.handler) else { continue };
        if event.is_some_and(|event| !events.iter().any(|known| known == event)) {
            continue;
        }
        let number = numbers.number(path);
        let known = kept::read(world, &choice.kept, &number, &events).filter(|_| !choice.again);
        if let Some(proof) = known {
            told.knows(&proof);
            proofs.push(proof);
            continue;
        }
        let solvers = match &mut solvers {
            Some(solvers) => solvers,
            none => none.insert(there(world)?),
        };
        let started = world.now();
        let mut watch = |step: Step| {
            told.works_on(&events, step);
            let took = world.now().saturating_sub(started);
            let over = || format!("no answer within {} s", limit.as_secs());
            limit.checked_sub(took).filter(|left| !left.is_zero()).ok_or_else(over)
        };
        let judged = judge_watched(&flat, path, solvers, &mut watch);
        let ways = judged.map(|judged| judged.ways.into_iter().map(way).collect());
        let took = world.now().saturating_sub(started);
        let mut proof = Proof { events, ways, took, known: Known::Judged, replayed: None };
        // Functions in C are not loaded if nothing is run.
        if let (Some(values), false) = (proof.found(), compiled.calls_c()) {
            let beside = Beside { layers: &compiled.uncomposed, natives: &compiled.natives, lessons: &[] };
            proof.replayed = replay(beside, &compiled.written, (&flat, path), values);
        }
        kept::write(world, &choice.kept, &number, &proof);
        told.knows(&proof);
        proofs.push(proof);
    }
    Ok(proofs)
}

fn way(way: mokume_prove::judge::Way) -> Way {
    let verdict = match way.verdict {
        Ok(goals) => Ok(Shown { goals: goals.into_iter().map(|(kind, count)| (kind.name(), count)).collect() }),
        Err(open) => Err(Open { why: open.why, values: open.values }),
    };
    Way { guards: way.guards, verdict }
}
