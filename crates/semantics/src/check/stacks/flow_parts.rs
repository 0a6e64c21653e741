//! A layer below must add each part of a flow that a layer's code names.

use std::collections::{BTreeMap, BTreeSet};

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::StackCheck;
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, suggest, types};

/// A part of a flow, as a layer makes it.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// It is a symmetric key, which belongs to neither end.
    pub symmetric: bool,
    /// The layer, and its field.
    made: (&'a Layer, &'a Field),
}

/// The parts of a flow by name.
pub(super) type Parts<'a> = BTreeMap<&'a str, Part<'a>>;

/// The parts of the flow above a layer of the descent, without keys that instances are bound to.
pub(super) fn below<'a>(check: &StackCheck<'a, '_>, descent: &Descent, at: usize) -> Parts<'a> {
    let mut parts = Parts::new();
    for (step, &(instance, _)) in descent.steps.iter().enumerate().rev() {
        let own = &check.layers[instance];
        let from = if step == 0 { at + 1 } else { 0 };
        for layer in own[from.min(own.len())..].iter().rev() {
            add_parts(layer, &mut parts);
        }
        if step > 0 {
            let (above, under) = descent.steps[step - 1];
            for (name, _) in &check.stack.instances[above].unders[under].bound {
                // For a key that is not symmetric, only the local end is bound.
                if parts.get(name.text.as_str()).is_some_and(|part| part.symmetric) {
                    parts.remove(name.text.as_str());
                }
            }
        }
    }
    parts
}

/// Checks that the parts of flows that a layer's code names are added by layers below it.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let index = descent.index();
    let mut found = Vec::new();
    for (at, layer) in check.layers[index].iter().enumerate() {
        let below = below(check, descent, at);
        let mut above = below.clone();
        add_parts(layer, &mut above);
        found.extend(other_types(check, index, layer, &below));
        let which = layer.several.as_ref().map(|which| which.text.as_str());
        let mut seen = BTreeSet::new();
        for asked in &layer.below_address {
            let name = &asked.name;
            if !below.contains_key(name.text.as_str()) && seen.insert(name.text.as_str()) {
                found.push(no_part(check, index, layer, name, (&below, &[])));
            }
        }
        visit::walk_layer(layer, &mut |met| {
            let Met::Expr(expr) = met else { return };
            if let Some((span, side, end)) = unnamed_part(expr) {
                let known = if side == Side::Above { &above } else { &below };
                let ends = known.values().filter(|part| !part.symmetric).count();
                if ends != 1 && seen.insert("") {
                    found.push(not_one_part(check, index, layer, (span, end), known));
                }
            }
            for (name, side) in parts_named(expr) {
                let known = if side == Side::Above { &above } else { &below };
                let is_which = side == Side::Below && which == Some(name.text.as_str());
                if !is_which && !known.contains_key(name.text.as_str()) && seen.insert(name.text.as_str()) {
                    // A value for the session goes by its own name; parts of the other end follow `remote`.
                    let given = if is_remote(expr, name) { Vec::new() } else { asked_below(check, descent, at) };
                    found.push(no_part(check, index, layer, name, (known, &given)));
                }
            }
        });
    }
    check.out.extend(found);
}

/// The values that the layers below need by `from open` or `from listen`: they are written among the parts of a flow.
fn asked_below<'a>(check: &StackCheck<'a, '_>, descent: &Descent, at: usize) -> Vec<&'a str> {
    let mut asked = Vec::new();
    for (step, &(instance, _)) in descent.steps.iter().enumerate() {
        let own = &check.layers[instance];
        let from = if step == 0 { at + 1 } else { 0 };
        for layer in &own[from.min(own.len())..] {
            let members = layer.asked(&layer.given).chain(layer.asked(&layer.listened));
            asked.extend(members.map(|(_, member)| member.name.text.as_str()));
        }
    }
    asked
}

/// Which layers of the program make such a part of flows.
fn makers(program: &Program, part: &str) -> String {
    let has = |fields: &[Field]| fields.iter().any(|field| field.name.text == part);
    let makes = |layer: &&Layer| layer.key.as_ref().is_some_and(|key| has(&key.fields)) || has(&layer.address);
    let names: Vec<&str> = program.layers.iter().filter(makes).map(|layer| layer.name.text.as_str()).collect();
    let first = &names[..names.len().min(4)];
    match first {
        [] => format!("put a layer below that makes `{part}`: `multiplexor Ports {{ key {{ {part}: u16 }} }}`"),
        _ => {
            format!("put a layer below that makes `{part}`, such as {}", suggest::list(first).replace(" and ", " or "))
        }
    }
}

