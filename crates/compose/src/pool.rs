//! The pool: what is kept, what waits in devices, and what a reaction needs (docs/semantics.md, M2 to M4).

use std::collections::BTreeSet;

use mokume_base::{Code, Diagnostic};
use mokume_reaction::{Automaton, CellKind, PortKind, Type};

/// What the composed stack is asked to run with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Frames that wait in a device's queue at most, for each device.
    pub device_queue: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options { device_queue: 16 }
    }
}

/// One part of the sum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    pub what: String,
    pub buffers: u64,
}

/// All that the pool must hold at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pool {
    pub needs: Vec<Need>,
}

/// Two gigabytes of buffers: more is a slip of the keyboard, or several smaller stacks.
pub const MOST_BUFFERS: u32 = 1 << 20;

/// A stack's pool is smaller than what it may hold at once (docs/semantics.md, M2), or larger than anybody has.
pub const POOL: Code = Code("M0902");

/// One reaction may put out more than there is room for anywhere.
pub const OUTPUTS: Code = Code("M0904");

/// The fault, if one reaction may put out more than [`MOST_BUFFERS`]: room for all is made at the start.
pub fn check_outputs(automaton: &Automaton, outputs: u32) -> Option<Diagnostic> {
    if outputs <= MOST_BUFFERS {
        return None;
    }
    let text = format!("a reaction of `{}` may put out {outputs} messages and events", automaton.name);
    let diagnostic = Diagnostic::error(OUTPUTS, text).note(format!("there is room for {MOST_BUFFERS} at most"));
    Some(diagnostic.help("bound its loops, or say `outputs 32` in the stack: what is still to settle then waits"))
}

/// What the pool must hold (docs/semantics.md, M2). `peak` is the most new buffers that one reaction takes (M3).
pub fn pool(automaton: &Automaton, options: Options, peak: u32) -> Pool {
    let mut needs = kept(automaton);
    for port in automaton.ports.iter().filter(|port| port.kind == PortKind::Device) {
        let carries = port.outputs.iter().flat_map(|output| &output.params).any(|(_, ty)| *ty == Type::Msg);
        if carries {
            let what = format!("queue of device {}", port.name);
            needs.push(Need { what, buffers: options.device_queue.into() });
        }
    }
    let entering = automaton.ports.iter().flat_map(|port| &port.inputs).map(|input| messages(&input.params)).max();
    if let Some(buffers) = entering.filter(|messages| *messages > 0) {
        // It costs the reaction nothing, but until it is kept, sent or dropped it is nobody else's.
        needs.push(Need { what: "message that comes in".to_string(), buffers });
    }
    needs.push(Need { what: "peak of a reaction".to_string(), buffers: peak.into() });
    Pool { needs }
}

/// Quotas once each, places without one, and what `later` events carry.
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
                    needs.push(Need { what, buffers: u64::from(amount) * u64::from(owner.capacity) });
                }
                None => {
                    let what = format!("places {}.{}, {}", class.name, cell.name, times(*size, class.capacity));
                    needs.push(Need { what, buffers: u64::from(*size) * u64::from(class.capacity) });
                }
            }
        }
    }
    for (place, handler) in automaton.handlers.iter().enumerate() {
        let buffers = messages(&handler.params) * u64::from(handler.later_capacity);
        if buffers > 0 {
            let what = format!("later {}", automaton.handler_name(place.into()));
            needs.push(Need { what, buffers });
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

impl Pool {
    /// What the pool must have, at least 1.
    pub fn sum(&self) -> u32 {
        let sum = self.needs.iter().fold(0u64, |sum, need| sum.saturating_add(need.buffers));
        u32::try_from(sum).unwrap_or(u32::MAX).max(1)
    }

    /// A line for each part, and the sum.
    pub fn picture(&self) -> String {
        let lines = self.needs.iter().map(|need| format!("{:>8}  {}", need.buffers, need.what));
        let sum = format!("{:>8}  in all", self.sum());
        lines.chain([sum]).collect::<Vec<_>>().join("\n")
    }

    /// The fault, if what the stack says is too little, or what it needs more than [`MOST_BUFFERS`]. 0 in the
    /// automaton means that it says nothing: then it is given the sum.
    pub fn check(&self, automaton: &Automaton) -> Option<Diagnostic> {
        if self.sum() > MOST_BUFFERS {
            let text = format!("`{}` asks for {} message buffers", automaton.name, self.sum());
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
