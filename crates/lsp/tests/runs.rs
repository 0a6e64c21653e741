//! Tests and networks that an editor can run; and what the server requests of the editor.

use mokume_base::world::{Invocation, MemoryWorld, Output};
use serde_json::{json, Value};

use crate::editor::{range, Editor, HOME};

const FILE: &str = "worker Plain {
    on send(msg) { below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    app = Plain over device
    export app
}
test \"one\" {
    stack S
}
";

/// An editor with all abilities.
fn all() -> Value {
    json!({
        "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } },
        "window": { "showDocument": { "support": true }, "workDoneProgress": true },
    })
}

/// An editor with one file, whose command answers this: code, standard output, standard error.
fn editor(can: Value, answer: fn(&Invocation) -> (i32, String, String)) -> Editor {
    let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c").with_file("/p/a.mok", FILE);
    let world = world.with_tool("mokume", move |world, invocation, _| {
        let (code, out, err) = answer(invocation);
        if let Some(page) = invocation.args.iter().position(|word| word == "--html") {
            mokume_base::world::World::write(world, &invocation.args[page + 1], b"<html>").unwrap();
        }
        Output { status: Some(code), timed_out: false, stdout: out.into_bytes(), stderr: err.into_bytes() }
    });
    let mut editor = Editor::unborn(world);
    editor.ask("initialize", json!({ "capabilities": can }));
    editor.tell("initialized", json!({}));
    editor.open("a.mok", FILE);
    editor
}

fn run(editor: &mut Editor, command: &str, name: Option<&str>) -> Result<Value, (i64, String)> {
    let mut arguments = vec![json!(format!("{HOME}/a.mok"))];
    arguments.extend(name.map(|name| json!(name)));
    editor.ask_or_refusal("workspace/executeCommand", json!({ "command": command, "arguments": arguments }))
}

fn passes(invocation: &Invocation) -> (i32, String, String) {
    assert_eq!(invocation.args, ["test", "/p/a.mok", "--format", "json", "--filter", "one"]);
    let said = |name: &str, backend: &str| json!({ "test": name, "file": "/p/a.mok", "line": 9, "backend": backend, "passed": true, "differences": [] });
    (0, format!("{}\n{}\n{}\n", said("one", "interpreter"), said("one", "C"), said("one more", "C")), String::new())
}

fn fails(_: &Invocation) -> (i32, String, String) {
    let difference = "test \"one\", step 2 (line 11):\n  outputs differ (- expected, + came):\n  - nothing";
    let said = json!({ "test": "one", "file": "/p/a.mok", "line": 9, "backend": "C", "passed": false,
        "differences": [difference] });
    (1, format!("{said}\n"), String::new())
}

#[test]
fn a_test_runs_and_the_editor_is_told() {
    let mut editor = editor(all(), passes);
    assert_eq!(run(&mut editor, "mokume.test", Some("one")), Ok(Value::Null));
    let shown = editor.heard("window/showMessage");
    // Another test whose name contains this one's is not counted.
    assert_eq!((shown["type"].as_i64(), shown["message"].as_str()), (Some(3), Some("test \"one\": 2 passed")));
    assert!(editor.heard("window/logMessage")["message"].as_str().unwrap().contains("\"backend\":\"interpreter\""));
    let kinds: Vec<Value> = editor.all_heard("$/progress").iter().map(|told| told["value"]["kind"].clone()).collect();
    assert_eq!(kinds, [json!("begin"), json!("end")]);
    assert_eq!(editor.codes("a.mok"), [""; 0]);
}

