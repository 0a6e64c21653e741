//! `mokume test`: the `test` blocks of files, on the interpreter and in C.

use std::collections::BTreeMap;

use mokume_base::world::World;
use mokume_emit_c::{Build, CMachine, Memory};
use mokume_interpret::Instance;
use mokume_reaction::Automaton;
use mokume_script::{Failure as Difference, Script};
use mokume_semantics::program::Test;

use crate::compile::{self, Checked, Compiled};
use crate::failure::Failure;
use crate::machines::{self, Backend};

/// What one test did on one back end.
pub struct Outcome {
    pub test: String,
    pub file: String,
    pub line: u32,
    pub backend: Backend,
    pub differences: Vec<Difference>,
}

/// All tests of the files that were asked for.
pub struct Results {
    pub outcomes: Vec<Outcome>,
    /// Why C was left out, if it was.
    pub skipped: Option<Failure>,
    pub diagnostics: Vec<mokume_base::Diagnostic>,
}

/// Runs the tests whose name contains `filter`, on one back end or on both.
pub fn run(checked: &Checked, backend: Option<Backend>, filter: &str, world: &dyn World) -> Results {
    let mut results = Results { outcomes: Vec::new(), skipped: None, diagnostics: Vec::new() };
    let tests: Vec<&Test> = checked
        .program
        .tests
        .iter()
        .filter(|test| checked.roots.contains(&test.place().file) && test.name.contains(filter))
        .collect();
    let stacks = stacks_of(checked, &tests, world, &mut results);
    let mut scripts: Vec<(&Test, Script)> = Vec::new();
    for test in &tests {
        if let Some(compiled) = stacks.get(&test.stack.0) {
            let (script, diagnostics) = mokume_lower::test_script(
                &checked.program,
                (&compiled.uncomposed, &compiled.protocols),
                &checked.sources,
                test,
            );
            results.diagnostics.extend(diagnostics);
            scripts.extend(script.map(|script| (*test, script)));
        }
    }
    if backend != Some(Backend::C) {
        for (test, script) in &scripts {
            let compiled = &stacks[&test.stack.0];
            let automaton = &compiled.uncomposed;
            let params = mokume_script::parameters(automaton, script);
            let machine = Instance::new(automaton, &params, script.seed);
            let mut machine = machine.with_natives(compiled.natives.clone());
            let mut differences = mokume_script::judge(automaton, &compiled.written, script, &mut machine);
            differences.extend(beyond_the_peak(&compiled.composed, machine.most_held(), script));
            results.outcomes.push(outcome(checked, test, Backend::Interpreter, differences));
        }
    }
    if backend != Some(Backend::Interpreter) && !scripts.is_empty() {
        match run_in_c(checked, &scripts, &stacks, world) {
            Ok(outcomes) => results.outcomes.extend(outcomes),
            Err(failure) => results.skipped = Some(failure),
        }
    }
    results
}

/// Each stack that tests are of, compiled once, by its number.
fn stacks_of(checked: &Checked, tests: &[&Test], world: &dyn World, results: &mut Results) -> BTreeMap<u32, Compiled> {
    let mut stacks: BTreeMap<u32, Compiled> = BTreeMap::new();
    for test in tests {
        if !stacks.contains_key(&test.stack.0) {
            let (compiled, diagnostics) = compile::compile(checked, test.stack, world);
            results.diagnostics.extend(diagnostics);
            stacks.extend(compiled.map(|compiled| (test.stack.0, compiled)));
        }
    }
    stacks
}

/// All stacks of all tests as one program.
fn run_in_c(
    checked: &Checked,
    tests: &[(&Test, Script)],
    stacks: &BTreeMap<u32, Compiled>,
    world: &dyn World,
) -> Result<Vec<Outcome>, Failure> {
    let order: Vec<u32> = stacks.keys().copied().collect();
    let automata: Vec<&Automaton> = stacks.values().map(|compiled| &compiled.composed).collect();
    let build = Build { optimize: 1, ..Build::new(world, crate::cache::folder(world)) };
    let program = machines::program(&automata, &checked.natives.with(&automata, build))?;
    tests
        .iter()
        .map(|(test, script)| {
            let place = order.iter().position(|stack| *stack == test.stack.0).unwrap_or_default();
            let automaton = automata[place];
            let params = mokume_script::parameters(automaton, script);
            let machine = CMachine::new(&program, place, &params, script.seed, memory_of(automaton));
            let mut machine = machine.map_err(|error| Failure::of_program(error.to_string(), error.way_out()))?;
            let written = &stacks[&test.stack.0].written;
            let mut differences = mokume_script::judge(automaton, written, script, &mut machine);
            if machine.exhausted() > 0 {
                let reason = "the C program ran out of message buffers: a reaction makes more messages than tests have"
                    .to_string();
                let kind = mokume_script::FailureKind::Senseless { reason };
                differences.push(Difference { test: script.name.clone(), line: script.line, step: 0, kind });
            }
            Ok(outcome(checked, test, Backend::C, differences))
        })
        .collect()
}

/// What a reaction held at once is no more than composing counted (docs/semantics.md, M3).
fn beyond_the_peak(composed: &Automaton, held: u64, script: &Script) -> Option<Difference> {
    let peak = composed.composition.as_ref().map_or(0, |composition| composition.peak);
    if held <= u64::from(peak) {
        return None;
    }
    let reason = format!(
        "a reaction held {held} messages more than it began with, where composing counted {peak}: please report this"
    );
    let kind = mokume_script::FailureKind::Senseless { reason };
    Some(Difference { test: script.name.clone(), line: script.line, step: 0, kind })
}

/// All that composing asks for, so that no step is refused for want of it. The buffers take the longest message that there may
/// be; where they are very many, as long a one as this leaves room for.
fn memory_of(automaton: &Automaton) -> Memory {
    let buffers = automaton.pool.max(256);
    let longest = (1 << 16) + 512;
    let buffer_octets =
        u32::try_from(MOST_OCTETS / u64::from(buffers)).map_or(longest, |octets| octets.clamp(2048, longest));
    let outputs = machines::room_for_outputs(automaton);
    Memory { buffers, buffer_octets, messages: buffers * 4, outputs, reports: 256 }
}

/// What the buffers of one test take in all, if they are to hold frames at least: the machine touches what it uses alone.
const MOST_OCTETS: u64 = 2 << 30;

fn outcome(checked: &Checked, test: &Test, backend: Backend, differences: Vec<Difference>) -> Outcome {
    let file = checked.sources.file(test.span.file).name.clone();
    let (line, _) = checked.sources.line_column(test.span.file, test.span.start);
    Outcome { test: test.name.clone(), file, line, backend, differences }
}
