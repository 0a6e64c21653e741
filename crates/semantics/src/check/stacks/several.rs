//! Routers over several layers: the ways down are alike, and the router itself publishes what layers above read.

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::{StackCheck, EVERYWHERE};
use crate::check::{column, descents, live};
use crate::program::*;
use crate::visit::{self, Met};
use crate::{codes, constants, suggest, types};

/// The end that a part of a flow belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Endpoint {
    Both,
    Remote,
    /// Both ends have one value.
    Shared,
}

/// Checks a router over several: it publishes what the layers above read.
pub(super) fn check(check: &mut StackCheck, index: usize) {
    let own = &check.layers[index];
    let Some(lowest) = own.iter().rposition(|layer| layer.several.is_some()) else { return };
    beyond_below(check, index, lowest);
    if check.stack.instances[index].unders.len() < 2 {
        return;
    }
    let router = check.layers[index][lowest];
    let mut found: Vec<Diagnostic> = unlike(check, index, lowest).into_iter().collect();
    for (reader, names) in readers_above(check, index, lowest) {
        for (name, span) in names {
            found.push(unsaid(check, index, router, reader, (name, span)));
        }
    }
    check.out.extend(found);
}

/// Reports `below[9].x` and `flow(link: 9)` if there are fewer layers below.
fn beyond_below(check: &mut StackCheck, index: usize, lowest: usize) {
    let instance = &check.stack.instances[index];
    let count = instance.unders.len() as u64;
    let placed = column::placed(check.program, &instance.of, instance.of.span);
    let Some(placed) = placed.get(lowest) else { return };
    let Some(which) = &placed.layer.several else { return };
    let mut found = Vec::new();
    live::walk_layer(check.program, placed.layer, &placed.args, &mut |met| {
        let Met::Expr(expr) = met else { return };
        let chosen = match &expr.kind {
            ExprKind::Below { index: Some(index), .. } => Some(index.as_ref()),
            ExprKind::Flow { local, .. } if expr.ty == Type::Flow(Side::Below) => {
                let part = local.iter().find(|(name, _)| name.as_ref().is_some_and(|n| n.text == which.text));
                part.map(|(_, value)| value)
            }
            _ => None,
        };
        let Some(chosen) = chosen else { return };
        let value = constants::eval_with(check.program, &placed.args, chosen).ok().and_then(|value| value.scalar());
        if let Some(value) = value.filter(|value| *value >= count) {
            found.push(
                Diagnostic::error(codes::BEYOND_BELOW, format!("there is no layer {value} below: there are {count}"))
                    .at(instance.of.span, format!("`{}` stands on {count} here", placed.layer.name.text))
                    .label(chosen.span, "they count from 0")
                    .help(format!("`below.count` is how many there are; `{}` is less", which.text)),
            );
        }
    });
    check.out.extend(found);
}

/// The flows of all layers that a router is over must have the same parts.
fn unlike(check: &StackCheck, index: usize, lowest: usize) -> Option<Diagnostic> {
    let descents = descents::all(check.stack, index);
    let first = typed_parts(check, descents.first()?, lowest);
    let other = descents.iter().find(|descent| typed_parts(check, descent, lowest) != first)?;
    let unders = &check.stack.instances[index].unders;
    let show = |descent: &Descent| {
        let name = check.under_name(&unders[descent.steps[0].1]).to_string();
        let parts: Vec<String> = typed_parts(check, descent, lowest)
            .iter()
            .map(|(name, ty, _)| format!("{name}: {}", types::show(check.program, *ty)))
            .collect();
        let parts = if parts.is_empty() { "no parts".to_string() } else { parts.join(", ") };
        format!("flows of `{name}` have {parts}")
    };
    let text = format!("`{}` stands on layers whose flows differ", check.layers[index][lowest].name.text);
    Some(
        Diagnostic::error(codes::UNLIKE_BELOW, text)
            .at(check.stack.instances[index].of.span, "over these")
            .note(show(descents.first()?))
            .note(show(other))
            .help("bind each to its key, or put the same kinds of layers into each way"),
    )
}

