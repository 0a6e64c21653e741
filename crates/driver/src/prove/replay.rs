//! Runs a path that is not proved beside the layers; if they differ, the events that led to it are written as a `test`.
//!
//! A solver's state may be unreachable, so runs begin at the start: with the parameters and the event that the solver
//! found, and with random events before and after it. If no run shows a difference, the path stays open.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use mokume_emit_c::drive::{drive_while, AccountsCompared, Difference, Drive, Lesson, Step, Subject, Taught};
use mokume_interpret::Instance;
use mokume_prove::judge::given;
use mokume_reaction::{
    Accounts, Automaton, Datum, Handle, Machine, Natives, Outcome, Output, Path, PortId, ReasonId, Trigger, Type,
};
use mokume_script::{PortEvent, Written};

/// How many sequences of events are tried.
const SEQUENCES: u64 = 400;

/// The longest message that is made from a solver's values.
const LONGEST: u64 = 2000;

/// The difference that a run has shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// A `test` of the stack, which the layers pass and the path does not.
    pub test: String,
    /// What the layers do where they differ, and what the path does.
    pub layers: String,
    pub path: String,
}

/// A stack whose layers are run beside a path.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    pub layers: &'a Automaton,
    pub natives: &'a Option<Arc<dyn Natives>>,
    /// How runs begin.
    pub lessons: &'a [Lesson],
}

/// Runs with paths, and counts how often they are taken.
struct Pathed {
    instance: Instance,
    aimed: usize,
    taken: Arc<Mutex<Vec<u64>>>,
    /// The counters that are not looked at.
    alone: Arc<BTreeSet<String>>,
}

/// What only one of two stacks has, and is not compared.
#[derive(Clone, Default, Debug)]
pub struct Alone {
    /// Counters, `app.W.E.sent`.
    pub counters: BTreeSet<String>,
    /// Whether there is a timer among it.
    pub has_timers: bool,
}

impl Subject for Pathed {
    /// A sequence that takes the path for the first time is worth further tries.
    fn progress(&self) -> u64 {
        times(&self.taken, self.aimed).min(200)
    }
}

fn times(taken: &Mutex<Vec<u64>>, path: usize) -> u64 {
    taken.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied().unwrap_or(0)
}

impl Machine for Pathed {
    fn start(&mut self, now: u64) -> Outcome {
        self.instance.start(now)
    }
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        self.instance.input(now, port, event, args)
    }
    fn advance(&mut self, now: u64) -> Outcome {
        self.instance.advance(now)
    }
    fn next_deadline(&self) -> Option<u64> {
        self.instance.next_deadline()
    }
    fn accounts(&self) -> Accounts {
        let mut accounts = self.instance.accounts();
        accounts.counters.retain(|(name, _)| !self.alone.contains(name));
        accounts
    }
    fn exhausted(&self) -> u64 {
        self.instance.exhausted()
    }
    fn reactions(&self) -> u64 {
        self.instance.reactions()
    }
}

impl Beside<'_> {
    fn machine(&self, automaton: &Arc<Automaton>, params: &[u64], seed: u64) -> Instance {
        Instance::shared(automaton.clone(), params, seed).with_natives(self.natives.clone())
    }

    /// Runs sequences from a seed on, on the layers and on an automaton with paths: the first difference, and how often
    /// the targeted path was taken.
    pub fn run(
        &self,
        pathed: &Automaton,
        aimed: usize,
        (sequences, seed): (u64, u64),
    ) -> (Option<Box<Difference>>, u64) {
        self.run_while((pathed, aimed), (sequences, seed), &Alone::default(), &mut |_| true)
    }

    /// [`Self::run`] as long as `goes_on` says so, without a look at what only one of the two has.
    pub fn run_while(
        &self,
        (pathed, aimed): (&Automaton, usize),
        (sequences, seed): (u64, u64),
        alone: &Alone,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> (Option<Box<Difference>>, u64) {
        let counters = Arc::new(alone.counters.clone());
        let (layers, pathed) = (Arc::new(self.layers.clone()), Arc::new(pathed.clone()));
        let taken = Arc::new(Mutex::new(vec![0; pathed.paths.len()]));
        let options = Drive {
            seed,
            sequences,
            steps: 30,
            siblings: 40,
            whole: 40,
            accounts: AccountsCompared::AfterEachStep,
            deadlines: !alone.has_timers,
            ..Drive::default()
        };
        let mut model = None::<(Vec<u64>, Instance)>;
        let reference = |params: &[u64], seed: u64| {
            let known = model.take().filter(|(known, _)| known == params);
            let (_, instance) =
                model.insert(known.unwrap_or_else(|| (params.to_vec(), self.machine(&layers, params, 0))));
            Pathed { instance: instance.sibling(seed), aimed, taken: Arc::default(), alone: counters.clone() }
        };
        let subject = |params: &[u64], seed: u64| {
            let instance = self.machine(&pathed, params, seed).with_paths_counted(taken.clone());
            Pathed { instance, aimed, taken: taken.clone(), alone: counters.clone() }
        };
        let found = drive_while(self.layers, options, self.lessons, goes_on, (reference, subject)).err();
        (found, times(&taken, aimed))
    }
}

