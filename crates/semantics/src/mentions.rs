//! Mentions that can be resolved only when bundles are known: the headers' fields that a wire's text names.

use mokume_base::Span;

use crate::program::*;

/// Adds these mentions, and sorts all mentions.
pub(crate) fn complete(program: &mut Program) {
    let mut found = Vec::new();
    for bundle in &program.bundles {
        let Some(wire) = bundle.wire.and_then(|wire| program.wires.get(wire.index())) else { continue };
        let layers: Vec<&Layer> = bundle.parts.iter().flat_map(|part| program.layers_of(part)).collect();
        items(&layers, &wire.items, &mut found);
    }
    program.mentions.extend(found);
    program.mentions.sort_unstable();
    program.mentions.dedup();
}

fn items(layers: &[&Layer], list: &[WireItem], found: &mut Vec<Mention>) {
    for item in list {
        match item {
            WireItem::Field(field) => value(layers, &field.value, found),
            WireItem::Choice { arms, .. } => {
                for arm in arms {
                    if let Some((of, variant)) = &arm.selects {
                        named(layers, of.as_ref(), variant, found);
                    }
                    items(layers, &arm.items, found);
                }
            }
            WireItem::Optional { items: within, .. } => items(layers, within, found),
            WireItem::Options(options) => {
                for arm in &options.arms {
                    if let OptionForm::Known { present, items: within } = &arm.what {
                        value(layers, present, found);
                        items(layers, within, found);
                    }
                }
            }
            WireItem::Each(each) => {
                value(layers, &each.length, found);
                items(layers, &each.items, found);
            }
            WireItem::Reach(..) => {}
        }
    }
}

/// An alternative that an arm selects, perhaps with its layer in front.
fn named(layers: &[&Layer], of: Option<&Name>, variant: &Name, found: &mut Vec<Mention>) {
    let fits = |layer: &&&Layer| of.is_none_or(|of| of.text == layer.name.text);
    for layer in layers.iter().filter(fits) {
        let known = layer.header.as_ref().and_then(|header| header.variant(&variant.text));
        if let Some((_, known)) = known {
            found.extend(of.map(|of| Mention { at: of.span, of: layer.name.span }));
            found.push(Mention { at: variant.span, of: known.name.span });
        }
    }
}

fn value(layers: &[&Layer], value: &WireValue, found: &mut Vec<Mention>) {
    let WireValue::Header { layer: of, variant, field, .. } = value else { return };
    for layer in layers.iter().filter(|layer| layer.name.text == of.text) {
        found.push(Mention { at: of.span, of: layer.name.span });
        for known in layer.header.iter().flat_map(|header| &header.variants) {
            if variant.as_ref().is_some_and(|variant| variant.text != known.name.text) {
                continue;
            }
            found.extend(variant.as_ref().map(|variant| Mention { at: variant.span, of: known.name.span }));
            // A constraint on an element does not name the list.
            if field.text.contains('*') {
                continue;
            }
            // In `list.length`, the first word is the header's field.
            let word = field.text.split('.').next().unwrap_or(&field.text);
            let at = Span { end: field.span.start + word.len() as u32, ..field.span };
            let fields = known.fields.iter().filter(|known| known.name.text == word);
            found.extend(fields.map(|known| Mention { at, of: known.name.span }));
        }
    }
}
