//! The `at`, `when` and `expect` lines of a running network.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, SourceMap, Span};
use mokume_lower::{network_input, network_output, Bound};
use mokume_reaction::{Automaton, Datum, Handle, Output, PortId};
use mokume_script::{Call, Likeness, Names, Written};
use mokume_semantics::lost;
use mokume_semantics::program::{Arg, Args, Expectation, HostOutput, Network, Program, Times};
use mokume_simulate::{ScriptedInput, Watch};

use super::casts::{self, Broken, Heard, Log};
use super::stacks::{kept, Stacks};
use super::tallies::Tallies;
use crate::record;

/// A network's inputs and patterns, resolved in its stacks.
pub(super) struct Events {
    /// Times, hosts and inputs, in the network's order.
    at: Vec<(u64, usize, Call)>,
    whens: Vec<(Call, Call)>,
    expectations: Vec<Call>,
    pub(super) tallies: Tallies,
    /// The patterns of each host for casts, deliveries and views, by number.
    pub(super) heard: Vec<Heard>,
}

impl Events {
    /// Resolves all of them; fails with the first error.
    #[allow(clippy::result_large_err)] // A diagnostic is what every crate answers with.
    pub fn of(program: &Program, network: &Network, stacks: Stacks<'_, '_>) -> Result<Events, Diagnostic> {
        let mut wrong = Vec::new();
        let events = Events::read(program, network, stacks, &mut wrong);
        wrong.into_iter().next().map_or(Ok(events), Err)
    }

    /// All errors; hosts without a stack are skipped.
    pub fn wrong(program: &Program, network: &Network, stacks: Stacks<'_, '_>) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        Events::read(program, network, stacks, &mut wrong);
        // A name that nothing in the network binds is reported once.
        for found in wrong.iter_mut().filter(|found| found.code == mokume_semantics::codes::UNKNOWN_HANDLE) {
            found.lacks.push(lost::within(network.name.span, &found.message));
        }
        lost::leave_out(&mut wrong);
        wrong
    }

    fn read(program: &Program, network: &Network, stacks: Stacks<'_, '_>, wrong: &mut Vec<Diagnostic>) -> Events {
        let stack = |host: u32| stacks(network.hosts.get(host as usize)?.stack.0);
        let names: Vec<Vec<String>> = (0..network.hosts.len()).map(|host| names_of(network, host as u32)).collect();
        let names = |host: u32| names[host as usize].as_slice();
        let heard = casts::heard(program, network, stacks, wrong);
        let tallies = Tallies::of(program, network, stacks, wrong);
        let mut events = Events { at: Vec::new(), whens: Vec::new(), expectations: Vec::new(), tallies, heard };
        for (at, host, step) in &network.script {
            let Some(stack) = stack(*host) else { continue };
            let input = network_input(program, stack, step, Bound::Here(names(*host)));
            events.at.extend(kept(input, wrong).map(|call| (*at, *host as usize, call)));
        }
        for when in &network.whens {
            let (Some(from), Some(to)) = (stack(when.output.host), stack(when.host)) else { continue };
            let output = kept(network_output(program, from, &when.output, names(when.output.host)), wrong);
            let bound = names(when.output.host);
            let bound = if when.host == when.output.host { Bound::Here(bound) } else { Bound::There(bound) };
            let input = kept(network_input(program, to, &when.step, bound), wrong);
            events.whens.extend(output.zip(input));
        }
        for expectation in &network.expectations {
            let Some(stack) = stack(expectation.output.host) else { continue };
            let output = network_output(program, stack, &expectation.output, names(expectation.output.host));
            events.expectations.extend(kept(output, wrong));
        }
        events
    }

    /// The inputs of `at`; their arguments are resolved when their time comes.
    pub fn script(&self) -> Vec<ScriptedInput> {
        let input = |(at, host, call): &(u64, usize, Call)| ScriptedInput {
            at: *at,
            host: *host,
            port: call.port,
            event: call.event,
            args: Vec::new(),
        };
        self.at.iter().map(input).collect()
    }
}

/// The names that the outputs of a host bind.
fn names_of(network: &Network, host: u32) -> Vec<String> {
    let outputs = network.whens.iter().map(|when| &when.output);
    let outputs = outputs.chain(network.expectations.iter().map(|expectation| &expectation.output));
    let mut names = BTreeSet::new();
    outputs.filter(|output: &&HostOutput| output.host == host).for_each(|output| bound_by(&output.args, &mut names));
    names.into_iter().collect()
}

