//! A stack prepared for drawing: layers, ports, and their connections, taken from a reaction automaton.

use std::collections::{BTreeMap, BTreeSet};

use mokume_reaction::{Automaton, ClassId, Emission, LayerId, LinkKind, Operation, PortKind, Type, Variant};

/// What to draw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stack {
    pub title: String,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

/// A layer or a port, as a box.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    pub kind: NodeKind,
    pub name: String,
    /// The definition's name, if it differs from the node's.
    pub of: String,
    /// The lines in the box: a layer's header fields, or a port's events.
    pub lines: Vec<String>,
    pub notes: Vec<String>,
}

/// The kind of a node, which decides how it is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// A layer, with its shape; empty if unknown.
    Layer {
        shape: String,
    },
    Device,
    Application,
}

/// A connection of two nodes, by index; for links and ports `from` is the upper one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub kind: EdgeKind,
    pub label: String,
}

/// The meaning of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EdgeKind {
    /// One layer over another.
    Link,
    /// A layer and a port.
    Port,
    /// Events between layers that are not over one another.
    Service,
    /// A layer reads what another publishes.
    Reads,
}

impl Stack {
    /// The stack of an automaton; `notes` are additional lines, by the name of a layer or port.
    pub fn of(automaton: &Automaton, notes: &[(String, String)]) -> Stack {
        let mut stack = Stack { title: automaton.name.clone(), ..Stack::default() };
        stack.nodes.extend((0..automaton.layers.len()).map(|index| layer_node(automaton, LayerId::from(index))));
        stack.nodes.extend((0..automaton.ports.len()).map(|index| port_node(automaton, index)));
        for node in &mut stack.nodes {
            node.notes.extend(notes.iter().filter(|(name, _)| *name == node.name).map(|(_, note)| note.clone()));
        }
        stack.edges = edges(automaton);
        stack
    }
}

fn layer_node(automaton: &Automaton, id: LayerId) -> Node {
    let layer = &automaton.layers[id.index()];
    let prefix = format!("{}.", layer.name);
    let mut lines = Vec::new();
    for header in automaton.headers.iter().filter(|header| header.name.starts_with(&prefix)) {
        let alone = header.variants.len() == 1;
        lines.extend(header.variants.iter().map(|variant| variant_line(automaton, variant, alone)));
    }
    let of = if layer.of == layer.name { String::new() } else { layer.of.clone() };
    Node {
        kind: NodeKind::Layer { shape: layer.shape.clone() },
        name: layer.name.clone(),
        of,
        lines,
        notes: Vec::new(),
    }
}

fn variant_line(automaton: &Automaton, variant: &Variant, alone: bool) -> String {
    let fields = fields_of(automaton, variant);
    match alone {
        true if fields.is_empty() => "(no fields)".to_string(),
        true => fields.join(", "),
        false => format!("{} {}", variant.name, fields.join(", ")).trim_end().to_string(),
    }
}

/// Names and types of fields; a vector, which is a length and numbered elements, as it is written: `hosts: [u32; ..4]`.
fn fields_of(automaton: &Automaton, variant: &Variant) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = variant.fields.as_slice();
    while let [(name, ty), others @ ..] = rest {
        let vector = name.strip_suffix("_length").zip(others.first());
        let elements = vector.map_or(0, |(vector, (_, of))| {
            let is_next = |(at, (name, ty)): (usize, &(String, Type))| *name == format!("{vector}_{at}") && ty == of;
            others.iter().enumerate().take_while(|(at, field)| is_next((*at, *field))).count()
        });
        match vector {
            Some((vector, (_, of))) if elements > 0 => {
                all.push(format!("{vector}: [{}; ..{elements}]", type_name(automaton, *of)));
                rest = &others[elements..];
            }
            _ => {
                all.push(format!("{name}: {}", type_name(automaton, *ty)));
                rest = others;
            }
        }
    }
    all
}

fn type_name(automaton: &Automaton, ty: Type) -> String {
    match ty {
        Type::Bool => "bool".to_string(),
        Type::U(bits) => format!("u{bits}"),
        Type::Seq(bits) => format!("seq{bits}"),
        Type::Enum(id) => automaton.enums.get(id.index()).map_or("enum", |known| &known.name).to_string(),
        Type::Ref(id) => automaton.classes.get(id.index()).map_or("@".to_string(), |class| format!("@{}", class.name)),
        Type::Msg => "msg".to_string(),
        Type::Reason => "reason".to_string(),
        Type::Array(item, count) => format!("[{count}]{}", type_name(automaton, item.ty())),
    }
}

