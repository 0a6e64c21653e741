//! A wire against the bundle that it encodes: on every path, every field of every header is covered exactly once,
//! widths agree, and the path ends on an octet boundary.
//!
//! May assume: the wire itself is read. Keeps: paths are followed only if every name is known.

mod alternatives;
mod context;
mod cover;
mod headers;
mod messages;
mod names;
mod order;
mod own;
mod parts;
mod paths;
mod twice;
mod vectors;

use mokume_base::{Diagnostic, Span};

use crate::check::wires::context::{Path, WireCheck};
use crate::program::*;
use crate::{codes, lost, types};

/// Whether messages may stand behind the headers of a bundle: behind some alternative its topmost layer sends them.
pub fn carries_messages(program: &Program, bundle: &Bundle, wire: &Wire) -> bool {
    let (layers, mut out) = (headers::carried(program, bundle), Vec::new());
    let check = of(program, bundle, wire, &layers, &mut out);
    let alternatives = check.seen.iter().flat_map(|seen| {
        let names = seen.variants.iter().filter_map(|(name, _)| *name);
        names.map(|name| (seen.layer.name.text.as_str(), name))
    });
    let mut alternatives = alternatives.map(|one| vec![one]).chain([Vec::new()]);
    alternatives.any(|selected| messages::go_behind(&check, &selected))
}