fn no_part(
    check: &StackCheck,
    index: usize,
    layer: &Layer,
    name: &Name,
    (known, given): (&Parts, &[&str]),
) -> Diagnostic {
    let text = format!("no layer below `{}` gives its flows a part `{}`", layer.name.text, name.text);
    let mut diagnostic = Diagnostic::error(codes::NO_FLOW_PART, text)
        .at(check.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
        .label(name.span, "asked for here");
    let help = if given.contains(&name.text.as_str()) {
        let text = "a layer below asks for `NAME`, but not of who says this: let it ask `from open, listen`";
        Some(text.replace("NAME", &name.text))
    } else {
        suggest::help(&name.text, known.keys().copied().chain(given.iter().copied()))
    };
    diagnostic.helps.push(help.unwrap_or_else(|| makers(check.program, &name.text)));
    if known.is_empty() {
        diagnostic =
            diagnostic.note("the flows here have no parts at all: the layers below make none, or the keys are bound");
    }
    diagnostic
}

fn not_one_part(
    check: &StackCheck,
    index: usize,
    layer: &Layer,
    (span, end): (Span, &str),
    known: &Parts,
) -> Diagnostic {
    let names: Vec<&str> = known.iter().filter(|(_, part)| !part.symmetric).map(|(name, _)| *name).collect();
    let text = match names.is_empty() {
        true => format!("`{}` names an end of a flow, and the flows here have none", layer.name.text),
        false => {
            format!("`{}` names an end of a flow, and that has the parts {}", layer.name.text, suggest::list(&names))
        }
    };
    let of = check.stack.instances[index].of.span;
    let help = match names.as_slice() {
        // The text of a module is not its user's to change.
        [_, _, ..] if span.file != of.file => {
            format!("`{}` is for flows with one part at each end: put it on a layer further down", layer.name.text)
        }
        names => format!("name it: `{end}.{}: …`", names.first().unwrap_or(&"part")),
    };
    Diagnostic::error(codes::NO_FLOW_PART, text)
        .at(of, format!("`{}` stands here", layer.name.text))
        .label(span, "which part is this?")
        .help(help)
}

/// Applies the effect of a layer on the parts of flows that pass it upwards.
fn add_parts<'a>(layer: &'a Layer, parts: &mut Parts<'a>) {
    match layer.shape {
        // A router without an address only chooses among the layers below.
        Shape::Router if layer.address.is_empty() => {}
        Shape::Router => *parts = layer.address.iter().map(|field| part_of(layer, field, false)).collect(),
        Shape::Multiplexor => {
            let keys =
                layer.key.iter().flat_map(|key| key.fields.iter().map(|field| part_of(layer, field, key.symmetric)));
            parts.extend(keys);
        }
        _ => {}
    }
}

fn part_of<'a>(layer: &'a Layer, field: &'a Field, symmetric: bool) -> (&'a str, Part<'a>) {
    (field.name.text.as_str(), Part { symmetric, made: (layer, field) })
}

/// Reports what a layer asks for in its `below address` and a layer below makes of another type.
fn other_types(check: &StackCheck, index: usize, layer: &Layer, below: &Parts) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for asked in &layer.below_address {
        let Some(Part { made: (by, field), .. }) = below.get(asked.name.text.as_str()) else { continue };
        if types::same(asked.ty, field.ty) {
            continue;
        }
        let (wanted, made) = (types::show(check.program, asked.ty), types::show(check.program, field.ty));
        let (name, who) = (&asked.name.text, &layer.name.text);
        let text = format!("`{who}` asks for `{name}` of a flow as {wanted}, and `{}` makes {made}", by.name.text);
        let diagnostic = Diagnostic::error(codes::MISMATCH, text)
            .at(check.stack.instances[index].of.span, format!("`{who}` stands here"))
            .label(asked.name.span, format!("asked for as {wanted}"))
            .label(field.name.span, format!("made as {made}"))
            .help(format!("ask for it as it is made: `below address {{ {name}: {made} }}`"));
        found.push(diagnostic);
    }
    found
}

/// `flow(remote: x)`: an end without the name of its part. Returns its place, its side, and which end it is.
fn unnamed_part(expr: &Expr) -> Option<(Span, Side, &'static str)> {
    let (ExprKind::Flow { local, remote, .. }, Type::Flow(side)) = (&expr.kind, expr.ty) else { return None };
    let ends = local.iter().map(|part| ("local", part)).chain(remote.iter().map(|part| ("remote", part)));
    let (end, (_, part)) = ends.into_iter().find(|(_, (name, _))| name.is_none())?;
    Some((part.span, side, end))
}

fn is_remote(expr: &Expr, name: &Name) -> bool {
    let ExprKind::Flow { remote, .. } = &expr.kind else { return false };
    remote.iter().any(|(known, _)| known.as_ref().is_some_and(|known| known.span == name.span))
}

/// The parts of flows that an expression itself names, with the side of the flow.
fn parts_named(expr: &Expr) -> Vec<(&Name, Side)> {
    match (&expr.kind, expr.ty) {
        (ExprKind::FlowPart { flow, field, .. }, _) => match flow.ty {
            Type::Flow(side) => vec![(field, side)],
            _ => Vec::new(),
        },
        (ExprKind::Flow { local, remote, .. }, Type::Flow(side)) => {
            local.iter().chain(remote).filter_map(|(name, _)| Some((name.as_ref()?, side))).collect()
        }
        _ => Vec::new(),
    }
}
