//! Compares a stack with itself on every back end, by random inputs: `cargo run -p mokume-testkit --example compare --
//! file.ra [sequences] [steps]`.
//!
//! The file holds an uncomposed automaton (`mokume build --uncomposed --emit automaton`). The uncomposed interpreter is
//! the reference; the composed one, and C uncomposed and composed, must do the same. Prints the first difference of
//! each.

use std::sync::Arc;

use mokume_base::RealWorld;
use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_emit_c::{Build, CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Machine};
use mokume_testkit::together;

fn read(path: &str) -> Result<Automaton, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let text = mokume_testkit::split(&text).0;
    let mut map = SourceMap::default();
    let parsed = mokume_reaction::text::parse(map.add(path, text), text);
    match parsed.diagnostics.first() {
        Some(diagnostic) => Err(format!("{path}: {}", diagnostic.message)),
        None => Ok(Automaton { composition: None, ..parsed.automaton }),
    }
}

fn report(
    level: &str,
    layers: &Automaton,
    sequences: u64,
    steps: usize,
    make: &mut dyn FnMut(u64) -> Box<dyn Machine>,
) {
    for seed in 0..sequences {
        let mut first = Instance::new(layers, &[], seed);
        let mut second = make(seed);
        if let Some(difference) = together(layers, &mut first, second.as_mut(), seed, steps) {
            return println!("{level}: seed {seed}: {}\nafter\n  {}", difference.what, difference.inputs.join("\n  "));
        }
    }
    println!("{level}: {sequences} sequences of {steps} inputs agree");
}

fn compare(path: &str, sequences: u64, steps: usize) -> Result<(), String> {
    let layers = read(path)?;
    let composed = compose(&layers, Options::default());
    let composed = composed.automaton.ok_or_else(|| format!("{path}: {:?}", composed.findings))?;
    report("interpreter, composed", &layers, sequences, steps, &mut |seed| {
        Box::new(Instance::new(&composed, &[], seed))
    });
    let build = Build { optimize: 1, ..Build::new(&RealWorld, std::env::temp_dir().join("mokume-compare")) };
    let program = CProgram::build(&[&layers, &composed], &build).map_err(|error| error.to_string())?;
    let program = Arc::new(program);
    let params: Vec<u64> = layers.params.iter().map(|param| param.default.unwrap_or(0)).collect();
    for (place, level) in ["C, uncomposed", "C, composed"].into_iter().enumerate() {
        report(level, &layers, sequences, steps, &mut |seed| {
            let machine = CMachine::new(&program, place, &params, seed, Memory::default());
            Box::new(machine.unwrap_or_else(|error| panic!("{error}")))
        });
    }
    Ok(())
}

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else { return eprintln!("which file?") };
    let sequences = args.next().and_then(|text| text.parse().ok()).unwrap_or(20);
    let steps = args.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    if let Err(reason) = compare(&path, sequences, steps) {
        eprintln!("{reason}");
        std::process::exit(1);
    }
}