fn of<'a, 'b>(
    program: &'a Program,
    bundle: &'a Bundle,
    wire: &'a Wire,
    layers: &[&'a Layer],
    out: &'b mut Vec<Diagnostic>,
) -> WireCheck<'a, 'b> {
    WireCheck {
        program,
        bundle,
        wire,
        seen: layers.iter().map(|layer| headers::header_of(layer)).collect(),
        failed: false,
        alone: Vec::new(),
        covered_variants: Vec::new(),
        stray: Vec::new(),
        from: out.len(),
        out,
    }
}

/// Checks the wire of one bundle.
pub fn check(program: &Program, bundle: &Bundle, wire: &Wire, out: &mut Vec<Diagnostic>) {
    let layers = headers::carried(program, bundle);
    let mut check = of(program, bundle, wire, &layers, out);
    names::names(&mut check, &wire.items);
    twice::check(&mut check);
    valueless(&mut check);
    if wire.whole && !check.failed && paths::are_few(&mut check) {
        let mut path = Path::default();
        paths::follow(&mut check, &[&wire.items], &mut path);
        variants(&mut check);
        alternatives::leave_out_lacking(&mut check);
    }
    if wire.whole && !check.failed {
        own::check(&mut check);
    }
    if wire.whole && !check.failed {
        std::mem::take(&mut check.alone).into_iter().for_each(|diagnostic| check.fail(diagnostic));
    }
    let from = check.from;
    lost::through(&mut out[from..], &lost::fields(&wire.name));
}

/// A field without a value must be one that a choice depends on: the value of any other would be undefined.
fn valueless(check: &mut WireCheck) {
    let (mut tags, mut chosen) = (Vec::new(), Vec::new());
    let mut open: Vec<&WireItem> = check.wire.items.iter().collect();
    while let Some(item) = open.pop() {
        match item {
            WireItem::Field(field) if matches!(field.value, WireValue::Tag) => tags.push(field),
            WireItem::Choice { on, arms, .. } => {
                chosen.push(*on);
                open.extend(arms.iter().flat_map(|arm| &arm.items));
            }
            WireItem::Optional { items, .. } => open.extend(items),
            WireItem::Each(each) => open.extend(&each.items),
            WireItem::Field(_) | WireItem::Options(_) | WireItem::Reach(..) => {}
        }
    }
    for field in tags.into_iter().filter(|field| check.wire.whole && !chosen.contains(&field.index)) {
        let name = &field.name.text;
        let found = Diagnostic::error(codes::WIRE_VALUE, format!("`{name}` has no value, and no choice depends on it"))
            .at(field.name.span, "what is in it?");
        let found = match in_alternatives(check, name).as_slice() {
            [] => found.help(format!(
                "say it: `{name}: u{0} = Layer.field`, `= size(packet)` of a length, a number, or `= 0 unread` for what is not looked at",
                field.width
            )),
            places => found
                .note(format!("each alternative has a `{name}` of its own: {}", places.join(", ")))
                .help(format!("put it into each arm: `{name}: u{} = {}`", field.width, places[0].trim_matches('`')))
                .help("or let a layer of its own in the bundle have it: docs/language.md, *Where fields of an alternative stand*"),
        };
        check.fail(found);
    }
}

/// The fields of this name in alternatives of headers, as a wire names them.
fn in_alternatives(check: &WireCheck, name: &str) -> Vec<String> {
    let layers = check.seen.iter().map(|seen| seen.layer);
    let of_layer = |layer: &Layer| {
        let variants = layer.header.iter().filter(|header| !header.is_single()).flat_map(|header| &header.variants);
        let with = variants.filter(|variant| variant.fields.iter().any(|field| field.name.text == name));
        with.map(|variant| format!("`{}.{}.{name}`", layer.name.text, variant.name.text)).collect::<Vec<_>>()
    };
    layers.flat_map(of_layer).collect()
}

/// Every alternative of every header must have an arm.
pub fn variants(check: &mut WireCheck) {
    let mut missing = Vec::new();
    for seen in &check.seen {
        for (name, _) in &seen.variants {
            let Some(name) = name else { continue };
            let known =
                check.covered_variants.iter().any(|(layer, variant)| *layer == seen.layer.name.text && variant == name);
            if !known {
                missing.push((seen.layer, name.to_string()));
            }
        }
    }
    for (layer, variant) in missing {
        let span = layer.header.iter().flat_map(|header| &header.variants).find(|known| known.name.text == variant);
        let text = format!("wire `{}` cannot carry `{}.{variant}`", check.wire.name.text, layer.name.text);
        let mut diagnostic =
            Diagnostic::error(codes::WIRE_ALTERNATIVE, text).at(check.wire.name.span, "no choice has an arm for it");
        if let Some(known) = span {
            diagnostic = diagnostic.label(known.name.span, "this alternative");
        }
        let fields = span.is_some_and(|known| !known.fields.is_empty());
        let arm = |tag: u64| format!("{tag} => {variant} {{{}}}", if fields { " … " } else { "" });
        let help = match choice_of(&check.wire.items, &layer.name.text) {
            Some(Chosen { on, span, free: Some(free) }) => {
                diagnostic = diagnostic.label(span, "this choice");
                let name = field(&check.wire.items, on).map_or("", |field| &field.name.text);
                format!("add `{}` to `choice {name} {{ … }}`", arm(free))
            }
            Some(Chosen { span, .. }) => {
                diagnostic = diagnostic.label(span, "this choice");
                "each number of its field has an arm already: let the field be wider, and add an arm".to_string()
            }
            None => format!("add `kind: u8  choice kind {{ … {} }}`", arm(2)),
        };
        check.fail(diagnostic.help(help));
    }
}

/// A choice between the alternatives of a layer, and the first number that no arm of it has.
struct Chosen {
    on: u32,
    span: Span,
    free: Option<u64>,
}

/// The choice that has arms for alternatives of this layer, or of a layer that it does not name.
fn choice_of(items: &[WireItem], layer: &str) -> Option<Chosen> {
    items.iter().find_map(|item| match item {
        WireItem::Choice { on, arms, span } => {
            let selects = |arm: &WireArm| {
                let chosen = arm.selects.as_ref();
                chosen.is_some_and(|(of, _)| of.as_ref().is_none_or(|of| of.text == layer))
            };
            let within = || arms.iter().find_map(|arm| choice_of(&arm.items, layer));
            if !arms.iter().any(selects) {
                return within();
            }
            let width = field(items, *on).map_or(64, |field| field.width);
            let is_free = |tag: &u64| arms.iter().all(|arm| arm.tag != *tag);
            let free = (1..=types::mask(width).min(65_535)).find(is_free);
            Some(Chosen { on: *on, span: *span, free })
        }
        WireItem::Optional { items, .. } => choice_of(items, layer),
        WireItem::Field(_) | WireItem::Options(_) | WireItem::Each(_) | WireItem::Reach(..) => None,
    })
}

/// The field with this number, in order of appearance.
fn field(items: &[WireItem], index: u32) -> Option<&WireField> {
    WireItem::fields(items).into_iter().find(|field| field.index == index)
}
