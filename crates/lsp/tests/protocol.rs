//! The protocol apart from the features: begin, end, invalid messages, unknown requests.

use mokume_base::world::MemoryWorld;
use mokume_lsp::Ended;
use serde_json::{json, Value};

use crate::editor::Editor;

#[test]
fn a_session_begins_and_ends() {
    let mut editor = Editor::with_files(&[]);
    assert_eq!(editor.can["serverInfo"]["name"], "mokume");
    assert_eq!(editor.can["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(editor.refused("initialize", json!({ "capabilities": {} })).0, -32600);
    assert_eq!(editor.exit(), Ended::Well);
    assert_eq!(Editor::with_files(&[]).vanish(), Ended::Badly);
    let mut hasty = Editor::with_files(&[]);
    hasty.tell("exit", Value::Null);
    assert_eq!(hasty.vanish(), Ended::Badly);
}

#[test]
fn nothing_is_answered_before_initialize_or_behind_shutdown() {
    let mut editor = Editor::unborn(MemoryWorld::new());
    assert_eq!(editor.refused("textDocument/hover", json!({})).0, -32002);
    editor.open_silently("a.mok", "use");
    assert_eq!(editor.refused("initialize", json!("what")).0, -32602);
    editor.ask("initialize", json!({ "capabilities": {} }));
    editor.ask("shutdown", Value::Null);
    assert_eq!(editor.refused("textDocument/hover", json!({})).0, -32600);
}

#[test]
fn octets_where_the_editor_counts_so() {
    let can = json!({ "general": { "positionEncodings": ["utf-32", "utf-8", "utf-16"] } });
    let mut editor = Editor::in_world(MemoryWorld::new(), can);
    assert_eq!(editor.can["capabilities"]["positionEncoding"], "utf-8");
    editor.open("a.mok", "use \"\u{1f600}\u{e9}\", nowhere\n");
    let places: Vec<[u64; 4]> = editor.wrong("a.mok").into_iter().map(|found| found.1).collect();
    assert_eq!(places, [[0, 4, 0, 12], [0, 14, 0, 21]]);
}

#[test]
fn what_is_no_message_is_told_of_and_forgotten() {
    let mut editor = Editor::with_files(&[]);
    for bad in [
        &b"Content-Length: 1\r\n\r\n{"[..],
        b"Content-Length: 2\r\n\r\n\xff\xfe",
        b"nonsense\r\n",
        b"Content-Length: 2\r\n\r\n{}",
    ] {
        editor.raw(bad);
        assert_eq!(editor.answer(&Value::Null)["error"]["code"], -32700);
    }
    editor.open("a.mok", "use nowhere\n");
    assert_eq!(editor.codes("a.mok"), ["M0204"]);
}

#[test]
fn what_is_not_known_is_refused_and_what_is_not_for_us_is_let_be() {
    let mut editor = Editor::with_files(&[]);
    assert_eq!(editor.refused("textDocument/dance", json!({})).0, -32601);
    editor.tell("textDocument/dance", json!({}));
    editor.tell("$/setTrace", json!({ "value": "off" }));
    editor.tell("textDocument/didOpen", json!({ "textDocument": 7 }));
    editor.tell("textDocument/didChange", json!([]));
    editor.close("never_opened.mok");
    editor.change("never_opened.mok", "use");
    assert_eq!(editor.exit(), Ended::Well);
}

#[test]
fn a_request_that_is_taken_back_is_answered_so() {
    let mut editor = Editor::with_files(&[]);
    // All at once, so that the second is there before the first is read.
    let mut all = Vec::new();
    for text in [
        json!({ "jsonrpc": "2.0", "id": "x", "method": "mokume/settle" }),
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": "x" } }),
    ] {
        let text = text.to_string();
        all.extend(format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes());
    }
    editor.raw(&all);
    let answer = editor.answer(&json!("x"));
    assert!(answer["error"]["code"] == -32800 || answer.get("error").is_none(), "{answer}");
    assert_eq!(editor.exit(), Ended::Well);
}
