//! `mokume lsp` as an editor starts it: over the standard input and output, which carry nothing else.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::json;

fn frame(text: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

fn read(from: &mut impl BufRead) -> serde_json::Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(from.read_line(&mut line).unwrap() > 0, "the server is gone");
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(octets) => length = octets.parse().unwrap(),
            None => break,
        }
    }
    let mut octets = vec![0; length];
    from.read_exact(&mut octets).unwrap();
    serde_json::from_slice(&octets).unwrap()
}

#[test]
fn an_editor_is_served_to_its_end() {
    let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("lsp_cache");
    for (arguments, last, code) in [(&["lsp"][..], true, 0), (&["lsp", "--stdio"][..], false, 1)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mokume"))
            .args(arguments)
            .env("XDG_CACHE_HOME", &cache)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut say = |text: &str| to.write_all(frame(text).as_bytes()).unwrap();
        say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#);
        assert_eq!(read(&mut from)["result"]["serverInfo"]["name"], "mokume");
        say(
            r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///no/where/a.mok","languageId":"mokume","version":1,"text":"use nowhere\n"}}}"#,
        );
        let told = read(&mut from);
        assert_eq!(told["params"]["diagnostics"][0]["code"], "M0204", "{told}");
        // The page of the code can be opened.
        let page = told["params"]["diagnostics"][0]["codeDescription"]["href"].as_str().unwrap().to_string();
        assert!(std::fs::read_to_string(page.strip_prefix("file://").unwrap()).unwrap().starts_with("# M0204"));
        if last {
            say(r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#);
            assert_eq!(read(&mut from)["id"], 2);
            say(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        } else {
            drop(to);
        }
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

/// The server runs a test in a separate process, and reports the result.
#[test]
fn a_test_of_a_file_is_run_by_the_command() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("lsp_run");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a.mok");
    let text = "worker Plain {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\nstack S(device: Device) {\n    app = Plain over device\n    export app\n}\ntest \"right\" {\n    stack S\n    app.send_to(\"x\")\n    => device.frame(\"x\")\n}\ntest \"wrong\" {\n    stack S\n    app.send_to(\"x\")\n    => device.frame(\"y\")\n}\nnetwork Net {\n    host a = S()\n    host b = S()\n    link lan { a.device, b.device   delay 1 ms }\n    at 1 ms  a.app.send_to(\"x\")\n    until 1 s\n}\n";
    std::fs::write(&file, text).unwrap();
    let uri = format!("file://{}", file.to_str().unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .arg("lsp")
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut say = |value: serde_json::Value| to.write_all(frame(&value.to_string()).as_bytes()).unwrap();
    let mut until = |method: &str| loop {
        let said = read(&mut from);
        assert!(said.get("error").is_none(), "{said}");
        if said["method"] == method {
            return said["params"].clone();
        }
    };
    say(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }));
    let document = json!({ "uri": uri, "languageId": "mokume", "version": 1, "text": text });
    say(json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } }));
    let mut run = |id: i32, command: &str, name: &str| {
        let params = json!({ "command": command, "arguments": [uri, name] });
        say(json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/executeCommand", "params": params }));
    };
    run(2, "mokume.test", "right");
    assert_eq!(until("window/showMessage")["message"], "test \"right\": 2 passed");
    run(3, "mokume.test", "wrong");
    assert_eq!(until("window/showMessage")["message"], "test \"wrong\": 0 passed, 2 failed");
    let found = until("textDocument/publishDiagnostics")["diagnostics"].clone();
    assert_eq!(
        (&found[0]["range"]["start"]["line"], &found[1]["range"]["start"]["line"]),
        (&json!(15), &json!(15)),
        "{found}"
    );
    run(4, "mokume.simulate", "Net");
    let message = until("window/showMessage")["message"].as_str().unwrap().to_string();
    let page =
        message.strip_prefix("network Net: nothing went wrong\nits page: ").unwrap_or_else(|| panic!("{message}"));
    assert!(std::fs::read_to_string(page).unwrap().contains("<html"));
    drop(to);
    child.wait().unwrap();
}
