//! A wire against the bundle that it encodes: every field of every header is covered exactly once on every path, widths
//! agree, and each path ends on an octet boundary.

use std::collections::BTreeMap;

use mokume_base::{Diagnostic, Span};

use crate::program::*;
use crate::{codes, suggest, types};

/// A wire of more paths than this is checked up to here.
const PATHS: usize = 4096;

/// A layer's header as its wire sees it: the key's fields too.
pub struct Seen<'a> {
    pub layer: &'a Layer,
    /// Variant (none: in all) and fields.
    pub variants: Vec<(Option<&'a str>, Vec<Field>)>,
}

/// The header fields of a layer by variant, with those that the shape adds.
pub fn header_of(layer: &Layer) -> Seen<'_> {
    let shape = key_fields(layer);
    let Some(header) = &layer.header else { return Seen { layer, variants: vec![(None, shape)] } };
    // A choice of one needs no arm: there is nothing to choose.
    let several = header.variants.len() > 1;
    let variants = header
        .variants
        .iter()
        .map(|variant| {
            let name = several.then_some(variant.name.text.as_str());
            (name, shape.iter().cloned().chain(variant.fields.iter().cloned()).collect())
        })
        .collect();
    Seen { layer, variants }
}

fn key_fields(layer: &Layer) -> Vec<Field> {
    let Some(key) = &layer.key else { return Vec::new() };
    if key.symmetric {
        return key.fields.clone();
    }
    let named = |prefix: &str, field: &Field| {
        let text = if key.fields.len() == 1 { prefix.into() } else { format!("{prefix}_{}", field.name.text) };
        Field { name: Name { text, span: field.name.span }, ty: field.ty, big: field.big, common: None }
    };
    let sources = key.fields.iter().map(|field| named("source", field));
    sources.chain(key.fields.iter().map(|field| named("destination", field))).collect()
}

/// The layers of a bundle whose headers its wire carries, top to bottom: those of nested bundles without a wire too.
pub fn carried<'a>(program: &'a Program, bundle: &'a Bundle) -> Vec<&'a Layer> {
    let mut layers = Vec::new();
    collect(program, bundle, 0, &mut layers);
    layers
}

fn collect<'a>(program: &'a Program, bundle: &'a Bundle, depth: u32, layers: &mut Vec<&'a Layer>) {
    for part in &bundle.parts {
        match part.of {
            Definition::Layer(id) => layers.extend(program.layers.get(id.index())),
            Definition::Bundle(id) => match program.bundles.get(id.index()) {
                Some(inner) if inner.wire.is_none() && depth < 32 => collect(program, inner, depth + 1, layers),
                _ => {}
            },
        }
    }
}

/// Checks the wire of one bundle.
pub fn check(program: &Program, bundle: &Bundle, wire: &Wire, out: &mut Vec<Diagnostic>) {
    let layers = carried(program, bundle);
    let mut check = Check {
        program,
        bundle,
        wire,
        seen: layers.iter().map(|layer| header_of(layer)).collect(),
        paths: 0,
        failed: false,
        covered_variants: Vec::new(),
        out,
    };
    check.names(&wire.items);
    if !check.failed {
        let mut path = Path::default();
        check.paths(&[&wire.items], &mut path);
        check.variants();
    }
}

#[derive(Clone, Default)]
pub(super) struct Path<'a> {
    pub bits: u64,
    pub covered: BTreeMap<(&'a str, &'a str), Span>,
    /// Layer name and variant that the arms so far stand for.
    selected: Vec<(&'a str, &'a str)>,
    last: Option<Span>,
    /// What ended the header.
    pub over: Option<Span>,
    /// It was a list that is counted: other lists may follow.
    pub listed: bool,
}

pub(super) struct Check<'a, 'b> {
    pub program: &'a Program,
    bundle: &'a Bundle,
    pub wire: &'a Wire,
    seen: Vec<Seen<'a>>,
    paths: usize,
    failed: bool,
    covered_variants: Vec<(String, String)>,
    out: &'b mut Vec<Diagnostic>,
}

