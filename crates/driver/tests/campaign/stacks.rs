//! The stacks, and lessons for each: every test of every file whose inputs it has.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use mokume_base::world::RealWorld;
use mokume_driver::compile;
use mokume_driver::machines::{Backend, Noted};
use mokume_driver::natives::Files;
use mokume_driver::{sim, StackId};
use mokume_emit_c::drive::{Lesson, Taught};
use mokume_interpret::Instance;
use mokume_lower::Protocols;
use mokume_reaction::{Accounts, Automaton, Datum, Machine, Natives, Outcome, PortId};
use mokume_script::Names;
use mokume_testkit::{Action, Script};

#[derive(Clone)]
pub struct Stack {
    /// `file stack`.
    pub name: String,
    /// The reference.
    pub uncomposed: Automaton,
    pub composed: Automaton,
    /// Functions in C, for the interpreter, and their texts.
    pub natives: Option<Arc<dyn Natives>>,
    pub native_files: Files,
    pub lessons: Vec<Lesson>,
}

const FOLDERS: &[&str] = &["tests/library", "tests/program", "examples"];

/// How much more often a stack's own tests are played than another's.
const OWN: usize = 4;

/// The recordings of several machines.
type Lessons = Arc<Mutex<Vec<Lesson>>>;

/// The most steps of a host that are played from a run of a network.
const PLAYED: usize = 300;

/// Records the calls of a machine.
struct Recorder {
    machine: Instance,
    now: u64,
    steps: Vec<Taught>,
    /// Where the recording goes at the end, if it began at time 0.
    to: Option<(Lessons, Vec<u64>, u64)>,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some((to, params, seed)) = self.to.take() {
            let mut steps = std::mem::take(&mut self.steps);
            steps.truncate(PLAYED);
            to.lock().unwrap().push(Lesson { params, seed: Some(seed), steps });
        }
    }
}

impl Recorder {
    fn passes(&mut self, now: u64) {
        if now > self.now {
            self.steps.push(Taught::After(now - self.now));
        }
        self.now = self.now.max(now);
    }
}

impl Machine for Recorder {
    fn start(&mut self, now: u64) -> Outcome {
        self.to.take_if(|_| now > 0);
        self.machine.start(now)
    }
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        self.passes(now);
        self.steps.push(Taught::Input { port, event, args: args.iter().cloned().map(Some).collect() });
        self.machine.input(now, port, event, args)
    }
    fn advance(&mut self, now: u64) -> Outcome {
        self.passes(now);
        self.machine.advance(now)
    }
    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }
    fn accounts(&self) -> Accounts {
        self.machine.accounts()
    }
}

/// A test of a stack, with actual octets and numbers: what a packet answers is known only at run time.
fn recorded(stack: &Stack, script: &Script) -> Lesson {
    let params = mokume_testkit::parameters(&stack.uncomposed, script);
    let automaton = Arc::new(stack.uncomposed.clone());
    let machine = Instance::shared(automaton, &params, 0).with_natives(stack.natives.clone()).sibling(script.seed);
    let mut recorder = Recorder { machine, now: 0, steps: Vec::new(), to: None };
    mokume_testkit::run(&stack.uncomposed, script, &mut recorder);
    Lesson { params, seed: Some(script.seed), steps: std::mem::take(&mut recorder.steps) }
}

/// The calls of a stack's hosts in the networks of all files, and in these, by the stack's index.
pub fn of_networks(stacks: &[Stack], more: &[&str]) -> Vec<Vec<Lesson>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let more = more.iter().map(|name| root.join(name).to_string_lossy().into_owned());
    let plain: Vec<Automaton> = stacks.iter().map(|stack| without_places(&stack.composed)).collect();
    let mut lessons = vec![Vec::new(); stacks.len()];
    for file in files().into_iter().chain(more) {
        let checked = compile::check(&RealWorld, &[file]).expect("a file");
        for network in checked.program.networks.iter().filter(|network| checked.roots.contains(&network.name.span.file))
        {
            let of = sim::stacks(&checked, network, &RealWorld).0;
            let Ok(prepared) = sim::Prepared::new(&checked, network, &of, Backend::Interpreter) else { continue };
            for (number, compiled) in &of {
                let plainly = without_places(&compiled.composed);
                let Some(place) = plain.iter().position(|known| *known == plainly) else { continue };
                let to = Arc::new(Mutex::new(Vec::new()));
                let put_before = |machine: Instance, params: &[u64], seed: u64| -> Box<dyn Machine> {
                    let to = Some((to.clone(), params.to_vec(), seed));
                    Box::new(Recorder { machine, now: 0, steps: Vec::new(), to })
                };
                let how = sim::How { seed: 1, keep: sim::Keep::Reports, weather: sim::Sky::Seeded };
                let watched = (*number, Noted::Behind(&put_before));
                drop(prepared.watched(how, watched, &RealWorld, &mut |_| {}).expect("a run"));
                lessons[place].append(&mut to.lock().unwrap());
            }
        }
    }
    lessons
}

/// An automaton without the places that its parts come from.
fn without_places(automaton: &Automaton) -> Automaton {
    Automaton { sources: Vec::new(), ..automaton.clone() }
}

