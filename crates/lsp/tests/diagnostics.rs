//! Diagnostics while a text is being written.

use std::collections::BTreeSet;

use mokume_base::world::{MemoryWorld, World};
use mokume_driver::{check, compile};
use serde_json::json;

use crate::editor::{range, repository, Editor, Shared};

const LAYER: &str = "worker Echo {\n    on deliver(msg) { above.deliver(mgs) }\n}\n";

#[test]
fn a_mistake_is_told_at_its_place_and_taken_back_when_mended() {
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", LAYER);
    assert_eq!(editor.wrong("a.mok"), [("M0201".to_string(), [1, 36, 1, 39])]);
    let uri = Editor::uri("a.mok");
    let found = editor.diagnostics[&uri][0].clone();
    assert_eq!((found["severity"].as_i64(), found["source"].as_str()), (Some(1), Some("mokume")));
    assert!(found["message"].as_str().unwrap().contains("help: did you mean `msg`?"), "{found}");
    assert!(found["codeDescription"]["href"].as_str().unwrap().ends_with("/diagnostics/M0201.md"), "{found}");
    editor.changes("a.mok", json!([{ "range": { "start": { "line": 1, "character": 36 }, "end": { "line": 1, "character": 39 } }, "text": "msg" }]));
    assert_eq!(editor.wrong("a.mok"), []);
    assert_eq!(editor.told[&uri], 2);
}

#[test]
fn columns_are_of_utf_16() {
    let mut editor = Editor::with_files(&[]);
    // Four columns for the word and the blank, two for the face, one for the letter, two for the quotes, and a comma.
    editor.open("a.mok", "use \"\u{1f600}\u{e9}\", nowhere\n");
    let places: Vec<[u64; 4]> = editor.wrong("a.mok").into_iter().map(|found| found.1).collect();
    assert_eq!(places, [[0, 4, 0, 9], [0, 11, 0, 18]]);
}

#[test]
fn other_places_stand_beside_the_first_or_in_the_text() {
    let twice = "record A { x: u8 }\nrecord A { y: u8 }\n";
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", twice);
    let found = editor.diagnostics[&Editor::uri("a.mok")][0].clone();
    let related = &found["relatedInformation"][0];
    assert_eq!((range(&found["range"]), range(&related["location"]["range"])), ([1, 7, 1, 8], [0, 7, 0, 8]));
    let mut plain = Editor::in_world(MemoryWorld::new(), json!({}));
    plain.open("a.mok", twice);
    let found = plain.diagnostics[&Editor::uri("a.mok")][0].clone();
    assert!(
        found.get("relatedInformation").is_none() && found["message"].as_str().unwrap().contains("also: first here")
    );
}

#[test]
fn the_text_in_the_editor_counts_not_the_file() {
    let mut editor = Editor::with_files(&[("part.mok", "record Old { x: u8 }\n")]);
    let user = "use \"part.mok\"\nfn f(a: New) -> u8 { return a.x }\n";
    editor.open("user.mok", user);
    assert_eq!(editor.codes("user.mok"), ["M0202"]);
    editor.open("part.mok", "record New { x: u8 }\n");
    assert_eq!(editor.codes("user.mok"), [""; 0], "who uses a document is checked again");
    editor.close("part.mok");
    assert_eq!(editor.codes("user.mok"), ["M0202"], "a closed document is its file again");
}

#[test]
fn what_is_used_is_told_of_too_and_taken_back_when_nobody_uses_it() {
    let mut editor = Editor::with_files(&[("part.mok", "record R { x: Nowhere }\n")]);
    editor.open("user.mok", "use \"part.mok\"\n");
    assert_eq!(editor.codes("part.mok"), ["M0202"]);
    editor.change("user.mok", "\n");
    assert_eq!(editor.codes("part.mok"), [""; 0]);
    editor.change("user.mok", "use \"part.mok\"\n");
    assert_eq!(editor.codes("part.mok"), ["M0202"]);
    editor.close("user.mok");
    assert_eq!(editor.codes("part.mok"), [""; 0]);
}

#[test]
fn a_file_that_several_use_is_told_of_by_all_of_them() {
    let mut editor = Editor::with_files(&[("part.mok", "record R { x: Nowhere }\n")]);
    for user in ["a.mok", "b.mok", "c.mok"] {
        editor.open_silently(user, "use \"part.mok\"\n");
    }
    assert_eq!(editor.codes("part.mok"), ["M0202"], "once, though three tell of it");
    editor.change("a.mok", "");
    editor.change("b.mok", "");
    assert_eq!(editor.codes("part.mok"), ["M0202"], "the third still does");
    editor.close("c.mok");
    assert_eq!(editor.codes("part.mok"), [""; 0]);
}

