//! Every stack of the library, of the small programs and of the examples: compares the interpreter (uncomposed layers)
//! with C (composed stack), by random sequences that begin with the steps of all files' `test` blocks.
#![allow(dead_code)]

pub mod branches;
pub mod stacks;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mokume_base::RealWorld;
use mokume_driver::usual;
use mokume_emit_c::drive::{drive_from, AccountsCompared, Difference, Drive, Summary};
use mokume_emit_c::{Build, BuildError, CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_reaction::profile::Profile;
use mokume_reaction::{Accounts, Automaton, Datum, Machine, OpKind, Outcome, PortId, Unit};

use branches::{Branch, Merged};
use stacks::Stack;

/// `./test` compares one of this many stacks with its paths; `./campaign paths` compares all.
pub const PATHS_IN_TEST: usize = 7;

/// Whether a stack joins messages, and so may make large ones of small ones.
fn joins(automaton: &Automaton) -> bool {
    automaton.bodies().flat_map(|body| body.ops()).any(|op| matches!(op.kind, OpKind::Join { .. }))
}

/// Octets of all buffers of a stack that joins.
const ROOM: u32 = 1 << 29;

/// Little memory, so that a new instance is cheap. A sequence that needs more is not judged further, and is counted.
pub fn memory(stack: &Stack) -> Memory {
    // A stack with fewer buffers than composing demands receives nothing.
    let buffers = stack.composed.pool.max(256);
    // Unwritten memory costs nothing: a stack that joins gets room for the largest datagrams.
    let buffer_octets = if joins(&stack.composed) { ROOM / buffers.max(4096) } else { 4096 };
    Memory { buffers, buffer_octets, messages: buffers * 4, outputs: 2048, reports: 256 }
}

/// Instances with equal parameters share what was resolved; this many sets of parameters are kept.
const KEPT: usize = 256;

/// The results for one stack.
pub struct Tried {
    /// The most messages that a reaction held at once, beyond those that it began with.
    pub held: u64,
    pub result: Result<Summary, Box<Difference>>,
    /// Why the program in C ended, if it did.
    pub failure: Option<String>,
    pub coverage: Vec<(Unit, usize, usize, u64)>,
    /// The duration.
    pub time: Duration,
}

impl Tried {
    /// A difference, or the end of the program.
    pub fn found(&self) -> Option<String> {
        self.failure.clone().or_else(|| self.result.as_ref().err().map(|difference| difference.to_string()))
    }
}

/// An instance that reports at its end how much its reactions held.
struct Watched {
    instance: Instance,
    most: Rc<Cell<u64>>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.most.set(self.most.get().max(self.instance.most_held()));
    }
}

impl mokume_emit_c::drive::Subject for Watched {}

impl Machine for Watched {
    fn start(&mut self, now: u64) -> Outcome {
        self.instance.start(now)
    }
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        self.instance.input(now, port, event, args)
    }
    fn advance(&mut self, now: u64) -> Outcome {
        self.instance.advance(now)
    }
    fn next_deadline(&self) -> Option<u64> {
        self.instance.next_deadline()
    }
    fn accounts(&self) -> Accounts {
        self.instance.accounts()
    }
    fn exhausted(&self) -> u64 {
        self.instance.exhausted()
    }
    fn reactions(&self) -> u64 {
        self.instance.reactions()
    }
}

pub fn build() -> Build<'static> {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("campaign");
    Build { optimize: 0, coverage: true, ..Build::new(&RealWorld, cache) }
}

/// A build of many stacks in little time; [`build`] finds what gcc warns of.
pub fn quick_build() -> Build<'static> {
    Build { compiler: mokume_testkit::quick_compiler(), ..build() }
}

