//! Shared by the tests of this crate: the examples of the language's page, and how to parse them.
#![allow(dead_code)]

use mokume_base::FileId;
use mokume_syntax::{parse_fragment, Fragment, Parse};

pub const PAGE: &str = include_str!("../../../../docs/language.md");

/// An example of the page: its line, its text, and the construct that it is a piece of.
pub struct Example {
    pub line: usize,
    pub text: String,
    pub what: Fragment,
}

/// Every fenced block of the page.
pub fn fenced() -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<(usize, String, bool)> = None;
    for (index, line) in PAGE.lines().enumerate() {
        match (&mut open, line.starts_with("```")) {
            (None, true) => open = Some((index + 2, String::new(), line.starts_with("```mok"))),
            (Some((_, text, _)), false) => {
                text.push_str(line);
                text.push('\n');
            }
            (Some(_), true) => {
                let (line, text, is_of_language) = open.take().unwrap();
                if !is_of_language {
                    continue;
                }
                // The page omits parts with `…`, which is not a token.
                let text = text.replace('…', " ");
                let what = kind_of(&text);
                examples.push(Example { line, text, what });
            }
            _ => {}
        }
    }
    examples
}

/// Members of layers are the only fenced fragments of the page.
fn kind_of(text: &str) -> Fragment {
    match text.split_whitespace().next() {
        Some("on" | "header" | "key" | "address") => Fragment::Members,
        _ => Fragment::File,
    }
}

/// Parses, and checks what holds for every text: the tree has all its octets, and diagnostics are within it.
pub fn checked(text: &str, what: Fragment) -> Parse {
    let parse = parse_fragment(FileId(0), text, what);
    same_text(&parse, text);
    for diagnostic in &parse.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.labels) {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(text.get(start..end).is_some(), "{diagnostic:?} is not within\n{text}");
        }
    }
    parse
}

pub fn same_text(parse: &Parse, text: &str) {
    assert_eq!(parse.syntax().text().to_string(), text, "the tree has lost text");
}

/// The diagnostics as one line each: `code line:column message`.
pub fn shown(text: &str, parse: &Parse) -> Vec<String> {
    let mut map = mokume_base::SourceMap::default();
    let file = map.add("test", text);
    parse
        .diagnostics
        .iter()
        .map(|d| {
            let (line, column) = d.primary.as_ref().map_or((0, 0), |l| map.line_column(file, l.span.start));
            format!("{} {line}:{column} {}", d.code.0, d.message)
        })
        .collect()
}
