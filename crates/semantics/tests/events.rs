//! The table of events in the language's page agrees with the compiler: a handler is accepted if the table has a row
//! for its shape, and refused otherwise.

use mokume_base::SourceMap;
use mokume_semantics::analyse_files;
use mokume_semantics::load::Nothing;

const SHAPES: [&str; 4] = ["worker", "multiplexor", "router", "endpoint"];

fn page() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    std::fs::read_to_string(path).unwrap()
}

/// The table's rows: event and receiver; an empty first cell repeats the event above.
fn rows(page: &str) -> Vec<(String, String)> {
    let lines = page.lines().skip_while(|line| !line.starts_with("| event | comes to |")).skip(2);
    let mut rows = Vec::new();
    let mut event = String::new();
    for line in lines.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if !cells[1].is_empty() {
            event = cells[1].to_string();
        }
        rows.push((event.clone(), cells[2].to_string()));
    }
    rows
}

/// Whether the rows of an event, by its name in the table, include the shape.
fn comes_to(rows: &[(String, String)], event: &str, shape: &str) -> bool {
    let named = |cell: &str| match event.strip_suffix(" with a quote") {
        Some(plain) => cell == format!("`{plain}` with a quote"),
        None => !cell.contains("with a quote") && cell.split(", ").any(|name| name.trim_matches('`') == event),
    };
    let shaped = |to: &str| to.contains(shape) || matches!(to, "every layer" | "who has it");
    rows.iter().any(|(cell, to)| named(cell) && shaped(to))
}

/// Whether a shape's handler with this head is refused because it never runs.
fn refused(shape: &str, head: &str) -> bool {
    let members = match shape {
        "worker" => "session { timer t }",
        "multiplexor" => "key { k: u8 }  session { timer t }",
        "router" => "address { a: u8 }  entity { timer t }",
        _ => "session { timer t }",
    };
    let text = format!("{shape} Layer {{\n    {members}\n    on {head} {{ }}\n}}\n");
    let mut sources = SourceMap::default();
    let file = sources.add("handler.mok", text);
    let (_, diagnostics) = analyse_files(&mut sources, &[file], &mut Nothing);
    diagnostics.iter().any(|found| found.code.0 == "M0501")
}

#[test]
fn a_handler_is_taken_where_the_table_has_its_shape() {
    let rows = rows(&page());
    let heads = [
        ("start", "start"),
        ("send", "send(msg)"),
        ("deliver", "deliver(msg)"),
        ("open", "open"),
        ("opened", "opened"),
        ("accepted", "accepted"),
        ("failed", "failed(reason)"),
        ("closed", "closed"),
        ("failed with a quote", "failed(reason, quote)"),
        ("listen", "listen"),
        ("bind", "bind"),
        ("unlisten", "unlisten"),
        ("unmatched", "unmatched(msg)"),
        ("close", "close"),
        ("abort", "abort"),
        ("expiry t", "expiry t"),
        ("settle", "settle limit 1"),
    ];
    let mut wrong = Vec::new();
    for (event, head) in heads {
        for shape in SHAPES {
            if comes_to(&rows, event, shape) == refused(shape, head) {
                wrong.push(format!("`on {head}` in a {shape}: the table says {}", comes_to(&rows, event, shape)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_table_that_says_otherwise_is_found() {
    let rows = vec![("`opened`".to_string(), "worker, router".to_string())];
    assert!(comes_to(&rows, "opened", "router") && refused("router", "opened"));
}
