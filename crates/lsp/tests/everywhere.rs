//! Every request in every situation: in a broken text, an empty one, at its end and beyond, between the halves of a
//! character, in a document that is not there, with files that are wrong or use each other.
//!
//! Each pair of a request and a situation is a line of `everywhere.list`. `BLESS=1` writes it: review the changes.
//! For all: places in answers are within their texts, and the server still answers and tells the same diagnostics.

use std::collections::BTreeMap;

use mokume_base::world::MemoryWorld;
use serde_json::{json, Value};

use crate::editor::{range, Editor};

const FILE: &str = "/// How far.\nconst MOST: u8 = 4\nworker Counts(most: u8 = MOST) {\n    header { seq: u16 }\n    session { var next: u16 = 0 }\n\
    \x20   fn ahead(by: u16) -> u16 { return next + by }\n    on send(msg) {\n        let own = ahead(by: 2)\n\
    \x20       below.send(msg, seq: own)\n    }\n    on deliver(msg, seq) { above.deliver(msg) }\n}\n\
    wire Counting big { seq: u16 = Counts.seq }\nbundle Counted = Counts encoded Counting\n";

/// A situation: the document's name, its text (`None`: it is never opened), other files, and the place to ask at.
struct Situation {
    name: &'static str,
    document: &'static str,
    text: Option<String>,
    others: &'static [(&'static str, &'static str)],
    place: (u64, u64),
}

fn situations() -> Vec<Situation> {
    let here = |name, text: &str, place| Situation {
        name,
        document: "a.mok",
        text: Some(text.to_string()),
        others: &[],
        place,
    };
    let with = |name, text: &str, others, place| Situation { others, ..here(name, text, place) };
    let broken = &FILE[..FILE.find("(by: 2)").unwrap() + 4];
    let smile = format!("{FILE}// \u{1f600}\u{1f600} here\n");
    vec![
        here("in a program", FILE, (7, 19)),
        here("in a text that ends in the middle", broken, (7, 19)),
        here("in an empty text", "", (0, 0)),
        here("in blanks", "\n  \n\t\n", (1, 1)),
        here("at the end of a text", FILE, (14, 0)),
        here("at the end of a line without an end", FILE.trim_end(), (13, 40)),
        here("beyond the end", FILE, (9999, 9999)),
        here("beyond the end of a line", FILE, (7, 9999)),
        here("between the halves of a character", &smile, (14, 4)),
        here("with other ends of lines", &FILE.replace('\n', "\r\n"), (7, 19)),
        here("in a comment", FILE, (0, 6)),
        here("in no program at all", "\u{0}}}}) ]] \"\u{e9} /* ", (0, 3)),
        with(
            "a file that is used is wrong",
            "use \"b.mok\"\nconst A: u8 = B\n",
            &[("b.mok", "const B: u8 = \n")],
            (1, 14),
        ),
        with("a file that is used is not there", "use \"b.mok\"\nconst A: u8 = B\n", &[], (1, 14)),
        with(
            "two files use each other",
            "use \"b.mok\"\nconst A: u8 = B\n",
            &[("b.mok", "use \"a.mok\"\nconst B: u8 = 3\n")],
            (1, 14),
        ),
        with("a file uses itself", "use \"a.mok\"\nconst A: u8 = 3\nconst B: u8 = A\n", &[], (2, 14)),
        Situation { document: "untitled:Untitled-1", ..here("in a text without a file", FILE, (7, 19)) },
        Situation { document: "with space/\u{e9}.mok", ..here("in a file of an unusual name", FILE, (7, 19)) },
        Situation { text: None, document: "nowhere.mok", ..here("in a file that is not there", "", (0, 0)) },
        Situation { text: None, document: "untitled:None", ..here("in a text that was never opened", "", (0, 0)) },
        Situation { text: None, document: "file:///p/", ..here("in a folder", "", (0, 0)) },
        Situation {
            text: None,
            document: "b.mok",
            ..with("in a file that is not open", "", &[("b.mok", FILE)], (7, 19))
        },
    ]
}

/// Every request of the protocol that the server answers, and what is asked there.
pub fn requests(document: &str, (line, character): (u64, u64)) -> Vec<(&'static str, Value)> {
    let document = json!({ "uri": Editor::uri(document).replace(' ', "%20").replace('\u{e9}', "%C3%A9") });
    let position = json!({ "line": line, "character": character });
    let at = json!({ "textDocument": document, "position": position });
    let whole = json!({ "textDocument": document });
    let with = |of: &Value, name: &str, value: Value| {
        let mut of = of.clone();
        of[name] = value;
        of
    };
    let all = json!({ "start": { "line": 0, "character": 0 }, "end": position });
    let one = json!({ "start": position, "end": position });
    vec![
        ("hover", at.clone()),
        ("definition", at.clone()),
        ("references", with(&at, "context", json!({ "includeDeclaration": true }))),
        ("documentHighlight", at.clone()),
        ("completion", at.clone()),
        ("signatureHelp", at.clone()),
        ("prepareRename", at.clone()),
        ("rename", with(&at, "newName", json!("other"))),
        ("codeAction", with(&with(&whole, "range", one), "context", json!({ "diagnostics": [] }))),
        ("inlayHint", with(&whole, "range", all)),
        ("selectionRange", with(&whole, "positions", json!([position]))),
        ("codeLens", whole.clone()),
        ("documentSymbol", whole.clone()),
        ("foldingRange", whole.clone()),
        ("semanticTokens/full", whole.clone()),
        ("formatting", with(&whole, "options", json!({ "tabSize": 4, "insertSpaces": true }))),
    ]
}