/// A build with the functions in C that the stacks call.
pub fn with_natives(stacks: &[Stack], build: Build<'static>) -> Build<'static> {
    stacks.iter().fold(build, |build, stack| stack.native_files.with(&[&stack.composed], build))
}

/// Tries this many sequences on one stack of a program.
pub fn try_stack(stack: &Stack, program: &Arc<CProgram>, place: usize, sequences: u64, seed: u64) -> Tried {
    let started = Instant::now();
    let machine = match CMachine::new(program, place, &[], 0, memory(stack)) {
        Ok(machine) => machine,
        Err(error) => {
            return Tried {
                held: 0,
                result: Ok(Summary::default()),
                failure: Some(error.to_string()),
                coverage: Vec::new(),
                time: Duration::ZERO,
            }
        }
    };
    let automaton = Arc::new(stack.uncomposed.clone());
    let mut kept: HashMap<Vec<u64>, Instance> = HashMap::new();
    let most = Rc::new(Cell::new(0));
    let reference = |params: &[u64], seed: u64| {
        if kept.len() >= KEPT {
            kept.clear();
        }
        let make = |params: &[u64]| Instance::shared(automaton.clone(), params, 0).with_natives(stack.natives.clone());
        let model = kept.entry(params.to_vec());
        Watched { instance: model.or_insert_with(|| make(params)).sibling(seed), most: most.clone() }
    };
    let subject = |params: &[u64], seed: u64| {
        machine.reset(params, seed);
        &machine
    };
    let options = Drive {
        seed,
        sequences,
        steps: 30,
        siblings: 40,
        bursts: 60,
        whole: 40,
        accounts: AccountsCompared::AtTheEnd,
        ..Drive::default()
    };
    let result = drive_from(&stack.uncomposed, options, &stack.lessons, reference, subject);
    Tried {
        held: most.get(),
        result,
        failure: machine.failure(),
        coverage: machine.coverage(),
        time: started.elapsed(),
    }
}

/// Tries sequences on all stacks, on all cores; stacks with more branches get more.
pub fn try_all(stacks: &[Stack], program: &Arc<CProgram>, sequences: u64, seed: u64) -> Vec<Tried> {
    let weights = weights(stacks);
    let all: u64 = weights.iter().sum();
    let mut order: Vec<usize> = (0..stacks.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(weights[*place]));
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(place) = order.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
            let share = (sequences * weights[place]).div_ceil(all);
            let tried = try_stack(&stacks[place], program, place, share, seed);
            results.lock().unwrap().push((place, tried));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, tried)| tried).collect()
}

/// How many of the sequences each stack gets: by its branches, where a branch of n stacks counts for an n-th in each.
/// So the common lower layers do not take them all. A stack with large reactions gets fewer, as each takes longer.
fn weights(stacks: &[Stack]) -> Vec<u64> {
    const WHOLE: u64 = 1_000;
    let own: Vec<Merged> = stacks.iter().map(|stack| branches::of(&stack.composed)).collect();
    let mut homes: BTreeMap<&Branch, u64> = BTreeMap::new();
    own.iter().flat_map(Merged::keys).for_each(|branch| *homes.entry(branch).or_default() += 1);
    let share = |own: &Merged| own.keys().map(|branch| WHOLE / homes[branch]).sum::<u64>();
    let dear = |stack: &Stack| u64::from(stack.composed.pool.div_ceil(4096)).pow(2).max(1);
    stacks.iter().zip(&own).map(|(stack, own)| (20 * WHOLE + share(own)) / dear(stack)).collect()
}

pub fn composed(stacks: &[Stack]) -> Vec<&Automaton> {
    stacks.iter().map(|stack| &stack.composed).collect()
}

/// The stacks in C; `None`, with a message, if there is no compiler.
pub fn built(automata: &[&Automaton], stacks: &[Stack], build: &Build<'static>) -> Option<Arc<CProgram>> {
    match CProgram::build(automata, &with_natives(stacks, build.clone())) {
        Ok(program) => Some(Arc::new(program)),
        Err(BuildError::Toolchain(mokume_emit_c::Failure::NoCompiler { command })) => {
            println!("SKIPPED: there is no C compiler `{command}`");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The stacks with paths before the handlers, and as many memos as possible. Every second one has paths where random
/// events go most, the others where they go without a profile.
pub fn fused(stacks: &[Stack]) -> Vec<Automaton> {
    let fused = |(place, stack): (usize, &Stack)| {
        let profile = if place % 2 == 0 { usual::of(&stack.composed) } else { seen(stack) };
        mokume_fuse::with_memos(&stack.composed, &profile, 0)
    };
    stacks.iter().enumerate().map(fused).collect()
}

/// The ways that reactions of a stack take in some random sequences.
fn seen(stack: &Stack) -> Profile {
    let profile = Arc::new(Mutex::new(Profile::default()));
    let uncomposed = Arc::new(stack.uncomposed.clone());
    let open = Arc::new(mokume_analyse::laid_open(&stack.composed).into_owned());
    let machine = |automaton: &Arc<Automaton>, params: &[u64], seed: u64| {
        Instance::shared(automaton.clone(), params, seed).with_natives(stack.natives.clone())
    };
    let watched = |params: &[u64], seed: u64| {
        let mut instance = machine(&open, params, seed);
        instance.record_ways(profile.clone());
        Watched { instance, most: Rc::default() }
    };
    let options = Drive { seed: 1, sequences: 100, steps: 30, ..Drive::default() };
    drive_from(&stack.uncomposed, options, &stack.lessons, |params, seed| machine(&uncomposed, params, seed), watched)
        .unwrap_or_else(|found| panic!("{}: {found:?}", stack.name));
    let seen = std::mem::take(&mut *profile.lock().unwrap());
    seen
}
