//! Planted faults, in the runtime and in the generated code: a run test or the differential driver must find each.
//! Without these a passing test would prove nothing.

use std::sync::Arc;

use crate::common::{self, build, right_files, run_files, RunFile};
use mokume_emit_c::drive::{drive, Drive};
use mokume_emit_c::{emit, Build, CMachine, CProgram, Generated, Memory, Options, Transport, RUNTIME_FAULTS};
use mokume_interpret::Instance;
use mokume_reaction::Automaton;
use mokume_testkit::{parameters, run};

const MEMORY: Memory = Memory { buffers: 256, buffer_octets: 1 << 16, messages: 1024, outputs: 4096, reports: 4096 };

/// A separate process: a fault may end it.
fn apart() -> Build<'static> {
    Build { optimize: 0, transport: Transport::Process, faults: RUNTIME_FAULTS.to_vec(), ..build() }
}

fn program(files: &[RunFile], build: &Build) -> Arc<CProgram> {
    Arc::new(CProgram::build(&common::automata(files), build).unwrap_or_else(|error| panic!("{error}")))
}

/// The first test of these files that notices the fault, if any.
fn tests_notice(program: &Arc<CProgram>, files: &[RunFile]) -> Option<String> {
    for (stack, file) in files.iter().enumerate() {
        for script in &file.scripts {
            let params = parameters(&file.automaton, script);
            let Ok(mut machine) = CMachine::new(program, stack, &params, script.seed, MEMORY) else {
                return Some(format!("{}: the program had ended", file.name));
            };
            let found = run(&file.automaton, script, &mut machine);
            if !found.is_empty() || machine.failure().is_some() {
                return Some(format!("{}: \"{}\"", file.name, script.name));
            }
        }
    }
    None
}

/// The first file on which random sequences notice the fault, if any.
fn driver_notices(program: &Arc<CProgram>, files: &[RunFile], sequences: u64) -> Option<String> {
    for (stack, file) in files.iter().enumerate() {
        let Ok(machine) = CMachine::new(program, stack, &[], 0, MEMORY) else {
            return Some(format!("{}: the program had ended", file.name));
        };
        let subject = |params: &[u64], seed: u64| {
            machine.reset(params, seed);
            &machine
        };
        let reference = |params: &[u64], seed: u64| Instance::new(&file.automaton, params, seed);
        let options = Drive { sequences, ..Drive::default() };
        let found = drive(&file.automaton, options, reference, subject);
        if found.is_err() || machine.failure().is_some() {
            return Some(format!("{}, by random sequences", file.name));
        }
    }
    None
}