/// What an answer is, in few words.
fn summary(answer: &Result<Value, (i64, String)>) -> String {
    match answer {
        Err((code, why)) => format!("refused ({code}): {why}"),
        Ok(Value::Null) => "nothing".to_string(),
        Ok(Value::Array(list)) => format!("{} found", list.len()),
        Ok(Value::Object(of)) => match (of.get("contents"), of.get("data"), of.get("signatures"), of.get("changes")) {
            (Some(contents), ..) => {
                let text = contents["value"].as_str().unwrap().replace("```mokume\n", "");
                format!("`{}`", text.lines().next().unwrap_or_default())
            }
            (_, Some(data), ..) => format!("{} numbers", data.as_array().unwrap().len()),
            (_, _, Some(found), _) => format!("{} signatures", found.as_array().unwrap().len()),
            (.., Some(changes)) => {
                let count = changes.as_object().unwrap().values().map(|edits| edits.as_array().unwrap().len());
                format!("{} edits", count.sum::<usize>())
            }
            _ => of.keys().cloned().collect::<Vec<_>>().join(" "),
        },
        Ok(other) => other.to_string(),
    }
}

/// Ranges of an answer that are not within the text; places of other files are not looked at.
pub fn beyond(answer: &Value, text: &str, uri: &str, found: &mut Vec<[u64; 4]>) {
    match answer {
        Value::Array(list) => list.iter().for_each(|one| beyond(one, text, uri, found)),
        Value::Object(of) => {
            if of.get("uri").is_some_and(|other| other != uri) {
                return;
            }
            if of.get("start").is_some_and(Value::is_object) {
                let [line, from, to_line, to] = range(answer);
                let ends: Vec<u64> = text
                    .replace("\r\n", "\n")
                    .replace('\r', "\n")
                    .split('\n')
                    .map(|line| line.encode_utf16().count() as u64)
                    .collect();
                let is_there = |line: u64, at: u64| ends.get(line as usize).is_some_and(|end| at <= *end);
                if !is_there(line, from) || !is_there(to_line, to) || (line, from) > (to_line, to) {
                    found.push([line, from, to_line, to]);
                }
            }
            of.iter().filter(|(name, _)| *name != "changes").for_each(|(_, one)| beyond(one, text, uri, found));
            if let Some(changes) = of.get("changes").and_then(Value::as_object) {
                changes.iter().filter(|(name, _)| *name == uri).for_each(|(_, one)| beyond(one, text, uri, found));
            }
        }
        _ => {}
    }
}

#[test]
fn every_request_is_answered_in_every_situation() {
    let mut lines = String::new();
    let mut count = 0;
    for situation in situations() {
        let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c");
        let world =
            situation.others.iter().fold(world, |world, (name, text)| world.with_file(&format!("/p/{name}"), *text));
        let mut editor = Editor::in_world(world, json!({}));
        if let Some(text) = &situation.text {
            editor.open(&situation.document.replace(' ', "%20").replace('\u{e9}', "%C3%A9"), text);
        }
        let told = editor.diagnostics.clone();
        lines += &format!("==== {}\n", situation.name);
        for (method, params) in requests(situation.document, situation.place) {
            let uri = params["textDocument"]["uri"].as_str().unwrap().to_string();
            let answer = editor.ask_or_refusal(&format!("textDocument/{method}"), params);
            let text = situation.text.clone().unwrap_or_else(|| FILE.to_string());
            if let Ok(answer) = &answer {
                let mut found = Vec::new();
                beyond(answer, &text, &uri, &mut found);
                assert!(found.is_empty(), "{}: {method}: {found:?}\n{answer}", situation.name);
            }
            lines += &format!("{method}: {}\n", summary(&answer));
            count += 1;
        }
        editor.settle();
        let codes = |all: &BTreeMap<String, Vec<Value>>| -> Vec<(String, Vec<Value>)> {
            let of =
                all.iter().map(|(uri, found)| (uri.clone(), found.iter().map(|one| one["code"].clone()).collect()));
            of.collect()
        };
        assert_eq!(codes(&editor.diagnostics), codes(&told), "{}", situation.name);
        for (uri, found) in &told {
            let own = situation.text.clone().unwrap_or_default();
            let other = situation.others.iter().find(|(name, _)| uri.ends_with(name)).map(|(_, text)| text.to_string());
            let mut wrong = Vec::new();
            beyond(&json!(found), &other.unwrap_or(own), uri, &mut wrong);
            assert!(wrong.is_empty(), "{}: {uri}: {wrong:?}", situation.name);
        }
        lines += "\n";
    }
    println!("FIGURE: the language server: {count} pairs of a request and a situation");
    assert!(count > 300);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everywhere.list");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &lines).unwrap();
    }
    let wanted = std::fs::read_to_string(&file).unwrap_or_default();
    for (at, (now, wanted)) in lines.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(now, wanted, "line {} of everywhere.list; `BLESS=1` writes it", at + 1);
    }
    assert_eq!(lines.lines().count(), wanted.lines().count());
}

/// Places beyond a text are seen.
#[test]
fn a_place_beyond_the_text_is_found() {
    let place = |line: u64, at: u64| json!({ "range": { "start": { "line": line, "character": 0 }, "end": { "line": line, "character": at } } });
    let found = |of: Value, uri: &str| {
        let mut found = Vec::new();
        beyond(&of, "ab\n\u{1f600}\r\nc", uri, &mut found);
        found.len()
    };
    assert_eq!(found(json!([place(0, 2), place(1, 2), place(2, 1)]), "a"), 0);
    assert_eq!(found(json!([place(0, 3), place(1, 3), place(3, 0)]), "a"), 3);
    let mut elsewhere = place(9, 9);
    elsewhere["uri"] = json!("b");
    assert_eq!((found(elsewhere.clone(), "a"), found(elsewhere, "b")), (0, 1));
}
