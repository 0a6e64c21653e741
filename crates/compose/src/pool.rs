//! The pool: kept messages, messages that wait in devices, and what a reaction needs (docs/semantics.md, M2 to M4).

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Code, Diagnostic};
use mokume_reaction::{Automaton, CellKind, HandlerId, PortKind, Type};

use crate::held::Term;
use crate::peak::Amount;

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

/// The fault, if one reaction may have more than [`MOST_BUFFERS`] outputs: room for all is allocated at the start.
pub fn check_outputs(automaton: &Automaton, outputs: u32) -> Option<Diagnostic> {
    if outputs <= MOST_BUFFERS {
        return None;
    }
    let text =
        format!("a reaction of `{}` may put out {} messages and events", automaton.name, counted(outputs.into()));
    let diagnostic = Diagnostic::error(OUTPUTS, text).note(format!("there is room for {MOST_BUFFERS} at most"));
    Some(diagnostic.help("bound its loops, send less for each message, or say `outputs 32` in the stack: what is still to settle then waits"))
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
        let lines = self.needs.iter().map(|need| format!("{:>8}  {}", counted(need.buffers), need.what));
        let sum = format!("{:>8}  in all", counted(self.sum().into()));
        lines.chain([sum]).collect::<Vec<_>>().join("\n")
    }

    /// The fault, if the stack's own size is too small, or it needs more than [`MOST_BUFFERS`]. 0 in the automaton
    /// means that the stack gives no size: then it gets the sum.
    pub fn check(&self, automaton: &Automaton) -> Option<Diagnostic> {
        if self.sum() > MOST_BUFFERS {
            let text = format!("`{}` asks for {} message buffers", automaton.name, counted(self.sum().into()));
            let diagnostic = Diagnostic::error(POOL, text).note(format!("it holds at once\n{}", self.picture()));
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
