//! The interpreter against generated C: random sequences on every stack of `tests/run` and `tests/reaction/right`.

use std::sync::Arc;

use crate::common::{self, automata, build, right_files, run_files};
use mokume_emit_c::drive::{drive, Drive};
use mokume_emit_c::{Build, CMachine, CProgram, MachineError, Memory};
use mokume_interpret::Instance;
use mokume_reaction::Machine as _;

/// Little memory, so that a new instance is cheap; sequences here hold few messages.
const MEMORY: Memory = Memory { buffers: 512, buffer_octets: 8192, messages: 2048, outputs: 4096, reports: 4096 };

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn interpreter_and_c_agree() {
    let mut files = run_files();
    files.extend(right_files());
    let build = match std::env::var("SANITIZE") {
        Ok(_) => common::sanitized(),
        Err(_) => Build { coverage: true, ..build() },
    };
    let program = Arc::new(CProgram::build(&automata(&files), &build).unwrap_or_else(|error| panic!("{error}")));
    // A part of a name in `ONLY`, and `SEQUENCES`, for a longer run of one stack.
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut failures = Vec::new();
    for (stack, file) in files.iter().enumerate().filter(|(_, file)| file.name.contains(&only)) {
        let options = Drive { sequences: setting("SEQUENCES", 60), seed: setting("SEED", 1), ..Drive::default() };
        let machine = CMachine::new(&program, stack, &[], 0, MEMORY).expect("a machine");
        let subject = |params: &[u64], seed: u64| {
            machine.reset(params, seed);
            &machine
        };
        let reference = |params: &[u64], seed: u64| Instance::new(&file.automaton, params, seed);
        match drive(&file.automaton, options, reference, subject) {
            Ok(summary) => {
                let coverage = machine.coverage();
                let taken = coverage.iter().filter(|(.., times)| *times > 0).count();
                let all = coverage.len();
                if std::env::var("UNTAKEN").is_ok() {
                    for (unit, block, target, _) in coverage.iter().filter(|(.., times)| *times == 0) {
                        let label = &unit.body(&file.automaton).blocks[*block].label;
                        println!("    not taken: {} {label} target {target}", unit.name(&file.automaton));
                    }
                }
                println!("{}: {summary:?}; branches taken {taken} of {all}", file.name);
            }
            Err(_) if machine.failure().is_some() => panic!("{}: {}", file.name, machine.failure().unwrap_or_default()),
            Err(difference) => failures.push(format!("{}: {difference}", file.name)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A tunnel's buffers were more than this machine has, and were all touched at the start.
#[test]
fn buffers_that_nobody_uses_cost_no_memory() {
    let files = run_files();
    let automata = automata(&files[..1]);
    let program = CProgram::build(&automata, &build()).unwrap_or_else(|error| panic!("{error}"));
    let many = Memory { buffers: 1 << 20, buffer_octets: 1 << 17, messages: 1 << 21, ..MEMORY };
    let mut machine = CMachine::new(&Arc::new(program), 0, &[], 0, many).unwrap_or_else(|error| panic!("{error}"));
    machine.start(0);
    assert_eq!((machine.failure(), machine.exhausted()), (None, 0));
}

/// A lack of memory must not end the user's process.
#[test]
fn a_machine_that_there_is_no_memory_for_is_refused() {
    let files = run_files();
    let program = CProgram::build(&automata(&files[..1]), &build()).unwrap_or_else(|error| panic!("{error}"));
    let greedy = Memory { buffers: u32::MAX, buffer_octets: 1 << 30, ..MEMORY };
    match CMachine::new(&Arc::new(program), 0, &[], 0, greedy) {
        Err(MachineError::NoMemory { octets, .. }) => assert!(octets > 1 << 40, "{octets}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a machine of 4 billion buffers"),
    }
}
