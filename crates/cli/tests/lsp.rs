//! `mokume lsp` as an editor starts it: over the standard input and output, and nothing else on it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

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
        // The page of the code is there to be opened.
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
