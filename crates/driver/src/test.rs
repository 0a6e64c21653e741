//! `mokume test`: the `test` blocks of files, on the interpreter and in C.

mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use mokume_base::world::World;
use mokume_base::FileId;
use mokume_emit_c::{Build, CMachine, CProgram, Memory, REPORTS};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Machine};
use mokume_record::Kind;
use mokume_script::{Failure as Difference, Script};
use mokume_semantics::program::{Name, StackId, Test};
use mokume_simulate::Recorded;

use crate::compile::{self, Checked, Compiled};
use crate::failure::{Blame, Failure};
use crate::machines::{self, Backend};
use crate::record::{self, Lines, Namer, Ran};
use watch::Watched;
pub use watch::{Outcome, Play, Unwatched, Watch};

/// Tests that did not run in C, and why. Unless [`NotRun::is_skip`], something is wrong: they neither passed nor
/// failed.
pub struct NotRun {
    pub tests: usize,
    pub failure: Failure,
}

impl NotRun {
    /// Whether the reason is that this machine has no C compiler, which says nothing about the tests.
    pub fn is_skip(&self) -> bool {
        self.failure.blame == Blame::Machine
    }
}

/// The results of all tests of the files.
pub struct Results {
    pub outcomes: Vec<Outcome>,
    /// Tests that did not run in C.
    pub not_run: Vec<NotRun>,
    pub diagnostics: Vec<mokume_base::Diagnostic>,
}

/// Runs the tests whose name contains `filter`, on one back end or on both.
pub fn run(checked: &Checked, backend: Option<Backend>, filter: &str, world: &dyn World) -> Results {
    let mut prepared = prepare(checked, filter, world);
    let diagnostics = std::mem::take(&mut prepared.diagnostics);
    let (outcomes, not_run) = prepared.run(backend, world, &mut Unwatched, Written::default());
    Results { outcomes, not_run, diagnostics }
}

/// Tests with their compiled stacks.
pub struct Prepared<'c> {
    checked: &'c Checked,
    stacks: BTreeMap<u32, Compiled>,
    scripts: Vec<(&'c Test, Script)>,
    pub diagnostics: Vec<mokume_base::Diagnostic>,
    /// How many tests cannot run because they or their stacks have errors, which `diagnostics` has.
    pub wrong: usize,
    optimize: u8,
}

/// Prepares the tests whose name contains `filter`; loads functions in C.
pub fn prepare<'c>(checked: &'c Checked, filter: &str, world: &dyn World) -> Prepared<'c> {
    let is_asked = |test: &&Test| checked.roots.contains(&test.place().file) && test.name.contains(filter);
    let tests: Vec<&Test> = checked.program.tests.iter().filter(is_asked).collect();
    let (stacks, mut diagnostics) = stacks_of(checked, &tests, world);
    let mut scripts: Vec<(&Test, Script)> = Vec::new();
    for test in &tests {
        if let Some(compiled) = stacks.get(&test.stack.0) {
            let (script, found) = mokume_lower::test_script(
                &checked.program,
                (&compiled.uncomposed, &compiled.protocols),
                &checked.sources,
                test,
            );
            diagnostics.extend(found);
            scripts.extend(script.map(|script| (*test, script)));
        }
    }
    let wrong = tests.len() - scripts.len();
    Prepared { checked, stacks, scripts, diagnostics, wrong, optimize: 0 }
}

/// Where tests are recorded.
#[derive(Default)]
pub struct Written<'r> {
    /// A record with a run for each test.
    pub record: Option<&'r mut Lines>,
    /// A folder for failed tests: for each its record, with steps of layers, and its page.
    pub pages: Option<&'r str>,
}

/// The results so far, and the watcher.
struct Running<'r> {
    checked: &'r Checked,
    world: &'r dyn World,
    optimize: u8,
    watch: &'r mut dyn Watch,
    written: Written<'r>,
    outcomes: Vec<Outcome>,
    not_run: Vec<NotRun>,
}

