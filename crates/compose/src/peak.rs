//! How many new buffers one reaction may take, at most, and how many outputs it may put out.
//!
//! A received or a stored message costs none; a new one, a share, a quote and the second part of a split cost one each.
//! Loops count as often as their bounds say. Objects settle at most as often as their limit says, and only those that
//! an event may have reached. Where outputs have a quota, what settled before it was reached holds no more than that many
//! outputs (what it keeps is of other quotas, what it drops is free again), so the peak does not grow with sessions.

use std::collections::BTreeMap;

use mokume_analyse::heaviest;
use mokume_reaction::{Automaton, BlockId, ClassId, Effects, Emission, Operation, Trigger};

use crate::graph::{EventGraph, NodeId};

/// The peak over all that may start a reaction.
pub fn peak(automaton: &Automaton, graph: &EventGraph) -> u32 {
    most(automaton, graph, Counted::Buffers)
}

/// The most outputs of one reaction, over all that may start one.
pub fn outputs(automaton: &Automaton, graph: &EventGraph) -> u32 {
    most(automaton, graph, Counted::Outputs)
}

fn most(automaton: &Automaton, graph: &EventGraph, counted: Counted) -> u32 {
    let mut costs = Costs { automaton, graph, memo: BTreeMap::new() };
    let roots = (0..graph.nodes.len()).map(|place| NodeId(place as u32));
    let most = roots.map(|root| costs.reaction(root, counted)).max().unwrap_or(0);
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// What is counted along a cascade.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Counted {
    Buffers,
    /// What is put out at ports.
    Outputs,
    /// Events handled by objects of the class.
    Instants(ClassId),
}

struct Costs<'a> {
    automaton: &'a Automaton,
    graph: &'a EventGraph,
    memo: BTreeMap<(NodeId, Counted), u64>,
}

impl Costs<'_> {
    /// What is counted of the reaction that begins with this node, with all that settles in it.
    fn reaction(&mut self, root: NodeId, counted: Counted) -> u64 {
        let settling = self.settling();
        let mut dirty: BTreeMap<ClassId, u64> = BTreeMap::new();
        for (class, _) in &settling {
            let touched = self.total(root, Counted::Instants(*class));
            dirty.insert(*class, self.capped(*class, touched));
        }
        // What settles may reach further objects; each count only grows, and never beyond its class's capacity.
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
        let own = self.total(root, counted);
        let mut settled = 0u64;
        for (class, node) in &settling {
            let settles = self.settles(*class, dirty[class]);
            settled = settled.saturating_add(settles.saturating_mul(self.total(*node, counted)));
        }
        own.saturating_add(settled.min(self.within_quota(&settling, counted)))
    }

    /// What settling may hold or put out where outputs have a quota: those below it, and one instant that exceeds it.
    fn within_quota(&mut self, settling: &[(ClassId, NodeId)], counted: Counted) -> u64 {
        if self.automaton.outputs == 0 {
            return u64::MAX;
        }
        let outputs = self.automaton.ports.iter().flat_map(|port| &port.outputs);
        let messages = |output: &mokume_reaction::PortOutput| {
            output.params.iter().filter(|(_, ty)| *ty == mokume_reaction::Type::Msg).count() as u64
        };
        let widest = match counted {
            Counted::Outputs => 1,
            Counted::Buffers | Counted::Instants(_) => outputs.map(messages).max().unwrap_or(0),
        };
        let one = settling.iter().map(|(_, node)| self.total(*node, counted)).max().unwrap_or(0);
        u64::from(self.automaton.outputs).saturating_mul(widest).saturating_add(one)
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

    /// Instants of a class that follow from a settle instant, itself not counted.
    fn beyond(&mut self, node: NodeId, class: ClassId) -> u64 {
        let own = u64::from(self.automaton.handler(self.graph.nodes[node.index()].handler).class == class);
        self.total(node, Counted::Instants(class)) - own
    }

    /// The most that the cascade of a node may bring, itself counted. The event graph has no cycles.
    fn total(&mut self, node: NodeId, counted: Counted) -> u64 {
        if let Some(known) = self.memo.get(&(node, counted)) {
            return *known;
        }
        let definition = &self.graph.nodes[node.index()];
        let handler = self.automaton.handler(definition.handler);
        let mut weights = vec![0u64; handler.body.blocks.len()];
        for block in &definition.blocks {
            weights[block.index()] = match counted {
                Counted::Buffers => new_buffers(&handler.body.blocks[block.index()]),
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

fn new_buffers(block: &mokume_reaction::Block) -> u64 {
    let takes = |op: &dyn Operation| u64::from(op.effects().contains(Effects::TAKES));
    let ops: u64 = block.ops.iter().map(|op| takes(&op.kind)).sum();
    ops + block.terminator.attempt().map_or(0, |op| takes(op))
}

fn puts_out(block: &mokume_reaction::Block) -> u64 {
    block.ops.iter().filter(|op| matches!(op.kind.emission(), Some(Emission::Output { .. }))).count() as u64
}
