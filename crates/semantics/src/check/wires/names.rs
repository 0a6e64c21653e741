//! Layers, alternatives and fields that a wire names must exist, and widths must agree.

use mokume_base::{Diagnostic, Thing};

use crate::check::invert;
use crate::check::wires::context::WireCheck;
use crate::check::wires::{parts, vectors};
use crate::program::*;
use crate::{codes, lost, suggest, types};

/// Checks that the layers, alternatives and fields that the wire names exist, and that widths agree.
pub(super) fn names<'a>(check: &mut WireCheck<'a, '_>, items: &'a [WireItem]) {
    for item in items {
        match item {
            WireItem::Field(field) => field_names(check, field),
            WireItem::Choice { arms, .. } => {
                for arm in arms {
                    arm_names(check, arm);
                    names(check, &arm.items);
                }
            }
            WireItem::Optional { items, .. } => names(check, items),
            WireItem::Options(options) => option_names(check, options),
            WireItem::Each(each) => each_names(check, each),
            WireItem::Reach(..) => {}
        }
    }
}

fn unknown_layer(check: &mut WireCheck, name: &Name) {
    let names: Vec<&str> = check.seen.iter().map(|seen| seen.layer.name.text.as_str()).collect();
    let mut diagnostic = Diagnostic::error(
        codes::WIRE_LAYER,
        format!("bundle `{}` has no layer `{}` whose header this wire could carry", check.bundle.name.text, name.text),
    )
    .at(name.span, "no such layer in the bundle")
    .label(check.bundle.name.span, format!("encoded by `{}`", check.wire.name.text))
    .needs(lost::layers(&check.bundle.name))
    .lacks(lost::within(check.bundle.name.span, &name.text));
    diagnostic.helps.extend(suggest::help(&name.text, names));
    check.fail(diagnostic);
}

fn field_names<'a>(check: &mut WireCheck<'a, '_>, field: &'a WireField) {
    let WireValue::Header { layer, times, plus, .. } = &field.value else { return };
    let Some(found) = header_field(check, &field.value) else { return };
    if vectors::is_length(check, &field.value) {
        let most = times * vectors::bound(check, &field.value) + plus;
        never_within(check, field, (u128::from(*plus), u128::from(most)));
        return wide_enough(check, field, times * vectors::bound(check, &field.value) + plus);
    }
    let Some(width) = types::width(check.program, found.ty) else { return no_scalar(check, field, &found) };
    let most = u128::from(types::mask(width)) * u128::from(*times) + u128::from(*plus);
    never_within(check, field, (u128::from(*plus), most));
    if *times == 1 && *plus == 0 && width != field.width {
        let text = format!(
            "`{}` has {} bits here and {width} in the header of `{}`",
            field.name.text, field.width, layer.text
        );
        let diagnostic = Diagnostic::error(codes::WIRE_WIDTH, text)
            .at(field.name.span, format!("u{}", field.width))
            .label(found.name.span, types::show(check.program, found.ty))
            .note("what is written must be what is read: no bits may be lost or invented")
            .help(format!("write `{}: u{width}`, or change the header", field.name.text));
        check.fail(diagnostic);
    }
}

/// The field that a value names; reports it if there is none.
fn header_field<'a>(check: &mut WireCheck<'a, '_>, value: &'a WireValue) -> Option<Field> {
    let WireValue::Header { layer, variant, field: name, .. } = value else { return None };
    let Some(seen) = check.layer(&layer.text) else {
        unknown_layer(check, layer);
        return None;
    };
    if let Some(variant) = variant.as_ref().filter(|variant| seen.fields_of(Some(variant)).next().is_none()) {
        let text = format!("the header of `{}` has no alternative `{}`", layer.text, variant.text);
        let mut diagnostic = Diagnostic::error(codes::WIRE_VARIANT, text).at(variant.span, "no such alternative");
        diagnostic =
            diagnostic.label(seen.layer.name.span, "the layer").lacks(alternative(check.wire, seen.layer, variant));
        diagnostic.helps.extend(suggest::help(&variant.text, seen.alternatives()));
        check.fail(diagnostic);
        return None;
    }
    let fields: Vec<&Field> = seen.fields_of(variant.as_ref()).flatten().collect();
    let found = fields.iter().find_map(|field| parts::part_of(check.program, field, &name.text));
    let whole = name.text.split('.').next().unwrap_or_default();
    let is_reported = fields.iter().any(|field| field.ty == Type::Unknown && field.name.text == whole);
    if found.is_none() && !is_reported {
        let shown = name.text.replace(".*", "[i]");
        let text = format!("the header of `{}` has no field `{shown}`", layer.text);
        let mut diagnostic = Diagnostic::error(codes::WIRE_FIELD, text).at(name.span, "no such field");
        diagnostic = diagnostic.label(seen.layer.name.span, "the layer");
        diagnostic.lacks.extend(lost::field(seen.layer, &name.text));
        diagnostic.helps.extend(suggest::help(&name.text, fields.iter().map(|field| field.name.text.as_str())));
        check.fail(diagnostic);
    }
    found
}

fn arm_names<'a>(check: &mut WireCheck<'a, '_>, arm: &'a WireArm) {
    let Some((layer, variant)) = &arm.selects else { return };
    if let Some(layer) = layer {
        if check.layer(&layer.text).is_none() {
            return unknown_layer(check, layer);
        }
    }
    let fits = owner(check, arm).is_some();
    if !fits {
        let known: Vec<&str> = check
            .seen
            .iter()
            .filter(|seen| layer.as_ref().is_none_or(|layer| layer.text == seen.layer.name.text))
            .flat_map(|seen| seen.alternatives())
            .collect();
        let text = format!("no header of bundle `{}` has an alternative `{}`", check.bundle.name.text, variant.text);
        let mut diagnostic = Diagnostic::error(codes::WIRE_VARIANT, text)
            .at(variant.span, "no such alternative")
            .needs(lost::layers(&check.bundle.name));
        if let [seen] = check.seen.as_slice() {
            diagnostic.lacks.push(alternative(check.wire, seen.layer, variant));
        }
        diagnostic.helps.extend(suggest::help(&variant.text, known));
        check.fail(diagnostic);
    }
}

