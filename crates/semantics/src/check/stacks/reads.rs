//! What layers read of those below them is published there, with the type that the reader expects.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::check::descents::Descent;
use crate::check::stacks::context::{StackCheck, EVERYWHERE, OF_DEVICES};
use crate::check::{column, live};
use crate::program::*;
use crate::visit::Met;
use crate::{codes, lost, suggest, types};

/// A layer below must publish each `below.x`.
pub(super) fn check(check: &mut StackCheck, descent: &Descent) {
    let (index, chain) = (descent.index(), descent.instances());
    let given = column::placed(check.program, &check.stack.instances[index].of, check.stack.instances[index].of.span);
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (at, layer) in check.layers[index].iter().enumerate() {
        let mut wishes: BTreeMap<&str, (Span, Type)> = BTreeMap::new();
        let args = given.get(at).map_or(&[][..], |placed| placed.args.as_slice());
        live::walk_layer(check.program, layer, args, &mut |met| {
            if let Met::Expr(Expr { kind: ExprKind::Below { name, .. }, ty, .. }) = met {
                wishes.entry(&name.text).or_insert((name.span, *ty));
            }
        });
        let inside = check.layers[index][at + 1..].iter().copied();
        let below: Vec<&Layer> =
            inside.chain(chain[1..].iter().flat_map(|at| check.layers[*at].iter().copied())).collect();
        for (name, (span, ty)) in wishes {
            if is_published(check, name, &below, descent) {
                found.extend(other_type(check, index, layer, (name, span, ty), &below));
                found.extend(of_other_flows(check, index, layer, (name, span), &below));
                continue;
            }
            missing.push(not_published(check, index, layer, (name, span), &below));
        }
    }
    check.out.extend(found);
    check.out.extend(all_as_one(missing));
}

/// A layer in the wrong place lacks everything that it reads: that is one mistake.
fn all_as_one(missing: Vec<Diagnostic>) -> Option<Diagnostic> {
    let mut missing = missing.into_iter();
    let first = missing.next()?;
    let others: Vec<String> = missing.map(|other| other.message).collect();
    Some(others.into_iter().fold(first, |first, other| first.note(other)))
}

/// Checks what an application reads by `with`: it is published below, or is an attribute that is read or written there.
pub(super) fn exported(check: &mut StackCheck, descent: &Descent) {
    let name = &check.stack.instances[descent.index()].name;
    let Some(extras) = check.stack.extras.iter().find(|extras| extras.export.text == name.text) else { return };
    let below: Vec<&Layer> = descent.instances().iter().flat_map(|at| check.layers[*at].iter().copied()).collect();
    let mut found = Vec::new();
    for (attribute, id) in &extras.attributes {
        if let Some(by) = below.iter().find(|layer| layer.publishes.iter().any(|p| p.name.text == attribute.plain())) {
            let text =
                format!("`{}` is an attribute, and `{}` publishes a value of this name", attribute.text, by.name.text);
            found.push(
                Diagnostic::error(codes::CLASH, text)
                    .at(attribute.span, "which of them?")
                    .label(by.name.span, "publishes it")
                    .help("give one of them another name"),
            );
        } else if !below.iter().any(|layer| layer.reads.contains(id) || layer.writes.contains(id)) {
            found.push(
                Diagnostic::error(codes::UNKNOWN_EXPORT, format!("nobody below reads or writes `{}`", attribute.text))
                    .at(attribute.span, "it would come to nobody, and from nobody")
                    .needs(lost::attribute(&check.program.attributes[id.index()].name))
                    .help("leave it out, or put a layer below that says `reads` or `writes`"),
            );
        }
    }
    for value in &extras.values {
        if !is_published(check, &value.text, &below, descent) {
            let known: Vec<&str> = below
                .iter()
                .flat_map(|layer| layer.publishes.iter().map(|publish| publish.name.text.as_str()))
                .chain(EVERYWHERE)
                .collect();
            let text = format!("`{}` is no attribute, and nobody below publishes it", value.text);
            let mut diagnostic =
                Diagnostic::error(codes::NOT_PUBLISHED, text).at(value.span, "the application would not be told");
            diagnostic.helps.extend(suggest::help(&value.text, known.iter().copied()));
            found.push(diagnostic.help(format!("let a layer below say `publish {}: … = …`", value.text)));
        }
    }
    check.out.extend(found);
}