/// All different stacks of all files; compiled once for all tests.
pub fn stacks() -> &'static [Stack] {
    static ALL: OnceLock<Vec<Stack>> = OnceLock::new();
    ALL.get_or_init(|| of(files()))
}

/// The stacks of some files, named from the repository's root, with the tests of these files as lessons.
pub fn of_files(names: &[&str]) -> Vec<Stack> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    of(names.iter().map(|name| root.join(name).to_string_lossy().into_owned()).collect())
}

/// One stack of this many.
pub fn share(of: usize) -> Vec<Stack> {
    stacks().iter().step_by(of).cloned().collect()
}

fn of(files: Vec<String>) -> Vec<Stack> {
    let (mut stacks, mut all, mut scripts) = (Vec::<Stack>::new(), Vec::new(), Vec::new());
    for file in files {
        let checked = compile::check(&RealWorld, std::slice::from_ref(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(!checked.has_errors(), "{file}: {:?}", checked.diagnostics.first());
        let short = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        // With the protocols by this program's numbers.
        let mut own: Vec<Option<(usize, Protocols)>> = vec![None; checked.program.stacks.len()];
        for (index, definition) in checked.program.stacks.iter().enumerate() {
            if !checked.roots.contains(&definition.name.span.file) {
                continue;
            }
            let name = format!("{short} {}", definition.name.text);
            let (compiled, diagnostics) = compile::compile(&checked, StackId(index as u32), &RealWorld);
            let compiled = compiled.unwrap_or_else(|| panic!("{name}: {diagnostics:?}"));
            // Many files of tests have the same stack.
            let plain = without_places(&compiled.composed);
            let known = all.iter().position(|known| *known == plain);
            own[index] = Some((known.unwrap_or(stacks.len()), compiled.protocols));
            if known.is_some() {
                continue;
            }
            all.push(plain);
            stacks.push(Stack {
                name,
                uncomposed: compiled.uncomposed,
                composed: compiled.composed,
                natives: compiled.natives,
                native_files: compiled.native_files,
                lessons: Vec::new(),
            });
        }
        for test in checked.program.tests.iter().filter(|test| checked.roots.contains(&test.span.file)) {
            let Some((stack, protocols)) = &own[test.stack.0 as usize] else { continue };
            let (script, diagnostics) = mokume_lower::test_script(
                &checked.program,
                (&stacks[*stack].uncomposed, protocols),
                &checked.sources,
                test,
            );
            scripts.push((*stack, script.unwrap_or_else(|| panic!("{file}: {}: {diagnostics:?}", test.name))));
        }
    }
    for (place, stack) in stacks.iter_mut().enumerate() {
        for (of, script) in &scripts {
            let times = if *of == place { OWN } else { 1 };
            let lesson = lesson(&stack.uncomposed, script);
            stack.lessons.extend(lesson.into_iter().flat_map(|lesson| std::iter::repeat_n(lesson, times)));
            if *of == place {
                stack.lessons.push(recorded(stack, script));
            }
        }
    }
    stacks
}

/// The automata of `tests/run` that compose: small stacks in which order matters.
pub fn automata() -> Vec<Stack> {
    let mut stacks = Vec::new();
    for file in files_in(&["tests/run"], "ra") {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let (automaton, _, _) = mokume_testkit::split(&text);
        let mut map = mokume_base::SourceMap::default();
        let parsed = mokume_reaction::text::parse(map.add(file.clone(), automaton), automaton);
        let composed = mokume_compose::compose(&parsed.automaton, mokume_compose::Options::default());
        let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        stacks.extend(composed.automaton.map(|composed| Stack {
            name,
            uncomposed: parsed.automaton,
            composed,
            natives: None,
            native_files: Files::default(),
            lessons: Vec::new(),
        }));
    }
    stacks
}

fn files() -> Vec<String> {
    files_in(FOLDERS, "mok")
}

fn files_in(folders: &[&str], ending: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut here: Vec<String> = paths
            .filter(|path| path.extension().is_some_and(|end| end == ending))
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        here.sort();
        files.extend(here);
    }
    files
}

/// A test as a lesson for a stack: its own, or another that has all its inputs and parameters.
fn lesson(automaton: &Automaton, script: &Script) -> Option<Lesson> {
    let has = |name: &str| automaton.params.iter().any(|param| param.name == name);
    if !script.params.iter().all(|(name, _)| has(name)) {
        return None;
    }
    let steps: Option<Vec<Taught>> = script.steps.iter().map(|step| taught(automaton, &step.action)).collect();
    Some(Lesson { params: mokume_testkit::parameters(automaton, script), seed: None, steps: steps? })
}

fn taught(automaton: &Automaton, action: &Action) -> Option<Taught> {
    let (port, event, args) = match action {
        Action::After(duration) | Action::Within(duration) => return Some(Taught::After(*duration)),
        Action::Input { port, event, args } => (port, event, args),
    };
    let port = automaton.ports.iter().position(|known| known.name == *port)?;
    let event = automaton.ports[port].inputs.iter().position(|known| known.event == *event)?;
    let same = automaton.ports[port].inputs[event].params.len() == args.len();
    let args = args.iter().map(|arg| mokume_script::datum(automaton, &Names::default(), arg).ok());
    same.then(|| Taught::Input { port: PortId::from(port), event: event as u32, args: args.collect() })
}
