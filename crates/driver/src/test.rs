//! `mokume test`: the `test` blocks of files, on the interpreter and in C.

use std::collections::BTreeMap;

use mokume_base::world::World;
use mokume_emit_c::{Build, CMachine, Memory};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Report};
use mokume_semantics::program::{Arg, StepKind, Test};
use mokume_testkit::differ::Failure as Difference;
use mokume_testkit::script::{Action, Arg as ScriptArg, Count, Counted, Expect, ExpectedOutput, Script, Step};

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
        .filter(|test| checked.roots.contains(&test.span.file) && test.name.contains(filter))
        .collect();
    let mut stacks: BTreeMap<u32, Compiled> = BTreeMap::new();
    for test in &tests {
        if !stacks.contains_key(&test.stack.0) {
            let (compiled, diagnostics) = compile::compile(checked, test.stack);
            results.diagnostics.extend(diagnostics);
            if let Some(compiled) = compiled {
                stacks.insert(test.stack.0, compiled);
            }
        }
    }
    let known: Vec<&&Test> = tests.iter().filter(|test| stacks.contains_key(&test.stack.0)).collect();
    if backend != Some(Backend::C) {
        for test in &known {
            let automaton = &stacks[&test.stack.0].uncomposed;
            let script = script(automaton, test, checked);
            let params = mokume_testkit::run::parameters(automaton, &script);
            let mut machine = Instance::new(automaton, &params, script.seed);
            let differences = mokume_testkit::run::run(automaton, &script, &mut machine);
            results.outcomes.push(outcome(checked, test, Backend::Interpreter, differences));
        }
    }
    if backend != Some(Backend::Interpreter) && !known.is_empty() {
        match run_in_c(checked, &known, &stacks, world) {
            Ok(outcomes) => results.outcomes.extend(outcomes),
            Err(failure) => results.skipped = Some(failure),
        }
    }
    results
}

/// All stacks of all tests as one program.
fn run_in_c(
    checked: &Checked,
    tests: &[&&Test],
    stacks: &BTreeMap<u32, Compiled>,
    world: &dyn World,
) -> Result<Vec<Outcome>, Failure> {
    let order: Vec<u32> = stacks.keys().copied().collect();
    let automata: Vec<&Automaton> = stacks.values().map(|compiled| &compiled.composed).collect();
    let program = machines::program(&automata, &Build { optimize: 1, ..Build::new(machines::cache(world)) })?;
    let memory = Memory { buffers: 256, buffer_octets: 1 << 16, messages: 1024, outputs: 1024, reports: 256 };
    tests
        .iter()
        .map(|test| {
            let place = order.iter().position(|stack| *stack == test.stack.0).unwrap_or_default();
            let automaton = automata[place];
            let script = script(automaton, test, checked);
            let params = mokume_testkit::run::parameters(automaton, &script);
            let machine = CMachine::new(&program, place, &params, script.seed, memory);
            let mut machine = machine.map_err(|error| Failure::of_program(error.to_string(), "please report this"))?;
            let differences = mokume_testkit::run::run(automaton, &script, &mut machine);
            Ok(outcome(checked, test, Backend::C, differences))
        })
        .collect()
}

fn outcome(checked: &Checked, test: &Test, backend: Backend, differences: Vec<Difference>) -> Outcome {
    let file = checked.sources.file(test.span.file).name.clone();
    let (line, _) = checked.sources.line_column(test.span.file, test.span.start);
    Outcome { test: test.name.clone(), file, line, backend, differences }
}

/// A `test` block as the script that every machine plays.
pub fn script(automaton: &Automaton, test: &Test, checked: &Checked) -> Script {
    let line = |span: mokume_base::Span| checked.sources.line_column(span.file, span.start).0;
    let mut script = Script { name: test.name.clone(), line: line(test.span), ..Script::default() };
    for (name, words) in &test.settings {
        let parts = format!("{}.", name.text);
        let meant = automaton.params.iter().filter(|param| param.name == name.text || param.name.starts_with(&parts));
        script.params.extend(meant.map(|param| param.name.clone()).zip(words.iter().copied()));
    }
    for step in &test.steps {
        let place = line(step.span);
        let expect = match script.steps.last_mut() {
            Some(last) => &mut last.expect,
            None => &mut script.start,
        };
        match &step.kind {
            StepKind::Input { port, event, args } => {
                let args = args.iter().map(argument).collect();
                let action = Action::Input { port: port.text.clone(), event: event.text.clone(), args };
                script.steps.push(Step { action, expect: Expect::default(), line: place });
            }
            StepKind::After { nanoseconds } => {
                script.steps.push(Step { action: Action::After(*nanoseconds), expect: Expect::default(), line: place });
            }
            StepKind::Expect { outputs } => expect.outputs.extend(outputs.iter().map(|(port, event, args)| ExpectedOutput {
                port: port.text.clone(),
                event: event.text.clone(),
                args: args.iter().map(argument).collect(),
                at: None,
            })),
            StepKind::Dropped { reason, count } => {
                expect.counts.push(Count { what: Counted::Dropped(full_reason(automaton, reason)), total: *count });
            }
            StepKind::Consumed { reason, count } => {
                expect.counts.push(Count { what: Counted::Consumed(full_reason(automaton, reason)), total: *count });
            }
            StepKind::Reported { report, count } => {
                let report = match report.as_str() {
                    "overflow" => Report::Overflow,
                    "division" => Report::DivisionByZero,
                    "narrow" => Report::Narrow,
                    "misuse" => Report::Misuse,
                    _ => Report::Bounds,
                };
                expect.reports.extend(std::iter::repeat_n(report, *count as usize));
            }
        }
    }
    script
}

/// A test may leave the layer's name out where one layer alone has the reason.
fn full_reason(automaton: &Automaton, reason: &str) -> String {
    let end = format!(".{reason}");
    let mut known = automaton.reasons.iter().filter(|known| known.name == reason || known.name.ends_with(&end));
    match (known.next(), known.next()) {
        (Some(one), None) => one.name.clone(),
        _ => reason.to_string(),
    }
}

fn argument(arg: &Arg) -> ScriptArg {
    match arg {
        Arg::Word(word) => ScriptArg::Word(*word),
        Arg::Octets(octets) => ScriptArg::Octets(octets.clone()),
        Arg::Bind(name) => ScriptArg::Bind(name.clone()),
        Arg::Handle(name) => ScriptArg::Name(name.clone()),
        Arg::Any => ScriptArg::Any,
    }
}
