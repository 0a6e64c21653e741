//! The pool: kept messages, messages that wait in devices, and what a reaction needs (docs/semantics.md, M2 to M4).

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Code, Diagnostic};
use mokume_reaction::{Automaton, CellKind, HandlerId, PortKind, Type};

use crate::advice::{place, source};
use crate::findings::Finding;
use crate::graph::EventGraph;
use crate::held::Term;
use crate::peak::{growth, Amount};

/// The options of a composed stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The most frames that wait in a device's queue, for each device.
    pub device_queue: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { device_queue: 16 }
    }
}

/// One term of the sum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    pub what: String,
    pub buffers: u64,
    /// Its own terms, if it is a sum: what is taken, and what is given back before the peak.
    pub parts: Vec<(String, i64)>,
}

impl Need {
    fn of(what: String, buffers: u64) -> Need {
        Need { what, buffers, parts: Vec::new() }
    }
}

/// All that the pool must hold at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pool {
    pub needs: Vec<Need>,
}

/// Two gigabytes of buffers: more is a typing mistake, or several smaller stacks.
pub const MOST_BUFFERS: u32 = 1 << 20;

/// A stack's pool is smaller than what it may hold at once (docs/semantics.md, M2), or larger than any machine's
/// memory.
pub const POOL: Code = Code("M0902");

/// One reaction may have more outputs than there is room for.
pub const OUTPUTS: Code = Code("M0904");

/// The most handlers that are named, of those that multiply.
const MOST_STEPS: usize = 3;
/// The most terms of a peak that a diagnostic shows.
const MOST_PARTS: usize = 8;

/// The fault, if one reaction may have more than [`MOST_BUFFERS`] outputs: room for all is allocated at the start. It
/// shows what multiplies, and what such a reaction holds.
pub fn check_outputs(automaton: &Automaton, graph: &EventGraph, outputs: u32, pool: &Pool) -> Option<Finding> {
    if outputs <= MOST_BUFFERS {
        return None;
    }
    let growth = growth(automaton, graph);
    let text =
        format!("a reaction of `{}` may put out {} messages and events", automaton.name, counted(outputs.into()));
    let mut diagnostic = Diagnostic::error(OUTPUTS, text).note(format!("there is room for {MOST_BUFFERS} at most"));
    let steps = &growth.steps[..growth.steps.len().min(MOST_STEPS)];
    let settles = growth.settles.filter(|(_, times)| *times > 1).map(|(class, times)| {
        format!("\n{:>12}  times objects of `{}` settle", counted(times), automaton.class(class).name)
    });
    if settles.is_some() || !steps.is_empty() {
        let lines = steps.iter().map(|step| {
            let emission = &graph.emissions[step.emission];
            let rounds: Vec<String> = step.rounds.iter().map(u32::to_string).collect();
            let loops = match rounds.len() {
                0 => String::new(),
                1 => format!(", in a loop of {} rounds", rounds[0]),
                _ => format!(", in loops of {} rounds", rounds.join(" times ")),
            };
            let (name, at) = (graph.name(automaton, step.node), place(automaton, emission.source));
            format!("\n{:>12}  `{name}` emits `{}`{at}{loops}", counted(step.times), emission.event)
        });
        let lines: String = lines.chain(settles).collect();
        diagnostic = diagnostic.note(format!("so many are made of one, and these numbers multiply:{lines}"));
    }
    diagnostic = diagnostic.note(format!("it holds at once\n{}", pool.pictured(MOST_PARTS)));
    let is_in_loop = steps.iter().any(|step| !step.rounds.is_empty());
    diagnostic = diagnostic.help(match is_in_loop {
        true => "give these loops a smaller `limit`, or send less for each message",
        false => "send less for each message",
    });
    if growth.settles.is_some() && automaton.outputs == 0 {
        diagnostic = diagnostic.help("or say `outputs 32` in the stack: what is still to settle then waits");
    }
    let first = steps.first().and_then(|step| source(automaton, graph.emissions[step.emission].source));
    Some(Finding { also: first.zip(Some("most are made here")), ..Finding::of_stack(diagnostic) })
}

/// What the pool must hold (docs/semantics.md, M2). `peak` is the most that one reaction holds beyond what there was
/// (M3).
pub fn pool(automaton: &Automaton, options: Options, peak: &Amount<Term>) -> Pool {
    let mut needs = kept(automaton);
    for port in automaton.ports.iter().filter(|port| port.kind == PortKind::Device) {
        let carries = port.outputs.iter().flat_map(|output| &output.params).any(|(_, ty)| *ty == Type::Msg);
        if carries {
            let what = format!("queue of device {}", port.name);
            needs.push(Need::of(what, options.device_queue.into()));
        }
    }
    let entering = automaton.ports.iter().flat_map(|port| &port.inputs).map(|input| messages(&input.params)).max();
    if let Some(buffers) = entering.filter(|messages| *messages > 0) {
        // It costs the reaction nothing, but it occupies a buffer until it is kept, sent or dropped.
        needs.push(Need::of("message that comes in".to_string(), buffers));
    }
    let buffers = u64::try_from(peak.sum).unwrap_or(0);
    needs.push(Need { what: "peak of a reaction".to_string(), buffers, parts: parts(automaton, peak) });
    Pool { needs }
}

