//! The state of the stack at a point of the capture.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use mokume_interpret::Instance;
use mokume_reaction::trace::{Held, Step, Trace};
use mokume_reaction::{
    Accounts, Automaton, Body, CellId, ClassId, Datum, Fallible, Machine, OpKind, Outcome, PortId, Trigger,
};
use mokume_script::PortEvent;
use mokume_simulate::ScriptedInput;

use super::host::Host;
use super::noted::{self, How, Noter, Shared};
use super::said::{Came, Fate};
use crate::dissect::Layer;
use crate::failure::Failure;
use crate::record;
use crate::sim::Applications;

/// A frame that the stack sent and the capture has not shown yet.
#[derive(Clone)]
pub(super) struct Pending {
    /// How many frames it had sent before.
    pub number: u64,
    pub at: u64,
    pub octets: Vec<u8>,
}

/// A future input of an application: of the network's script, by its index, or triggered by an output.
#[derive(Clone)]
struct Input {
    place: Option<usize>,
    input: ScriptedInput,
}

/// A stack at a time of a capture. A clone is independent.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub instance: Instance,
    noter: Shared,
    applications: Option<Applications<'a>>,
    /// Sorted by time, and by the order in which they became known.
    coming: BTreeMap<(u64, u64), Input>,
    order: u64,
    pub pending: Vec<Pending>,
    /// How many frames it has sent.
    pub sent: u64,
    /// The last packets that matched frames of the stack.
    pub shown: Vec<(u64, Vec<u8>)>,
    pub now: u64,
    /// How much longer the stack has run than the capture.
    pub ahead: u64,
    /// How often its future was searched for a packet that the host sent: before one is found it is unknown how long the host
    /// had been running.
    pub searches: usize,
    /// Whether its start handlers have run.
    pub has_started: bool,
    /// The stack as it was when they had: what it drops then, it drops whatever came before.
    fresh: Option<Arc<Instance>>,
}

/// The most calls between two packets: a stack that never rests stops there.
const CALLS: usize = 1_000_000;

/// The most frames of the stack, and of the capture, that are remembered.
const REMEMBERED: usize = 4096;