fn port_node(automaton: &Automaton, index: usize) -> Node {
    let port = &automaton.ports[index];
    let kind = match port.kind {
        PortKind::Device => NodeKind::Device,
        PortKind::Application => NodeKind::Application,
    };
    let names = |events: Vec<&String>, sign: &str| {
        let names: Vec<&str> = events.into_iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| format!("{sign} {}", names.join(", ")))
    };
    let inputs = names(port.inputs.iter().map(|input| &input.event).collect(), "in ");
    let outputs = names(port.outputs.iter().map(|output| &output.event).collect(), "out");
    let lines = inputs.into_iter().chain(outputs).collect();
    Node { kind, name: port.name.clone(), of: String::new(), lines, notes: Vec::new() }
}

fn edges(automaton: &Automaton) -> Vec<Edge> {
    let layer_of = |class: ClassId| automaton.classes.get(class.index()).map(|class| class.layer.index());
    let mut links: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for link in &automaton.links {
        if let (Some(above), Some(below)) = (layer_of(link.above.0), layer_of(link.below.0)) {
            if above != below {
                let shared = link.kind == LinkKind::ManyToOne && link.above.1.is_some();
                let label = if shared { "n:1" } else { "" };
                links.insert((above, below), label.to_string());
            }
        }
    }
    let mut edges: Vec<Edge> = links
        .iter()
        .map(|(&(from, to), label)| Edge { from, to, kind: EdgeKind::Link, label: label.clone() })
        .collect();
    edges.extend(port_edges(automaton));
    let is_linked = |a: usize, b: usize| links.contains_key(&(a, b)) || links.contains_key(&(b, a));
    for ((from, to, kind), labels) in talk(automaton) {
        if !is_linked(from, to) {
            let label = labels.into_iter().collect::<Vec<_>>().join(", ");
            edges.push(Edge { from, to, kind, label });
        }
    }
    edges
}

/// The layers of each port: those that its inputs go to, and those that emit at it.
fn port_edges(automaton: &Automaton) -> Vec<Edge> {
    let mut pairs = BTreeSet::new();
    for (index, port) in automaton.ports.iter().enumerate() {
        let classes = port.inputs.iter().filter_map(|input| automaton.classes.get(input.class.index()));
        pairs.extend(classes.map(|class| (index, class.layer.index())));
    }
    for (layer, body) in automaton.code() {
        for op in body.ops() {
            if let Some(Emission::Output { port, .. }) = op.kind.emission() {
                if port.index() < automaton.ports.len() {
                    pairs.insert((port.index(), layer.index()));
                }
            }
        }
    }
    let edge = |(port, layer): (usize, usize)| {
        let node = automaton.layers.len() + port;
        let (from, to) = match automaton.ports[port].kind {
            PortKind::Application => (node, layer),
            PortKind::Device => (layer, node),
        };
        Edge { from, to, kind: EdgeKind::Port, label: String::new() }
    };
    pairs.into_iter().map(edge).collect()
}

type Talk = BTreeMap<(usize, usize, EdgeKind), BTreeSet<String>>;

/// Events and reads between layers, with their names.
fn talk(automaton: &Automaton) -> Talk {
    let mut talk = Talk::new();
    for (from, body) in automaton.code() {
        let from = from.index();
        let mut add = |class: Option<ClassId>, kind: EdgeKind, name: &str| {
            let to = class.and_then(|class| automaton.classes.get(class.index())).map(|class| class.layer.index());
            if let Some(to) = to.filter(|to| *to != from) {
                talk.entry((from, to, kind)).or_default().insert(name.to_string());
            }
        };
        for emission in body.ops().filter_map(|op| op.kind.emission()).chain(body.put_off()) {
            if let Emission::Event { target, event, .. } = emission {
                add(automaton.class_for(body, target), EdgeKind::Service, event);
            }
        }
        for called in body.ops().filter_map(|op| op.kind.function()) {
            let function = automaton.functions.get(called.index());
            let name = function.map_or("", |f| f.name.rsplit('.').next().unwrap_or(""));
            add(function.and_then(|function| function.published()), EdgeKind::Reads, name);
        }
    }
    talk
}