fn bound_by(args: &Args, names: &mut BTreeSet<String>) {
    let mut open: Vec<&Arg> = args.given.iter().flat_map(|given| &given.values).collect();
    while let Some(arg) = open.pop() {
        match arg {
            Arg::Bind(name) => drop(names.insert(name.clone())),
            Arg::Packet(packet) => open.extend(packet.parts.iter().flat_map(|part| part.args())),
            Arg::Word(_) | Arg::Octets(_) | Arg::Handle(_) | Arg::Any | Arg::Sum { .. } => {}
        }
    }
}

/// An expectation that was not met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Failed {
    /// The index of the network's expectation; `None` for an input that could not be made.
    pub expectation: Option<usize>,
    /// The virtual time in nanoseconds at which it was known.
    pub at: u64,
    /// `file:line:column`.
    pub place: String,
    /// The text in the source.
    pub wanted: String,
    /// Whether it came too often, or came at all; else it came too seldom or not at all.
    pub is_too_much: bool,
    /// What happened instead.
    pub found: String,
    /// For a report: its cause, for people.
    pub cause: String,
    /// Outputs that came instead of it, or that exceeded the count: times, and texts as in the log.
    pub instead: Vec<(u64, String)>,
    /// How many outputs of that event came in time and did not match.
    pub others: u64,
    /// If no output of that event came: the first of each other event of its port.
    pub beside: Vec<(u64, String)>,
}

/// The most outputs shown for an expected one.
const MOST_SHOWN: usize = 3;

/// Outputs of the expected event that did not match.
#[derive(Clone, Default)]
struct Others {
    /// How many did not match.
    count: u64,
    /// The nearest of them, of equals the earliest first: how near, when, which.
    nearest: Vec<(Likeness, u64, Output)>,
    /// The first outputs that matched, if they were too few.
    met: Vec<(u64, Output)>,
    /// The first that matched too late.
    late: Option<(u64, Output)>,
    /// The first that exceeded the count.
    beyond: Option<(u64, Output)>,
    /// Outputs of the same port with another event: the first of each.
    beside: Vec<(u64, Output)>,
}

impl Others {
    fn add(&mut self, likeness: Likeness, at: u64, output: &Output) {
        self.count += 1;
        let place = self.nearest.iter().position(|(known, _, _)| *known < likeness).unwrap_or(self.nearest.len());
        self.nearest.insert(place, (likeness, at, output.clone()));
        self.nearest.truncate(MOST_SHOWN);
    }
}

/// Watches the run: binds names, triggers inputs, counts expected outputs.
#[derive(Clone)]
pub(super) struct Watcher<'a> {
    events: &'a Events,
    network: &'a Network,
    automata: &'a [&'a Automaton],
    /// The names that each host's outputs have bound.
    names: Vec<Names>,
    /// The sessions in each host's outputs, in order.
    sessions: Vec<Vec<Handle>>,
    /// How many of them belonged to lives that have ended.
    before: Vec<usize>,
    /// Casts, deliveries and views of hosts.
    log: Log,
    /// How often each expected output has come in time, and when that became wrong.
    counts: Vec<(u64, Option<u64>)>,
    /// What came instead.
    others: Vec<Others>,
    /// Inputs with unbound names: when, where, why.
    left_out: Vec<(u64, Span, String)>,
    /// Whether the output of each `when` has come.
    met: Vec<bool>,
}