impl Prepared<'_> {
    /// With C that is optimized so far: without this, not at all.
    pub fn optimized(self, optimize: u8) -> Self {
        Prepared { optimize, ..self }
    }

    /// The names of all, in order.
    pub fn names(&self) -> Vec<&str> {
        self.scripts.iter().map(|(test, _)| test.name.as_str()).collect()
    }

    /// A test by its index: its name, and its stack.
    pub fn test(&self, number: usize) -> (&str, &Compiled) {
        let test = self.scripts[number].0;
        (&test.name, &self.stacks[&test.stack.0])
    }

    /// Its stack, and the values of that one's parameters.
    pub fn settings(&self, number: usize) -> (StackId, &[(Name, Vec<u64>)]) {
        let test = self.scripts[number].0;
        (test.stack, &test.settings)
    }

    /// The file that contains it.
    pub fn file(&self, number: usize) -> FileId {
        self.scripts[number].0.place().file
    }

    /// Plays one on the interpreter; `made` may change the machine first.
    pub fn play(&self, number: usize, made: &dyn Fn(Instance) -> Instance) -> Vec<Difference> {
        let (test, script) = &self.scripts[number];
        let compiled = &self.stacks[&test.stack.0];
        let automaton = &compiled.uncomposed;
        let machine = Instance::new(automaton, &mokume_script::parameters(automaton, script), script.seed);
        let mut machine = made(machine.with_natives(compiled.natives.clone()));
        mokume_script::judge(automaton, &compiled.written, script, &mut machine)
    }

    /// Runs them on one back end or on both: results, and what did not run in C. `written` says where tests are
    /// recorded.
    pub fn run(
        self,
        backend: Option<Backend>,
        world: &dyn World,
        watch: &mut dyn Watch,
        written: Written<'_>,
    ) -> (Vec<Outcome>, Vec<NotRun>) {
        let Prepared { checked, stacks, mut scripts, optimize, diagnostics: _, wrong: _ } = self;
        let mut running =
            Running { checked, world, optimize, watch, written, outcomes: Vec::new(), not_run: Vec::new() };
        if backend != Some(Backend::C) {
            for (test, script) in &scripts {
                running.on_interpreter(&stacks[&test.stack.0], test, script);
            }
        }
        if backend != Some(Backend::Interpreter) {
            leave_out_models(&stacks, &mut scripts, &mut running.not_run);
            if !scripts.is_empty() {
                let stacks = stacks.iter().filter(|(_, stack)| stack.by_models.is_none());
                let (tests, stacks) =
                    (scripts.iter().collect::<Vec<_>>(), stacks.map(|(id, stack)| (*id, stack)).collect::<Vec<_>>());
                running.in_c(&tests, &stacks);
            }
        }
        (running.outcomes, running.not_run)
    }
}

