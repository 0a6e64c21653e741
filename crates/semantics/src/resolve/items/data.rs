//! Enums with data, `enum Shape: u8 { Nothing, Circle(radius: u32) }`: a record for each.
//!
//! A value is the number, then the parts of all names side by side; parts of other names are 0. So for later passes, an
//! enum with data is a record, in state, parameters and locals alike.

use rustc_hash::FxHashMap as HashMap;

use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::annotations;
use crate::{codes, tree};

/// Declares a record for each enum with data, still empty.
pub(super) fn declare(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.enums.iter().enumerate() {
        if item.variants().iter().any(|variant| !variant.params().is_empty()) {
            if item.is_open() {
                let name = tree::title(*file, item.name());
                let text = format!("`{}` is open, and has names with parts", name.text);
                let help =
                    "leave `open` out: it is for numbers that a packet may hold, and what has parts stands in none";
                cx.error(codes::DATA_PARTS, text, name.span, "numbers alone may be open", help);
            }
            let record = RecordId(cx.program.records.len() as u32);
            cx.program.records.push(Record {
                name: tree::title(*file, item.name()),
                fields: Vec::new(),
                vector: None,
                written: None,
            });
            cx.program.enums[index].data = Some(record);
        }
    }
}

/// Adds the fields of these records.
pub(super) fn parts(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.enums.iter().enumerate() {
        let Some(record) = cx.program.enums[index].data else { continue };
        let number = Name { text: ".number".into(), span: tree::title(*file, item.name()).span };
        let mut fields =
            vec![Field { name: number, ty: Type::Enum(EnumId(index as u32)), big: None, common: None, written: None }];
        let mut parts = Vec::new();
        let variants = item.variants();
        let spans = variants
            .iter()
            .enumerate()
            .filter_map(|(at, own)| Some((tree::some_name(*file, own.name())?.span.start, at)));
        let places: HashMap<u32, usize> = spans.collect();
        for (name, _) in cx.program.enums[index].names.clone() {
            let start = fields.len();
            let variant = places.get(&name.span.start).and_then(|at| variants.get(*at));
            for param in variant.map_or(Vec::new(), |variant| variant.params()) {
                let Some(own) = tree::some_name(*file, param.name()) else { continue };
                let ty = annotations::stored(cx, *file, param.ty());
                let written = annotations::notation(cx, *file, param.ty());
                let name = Name { text: format!(".{}.{}", name.text, own.text), span: own.span };
                fields.push(Field { name, ty, big: None, common: None, written });
            }
            parts.push(start..fields.len());
        }
        cx.program.records[record.index()].fields = fields;
        cx.program.enums[index].parts = parts;
    }
}
