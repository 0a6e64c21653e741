//! Records that hold themselves would be endless.

use crate::codes;
use crate::program::*;
use crate::resolve::context::Context;

/// Reports each record that holds itself, and takes the fields out that make it endless.
pub(super) fn records(cx: &mut Context) {
    for index in 0..cx.program.records.len() {
        let mut front = vec![index];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(at) = front.pop() {
            let fields = &cx.program.records[at].fields;
            let inner: Vec<usize> = fields
                .iter()
                .filter_map(|field| if let Type::Record(id) = field.ty { Some(id.index()) } else { None })
                .collect();
            if inner.contains(&index) {
                let name = cx.program.records[index].name.clone();
                let is_enum = cx.program.enums.iter().any(|item| item.data.is_some_and(|data| data.index() == index));
                let text = format!("{} `{}` holds itself", if is_enum { "enum" } else { "record" }, name.text);
                cx.error(
                    codes::CIRCLE,
                    text,
                    name.span,
                    "would be endless",
                    "leave the field out, or keep a key to it",
                );
                // The places of the others stay: those of an enum's parts are known by number.
                for field in &mut cx.program.records[index].fields {
                    if matches!(field.ty, Type::Record(_)) {
                        field.ty = Type::Unknown;
                    }
                }
                break;
            }
            front.extend(inner.into_iter().filter(|inner| seen.insert(*inner)));
        }
    }
}
