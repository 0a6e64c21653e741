//! What the parts of a wire cover: each header field once, and elements of vectors behind their count.

use mokume_base::{Diagnostic, Span};

use crate::check::wires::context::{Path, WireCheck};
use crate::check::wires::{alternatives, order, vectors};
use crate::program::*;
use crate::{codes, lost};

/// Notes that the header field has its place on this path.
pub(super) fn value<'a>(check: &mut WireCheck<'a, '_>, value: &'a WireValue, span: Span, path: &mut Path<'a>) {
    let WireValue::Header { layer, variant, field: name, .. } = value else { return };
    path.of_alternatives.extend(alternatives::of(check, layer, variant.as_ref(), name, path));
    if let Some(first) = path.covered.insert((&layer.text, &name.text), span) {
        let text = format!("`{}.{}` is written twice in one packet", layer.text, name.text);
        let diagnostic = Diagnostic::error(codes::WIRE_TWICE, text)
            .at(span, "again here")
            .label(first, "first here")
            .note("the decoder could not know which of them to believe")
            .help("leave one of them out");
        check.fail(diagnostic);
        path.twice.extend(check.width(&layer.text, &name.text).map(|width| (layer.text.as_str(), width)));
    }
}

/// Checks options: each covers its fields once; they begin on an octet boundary and end the header.
pub(super) fn options<'a>(check: &mut WireCheck<'a, '_>, options: &'a WireOptions, path: &mut Path<'a>) {
    if !path.bits.is_multiple_of(8) {
        let text = format!("the options of `{}` begin within an octet", check.wire.name.text);
        let diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text)
            .at(options.span, format!("{} bits in front of them", path.bits))
            .help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8))
            .lacks(lost::octets(&check.wire.name));
        check.fail(diagnostic);
    }
    for arm in &options.arms {
        let OptionForm::Known { present, items } = &arm.what else { continue };
        if !vectors::names_vector(check, present) {
            value(check, present, arm.span, path);
        }
        let mut bits = 0;
        for item in items {
            match item {
                WireItem::Field(field) => {
                    order::on_octet(check, field, bits);
                    bits += u64::from(field.width);
                    value(check, &field.value, field.name.span, path);
                }
                WireItem::Each(each) => {
                    value(check, &each.length, each.span, path);
                    elements(check, each, path);
                }
                _ => {}
            }
        }
    }
    path.over = Some(options.span);
}

/// A path without the optional part: its header fields are zero.
pub(super) fn leave_out<'a>(check: &mut WireCheck<'a, '_>, items: &'a [WireItem], path: &mut Path<'a>) {
    for item in items {
        match item {
            WireItem::Field(field) => value(check, &field.value, field.name.span, path),
            WireItem::Optional { items, .. } => leave_out(check, items, path),
            WireItem::Options(part) => options(check, part, path),
            WireItem::Each(each) => elements(check, each, path),
            WireItem::Choice { .. } | WireItem::Reach(..) => {}
        }
    }
}

/// Reports a part after the end of the header.
pub(super) fn behind_the_end<'a>(check: &mut WireCheck<'a, '_>, item: &WireItem, path: &Path<'a>) {
    let Some(over) = path.over else { return };
    if matches!(item, WireItem::Each(_)) && path.listed {
        return;
    }
    let span = match item {
        WireItem::Field(field) => field.name.span,
        WireItem::Choice { span, .. } | WireItem::Optional { span, .. } | WireItem::Reach(_, span) => *span,
        WireItem::Options(options) => options.span,
        WireItem::Each(each) => each.span,
    };
    let diagnostic = Diagnostic::error(codes::WIRE_LAST, "a part of the header behind its end")
        .at(span, "no place for it")
        .label(over, "the header ends with this")
        .help("put it in front of the options, of `header to`, or of the list whose elements differ in size");
    check.fail(diagnostic);
}

/// Checks elements: they are behind the field that counts them, or extend to the packet's end.
pub(super) fn each<'a>(check: &mut WireCheck<'a, '_>, each: &'a WireEach, path: &mut Path<'a>) {
    match each.to_end {
        true => {
            path.to_end = Some(each.span);
            value(check, &each.length, each.span, path);
        }
        false => counted_in_front(check, each, path),
    }
    if !path.bits.is_multiple_of(8) {
        let text = format!("the elements begin within an octet: {} bits in front of them", path.bits);
        let diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text)
            .at(each.span, "no whole octets in front")
            .help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8))
            .lacks(lost::octets(&check.wire.name));
        check.fail(diagnostic);
    }
    elements(check, each, path);
    if each.moves() || path.over.is_some() {
        path.over = Some(each.span);
        path.listed = !each.to_end;
    }
}

fn counted_in_front<'a>(check: &mut WireCheck<'a, '_>, each: &'a WireEach, path: &Path<'a>) {
    let WireValue::Header { layer, variant, field, .. } = &each.length else { return };
    if path.covered.contains_key(&(layer.text.as_str(), field.text.as_str())) {
        return;
    }
    let vector = field.text.trim_end_matches(".length");
    let (shown, length) = match vector.rsplit_once(".*.") {
        None => {
            let of = variant.iter().fold(layer.text.clone(), |layer, variant| format!("{layer}.{}", variant.text));
            (vector.to_string(), format!("{of}.{vector}.length"))
        }
        Some((_, inner)) => (vector.replace(".*", "[i]"), format!("x.{inner}.length")),
    };
    let text = format!("how many elements `{shown}` has is not said in front of them");
    let mut diagnostic = Diagnostic::error(codes::WIRE_UNCOUNTED, text)
        .at(each.span, "as many as what?")
        .note("a packet is read from front to back")
        .help(format!("write `count: u8 = {length}` in front, or put them into an option"));
    if !vector.contains('*') {
        diagnostic = diagnostic.help("elements that are the last of the packet: `until size(packet)`");
    }
    check.fail(diagnostic);
}

fn elements<'a>(check: &mut WireCheck<'a, '_>, each: &'a WireEach, path: &mut Path<'a>) {
    let mut bits = 0;
    for item in &each.items {
        match item {
            WireItem::Field(field) => {
                order::on_octet(check, field, bits);
                bits += u64::from(field.width);
                value(check, &field.value, field.name.span, path);
            }
            WireItem::Each(inner) => {
                counted_in_front(check, inner, path);
                elements(check, inner, path);
            }
            _ => {}
        }
    }
}
