//! Fields of an alternative are in packets of that alternative, and a packet has one alternative of each header.
//!
//! Keeps: a fault of a field is reported once, however many paths lead past it.

use mokume_base::Diagnostic;

use crate::check::wires::context::{Path, WireCheck};
use crate::check::wires::{names, parts};
use crate::codes;
use crate::program::*;

/// The alternative of a field, if its header has several: the one that is named, or the one of the packet, or the first
/// with such a field.
pub(super) fn of<'a>(
    check: &WireCheck<'a, '_>,
    layer: &'a Name,
    variant: Option<&'a Name>,
    field: &'a Name,
    path: &Path<'a>,
) -> Option<(&'a str, &'a str, &'a Name)> {
    let seen = check.layer(&layer.text)?;
    let named = variant.map(|variant| variant.text.as_str());
    let has =
        |fields: &Vec<Field>| fields.iter().any(|known| parts::part_of(check.program, known, &field.text).is_some());
    let with_it = |wanted: Option<&str>| {
        let mut known = seen.variants.iter().filter_map(|(name, fields)| Some(((*name)?, fields)));
        known.find(|(name, fields)| wanted.is_none_or(|wanted| wanted == *name) && has(fields)).map(|(name, _)| name)
    };
    let is_of_all = seen.variants.iter().all(|(_, fields)| has(fields)) && is_of_the_shape(seen.layer, &field.text);
    if is_of_all {
        return None;
    }
    let chosen = named.or_else(|| with_it(Some(selected(path, &layer.text)?))).or_else(|| with_it(None))?;
    seen.variants.iter().any(|(name, _)| name.is_some()).then_some((layer.text.as_str(), chosen, field))
}

/// Fields of a key are in the packets of all alternatives.
fn is_of_the_shape(layer: &Layer, field: &str) -> bool {
    let variants = layer.header.iter().flat_map(|header| &header.variants);
    let first = field.split('.').next().unwrap_or(field);
    !variants.flat_map(|variant| &variant.fields).any(|known| known.name.text == first)
}

fn selected<'a>(path: &Path<'a>, layer: &str) -> Option<&'a str> {
    path.selected.iter().find(|(known, _)| *known == layer).map(|(_, variant)| *variant)
}

/// Reports fields in packets of other alternatives; returns whether there are any.
pub(super) fn of_others<'a>(check: &mut WireCheck<'a, '_>, path: &Path<'a>) -> bool {
    let stray = |(layer, of, field): &(&'a str, &'a str, &'a Name)| {
        Some((*layer, *of, *field, selected(path, layer).filter(|chosen| chosen != of)?))
    };
    let found: Vec<_> = path.of_alternatives.iter().filter_map(stray).collect();
    let any = !found.is_empty();
    // A second place of a field is one too many anyway.
    if check.out[check.from..].iter().any(|known| known.code == codes::WIRE_TWICE) {
        return any;
    }
    for (layer, of, field, chosen) in found {
        let said = |known: &&Diagnostic| {
            known.code == codes::WIRE_OF_ANOTHER && known.primary.as_ref().is_some_and(|label| label.span == field.span)
        };
        if check.out[check.from..].iter().any(|known| said(&known)) {
            continue;
        }
        let shown = field.text.replace(".*", "[i]");
        check.stray.push(format!("`{layer}.{shown}`"));
        let filling = match check.width(layer, &field.text).map_or(0, |width| width % 8) {
            0 => String::new(),
            bits => format!(", and fill its octet: `rest: u{} = 0`", 8 - bits),
        };
        let text = format!("`{layer}.{of}.{shown}` stands in packets of `{layer}.{chosen}`, too");
        let all = check.layer(layer).map_or(&[][..], |seen| &seen.variants);
        let has = |fields: &[Field]| fields.iter().any(|known| known.name.text == field.text);
        let is_of_all = all.iter().all(|(_, fields)| has(fields));
        let whose = if is_of_all { "each alternative has its own, this one is" } else { "a field" };
        let found = Diagnostic::error(codes::WIRE_OF_ANOTHER, text)
            .at(field.span, format!("{whose} of `{of}` alone"))
            .note(format!("what would a packet of `{chosen}` have there?"))
            .help(format!("put it into the arm of `{of}`{filling}"))
            .help("what all packets have is a field of a header without alternatives, of a layer of its own in the bundle");
        check.fail(found);
    }
    any
}

/// A field in the packets of another alternative is missing in its own; removes that second report.
pub(super) fn leave_out_lacking(check: &mut WireCheck) {
    let (from, stray) = (check.from, &check.stray);
    let follows = |found: &Diagnostic| {
        found.code == codes::WIRE_UNCOVERED && stray.iter().any(|field| found.message.contains(field.as_str()))
    };
    let own = check.out.split_off(from);
    check.out.extend(own.into_iter().filter(|found| !follows(found)));
}

/// Reports an arm within an arm that would make the packet one of another alternative; returns whether it does.
pub(super) fn is_another<'a>(
    check: &mut WireCheck<'a, '_>,
    arm: &WireArm,
    (layer, variant): (&str, &str),
    path: &Path<'a>,
) -> bool {
    let Some(around) = selected(path, layer) else { return false };
    let text = format!("packets of `{layer}.{around}` are to be of `{layer}.{variant}`");
    let found = Diagnostic::error(codes::WIRE_OF_ANOTHER, text)
        .at(arm.span, format!("the arm around this is that of `{around}`"))
        .note("a packet is of one alternative of each header")
        .help(format!("let the outer choice have an arm for `{variant}`"))
        .help("what differs within one alternative is an `optional when …`");
    check.fail(found);
    true
}

/// A choice among the alternatives of a header has an arm for each, because every layer may send any of them.
pub(super) fn are_all<'a>(check: &mut WireCheck<'a, '_>, arms: &'a [WireArm], path: &Path<'a>) {
    let chosen: Vec<(&str, &str)> = arms.iter().filter_map(|arm| names::owner(check, arm)).collect();
    let mut missing = Vec::new();
    for seen in &check.seen {
        let layer = seen.layer.name.text.as_str();
        let Some(first) = arms.iter().find(|arm| names::owner(check, arm).is_some_and(|(of, _)| of == layer)) else {
            continue;
        };
        let names = seen.variants.iter().filter_map(|(name, _)| *name);
        if selected(path, layer).is_some() {
            continue;
        }
        let lacking = names.filter(|name| !chosen.contains(&(layer, name)));
        // Alternatives without an arm in any choice are reported at the wire.
        missing.extend(lacking.map(|name| (layer, name.to_string(), first.span)));
    }
    let Some((of, around)) = path.selected.last().copied() else { return };
    for (layer, variant, span) in missing {
        let text = format!("packets of `{of}.{around}` cannot be of `{layer}.{variant}`");
        let found = Diagnostic::error(codes::WIRE_ALTERNATIVE, text)
            .at(span, format!("no arm beside this is for `{variant}`"))
            .help(format!("add one: `3 => {variant} {{ … }}`"));
        check.fail(found);
    }
}