impl<'a> Watcher<'a> {
    /// A watcher of a network, before its start.
    pub fn new(events: &'a Events, network: &'a Network, automata: &'a [&'a Automaton]) -> Self {
        let names = vec![Names::default(); automata.len()];
        let counts = vec![(0, None); events.expectations.len()];
        let others = vec![Others::default(); events.expectations.len()];
        let (sessions, before) = (vec![Vec::new(); automata.len()], vec![0; automata.len()]);
        let log = Log::of(&events.heard);
        let (left_out, met) = (Vec::new(), vec![false; events.whens.len()]);
        Watcher { events, network, automata, names, sessions, before, log, counts, others, left_out, met }
    }

    /// The outputs of `when` lines that never came.
    pub fn unmet(&self) -> Vec<Span> {
        let whens = self.network.whens.iter().zip(&self.met).filter(|(_, met)| !**met);
        whens.map(|(when, _)| when.output.span).collect()
    }

    /// The failures, now that the network has ended. `show` gives the text of a host's output; `written`, the notation of its values.
    pub fn failed(
        &self,
        sources: &SourceMap,
        (show, written): (Show<'_>, &dyn Fn(usize) -> &'a Written),
    ) -> Vec<Failed> {
        let expectations = self.network.expectations.iter().enumerate();
        let mut failed: Vec<Failed> =
            expectations.filter_map(|(index, expectation)| self.missed(index, expectation, sources)).collect();
        for missed in &mut failed {
            let Some(index) = missed.expectation else { continue };
            let host = self.network.expectations[index].output.host as usize;
            let stack = (self.automata[host], written(host), &self.names[host]);
            let pattern = &self.events.expectations[index];
            let shown = |(at, output): (u64, &Output)| {
                // What is of another event is shown as in the log.
                let is_it = (pattern.port, pattern.event) == (output.port, output.event);
                let by_fields = is_it.then(|| pattern.shown_like(stack, output, &record::datum)).flatten();
                (at, by_fields.unwrap_or_else(|| show(host, output)))
            };
            missed.instead = self.instead(index, missed).into_iter().map(shown).collect();
            if missed.instead.is_empty() {
                let beside = self.others[index].beside.iter().take(MOST_SHOWN);
                missed.beside = beside.map(|(at, output)| shown((*at, output))).collect();
            }
        }
        failed.extend(self.left_out.iter().map(|(at, span, why)| Failed {
            at: *at,
            place: place(sources, *span),
            wanted: text(sources, *span),
            found: format!("it was not put in: {why}"),
            ..Failed::default()
        }));
        failed.sort_by_key(|failed| failed.at);
        failed
    }

    /// The promises that were broken.
    pub fn broken(&self, sources: &SourceMap, until: u64) -> Vec<Failed> {
        let hosts: Vec<&str> = self.network.hosts.iter().map(|host| host.name.text.as_str()).collect();
        let promises = self.network.promises.iter();
        let found = promises.filter_map(|promise| Some((promise.span, self.log.broken(promise.what, &hosts, until)?)));
        let failed = found.map(|(span, Broken { at, found, shown })| Failed {
            at,
            place: place(sources, span),
            wanted: format!("expect casts {}", text(sources, span)),
            found,
            instead: shown,
            ..Failed::default()
        });
        failed.collect()
    }

    /// What came of the event instead, in order of time.
    fn instead(&self, index: usize, missed: &Failed) -> Vec<(u64, &Output)> {
        let others = &self.others[index];
        if missed.is_too_much {
            return others.beyond.iter().map(|(at, output)| (*at, output)).collect();
        }
        let right = others.met.iter().chain(&others.late).map(|(at, output)| (*at, output));
        let nearest = others.nearest.iter().map(|(_, at, output)| (*at, output));
        let mut all: Vec<(u64, &Output)> = right.chain(nearest).take(MOST_SHOWN).collect();
        all.sort_by_key(|(at, _)| *at);
        all
    }

    fn missed(&self, index: usize, expectation: &Expectation, sources: &SourceMap) -> Option<Failed> {
        let (came, broken) = self.counts[index];
        let (at, found) = match (expectation.times, broken) {
            (Times::Some, _) if came == 0 && !self.unbound(index).is_empty() => {
                let names = self.unbound(index).join("`, `");
                (expectation.until, format!("it did not come: nothing has bound `{names}`"))
            }
            (Times::Exactly(0), Some(at)) => (at, "it came".to_string()),
            (Times::Exactly(wanted), Some(at)) => (at, format!("it came more often than {}", times(wanted))),
            (Times::Exactly(wanted), None) if came < wanted => {
                (expectation.until, format!("it came {}, not {}", times(came), times(wanted)))
            }
            (Times::Some, _) if came == 0 => (expectation.until, "it did not come".to_string()),
            (Times::Exactly(_) | Times::Some, _) => return None,
        };
        let span = expectation.span;
        let (place, wanted) = (place(sources, span), text(sources, span));
        let (expectation, is_too_much) = (Some(index), broken.is_some());
        let others = if is_too_much { 0 } else { self.others[index].count };
        Some(Failed { expectation, at, place, wanted, is_too_much, found, others, ..Failed::default() })
    }

    /// The names in an expectation that nothing has bound, so that nothing matches.
    fn unbound(&self, index: usize) -> Vec<String> {
        let host = self.network.expectations[index].output.host as usize;
        let mut open: Vec<&mokume_script::Arg> = self.events.expectations[index].args.iter().collect();
        let mut names = BTreeSet::new();
        while let Some(arg) = open.pop() {
            match arg {
                mokume_script::Arg::Name(name) | mokume_script::Arg::Sum { name, .. } => {
                    names.insert(name.clone());
                }
                mokume_script::Arg::Packet(packet) => {
                    let wires = packet.parts.iter().filter_map(|part| match part {
                        mokume_script::PacketPart::Wire(wire) => Some(&wire.fields),
                        mokume_script::PacketPart::Octets(_) | mokume_script::PacketPart::Any => None,
                    });
                    open.extend(wires.flatten().map(|(_, arg)| arg));
                }
                mokume_script::Arg::Word(_)
                | mokume_script::Arg::Octets(_)
                | mokume_script::Arg::Null
                | mokume_script::Arg::Bind(_)
                | mokume_script::Arg::Any
                | mokume_script::Arg::OneOf(_) => {}
            }
        }
        names.into_iter().filter(|name| self.names[host].get(name).is_none()).collect()
    }

    fn see_sessions(&mut self, host: usize, output: &Output) {
        for arg in &output.args {
            let Datum::Handle(handle) = arg else { continue };
            let known = &self.sessions[host][self.before[host]..];
            if *handle != Handle::NULL && !known.contains(handle) {
                self.sessions[host].push(*handle);
                self.names[host].bind(&format!("s{}", self.sessions[host].len()), arg.clone(), 0);
            }
        }
    }

    fn count(&mut self, at: u64, host: usize, output: &Output) {
        for (index, expectation) in self.network.expectations.iter().enumerate() {
            let pattern = &self.events.expectations[index];
            if expectation.output.host as usize == host && pattern.is_beside(output) {
                let beside = &mut self.others[index].beside;
                if !beside.iter().any(|(_, known)| known.event == output.event) {
                    beside.push((at, output.clone()));
                }
                continue;
            }
            let likeness = pattern.likeness(self.automata[host], &self.names[host], output);
            let Some(likeness) = likeness.filter(|_| expectation.output.host as usize == host) else { continue };
            let mut names = self.names[host].clone();
            let is_met = pattern.meets(self.automata[host], &mut names, output);
            if at > expectation.until {
                if is_met {
                    self.others[index].late.get_or_insert((at, output.clone()));
                }
                continue;
            }
            if !is_met {
                self.others[index].add(likeness, at, output);
                continue;
            }
            self.names[host].learn(&names);
            let (came, broken) = &mut self.counts[index];
            *came += 1;
            if self.others[index].met.len() < MOST_SHOWN {
                self.others[index].met.push((at, output.clone()));
            }
            if matches!(expectation.times, Times::Exactly(wanted) if *came > wanted) {
                broken.get_or_insert(at);
                self.others[index].beyond.get_or_insert((at, output.clone()));
            }
        }
    }
}