#[test]
fn a_step_that_fails_is_told_of_at_its_line_until_the_text_changes() {
    let mut editor = editor(json!({}), fails);
    assert_eq!(run(&mut editor, "mokume.test", Some("one")), Ok(Value::Null));
    let shown = editor.heard("window/showMessage");
    assert_eq!(
        (shown["type"].as_i64(), shown["message"].as_str()),
        (Some(1), Some("test \"one\": 0 passed, 1 failed"))
    );
    assert!(editor.all_heard("$/progress").is_empty(), "an editor that cannot show it is not told");
    editor.settle();
    let found = editor.diagnostics[&Editor::uri("a.mok")].clone();
    assert_eq!((found.len(), range(&found[0]["range"])[0], found[0]["source"].as_str()), (1, 10, Some("mokume test")));
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.starts_with("in C: outputs differ"), "{message}");
    editor.change("a.mok", &format!("{FILE}\n"));
    assert_eq!(editor.wrong("a.mok"), []);
}

#[test]
fn what_is_wrong_is_still_told_beside_a_step_that_failed() {
    let mut editor = editor(json!({}), fails);
    run(&mut editor, "mokume.test", Some("one")).unwrap();
    editor.heard("window/showMessage");
    editor.settle();
    // Another file changes: the test's result stays.
    editor.open("b.mok", "use nowhere\n");
    editor.settle();
    assert_eq!(editor.diagnostics[&Editor::uri("a.mok")].len(), 1);
    editor.close("a.mok");
    editor.settle();
    assert_eq!(editor.diagnostics[&Editor::uri("a.mok")].len(), 0);
}

#[test]
fn a_network_runs_and_its_page_is_shown() {
    fn good(_: &Invocation) -> (i32, String, String) {
        (0, String::new(), String::new())
    }
    let mut able = editor(all(), good);
    run(&mut able, "mokume.simulate", Some("Net")).unwrap();
    let shown = able.heard("window/showDocument");
    assert_eq!(shown["external"], true);
    let uri = |shown: &Value| shown["uri"].as_str().unwrap().to_string();
    assert!(uri(&shown).contains("/runs/") && uri(&shown).ends_with("/Net.html"), "{shown}");
    let mut other = editor(json!({}), good);
    run(&mut other, "mokume.simulate", Some("Net")).unwrap();
    let message = other.heard("window/showMessage")["message"].as_str().unwrap().to_string();
    assert!(message.starts_with("network Net: nothing went wrong\nits page: /c/"), "{message}");
}

/// Two projects may have networks of one name: the page of one took the place of the other's.
#[test]
fn each_file_has_its_own_pages() {
    let page = |file: &str| {
        let mut editor = editor(all(), |_| (0, String::new(), String::new()));
        let arguments = [json!(file), json!("Net")];
        editor.ask("workspace/executeCommand", json!({ "command": "mokume.simulate", "arguments": arguments }));
        editor.heard("window/showDocument")["uri"].as_str().unwrap().to_string()
    };
    let [one, other] = ["file:///one/src/net.mok", "file:///other/src/net.mok"];
    assert_ne!(page(one), page(other));
    assert_eq!(page(one), page(one));
}

#[test]
fn a_network_that_goes_wrong_says_why() {
    let mut editor = editor(json!({}), |_| (1, String::new(), "report: a: no room\n".to_string()));
    run(&mut editor, "mokume.simulate", Some("Net")).unwrap();
    let shown = editor.heard("window/showMessage");
    assert_eq!(shown["type"], 1);
    assert!(shown["message"].as_str().unwrap().contains("report: a: no room"), "{shown}");
}

#[test]
fn what_the_command_refuses_is_told() {
    let said =
        |_: &Invocation| (2, "{\"error\":\"there is no test\",\"help\":\"write one\"}\n".to_string(), String::new());
    let mut editor = editor(json!({}), said);
    run(&mut editor, "mokume.test", None).unwrap();
    let message = editor.heard("window/showMessage")["message"].as_str().unwrap().to_string();
    assert_eq!(message, "all tests of the file: there is no test\nhelp: write one");
}

