//! The door of a stack in C: a reaction is refused exactly when the pool has no room for it, as in the interpreter.

use std::sync::Arc;

use crate::common::{build, right_files};
use mokume_emit_c::{CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_reaction::{Datum, Handle, Machine, Outcome, PortId};

const MEMORY: Memory = Memory { buffers: 512, buffer_octets: 8192, messages: 2048, outputs: 4096, reports: 4096 };
const APP: PortId = PortId(0);
const DEV: PortId = PortId(1);

/// A session of the stack without credit, `waiting` messages kept, and one more event at the door.
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
