//! Many seeds in C: a host takes the memory of a host of an earlier run, and must not notice.

use std::path::Path;
use std::time::Duration;

use mokume_base::world::RealWorld;
use mokume_base::Invocation;
use mokume_emit_c::{Build, RUNTIME_FAULTS};
use mokume_reaction::Accounts;

use super::*;

const SEEDS: std::ops::Range<u64> = 1..4;

/// What a run did: all its events, and what became of each host's messages.
type Seen = (String, Vec<Accounts>);

fn seen(prepared: &Prepared<'_>, seed: u64) -> Seen {
    let how = How { seed, keep: Keep::All, weather: Sky::Seeded };
    let run = prepared.run(how, &RealWorld, &mut |_| ()).expect("a run");
    let text = prepared.record(&run).text();
    (text, run.hosts.into_iter().map(|host| host.accounts).collect())
}

/// Has the stacks in C, in a program that has no memory yet, with faults of the runtime that can be switched on.
fn renew(stacks: &BTreeMap<u32, Compiled>) {
    for compiled in stacks.values() {
        let build = Build::new(&RealWorld, crate::cache::folder(&RealWorld));
        let build = Build { optimize: 1, faults: RUNTIME_FAULTS.to_vec(), ..build };
        let program = machines::program(&[compiled.for_c()], &build).expect("C");
        *compiled.in_c.lock().expect("nobody else has it") = Some(program);
    }
}

fn set_fault(stacks: &BTreeMap<u32, Compiled>, fault: Option<&str>) {
    let number = RUNTIME_FAULTS.iter().position(|known| Some(*known) == fault);
    assert_eq!(number.is_some(), fault.is_some());
    for compiled in stacks.values() {
        let program = compiled.in_c.lock().expect("nobody else has it");
        program.iter().for_each(|program| program.set_fault(number.map(|number| number as u32)));
    }
}

/// The runs of all seeds, each by hosts that have memory of their own; the same, one after the other in the same memory; and, if
/// nobody clears memory, the same again.
fn runs(file: &str) -> [Vec<Seen>; 3] {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file).to_string_lossy().into_owned();
    let checked = compile::check(&RealWorld, &[file]).expect("a file without mistakes");
    let network = choose(&checked, None).expect("one network");
    let stacks = sound_stacks(&checked, network, &RealWorld).expect("stacks without mistakes");
    let prepared = Prepared::new(&checked, network, &stacks, Backend::C).expect("a network that can run");
    let alone = |seed| {
        renew(&stacks);
        seen(&prepared, seed)
    };
    let alone = SEEDS.map(alone).collect();
    renew(&stacks);
    let all = || SEEDS.map(|seed| seen(&prepared, seed)).collect();
    let in_turn = all();
    let compared = || {
        let prepared = Prepared::new(&checked, network, &stacks, Backend::C)?.against(Backend::Interpreter)?;
        let asked = seeds::Asked { first: SEEDS.start, count: SEEDS.end - SEEDS.start, jobs: 1, every: 2 };
        seeds::run(&prepared, asked, &RealWorld, &mut |_| ())
    };
    assert_eq!(compared().expect("runs").len(), 0, "C does as the interpreter");
    set_fault(&stacks, Some("memory_kept"));
    let kept = all();
    // Of three seeds the first and the third are compared.
    let found = compared().expect("runs");
    let seen: Vec<u64> =
        found.iter().filter(|of| of.wrong.iter().any(Failed::is_of_comparing)).map(|of| of.seed).collect();
    assert_eq!(seen, [1, 3], "{found:?}");
    set_fault(&stacks, None);
    [alone, in_turn, kept]
}

/// `file` has one network.
fn seeds_in_turn_are_seeds_alone(file: &str) {
    let compiler = Invocation::of(machines::compiler(&RealWorld)).args(["--version"]);
    if RealWorld.run(&compiler, &[], Duration::from_secs(10)).is_err() {
        return println!("SKIPPED: no C compiler");
    }
    let [alone, in_turn, kept] = runs(file);
    for (place, seed) in SEEDS.enumerate() {
        assert!(alone[place].0 == in_turn[place].0, "{file}, seed {seed}: another log");
        assert_eq!(alone[place].1, in_turn[place].1, "{file}, seed {seed}");
    }
    // The planted fault: memory that is not cleared has something of its former host.
    let differ: Vec<u64> =
        SEEDS.zip(alone.iter().zip(&kept)).filter(|(_, (one, other))| one != other).map(|(seed, _)| seed).collect();
    println!("{file}: without clearing, seeds {differ:?} differ");
    assert!(!differ.is_empty(), "{file}: nobody took the memory of another");
}

#[test]
fn sessions_in_the_memory_of_earlier_ones() {
    seeds_in_turn_are_seeds_alone("examples/courier.mok");
}

/// With hosts that crash, and begin again in the same run.
#[test]
fn groups_in_the_memory_of_earlier_ones() {
    seeds_in_turn_are_seeds_alone("examples/store.mok");
}