#[test]
fn faults_of_the_runtime_are_found() {
    let files: Vec<RunFile> = run_files();
    let others = right_files();
    let build = apart();
    assert_eq!(tests_notice(&program(&files, &build), &files), None, "no fault is switched on yet");
    let mut missed = Vec::new();
    for (number, fault) in RUNTIME_FAULTS.iter().enumerate() {
        let faulty = program(&files, &build);
        faulty.set_fault(Some(number as u32));
        let found = tests_notice(&faulty, &files).or_else(|| {
            let faulty = program(&others, &build);
            faulty.set_fault(Some(number as u32));
            driver_notices(&faulty, &others, 20)
        });
        let found = found.or_else(|| {
            let own = files.iter().position(|file| file.name.starts_with("maps_remove"))?;
            let faulty = program(&files[own..=own], &build);
            faulty.set_fault(Some(number as u32));
            driver_notices(&faulty, &files[own..=own], 50)
        });
        match found {
            Some(found) => println!("{fault}: {found}"),
            None => missed.push(*fault),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// A change of generated text that simulates a fault of the generator.
struct Mutation {
    name: &'static str,
    /// A part of the name of the file that is changed.
    file: &'static str,
    change: fn(&str) -> Option<String>,
}

/// Replaces a text at its first occurrence after another text.
fn replace(source: &str, behind: &str, from: &str, to: &str) -> Option<String> {
    let start = source.find(behind)?;
    let at = start + source[start..].find(from)?;
    Some(format!("{}{to}{}", &source[..at], &source[at + from.len()..]))
}

/// Disables the first line that contains a text, after another text; its variables stay used.
fn without_line(source: &str, behind: &str, holding: &str) -> Option<String> {
    let start = source.find(behind)?;
    let at = start + source[start..].find(holding)?;
    let line = source[..at].rfind('\n')? + 1;
    Some(format!("{}if (k == NULL) {}", &source[..line], &source[line..]))
}

const GENERATOR: &[Mutation] = &[
    Mutation {
        name: "a decoder does not look at a length",
        file: "udp_ipv4_ethernet.ra uncomposed",
        change: |source| without_line(source, "static MK_UNUSED uint32_t read_ip(", "end = (uint32_t)"),
    },
    Mutation {
        name: "an encoder leaves a checksum out",
        file: "udp_ipv4_ethernet.ra uncomposed",
        change: |source| {
            replace(source, "static MK_UNUSED void encode_", "mk_checksum(packet,", "0 * mk_checksum(packet,")
        },
    },
    Mutation {
        name: "an emission goes before an older one",
        file: "order_a_channel_is_fifo.ra uncomposed",
        change: |source| Some(source.replace("HANDLER_low_E_tell, 0,", "HANDLER_low_E_tell, MK_DIRECT,")),
    },
    Mutation {
        name: "an array that another is made of changes",
        file: "arrays_are_values.ra uncomposed",
        change: |source| replace(source, "/* c.E.change_it */", "w.at[i] = n", "v.at[i] = n"),
    },
    Mutation {
        name: "what was known of an object that has ended is kept",
        file: "gone_events_for_those_who_have_ended.ra fused",
        change: |source| without_line(source, "static void clear_b_S(", "mk_forget("),
    },
    Mutation {
        name: "what was known of a cell that is written is kept",
        file: "gone_events_for_those_who_have_ended.ra fused",
        change: |source| replace(source, "/* a.E.opened */", "mk_forget(&k->memos)", "(void)k->memos"),
    },
    Mutation {
        name: "an emission's argument is lost",
        file: "loops_emit_in_rounds.ra uncomposed",
        change: |source| replace(source, "/* a.E.go */", "event->args[0] = ", "event->args[0] = 0 * "),
    },
];

#[test]
fn faults_of_the_generator_are_found() {
    let all: Vec<RunFile> = run_files().into_iter().chain(right_files()).collect();
    let (mut files, mut generated): (Vec<RunFile>, Vec<Generated>) = (Vec::new(), Vec::new());
    for (number, mutation) in GENERATOR.iter().enumerate() {
        let file = all.iter().find(|file| file.name.contains(mutation.file)).expect(mutation.file);
        let options = Options { prefix: format!("m{number}"), coverage: true, ..Options::default() };
        let mut stack = emit(&file.automaton, &options).expect("C");
        let changed = (mutation.change)(&stack.source);
        stack.source = changed.unwrap_or_else(|| panic!("{}: nothing to change in\n{}", mutation.name, stack.source));
        generated.push(stack);
        let (name, automaton, scripts) = (mutation.name.to_string(), file.automaton.clone(), file.scripts.clone());
        files.push(RunFile { name, automaton, scripts });
    }
    let build = Build { faults: Vec::new(), coverage: true, ..apart() };
    let mut missed = Vec::new();
    let automata: Vec<&Automaton> = files.iter().map(|file| &file.automaton).collect();
    for (stack, file) in files.iter().enumerate() {
        let program = CProgram::compile(&automata, generated.clone(), &build).unwrap_or_else(|error| panic!("{error}"));
        let program = Arc::new(program);
        let machine = CMachine::new(&program, stack, &[], 0, MEMORY).expect("a machine");
        let subject = |params: &[u64], seed: u64| {
            machine.reset(params, seed);
            &machine
        };
        let reference = |params: &[u64], seed: u64| Instance::new(&file.automaton, params, seed);
        let options = Drive { sequences: 150, steps: 300, ..Drive::default() };
        let found = drive(&file.automaton, options, reference, subject);
        match found {
            Err(difference) => println!("{}: after {} steps", file.name, difference.step),
            Ok(summary) => missed.push(format!("{}: {summary:?}", file.name)),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
