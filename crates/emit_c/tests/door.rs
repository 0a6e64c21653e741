//! The ports of a stack in C behave like the interpreter's: when a reaction is refused, how time moves on, and when a
//! call ends.

use std::sync::Arc;

use crate::common::{build, right_files, run_files};
use mokume_emit_c::{CMachine, CProgram, Memory};
use mokume_interpret::{Instance, REACTIONS_PER_CALL};
use mokume_reaction::{Datum, Handle, Machine, Outcome, PortId};

const MEMORY: Memory = Memory { buffers: 512, buffer_octets: 8192, messages: 2048, outputs: 4096, reports: 4096 };
const APP: PortId = PortId(0);
const DEV: PortId = PortId(1);

/// A session of the stack without credit, `waiting` stored messages, and one more event at the port.
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
    let data = vec![0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 9];
    outcomes.push(machine.input(0, DEV, 0, &[Datum::Handle(dev), Datum::Message(data)]));
    outcomes
}

#[test]
fn a_pool_one_buffer_too_small() {
    let file = right_files().into_iter().find(|file| file.name == "fcfs_sequencer_credit.ra composed");
    let mut stack = file.expect("the stack").automaton;
    let peak = stack.composition.as_ref().expect("composed").peak;
    let waiting = 3;
    let mut refused = Vec::new();
    for pool in [waiting + peak, waiting + peak - 1] {
        stack.pool = pool;
        let program = Arc::new(CProgram::build(&[&stack], &build()).unwrap_or_else(|error| panic!("{error}")));
        let mut c = CMachine::new(&program, 0, &[], 0, MEMORY).expect("a machine");
        let mut interpreter = Instance::new(&stack, &[], 0);
        let (a, b) = (at_the_door(&mut c, waiting), at_the_door(&mut interpreter, waiting));
        assert_eq!(a, b, "pool {pool}");
        refused.push(a.last().expect("outcomes").refused);
    }
    assert_eq!(refused, [false, true]);
}

/// The stack of a run file, in C and on the interpreter.
fn both(name: &str) -> (CMachine, Instance) {
    let file = run_files().into_iter().find(|file| file.name == name).expect("a file of run tests");
    let program = Arc::new(CProgram::build(&[&file.automaton], &build()).unwrap_or_else(|error| panic!("{error}")));
    let c = CMachine::new(&program, 0, &[], 0, MEMORY).expect("a machine");
    (c, Instance::new(&file.automaton, &[], 0))
}

/// docs/semantics.md, T2.
#[test]
fn time_never_runs_backwards() {
    let (mut c, mut interpreter) = both("now_is_constant_in_a_reaction.ra composed");
    for machine in [&mut c as &mut dyn Machine, &mut interpreter] {
        machine.start(0);
        let times: Vec<Datum> = [10, 5, 0, 12]
            .into_iter()
            .map(|now| {
                machine.advance(now / 2);
                machine.input(now, APP, 0, &[]).outputs[0].args[0].clone()
            })
            .collect();
        assert_eq!(times, [10, 10, 10, 12].map(Datum::Word));
    }
}

/// docs/semantics.md, P5.
#[test]
fn a_word_is_cut_to_its_type() {
    let (mut c, mut interpreter) = both("order_down_before_up_needs_no_queue.ra composed");
    for machine in [&mut c as &mut dyn Machine, &mut interpreter] {
        machine.start(0);
        let frames = machine.input(0, PortId(0), 0, &[Datum::Word(0xf05)]).outputs;
        let words: Vec<&Datum> = frames.iter().map(|frame| &frame.args[0]).collect();
        assert_eq!(words, [&Datum::Word(0x85), &Datum::Word(5)]);
    }
}

/// docs/semantics.md, R8.
#[test]
fn a_call_ends_though_the_stack_never_rests() {
    let (mut c, mut interpreter) = both("calls_end_though_the_stack_never_rests.ra composed");
    for machine in [&mut c as &mut dyn Machine, &mut interpreter] {
        let mut counted = Vec::new();
        machine.start(0);
        for mode in [1, 0] {
            machine.input(3, APP, 0, &[Datum::Word(mode)]);
            counted.push(machine.accounts().counters[0].1);
            assert_eq!(machine.next_deadline(), Some(3), "what is left is due at once");
        }
        machine.advance(3);
        counted.push(machine.accounts().counters[0].1);
        let call = u64::from(REACTIONS_PER_CALL);
        // The event and this many after it; this many, the event that still gets through, and one more; this many.
        assert_eq!(counted, [1 + call, 1 + call + call + 1 + 1, 1 + call + call + 1 + 1 + call]);
    }
}

/// docs/semantics.md, P3: a handle that was never given out refers to nothing, whatever its bits. In C, the head of a
/// place without an object has such handles of its own.
#[test]
fn handles_that_nobody_was_given_are_refused() {
    let (mut c, mut interpreter) = both("ports_refuse_handles_of_the_ended.ra composed");
    let (close, name) = (1, 2);
    for machine in [&mut c as &mut dyn Machine, &mut interpreter] {
        machine.start(0);
        for round in 0..3 {
            for (object, bits) in (0..3).flat_map(|object| (0..4).map(move |bits| (object, bits))) {
                for generation in (0..4).map(|generation| bits << 30 | generation) {
                    let handle = [Datum::Handle(Handle { object, generation })];
                    let is_given = round == 1 && (object, generation) == (0, 0);
                    let outcome = machine.input(0, APP, name, &handle);
                    assert_eq!(outcome.refused, !is_given, "{round}: {object} {generation:#x}");
                    assert!(is_given || machine.input(0, APP, close, &handle).refused, "{object} {generation:#x}");
                }
            }
            // In the first round there is no object yet, in the last it has ended.
            let first = [Datum::Handle(Handle { object: 0, generation: 0 })];
            let next = if round == 0 { (0, &first[..0]) } else { (close, &first[..]) };
            assert_eq!(machine.input(0, APP, next.0, next.1).refused, round == 2);
        }
    }
}