/// Replays the path of a flat automaton with a state and an event that a solver found; `None` if no run shows a
/// difference.
pub fn replay(
    beside: Beside<'_>,
    written: &Written,
    (flat, path): (&Automaton, &Path),
    values: &[(String, u64)],
) -> Option<Replayed> {
    let alone = Automaton { paths: vec![path.clone()], ..flat.clone() };
    let lessons: Vec<Lesson> = [lessons(flat, path, values), beside.lessons.to_vec()].concat();
    let beside = Beside { lessons: &lessons, ..beside };
    let difference = beside.run(&alone, 0, (SEQUENCES, 1)).0?;
    let test = test_of(&beside, written, &difference, "what the path does not do");
    Some(Replayed { test, layers: difference.reference.clone(), path: difference.subject.clone() })
}

/// The event with the solver's values, by its parameters; once, and repeatedly.
fn lessons(automaton: &Automaton, path: &Path, values: &[(String, u64)]) -> Vec<Lesson> {
    let values: HashMap<&str, u64> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let value = |name: &str| values.get(name).copied();
    let params = automaton.params.iter().map(|param| {
        value(&format!("param {}", mokume_prove::symbolic::plain(&param.name))).or(param.default).unwrap_or(0)
    });
    let handler = automaton.handler(path.handler);
    let Trigger::Event(name) = &handler.trigger else { return Vec::new() };
    let mut steps = Vec::new();
    for (p, port) in automaton.ports.iter().enumerate() {
        for (event, input) in port.inputs.iter().enumerate() {
            if input.class != handler.class || input.handler != *name {
                continue;
            }
            let mut args = vec![None; input.params.len().saturating_sub(handler.params.len())];
            for (place, (name, ty)) in handler.params.iter().enumerate() {
                let given = given(place, name);
                args.push(match ty {
                    Type::Msg => {
                        let size = value(&format!("{given}.size")).unwrap_or(0).min(LONGEST);
                        let octet = |at| value(&format!("{given}.octets[{at}]")).unwrap_or(0) as u8;
                        Some(Datum::Message((0..size).map(octet).collect()))
                    }
                    Type::Ref(_) => None,
                    _ => Some(Datum::Word(value(&given).unwrap_or(0))),
                });
            }
            steps.push(Taught::Input { port: PortId::from(p), event: event as u32, args });
        }
    }
    let params: Vec<u64> = params.collect();
    let times = |times: usize| Lesson {
        params: params.clone(),
        seed: None,
        steps: steps.iter().cycle().take(steps.len() * times).cloned().collect(),
    };
    vec![times(1), times(6)]
}

/// Writes values of a test; handles get names where they first occur in outputs.
struct Writer<'a> {
    automaton: &'a Automaton,
    written: &'a Written,
    names: Vec<Handle>,
}

impl Writer<'_> {
    /// An output in one line, long messages cut.
    fn short(&self, output: &Output) -> String {
        let port = &self.automaton.ports[output.port.index()];
        let signature = &port.outputs[output.event as usize];
        let word = |at: usize| if let Datum::Word(word) = &output.args[at] { Some(*word) } else { None };
        let other = |at: usize| crate::record::datum(&output.args[at]);
        let args = self.written.arguments(self.automaton, PortEvent::output(output.port, signature), &word, &other);
        format!("{}.{}({})", port.name, signature.event, args.join(", "))
    }

    fn call(&mut self, event: PortEvent<'_>, args: &[Datum], is_output: bool) -> String {
        let word = |at: usize| match &args[at] {
            Datum::Word(word) => Some(*word),
            _ => None,
        };
        let mut others: Vec<String> = Vec::new();
        for arg in args {
            others.push(match arg {
                Datum::Message(octets) => {
                    format!("x\"{}\"", octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>())
                }
                Datum::Handle(handle) => self.handle(*handle, is_output),
                Datum::Word(_) => String::new(),
            });
        }
        let args = self.written.arguments(self.automaton, event, &word, &|at| others[at].clone());
        format!("{}.{}({})", self.automaton.ports[event.port.index()].name, event.name, args.join(", "))
    }

    fn handle(&mut self, handle: Handle, is_output: bool) -> String {
        match self.names.iter().position(|known| *known == handle) {
            _ if handle == Handle::NULL => "null".to_owned(),
            Some(place) => format!("s{}", place + 1),
            None if is_output => {
                self.names.push(handle);
                format!("?s{}", self.names.len())
            }
            None => "_".to_owned(),
        }
    }

    fn outputs(&mut self, outputs: &[Output]) -> String {
        if outputs.is_empty() {
            return "    => nothing\n".to_owned();
        }
        let mut lines = String::new();
        for output in outputs {
            let signature = &self.automaton.ports[output.port.index()].outputs[output.event as usize];
            let call = self.call(PortEvent::output(output.port, signature), &output.args, true);
            lines.push_str(&format!("    => {call}\n"));
        }
        lines
    }
}

