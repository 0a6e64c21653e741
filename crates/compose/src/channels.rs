//! Which channels need a queue (docs/semantics.md, O6).
//!
//! A channel is queued if some handler emits on it after an emission whose cascade can emit on it. A cascade is closed
//! over the event graph, and over this: an event on a queued channel may bring every event of that channel with it.

use std::collections::{BTreeMap, BTreeSet};

use mokume_analyse::Flow;
use mokume_base::{Code, Diagnostic};
use mokume_reaction::{Automaton, SourceId};

use crate::graph::{Channel, Emission, EventGraph, NodeId, Receiver};

/// Why a channel is queued: the emission `later`, on it, may follow `earlier`, whose cascade emits on it at `again`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    pub channel: Channel,
    /// Indices of [`EventGraph::emissions`].
    pub earlier: usize,
    pub later: usize,
    /// Emissions from `earlier` to the one on the channel.
    pub path: Vec<usize>,
}

/// The least fixed point, with the first reason found for each channel.
pub fn queued_channels(automaton: &Automaton, graph: &EventGraph) -> Vec<Reason> {
    let mut reasons: BTreeMap<Channel, Reason> = BTreeMap::new();
    loop {
        let queued: BTreeSet<Channel> = reasons.keys().copied().collect();
        let found = find(automaton, graph, &queued);
        if found.is_empty() {
            return reasons.into_values().collect();
        }
        for reason in found {
            reasons.entry(reason.channel).or_insert(reason);
        }
    }
}

/// A planted fault, for tests of tests: queues bring nothing, so the first round is the last.
#[doc(hidden)]
pub fn queued_by_the_graph_alone(automaton: &Automaton, graph: &EventGraph) -> Vec<Channel> {
    find(automaton, graph, &BTreeSet::new()).into_iter().map(|reason| reason.channel).collect()
}

/// Reasons for channels that are not queued yet.
fn find(automaton: &Automaton, graph: &EventGraph, queued: &BTreeSet<Channel>) -> Vec<Reason> {
    let mut found = Vec::new();
    for node in &graph.nodes {
        let flow = Flow::new(&automaton.handler(node.handler).body);
        for earlier in &node.emissions {
            let followers: Vec<usize> = node
                .emissions
                .iter()
                .copied()
                .filter(|later| !queued.contains(&graph.emissions[*later].channel))
                .filter(|later| may_follow(&flow, &graph.emissions[*earlier], &graph.emissions[*later]))
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

/// Whether, in one run of the body, `second` may be emitted after `first` (in a later round of a loop: after itself).
fn may_follow(flow: &Flow, first: &Emission, second: &Emission) -> bool {
    (first.block == second.block && first.op < second.op) || flow.after(first.block).contains(second.block)
}

/// What may be emitted while an emission is carried out, and by what way.
struct Cascade {
    /// For each emission that may be made: the emission that leads to it.
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
            // Carrying out an event of a queue may carry out all that stands in it.
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

/// A channel needs a queue, and another order of emissions would save it (docs/semantics.md, O6).
pub const QUEUED: Code = Code("M0903");

/// Up before down: the channel costs a queue, and an order of emissions would save it.
pub fn warn(automaton: &Automaton, graph: &EventGraph, reason: &Reason) -> Diagnostic {
    let (earlier, later) = (&graph.emissions[reason.earlier], &graph.emissions[reason.later]);
    let channel = channel_name(automaton, reason.channel);
    let handler = graph.name(automaton, earlier.node);
    let message = format!("the channel {channel} needs a queue");
    let way: Vec<String> = reason.path.iter().map(|emission| emission_name(automaton, graph, *emission)).collect();
    let first = format!("`{handler}` emits `{}`{}", earlier.event, place(automaton, earlier.source));
    let second = match reason.earlier == reason.later {
        true => "and again in a later round of its loop".to_string(),
        false => format!("and then `{}` on the channel{}", later.event, place(automaton, later.source)),
    };
    Diagnostic::warning(QUEUED, message)
        .note(format!("{first}, {second}"))
        .note(format!("meanwhile, what follows from the first may emit on the channel as well: {}", way.join(" -> ")))
        .help("emit down before up (acknowledge, then deliver): then no queue is needed")
}

/// The channel for people: `layer -> layer`, or `layer -> port name`.
pub fn channel_name(automaton: &Automaton, channel: Channel) -> String {
    let from = &automaton.layers[channel.from.index()].name;
    match channel.to {
        Receiver::Layer(to) => format!("{from} -> {}", automaton.layers[to.index()].name),
        Receiver::Port(to) => format!("{from} -> port {}", automaton.ports[to.index()].name),
    }
}

/// An emission for people: whose handler emits what, on which channel. `emission` is its number in the graph.
pub fn emission_name(automaton: &Automaton, graph: &EventGraph, emission: usize) -> String {
    let emission = &graph.emissions[emission];
    format!(
        "{} emits {} on {}",
        graph.name(automaton, emission.node),
        emission.event,
        channel_name(automaton, emission.channel)
    )
}

/// ` (file:line)`, if it is known.
pub fn place(automaton: &Automaton, source: Option<SourceId>) -> String {
    let source = source.and_then(|id| automaton.sources.get(id.index()));
    source.map_or(String::new(), |source| format!(" ({}:{})", source.file, source.line))
}
