//! Every path through a wire's choices and optional parts: what it covers, and where it ends.

use mokume_base::{Diagnostic, Span};

use crate::check::wires::context::{Path, WireCheck};
use crate::check::wires::headers::Seen;
use crate::check::wires::{alternatives, cover, messages, names, order, vectors};
use crate::program::*;
use crate::{codes, lost};

/// The most paths of a wire.
const PATHS: u64 = 512;

/// Whether a wire has few enough paths to follow each; else reports it.
pub(super) fn are_few(check: &mut WireCheck) -> bool {
    let few = ways(&check.wire.items) <= PATHS;
    if !few {
        let name = &check.wire.name;
        let text = format!("wire `{}` has more than {PATHS} ways through its choices", name.text);
        let diagnostic = Diagnostic::error(codes::WIRE_WAYS, text)
            .at(name.span, "too many")
            .note("each part that may be there or not doubles the ways of what stands beside it")
            .help("write parts that come and go as `options`, which are read one by one");
        check.fail(diagnostic);
    }
    few
}

fn ways(items: &[WireItem]) -> u64 {
    let of = |item: &WireItem| match item {
        WireItem::Field(_) | WireItem::Options(_) | WireItem::Each(_) | WireItem::Reach(..) => 1,
        WireItem::Choice { arms, .. } => arms.iter().fold(0u64, |all, arm| all.saturating_add(ways(&arm.items))).max(1),
        WireItem::Optional { items, .. } => ways(items).saturating_add(1),
    };
    items.iter().fold(1u64, |all, item| all.saturating_mul(of(item)))
}

/// Follows every path through the choices; `rest` holds the items still to come, the innermost list last.
pub(super) fn follow<'a>(check: &mut WireCheck<'a, '_>, rest: &[&'a [WireItem]], path: &mut Path<'a>) {
    let Some((items, outer)) = rest.split_last() else { return end_of_path(check, path) };
    let Some((item, following)) = items.split_first() else { return follow(check, outer, path) };
    let mut next: Vec<&'a [WireItem]> = outer.to_vec();
    next.push(following);
    cover::behind_the_end(check, item, path);
    match item {
        WireItem::Field(field) => {
            step(check, field, path);
            follow(check, &next, path);
        }
        WireItem::Choice { arms, .. } => {
            alternatives::are_all(check, arms, path);
            arms.iter().for_each(|arm| follow_arm(check, arm, &next, path.clone()));
        }
        WireItem::Optional { items, .. } => {
            let mut without = path.clone();
            cover::leave_out(check, items, &mut without);
            follow(check, &next, &mut without);
            next.push(items);
            follow(check, &next, path);
        }
        WireItem::Options(options) => {
            cover::options(check, options, path);
            follow(check, &next, path);
        }
        WireItem::Each(each) => {
            cover::each(check, each, path);
            follow(check, &next, path);
        }
        WireItem::Reach(_, span) => {
            path.over = Some(*span);
            follow(check, &next, path);
        }
    }
}

/// Follows one arm of a choice, then what comes after it.
fn follow_arm<'a>(check: &mut WireCheck<'a, '_>, arm: &'a WireArm, next: &[&'a [WireItem]], mut path: Path<'a>) {
    path.last = Some(arm.span);
    if let Some((layer, variant)) = names::owner(check, arm) {
        if alternatives::is_another(check, arm, (layer, variant), &path) {
            return;
        }
        path.selected.push((layer, variant));
        check.covered_variants.push((layer.to_string(), variant.to_string()));
    }
    follow(check, &[next, &[&arm.items]].concat(), &mut path);
}

fn step<'a>(check: &mut WireCheck<'a, '_>, field: &'a WireField, path: &mut Path<'a>) {
    order::on_octet(check, field, path.bits);
    path.bits += u64::from(field.width);
    path.last = Some(field.name.span);
    cover::value(check, &field.value, field.name.span, path);
}

