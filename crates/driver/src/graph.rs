//! Pictures: stacks, headers and runs; and their data as a JSON document.

use std::collections::BTreeMap;

use mokume_draw::{header_pictures, Chart, EdgeKind, HeaderPicture, Limit, Node, NodeKind, Stack};
use mokume_reaction::{Automaton, FieldValue, OptionArm, WireField, WireItem};
use mokume_semantics::program::Program;
use mokume_semantics::signature::{Claim, Claimed};
use serde_json::{json, Value};

use crate::parts;

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
        (Subject::Headers, Form::Svg) => mokume_draw::headers_svg(&automaton.name, &headers(automaton, program)),
        (Subject::Headers, _) => mokume_draw::headers_text(&headers(automaton, program)),
    }
}

/// The data of a picture.
pub fn document(automaton: &Automaton, program: &Program, what: Subject) -> Value {
    match what {
        Subject::Stack => stack_document(&stack_of(automaton, program)),
        Subject::Headers => {
            let wires: Vec<Value> = headers(automaton, program).iter().map(header_document).collect();
            json!({ "stack": automaton.name, "wires": wires })
        }
    }
}

/// The pictures of headers, with the names of the source: of a vector the automaton has the length and each element by itself.
fn headers(automaton: &Automaton, program: &Program) -> Vec<HeaderPicture> {
    let mut named = automaton.clone();
    for header in &mut named.headers {
        let owner = header.name.rsplit_once('.').map_or("", |(owner, _)| owner);
        let of = automaton.layers.iter().find(|layer| layer.name == owner).map_or("", |layer| &layer.of);
        let variants =
            program.layers.iter().filter(|layer| layer.name.text == of).filter_map(|layer| layer.header.as_ref());
        let fields = variants.flat_map(|header| &header.variants).flat_map(|variant| &variant.fields);
        let paths: BTreeMap<String, String> =
            fields.flat_map(|field| parts::scalars(program, &field.name.text, field.ty)).collect();
        for (name, _) in header.variants.iter_mut().flat_map(|variant| &mut variant.fields) {
            if let Some(path) = paths.get(name) {
                name.clone_from(path);
            }
        }
    }
    // The layout of a header without a wire has the names of the header.
    let is_declared = |name: &str| {
        let name = name.rsplit('.').next().unwrap_or_default();
        program.wires.iter().any(|wire| wire.name.text == name)
    };
    for wire in named.wires.iter_mut().filter(|wire| !is_declared(&wire.name)) {
        for_each_field(&mut wire.items, &mut |field| {
            let FieldValue::Header { header, variant, field: place, .. } = &field.value else { return };
            let own = named.headers.get(header.index()).and_then(|header| header.variants.get(variant.index()));
            if let Some((name, _)) = own.and_then(|variant| variant.fields.get(*place as usize)) {
                field.name.clone_from(name);
            }
        });
    }
    header_pictures(&named)
}

fn for_each_field(items: &mut [WireItem], change: &mut dyn FnMut(&mut WireField)) {
    for item in items {
        match item {
            WireItem::Field(field) => change(field),
            WireItem::Choice { arms, .. } => arms.iter_mut().for_each(|arm| for_each_field(&mut arm.items, change)),
            WireItem::Optional { items, .. } => for_each_field(items, change),
            WireItem::List(list) => list.elements.iter_mut().for_each(|items| for_each_field(items, change)),
            WireItem::Options(options) => {
                for arm in &mut options.arms {
                    if let OptionArm::Known { items, .. } = arm {
                        for_each_field(items, change);
                    }
                }
            }
            WireItem::Reach(_) => {}
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
    for edge in stack.edges.iter_mut().filter(|edge| edge.kind == EdgeKind::Service) {
        edge.label = edge.label.split(", ").map(|event| service_event(program, event)).collect::<Vec<_>>().join(", ");
    }
    // A port may have its layer's name.
    for node in stack.nodes.iter_mut().filter(|node| matches!(node.kind, NodeKind::Layer { .. })) {
        node.notes.extend(said.iter().filter(|(name, _)| *name == node.name).map(|(_, note)| note.clone()));
    }
    stack
}

/// An event between layers as sources name it: `Resolve.known`, whoever of a layer's servers it came from.
fn service_event(program: &Program, event: &str) -> String {
    let known = program
        .services
        .iter()
        .flat_map(|service| service.operations.iter().map(move |operation| (&service.name.text, &operation.name.text)));
    let is_it = |(service, operation): &(&String, &String)| {
        let rest = event.strip_prefix(&format!("{service}_{operation}"));
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('_').is_some_and(is_number))
    };
    known
        .into_iter()
        .find(is_it)
        .map_or_else(|| event.to_string(), |(service, operation)| format!("{service}.{operation}"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit())
}

/// A line for each layer that says what it gives and needs, by the layer's name.
fn signatures(automaton: &Automaton, program: &Program) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    for layer in &automaton.layers {
        let Some(of) = program.layers.iter().find(|known| known.name.text == layer.of) else { continue };
        for (word, claims) in [("gives", &of.gives), ("breaks", &of.breaks), ("needs", &of.needs)] {
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
