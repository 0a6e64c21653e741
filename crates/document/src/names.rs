//! The search index: a line for each item, and for each of its fields, events, values, reasons and timers.

use serde_json::json;

use crate::item::About;
use crate::site::Site;

/// The facts of an item that the search finds.
const FOUND: [(About, &str); 10] = [
    (About::Fields, "field"),
    (About::Key, "key"),
    (About::Address, "address"),
    (About::Publishes, "value"),
    (About::Handles, "event"),
    (About::State, "state"),
    (About::Timers, "timer"),
    (About::Drops, "reason"),
    (About::Consumes, "reason"),
    (About::Fails, "reason"),
];

/// A script with all names: `[name, kind, of, page, summary]` each.
pub fn script(site: &Site<'_>) -> String {
    let mut lines = Vec::new();
    for (at, item) in site.items.iter().enumerate() {
        let page = site.page(at);
        lines.push(json!([item.name, item.word, site.module_of(at), page, item.summary().replace('`', "")]));
        for parameter in &item.parameters {
            let page = format!("{page}#parameters.{}", parameter.name);
            lines.push(json!([parameter.name, "parameter", item.name, page, parameter.ty]));
        }
        for (about, kind) in FOUND {
            for fact in item.about(about) {
                let page = format!("{page}#{}.{}", about.word(), fact.name);
                lines.push(json!([fact.name, kind, item.name, page, fact.says]));
            }
        }
    }
    // Text in a script must not look like the script's end.
    let lines: Vec<String> = lines.iter().map(|line| line.to_string().replace("</", "<\\/")).collect();
    format!("const NAMES = [\n{}\n];\n", lines.join(",\n"))
}
