//! Which channels need a queue (docs/semantics.md, O6).
//!
//! A channel is queued if some handler emits on it after an emission whose cascade can emit on it. A cascade is closed
//! over the event graph, and over this: carrying out an event of a queued channel may carry out every event in that
//! queue.

use std::collections::{BTreeMap, BTreeSet};

use mokume_analyse::{Blocks, Flow};
use mokume_reaction::Automaton;

use crate::graph::{Channel, Emission, EventGraph, NodeId, Receiver};

/// Why a channel is queued: the emission `later` on it may follow `earlier`, whose cascade emits on it at `again`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    pub channel: Channel,
    /// Indices into [`EventGraph::emissions`].
    pub earlier: usize,
    pub later: usize,
    /// The emissions from `earlier` to the one on the channel.
    pub path: Vec<usize>,
}

/// The least fixed point, with the first reason found for each channel.
pub fn queued_channels(automaton: &Automaton, graph: &EventGraph) -> Vec<Reason> {
    queued_but_for(automaton, graph, &BTreeSet::new())
}

/// The same, as if nothing were emitted after the emissions in `last`.
pub fn queued_but_for(automaton: &Automaton, graph: &EventGraph, last: &BTreeSet<usize>) -> Vec<Reason> {
    let mut reasons: BTreeMap<Channel, Reason> = BTreeMap::new();
    loop {
        let queued: BTreeSet<Channel> = reasons.keys().copied().collect();
        let found = find(automaton, graph, &queued, last);
        if found.is_empty() {
            return reasons.into_values().collect();
        }
        for reason in found {
            reasons.entry(reason.channel).or_insert(reason);
        }
    }
}

/// A planted fault, for tests of tests: queued events are ignored, so the first round is the last.
#[doc(hidden)]
pub fn queued_by_the_graph_alone(automaton: &Automaton, graph: &EventGraph) -> Vec<Channel> {
    find(automaton, graph, &BTreeSet::new(), &BTreeSet::new()).into_iter().map(|reason| reason.channel).collect()
}

/// Reasons for channels that are not queued yet.
fn find(automaton: &Automaton, graph: &EventGraph, queued: &BTreeSet<Channel>, last: &BTreeSet<usize>) -> Vec<Reason> {
    let mut found = Vec::new();
    for node in &graph.nodes {
        let flow = Flow::new(&automaton.handler(node.handler).body);
        for earlier in node.emissions.iter().filter(|earlier| !last.contains(earlier)) {
            let after = flow.after(graph.emissions[*earlier].block);
            let followers: Vec<usize> = node
                .emissions
                .iter()
                .copied()
                .filter(|later| !queued.contains(&graph.emissions[*later].channel))
                .filter(|later| may_follow(&after, &graph.emissions[*earlier], &graph.emissions[*later]))
                .collect();
            if followers.is_empty() {
                continue;
            }
            let cascade = Cascade::of(graph, *earlier, queued);
            for later in followers {
                let channel = graph.emissions[later].channel;
                if let Some(path) = cascade.path_to(graph, channel) {
                    found.push(Reason { channel, earlier: *earlier, later, path });
                }
            }
        }
    }
    found
}

/// Whether, in one run of the body, `second` may be emitted after `first` (or after itself, in a later round of a
/// loop). `after` are the blocks that may run after that of `first`.
fn may_follow(after: &Blocks, first: &Emission, second: &Emission) -> bool {
    (first.block == second.block && first.op < second.op) || after.contains(second.block)
}

/// What may be emitted while an emission is carried out, and by which emissions.
struct Cascade {
    /// For each emission that may happen: the emission that leads to it.
    from: BTreeMap<usize, usize>,
}

impl Cascade {
    fn of(graph: &EventGraph, start: usize, queued: &BTreeSet<Channel>) -> Self {
        let mut cascade = Cascade { from: BTreeMap::new() };
        let mut handled = BTreeSet::new();
        let mut brought = BTreeSet::new();
        let mut open = vec![start];
        while let Some(emission) = open.pop() {
            let channel = graph.emissions[emission].channel;
            let mut delivered = vec![emission];
            // Carrying out an event of a queue may carry out all that are in it.
            if queued.contains(&channel) && brought.insert(channel) {
                let others = 0..graph.emissions.len();
                delivered.extend(others.filter(|other| graph.emissions[*other].channel == channel));
            }
            for event in delivered {
                for target in &graph.emissions[event].targets {
                    if handled.insert(*target) {
                        cascade.add(graph, *target, emission, &mut open);
                    }
                }
            }
        }
        cascade
    }

    fn add(&mut self, graph: &EventGraph, node: NodeId, by: usize, open: &mut Vec<usize>) {
        for emission in &graph.nodes[node.index()].emissions {
            self.from.entry(*emission).or_insert(by);
            open.push(*emission);
        }
    }

    fn path_to(&self, graph: &EventGraph, channel: Channel) -> Option<Vec<usize>> {
        let on_channel = |emission: &&usize| graph.emissions[**emission].channel == channel;
        let mut at = *self.from.keys().find(on_channel)?;
        let mut path = vec![at];
        while let Some(by) = self.from.get(&at).filter(|by| !path.contains(by)) {
            at = *by;
            path.push(at);
        }
        path.reverse();
        Some(path)
    }
}

/// The channel's name for people: `layer -> layer`, or `layer -> port name`.
pub fn channel_name(automaton: &Automaton, channel: Channel) -> String {
    let from = &automaton.layers[channel.from.index()].name;
    match channel.to {
        Receiver::Layer(to) => format!("{from} -> {}", automaton.layers[to.index()].name),
        Receiver::Port(to) => format!("{from} -> port {}", automaton.ports[to.index()].name),
    }
}