/// The steps, with the outputs of the layers, as a `test` of this title.
pub(super) fn test_of(beside: &Beside<'_>, written: &Written, difference: &Difference, title: &str) -> String {
    Told::of(beside, written, difference, None, title).ended()
}

/// The same for another stack that shall do what the layers do; and in words what each does where they part. The test goes on to
/// where outputs or counts show it, if they do.
pub(super) fn parted(
    beside: &Beside<'_>,
    written: &Written,
    difference: &Difference,
    second: &Automaton,
    title: &str,
) -> Replayed {
    let mut told = Told::of(beside, written, difference, Some(second), title);
    let said = told.outcomes_apart().or_else(|| {
        let (deadlines, counts) = (told.deadlines_apart(), told.counts_apart());
        let (lines, counts) = counts.unzip();
        let lines = lines.unwrap_or_default();
        let is_put_out = told.until_it_shows();
        if !is_put_out {
            told.text.push_str(&lines);
        }
        let is_seen = is_put_out || !lines.is_empty();
        let unseen = |[first, second]: [String; 2]| match is_seen {
            true => [first, second],
            false => [first, format!("{second} (no output of the next {WAITS} timers shows it)")],
        };
        deadlines.or(counts).map(unseen)
    });
    let [layers, path] = said.unwrap_or_else(|| [difference.reference.clone(), difference.subject.clone()]);
    Replayed { test: told.ended(), layers, path }
}

/// The most timers after the last step that are waited for until a difference shows.
const WAITS: usize = 16;

/// A test that is written while it is played, by the layers and perhaps by a second stack.
struct Told<'a> {
    writer: Writer<'a>,
    first: Instance,
    second: Option<Instance>,
    text: String,
    clock: u64,
    /// What the last step gave in both.
    last: [Outcome; 2],
}