impl Running<'_> {
    /// Runs one test, if the watcher wants it.
    fn play(
        &mut self,
        (test, backend, calls_functions): (&Test, Backend, bool),
        run: impl Fn(&mut Seen<'_>) -> Vec<Difference>,
    ) {
        let mut outcome = outcome(self.checked, test, backend, Vec::new());
        let play = Play { test: &outcome.test, file: &outcome.file, line: outcome.line, backend, calls_functions };
        if self.watch.begins(&play) {
            let record = self.written.record.as_deref_mut();
            let (checked, place) = (self.checked, place_of(&outcome));
            let seen = &mut Seen { checked, watch: &mut *self.watch, record, name: &test.name, place, backend };
            outcome.differences = run(seen);
            self.say_once(&mut outcome);
            if let Some(folder) = self.written.pages.filter(|_| !outcome.differences.is_empty()) {
                outcome.page = Some(self.page(folder, &outcome, test, &run));
            }
            self.watch.ended(&outcome);
            self.outcomes.push(outcome);
        }
    }

    /// If a test failed in the same way before, on the interpreter, says only that.
    fn say_once(&self, outcome: &mut Outcome) {
        let is_it =
            |known: &&Outcome| known.test == outcome.test && (&known.file, known.line) == (&outcome.file, outcome.line);
        let said = self.outcomes.iter().filter(is_it).any(|known| known.differences == outcome.differences);
        let Some(first) = outcome.differences.first_mut().filter(|_| said) else { return };
        first.kind = mokume_script::FailureKind::AsBefore { on: "on the interpreter" };
        outcome.differences.truncate(1);
    }

    /// Runs a failed test again with a full record; returns the name of its page.
    fn page(
        &self,
        folder: &str,
        outcome: &Outcome,
        test: &Test,
        run: &impl Fn(&mut Seen<'_>) -> Vec<Difference>,
    ) -> Result<String, Failure> {
        let of = outcome.backend.name();
        let file = outcome.file.trim_start_matches(['.', '/']).replace('/', "-");
        let name = format!("{}/{file}-{}-{of}", folder.trim_end_matches('/'), outcome.line);
        let (record, page) = (format!("{name}.jsonl"), format!("{name}.html"));
        let failed = |error| Failure::of_writing(self.world, &format!("`{page}`"), &page, &error);
        self.world.make_folder(folder).map_err(failed)?;
        let mut lines = Lines::open(self.world, &record, false)?.with_steps(true);
        let (checked, watch, place, backend) = (self.checked, &mut Unwatched, place_of(outcome), outcome.backend);
        run(&mut Seen { checked, watch, record: Some(&mut lines), name: &test.name, place, backend });
        lines.settle()?;
        let runs = record::read(self.world, &record)?;
        let text = runs.first().map(|run| record::page(run, None)).unwrap_or_default();
        self.world.write(&page, text.as_bytes()).map_err(failed)?;
        Ok(page)
    }

    fn on_interpreter(&mut self, compiled: &Compiled, test: &Test, script: &Script) {
        self.play((test, Backend::Interpreter, compiled.natives.is_some()), |seen| {
            let automaton = &compiled.uncomposed;
            let params = mokume_script::parameters(automaton, script);
            let machine = Instance::new(automaton, &params, script.seed);
            let mut machine = machine.with_natives(compiled.natives.clone());
            let mut differences = seen.judge(compiled, automaton, script, &mut machine);
            differences.extend(beyond_the_peak(&compiled.composed, machine.most_held(), script));
            differences
        });
    }

    /// Compiles all stacks of all tests as one program, as starting the compiler costs more than a stack. If that
    /// fails, compiles each stack by itself, so that only the tests of the failing ones do not run.
    fn in_c(&mut self, tests: &[&(&Test, Script)], stacks: &[(u32, &Compiled)]) {
        compile::fuse_all(stacks.iter().map(|(_, compiled)| *compiled));
        let automata: Vec<&Automaton> = stacks.iter().map(|(_, compiled)| compiled.for_c()).collect();
        let build = Build { optimize: self.optimize, ..Build::new(self.world, crate::cache::folder(self.world)) };
        match machines::program(&automata, &self.checked.natives.with(&automata, build)) {
            Ok(program) => {
                for (test, script) in tests.iter().copied() {
                    let Some(place) = stacks.iter().position(|(stack, _)| *stack == test.stack.0) else { continue };
                    let compiled = stacks[place].1;
                    let calls_functions = compiled.natives.is_some();
                    self.play((test, Backend::C, calls_functions), |seen| {
                        play_in_c(compiled, (&program, place), (test, script), seen)
                    });
                }
            }
            Err(failure) if failure.blame == Blame::Program && stacks.len() > 1 => {
                for stack in stacks {
                    let of_stack = |test: &&&(&Test, Script)| test.0.stack.0 == stack.0;
                    let own: Vec<_> = tests.iter().filter(of_stack).copied().collect();
                    self.in_c(&own, &[*stack]);
                }
            }
            Err(failure) => self.not_run.push(NotRun { tests: tests.len(), failure }),
        }
    }
}

/// The watcher of a test, and the record of it.
struct Seen<'a> {
    checked: &'a Checked,
    watch: &'a mut dyn Watch,
    record: Option<&'a mut Lines>,
    name: &'a str,
    place: String,
    backend: Backend,
}

fn place_of(outcome: &Outcome) -> String {
    format!("{}:{}", outcome.file, outcome.line)
}

impl Seen<'_> {
    /// Plays the script on a machine that runs `automaton`, and judges it.
    fn judge<M: Machine>(
        &mut self,
        compiled: &Compiled,
        automaton: &Automaton,
        script: &Script,
        machine: &mut M,
    ) -> Vec<Difference> {
        let watch = &mut *self.watch;
        let written = &*compiled.written;
        let Some(lines) = self.record.as_deref_mut() else {
            return mokume_script::judge(automaton, written, script, &mut Watched { machine, watch });
        };
        let composed = &compiled.composed;
        let mut namer = Namer::of_stack(compiled);
        let (kind, place, seed, backend) = (Kind::Test, Some(self.place.clone()), script.seed, self.backend);
        lines.head(&namer.head(&Ran { kind, name: self.name, place, seed, backend }));
        if lines.has_steps() {
            namer = namer.with_steps(&self.checked.sources);
            machine.trace();
        }
        let sink = Box::new(|record| record::write_down(record, &mut namer, lines));
        let mut recorded = Recorded::new(machine, record::devices(composed), sink);
        let differences =
            mokume_script::judge(automaton, written, script, &mut Watched { machine: &mut recorded, watch });
        let (last, at) = recorded.last();
        drop(recorded);
        let file = self.place.rsplit_once(':').map_or("", |(file, _)| file);
        let failed = differences.iter().map(|difference| mokume_record::Failed {
            at: difference.at,
            place: format!("{file}:{}", difference.line),
            wanted: self.name.to_string(),
            found: difference.to_string(),
        });
        lines.event(&record::end(last, at, failed.collect(), None));
        differences
    }
}