/// The thing that a wire lacks if a layer has no such alternative: this one, or the whole header.
fn alternative(wire: &Wire, layer: &Layer, variant: &Name) -> Thing {
    match layer.header {
        Some(_) => lost::within(wire.name.span, &format!("{}.{}", layer.name.text, variant.text)),
        None => lost::header(&layer.name),
    }
}

/// The layer and alternative that an arm stands for.
pub(super) fn owner<'a>(check: &WireCheck<'a, '_>, arm: &'a WireArm) -> Option<(&'a str, &'a str)> {
    let (layer, variant) = arm.selects.as_ref()?;
    let seen = check.seen.iter().find(|seen| {
        layer.as_ref().is_none_or(|layer| layer.text == seen.layer.name.text)
            && seen.fields_of(Some(variant)).next().is_some()
    })?;
    Some((&seen.layer.name.text, &variant.text))
}

/// Reports a `where` that none of the field's numbers meets, unless that was said of the wire by itself.
fn never_within(check: &mut WireCheck, field: &WireField, range: (u128, u128)) {
    let is_told = invert::is_told(field, check.out);
    if let Some(found) = invert::never_within(field, range).filter(|_| !is_told) {
        check.fail(found);
    }
}

/// The count field must hold the length of the longest vector.
fn wide_enough(check: &mut WireCheck, field: &WireField, most: u64) {
    if most <= types::mask(field.width) {
        return;
    }
    let text = format!(
        "`{}: u{}` counts to {}, and there may be {most}",
        field.name.text,
        field.width,
        types::mask(field.width)
    );
    let diagnostic = Diagnostic::error(codes::WIRE_COUNT, text).at(field.name.span, "too narrow");
    check.fail(diagnostic.help("widen the field, or lower the vector's bound"));
}

/// A vector itself is not a field.
fn no_scalar(check: &mut WireCheck, field: &WireField, found: &Field) {
    if found.ty == Type::Unknown {
        return;
    }
    let name = &found.name.text;
    let text = format!("`{}` is a vector, not one field of a packet", name);
    let diagnostic =
        Diagnostic::error(codes::WIRE_ELEMENT, text).at(field.name.span, types::show(check.program, found.ty));
    check.fail(diagnostic.help(format!("write `count: u8 = Layer.{name}.length  each x in Layer.{name} {{ … }}`")));
}

fn option_names<'a>(check: &mut WireCheck<'a, '_>, options: &'a WireOptions) {
    for arm in &options.arms {
        let OptionForm::Known { present, items } = &arm.what else { continue };
        let found = header_field(check, present);
        let is_bit = found.as_ref().is_none_or(|field| types::width(check.program, field.ty) == Some(1));
        let list = items.iter().find_map(|item| if let WireItem::Each(each) = item { Some(each) } else { None });
        // A vector is present if it is not empty.
        let is_bit = is_bit || list.is_some_and(|each| is_counted(present, each, items));
        if let (false, Some(field)) = (is_bit, found) {
            let text = format!("`{}` does not say whether a packet has this option", field.name.text);
            let diagnostic = Diagnostic::error(codes::WIRE_PRESENT, text)
                .at(arm.span, "no bit of a header says it")
                .label(field.name.span, types::show(check.program, field.ty))
                .help("give the header a field such as `has_mss: bool`, and name it here");
            check.fail(diagnostic);
        }
        for item in items {
            match item {
                WireItem::Field(field) => field_names(check, field),
                WireItem::Each(each) => each_names(check, each),
                _ => {}
            }
        }
    }
}

fn each_names<'a>(check: &mut WireCheck<'a, '_>, each: &'a WireEach) {
    let WireValue::Header { layer, field, .. } = &each.length else { return };
    let name = field.text.trim_end_matches(".length");
    let is_it = |field: &Field| field.name.text == name && field.ty != Type::Unknown;
    let known =
        check.layer(&layer.text).is_some_and(|seen| seen.variants.iter().any(|(_, fields)| fields.iter().any(is_it)));
    if known && !vectors::names_vector(check, &each.length) {
        let text = format!("`{}.{name}` is no vector", layer.text);
        let diagnostic = Diagnostic::error(codes::WIRE_ELEMENT, text).at(each.span, "the elements of what?");
        return check.fail(diagnostic.help("give the header a vector, `blocks: [Block; ..4]`, or write a plain field"));
    }
    if header_field(check, &each.length).is_none() {
        return;
    }
    for item in &each.items {
        match item {
            WireItem::Field(field) => field_names(check, field),
            WireItem::Each(inner) => each_names(check, inner),
            _ => {}
        }
    }
}

/// Whether an option that is present if its vector is not empty contains nothing else that could be lost.
fn is_counted(present: &WireValue, each: &WireEach, items: &[WireItem]) -> bool {
    let (WireValue::Header { field, .. }, WireValue::Header { field: length, .. }) = (present, &each.length) else {
        return false;
    };
    let fixed =
        items.iter().any(|item| matches!(item, WireItem::Field(WireField { value: WireValue::Header { .. }, .. })));
    !fixed && length.text.strip_suffix(".length") == Some(field.text.as_str())
}