impl<'a> State<'a> {
    /// The stack of a host, started.
    pub fn new(host: &'a Host<'_>) -> State<'a> {
        let noter: Shared = Arc::new(Mutex::new(Noter::default()));
        let mut instance = host.instance();
        instance.watch(noter.clone());
        instance.trace();
        let mut state = State {
            instance,
            noter,
            applications: host.at_work(),
            coming: BTreeMap::new(),
            order: 0,
            pending: Vec::new(),
            sent: 0,
            shown: Vec::new(),
            now: 0,
            ahead: 0,
            searches: 0,
            has_started: false,
            fresh: None,
        };
        for (place, input) in host.applications.map_or_else(Vec::new, |(prepared, number)| prepared.inputs(number)) {
            state.put_in(input.at, Input { place: Some(place), input });
        }
        state
    }

    /// Runs the start handlers, before anything else.
    pub fn start(&mut self, host: &Host<'_>) {
        self.has_started = true;
        let outcome = self.instance.start(0);
        self.take(host, outcome, &mut Vec::new());
        self.forget();
        self.fresh = Some(Arc::new(self.instance.clone()));
    }

    fn put_in(&mut self, at: u64, input: Input) {
        self.coming.insert((at, self.order), input);
        self.order += 1;
    }

    /// Runs up to a time: timers, and inputs of applications.
    pub fn run_to(&mut self, host: &Host<'_>, until: u64) -> Result<(), Failure> {
        match self.run_until(host, until, (CALLS, |_: &State<'_>| false)) {
            true => Ok(()),
            false => {
                let message = format!("the stack does not come to rest at {} ns", self.now);
                Err(Failure::of_program(message, "is there a timer of 0 s or of some nanoseconds?"))
            }
        }
    }

    /// The same, or until a condition holds that is tested after each call, for at most this many calls; returns
    /// whether one of the two happened.
    pub fn run_until(
        &mut self,
        host: &Host<'_>,
        until: u64,
        (calls, enough): (usize, impl Fn(&State<'_>) -> bool),
    ) -> bool {
        for _ in 0..calls {
            let due = self.instance.next_deadline();
            let input = self.coming.first_key_value().map(|((at, _), _)| *at);
            let Some(next) = due.into_iter().chain(input).min().filter(|next| *next <= until) else {
                self.now = self.now.max(until);
                return true;
            };
            self.now = self.now.max(next);
            let outcome = match due.filter(|due| input.is_none_or(|input| *due <= input)) {
                Some(_) => self.instance.advance(self.now),
                None => self.next_input(),
            };
            self.take(host, outcome, &mut Vec::new());
            self.forget();
            if enough(self) {
                return true;
            }
        }
        false
    }

    fn next_input(&mut self) -> Outcome {
        let Some((_, Input { place, input })) = self.coming.pop_first() else { return Outcome::default() };
        let args = match (place, &mut self.applications) {
            (Some(place), Some(applications)) => applications.given(self.now, place, &input),
            _ => Some(input.args),
        };
        args.map_or_else(Outcome::default, |args| self.instance.input(self.now, input.port, input.event, &args))
    }

    /// Takes the outputs of a call; those to applications are added to `told`.
    fn take(&mut self, host: &Host<'_>, outcome: Outcome, told: &mut Vec<String>) -> usize {
        let mut frames = 0;
        for output in outcome.outputs {
            let inputs = self.applications.as_mut().map_or_else(Vec::new, |known| known.hear(self.now, &output));
            for input in inputs {
                self.put_in(input.at.max(self.now), Input { place: None, input });
            }
            match (output.port == host.device, output.args.as_slice()) {
                (true, [Datum::Message(octets)]) => {
                    frames += 1;
                    self.pending.push(Pending { number: self.sent, at: self.now, octets: octets.clone() });
                    self.sent += 1;
                    if self.pending.len() > REMEMBERED {
                        self.pending.remove(0);
                    }
                }
                _ => told.push(self::told(host, output.port, output.event, &output.args)),
            }
        }
        frames
    }

    /// Discards the records of a call.
    fn forget(&mut self) {
        drop(noted::take(&self.noter, |_| true));
        drop(self.instance.traced());
        drop(self.instance.take_recording());
    }

    /// A frame comes in.
    pub fn come(&mut self, host: &Host<'_>, octets: &[u8]) -> Came {
        let before = self.instance.accounts();
        let args = [Datum::Message(octets.to_vec())];
        let first = self.instance.input(self.now, host.device, host.frame, &args);
        let refused = first.refused;
        let (mut outputs, mut reports) = (Vec::new(), reported(&first));
        let trace = self.instance.traced();
        let mut kept = kept(self.instance.automaton(), trace);
        let mut answers = self.take(host, first, &mut outputs);
        // Its `later` events, and timers that it set for now, are its consequences.
        for _ in 0..CALLS {
            if self.instance.next_deadline().is_none_or(|due| due > self.now) {
                break;
            }
            let more = self.instance.advance(self.now);
            reports.extend(reported(&more));
            let trace = self.instance.traced();
            kept.extend(self::kept(self.instance.automaton(), trace));
            answers += self.take(host, more, &mut outputs);
        }
        let after = self.instance.accounts();
        let ended = noted::take(&self.noter, |reason| count(&before, reason) < count(&after, reason));
        drop(self.instance.take_recording());
        if after.held <= before.held {
            kept.clear();
        }
        kept.dedup();
        let gone = after.gone - before.gone;
        let is_dropped = ended.iter().any(|ended| ended.how == How::Dropped);
        let is_low = ended.iter().filter(|ended| ended.how == How::Dropped).all(|at| host.lowest.contains(&at.layer));
        let is_turned_away = is_dropped && is_low && !is_damaged(host, octets);
        let fate = match () {
            () if refused => Fate::Refused,
            () if is_turned_away && self.is_for_others(host, octets, (&before, &after)) => Fate::NotForIt,
            () if is_dropped || gone > 0 => Fate::Dropped,
            () if !kept.is_empty() => Fate::Kept,
            () => Fate::Taken,
        };
        Came { fate, ended, kept, outputs, answers, reports, gone, is_turned_away }
    }

    /// Whether the stack drops a frame for the same reasons when nothing has come yet: so its address decides, and not what came before.
    fn is_for_others(&self, host: &Host<'_>, octets: &[u8], (before, after): (&Accounts, &Accounts)) -> bool {
        let Some(fresh) = &self.fresh else { return true };
        let mut fresh = Instance::clone(fresh);
        let first = fresh.accounts();
        drop(fresh.input(0, host.device, host.frame, &[Datum::Message(octets.to_vec())]));
        drop(noted::take(&self.noter, |_| true));
        let then = fresh.accounts();
        let grows = |(before, after): (&Accounts, &Accounts), reason| count(before, reason) < count(after, reason);
        let dropped = after.dropped.iter().map(|(reason, _)| *reason).filter(|reason| grows((before, after), *reason));
        dropped.into_iter().all(|reason| grows((&first, &then), reason))
    }

    /// Marks a frame of the stack as shown by a packet of the capture.
    pub fn show(&mut self, place: usize, packet: u64) {
        let pending = self.pending.remove(place);
        self.shown.push((packet, pending.octets));
        if self.shown.len() > REMEMBERED {
            self.shown.remove(0);
        }
    }
}

/// Whether the decoders, or the layers in any state, reject a frame.
fn is_damaged(host: &Host<'_>, octets: &[u8]) -> bool {
    host.dissected(octets).layers.iter().any(Layer::is_refused)
}

fn reported(outcome: &Outcome) -> Vec<String> {
    let one = |(report, place): &(mokume_reaction::Report, String)| format!("{report} ({place})");
    outcome.reports.iter().map(one).collect()
}

fn count(accounts: &Accounts, reason: mokume_reaction::ReasonId) -> u64 {
    accounts.dropped.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count)
}

/// The cells that contain a message now and did not before, without those that a layer filled on the way down: what waits there is
/// an answer.
fn kept(automaton: &Automaton, trace: Option<Trace>) -> Vec<String> {
    let mut found = Vec::new();
    let Some(trace) = trace else { return found };
    for change in &trace.changes {
        let class = automaton.class(change.class);
        let layer = &automaton.layers[class.layer.index()].name;
        let is_answer = |cell: CellId| {
            let keeps = |step: &&Step| {
                let body = &automaton.handler(step.handler).body;
                keeps(automaton, body, (change.class, cell), &mut BTreeSet::new())
            };
            let mut by = trace.steps.iter().filter(keeps).peekable();
            let is_down = |step: &Step| automaton.handler(step.handler).trigger == Trigger::Event(SEND.to_string());
            by.peek().is_some() && by.all(is_down)
        };
        let filled = change.cells.iter().filter(|cell| matches!(cell.to, Some(Held::Message(_))));
        for cell in filled.filter(|cell| !is_answer(cell.cell)) {
            found.push(format!("{layer}.{}", class.cells[cell.cell.index()].name));
        }
    }
    found
}

/// The event with which a message goes down.
const SEND: &str = "send";

/// Whether a body, or one that it calls, puts messages into a cell.
fn keeps(automaton: &Automaton, body: &Body, into: (ClassId, CellId), seen: &mut BTreeSet<usize>) -> bool {
    let attempts = body.blocks.iter().filter_map(|block| block.terminator.attempt());
    let tried = attempts.filter_map(|attempt| match attempt {
        Fallible::TryRun { procedure, .. } => Some(*procedure),
        _ => None,
    });
    let ops = || body.blocks.iter().flat_map(|block| &block.ops).map(|op| &op.kind);
    let called = ops().filter_map(|op| match op {
        OpKind::Run { procedure, .. } => Some(*procedure),
        _ => None,
    });
    let is_it = |op: &OpKind| matches!(op, OpKind::Keep { object, cell, .. } if *cell == into.1 && body.class_of(*object) == Some(into.0));
    ops().any(is_it)
        || called
            .chain(tried)
            .any(|of| seen.insert(of.index()) && keeps(automaton, &automaton.functions[of.index()].body, into, seen))
}

/// `udp.deliver(session 1, "hello")`
fn told(host: &Host<'_>, port: PortId, event: u32, args: &[Datum]) -> String {
    let automaton = &host.compiled.composed;
    let of = &automaton.ports[port.index()];
    let output = &of.outputs[event as usize];
    let args = record::arguments(automaton, &host.compiled.written, PortEvent::output(port, output), args);
    format!("{}.{}{args}", of.name, output.event)
}