/// The text of a host's output.
type Show<'s> = &'s dyn Fn(usize, &Output) -> String;

impl Watch for Watcher<'_> {
    fn output(&mut self, at: u64, host: usize, output: &Output) -> Vec<ScriptedInput> {
        self.see_sessions(host, output);
        self.log.output(at, host, self.automata[host], &self.events.heard[host], output);
        self.count(at, host, output);
        let mut inputs = Vec::new();
        for (at_line, (when, (pattern, call))) in self.network.whens.iter().zip(&self.events.whens).enumerate() {
            if when.output.host as usize != host || (pattern.port, pattern.event) != (output.port, output.event) {
                continue;
            }
            let mut names = self.names[host].clone();
            if !pattern.meets(self.automata[host], &mut names, output) {
                continue;
            }
            self.names[host].learn(&names);
            self.met[at_line] = true;
            let to = when.host as usize;
            match call.data(self.automata[to], &names) {
                Ok(args) => {
                    let at = at.saturating_add(when.delay);
                    inputs.push(ScriptedInput { at, host: to, port: call.port, event: call.event, args });
                }
                Err(why) => self.left_out.push((at, when.step.span, why)),
            }
        }
        inputs
    }

    fn input(&mut self, at: u64, host: usize, port: PortId, event: u32, args: &[Datum]) {
        self.log.input(at, host, self.automata[host], &self.events.heard[host], ((port, event), args));
    }

    fn turned(&mut self, host: usize, begins: bool) {
        self.log.turned(host, begins);
        self.before[host] = self.sessions[host].len();
    }

    fn arguments(&mut self, at: u64, index: usize, input: &ScriptedInput) -> Option<Vec<Datum>> {
        // After them come those that outputs triggered, which are complete.
        let Some((_, host, call)) = self.events.at.get(index) else { return Some(input.args.clone()) };
        let args = call.data(self.automata[*host], &self.names[*host]);
        args.map_err(|why| self.left_out.push((at, self.network.script[index].2.span, why))).ok()
    }
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_string(),
        1 => "once".to_string(),
        2 => "twice".to_string(),
        more => format!("{more} times"),
    }
}

/// `file:line:column`
pub(super) fn place(sources: &SourceMap, span: Span) -> String {
    let (line, column) = sources.line_column(span.file, span.start);
    format!("{}:{line}:{column}", sources.file(span.file).name)
}

/// The text in the source, on one line.
pub(super) fn text(sources: &SourceMap, span: Span) -> String {
    let text = &sources.file(span.file).text;
    let text = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
