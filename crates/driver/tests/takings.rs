//! Paths are taken often, and each of their guards is needed: where a path is left by one guard alone, the handlers do
//! something else than the path would have done, or else the guard is useless.
//!
//! Random sequences that end where a path is taken, or left, for the first times are repeated with one change each. The
//! layers run beside C and beside the paths in the interpreter, which records where they were left.
//!
//! `MOKUME_SEQUENCES=100000` tries more, `MOKUME_SEED=7` others, `MOKUME_STACK=udp` the stacks with that in their
//! names.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mokume_driver::usual;
use mokume_emit_c::drive::{drive_from, AccountsCompared, Drive, Subject};
use mokume_emit_c::{Build, CMachine, CProgram};
use mokume_interpret::{Exits, Instance};
use mokume_reaction::{
    Accounts, Automaton, BlockId, Datum, Machine, Operation, Outcome, PathId, PortId, Terminator, Value,
};

use crate::campaign::stacks::{self, Stack};
use crate::campaign::{build, built, memory};

/// For each path, and for each exit by its guard alone, in the campaign.
const TAKINGS: u64 = 10_000;
const ALONE: u64 = 100;

/// Sequences of each stack in the campaign.
const SEQUENCES: u64 = 12_000;

/// The stacks: most are from files with networks.
const NAMED: [&str; 11] = [
    "benches/stacks/sliding.mok",
    "examples/courier.mok",
    "benches/usual.mok",
    "benches/tcp.mok",
    "benches/udp6.mok",
    "benches/sequencer.mok",
    "benches/stacks/four.mok",
    "benches/stacks/ten.mok",
    "examples/host6.mok",
    "examples/meter.mok",
    "examples/selective.mok",
];

/// Files with networks of these stacks, besides all of the examples and of the library's tests.
const NETWORKS: [&str; 4] =
    ["benches/usual.mok", "benches/tcp_usual.mok", "benches/udp6_usual.mok", "benches/stacks/sliding_usual.mok"];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// C, and beside it the interpreter, which takes the paths.
struct Both<'a> {
    c: Option<&'a CMachine>,
    pathed: Instance,
    exits: Arc<Mutex<Exits>>,
    apart: &'a Mutex<Vec<String>>,
}

impl Both<'_> {
    fn same(&self, pathed: Outcome, c: Option<Outcome>) -> Outcome {
        let Some(c) = c else { return pathed };
        if pathed != c && self.c.is_some_and(|c| c.exhausted() == 0) {
            self.apart.lock().unwrap().push(format!("C {c:?}\npaths {pathed:?}"));
        }
        c
    }
}

impl Subject for Both<'_> {
    fn is_beyond(&self) -> bool {
        self.c.is_some_and(|c| c.is_beyond())
    }
    fn progress(&self) -> u64 {
        self.exits.lock().unwrap().progress
    }
}

impl Machine for Both<'_> {
    fn start(&mut self, now: u64) -> Outcome {
        let (pathed, c) = (self.pathed.start(now), self.c.map(|mut c| c.start(now)));
        self.same(pathed, c)
    }
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let pathed = self.pathed.input(now, port, event, args);
        let c = self.c.map(|mut c| c.input(now, port, event, args));
        self.same(pathed, c)
    }
    fn advance(&mut self, now: u64) -> Outcome {
        let (pathed, c) = (self.pathed.advance(now), self.c.map(|mut c| c.advance(now)));
        self.same(pathed, c)
    }
    fn next_deadline(&self) -> Option<u64> {
        self.c.map_or_else(|| self.pathed.next_deadline(), |c| c.next_deadline())
    }
    fn accounts(&self) -> Accounts {
        self.c.map_or_else(|| self.pathed.accounts(), |c| c.accounts())
    }
    fn exhausted(&self) -> u64 {
        self.c.map_or_else(|| self.pathed.exhausted(), |c| c.exhausted())
    }
    fn reactions(&self) -> u64 {
        self.pathed.reactions()
    }
}

/// What was seen of the paths of a stack.
struct Seen {
    exits: Exits,
    /// A difference between the layers and C, or between C and the paths.
    found: Option<String>,
}

