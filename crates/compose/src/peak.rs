//! How many buffers beyond those at its beginning one reaction may hold at once, and how many outputs it may have.
//!
//! A received or a stored message costs none. A new one, a copy, a quote and the second part of a split cost one each,
//! until they are dropped, consumed or joined: outputs and kept messages are held. Emissions of a handler are carried
//! out after its end, so all of them are held until then. Loops count as often as their bounds say if a round leaves
//! anything held; else as one round. Objects settle at most as often as their limit says, and only those that an event
//! may have reached. If outputs have a limit, what settled before it was reached holds no more messages than that many
//! outputs (what it keeps counts for other quotas, what it drops is free again), so the peak does not grow with the
//! number of sessions.

use std::collections::BTreeMap;

use mokume_analyse::{heaviest, Flow};
use mokume_reaction::{Automaton, BlockId, ClassId, Emission, Trigger};

use crate::graph::{EventGraph, NodeId};
use crate::held::{Held, Term};

pub use mokume_analyse::Amount;

/// The peak over all events that may start a reaction, and its terms.
pub fn peak(automaton: &Automaton, graph: &EventGraph) -> Amount<Term> {
    let mut costs = Costs { automaton, graph, memo: BTreeMap::new() };
    let mut held = Held::new(automaton, graph);
    let roots = (0..graph.nodes.len()).map(|place| NodeId(place as u32));
    roots.map(|root| costs.buffers(root, &mut held)).fold(Amount::zero(), Amount::max)
}

/// The most outputs of one reaction, over all events that may start one.
pub fn outputs(automaton: &Automaton, graph: &EventGraph) -> u32 {
    let mut costs = Costs { automaton, graph, memo: BTreeMap::new() };
    let roots = (0..graph.nodes.len()).map(|place| NodeId(place as u32));
    let most = roots.map(|root| costs.outputs(root)).max().unwrap_or(0);
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// What makes the largest reaction large.
pub struct Growth {
    /// The handlers along it that make more than one of each, the largest first.
    pub steps: Vec<Multiplied>,
    /// The class whose settling puts out most, and how often its objects settle.
    pub settles: Option<(ClassId, u64)>,
}

/// A handler that makes several events, or outputs, of one.
pub struct Multiplied {
    pub node: NodeId,
    /// How many.
    pub times: u64,
    /// The emission that makes most of them.
    pub emission: usize,
    /// The most rounds of each loop around it.
    pub rounds: Vec<u32>,
}

/// What multiplies in the reaction with the most outputs: its handlers, from where it begins or from what settles most
/// in it, always to the heaviest that follows.
pub fn growth(automaton: &Automaton, graph: &EventGraph) -> Growth {
    let mut costs = Costs { automaton, graph, memo: BTreeMap::new() };
    let roots = (0..graph.nodes.len()).map(|place| NodeId(place as u32));
    let Some(root) = roots.max_by_key(|root| costs.outputs(*root)) else {
        return Growth { steps: Vec::new(), settles: None };
    };
    let own = costs.total(root, Counted::Outputs);
    let (mut at, mut most, mut settles) = (root, 0, None);
    for (class, node, times) in costs.dirty(root) {
        let all = times.saturating_mul(costs.total(node, Counted::Outputs));
        if all > most {
            (most, settles) = (all, Some((class, times)));
            at = if all > own { node } else { root };
        }
    }
    let mut steps = Vec::new();
    // The graph has no cycles.
    while let Some((multiplied, next)) = costs.step(at) {
        if multiplied.times > 1 {
            steps.push(multiplied);
        }
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    steps.sort_by_key(|step| std::cmp::Reverse(step.times));
    Growth { steps, settles }
}

/// What is counted along a cascade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Counted {
    /// Outputs at ports.
    Outputs,
    /// Instants of objects of the class.
    Instants(ClassId),
}

struct Costs<'a> {
    automaton: &'a Automaton,
    graph: &'a EventGraph,
    memo: BTreeMap<(NodeId, Counted), u64>,
}

