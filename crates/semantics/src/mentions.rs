//! Mentions that can be resolved only when bundles are known: the headers' fields that a wire's text names.

use mokume_base::Span;

use crate::program::*;

/// Adds these mentions, and sorts all mentions.
pub(crate) fn complete(program: &mut Program) {
    let mut found = Vec::new();
    for bundle in &program.bundles {
        let Some(wire) = bundle.wire.and_then(|wire| program.wires.get(wire.index())) else { continue };
        let layers: Vec<&Layer> = bundle.parts.iter().flat_map(|part| program.layers_of(part)).collect();
        items((program, &layers), &wire.items, &mut found);
    }
    program.mentions.extend(found);
    program.mentions.sort_unstable();
    program.mentions.dedup();
}

/// A program, and the layers of a bundle in it.
type Stacked<'a> = (&'a Program, &'a [&'a Layer]);

fn items(stacked: Stacked, list: &[WireItem], found: &mut Vec<Mention>) {
    for item in list {
        match item {
            WireItem::Field(field) => value(stacked, &field.value, found),
            WireItem::Choice { arms, .. } => {
                for arm in arms {
                    if let Some((of, variant)) = &arm.selects {
                        named(stacked.1, of.as_ref(), variant, found);
                    }
                    items(stacked, &arm.items, found);
                }
            }
            WireItem::Optional { items: within, .. } => items(stacked, within, found),
            WireItem::Options(options) => {
                for arm in &options.arms {
                    if let OptionForm::Known { present, items: within } = &arm.what {
                        value(stacked, present, found);
                        items(stacked, within, found);
                    }
                }
            }
            WireItem::Each(each) => {
                value(stacked, &each.length, found);
                items(stacked, &each.items, found);
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

fn value((program, layers): Stacked, value: &WireValue, found: &mut Vec<Mention>) {
    let WireValue::Header { layer: of, variant, field, .. } = value else { return };
    for layer in layers.iter().filter(|layer| layer.name.text == of.text) {
        found.push(Mention { at: of.span, of: layer.name.span });
        for known in layer.header.iter().flat_map(|header| &header.variants) {
            if variant.as_ref().is_some_and(|variant| variant.text != known.name.text) {
                continue;
            }
            found.extend(variant.as_ref().map(|variant| Mention { at: variant.span, of: known.name.span }));
            // Of an element it names a part, not the list; an element without parts names nothing.
            if let Some((list, parts)) = field.text.split_once(".*") {
                let list = known.fields.iter().find(|known| known.name.text == list);
                let element = list.and_then(|list| element_of(program, list.ty)).filter(|_| !parts.ends_with('*'));
                found.extend(element.and_then(|element| part_of(program, element, parts, field.span)));
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

fn record(program: &Program, ty: Type) -> Option<&Record> {
    let Type::Record(id) = ty else { return None };
    program.records.get(id.index())
}

fn is_list(program: &Program, ty: Type) -> bool {
    record(program, ty).is_some_and(|record| record.vector.is_some())
}

/// The record of a list's elements.
fn element_of(program: &Program, list: Type) -> Option<&Record> {
    record(program, record(program, list)?.vector.as_ref()?.element)
}

/// The field of an element that is named last, `block.ends.left`: its name stands at the end of the span. A list's length names the list.
fn part_of(program: &Program, element: &Record, parts: &str, span: Span) -> Option<Mention> {
    let (mut within, mut last, mut end) = (Some(element), None, span.end);
    for word in parts.split('.').filter(|word| !matches!(*word, "" | "*")) {
        if word == "length" && last.is_some_and(|list: &Field| is_list(program, list.ty)) {
            let is_written = |list: &Field| span.end - span.start > list.name.text.len() as u32;
            end -= if last.is_some_and(is_written) { ".length".len() as u32 } else { 0 };
            break;
        }
        let field = within?.fields.iter().find(|field| field.name.text == word)?;
        last = Some(field);
        within = if is_list(program, field.ty) { element_of } else { record }(program, field.ty);
    }
    let last = last?;
    let start = end - last.name.text.len() as u32;
    Some(Mention { at: Span { start, end, ..span }, of: last.name.span })
}