/// Stacks are analysed again if something else than a test has changed, and only then: the server's cache is never out
/// of date.
#[test]
fn a_stack_is_looked_at_again_where_what_it_is_made_of_has_changed() {
    let text = |octets: &str, sent: &str| {
        format!(
            "worker A {{
    entity {{ array cells: [u8; {octets}] }}
    on send(msg) {{ cells[0] = 1  below.send(msg) }}
    on deliver(msg) {{ above.deliver(msg) }}
}}
stack S(device: Device) {{
    app = A over device
    export app
}}
test \"t\" {{
    stack S
    app.{sent}(\"x\")
    => device.frame(\"x\")
}}
"
        )
    };
    let mut editor = Editor::with_files(&[]);
    let fresh = |text: &str| -> Vec<&str> {
        let checked = compile::check_texts(&MemoryWorld::new(), vec![("a.mok".into(), text.into())], Vec::new());
        check::without_c(&checked).iter().map(|found| found.code.0).collect()
    };
    let mut seen = BTreeSet::new();
    editor.open("a.mok", &text("4", "send_to"));
    for (octets, sent) in
        [("4", "sent"), ("4000000000", "sent"), ("4000000000", "send_to"), ("4", "send_to"), ("5", "sent")]
    {
        let new = text(octets, sent);
        editor.change("a.mok", &new);
        let told = editor.codes("a.mok");
        assert_eq!(told, fresh(&new), "{octets} {sent}");
        seen.insert(told);
    }
    assert!(seen.len() >= 3, "{seen:?}");
}

#[test]
fn stacks_and_tests_are_looked_at_as_wholes() {
    let mut editor = Editor::with_files(&[]);
    editor.open("a.mok", "use thin\nstack S(device: Device) { app = Fcfs over device  export app }\ntest \"t\" of S { app.sned(\"x\") }\n");
    assert_eq!(editor.codes("a.mok").len(), 1);
}

#[test]
fn a_project_says_where_modules_are_and_what_is_wrong_with_itself() {
    let files = [
        ("Mokume.toml", "[project]\nname = \"p\"\nlibrary = [\"lib\"]\n"),
        ("lib/mine/a.mok", "record Mine { x: u8 }\n"),
    ];
    let mut editor = Editor::with_files(&files);
    let user = "use mine\nfn f(a: Mine) -> u8 { return a.x }\n";
    editor.open("user.mok", user);
    assert_eq!(editor.codes("user.mok"), [""; 0]);
    let mut editor = Editor::with_files(&[("Mokume.toml", "[project]\nnam = \"p\"\n")]);
    editor.open("user.mok", "use thin\n");
    let found = editor.diagnostics[&Editor::uri("user.mok")][0].clone();
    assert!(found["message"].as_str().unwrap().contains("Mokume.toml:2"), "{found}");
}

#[test]
fn a_document_without_a_file_or_a_folder_is_checked_too() {
    let mut editor = Editor::with_files(&[]);
    editor.open("untitled:Untitled-1", LAYER);
    assert_eq!(editor.codes("untitled:Untitled-1"), ["M0201"]);
    editor.open("file:///no/where/%C3%A4%20b.mok", LAYER);
    assert_eq!(editor.codes("file:///no/where/%C3%A4%20b.mok"), ["M0201"]);
}

#[test]
fn a_file_that_is_no_text_is_told_of_where_it_is_used() {
    let world = MemoryWorld::new().with_file("/p/bad.mok", [0xff, 0xfe, 0x00]);
    let mut editor = Editor::in_world(world, json!({}));
    editor.open("a.mok", "use \"bad.mok\"\n");
    assert_eq!(editor.codes("a.mok"), ["M0204"]);
}

#[test]
fn only_the_newest_text_is_told_of() {
    let mut editor = Editor::with_files(&[]);
    editor.open_silently("a.mok", "");
    let changes = 200;
    for line in 0..changes {
        editor.change("a.mok", &format!("{}use nowhere\n", "\n".repeat(line)));
    }
    assert_eq!(editor.wrong("a.mok"), [("M0204".to_string(), [199, 4, 199, 11])]);
    let told = editor.told[&Editor::uri("a.mok")];
    assert!(told < changes, "{told} times");
}

#[test]
fn files_that_change_beside_the_editor_are_read_again() {
    let world = Shared::default();
    let mut editor = Editor::in_world(world.clone(), json!({}));
    editor.open("user.mok", "use \"part.mok\"\n");
    assert_eq!(editor.codes("user.mok"), ["M0204"]);
    world.write("/p/part.mok", b"record R { x: u8 }\n").unwrap();
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(editor.codes("user.mok"), [""; 0]);
}

/// The editor shows what `mokume check` says, for every intentionally wrong file of the repository.
#[test]
fn the_same_as_the_command() {
    let folder = repository().join("tests/check");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".mok"))
        .collect();
    names.sort();
    let mut editor = Editor::in_world(mokume_base::world::RealWorld, json!({}));
    let mut seen = 0;
    for name in names.iter().step_by(5) {
        let text = std::fs::read_to_string(name).unwrap();
        let checked =
            mokume_driver::compile::check(&mokume_base::world::RealWorld, std::slice::from_ref(name)).unwrap();
        let all = mokume_driver::check::without_c(&checked);
        let place = |found: &mokume_base::Diagnostic| {
            let span = found.primary.as_ref().unwrap().span;
            let own = checked.roots.contains(&span.file);
            own.then(|| (found.code.0.to_string(), u64::from(checked.sources.line_column(span.file, span.start).0 - 1)))
        };
        let mut expected: Vec<_> = all.iter().filter_map(place).collect();
        let uri = format!("file://{name}");
        editor.open(&uri, &text);
        let mut shown: Vec<_> = editor.wrong(&uri).into_iter().map(|(code, at)| (code, at[0])).collect();
        expected.sort();
        shown.sort();
        expected.dedup();
        shown.dedup();
        assert_eq!(shown, expected, "{name}");
        seen += expected.len();
        editor.close(&uri);
    }
    assert!(seen > 50, "{seen}");
}