/// Runs this many sequences of a stack; with its program in C, if there is one.
fn seen(stack: &Stack, fused: &Automaton, c: Option<&CMachine>, (sequences, seed): (u64, u64)) -> Seen {
    let exits = Arc::new(Mutex::new(Exits::new(ALONE)));
    let (layers, fused) = (Arc::new(stack.uncomposed.clone()), Arc::new(fused.clone()));
    let apart = Mutex::new(Vec::new());
    let model = |automaton: &Arc<Automaton>, params: &[u64]| {
        Instance::shared(automaton.clone(), params, 0).with_natives(stack.natives.clone())
    };
    let mut kept: HashMap<Vec<u64>, [Instance; 2]> = HashMap::new();
    let mut both = |params: &[u64]| -> [Instance; 2] {
        let make = || [model(&layers, params), model(&fused, params).with_paths()];
        kept.len().ge(&64).then(|| kept.clear());
        kept.entry(params.to_vec()).or_insert_with(make).clone()
    };
    let made = std::cell::RefCell::new(&mut both);
    let reference = |params: &[u64], seed: u64| (made.borrow_mut())(params)[0].sibling(seed);
    let subject = |params: &[u64], seed: u64| {
        c.iter().for_each(|c| c.reset(params, seed));
        let pathed = (made.borrow_mut())(params)[1].sibling(seed).with_exits(exits.clone());
        Both { c, pathed, exits: exits.clone(), apart: &apart }
    };
    let options = Drive {
        seed,
        sequences,
        steps: 30,
        longest: 1600,
        siblings: 40,
        bursts: 20,
        whole: 20,
        nearby: 80,
        accounts: AccountsCompared::AtTheEnd,
        deadlines: true,
    };
    let result = drive_from(&stack.uncomposed, options, &stack.lessons, reference, subject);
    let found = result.err().map(|difference| difference.to_string());
    let found = found.or_else(|| apart.lock().unwrap().first().cloned());
    let exits = exits.lock().unwrap().clone();
    Seen { exits, found }
}

/// The edges of a path that refuse.
fn exits_of(automaton: &Automaton, path: PathId) -> Vec<(BlockId, u32)> {
    let blocks = &automaton.paths[path.index()].body.blocks;
    let refuses = |block: BlockId| matches!(blocks[block.index()].terminator, Terminator::Refuse { .. });
    let of = |(place, block): (usize, &mokume_reaction::Block)| {
        let targets = block.terminator.targets();
        let edges = targets.iter().enumerate().filter(|(_, target)| targets.len() > 1 && refuses(target.block));
        edges.map(|(edge, _)| (BlockId::from(place), edge as u32)).collect::<Vec<_>>()
    };
    blocks.iter().enumerate().flat_map(of).collect()
}

/// The question of a path's block, in the text form, for readers of the list.
fn asked(automaton: &Automaton, path: PathId, block: BlockId) -> String {
    let body = &automaton.paths[path.index()].body;
    let maker = |value: &Value| body.ops().find(|op| op.results.contains(value));
    let name = |value: &Value| maker(value).map_or("a parameter".into(), |op| format!("{:?}", op.kind));
    match &body.blocks[block.index()].terminator {
        Terminator::Branch { condition, .. } => maker(condition).map_or("a parameter".into(), |op| {
            let parts: Vec<String> = op.kind.operands().iter().map(name).collect();
            format!("{:?} of {}", op.kind, parts.join(" and "))
        }),
        other => format!("{other:?}"),
    }
}

/// The sum over all stacks.
#[derive(Default)]
struct Sum {
    ends: usize,
    taken_enough: usize,
    exits: usize,
    left: usize,
    alone: usize,
    alone_enough: usize,
    /// What was seen too rarely, one line each.
    seldom: String,
}

impl Sum {
    fn add(&mut self, stack: &Stack, fused: &Automaton, seen: &Exits, takings: u64) {
        for (path, of) in fused.paths.iter().enumerate() {
            let path = PathId::from(path);
            let name = format!("{} {}", stack.name, fused.handler_name(of.handler));
            for end in ends(fused, path) {
                let taken = seen.taken.get(&(path, end)).copied().unwrap_or(0);
                self.ends += 1;
                self.taken_enough += usize::from(taken >= takings);
                if taken < takings {
                    writeln!(self.seldom, "{name}: its end in block {} {taken} times", end.index()).unwrap();
                }
            }
            for (block, edge) in exits_of(fused, path) {
                let left = seen.left.get(&(path, block, edge)).copied().unwrap_or_default();
                self.exits += 1;
                self.left += usize::from(left.times > 0);
                self.alone += usize::from(left.alone > 0);
                self.alone_enough += usize::from(left.alone >= ALONE);
                if left.alone < ALONE {
                    let (times, alone) = (left.times, left.alone);
                    let asked = asked(fused, path, block);
                    writeln!(self.seldom, "{name}: left {times} times, {alone} alone: {asked} [{edge}]").unwrap();
                }
            }
        }
    }
}

/// The blocks in which a path ends without being left.
fn ends(automaton: &Automaton, path: PathId) -> Vec<BlockId> {
    let blocks = automaton.paths[path.index()].body.blocks.iter().enumerate();
    let ends = blocks.filter(|(_, block)| matches!(block.terminator, Terminator::Return));
    ends.map(|(place, _)| BlockId::from(place)).collect()
}

