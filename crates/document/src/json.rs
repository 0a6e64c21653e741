//! The documentation as JSON: an object for each item, as `schemas/doc-2.json` describes.

use mokume_draw::HeaderPicture;
use serde_json::{json, Map, Value};

use crate::item::{Fact, Item};
use crate::site::Site;

/// The schema of one object.
pub const SCHEMA: &str = include_str!("../../../schemas/doc-2.json");

/// The objects of all items.
pub fn objects(site: &Site<'_>) -> Vec<Value> {
    (0..site.items.len()).map(|at| object(site, at)).collect()
}

fn object(site: &Site<'_>, at: usize) -> Value {
    let item: &Item = &site.items[at];
    let fact = |fact: &Fact| {
        json!({
            "name": fact.name, "says": fact.says, "doc": fact.doc,
            "file": site.short(fact.at.file), "line": site.line(fact.at),
            "page": fact.of.and_then(|of| site.link(of)),
        })
    };
    let facts: Map<String, Value> =
        item.facts.iter().map(|(about, facts)| (about.word().to_string(), facts.iter().map(fact).collect())).collect();
    let parameters: Vec<Value> = item
        .parameters
        .iter()
        .map(|parameter| json!({ "name": parameter.name, "type": parameter.ty, "default": parameter.default }))
        .collect();
    let examples: Vec<Value> = item
        .examples
        .iter()
        .map(|example| {
            json!({ "test": example.name, "file": site.short(example.at.file), "line": site.line(example.at) })
        })
        .collect();
    json!({
        "kind": item.kind.word(), "word": item.word, "name": item.name, "module": site.module_of(at),
        "file": site.short(item.named.file), "line": site.line(item.named), "page": site.page(at),
        "doc": item.doc, "head": item.head, "parameters": parameters,
        "headers": item.pictures.iter().map(picture).collect::<Vec<_>>(),
        "facts": facts, "examples": examples,
    })
}

fn picture(picture: &HeaderPicture) -> Value {
    let parts = picture.parts.iter().map(|part| {
        let cells = part.cells.iter().map(|cell| json!({ "name": cell.name, "bits": cell.bits, "says": cell.says }));
        json!({ "when": part.title, "bit": part.start, "fields": cells.collect::<Vec<_>>(), "notes": part.notes })
    });
    json!({ "wire": picture.wire, "order": picture.order, "parts": parts.collect::<Vec<_>>() })
}