/// The nearest publisher below must give the value the type that the reader expects.
fn other_type(
    check: &StackCheck,
    index: usize,
    layer: &Layer,
    wish: (&str, Span, Type),
    below: &[&Layer],
) -> Option<Diagnostic> {
    let (name, span, ty) = wish;
    let (at, publish) = publisher(name, below)?;
    let by = below[at];
    if types::same(publish.ty, ty) {
        return None;
    }
    let (wanted, given) = (types::show(check.program, ty), types::show(check.program, publish.ty));
    let text =
        format!("`{}` reads `below.{name}` as {wanted}, and `{}` publishes {given}", layer.name.text, by.name.text);
    Some(
        Diagnostic::error(codes::MISMATCH, text)
            .at(check.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
            .label(span, format!("read as {wanted}"))
            .label(publish.name.span, format!("published as {given}"))
            .help("publish one name with one type everywhere; `mtu` and `credit` are u32, `mac` is u48"),
    )
}

/// What is published of a flow cannot be read across a router that makes flows of its own: the reader's flow is none of those below it.
fn of_other_flows(
    check: &StackCheck,
    index: usize,
    layer: &Layer,
    (name, span): (&str, Span),
    below: &[&Layer],
) -> Option<Diagnostic> {
    let (at, publish) = of_a_flow(name, below)?;
    let (router, by) = (below[..at].iter().find(|layer| layer.shape == Shape::Router)?, below[at]);
    let text = format!(
        "`{}` reads `below.{name}`, which `{}` publishes of a flow, and `{}` between them makes flows of its own",
        layer.name.text, by.name.text, router.name.text
    );
    let call = if router.below_address.is_empty() { "" } else { "(flow(…))" };
    Some(
        Diagnostic::error(codes::NOT_PUBLISHED, text)
            .at(check.stack.instances[index].of.span, format!("`{}` stands here", layer.name.text))
            .label(span, "read here")
            .label(publish.name.span, "published of a flow below the router")
            .label(router.name.span, "says by `from flow(…)` which flows there are above it")
            .help(format!(
                "let `{}` say of which flow below: `publish {name}(flow): … = below.{name}{call}`",
                router.name.text
            )),
    )
}

/// The nearest layer that publishes a name, by its place, and what it publishes.
fn publisher<'p>(name: &str, below: &[&'p Layer]) -> Option<(usize, &'p Publish)> {
    let publishes = |layer: &&'p Layer| layer.publishes.iter().find(|publish| publish.name.text == name);
    below.iter().enumerate().find_map(|(at, layer)| Some((at, publishes(layer)?)))
}

/// The same, if what it publishes is of a flow.
fn of_a_flow<'p>(name: &str, below: &[&'p Layer]) -> Option<(usize, &'p Publish)> {
    let (at, publish) = publisher(name, below)?;
    let mut is_of_flow = publish.flow.is_some();
    crate::visit::walk_expr(&publish.value, &mut |part| {
        if let ExprKind::Below { name, .. } = &part.kind {
            is_of_flow |= of_a_flow(&name.text, &below[at + 1..]).is_some();
        }
    });
    is_of_flow.then_some((at, publish))
}

fn is_published(check: &StackCheck, name: &str, below: &[&Layer], descent: &Descent) -> bool {
    let device = descent.ends_at_device(check.stack) && OF_DEVICES.contains(&name);
    EVERYWHERE.contains(&name) || device || publisher(name, below).is_some()
}

fn not_published(
    check: &StackCheck,
    index: usize,
    layer: &Layer,
    (name, span): (&str, Span),
    below: &[&Layer],
) -> Diagnostic {
    let instance = &check.stack.instances[index];
    let mut path: Vec<String> = below.iter().map(|layer| format!("`{}`", layer.name.text)).collect();
    path.push("the device".into());
    let elsewhere: Vec<&str> = check
        .program
        .layers
        .iter()
        .filter(|layer| layer.publishes.iter().any(|publish| publish.name.text == name))
        .map(|layer| layer.name.text.as_str())
        .collect();
    let text = format!("`{}` reads `below.{name}`, and nobody below it publishes that", layer.name.text);
    let diagnostic = Diagnostic::error(codes::NOT_PUBLISHED, text)
        .at(instance.of.span, format!("`{}` stands here", layer.name.text))
        .label(span, "read here")
        .note(format!("below it: {}", path.join(", ")))
        .needs(lost::published(check.stack, name))
        .loses(lost::within(instance.of.span, "what is below"));
    // A layer of a bundle is added to a stack by its bundle.
    let has_it =
        |part: &Use| check.program.layers_of(part).iter().any(|layer| elsewhere.contains(&layer.name.text.as_str()));
    // A line of several layers is a bundle without a name.
    let named = check.program.bundles.iter().filter(|bundle| bundle.name.text != "_");
    let bundles = named.filter(|bundle| bundle.parts.iter().any(has_it));
    let bundles: Vec<&str> = bundles.map(|bundle| bundle.name.text.as_str()).collect();
    let which = if bundles.is_empty() { elsewhere } else { bundles };
    match which.is_empty() {
        true => diagnostic.help(format!("let a layer below say `publish {name}: … = …`")),
        false => diagnostic.help(format!("put {} below it", suggest::list(&which))),
    }
}