fn end_of_path<'a>(check: &mut WireCheck<'a, '_>, path: &Path<'a>) {
    if !path.bits.is_multiple_of(8) {
        let bits = if path.bits == 1 { "1 bit".to_string() } else { format!("{} bits", path.bits) };
        let text = format!("the headers of `{}` do not end on an octet: {bits}", check.wire.name.text);
        let mut diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text)
            .at(path.last.unwrap_or(check.wire.name.span), format!("{bits} up to here"))
            .help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8))
            .lacks(lost::octets(&check.wire.name));
        if let Some(part) = part_of_an_octet(&check.wire.items) {
            diagnostic = diagnostic
                .label(part, "this part has no whole number of octets")
                .note("each optional part may be there or not, whatever the others do")
                .help("if always one of two parts is there, make them alternatives of the header: `f: u1  choice f { 0 => Layer.A { … } 1 => Layer.B { … } }`");
        }
        check.fail(diagnostic);
    }
    if alternatives::of_others(check, path) {
        return;
    }
    let from = messages::topmost(check, &path.selected);
    behind_a_list(check, path);
    alone_below(check, from, path);
    let (mut missing, mut unsaid) = (Vec::new(), Vec::new());
    for seen in &check.seen[from..] {
        let layer = seen.layer.name.text.as_str();
        let selected = path.selected.iter().find(|(name, _)| *name == layer).map(|(_, variant)| *variant);
        let variant = seen.variants.iter().find(|(name, _)| name.is_none() || *name == selected);
        if variant.is_none() {
            unsaid.push(seen.layer);
        }
        for field in variant.iter().flat_map(|(_, fields)| fields) {
            let parts = vectors::parts_of(check, field);
            let lacking = parts.into_iter().filter(|part| !path.covered.keys().any(|key| *key == (layer, part)));
            missing.extend(lacking.map(|text| (layer.to_string(), Name { text, span: field.name.span })));
        }
    }
    // A field with two places may be meant for the missing one; missing counts of elements were reported at the
    // elements.
    let uncounted = check.out[check.from..].iter().any(|found| found.code == codes::WIRE_UNCOUNTED);
    let is_meant = |layer: &str, field: &Name| {
        let width = check.width(layer, &field.text);
        width.is_some_and(|width| path.twice.contains(&(layer, width)))
    };
    missing.retain(|(layer, field)| !(is_meant(layer, field) || uncounted && field.text.ends_with(".length")));
    for (layer, field) in missing {
        uncovered(check, &layer, &field, path);
    }
    unsaid.into_iter().for_each(|layer| unchosen(check, layer, path));
}

/// An optional part whose own fields have no whole number of octets.
fn part_of_an_octet(items: &[WireItem]) -> Option<Span> {
    items.iter().find_map(|item| match item {
        WireItem::Optional { items, span, .. } => {
            let own = items.iter().filter_map(|item| match item {
                WireItem::Field(field) => Some(u64::from(field.width)),
                _ => None,
            });
            let is_part = !own.sum::<u64>().is_multiple_of(8);
            is_part.then_some(*span).or_else(|| part_of_an_octet(items))
        }
        WireItem::Choice { arms, .. } => arms.iter().find_map(|arm| part_of_an_octet(&arm.items)),
        _ => None,
    })
}

/// Reports a list that is read to the packet's end where a message stands behind it.
fn behind_a_list(check: &mut WireCheck, path: &Path) {
    let Some(list) = path.to_end.filter(|_| messages::go_behind(check, &path.selected)) else { return };
    let text = format!(
        "`{}` does not read its own packets: the message behind this list is read as its elements",
        check.wire.name.text
    );
    let diagnostic = Diagnostic::error(codes::WIRE_OWN, text)
        .at(list, "up to the packet's end")
        .help("count the elements in front of it, `count: u8 = Layer.list.length`, and leave `until size(packet)` out")
        .help("or let the list go without a message: an alternative without `with message`, or `message()` for what comes from above");
    check.fail(diagnostic);
}

/// An alternative without a message has none of the headers above it; in a wire that the author wrote every packet has
/// all.
fn alone_below<'a>(check: &mut WireCheck<'a, '_>, from: usize, path: &Path<'a>) {
    let Some(above) = check.seen[..from].iter().rev().find(|seen| !is_said(check, seen, path)).map(|seen| seen.layer)
    else {
        return;
    };
    let below = check.seen[from].layer;
    let chosen = path.selected.iter().find(|(layer, _)| *layer == below.name.text).map(|(_, variant)| *variant);
    let variants = below.header.iter().flat_map(|header| &header.variants);
    let found = variants
        .filter(|variant| !variant.with_message)
        .find(|variant| chosen.is_none_or(|chosen| chosen == variant.name.text));
    let Some(variant) = found else { return };
    let (wire, alone) = (&check.wire.name, format!("{}.{}", below.name.text, variant.name.text));
    let text = format!(
        "wire `{}` cannot carry `{alone}`, which goes without a message, below `{}`",
        wire.text, above.name.text
    );
    let diagnostic = Diagnostic::error(codes::WIRE_ALONE, text)
        .at(wire.span, format!("where is the header of `{}` in it?", above.name.text))
        .label(variant.name.span, "goes without a message, and so without the headers above it")
        .label(above.name.span, "this layer's header is in all other packets")
        .note("each packet of a wire that is written out carries the headers of all its layers")
        .help(format!("end the bundle above `{}`, and give it a wire of its own", below.name.text))
        .help(format!(
            "or send it `with message`, and `message()` where there is none: `{} {{ … }} with message`",
            variant.name.text
        ))
        .help("or let the compiler lay them out: `encoded compressed`");
    check.alone.push(diagnostic);
}

