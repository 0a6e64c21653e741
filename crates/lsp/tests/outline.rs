//! Layout, outlines, folding, and symbols of the whole workspace.

use mokume_base::world::{MemoryWorld, RealWorld};
use serde_json::{json, Value};

use crate::editor::{range, repository, Editor};

const FILE: &str = "\
use thin
use udp

/// One.
/// Two.
worker Echo {
    header { seq: u8 }
    session {
        var last: u8 = 0
        timer wait
    }
    on deliver(msg, seq) {
        last = seq
        above.deliver(msg)
    }
    on expiry wait { }
}
enum Kind: u8 { Ask = 1, Tell }
test \"it works\" {
    stack S
}
";

fn of(name: &str) -> Value {
    json!({ "textDocument": { "uri": Editor::uri(name) }, "options": { "tabSize": 4, "insertSpaces": true } })
}

/// Names with their kinds, indented by nesting.
fn outline(symbols: &Value, depth: usize, lines: &mut Vec<String>) {
    for symbol in symbols.as_array().into_iter().flatten() {
        let text = |of: &str| symbol[of].as_str().unwrap();
        lines.push(format!("{}{} {}", " ".repeat(depth), text("detail"), text("name")));
        outline(&symbol["children"], depth + 1, lines);
    }
}

#[test]
fn a_document_has_an_outline() {
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", FILE);
    let symbols = editor.ask("textDocument/documentSymbol", of("a.mok"));
    let mut lines = Vec::new();
    outline(&symbols, 0, &mut lines);
    let expected = [
        "worker Echo",
        " field seq",
        " var last",
        " timer wait",
        " on on deliver",
        " on on expiry wait",
        "enum Kind",
        " value Ask",
        " value Tell",
        "test it works",
    ];
    assert_eq!(lines, expected);
    let echo = &symbols[0];
    assert_eq!((range(&echo["range"]), range(&echo["selectionRange"])), ([5, 0, 16, 1], [5, 7, 5, 11]));
}

#[test]
fn a_document_is_folded_at_braces_comments_and_uses() {
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", FILE);
    let folds = editor.ask("textDocument/foldingRange", of("a.mok"));
    let mut folds: Vec<_> = folds
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| {
            (
                fold["startLine"].as_u64().unwrap(),
                fold["endLine"].as_u64().unwrap(),
                fold["kind"].as_str().unwrap_or("").to_string(),
            )
        })
        .collect();
    folds.sort();
    let expected = [(0, 1, "imports"), (3, 4, "comment"), (5, 15, ""), (7, 9, ""), (11, 13, ""), (18, 19, "")];
    assert_eq!(folds, expected.map(|(from, to, kind)| (from, to, kind.to_string())));
}

#[test]
fn layout_is_that_of_fmt_as_one_edit_of_what_differs() {
    let ugly = "use   thin\n\nworker  A {  }\n// \u{e9}nd\n";
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", ugly);
    let edits = editor.ask("textDocument/formatting", of("a.mok"));
    assert_eq!(edits.as_array().unwrap().len(), 1);
    assert_eq!(range(&edits[0]["range"])[0], 0);
    editor.changes("a.mok", json!([{ "range": edits[0]["range"], "text": edits[0]["newText"] }]));
    assert_eq!(editor.ask("textDocument/formatting", of("a.mok")), json!([]));
    editor.open("wrong.mok", "use (");
    assert_eq!(editor.refused("textDocument/formatting", of("wrong.mok")).0, -32803);
    assert_eq!(editor.refused("textDocument/formatting", of("nowhere.mok")).0, -32602);
}

#[test]
fn names_are_found_in_all_files_open_or_not() {
    let world = MemoryWorld::new()
        .with_file("/p/a.mok", "record Segment { x: u8 }\n")
        .with_file("/p/deep/b.mok", "worker Segments { session { var segment: u8 = 0 } }\n")
        .with_file("/p/target/c.mok", "record SegmentOfNobody { x: u8 }\n")
        .with_file("/p/d.txt", "record SegmentOfText { x: u8 }\n");
    let mut editor = Editor::unborn(world);
    let folders = json!([{ "uri": "file:///p", "name": "p" }]);
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": folders }));
    editor.open("new.mok", "record Segmented { x: u8 }\n");
    let found = editor.ask("workspace/symbol", json!({ "query": "segm" }));
    let names: Vec<_> = found.as_array().unwrap().iter().map(|found| found["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Segment", "Segmented", "Segments", "segment"]);
    assert_eq!(found[3]["containerName"], "Segments");
    assert_eq!(found[3]["location"]["uri"], "file:///p/deep/b.mok");
    let found = editor.ask("workspace/symbol", json!({ "query": "sgs" }));
    assert_eq!(found.as_array().unwrap().len(), 1);
}

/// The outline of every file of the library has all its top-level declarations, and folds are within the text.
#[test]
fn every_file_of_the_library_has_an_outline() {
    let mut editor = Editor::in_world(RealWorld, json!({}));
    let mut all = 0;
    for entry in std::fs::read_dir(repository().join("library/thin")).unwrap() {
        let path = entry.unwrap().path();
        let uri = format!("file://{}", path.display());
        let text = std::fs::read_to_string(&path).unwrap();
        editor.open_silently(&uri, &text);
        let symbols = editor.ask("textDocument/documentSymbol", of(&uri));
        let layers = text.lines().filter(|line| line.starts_with("worker ") || line.starts_with("multiplexor "));
        let shown = symbols
            .as_array()
            .unwrap()
            .iter()
            .filter(|symbol| symbol["detail"] == "worker" || symbol["detail"] == "multiplexor");
        assert_eq!(shown.count(), layers.count(), "{uri}");
        all += symbols.as_array().unwrap().len();
        let lines = text.lines().count() as u64;
        for fold in editor.ask("textDocument/foldingRange", of(&uri)).as_array().unwrap() {
            assert!(fold["startLine"].as_u64() < fold["endLine"].as_u64() && fold["endLine"].as_u64().unwrap() < lines);
        }
        editor.close(&uri);
    }
    assert!(all > 30, "{all}");
}