/// The terms of a peak in words, the largest first: what each handler takes and gives back on balance, and where it
/// takes.
fn parts(automaton: &Automaton, peak: &Amount<Term>) -> Vec<(String, i64)> {
    let mut handlers: BTreeMap<HandlerId, (i64, Vec<String>)> = BTreeMap::new();
    let mut parts: Vec<(String, i64)> = Vec::new();
    for (term, sum) in peak.terms.iter().filter(|(_, sum)| **sum != 0) {
        match term {
            Term::At(handler, word, source) => {
                let (all, places) = handlers.entry(*handler).or_default();
                *all = all.saturating_add(*sum);
                if let Some(source) = source.filter(|_| *sum > 0) {
                    let source = &automaton.sources[source.index()];
                    places.push(format!("{word} {}:{}", source.file, source.line));
                }
            }
            Term::Settles(class, each) => {
                let what = format!("{} times {each}, {} settling", sum / each, automaton.class(*class).name);
                parts.push((what, *sum));
            }
            Term::Outputs => parts.push((format!("outputs {}", automaton.outputs), *sum)),
        }
    }
    for (handler, (sum, places)) in handlers.into_iter().filter(|(_, (sum, _))| *sum != 0) {
        parts.push((format!("{}: {}", automaton.handler_name(handler), places.join(", ")), sum));
    }
    parts.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    parts
}

/// Each quota once, places without a quota, and the messages of `later` events.
fn kept(automaton: &Automaton) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut quotas = BTreeSet::new();
    for class in &automaton.classes {
        for cell in &class.cells {
            let CellKind::Messages { size, quota } = &cell.kind else { continue };
            match quota {
                Some((owner, quota)) if !quotas.insert((*owner, *quota)) => {}
                Some((owner, quota)) => {
                    let (owner, cell) = (automaton.class(*owner), automaton.cell(*owner, *quota));
                    let CellKind::Quota { amount } = cell.kind else { continue };
                    let what = format!("quota {}.{} of {}", owner.name, cell.name, times(amount, owner.capacity));
                    needs.push(Need::of(what, u64::from(amount) * u64::from(owner.capacity)));
                }
                None => {
                    let what = format!("places {}.{}, {}", class.name, cell.name, times(*size, class.capacity));
                    needs.push(Need::of(what, u64::from(*size) * u64::from(class.capacity)));
                }
            }
        }
    }
    for (place, handler) in automaton.handlers.iter().enumerate() {
        let buffers = messages(&handler.params) * u64::from(handler.later_capacity);
        if buffers > 0 {
            let what = format!("later {}", automaton.handler_name(place.into()));
            needs.push(Need::of(what, buffers));
        }
    }
    needs
}

fn messages(params: &[(String, Type)]) -> u64 {
    params.iter().filter(|(_, ty)| *ty == Type::Msg).count() as u64
}

fn times(amount: u32, capacity: u32) -> String {
    match capacity {
        1 => amount.to_string(),
        _ => format!("{amount} in {capacity} objects"),
    }
}

/// The text of a number; sums saturate at the largest number.
fn counted(number: u64) -> String {
    match number < u32::MAX.into() {
        true => number.to_string(),
        false => "over 4 billion".to_string(),
    }
}

impl Pool {
    /// The size that the pool must have, at least 1.
    pub fn sum(&self) -> u32 {
        let sum = self.needs.iter().fold(0u64, |sum, need| sum.saturating_add(need.buffers));
        u32::try_from(sum).unwrap_or(u32::MAX).max(1)
    }

    /// The terms, one a line, and the sum.
    pub fn picture(&self) -> String {
        self.pictured(0)
    }

    /// The same, with the largest terms of each term that is large.
    fn pictured(&self, most: usize) -> String {
        let mut lines = Vec::new();
        for need in &self.needs {
            lines.push(format!("{:>8}  {}", counted(need.buffers), need.what));
            let parts = need.parts.iter().filter(|(_, sum)| *sum > 0);
            let parts = parts.map(|(what, sum)| format!("          {:>8}  {what}", counted(sum.unsigned_abs())));
            lines.extend(parts.take(most));
        }
        lines.push(format!("{:>8}  in all", counted(self.sum().into())));
        lines.join("\n")
    }

    /// The fault, if the stack's own size is too small, or it needs more than [`MOST_BUFFERS`]. 0 in the automaton
    /// means that the stack gives no size: then it gets the sum.
    pub fn check(&self, automaton: &Automaton) -> Option<Diagnostic> {
        if self.sum() > MOST_BUFFERS {
            let text = format!("`{}` asks for {} message buffers", automaton.name, counted(self.sum().into()));
            let picture = self.pictured(MOST_PARTS);
            let diagnostic = Diagnostic::error(POOL, text).note(format!("it holds at once\n{picture}"));
            return Some(diagnostic.help(format!("at most {MOST_BUFFERS} are given to one stack: keep less")));
        }
        if automaton.pool == 0 || automaton.pool >= self.sum() {
            return None;
        }
        let message =
            format!("the pool of `{}` has {} buffers and needs {}", automaton.name, automaton.pool, self.sum());
        let diagnostic = Diagnostic::error(POOL, message).note(format!("it holds at once\n{}", self.picture()));
        Some(diagnostic.help("give it that many, or leave the number out; or keep less"))
    }
}
