//! Random edits: whatever small steps change a text, the server lives, and its diagnostics equal those of a fresh
//! check.

use mokume_base::world::MemoryWorld;
use mokume_base::Random;
use mokume_driver::{check, compile};
use serde_json::json;

use crate::editor::{repository, Editor};
use crate::everywhere::{beyond, requests};

/// What is typed into files: pieces of the language, and other text.
const PIECES: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "\n",
    " ",
    ".",
    ":",
    "=",
    "msg",
    "below.send(msg)",
    "on deliver(msg) { }",
    "let x = 3\n",
    "\"",
    "/*",
    "//",
    "\u{1f600}",
    "\u{e9}",
    "\r\n",
    "use udp\n",
    "0x",
    "drop msg: late",
    "session { var n: u32 = 0 }",
    "?",
];

/// The number of edits; `MOKUME_EDITS` for more.
fn edits() -> usize {
    std::env::var("MOKUME_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(150)
}

/// How many edits are between two comparisons of the diagnostics.
const BETWEEN: usize = 5;

#[test]
fn long_random_edits_tell_what_a_fresh_check_tells() {
    let files = [
        "library/udp/udp.mok",
        "library/thin/sequencer.mok",
        "tests/program/containers.mok",
        "tests/program/bundles.mok",
    ];
    let mut random = Random::new(std::env::var("MOKUME_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7));
    let total = edits();
    let mut looked = 0;
    for (at, file) in files.iter().enumerate() {
        let whole = std::fs::read_to_string(repository().join(file)).unwrap();
        let mut text = whole.clone();
        let mut editor = Editor::in_world(MemoryWorld::new(), json!({}));
        editor.open_silently("a.mok", &text);
        for step in 0..total / files.len() {
            if step % 40 == 39 {
                text.clone_from(&whole);
                editor.change("a.mok", &text);
            }
            edit(&mut editor, &mut text, &mut random);
            if step % BETWEEN == BETWEEN - 1 {
                // Equal diagnostics are shown once.
                let (mut told, mut fresh) = (editor.wrong("a.mok"), fresh(&text));
                told.dedup();
                fresh.dedup();
                assert_eq!(told, fresh, "file {at}, step {step}:\n{text}");
                looked += 1;
                ask_everything(&mut editor, &text, &mut random);
            }
        }
    }
    assert!(looked * BETWEEN * 2 > total);
}

/// One edit, sent in UTF-16 columns as an editor does, and applied to our own copy in octets.
fn edit(editor: &mut Editor, text: &mut String, random: &mut Random) {
    let mut place = || {
        let mut at = random.below(text.len() as u64 + 1) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        // Not between the two characters of a line end: editors have no position there.
        if at > 0 && text.as_bytes()[at - 1] == b'\r' && text.as_bytes().get(at) == Some(&b'\n') {
            at -= 1;
        }
        at
    };
    let from = place();
    let mut to = (from + random.below(6) as usize).min(text.len());
    while !text.is_char_boundary(to) || text.as_bytes().get(to) == Some(&b'\n') && text.as_bytes()[to - 1] == b'\r' {
        to += 1;
    }
    let new = if random.below(3) == 0 { "" } else { PIECES[random.below(PIECES.len() as u64) as usize] };
    let position = |at: usize| {
        let lines = text[..at].replace("\r\n", "\n").replace('\r', "\n");
        let last = lines.rsplit('\n').next().unwrap_or("").encode_utf16().count();
        json!({ "line": lines.matches('\n').count(), "character": last })
    };
    let range = json!({ "start": position(from), "end": position(to) });
    editor.changes("a.mok", json!([{ "range": range, "text": new }]));
    text.replace_range(from..to, new);
}

/// The diagnostics of a fresh check, in the editor's columns.
fn fresh(text: &str) -> Vec<(String, [u64; 4])> {
    let checked =
        compile::check_texts(&MemoryWorld::new(), vec![("/p/a.mok".to_string(), text.to_string())], Vec::new());
    let place = |at: u32| {
        let between = at > 0 && text.as_bytes()[at as usize - 1..].starts_with(b"\r\n");
        let at = if between { at - 1 } else { at };
        let lines = text[..at as usize].replace("\r\n", "\n").replace('\r', "\n");
        (lines.matches('\n').count() as u64, lines.rsplit('\n').next().unwrap_or("").encode_utf16().count() as u64)
    };
    let found = check::without_c(&checked);
    let own = found.iter().filter_map(|found| Some((found.code.0, found.primary.as_ref()?.span)));
    let own = own.filter(|(_, span)| checked.roots.contains(&span.file));
    own.map(|(code, span)| {
        let ((line, column), (to_line, to_column)) = (place(span.start), place(span.end));
        (code.to_string(), [line, column, to_line, to_column])
    })
    .collect()
}

/// Requests of an editor about a place, in a wrong text: they are answered, with places within the text.
fn ask_everything(editor: &mut Editor, text: &str, random: &mut Random) {
    let lines = text.matches('\n').count() as u64 + text.matches('\r').count() as u64 + 1;
    let place = (random.below(lines), random.below(40));
    let uri = Editor::uri("a.mok");
    for (method, params) in requests("a.mok", place) {
        if random.below(2) == 0 {
            continue;
        }
        let answer = editor.ask_or_refusal(&format!("textDocument/{method}"), params);
        // Only what changes the text may be refused, in words.
        let may_refuse = ["rename", "prepareRename", "formatting"].contains(&method);
        let mut found = Vec::new();
        match answer {
            Ok(answer) => beyond(&answer, text, &uri, &mut found),
            Err((code, why)) => assert!(may_refuse && code == -32803, "{method}: {code} {why}"),
        }
        assert!(found.is_empty(), "{method} at {place:?}: {found:?}\n{text}");
    }
}
