//! Completion: what is proposed where.

use serde_json::{json, Value};

use crate::editor::Editor;

const PART: &str = "record Pair { left: u8, right: u8 }\nconst MOST: u8 = 3\nservice Log { note(what: u8) }\n";

/// The file of these tests, with this text in the middle; `|` is the cursor.
fn with(within: &str) -> String {
    format!(
        "use \"part.mok\"\nenum Kind: u8 {{ Ask = 1, Tell }}\nattribute weight: u8 = 0\nworker Counts(grant: u16 = 2) {{\n    header {{ kind: u8, seq: u16 }}\n    uses Log as log\n    session {{\n        var next: u16 = 0\n        timer wait\n    }}\n    object Entry[who: u8] capacity 4 {{ var seen: u16 = 0 }}\n    fn ahead(by: u16) -> u16 {{ return next + by }}\n{within}\n}}\n"
    )
}

/// The proposals at the `|` of a text.
fn at(text: &str) -> Vec<String> {
    let offset = text.find('|').unwrap();
    let line = text[..offset].matches('\n').count();
    let column = text[..offset].rsplit('\n').next().unwrap().len();
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open_silently("a.mok", &text.replacen('|', "", 1));
    let document = json!({ "uri": Editor::uri("a.mok") });
    let position = json!({ "line": line, "character": column });
    let found = editor.ask("textDocument/completion", json!({ "textDocument": document, "position": position }));
    let label = |found: &Value| found["label"].as_str().unwrap().to_string();
    found.as_array().into_iter().flatten().map(label).collect()
}

#[track_caller]
fn proposes(text: &str, wanted: &[&str], unwanted: &[&str]) {
    let found = at(text);
    let has = |name: &&&str| found.iter().any(|known| known == **name);
    let missing: Vec<_> = wanted.iter().filter(|name| !has(name)).collect();
    let wrong: Vec<_> = unwanted.iter().filter(has).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "missing {missing:?}, wrong {wrong:?} of {found:?}");
}

#[test]
fn modules_behind_use() {
    proposes("use |\n", &["udp", "thin", "tcp", "ethernet"], &["worker", "let"]);
    proposes("use u|\n", &["udp"], &["worker"]);
}

#[test]
fn words_where_they_may_stand() {
    proposes("wor|\n", &["worker", "stack", "record"], &["let", "var"]);
    proposes(&with("    |"), &["on", "session", "header"], &["let", "worker"]);
    proposes(&with("    session { v| }"), &["var", "timer", "quota"], &["let", "on"]);
    proposes(
        &with("    on send(msg) {\n        |\n    }"),
        &["let", "if", "drop", "below", "next", "msg"],
        &["worker", "var"],
    );
}

#[test]
fn names_in_sight() {
    let code = "    on send(msg) {\n        let own = 3\n        let other = o|\n        let late = 4\n    }";
    proposes(&with(code), &["own", "msg", "next", "ahead", "grant", "MOST", "Kind", "Entry", "now", "log"], &["late"]);
    proposes(&with("    on expiry wait { next = | }"), &["next", "ahead"], &["msg", "let"]);
}

#[test]
fn what_is_behind_a_dot() {
    let code = |dot: &str| {
        with(&format!("    on send(msg) {{\n        let p = Pair {{ left: 1, right: 2 }}\n        {dot}\n    }}"))
    };
    proposes(&code("let x = p.|"), &["left", "right"], &["next", "size"]);
    proposes(&code("let x = msg.|"), &["size", "weight", "u16be"], &["left"]);
    proposes(&code("let x = Kind.|"), &["Ask", "Tell"], &["left"]);
    proposes(&code("below.|"), &["send", "mtu", "open"], &["deliver"]);
    proposes(&code("above.|"), &["deliver", "failed"], &["send", "mtu"]);
    proposes(&code("log.|"), &["note"], &["send"]);
    proposes(&code("if let e = Entry[1] { e.| = 3 } else { }"), &["seen"], &["next"]);
}

#[test]
fn arguments_by_name_and_types_and_reasons() {
    let code = |line: &str| with(&format!("    on send(msg) {{\n        {line}\n    }}"));
    proposes(&code("below.send(msg, |)"), &["kind:", "seq:", "msg"], &[]);
    proposes(&code("let x = ahead(|)"), &["by:", "next"], &["kind:"]);
    proposes(&with("    fn f(a: |) { }"), &["u8", "Pair", "Kind", "Message"], &["next", "Counts"]);
    proposes(&code("drop msg: |"), &["timed_out", "no_room"], &["let"]);
    proposes(&with("    on |"), &["send", "deliver", "expiry"], &["let", "next"]);
}

#[test]
fn layers_in_bundles_and_stacks() {
    let stack =
        |line: &str| format!("{}stack S(device: Device) {{\n    low = Counts over device\n    {line}\n}}\n", with(""));
    proposes(&stack("app = |"), &["Counts"], &["low", "let"]);
    proposes(&stack("app = Counts over |"), &["low", "device"], &["Counts"]);
    proposes(&stack("app = Counts(|) over low"), &["grant:"], &[]);
    proposes(&stack("export |"), &["low"], &["Counts"]);
    proposes(&format!("{}bundle B = |\n", with("")), &["Counts"], &["let"]);
}

#[test]
fn nothing_is_wrong_with_a_cursor_anywhere() {
    let text =
        with("    on send(msg) {\n        let own = ahead(by: 2)\n        below.send(msg, kind: 1, seq: own)\n    }");
    let mut editor = Editor::with_files(&[("part.mok", PART)]);
    editor.open_silently("a.mok", &text);
    let document = json!({ "uri": Editor::uri("a.mok") });
    for (line, content) in text.lines().enumerate() {
        for column in (0..content.len() + 2).step_by(3) {
            let position = json!({ "line": line, "character": column });
            editor.ask("textDocument/completion", json!({ "textDocument": document, "position": position }));
        }
    }
}