impl<'a> Check<'a, '_> {
    pub(super) fn fail(&mut self, diagnostic: Diagnostic) {
        self.failed = true;
        // The same wire under two bundles, or a field on two paths: say it once.
        if !self.out.contains(&diagnostic) {
            self.out.push(diagnostic);
        }
    }

    pub(super) fn layer(&self, name: &str) -> Option<&Seen<'a>> {
        self.seen.iter().find(|seen| seen.layer.name.text == name)
    }

    /// Layers, variants and fields that the wire names exist, and widths agree.
    fn names(&mut self, items: &'a [WireItem]) {
        for item in items {
            match item {
                WireItem::Field(field) => self.field_names(field),
                WireItem::Choice { arms, .. } => {
                    for arm in arms {
                        self.arm_names(arm);
                        self.names(&arm.items);
                    }
                }
                WireItem::Optional { items, .. } => self.names(items),
                WireItem::Options(options) => self.option_names(options),
                WireItem::Each(each) => self.each_names(each),
                WireItem::Reach(..) => {}
            }
        }
    }

    fn unknown_layer(&mut self, name: &Name) {
        let names: Vec<&str> = self.seen.iter().map(|seen| seen.layer.name.text.as_str()).collect();
        let mut diagnostic = Diagnostic::error(
            codes::WIRE_LAYER,
            format!(
                "bundle `{}` has no layer `{}` whose header this wire could carry",
                self.bundle.name.text, name.text
            ),
        )
        .at(name.span, "no such layer in the bundle")
        .label(self.bundle.name.span, format!("encoded by `{}`", self.wire.name.text));
        diagnostic.helps.extend(suggest::help(&name.text, names));
        self.fail(diagnostic);
    }

    pub(super) fn field_names(&mut self, field: &'a WireField) {
        let WireValue::Header { layer, times, plus, .. } = &field.value else { return };
        let Some(found) = self.header_field(&field.value) else { return };
        if self.is_length(&field.value) {
            return self.wide_enough(field, times * self.bound(&field.value) + plus);
        }
        let Some(width) = types::width(self.program, found.ty) else { return self.no_scalar(field, &found) };
        if *times == 1 && *plus == 0 && width != field.width {
            let text = format!(
                "`{}` has {} bits here and {width} in the header of `{}`",
                field.name.text, field.width, layer.text
            );
            let diagnostic = Diagnostic::error(codes::WIRE_WIDTH, text)
                .at(field.name.span, format!("u{}", field.width))
                .label(found.name.span, types::show(self.program, found.ty))
                .note("what is written must be what is read: no bits may be lost or invented")
                .help(format!("write `{}: u{width}`, or change the header", field.name.text));
            self.fail(diagnostic);
        }
    }

    /// The field that a value names; reports if there is none.
    pub(super) fn header_field(&mut self, value: &'a WireValue) -> Option<Field> {
        let WireValue::Header { layer, variant, field: name, .. } = value else { return None };
        let Some(seen) = self.layer(&layer.text) else {
            self.unknown_layer(layer);
            return None;
        };
        let fields: Vec<&Field> = seen
            .variants
            .iter()
            .filter(|(known, _)| variant.as_ref().is_none_or(|wanted| *known == Some(wanted.text.as_str())))
            .flat_map(|(_, fields)| fields)
            .collect();
        let found = fields.iter().find_map(|field| self.part_of(field, &name.text));
        if found.is_none() {
            let shown = name.text.replace(".*", "[i]");
            let text = format!("the header of `{}` has no field `{shown}`", layer.text);
            let mut diagnostic = Diagnostic::error(codes::WIRE_FIELD, text).at(name.span, "no such field");
            diagnostic = diagnostic.label(seen.layer.name.span, "the layer");
            diagnostic.helps.extend(suggest::help(&name.text, fields.iter().map(|field| field.name.text.as_str())));
            self.fail(diagnostic);
        }
        found
    }

    fn arm_names(&mut self, arm: &'a WireArm) {
        let Some((layer, variant)) = &arm.selects else { return };
        if let Some(layer) = layer {
            if self.layer(&layer.text).is_none() {
                return self.unknown_layer(layer);
            }
        }
        let fits = self.owner(arm).is_some();
        if !fits {
            let known: Vec<&str> = self
                .seen
                .iter()
                .filter(|seen| layer.as_ref().is_none_or(|layer| layer.text == seen.layer.name.text))
                .flat_map(|seen| seen.variants.iter().filter_map(|(name, _)| *name))
                .collect();
            let text = format!("no header of bundle `{}` has an alternative `{}`", self.bundle.name.text, variant.text);
            let mut diagnostic = Diagnostic::error(codes::WIRE_VARIANT, text).at(variant.span, "no such alternative");
            diagnostic.helps.extend(suggest::help(&variant.text, known));
            self.fail(diagnostic);
        }
    }

    /// The layer and variant that an arm stands for.
    fn owner(&self, arm: &'a WireArm) -> Option<(&'a str, &'a str)> {
        let (layer, variant) = arm.selects.as_ref()?;
        let seen = self.seen.iter().find(|seen| {
            layer.as_ref().is_none_or(|layer| layer.text == seen.layer.name.text)
                && seen.variants.iter().any(|(name, _)| *name == Some(variant.text.as_str()))
        })?;
        Some((&seen.layer.name.text, &variant.text))
    }

    /// Follows every way through the choices; `rest` holds what is still to come, innermost list last.
    fn paths(&mut self, rest: &[&'a [WireItem]], path: &mut Path<'a>) {
        let Some((items, outer)) = rest.split_last() else { return self.end_of_path(path) };
        let Some((item, following)) = items.split_first() else { return self.paths(outer, path) };
        let mut next: Vec<&'a [WireItem]> = outer.to_vec();
        next.push(following);
        self.behind_the_end(item, path);
        match item {
            WireItem::Field(field) => {
                self.step(field, path);
                self.paths(&next, path);
            }
            WireItem::Choice { arms, .. } => {
                for arm in arms {
                    let mut inner = path.clone();
                    inner.last = Some(arm.span);
                    if let Some((layer, variant)) = self.owner(arm) {
                        inner.selected.push((layer, variant));
                        self.covered_variants.push((layer.to_string(), variant.to_string()));
                    }
                    let mut deeper = next.clone();
                    deeper.push(&arm.items);
                    if self.paths < PATHS {
                        self.paths(&deeper, &mut inner);
                    }
                }
            }
            WireItem::Optional { items, .. } => {
                let mut without = path.clone();
                self.leave_out(items, &mut without);
                if self.paths < PATHS {
                    self.paths(&next, &mut without);
                }
                next.push(items);
                self.paths(&next, path);
            }
            WireItem::Options(options) => {
                self.options(options, path);
                self.paths(&next, path);
            }
            WireItem::Each(each) => {
                self.each(each, path);
                self.paths(&next, path);
            }
            WireItem::Reach(_, span) => {
                path.over = Some(*span);
                self.paths(&next, path);
            }
        }
    }

    fn step(&mut self, field: &'a WireField, path: &mut Path<'a>) {
        path.bits += u64::from(field.width);
        path.last = Some(field.name.span);
        self.cover(&field.value, field.name.span, path);
    }

    /// The header field has its place on this path.
    pub(super) fn cover(&mut self, value: &'a WireValue, span: Span, path: &mut Path<'a>) {
        let WireValue::Header { layer, field: name, .. } = value else { return };
        if let Some(first) = path.covered.insert((&layer.text, &name.text), span) {
            let text = format!("`{}.{}` is written twice in one packet", layer.text, name.text);
            let diagnostic = Diagnostic::error(codes::WIRE_TWICE, text)
                .at(span, "again here")
                .label(first, "first here")
                .note("the decoder could not know which of them to believe")
                .help("leave one of them out");
            self.fail(diagnostic);
        }
    }

    fn end_of_path(&mut self, path: &Path<'a>) {
        self.paths += 1;
        if !path.bits.is_multiple_of(8) {
            let text = format!("the headers of `{}` do not end on an octet: {} bits", self.wire.name.text, path.bits);
            let diagnostic = Diagnostic::error(codes::WIRE_OCTETS, text)
                .at(path.last.unwrap_or(self.wire.name.span), format!("{} bits up to here", path.bits))
                .help(format!("add a field such as `reserved: u{} = 0`", 8 - path.bits % 8));
            self.fail(diagnostic);
        }
        let mut missing = Vec::new();
        for seen in &self.seen[self.topmost(path)..] {
            let layer = seen.layer.name.text.as_str();
            let selected = path.selected.iter().find(|(name, _)| *name == layer).map(|(_, variant)| *variant);
            let variant = seen.variants.iter().find(|(name, _)| name.is_none() || *name == selected);
            for field in variant.iter().flat_map(|(_, fields)| fields) {
                let parts = self.parts_of(field);
                let lacking = parts.into_iter().filter(|part| !path.covered.keys().any(|key| *key == (layer, part)));
                missing.extend(lacking.map(|text| (layer.to_string(), Name { text, span: field.name.span })));
            }
        }
        for (layer, field) in missing {
            self.uncovered(&layer, &field, path);
        }
    }

    /// The highest layer whose header travels on a path: above an alternative that goes alone there is none.
    fn topmost(&self, path: &Path<'a>) -> usize {
        let alone = |seen: &Seen<'a>| {
            let variants = seen.layer.header.iter().flat_map(|header| &header.variants);
            let mut chosen = variants.filter(|variant| {
                path.selected.iter().any(|(layer, name)| *layer == seen.layer.name.text && *name == variant.name.text)
            });
            chosen.any(|variant| !variant.with_message)
        };
        self.seen.iter().rposition(alone).unwrap_or(0)
    }

    fn uncovered(&mut self, layer: &str, field: &Name, path: &Path<'a>) {
        let shown = field.text.replace(".*", "[i]");
        let text = format!("wire `{}` has no place for `{layer}.{shown}`", self.wire.name.text);
        let arm = path.selected.last().map(|(layer, variant)| format!(" in the packets of `{layer}.{variant}`"));
        let diagnostic = Diagnostic::error(codes::WIRE_UNCOVERED, text)
            .at(self.wire.name.span, format!("missing{}", arm.unwrap_or_default()))
            .label(field.span, "this header field must travel")
            .label(self.bundle.name.span, "the bundle that it encodes")
            .help(place_for(layer, &field.text));
        self.fail(diagnostic);
    }

    /// Every alternative of every header has an arm.
    fn variants(&mut self) {
        let mut missing = Vec::new();
        for seen in &self.seen {
            for (name, _) in &seen.variants {
                let Some(name) = name else { continue };
                let known = self
                    .covered_variants
                    .iter()
                    .any(|(layer, variant)| *layer == seen.layer.name.text && variant == name);
                if !known {
                    missing.push((seen.layer, name.to_string()));
                }
            }
        }
        for (layer, variant) in missing {
            let span = layer.header.iter().flat_map(|header| &header.variants).find(|known| known.name.text == variant);
            let text = format!("wire `{}` cannot carry `{}.{variant}`", self.wire.name.text, layer.name.text);
            let mut diagnostic =
                Diagnostic::error(codes::WIRE_ALTERNATIVE, text).at(self.wire.name.span, "no choice has an arm for it");
            if let Some(known) = span {
                diagnostic = diagnostic.label(known.name.span, "this alternative");
            }
            let help = format!("add `kind: u8  choice kind {{ … 2 => {variant} {{ … }} }}`");
            self.fail(diagnostic.help(help));
        }
    }
}

/// What to write for a header field that has no place.
fn place_for(layer: &str, field: &str) -> String {
    match field.split_once('.') {
        None => format!("add a line such as `{field}: u16 = {layer}.{field}`"),
        Some((vector, "length")) => format!("add a line such as `count: u8 = {layer}.{vector}.length`"),
        Some((vector, part)) if part.trim_start_matches("*.").contains(".*") => {
            let (list, part) = part.trim_start_matches("*.").split_once(".*").unwrap_or_default();
            format!(
                "add a part such as `each s in x.{list} {{ value: u16 = s{part} }}` for each x in `{layer}.{vector}`"
            )
        }
        Some((vector, part)) => {
            let part = part.replace('*', "x");
            format!("add a part such as `each x in {layer}.{vector} {{ value: u16 = {part} }}`")
        }
    }
}
