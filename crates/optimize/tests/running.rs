//! Fused stacks as C against the layers in the interpreter: random events, all passes, paths seen to be taken; and a door that
//! is shut when the pool is one buffer too small, for fused and layered code alike.

mod common;

use std::path::PathBuf;
use std::sync::Arc;

use common::{composed, STACKS};
use mokume_emit_c::drive::{drive, Drive};
use mokume_emit_c::{Build, CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_optimize::{fuse_with, Passes};
use mokume_reaction::{Automaton, Datum, Effect, Handle, LensValue, Machine, Outcome, PortId, Term};

const MEMORY: Memory = Memory { buffers: 512, buffer_octets: 8192, messages: 2048, outputs: 4096, reports: 4096 };

fn build() -> Build {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fused");
    Build { optimize: 1, coverage: true, ..Build::new(cache) }
}

#[test]
fn fused_stacks_do_what_the_layers_do() {
    let budget = Passes { template: false, ..Passes::ALL };
    let mut stacks: Vec<(String, Automaton)> = Vec::new();
    for (name, file) in STACKS.iter().chain(&OTHERS) {
        for (level, passes) in [("plain", Passes::NONE), ("budget", budget), ("all", Passes::ALL)] {
            stacks.push((format!("{name}, {level}"), fuse_with(&composed(file), passes)));
        }
    }
    let automata: Vec<&Automaton> = stacks.iter().map(|(_, automaton)| automaton).collect();
    let program = Arc::new(CProgram::build(&automata, &build()).unwrap_or_else(|error| panic!("{error}")));
    for (index, (name, automaton)) in stacks.iter().enumerate() {
        let machine = CMachine::new(&program, index, &[], 0, MEMORY).expect("a machine");
        let layers = Automaton { lenses: Vec::new(), paths: Vec::new(), ..automaton.clone() };
        let reference = |params: &[u64], seed: u64| Instance::new(&layers, params, seed);
        let subject = |params: &[u64], seed: u64| {
            machine.reset(params, seed);
            &machine
        };
        let options = Drive { sequences: 300, ..Drive::default() };
        if let Err(difference) = drive(automaton, options, reference, subject) {
            panic!("{name}: {difference}");
        }
        println!("FIGURE: {name}: 300 random runs of C and interpreter agree; paths taken {:?}", machine.paths());
    }
}

const OTHERS: [(&str, &str); 4] = [
    ("two_sessions", "tests/fuse/two_sessions.ra"),
    ("octet_credit", "tests/fuse/octet_credit.ra"),
    ("library morpheus", "tests/fuse/library/morpheus.ra"),
    ("library drawn2", "tests/fuse/library/drawn2.ra"),
];

const APP: PortId = PortId(0);
const DEV: PortId = PortId(1);

/// A session of the Morpheus stack without credit, `waiting` messages kept, and one more event at the door.
fn at_the_door(machine: &mut dyn Machine, waiting: u32) -> Vec<Outcome> {
    let mut outcomes = vec![machine.start(0)];
    let opened = machine.input(0, APP, 0, &[Datum::Word(1), Datum::Word(2)]);
    let handle = |port: PortId| -> Handle {
        let output = opened.outputs.iter().find(|output| output.port == port).expect("opened");
        let Datum::Handle(handle) = output.args[0] else { panic!("no handle") };
        handle
    };
    let (app, dev) = (handle(APP), handle(DEV));
    // 32 leave; the others wait, each in a buffer.
    for _ in 0..32 + waiting {
        outcomes.push(machine.input(0, APP, 1, &[Datum::Handle(app), Datum::Message(vec![7; 4])]));
    }
    // Data: the common path, if there is room for a reaction at all.
    outcomes.push(machine.input(
        0,
        DEV,
        0,
        &[Datum::Handle(dev), Datum::Message(vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 9])],
    ));
    outcomes
}

#[test]
fn a_pool_one_buffer_too_small() {
    let mut stack = fuse_with(&composed(STACKS[0].1), Passes::ALL);
    let peak = stack.composition.as_ref().expect("composed").peak;
    let waiting = 3;
    let mut outcomes = Vec::new();
    for pool in [waiting + peak, waiting + peak - 1] {
        stack.pool = pool;
        let program = Arc::new(CProgram::build(&[&stack], &build()).unwrap_or_else(|error| panic!("{error}")));
        let mut fused = CMachine::new(&program, 0, &[], 0, MEMORY).expect("a machine");
        let layers = Automaton { lenses: Vec::new(), paths: Vec::new(), ..stack.clone() };
        let mut layered = Instance::new(&layers, &[], 0);
        let (a, b) = (at_the_door(&mut fused, waiting), at_the_door(&mut layered, waiting));
        assert_eq!(a, b, "pool {pool}");
        assert!(fused.paths().iter().sum::<u64>() > 0, "no path was taken");
        outcomes.push(a.last().expect("outcomes").refused);
    }
    assert_eq!(outcomes, [false, true], "refused at the door exactly when the pool is one buffer too small");
}

/// A check that has never failed proves nothing: a path that moves its base by two is found by running, too.
#[test]
fn a_wrong_path_is_found_by_running() {
    let mut fused = fuse_with(&composed(STACKS[0].1), Passes::ALL);
    let step = fused.paths[0].commit.iter_mut().find_map(|effect| match effect {
        Effect::SetLens { value: LensValue::Term(Term::Binary { b, .. }), .. } => Some(b),
        _ => None,
    });
    **step.expect("the base moves") = Term::Number { width: 32, value: 2 };
    let program = Arc::new(CProgram::build(&[&fused], &build()).unwrap_or_else(|error| panic!("{error}")));
    let machine = CMachine::new(&program, 0, &[], 0, MEMORY).expect("a machine");
    let layers = Automaton { lenses: Vec::new(), paths: Vec::new(), ..fused.clone() };
    let reference = |params: &[u64], seed: u64| Instance::new(&layers, params, seed);
    let subject = |params: &[u64], seed: u64| {
        machine.reset(params, seed);
        &machine
    };
    let options = Drive { sequences: 300, ..Drive::default() };
    assert!(drive(&fused, options, reference, subject).is_err());
}
