//! Every run test, on generated C: plain, with sanitizers, and with a second compiler. All stacks are one program.

use std::sync::Arc;

use crate::common::{automata, build, run_files};
use mokume_emit_c::{Build, CMachine, CProgram, Memory, Sanitize, Transport};
use mokume_testkit::{parameters, run};

fn play(build: &Build) {
    let files = run_files();
    let program = match CProgram::build(&automata(&files), build) {
        Ok(program) => Arc::new(program),
        Err(error) => panic!("{error}"),
    };
    let (mut tests, mut failures) = (0, Vec::new());
    for (stack, file) in files.iter().enumerate() {
        for script in &file.scripts {
            let params = parameters(&file.automaton, script);
            let memory = Memory { buffers: 64, buffer_octets: 1 << 16, ..Memory::default() };
            let mut machine = CMachine::new(&program, stack, &params, script.seed, memory).expect("a machine");
            let found = run(&file.automaton, script, &mut machine);
            failures.extend(found.iter().map(|failure| format!("{}: {failure}", file.name)));
            failures.extend(machine.failure().map(|reason| format!("{}: {}: {reason}", file.name, script.name)));
            if machine.failure().is_some() {
                panic!("{}", failures.join("\n\n"));
            }
            if machine.exhausted() > 0 {
                failures.push(format!("{}: {}: memory ran out", file.name, script.name));
            }
            tests += 1;
        }
    }
    assert!(failures.is_empty(), "{} of {tests} tests:\n{}", failures.len(), failures.join("\n\n"));
    assert!(tests > 0);
}

#[test]
fn compiled_plainly() {
    play(&build());
}

#[test]
fn with_sanitizers() {
    play(&Build { optimize: 0, sanitize: Sanitize::AddressUndefined, transport: Transport::Process, ..build() });
}

#[test]
fn with_clang() {
    if std::process::Command::new("clang").arg("--version").output().is_err() {
        return println!("SKIPPED: clang is not installed");
    }
    play(&Build { compiler: Some("clang".into()), small: true, ..build() });
}

/// It knows no thread-local variables, and no struct as the value of a part of another one.
#[test]
fn with_tcc() {
    match mokume_testkit::quick_compiler() {
        None => println!("SKIPPED: tcc is not installed"),
        compiler => play(&Build { compiler, ..build() }),
    }
}
