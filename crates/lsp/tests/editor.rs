//! An editor for tests: sends what editors send, over pipes, and reads the server's answers.

use std::collections::BTreeMap;
use std::io::{BufReader, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use mokume_base::world::{MemoryWorld, World};
use mokume_lsp::Ended;
use serde_json::{json, Value};

/// The folder of the tests' files.
pub const HOME: &str = "file:///p";

/// Each test has its own server; this holds what it sent.
pub struct Editor {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: Option<JoinHandle<Ended>>,
    asked: i32,
    versions: BTreeMap<String, i32>,
    /// The latest diagnostics of each file.
    pub diagnostics: BTreeMap<String, Vec<Value>>,
    /// How often diagnostics of a file were published.
    pub told: BTreeMap<String, usize>,
    /// Every notification and request of the server, in order.
    heard: Vec<(String, Value)>,
    /// The answer to `initialize`.
    pub can: Value,
}

impl Editor {
    /// An editor with a server that sees these files in `/p`, and whose cache is `/c`.
    pub fn with_files(files: &[(&str, &str)]) -> Editor {
        let world = MemoryWorld::new().with_environment("XDG_CACHE_HOME", "/c");
        let world = files.iter().fold(world, |world, (name, text)| world.with_file(&format!("/p/{name}"), *text));
        Editor::in_world(world, json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } }))
    }

    /// An editor with a server in the test's own world, and these abilities.
    pub fn in_world(world: impl World + Send + 'static, can: Value) -> Editor {
        let mut editor = Editor::unborn(world);
        editor.can = editor.ask("initialize", json!({ "capabilities": can }));
        editor.tell("initialized", json!({}));
        editor
    }

    /// An editor that has not yet sent `initialize`.
    pub fn unborn(world: impl World + Send + 'static) -> Editor {
        let (input, to) = std::io::pipe().unwrap();
        let (from, mut output) = std::io::pipe().unwrap();
        let server = std::thread::Builder::new().stack_size(8 << 20);
        let server = server
            .spawn(move || {
                let world = Box::leak(Box::new(world));
                mokume_lsp::serve(world, "mokume", BufReader::new(input), &mut output)
            })
            .unwrap();
        Editor {
            to: Some(to),
            from: BufReader::new(from),
            server: Some(server),
            asked: 0,
            versions: BTreeMap::new(),
            diagnostics: BTreeMap::new(),
            told: BTreeMap::new(),
            heard: Vec::new(),
            can: Value::Null,
        }
    }

    /// Sends these octets unchanged.
    pub fn raw(&mut self, octets: &[u8]) {
        self.to.as_mut().unwrap().write_all(octets).unwrap();
    }

    fn write(&mut self, value: &Value) {
        let text = value.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    /// Sends a notification.
    pub fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer; returns its number.
    pub fn send(&mut self, method: &str, params: Value) -> i32 {
        self.asked += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        self.asked
    }

    /// Sends a request; returns its result.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask_for_all(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Sends a request that must fail; returns the error's number and text.
    pub fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.ask_for_all(method, params);
        let error = answer.get("error").unwrap_or_else(|| panic!("{method} is not refused: {answer}"));
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_string())
    }

    /// Sends a request; returns its result, or the number and text of the error.
    pub fn ask_or_refusal(&mut self, method: &str, params: Value) -> Result<Value, (i64, String)> {
        let answer = self.ask_for_all(method, params);
        match answer.get("error") {
            Some(error) => Err((error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_string())),
            None => Ok(answer["result"].clone()),
        }
    }

    fn ask_for_all(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(&json!(id))
    }

    /// The answer with this number, or the next one without.
    pub fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.read();
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
        }
    }

    /// The next message; records diagnostics.
    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(std::io::BufRead::read_line(&mut self.from, &mut line).unwrap() > 0, "the server is gone");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(octets) => length = octets.parse().unwrap(),
                None => break,
            }
        }
        let mut octets = vec![0; length];
        std::io::Read::read_exact(&mut self.from, &mut octets).unwrap();
        let value: Value = serde_json::from_slice(&octets).unwrap();
        if value["method"] == "textDocument/publishDiagnostics" {
            let of = value["params"]["uri"].as_str().unwrap().to_string();
            *self.told.entry(of.clone()).or_default() += 1;
            self.diagnostics.insert(of, value["params"]["diagnostics"].as_array().unwrap().clone());
        } else if let Some(method) = value["method"].as_str() {
            self.heard.push((method.to_string(), value["params"].clone()));
            if let Some(id) = value.get("id") {
                self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
            }
        }
        value
    }

    /// The latest message of this method; waits for it.
    pub fn heard(&mut self, method: &str) -> Value {
        loop {
            if let Some(said) = self.all_heard(method).pop() {
                return said;
            }
            self.read();
        }
    }

    /// All messages of this method so far.
    pub fn all_heard(&self, method: &str) -> Vec<Value> {
        self.heard.iter().filter(|(known, _)| known == method).map(|(_, params)| params.clone()).collect()
    }

    // ---- documents ----

    /// The address of a file of `/p`; others unchanged.
    pub fn uri(name: &str) -> String {
        if name.contains(':') {
            name.to_string()
        } else {
            format!("{HOME}/{name}")
        }
    }

    /// Opens a document, and waits for all of its diagnostics.
    pub fn open(&mut self, name: &str, text: &str) {
        self.open_silently(name, text);
        self.settle();
    }

    /// Opens a document.
    pub fn open_silently(&mut self, name: &str, text: &str) {
        let uri = Editor::uri(name);
        self.versions.insert(uri.clone(), 1);
        let document = json!({ "uri": uri, "languageId": "mokume", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces a document's text.
    pub fn change(&mut self, name: &str, text: &str) {
        self.changes(name, json!([{ "text": text }]));
    }

    /// Changes a document.
    pub fn changes(&mut self, name: &str, changes: Value) {
        let uri = Editor::uri(name);
        let version = self.versions.entry(uri.clone()).or_default();
        *version += 1;
        let document = json!({ "uri": uri, "version": *version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// Closes a document.
    pub fn close(&mut self, name: &str) {
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": Editor::uri(name) } }));
    }

    /// Waits until the server has sent everything.
    pub fn settle(&mut self) {
        self.ask("mokume/settle", Value::Null);
    }

    /// The diagnostics of a file: code, and the line and column where each begins and ends, from 0.
    pub fn wrong(&mut self, name: &str) -> Vec<(String, [u64; 4])> {
        self.settle();
        let of = self.diagnostics.get(&Editor::uri(name)).cloned().unwrap_or_default();
        of.iter().map(|found| (found["code"].as_str().unwrap_or("").to_string(), range(&found["range"]))).collect()
    }

    /// Only their codes.
    pub fn codes(&mut self, name: &str) -> Vec<String> {
        self.wrong(name).into_iter().map(|(code, _)| code).collect()
    }

    /// Ends the session as the protocol demands.
    pub fn exit(mut self) -> Ended {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        self.server.take().unwrap().join().unwrap()
    }

    /// Leaves without a word.
    pub fn vanish(mut self) -> Ended {
        self.to = None;
        self.server.take().unwrap().join().unwrap()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.to = None;
    }
}

/// A range as four numbers.
pub fn range(range: &Value) -> [u64; 4] {
    let at = |end: &str, of: &str| range[end][of].as_u64().unwrap();
    [at("start", "line"), at("start", "character"), at("end", "line"), at("end", "character")]
}

/// The folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// A world that test and server share, with the list of all that the server did in it.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<MemoryWorld>, pub Arc<Mutex<Vec<String>>>);

macro_rules! same { ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty;)*) => { impl World for Shared {
    $(fn $name(&self, $($arg: $ty),*) -> $out {
        // What is read is noted.
        let given: Vec<String> = vec![$(format!("{:?}", $arg)),*];
        self.1.lock().unwrap().push(format!("{} {}", stringify!($name), given.join(" ")));
        self.0.$name($($arg),*)
    })* } } }
same! {
    read(path: &str) -> std::io::Result<Vec<u8>>;
    write(path: &str, bytes: &[u8]) -> std::io::Result<()>;
    make_folder(path: &str) -> std::io::Result<()>;
    rename(from: &str, to: &str) -> std::io::Result<()>;
    remove(path: &str) -> std::io::Result<()>;
    exists(path: &str) -> bool;
    is_folder(path: &str) -> bool;
    list(folder: &str) -> std::io::Result<Vec<String>>;
    absolute(path: &str) -> std::io::Result<String>;
    now() -> std::time::Duration;
    seed() -> u64;
    environment(name: &str) -> Option<String>;
    run(program: &mokume_base::Invocation, stdin: &[u8], timeout: std::time::Duration) -> std::io::Result<mokume_base::Output>;
    start(program: &mokume_base::Invocation) -> std::io::Result<Box<dyn mokume_base::world::Running>>;
}
