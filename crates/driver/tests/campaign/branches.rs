//! Branches of handlers, counted once however many stacks have the handler.
//!
//! Handlers are the same when their layers have one definition, their classes and triggers have one name, and their
//! bodies have one form (a stack's constants may leave branches out, or a shape's neighbours add some: then they count
//! on their own).

use std::collections::BTreeMap;

use mokume_reaction::{Automaton, Body, HandlerId, Terminator, Trigger};

/// A branch of a source handler: block and target in a body of this form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Branch {
    /// `Definition.class.trigger`.
    pub handler: String,
    pub form: Vec<(String, &'static str, usize)>,
    pub block: usize,
    pub target: usize,
}

impl Branch {
    /// `Definition.class.trigger label kind -> label`: for people, and to name those that cannot be taken.
    pub fn name(&self, to: &str) -> String {
        let (label, kind, _) = &self.form[self.block];
        format!("{} {label}/{} {kind} {} -> {to}", self.handler, self.block, self.target)
    }
}

/// How often each branch was taken, over all stacks, and what it leads to.
pub type Merged = BTreeMap<Branch, (u64, String)>;

/// Branches of a stack: ends of blocks with more than one target.
pub fn count(automaton: &Automaton) -> u64 {
    let blocks = automaton.handlers.iter().flat_map(|handler| &handler.body.blocks);
    blocks.map(|block| block.end.targets().len()).filter(|targets| *targets > 1).sum::<usize>() as u64
}

pub fn merge(merged: &mut Merged, automaton: &Automaton, coverage: &[(HandlerId, usize, usize, u64)]) {
    for (handler, block, target, times) in coverage {
        let body = &automaton.handler(*handler).body;
        let targets = body.blocks[*block].end.targets();
        if targets.len() < 2 {
            continue;
        }
        let to = body.blocks[targets[*target].block.index()].label.clone();
        let (handler, form) = (name(automaton, *handler), form(body));
        let entry = merged.entry(Branch { handler, form, block: *block, target: *target }).or_insert((0, to));
        entry.0 += times;
    }
}

fn name(automaton: &Automaton, handler: HandlerId) -> String {
    let handler = automaton.handler(handler);
    let class = automaton.class(handler.class);
    let layer = &automaton.layers[class.layer.index()];
    let of = if layer.of.is_empty() { &layer.name } else { &layer.of };
    let kind = class.name.strip_prefix(&format!("{}.", layer.name)).unwrap_or(&class.name);
    let trigger = match &handler.trigger {
        Trigger::Event(event) => event.clone(),
        Trigger::Expiry(cell) => format!("expiry {}", automaton.cell(handler.class, *cell).name),
        other => format!("{other:?}").to_lowercase(),
    };
    format!("{of}.{kind}.{trigger}")
}

fn form(body: &Body) -> Vec<(String, &'static str, usize)> {
    let form = |end: &Terminator| match end {
        Terminator::Return => "return",
        Terminator::Yield { .. } => "yield",
        Terminator::Jump { .. } => "jump",
        Terminator::Branch { .. } => "branch",
        Terminator::Switch { .. } => "switch",
        Terminator::PopSwitch { .. } => "popswitch",
        Terminator::Decode { .. } => "decode",
        Terminator::Vet { .. } => "vet",
        Terminator::Find { .. } => "find",
        Terminator::Insert { .. } => "insert",
        Terminator::Remove { .. } => "remove",
        Terminator::New { .. } => "new",
        Terminator::First { .. } => "first",
        Terminator::Next { .. } => "next",
        Terminator::Take { .. } => "take",
        Terminator::TakeOut { .. } => "takeout",
        Terminator::ShareHeld { .. } => "share",
        Terminator::Later { .. } => "later",
    };
    body.blocks.iter().map(|block| (block.label.clone(), form(&block.end), block.end.targets().len())).collect()
}
