//! How many messages each handler holds at once with all that follows from it, and where they come from.

use std::collections::BTreeMap;

use mokume_analyse::{level, Amount, Level, Steps};
use mokume_reaction::{Automaton, BlockId, ClassId, Effects, Emission, HandlerId, OpKind, Operation, SourceId, Type};

use crate::graph::{EventGraph, NodeId, Receiver};

/// Where a held message comes from, or goes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Term {
    /// An operation of a handler: the first word of its text, and its place in the program.
    At(HandlerId, &'static str, Option<SourceId>),
    /// Settling objects of a class, and what each leaves.
    Settles(ClassId, i64),
    /// The stack's limit of outputs while objects settle.
    Outputs,
}

/// What is known of handlers so far.
pub struct Held<'a> {
    automaton: &'a Automaton,
    graph: &'a EventGraph,
    known: BTreeMap<NodeId, Level<Term>>,
}

impl<'a> Held<'a> {
    /// Nothing is known yet.
    pub fn new(automaton: &'a Automaton, graph: &'a EventGraph) -> Self {
        Held { automaton, graph, known: BTreeMap::new() }
    }

    /// The cascade of a node, including itself. The event graph has no cycles.
    pub fn level(&mut self, node: NodeId) -> Level<Term> {
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        let found = self.work_out(node);
        self.known.insert(node, found.clone());
        found
    }

    /// Computes a handler's level: it runs to its end; then its emissions are carried out in order, each with all that
    /// follows (docs/semantics.md, O2).
    fn work_out(&mut self, node: NodeId) -> Level<Term> {
        let (automaton, definition) = (self.automaton, &self.graph.nodes[node.index()]);
        let handler = automaton.handler(definition.handler);
        let own =
            Own { automaton, handler: definition.handler, behind: vec![Amount::zero(); handler.body.blocks.len()] };
        let running = level(&handler.body, &definition.blocks, &own);
        // At any time after its end: what the handler left, plus what earlier emissions left, plus the current one. An
        // emission that gives back may come after those that leave something, so it does not lower the peak.
        let (mut left, mut all, mut beyond) = (own.behind.clone(), own.behind.clone(), Amount::zero());
        for emission in &definition.emissions {
            let follows = self.follows(*emission);
            let at = self.graph.emissions[*emission].block.index();
            let net = follows.net.clone().at_least_nothing();
            left[at] = left[at].and(&net);
            all[at] = all[at].and(&follows.net);
            beyond = beyond.max(follows.high.and(&net.times(-1)));
        }
        let behind = level(&handler.body, &definition.blocks, &Own { behind: left, ..own.clone() });
        let ended = level(&handler.body, &definition.blocks, &Own { behind: all, ..own });
        Level { high: running.high.max(behind.net.and(&beyond)), net: ended.net }
    }

    /// What follows from an emission: an output is held; an event may have no receiver, and its messages are then gone.
    fn follows(&mut self, emission: usize) -> Level<Term> {
        let emission = &self.graph.emissions[emission];
        if matches!(emission.channel.to, Receiver::Port(_)) {
            return Level::zero();
        }
        let handler = self.graph.nodes[emission.node.index()].handler;
        let body = &self.automaton.handler(handler).body;
        let op = &body.blocks[emission.block.index()].ops[emission.op];
        let messages = match op.kind.emission() {
            Some(Emission::Event { args, .. } | Emission::Output { args, .. }) => {
                args.iter().filter(|arg| body.values[arg.index()].ty == Type::Msg).count() as i64
            }
            None => 0,
        };
        let gone = match messages {
            0 => Level::zero(),
            messages => Level::step(Term::At(handler, "gone", op.source), -messages),
        };
        emission.targets.iter().fold(gone, |all, target| all.or(self.level(*target)))
    }
}

/// What the blocks of one handler take and give back, and then what is known of their emissions.
#[derive(Clone)]
struct Own<'a> {
    automaton: &'a Automaton,
    handler: HandlerId,
    behind: Vec<Amount<Term>>,
}

impl Own<'_> {
    fn takes(&self, op: &dyn Operation, source: Option<SourceId>) -> Level<Term> {
        match op.effects().contains(Effects::TAKES) {
            true => Level::step(Term::At(self.handler, word(op), source), 1),
            false => Level::zero(),
        }
    }
}

/// The first word of an operation's text.
fn word(op: &dyn Operation) -> &'static str {
    op.row().text.split(' ').next().unwrap_or_default()
}

impl Steps<Term> for Own<'_> {
    fn block(&self, block: BlockId) -> Level<Term> {
        let mut all = Level::zero();
        for op in &self.automaton.handler(self.handler).body.blocks[block.index()].ops {
            let gives = matches!(
                op.kind,
                OpKind::Drop { .. } | OpKind::DropFor { .. } | OpKind::Consume { .. } | OpKind::Join { .. }
            );
            all = match gives {
                true => all.then(&Level::step(Term::At(self.handler, word(&op.kind), op.source), -1)),
                false => all.then(&self.takes(&op.kind, op.source)),
            };
        }
        let behind = self.behind[block.index()].clone();
        all.then(&Level { high: behind.clone().at_least_nothing(), net: behind })
    }

    fn edge(&self, block: BlockId, target: usize) -> Level<Term> {
        let block = &self.automaton.handler(self.handler).body.blocks[block.index()];
        match block.terminator.attempt() {
            Some(op) if target == 0 => self.takes(op, block.mark.map(|mark| mark.source)),
            Some(_) | None => Level::zero(),
        }
    }
}