/// Whether all of a header has its place on a path.
fn is_said(check: &WireCheck, seen: &Seen, path: &Path) -> bool {
    let layer = seen.layer.name.text.as_str();
    let chosen = path.selected.iter().find(|(name, _)| *name == layer).map(|(_, variant)| *variant);
    let Some((_, fields)) = seen.variants.iter().find(|(name, _)| name.is_none() || *name == chosen) else {
        return false;
    };
    let parts = fields.iter().flat_map(|field| vectors::parts_of(check, field));
    parts.into_iter().all(|part| path.covered.keys().any(|key| *key == (layer, part.as_str())))
}

/// Reports a header with alternatives of which no arm on the path selects one.
fn unchosen<'a>(check: &mut WireCheck<'a, '_>, layer: &Layer, path: &Path<'a>) {
    let text =
        format!("wire `{}` does not say which alternative of `{}` a packet has", check.wire.name.text, layer.name.text);
    let arm = path.selected.last().map(|(layer, variant)| format!(" in the packets of `{layer}.{variant}`"));
    let diagnostic = Diagnostic::error(codes::WIRE_ALTERNATIVE, text)
        .at(check.wire.name.span, format!("no choice is on it{}", arm.unwrap_or_default()))
        .label(layer.name.span, "this layer has several")
        .help(format!(
            "add a choice to these packets, too: `kind: u8  choice kind {{ 1 => {} {{ … }} … }}`",
            first_of(layer)
        ));
    check.alone.push(diagnostic);
}

fn first_of(layer: &Layer) -> String {
    let variants = layer.header.iter().flat_map(|header| &header.variants);
    variants.map(|variant| format!("{}.{}", layer.name.text, variant.name.text)).next().unwrap_or_default()
}

fn uncovered<'a>(check: &mut WireCheck<'a, '_>, layer: &str, field: &Name, path: &Path<'a>) {
    let own = check.seen.iter().flat_map(|seen| &seen.variants).flat_map(|(_, fields)| fields);
    // Its type was reported.
    if own.into_iter().any(|known| known.name.span == field.span && known.ty == Type::Unknown) {
        return;
    }
    let shown = field.text.replace(".*", "[i]");
    let width = check.width(layer, &field.text).unwrap_or(16);
    let text = format!("wire `{}` has no place for `{layer}.{shown}`", check.wire.name.text);
    let arm = path.selected.last().map(|(layer, variant)| format!(" in the packets of `{layer}.{variant}`"));
    let mut diagnostic = Diagnostic::error(codes::WIRE_UNCOVERED, text)
        .at(check.wire.name.span, format!("missing{}", arm.unwrap_or_default()))
        .label(field.span, "this header field must travel")
        .label(check.bundle.name.span, "the bundle that it encodes")
        .help(place_for(layer, of_alternative(check, layer, field), &field.text, width));
    // One `each` carries all fields of the elements.
    diagnostic.lacks.extend(field.text.contains(".*").then(|| lost::within(field.span, "elements")));
    check.fail(diagnostic);
}

/// The alternative that alone has the field, by where it is declared.
fn of_alternative<'a>(check: &WireCheck<'a, '_>, layer: &str, field: &Name) -> Option<&'a str> {
    let seen = check.seen.iter().find(|seen| seen.layer.name.text == layer)?;
    let has = |fields: &[Field]| fields.iter().any(|known| known.name.span == field.span);
    seen.variants.iter().find(|(_, fields)| has(fields))?.0
}

/// The text to write for a header field that has no place.
fn place_for(layer: &str, of: Option<&str>, field: &str, width: u8) -> String {
    match (field.split_once('.'), of) {
        (None, Some(of)) => {
            format!("add a line such as `{field}: u{width} = {layer}.{of}.{field}` to the arm of `{of}`")
        }
        (None, None) => format!("add a line such as `{field}: u{width} = {layer}.{field}`"),
        (Some((vector, "length")), _) => format!("add a line such as `count: u8 = {layer}.{vector}.length`"),
        (Some((vector, part)), _) if part.trim_start_matches("*.").contains(".*") => {
            let (list, part) = part.trim_start_matches("*.").split_once(".*").unwrap_or_default();
            format!(
                "add a part such as `each s in x.{list} {{ value: u{width} = s{part} }}` for each x in `{layer}.{vector}`"
            )
        }
        (Some((vector, part)), _) => {
            let part = part.replace('*', "x");
            format!("add a part such as `each x in {layer}.{vector} {{ value: u{width} = {part} }}`")
        }
    }
}
