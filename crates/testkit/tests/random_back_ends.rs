//! Random automata on every back end: the uncomposed interpreter is the reference, and generated C, uncomposed and
//! composed, must do the same, output for output.

use std::path::PathBuf;
use std::sync::Arc;

use mokume_base::RealWorld;
use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_emit_c::{Build, CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_reaction::Automaton;
use mokume_testkit::{generate, seeds, together, workers};

/// `MOKUME_SEEDS=from..to` uses others.
const SEEDS: std::ops::Range<u64> = 0..4;

fn automaton(seed: u64, text: &str) -> Automaton {
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add("random", text), text);
    let faults = mokume_reaction::verify::diagnose(&parsed.automaton, &parsed.places);
    let fault = parsed.diagnostics.iter().chain(&faults).next();
    assert!(fault.is_none(), "seed {seed}: {fault:?}\n{text}");
    parsed.automaton
}

const LEVELS: usize = 3;

/// The levels of a stack, by name; at the last one all procedures are inlined.
fn levels(uncomposed: Automaton) -> [(&'static str, Automaton); LEVELS] {
    let composed = compose(&uncomposed, Options::default()).automaton.expect("composes");
    let flat = mokume_analyse::flat(&composed).into_owned();
    [("uncomposed", uncomposed), ("composed", composed), ("flat", flat)]
}

#[test]
fn generated_c_does_what_the_reference_does() {
    compare("everything", seeds(SEEDS), generate::automaton, false);
}

/// If branches are counted, no procedure is inlined.
#[test]
fn procedures_in_c_do_what_the_reference_does() {
    compare("procedures", seeds(SEEDS), generate::automaton, true);
}

#[test]
fn workers_in_c_do_what_the_reference_does() {
    let seeds = seeds(SEEDS);
    compare("workers", seeds.start * 5..seeds.end * 5, workers, false);
}

/// Compares every stack of the seeds at every level, in one program.
fn compare(name: &str, seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> String, coverage: bool) {
    let stacks: Vec<(u64, &'static str, Automaton)> = seeds
        .flat_map(|seed| {
            let levels = levels(automaton(seed, &generate(seed)));
            levels.into_iter().map(move |(level, automaton)| (seed, level, automaton))
        })
        .collect();
    let automata: Vec<&Automaton> = stacks.iter().map(|(.., automaton)| automaton).collect();
    let build = Build {
        optimize: 1,
        coverage,
        ..Build::new(&RealWorld, PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    };
    let program = Arc::new(CProgram::build(&automata, &build).unwrap_or_else(|error| panic!("{error}")));
    let memory = Memory { buffers: 512, buffer_octets: 8192, messages: 2048, outputs: 4096, reports: 4096 };
    let mut failures = Vec::new();
    for (place, (seed, level, automaton)) in stacks.iter().enumerate() {
        // The flat automaton is compared with the original.
        let uncomposed = &stacks[place - place % LEVELS].2;
        let reference = Automaton { composition: None, ..uncomposed.clone() };
        for inputs in 0..10 {
            let mut first = Instance::new(&reference, &[], inputs);
            let params: Vec<u64> = automaton.params.iter().map(|param| param.default.unwrap_or(0)).collect();
            let mut second = CMachine::new(&program, place, &params, inputs, memory).expect("a machine");
            if let Some(difference) = together(automaton, &mut first, &mut second, inputs, 40) {
                let after = difference.inputs.join("\n  ");
                failures.push(format!("seed {seed} {level}, inputs {inputs}: {}\nafter\n  {after}", difference.what));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} stacks differ:\n{}", failures.len(), stacks.len(), failures.join("\n\n"));
}