/// The stacks of some files; their lessons are the ways of hosts in networks.
fn stacks_of(files: &[&str]) -> Vec<Stack> {
    let name = std::env::var("MOKUME_STACK").unwrap_or_default();
    let mut stacks = stacks::of_files(files);
    stacks.retain(|stack| stack.name.contains(&name));
    stacks.retain(|stack| !fused(std::slice::from_ref(stack))[0].paths.is_empty());
    let lessons = stacks::of_networks(&stacks, &NETWORKS);
    for (stack, lessons) in stacks.iter_mut().zip(lessons) {
        stack.lessons.extend(lessons);
    }
    stacks
}

fn fused(stacks: &[Stack]) -> Vec<Automaton> {
    let fused = |stack: &Stack| mokume_fuse::with_memos(&stack.composed, &usual::of(&stack.composed), 0);
    stacks.iter().map(fused).collect()
}

/// All stacks in turn, on all cores; the first difference stops it.
fn look(stacks: &[Stack], fused: &[Automaton], c: Option<&Arc<CProgram>>, sequences: u64, takings: u64) -> Sum {
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Sum::default()));
    let seed = number("MOKUME_SEED", 1);
    let work = || {
        while let Some(place) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < stacks.len()) {
            let (stack, fused) = (&stacks[place], &fused[place]);
            let machine = c.map(|program| CMachine::new(program, place, &[], 0, memory(stack)).expect("a machine"));
            let started = std::time::Instant::now();
            let seen = seen(stack, fused, machine.as_ref(), (sequences, seed));
            assert!(seen.found.is_none(), "{}: {}", stack.name, seen.found.unwrap());
            println!("{}: {} paths, {:?}", stack.name, fused.paths.len(), started.elapsed());
            sum.lock().unwrap().add(stack, fused, &seen.exits, takings);
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap_or_else(|why| std::panic::resume_unwind(why)));
    });
    sum.into_inner().unwrap()
}

fn figure(stacks: &[Stack], sum: &Sum, takings: u64) {
    println!("{}", sum.seldom);
    println!(
        "FIGURE: takings: {} ends of paths of {} stacks, {} of them {takings} times; {} exits, {} of them seen, {} by their guard alone, {} \
         so {ALONE} times",
        sum.ends,
        stacks.len(),
        sum.taken_enough,
        sum.exits,
        sum.left,
        sum.alone,
        sum.alone_enough
    );
}

/// Two files of the stacks, and no C.
#[test]
fn paths_are_taken_and_left() {
    let stacks = stacks_of(&NAMED[..2]);
    let sum = look(&stacks, &fused(&stacks), None, number("MOKUME_SEQUENCES", 300), 100);
    figure(&stacks, &sum, 100);
    assert!(sum.taken_enough * 6 >= sum.ends, "{} of {} ends", sum.taken_enough, sum.ends);
    assert!(sum.left * 3 >= sum.exits, "{} of {} exits", sum.left, sum.exits);
}

#[test]
#[ignore = "campaign: takings"]
fn each_path_is_taken_ten_thousand_times() {
    let stacks = stacks_of(&NAMED);
    let fused = fused(&stacks);
    let build = Build { check_memos: true, ..build() };
    let Some(program) = built(&fused.iter().collect::<Vec<_>>(), &stacks, &build) else { return };
    let sum = look(&stacks, &fused, Some(&program), number("MOKUME_SEQUENCES", SEQUENCES), TAKINGS);
    figure(&stacks, &sum, TAKINGS);
    assert!(sum.taken_enough * 4 >= sum.ends, "{} of {} ends", sum.taken_enough, sum.ends);
    assert!(sum.left * 4 >= sum.exits, "{} of {} exits", sum.left, sum.exits);
}

/// A path without one of its questions is found, if that question was seen alone.
#[test]
fn a_guard_that_is_left_out_is_found() {
    let stacks = stacks_of(&["benches/stacks/sliding.mok"]);
    let fused = fused(&stacks);
    let (stack, fused) = (&stacks[0], &fused[0]);
    let sequences = (number("MOKUME_SEQUENCES", 300), 1);
    let whole = seen(stack, fused, None, sequences);
    assert_eq!(whole.found, None);
    let alone = whole.exits.left.iter().filter(|(_, left)| left.alone >= ALONE).map(|(exit, _)| *exit);
    let alone: Vec<(PathId, BlockId, u32)> = alone.collect();
    let mut found = 0;
    for (path, block, edge) in &alone {
        let mut faulty = fused.clone();
        let terminator = &mut faulty.paths[path.index()].body.blocks[block.index()].terminator;
        let Terminator::Branch { then, otherwise, .. } = terminator.clone() else { continue };
        *terminator = Terminator::Jump { to: if *edge == 0 { otherwise } else { then } };
        found += usize::from(seen(stack, &faulty, None, sequences).found.is_some());
    }
    println!("FIGURE: guards left out: {found} of {} that were seen alone are found", alone.len());
    assert!(found > 0, "{} guards", alone.len());
}