impl<'a> Told<'a> {
    fn of(
        beside: &Beside<'a>,
        written: &'a Written,
        difference: &Difference,
        second: Option<&Automaton>,
        title: &str,
    ) -> Told<'a> {
        let automaton = beside.layers;
        let made =
            |automaton: &Automaton| beside.machine(&Arc::new(automaton.clone()), &difference.params, difference.seed);
        let params: Vec<String> = automaton
            .params
            .iter()
            .zip(&difference.params)
            .filter_map(|(param, value)| {
                let is_said = param.default != Some(*value);
                is_said.then(|| format!("{}: {}", param.name, mokume_script::scalar(automaton, param.ty, *value)))
            })
            .collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let mut told = Told {
            writer: Writer { automaton, written, names: Vec::new() },
            first: made(automaton),
            second: second.map(made),
            text: format!("test \"{title}\" {{\n    stack {}{params}\n", automaton.name),
            clock: 0,
            last: Default::default(),
        };
        told.step(|machine| machine.start(0));
        told.outputs(false);
        for step in &difference.steps {
            let (Step::Input { now, .. } | Step::Advance { now }) = step;
            if *now > told.clock || matches!(step, Step::Advance { .. }) {
                told.advance(*now, false);
            }
            if let Step::Input { port, event, args, .. } = step {
                let input = &automaton.ports[port.index()].inputs[*event as usize];
                let call = told.writer.call(PortEvent::input(*port, input), args, false);
                told.text.push_str(&format!("    {call}\n"));
                told.step(|machine| machine.input(*now, *port, *event, args));
                told.outputs(true);
            }
        }
        told
    }

    fn step(&mut self, does: impl Fn(&mut Instance) -> Outcome) {
        let first = does(&mut self.first);
        let second = self.second.as_mut().map(&does);
        self.last = [first, second.unwrap_or_default()];
    }

    /// Writes the outputs of the last step; that there were none only if it is asked for.
    fn outputs(&mut self, also_none: bool) {
        if also_none || !self.last[0].outputs.is_empty() {
            let outputs = self.writer.outputs(&self.last[0].outputs);
            self.text.push_str(&outputs);
        }
    }

    fn advance(&mut self, now: u64, also_none: bool) {
        self.text.push_str(&format!("    after {} ns\n", now - self.clock));
        self.clock = now;
        self.step(|machine| machine.advance(now));
        self.outputs(also_none);
    }

    fn ended(mut self) -> String {
        self.text.push_str("}\n");
        self.text
    }

    /// What the last step gave, if that differs.
    fn outcomes_apart(&self) -> Option<[String; 2]> {
        let [first, second] = &self.last;
        let most = first.outputs.len().max(second.outputs.len());
        if let Some(place) = (0..most).find(|place| first.outputs.get(*place) != second.outputs.get(*place)) {
            let more = |count: usize| match count {
                0 => "puts out nothing".to_owned(),
                count => format!("puts out nothing after {count}"),
            };
            let said = |outcome: &Outcome| match outcome.outputs.get(place) {
                Some(output) => self.writer.short(output),
                None => more(outcome.outputs.len()),
            };
            return Some([said(first), said(second)]);
        }
        if first.refused != second.refused {
            return Some(
                [first, second].map(|outcome| if outcome.refused { "refuses it" } else { "takes it" }.to_owned()),
            );
        }
        let reports = |outcome: &Outcome| {
            let all: Vec<String> =
                outcome.reports.iter().map(|(report, place)| format!("{report} at {place}")).collect();
            if all.is_empty() {
                "reports nothing".to_owned()
            } else {
                format!("reports {}", all.join(", "))
            }
        };
        (first.reports != second.reports).then(|| [reports(first), reports(second)])
    }

    fn deadlines_apart(&self) -> Option<[String; 2]> {
        let both = [self.first.next_deadline(), self.second.as_ref()?.next_deadline()];
        let said = |due: Option<u64>| match due {
            Some(due) => format!("the next timer is due at {}", mokume_base::time(due)),
            None => "no timer is due".to_owned(),
        };
        (both[0] != both[1]).then(|| both.map(said))
    }

    /// Waits for the timers that are due until outputs differ, and returns whether they do; else the test ends where it did.
    fn until_it_shows(&mut self) -> bool {
        let (text, clock, names) = (self.text.clone(), self.clock, self.writer.names.clone());
        for _ in 0..WAITS {
            let dues =
                [Some(&self.first), self.second.as_ref()].map(|machine| machine.and_then(|one| one.next_deadline()));
            let Some(due) = dues.into_iter().flatten().min() else { break };
            self.advance(due.max(self.clock), true);
            if self.last[0].outputs != self.last[1].outputs {
                return true;
            }
        }
        (self.text, self.clock, self.writer.names) = (text, clock, names);
        false
    }

    /// The counts that differ: as lines of the test, where it has words for them, and in words.
    fn counts_apart(&self) -> Option<(String, [String; 2])> {
        let both = [self.first.accounts(), self.second.as_ref()?.accounts()];
        let of = |all: &[(ReasonId, u64)], reason: ReasonId| {
            all.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
        };
        let (mut lines, mut said) = (String::new(), [Vec::new(), Vec::new()]);
        for (place, reason) in self.writer.automaton.reasons.iter().enumerate() {
            let id = ReasonId::from(place);
            for (word, counts) in [
                ("dropped", both.each_ref().map(|accounts| of(&accounts.dropped, id))),
                ("consumed", both.each_ref().map(|accounts| of(&accounts.consumed, id))),
            ] {
                if counts[0] != counts[1] {
                    // What never happens may be no reason of the stack.
                    if counts[0] > 0 {
                        lines.push_str(&format!("    {word} {} {}\n", reason.name, counts[0]));
                    }
                    said.iter_mut()
                        .zip(counts)
                        .for_each(|(said, count)| said.push(format!("{word} {} {count}", reason.name)));
                }
            }
        }
        for ((name, count), (_, other)) in
            both[0].counters.iter().zip(&both[1].counters).filter(|(one, other)| one != other)
        {
            // Of `app.E.c` people say `app.c`.
            let mut parts: Vec<&str> = name.split('.').collect();
            if parts.len() > 2 {
                parts.remove(parts.len() - 2);
            }
            let name = parts.join(".");
            lines.push_str(&format!("    counter {name} {count}\n"));
            said[0].push(format!("counter {name} {count}"));
            said[1].push(format!("counter {name} {other}"));
        }
        // No line of a test says these.
        for (what, count) in [
            ("dropped with their object", (|accounts| accounts.gone) as fn(&Accounts) -> u64),
            ("put out", |accounts| accounts.delivered),
            ("joined into others", |accounts| accounts.merged),
            ("held", |accounts| accounts.held),
            ("refused", |accounts| accounts.refused),
        ] {
            let counts = both.each_ref().map(count);
            if counts[0] != counts[1] {
                said.iter_mut().zip(counts).for_each(|(said, count)| said.push(format!("{what} {count}")));
            }
        }
        (!said[0].is_empty()).then(|| (lines, said.map(|all| all.join(", "))))
    }
}
