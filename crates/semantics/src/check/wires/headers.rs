//! The headers that a bundle's wire carries, by layer.

use crate::program::*;

/// A layer's header as its wire sees it, with the fields of its key.
pub struct Seen<'a> {
    pub layer: &'a Layer,
    /// Each alternative (`None`: common to all) with its fields.
    pub variants: Vec<(Option<&'a str>, Vec<Field>)>,
}

impl Seen<'_> {
    /// The names of its alternatives; a header that is one record has none (it is called `Header`).
    pub fn alternatives(&self) -> impl Iterator<Item = &str> {
        let variants = self.layer.header.iter().flat_map(|header| &header.variants);
        variants.map(|variant| variant.name.text.as_str()).filter(|name| *name != "Header")
    }

    /// The fields of the alternative that a wire names, or of all if it names none. A single alternative may be named.
    pub fn fields_of<'s>(&'s self, named: Option<&'s Name>) -> impl Iterator<Item = &'s Vec<Field>> {
        let single = self.layer.header.as_ref().filter(|header| header.variants.len() == 1);
        let single = single.map(|header| header.variants[0].name.text.as_str());
        let is_it = move |known: Option<&str>| named.is_none_or(|name| known.or(single) == Some(name.text.as_str()));
        self.variants.iter().filter(move |(known, _)| is_it(*known)).map(|(_, fields)| fields)
    }
}

/// The header fields of a layer by alternative, with those that its shape adds.
pub(super) fn header_of(layer: &Layer) -> Seen<'_> {
    let shape = layer.key.as_ref().map_or(Vec::new(), Key::carried);
    let Some(header) = &layer.header else { return Seen { layer, variants: vec![(None, shape)] } };
    // A choice of one alternative needs no arm.
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

/// The layers of a bundle whose headers its wire carries, top to bottom; includes those of nested bundles without a
/// wire.
pub(super) fn carried<'a>(program: &'a Program, bundle: &'a Bundle) -> Vec<&'a Layer> {
    let mut layers = Vec::new();
    collect(program, bundle, 0, &mut layers);
    layers
}

fn collect<'a>(program: &'a Program, bundle: &'a Bundle, depth: u32, layers: &mut Vec<&'a Layer>) {
    for part in &bundle.parts {
        match part.of {
            Definition::Layer(id) => layers.extend(program.layers.get(id.index())),
            Definition::Bundle(id) => match program.bundles.get(id.index()) {
                Some(inner) if inner.wire.is_none() && depth <= crate::limits::BUNDLE_DEPTH => {
                    collect(program, inner, depth + 1, layers)
                }
                _ => {}
            },
        }
    }
}
