//! `mokume test`: the `test` blocks of files, on the interpreter and in C.

use std::collections::BTreeMap;
use std::sync::Arc;

use mokume_base::world::World;
use mokume_emit_c::{Build, CMachine, CProgram, Memory};
use mokume_interpret::Instance;
use mokume_reaction::Automaton;
use mokume_script::{Failure as Difference, Script};
use mokume_semantics::program::Test;

use crate::compile::{self, Checked, Compiled};
use crate::failure::{Blame, Failure};
use crate::machines::{self, Backend};

/// What one test did on one back end.
pub struct Outcome {
    pub test: String,
    pub file: String,
    pub line: u32,
    pub backend: Backend,
    pub differences: Vec<Difference>,
}

/// Tests that did not run in C, and why. Unless [`NotRun::is_skip`], something is wrong: they have neither passed nor failed.
pub struct NotRun {
    pub tests: usize,
    pub failure: Failure,
}

impl NotRun {
    /// Whether this machine has no compiler of C, which says nothing of the tests.
    pub fn is_skip(&self) -> bool {
        self.failure.blame == Blame::Machine
    }
}

/// All tests of the files that were asked for.
pub struct Results {
    pub outcomes: Vec<Outcome>,
    /// What was left out in C.
    pub not_run: Vec<NotRun>,
    pub diagnostics: Vec<mokume_base::Diagnostic>,
}

/// Runs the tests whose name contains `filter`, on one back end or on both.
pub fn run(checked: &Checked, backend: Option<Backend>, filter: &str, world: &dyn World) -> Results {
    let mut results = Results { outcomes: Vec::new(), not_run: Vec::new(), diagnostics: Vec::new() };
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
    if backend != Some(Backend::Interpreter) {
        leave_out_models(&stacks, &mut scripts, &mut results);
        if !scripts.is_empty() {
            let stacks = stacks.iter().filter(|(_, stack)| stack.by_models.is_none());
            let (tests, stacks) =
                (scripts.iter().collect::<Vec<_>>(), stacks.map(|(id, stack)| (*id, stack)).collect::<Vec<_>>());
            run_in_c(checked, &tests, &stacks, world, &mut results);
        }
    }
    results
}

/// What would run by the models of functions in C, and not by these, does not run in C.
fn leave_out_models(stacks: &BTreeMap<u32, Compiled>, scripts: &mut Vec<(&Test, Script)>, results: &mut Results) {
    for (id, stack) in stacks {
        let Some(failure) = &stack.by_models else { continue };
        let before = scripts.len();
        scripts.retain(|(test, _)| test.stack.0 != *id);
        let tests = before - scripts.len();
        match results.not_run.iter_mut().find(|known| known.failure == *failure) {
            Some(known) => known.tests += tests,
            None if tests > 0 => results.not_run.push(NotRun { tests, failure: failure.clone() }),
            None => {}
        }
    }
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

/// All stacks of all tests as one program: a start of the compiler costs more than a stack. Where it is refused, each stack by
/// itself, so that only the tests of those that are refused do not run.
fn run_in_c(
    checked: &Checked,
    tests: &[&(&Test, Script)],
    stacks: &[(u32, &Compiled)],
    world: &dyn World,
    results: &mut Results,
) {
    let automata: Vec<&Automaton> = stacks.iter().map(|(_, compiled)| &compiled.composed).collect();
    let build = Build { optimize: 1, ..Build::new(world, crate::cache::folder(world)) };
    match machines::program(&automata, &checked.natives.with(&automata, build)) {
        Ok(program) => {
            let played = tests.iter().filter_map(|(test, script)| {
                let place = stacks.iter().position(|(stack, _)| *stack == test.stack.0)?;
                let differences = play_in_c(stacks[place].1, (&program, place), script);
                Some(outcome(checked, test, Backend::C, differences))
            });
            results.outcomes.extend(played);
        }
        Err(failure) if failure.blame == Blame::Program && stacks.len() > 1 => {
            for stack in stacks {
                let of_stack = |test: &&&(&Test, Script)| test.0.stack.0 == stack.0;
                let own: Vec<_> = tests.iter().filter(of_stack).copied().collect();
                run_in_c(checked, &own, &[*stack], world, results);
            }
        }
        Err(failure) => results.not_run.push(NotRun { tests: tests.len(), failure }),
    }
}

/// One test, on the stack at `place` of a program.
fn play_in_c(compiled: &Compiled, (program, place): (&Arc<CProgram>, usize), script: &Script) -> Vec<Difference> {
    let automaton = &compiled.composed;
    let params = mokume_script::parameters(automaton, script);
    let mut machine = match CMachine::new(program, place, &params, script.seed, memory_of(automaton)) {
        Ok(machine) => machine,
        Err(error) => {
            return vec![senseless(script, format!("the stack does not run in C: {error}; {}", error.way_out()))]
        }
    };
    let mut differences = mokume_script::judge(automaton, &compiled.written, script, &mut machine);
    if machine.exhausted() > 0 {
        let reason = "the C program ran out of message buffers: a reaction makes more messages than tests have";
        differences.push(senseless(script, reason.to_string()));
    }
    differences
}

fn senseless(script: &Script, reason: String) -> Difference {
    let kind = mokume_script::FailureKind::Senseless { reason };
    Difference { test: script.name.clone(), line: script.line, step: 0, kind }
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
    Some(senseless(script, reason))
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