#[test]
fn a_command_that_cannot_be_run_is_told_of() {
    let world = MemoryWorld::new().with_file("/p/a.mok", FILE);
    let mut editor = Editor::in_world(world, json!({}));
    editor.open("a.mok", FILE);
    run(&mut editor, "mokume.test", None).unwrap();
    let shown = editor.heard("window/showMessage");
    assert!(shown["message"].as_str().unwrap().contains("cannot be run"), "{shown}");
}

#[test]
fn a_text_that_is_not_saved_is_not_run() {
    let mut editor = editor(json!({}), passes);
    editor.change("a.mok", "const A: u8 = 1\n");
    let (code, why) = run(&mut editor, "mokume.test", Some("one")).unwrap_err();
    assert_eq!(code, -32803);
    assert!(why.contains("is not saved") && why.contains("save it"), "{why}");
}

#[test]
fn commands_that_are_none_are_refused() {
    let mut editor = editor(json!({}), passes);
    for (command, arguments) in [
        ("mokume.dance", json!([format!("{HOME}/a.mok")])),
        ("mokume.test", json!([])),
        ("mokume.test", json!([7])),
        ("mokume.test", json!([format!("{HOME}/a.mok"), 7])),
        ("mokume.simulate", json!([format!("{HOME}/a.mok")])),
    ] {
        let asked = json!({ "command": command, "arguments": arguments });
        assert_eq!(editor.refused("workspace/executeCommand", asked).0, -32602);
    }
    assert_eq!(editor.refused("workspace/executeCommand", json!({ "arguments": 7 })).0, -32602);
}

#[test]
fn the_server_goes_on_while_something_runs() {
    fn slow(invocation: &Invocation) -> (i32, String, String) {
        std::thread::sleep(std::time::Duration::from_millis(300));
        passes(invocation)
    }
    let mut editor = editor(json!({}), slow);
    run(&mut editor, "mokume.test", Some("one")).unwrap();
    editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": format!("{HOME}/a.mok") } }));
    assert!(editor.all_heard("window/showMessage").is_empty(), "it has not ended yet");
    assert_eq!(editor.heard("window/showMessage")["message"], "test \"one\": 2 passed");
}

#[test]
fn an_editor_may_go_while_something_runs() {
    let mut editor = editor(json!({}), |invocation| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        passes(invocation)
    });
    run(&mut editor, "mokume.test", Some("one")).unwrap();
    assert_eq!(editor.exit(), mokume_lsp::Ended::Well);
}

#[test]
fn files_are_watched_by_editors_that_can() {
    let mut able = editor(all(), passes);
    let asked = able.heard("client/registerCapability");
    assert_eq!(asked["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    let watchers = &asked["registrations"][0]["registerOptions"]["watchers"];
    assert_eq!(watchers[0]["globPattern"], "**/*.mok");
    let mut other = editor(json!({}), passes);
    other.settle();
    assert!(other.all_heard("client/registerCapability").is_empty());
}

#[test]
fn folders_come_and_go() {
    let world = MemoryWorld::new().with_file("/p/a.mok", FILE).with_file("/q/b.mok", "record Far { a: u8 }\n");
    let mut editor = Editor::unborn(world);
    let folder = |name: &str| json!({ "uri": format!("file:///{name}"), "name": name });
    editor.ask("initialize", json!({ "capabilities": {}, "workspaceFolders": [folder("p")] }));
    let found =
        |editor: &mut Editor| editor.ask("workspace/symbol", json!({ "query": "Far" })).as_array().unwrap().len();
    assert_eq!(found(&mut editor), 0);
    let change = |added: Value, removed: Value| json!({ "event": { "added": added, "removed": removed } });
    editor.tell("workspace/didChangeWorkspaceFolders", change(json!([folder("q")]), json!([])));
    assert_eq!(found(&mut editor), 1);
    editor.tell("workspace/didChangeWorkspaceFolders", change(json!([]), json!([folder("q")])));
    assert_eq!(found(&mut editor), 0);
}
