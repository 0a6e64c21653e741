//! Random stacks that ask many questions, with paths in C and every recall checked: they do what the interpreter does
//! with the layers.
//!
//! `MOKUME_SEEDS=100..500` uses other seeds, `SANITIZE=1` builds the C with sanitizers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use mokume_base::{FileId, RealWorld};
use mokume_compose::{compose, Options};
use mokume_emit_c::{Build, CMachine, CProgram, Memory, Sanitize, Transport};
use mokume_interpret::Instance;
use mokume_reaction::profile::Profile;
use mokume_reaction::{text, Automaton};
use mokume_testkit::{asking, seeds, together, workers};

/// Inputs of a run, and runs of each stack.
const STEPS: usize = 60;
const RUNS: u64 = 8;
/// Stacks in one program.
const TOGETHER: u64 = 20;

/// The ways that reactions take.
fn seen(composed: &Automaton) -> Profile {
    let profile = Arc::new(Mutex::new(Profile::default()));
    let open = mokume_analyse::laid_open(composed).into_owned();
    for run in 0..RUNS {
        let mut watched = Instance::new(&open, &[], run);
        watched.record_ways(profile.clone());
        together(&open, &mut Instance::new(composed, &[], run), &mut watched, run, STEPS);
    }
    let seen = profile.lock().unwrap().clone();
    seen
}

fn parsed(written: &str) -> Automaton {
    let parsed = text::parse(FileId(0), written);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{written}", parsed.diagnostics);
    parsed.automaton
}

/// The differences of some stacks.
fn differences(name: &str, seeds: std::ops::Range<u64>, generate: &dyn Fn(u64) -> String) -> (usize, Vec<String>) {
    let mut stacks: Vec<(u64, &str, Automaton, Automaton)> = Vec::new();
    for seed in seeds {
        let layers = parsed(&generate(seed));
        let composed = compose(&layers, Options::default()).automaton.expect("it composes");
        let profile = seen(&composed);
        let by_profile = mokume_fuse::with_memos(&composed, &profile, 0);
        let by_words = mokume_fuse::with_memos(&composed, &Profile::default(), 0);
        let plain = mokume_fuse::with_paths(&composed, &profile);
        stacks.push((seed, "memos by a profile", layers.clone(), by_profile));
        stacks.push((seed, "memos", layers.clone(), by_words));
        stacks.push((seed, "paths by a profile", layers, plain));
    }
    let paths = stacks.iter().map(|stack| stack.3.paths.len()).sum();
    let automata: Vec<&Automaton> = stacks.iter().map(|stack| &stack.3).collect();
    let is_watched = std::env::var_os("SANITIZE").is_some();
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("random_paths");
    let build = Build { optimize: 1, check_memos: true, ..Build::new(&RealWorld, cache) };
    let build = match is_watched {
        true => Build { sanitize: Sanitize::AddressUndefined, transport: Transport::Process, ..build },
        false => build,
    };
    let program = Arc::new(CProgram::build(&automata, &build).unwrap_or_else(|error| panic!("{error}")));
    let memory = Memory { buffers: 512, buffer_octets: 8192, messages: 2048, outputs: 4096, reports: 4096 };
    let mut found = Vec::new();
    for (place, (seed, kind, layers, fused)) in stacks.iter().enumerate() {
        let params: Vec<u64> = fused.params.iter().map(|param| param.default.unwrap_or(0)).collect();
        for run in 0..RUNS {
            let mut reference = Instance::new(layers, &[], run);
            let mut machine = CMachine::new(&program, place, &params, run, memory).expect("a machine");
            let difference = together(layers, &mut reference, &mut machine, run, STEPS);
            let ended = machine.failure().map(|why| format!("the program ended: {why}"));
            let shown = difference.map(|found| format!("{}\nafter\n  {}", found.what, found.inputs.join("\n  ")));
            if let Some(shown) = ended.or(shown) {
                found.push(format!("{name} {seed} {kind}, run {run}: {shown}"));
                break;
            }
        }
    }
    (paths, found)
}

fn compare(name: &str, seeds: std::ops::Range<u64>, generate: impl Fn(u64) -> String) {
    let (mut paths, mut found) = (0, Vec::new());
    let all = seeds.end - seeds.start;
    for from in seeds.clone().step_by(TOGETHER as usize) {
        let (some, wrong) = differences(name, from..(from + TOGETHER).min(seeds.end), &generate);
        paths += some;
        found.extend(wrong);
    }
    println!("FIGURE: random {name} in C: {all} stacks, {paths} paths, {} differences", found.len());
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n\n"));
}

#[test]
fn paths_of_stacks_that_ask_do_in_c_what_the_layers_do() {
    compare("asking", seeds(0..8), asking);
}

#[test]
fn paths_of_workers_do_in_c_what_the_layers_do() {
    compare("workers", seeds(0..4), workers);
}
