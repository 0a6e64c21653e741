//! Pictures: stacks, headers and runs; and their data as a JSON document.

use mokume_draw::{header_pictures, Chart, EdgeKind, HeaderPicture, Limit, Node, NodeKind, Stack};
use mokume_reaction::Automaton;
use mokume_semantics::program::Program;
use mokume_semantics::signature::{Claim, Claimed};
use serde_json::{json, Value};

/// The subject of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    Stack,
    Headers,
}

/// The format of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Svg,
    Dot,
    Text,
}

/// The stack as SVG, or as DOT.
pub fn picture(automaton: &Automaton, dot: bool) -> String {
    drawn(&Stack::of(automaton, &[]), dot)
}

/// The same, with what the layers claim to need from below and to give above.
pub fn picture_of(automaton: &Automaton, program: &Program, what: Subject, form: Form) -> String {
    match (what, form) {
        (Subject::Stack, form) => drawn(&stack_of(automaton, program), form == Form::Dot),
        (Subject::Headers, Form::Svg) => mokume_draw::headers_svg(&automaton.name, &header_pictures(automaton)),
        (Subject::Headers, _) => mokume_draw::headers_text(&header_pictures(automaton)),
    }
}

/// The data of a picture.
pub fn document(automaton: &Automaton, program: &Program, what: Subject) -> Value {
    match what {
        Subject::Stack => stack_document(&stack_of(automaton, program)),
        Subject::Headers => {
            let wires: Vec<Value> = header_pictures(automaton).iter().map(header_document).collect();
            json!({ "stack": automaton.name, "wires": wires })
        }
    }
}

fn drawn(stack: &Stack, dot: bool) -> String {
    if dot {
        mokume_draw::stack_dot(stack)
    } else {
        mokume_draw::stack_svg(stack)
    }
}

fn stack_of(automaton: &Automaton, program: &Program) -> Stack {
    let (mut stack, said) = (Stack::of(automaton, &[]), signatures(automaton, program));
    // A port may have its layer's name.
    for node in stack.nodes.iter_mut().filter(|node| matches!(node.kind, NodeKind::Layer { .. })) {
        node.notes.extend(said.iter().filter(|(name, _)| *name == node.name).map(|(_, note)| note.clone()));
    }
    stack
}

/// A line with the claims of each layer that has some, by the layer's name.
fn signatures(automaton: &Automaton, program: &Program) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    for layer in &automaton.layers {
        let Some(of) = program.layers.iter().find(|known| known.name.text == layer.of) else { continue };
        for (word, claims) in [("gives", &of.gives), ("needs", &of.needs)] {
            let all: Vec<String> = claims.iter().map(|claim| said(program, claim)).collect();
            if !all.is_empty() {
                notes.push((layer.name.clone(), format!("{word} {}", all.join(", "))));
            }
        }
    }
    notes
}

/// `Network`; with `?` if it depends on the layer's arguments.
fn said(program: &Program, claim: &Claim) -> String {
    let name = match claim.what {
        Claimed::Signature(id) => program.signatures[id.index()].name.text.clone(),
        Claimed::Boundaries(boundaries) => boundaries.word().to_string(),
    };
    match claim.when {
        Some(_) => format!("{name}?"),
        None => name,
    }
}

fn stack_document(stack: &Stack) -> Value {
    let node = |node: &Node| {
        let (kind, shape) = match &node.kind {
            NodeKind::Layer { shape } => ("layer", shape.as_str()),
            NodeKind::Device => ("device", ""),
            NodeKind::Application => ("application", ""),
        };
        json!({ "name": node.name, "kind": kind, "shape": shape, "of": node.of, "lines": node.lines, "notes": node.notes })
    };
    let name = |index: usize| stack.nodes.get(index).map_or("", |node| &node.name);
    let edges = stack.edges.iter().map(|edge| {
        let kind = match edge.kind {
            EdgeKind::Link => "over",
            EdgeKind::Port => "port",
            EdgeKind::Service => "service",
            EdgeKind::Reads => "reads",
        };
        json!({ "from": name(edge.from), "to": name(edge.to), "kind": kind, "label": edge.label })
    });
    let (nodes, edges): (Vec<Value>, Vec<Value>) = (stack.nodes.iter().map(node).collect(), edges.collect());
    json!({ "stack": stack.title, "nodes": nodes, "edges": edges })
}

fn header_document(picture: &HeaderPicture) -> Value {
    let parts = picture.parts.iter().map(|part| {
        let mut at = part.start;
        let fields = part.cells.iter().map(|cell| {
            at += cell.bits;
            json!({ "name": cell.name, "bit": at - cell.bits, "bits": cell.bits, "holds": cell.says })
        });
        let fields: Vec<Value> = fields.collect();
        json!({ "when": part.title, "fields": fields, "notes": part.notes })
    });
    let parts: Vec<Value> = parts.collect();
    json!({ "wire": picture.wire, "headers": picture.headers, "order": picture.order, "parts": parts })
}

/// A sequence chart as SVG, or as text.
pub fn chart(chart: &Chart, text: bool) -> String {
    if text {
        mokume_draw::chart_text(chart, Limit::default())
    } else {
        mokume_draw::chart_svg(chart, Limit::default())
    }
}