/// The parts of the flow below a layer: name, type and end.
fn typed_parts<'a>(check: &StackCheck<'a, '_>, descent: &Descent, at: usize) -> Vec<(&'a str, Type, Endpoint)> {
    let mut parts: Vec<(&str, Type, Endpoint)> = Vec::new();
    for (step, &(instance, _)) in descent.steps.iter().enumerate().rev() {
        let own = &check.layers[instance];
        let from = if step == 0 { at + 1 } else { 0 };
        for layer in own[from.min(own.len())..].iter().rev() {
            match layer.shape {
                Shape::Router if !layer.address.is_empty() => {
                    parts = layer.address.iter().map(|f| (f.name.text.as_str(), f.ty, Endpoint::Both)).collect();
                }
                Shape::Multiplexor => {
                    let keys = layer.key.iter();
                    parts.extend(keys.flat_map(|key| {
                        let endpoint = if key.symmetric { Endpoint::Shared } else { Endpoint::Both };
                        key.fields.iter().map(move |f| (f.name.text.as_str(), f.ty, endpoint))
                    }));
                }
                _ => {}
            }
        }
        if step > 0 {
            let (above, under) = descent.steps[step - 1];
            let bound = &check.stack.instances[above].unders[under].bound;
            let gone = |name: &str| bound.iter().any(|(gone, _)| gone.text == name);
            parts.retain(|(name, _, endpoint)| *endpoint != Endpoint::Shared || !gone(name));
            // For a key that is not symmetric, only the local end is bound.
            parts.iter_mut().filter(|(name, ..)| gone(name)).for_each(|(_, _, endpoint)| *endpoint = Endpoint::Remote);
        }
    }
    parts
}

fn unsaid(
    check: &StackCheck,
    index: usize,
    router: &Layer,
    reader: &Layer,
    (name, span): (String, Span),
) -> Diagnostic {
    let stands = format!("`{}` stands on several here", router.name.text);
    let text = format!("`{}` reads `below.{name}`, of which the layers below have one each", reader.name.text);
    let unders = &check.stack.instances[index].unders;
    let overs: Vec<String> = unders.iter().map(|under| check.under_name(under).to_string()).collect();
    Diagnostic::error(codes::UNSAID, text)
        .at(check.stack.instances[index].of.span, stands)
        .label(span, "read here")
        .note(format!("below are {}", suggest::list(&overs.iter().map(String::as_str).collect::<Vec<_>>())))
        .help(format!("let `{}` say `publish {name}: … = below[i].{name}`", router.name.text))
}

/// The layers whose `below.x` reaches a router without being published in between.
fn readers_above<'a>(check: &StackCheck<'a, '_>, index: usize, router: usize) -> Vec<(&'a Layer, Vec<(String, Span)>)> {
    let mut found = Vec::new();
    for other in 0..check.stack.instances.len() {
        for descent in descents::all(check.stack, other) {
            let Some(step) = descent.steps.iter().position(|(at, _)| *at == index) else { continue };
            let mut path: Vec<&Layer> =
                descent.steps[..step].iter().flat_map(|(at, _)| check.layers[*at].iter().copied()).collect();
            path.extend(&check.layers[index][..=router]);
            for at in 0..path.len().saturating_sub(1) {
                let reader = path[at];
                let names = unpublished(reader, &path[at + 1..]);
                if !names.is_empty()
                    && !found.iter().any(|(known, _): &(&Layer, _)| known.name.span == reader.name.span)
                {
                    found.push((reader, names));
                }
            }
        }
    }
    found
}

/// What a layer reads from below that none of the layers below it publishes.
fn unpublished(reader: &Layer, below: &[&Layer]) -> Vec<(String, Span)> {
    let mut names: Vec<(String, Span)> = Vec::new();
    visit::walk_layer(reader, &mut |met| {
        let Met::Expr(Expr { kind: ExprKind::Below { name, index: None, .. }, .. }) = met else { return };
        let said = below.iter().any(|layer| layer.publishes.iter().any(|publish| publish.name.text == name.text));
        if !said && !EVERYWHERE.contains(&name.text.as_str()) && !names.iter().any(|(known, _)| *known == name.text) {
            names.push((name.text.clone(), name.span));
        }
    });
    names
}
