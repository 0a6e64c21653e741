//! Planted faults that the campaign must find: in composing (a channel that needs a queue is called directly), and in
//! the runtime. Without them a campaign without differences would prove nothing.

use std::sync::Arc;

use crate::campaign::stacks::{self, Stack};
use crate::campaign::{build, built, composed, fused, try_stack, PATHS_IN_TEST};
use mokume_emit_c::{Build, CProgram, Transport, RUNTIME_FAULTS};
use mokume_reaction::{verify, Automaton, Binary, Block, Op, OpKind, Value};

/// The least number of faults that must show in the stacks of the library. The others concern what these stacks do not
/// use, or do not show; `crates/emit_c/tests/faults.rs` finds all of them in stacks that do.
const SHOWN: usize = 12;

/// The number of channels that need a queue, of the smallest stacks: each is one more stack for the C compiler.
const CHANNELS: usize = 30;

/// The number of paths with a wrong counter, one a stack, of the smallest stacks in `./test`; and how many of them must
/// be noticed. The counters of the others are not compared, or random sequences do not reach them.
const PATHS: usize = 16;
// The stacks among them change with every file of tests.
const PATHS_SEEN: usize = 6;

/// On each stack, for each fault.
const SEQUENCES: u64 = 30;

fn program(stacks: &[Stack], build: &Build<'static>) -> Option<Arc<CProgram>> {
    built(&composed(stacks), stacks, build)
}

#[test]
fn a_queued_channel_called_directly_is_found() {
    let stacks = stacks::stacks().iter().cloned().chain(stacks::automata());
    let mut faulty = Vec::new();
    for stack in stacks {
        let queued = stack.composed.composition.as_ref().map_or(0, |composition| composition.queued.len());
        for channel in 0..queued {
            let mut composed = stack.composed.clone();
            let removed = composed.composition.as_mut().map(|composition| composition.queued.remove(channel));
            let names = removed.map(|(from, to)| [from, to].map(|layer| composed.layers[layer.index()].name.clone()));
            let name = format!("{} {:?}", stack.name, names.unwrap_or_default());
            let (uncomposed, lessons) = (stack.uncomposed.clone(), stack.lessons.clone());
            let (natives, native_files) = (stack.natives.clone(), stack.native_files.clone());
            faulty.push(Stack { name, uncomposed, composed, natives, native_files, lessons });
        }
    }
    faulty.sort_by_key(|stack| stack.composed.bodies().map(|body| body.blocks.len()).sum::<usize>());
    faulty.truncate(CHANNELS);
    let Some(program) = program(&faulty, &build()) else { return };
    let mut found = 0;
    for (place, stack) in faulty.iter().enumerate() {
        let difference = try_stack(stack, &program, place, 200, 1).found();
        println!("{}: {}", stack.name, if difference.is_some() { "found" } else { "cannot be seen" });
        found += usize::from(difference.is_some());
    }
    println!("FIGURE: channels that need a queue, called directly: {found} of {} seen", faulty.len());
    assert!(found >= 3, "{found} of {}", faulty.len());
}

/// The automaton with a wrong counter in one of its paths: a stored counter goes down, or a reported one does not
/// count.
fn with_wrong_count(mut automaton: Automaton) -> Option<Automaton> {
    let mut blocks = automaton.paths.iter_mut().flat_map(|path| &mut path.body.blocks);
    blocks.find_map(count_wrong)?;
    verify(&automaton).is_empty().then_some(automaton)
}

fn count_wrong(block: &mut Block) -> Option<()> {
    let set = |op: &Op| match op.kind {
        OpKind::Set { value, .. } => Some(value),
        _ => None,
    };
    let kept: Vec<Value> = block.ops.iter().filter_map(set).collect();
    let mut sums = block.ops.iter_mut().filter(|op| op.results.iter().any(|sum| kept.contains(sum)));
    let up = sums.find_map(|op| match &mut op.kind {
        OpKind::Binary { op: op @ Binary::AddWrap, .. } => Some(op),
        _ => None,
    });
    if let Some(up) = up {
        *up = Binary::SubWrap;
        return Some(());
    }
    let counts = block.ops.iter().position(|op| matches!(op.kind, OpKind::Count { .. }))?;
    block.ops.remove(counts);
    Some(())
}

/// As [`crate::library_agrees`] compares the stacks that it has in `./test`.
#[test]
fn a_path_that_counts_wrong_is_found() {
    let mut stacks = stacks::share(PATHS_IN_TEST);
    stacks.sort_by_key(|stack| stack.composed.bodies().map(|body| body.blocks.len()).sum::<usize>());
    stacks.truncate(3 * PATHS);
    let fused = fused(&stacks);
    let faulty = stacks.into_iter().zip(fused).filter_map(|(stack, fused)| Some((stack, with_wrong_count(fused)?)));
    let (stacks, fused): (Vec<Stack>, Vec<Automaton>) = faulty.take(PATHS).unzip();
    // A separate process: a fault may end it.
    let build = Build { transport: Transport::Process, ..build() };
    let Some(program) = built(&fused.iter().collect::<Vec<_>>(), &stacks, &build) else { return };
    let mut found = 0;
    for (place, stack) in stacks.iter().enumerate() {
        let difference = try_stack(stack, &program, place, 200, 1).found();
        println!("{}: {}", stack.name, if difference.is_some() { "found" } else { "not seen" });
        found += usize::from(difference.is_some());
    }
    println!("FIGURE: paths that count wrong: {found} of {} seen", stacks.len());
    assert!(found >= PATHS_SEEN, "{found} of {}", stacks.len());
}

/// `crates/emit_c/tests/faults.rs` finds each of them in `./test`; this test is about the stacks of `library_agrees`.
#[test]
#[ignore = "campaign: faults"]
fn faults_of_the_runtime_show_in_stacks_of_the_library() {
    let stacks = stacks::stacks();
    let build = Build { optimize: 0, transport: Transport::Process, faults: RUNTIME_FAULTS.to_vec(), ..build() };
    let Some(mut faulty) = program(stacks, &build) else { return };
    let search = |faulty: &Arc<CProgram>| {
        let tried = |place: usize| try_stack(&stacks[place], faulty, place, SEQUENCES, 1).found().is_some();
        (0..stacks.len()).find(|place| tried(*place)).map(|place| stacks[place].name.clone())
    };
    assert_eq!(search(&faulty), None, "no fault is switched on yet");
    let mut found = 0;
    for (number, fault) in RUNTIME_FAULTS.iter().enumerate() {
        faulty.set_fault(Some(number as u32));
        let stack = search(&faulty);
        println!("{fault}: {}", stack.as_deref().unwrap_or("in none of these stacks"));
        if stack.is_some() {
            found += 1;
            // It may have ended the program.
            faulty = program(stacks, &build).expect("it was built before");
        }
    }
    println!("FIGURE: faults of the runtime that stacks of the library show: {found} of {}", RUNTIME_FAULTS.len());
    assert!(found >= SHOWN, "{found}");
}