/// Stacks that would use models of functions in C do not run in C.
fn leave_out_models(stacks: &BTreeMap<u32, Compiled>, scripts: &mut Vec<(&Test, Script)>, not_run: &mut Vec<NotRun>) {
    for (id, stack) in stacks {
        let Some(failure) = &stack.by_models else { continue };
        let before = scripts.len();
        scripts.retain(|(test, _)| test.stack.0 != *id);
        let tests = before - scripts.len();
        match not_run.iter_mut().find(|known| known.failure == *failure) {
            Some(known) => known.tests += tests,
            None if tests > 0 => not_run.push(NotRun { tests, failure: failure.clone() }),
            None => {}
        }
    }
}

/// Compiles each stack of the tests once, by its number.
fn stacks_of(
    checked: &Checked,
    tests: &[&Test],
    world: &dyn World,
) -> (BTreeMap<u32, Compiled>, Vec<mokume_base::Diagnostic>) {
    let mut stacks: BTreeMap<u32, Compiled> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for test in tests {
        if !stacks.contains_key(&test.stack.0) {
            let (compiled, found) = compile::compile(checked, test.stack, world);
            diagnostics.extend(found);
            stacks.extend(compiled.map(|compiled| (test.stack.0, compiled)));
        }
    }
    (stacks, diagnostics)
}

/// Plays one test on the stack at `place` of a program.
fn play_in_c(
    compiled: &Compiled,
    (program, place): (&Arc<CProgram>, usize),
    (test, script): (&Test, &Script),
    seen: &mut Seen<'_>,
) -> Vec<Difference> {
    let automaton = &compiled.composed;
    let params = mokume_script::parameters(automaton, script);
    let mut machine = match CMachine::new(program, place, &params, script.seed, memory_of(automaton, test)) {
        Ok(machine) => machine,
        Err(error) => {
            return vec![senseless(script, format!("the stack does not run in C: {error}; {}", error.way_out()))]
        }
    };
    let mut differences = seen.judge(compiled, automaton, script, &mut machine);
    if machine.exhausted() > 0 {
        let reason =
            "the C program ran out of room: a call makes more messages, outputs or reports than tests have room for";
        differences.push(senseless(script, reason.to_string()));
    }
    differences
}

fn senseless(script: &Script, reason: String) -> Difference {
    let kind = mokume_script::FailureKind::Senseless { reason };
    Difference { test: script.name.clone(), line: script.line, step: 0, at: 0, kind }
}

/// A reaction must hold at most the messages that composing computed (docs/semantics.md, M3).
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

/// All memory that composing computed, so that no step is refused for lack of it. Buffers have room for the longest
/// possible message; if there are very many, they are as large as the total limit allows. The test's own inputs always
/// fit: the stack itself rejects those that are too large.
fn memory_of(automaton: &Automaton, test: &Test) -> Memory {
    let buffers = automaton.pool.max(256);
    let longest = (1 << 16) + HEAD_ROOM;
    let buffer_octets =
        u32::try_from(MOST_OCTETS / u64::from(buffers)).map_or(longest, |octets| octets.clamp(2048, longest));
    let put_in = test.steps.iter().map(mokume_semantics::program::Step::longest).max().unwrap_or(0);
    let buffer_octets = buffer_octets.max(u32::try_from(put_in).unwrap_or(u32::MAX).saturating_add(HEAD_ROOM));
    let outputs = machines::room_for_outputs(automaton);
    Memory { buffers, buffer_octets, messages: buffers * 4, outputs, reports: REPORTS }
}

/// Octets in a buffer for headers.
const HEAD_ROOM: u32 = 512;

/// The most octets of all buffers of one test, if these hold at least a frame each: the machine only touches what it
/// uses.
const MOST_OCTETS: u64 = 2 << 30;

fn outcome(checked: &Checked, test: &Test, backend: Backend, differences: Vec<Difference>) -> Outcome {
    let file = checked.sources.file(test.span.file).name.clone();
    let (line, _) = checked.sources.line_column(test.span.file, test.span.start);
    Outcome { test: test.name.clone(), file, line, backend, differences, page: None }
}
