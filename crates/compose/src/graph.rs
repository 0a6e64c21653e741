//! The event graph: which handlers there are, and what each emits to which.
//!
//! A node is a handler. A handler that begins by taking its own header off by variant has a node for each variant, so
//! that what follows from data is kept apart from what follows from an acknowledgement.

use mokume_analyse::Flow;
use mokume_reaction::{
    Automaton, BlockId, Body, ClassId, Emission as Leaving, HandlerId, HeaderId, LayerId, OpKind, PortId, SourceId,
    Terminator, Trigger, Value, VariantId,
};

/// The end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Receiver {
    Layer(LayerId),
    Port(PortId),
}

/// A directed edge between two layer instances, or from one to a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Channel {
    pub from: LayerId,
    pub to: Receiver,
}

/// Index into [`EventGraph::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The place as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A handler; if it begins with a choice by variant, for one variant of its header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    pub handler: HandlerId,
    pub variant: Option<VariantId>,
    /// Blocks that may run.
    pub blocks: Vec<BlockId>,
    /// Indices of its emissions.
    pub emissions: Vec<usize>,
}

/// One `emit` or `out` of one node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emission {
    pub node: NodeId,
    pub block: BlockId,
    pub op: usize,
    pub channel: Channel,
    /// The nodes that may handle it; empty for an output.
    pub targets: Vec<NodeId>,
    pub event: String,
    pub source: Option<SourceId>,
}

/// Which emissions may cause which, by the code: every branch counts as if it may be taken (docs/semantics.md, O8).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventGraph {
    pub nodes: Vec<Node>,
    pub emissions: Vec<Emission>,
}

impl EventGraph {
    /// The graph of an uncomposed automaton. Nodes are in the order of handlers, emissions in that of nodes.
    pub fn new(automaton: &Automaton) -> Self {
        let mut graph = EventGraph { nodes: nodes(automaton), emissions: Vec::new() };
        for node in 0..graph.nodes.len() {
            let emissions = emissions(automaton, &graph, NodeId(node as u32));
            let first = graph.emissions.len();
            graph.nodes[node].emissions = (first..first + emissions.len()).collect();
            graph.emissions.extend(emissions);
        }
        graph
    }

    /// The nodes of a handler: one, or one for each variant of the header that it takes off first.
    pub fn nodes_of(&self, handler: HandlerId) -> Vec<NodeId> {
        let wanted = |place: &usize| self.nodes[*place].handler == handler;
        (0..self.nodes.len()).filter(wanted).map(|place| NodeId(place as u32)).collect()
    }

    /// `layer.Class.event`, followed by the variant.
    pub fn name(&self, automaton: &Automaton, node: NodeId) -> String {
        let node = &self.nodes[node.index()];
        let name = automaton.handler_name(node.handler);
        let header = first_choice(&automaton.handler(node.handler).body).map(|(header, _)| header);
        match (node.variant, header) {
            (Some(variant), Some(header)) => {
                format!("{name}({})", automaton.headers[header.index()].variants[variant.index()].name)
            }
            _ => name,
        }
    }
}

/// The header that the entry block takes off by variant, and its message.
fn first_choice(body: &Body) -> Option<(HeaderId, Value)> {
    match &body.blocks.first()?.terminator {
        Terminator::Match { header, message, .. } => Some((*header, *message)),
        Terminator::Return
        | Terminator::Yield { .. }
        | Terminator::Refuse { .. }
        | Terminator::Jump { .. }
        | Terminator::Branch { .. }
        | Terminator::Switch { .. }
        | Terminator::Try { .. } => None,
    }
}

fn nodes(automaton: &Automaton) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (place, handler) in automaton.handlers.iter().enumerate() {
        let id = HandlerId::from(place);
        let body = &handler.body;
        let flow = Flow::new(body);
        // The blocks from `first` on, and the entry.
        let node = |variant, first: BlockId| {
            let after = flow.after(first);
            let inside = |block: &BlockId| *block == BlockId(0) || *block == first || after.contains(*block);
            let blocks = (0..body.blocks.len()).map(BlockId::from).filter(inside).collect();
            Node { handler: id, variant, blocks, emissions: Vec::new() }
        };
        match body.blocks.first().map(|entry| &entry.terminator) {
            Some(Terminator::Match { cases, .. }) => {
                nodes.extend(cases.iter().map(|(variant, target)| node(Some(*variant), target.block)));
            }
            _ => nodes.push(node(None, BlockId(0))),
        }
    }
    nodes
}

fn emissions(automaton: &Automaton, graph: &EventGraph, node: NodeId) -> Vec<Emission> {
    let Node { handler, blocks, .. } = &graph.nodes[node.index()];
    let definition = automaton.handler(*handler);
    let body = &definition.body;
    let from = automaton.class(definition.class).layer;
    let mut found = Vec::new();
    for block in blocks {
        for (place, op) in body.blocks[block.index()].ops.iter().enumerate() {
            let (to, targets, event) = match op.kind.emission() {
                Some(Leaving::Event { target, event, args }) => {
                    let Some(class) = automaton.class_for(body, target) else { continue };
                    let to = Receiver::Layer(automaton.class(class).layer);
                    (to, targets(automaton, graph, body, class, event, args), event.to_string())
                }
                Some(Leaving::Output { port, event, .. }) => {
                    let outputs = &automaton.ports[port.index()].outputs;
                    let event = outputs.get(event as usize).map_or(String::new(), |output| output.event.clone());
                    (Receiver::Port(port), Vec::new(), event)
                }
                None => continue,
            };
            let channel = Channel { from, to };
            found.push(Emission { node, block: *block, op: place, channel, targets, event, source: op.source });
        }
    }
    found
}

/// The nodes that may handle the event: if the top header of a message is known here, only those of its variant.
fn targets(
    automaton: &Automaton,
    graph: &EventGraph,
    body: &Body,
    class: ClassId,
    event: &str,
    args: &[Value],
) -> Vec<NodeId> {
    let Some(handler) = automaton.handler_of(class, &Trigger::Event(event.to_string())) else { return Vec::new() };
    let mut nodes = graph.nodes_of(handler);
    let receiver = &automaton.handler(handler).body;
    let Some((header, message)) = first_choice(receiver) else { return nodes };
    let place = receiver.blocks[0].params.iter().position(|param| *param == message);
    let pushed = place.and_then(|place| args.get(place.checked_sub(1)?)).and_then(|arg| pushed_header(body, *arg));
    if let Some((_, variant)) = pushed.filter(|(pushed, _)| *pushed == header) {
        nodes.retain(|node| graph.nodes[node.index()].variant == Some(variant));
    }
    nodes
}

fn pushed_header(body: &Body, message: Value) -> Option<(HeaderId, VariantId)> {
    let ops = body.blocks.iter().flat_map(|block| &block.ops);
    ops.filter(|op| op.results.contains(&message)).find_map(|op| match &op.kind {
        OpKind::Push { header, variant, .. } => Some((*header, *variant)),
        _ => None,
    })
}