impl Costs<'_> {
    /// How many objects of each class with `settle` may settle in the reaction that begins with this node, each with
    /// its settle node.
    fn dirty(&mut self, root: NodeId) -> Vec<(ClassId, NodeId, u64)> {
        let settling = self.settling();
        let mut dirty: BTreeMap<ClassId, u64> = BTreeMap::new();
        for (class, _) in &settling {
            let touched = self.total(root, Counted::Instants(*class));
            dirty.insert(*class, self.capped(*class, touched));
        }
        // Settling may make further objects dirty; each count only grows, up to its class's capacity.
        loop {
            let mut next = dirty.clone();
            for (class, _) in &settling {
                let mut touched = self.total(root, Counted::Instants(*class));
                for (other, node) in &settling {
                    let settles = self.settles(*other, dirty[other]);
                    touched = touched.saturating_add(settles.saturating_mul(self.beyond(*node, *class)));
                }
                next.insert(*class, self.capped(*class, touched));
            }
            if next == dirty {
                break;
            }
            dirty = next;
        }
        settling.into_iter().map(|(class, node)| (class, node, self.settles(class, dirty[&class]))).collect()
    }

    /// The outputs of the reaction that begins with this node, with all that settles in it.
    fn outputs(&mut self, root: NodeId) -> u64 {
        let own = self.total(root, Counted::Outputs);
        let (mut settled, mut one) = (0u64, 0u64);
        for (_, node, times) in self.dirty(root) {
            let each = self.total(node, Counted::Outputs);
            settled = settled.saturating_add(times.saturating_mul(each));
            one = one.max(each);
        }
        let quota = match self.automaton.outputs {
            0 => u64::MAX,
            quota => u64::from(quota).saturating_add(one),
        };
        own.saturating_add(settled.min(quota))
    }

    /// What it holds at once, beyond what there was.
    fn buffers(&mut self, root: NodeId, held: &mut Held) -> Amount<Term> {
        let own = held.level(root);
        let (mut settled, mut beyond, mut one) = (Amount::zero(), Amount::zero(), Amount::zero());
        for (class, node, times) in self.dirty(root) {
            if times == 0 {
                continue;
            }
            let level = held.level(node);
            let left = level.net.clone().at_least_nothing();
            beyond = beyond.max(level.high.and(&left.times(-1)));
            one = one.max(level.high);
            let times = i64::try_from(times).unwrap_or(i64::MAX / 4);
            if left.sum > 0 {
                settled = settled.and(&Amount::of(Term::Settles(class, left.sum), left.sum.saturating_mul(times)));
            }
        }
        let mut settled = settled.and(&beyond);
        if self.automaton.outputs > 0 {
            // Outputs below the limit, and one instant that exceeds it.
            let quota = i64::from(self.automaton.outputs).saturating_mul(self.widest());
            let within = Amount::of(Term::Outputs, quota).and(&one);
            if within.sum < settled.sum {
                settled = within;
            }
        }
        own.high.clone().max(own.net.and(&settled))
    }

    /// The most messages that one output carries.
    fn widest(&self) -> i64 {
        let outputs = self.automaton.ports.iter().flat_map(|port| &port.outputs);
        let messages = |output: &mokume_reaction::PortOutput| {
            output.params.iter().filter(|(_, ty)| *ty == mokume_reaction::Type::Msg).count() as i64
        };
        outputs.map(messages).max().unwrap_or(0)
    }

    /// What a handler makes of one event, and the heaviest node that follows; `None` if nothing leaves it.
    fn step(&mut self, node: NodeId) -> Option<(Multiplied, Option<NodeId>)> {
        let graph = self.graph;
        let definition = &graph.nodes[node.index()];
        let body = &self.automaton.handler(definition.handler).body;
        let mut most: Option<(u64, u64, usize, Option<NodeId>)> = None;
        for at in &definition.emissions {
            let emission = &graph.emissions[*at];
            let target = emission.targets.iter().copied().max_by_key(|target| self.total(*target, Counted::Outputs));
            let each = target.map_or(1, |target| self.total(target, Counted::Outputs));
            let runs = heaviest(body, &definition.blocks, &|block| u64::from(block == emission.block));
            let all = runs.saturating_mul(each);
            if each > 0 && most.as_ref().is_none_or(|(known, ..)| *known < all) {
                most = Some((all, each, *at, target));
            }
        }
        let (_, each, emission, next) = most?;
        let times = self.total(node, Counted::Outputs).div_ceil(each);
        let flow = Flow::new(body);
        let block = graph.emissions[emission].block;
        let is_around = |head: &BlockId| {
            *head == block && flow.after(block).contains(block)
                || flow.after(*head).contains(block) && flow.after(block).contains(*head)
        };
        let heads = definition.blocks.iter().filter(|head| is_around(head));
        let rounds = heads.filter_map(|head| body.blocks[head.index()].bound).map(|bound| bound.saturating_sub(1));
        Some((Multiplied { node, times, emission, rounds: rounds.collect() }, next))
    }

    fn settling(&self) -> Vec<(ClassId, NodeId)> {
        let settles = |node: &NodeId| {
            let handler = self.automaton.handler(self.graph.nodes[node.index()].handler);
            (handler.trigger == Trigger::Settle).then_some((handler.class, *node))
        };
        (0..self.graph.nodes.len()).filter_map(|place| settles(&NodeId(place as u32))).collect()
    }

    fn capped(&self, class: ClassId, objects: u64) -> u64 {
        objects.min(u64::from(self.automaton.class(class).capacity))
    }

    fn settles(&self, class: ClassId, objects: u64) -> u64 {
        objects.saturating_mul(u64::from(self.automaton.class(class).settle_limit.unwrap_or(1).max(1)))
    }

    /// The instants of a class that follow from a settle instant, not counting itself.
    fn beyond(&mut self, node: NodeId, class: ClassId) -> u64 {
        let own = u64::from(self.automaton.handler(self.graph.nodes[node.index()].handler).class == class);
        self.total(node, Counted::Instants(class)) - own
    }

    /// The most that the cascade of a node may have, counting itself. The event graph has no cycles.
    fn total(&mut self, node: NodeId, counted: Counted) -> u64 {
        if let Some(known) = self.memo.get(&(node, counted)) {
            return *known;
        }
        let definition = &self.graph.nodes[node.index()];
        let handler = self.automaton.handler(definition.handler);
        let mut weights = vec![0u64; handler.body.blocks.len()];
        for block in &definition.blocks {
            weights[block.index()] = match counted {
                Counted::Outputs => puts_out(&handler.body.blocks[block.index()]),
                Counted::Instants(_) => 0,
            };
        }
        for emission in &definition.emissions {
            let emission = &self.graph.emissions[*emission];
            let heaviest = emission.targets.iter().map(|target| self.total(*target, counted)).max().unwrap_or(0);
            let weight = &mut weights[emission.block.index()];
            *weight = weight.saturating_add(heaviest);
        }
        let own = u64::from(counted == Counted::Instants(handler.class));
        let weight = |block: BlockId| weights[block.index()];
        let total = own.saturating_add(heaviest(&handler.body, &definition.blocks, &weight));
        self.memo.insert((node, counted), total);
        total
    }
}

fn puts_out(block: &mokume_reaction::Block) -> u64 {
    block.ops.iter().filter(|op| matches!(op.kind.emission(), Some(Emission::Output { .. }))).count() as u64
}
