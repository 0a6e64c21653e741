//! The debug adapter protocol, as an editor speaks it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use serde_json::{json, Value};

use super::{file, network, of_driver, start};

/// How long an answer or an event may take.
const LONGEST: Duration = Duration::from_secs(60);

/// The messages of an adapter, until it is gone.
fn messages(mut from: BufReader<ChildStdout>) -> impl Iterator<Item = Value> {
    std::iter::from_fn(move || {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(octets) => length = octets.parse().ok()?,
                None => break,
            }
        }
        let mut octets = vec![0; length];
        from.read_exact(&mut octets).ok()?;
        serde_json::from_slice(&octets).ok()
    })
}

struct Dap {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    asked: u64,
    events: Vec<(String, Value)>,
}

impl Dap {
    fn new() -> Dap {
        let mut child = start(&["debug", "--dap"]);
        let (to, said) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (send, from) = channel();
        // Who waits for what never comes is told, and waits no longer.
        std::thread::spawn(move || messages(said).try_for_each(|message| send.send(message)));
        Dap { child, to, from, asked: 0, events: Vec::new() }
    }

    fn read(&mut self) -> Value {
        self.from.recv_timeout(LONGEST).expect("the adapter says something, and is there")
    }

    fn raw(&mut self, text: &str) {
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }

    /// A request: whether it succeeded, and the answer.
    fn try_ask(&mut self, command: &str, arguments: Value) -> (bool, Value) {
        self.asked += 1;
        let request = json!({ "seq": self.asked, "type": "request", "command": command, "arguments": arguments });
        self.raw(&request.to_string());
        loop {
            let said = self.read();
            if said["type"] == "event" {
                self.events.push((said["event"].as_str().unwrap().to_string(), said["body"].clone()));
            } else {
                assert_eq!((&said["request_seq"], &said["command"]), (&json!(self.asked), &json!(command)), "{said}");
                return (said["success"] == true, said);
            }
        }
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let (is_done, said) = self.try_ask(command, arguments);
        assert!(is_done, "{said}");
        said["body"].clone()
    }

    fn refused(&mut self, command: &str, arguments: Value) -> String {
        let (is_done, said) = self.try_ask(command, arguments);
        assert!(!is_done, "{said}");
        said["message"].as_str().unwrap().to_string()
    }

    /// The next event of a kind.
    fn event(&mut self, kind: &str) -> Value {
        loop {
            if let Some(place) = self.events.iter().position(|(known, _)| known == kind) {
                return self.events.remove(place).1;
            }
            let said = self.read();
            assert_eq!(said["type"], "event", "{said}");
            self.events.push((said["event"].as_str().unwrap().to_string(), said["body"].clone()));
        }
    }

    /// Up to the first stop, with points by lines and on functions.
    fn launched(file: &std::path::Path, lines: &[u64], functions: &[&str], more: Value) -> Dap {
        let mut dap = Dap::new();
        assert_eq!(dap.ask("initialize", json!({ "adapterID": "mokume" }))["supportsStepBack"], true);
        let mut launch = json!({ "program": file });
        launch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        dap.ask("launch", launch);
        dap.event("initialized");
        let lines: Vec<Value> = lines.iter().map(|line| json!({ "line": line })).collect();
        let set = dap.ask("setBreakpoints", json!({ "source": { "path": file }, "breakpoints": lines }));
        assert_eq!(set["breakpoints"].as_array().unwrap().len(), lines.len());
        let names: Vec<Value> = functions.iter().map(|name| json!({ "name": name })).collect();
        dap.ask("setFunctionBreakpoints", json!({ "breakpoints": names }));
        dap.ask("setExceptionBreakpoints", json!({ "filters": ["report"] }));
        dap.ask("configurationDone", json!({}));
        dap
    }

    /// Where the run stands: the host, and the lines of the running code.
    fn stack(&mut self) -> (u64, Vec<(String, u64)>) {
        let thread = self.event("stopped")["threadId"].as_u64().unwrap();
        let frames = self.ask("stackTrace", json!({ "threadId": thread }))["stackFrames"].clone();
        let frame = |frame: &Value| (frame["name"].as_str().unwrap().to_string(), frame["line"].as_u64().unwrap());
        (thread, frames.as_array().unwrap().iter().map(frame).collect())
    }

    fn line(&mut self) -> u64 {
        self.stack().1[0].1
    }

    fn after(&mut self, command: &str) -> u64 {
        self.ask(command, json!({ "threadId": 1 }));
        self.line()
    }

    fn quit(mut self) -> Option<i32> {
        self.ask("disconnect", json!({}));
        drop(self.to);
        self.child.wait().unwrap().code()
    }
}

#[test]
fn an_editor_steps_forwards_and_backwards() {
    let mut dap = Dap::launched(&file("dap_steps"), &[15], &[], json!({}));
    assert_eq!(dap.stack(), (1, vec![("app.Counts: on send".to_string(), 15)]));
    assert_eq!(dap.after("stepIn"), 11);
    assert_eq!(dap.after("stepOut"), 16);
    assert_eq!(dap.after("stepBack"), 12);
    assert_eq!(dap.after("stepBack"), 11);
    assert_eq!(dap.after("stepBack"), 15);
    assert_eq!(dap.after("next"), 16);
    assert_eq!(dap.after("continue"), 15);
    assert_eq!(dap.after("next"), 16);
    assert_eq!(dap.after("reverseContinue"), 15);
    assert_eq!(dap.after("reverseContinue"), 15);
    assert_eq!(dap.quit(), Some(0));
}

#[test]
fn an_editor_sets_conditions_times_and_log_points() {
    let path = file("dap_conditions");
    let mut dap = Dap::launched(&path, &[15], &[], json!({}));
    assert_eq!(dap.line(), 15);
    let points = json!([
        { "line": 17, "condition": "own > 4" },
        { "line": 16, "logMessage": "own is {own}" },
        { "line": 18, "condition": "owl > 4" },
    ]);
    let set = dap.ask("setBreakpoints", json!({ "source": { "path": path }, "breakpoints": points }));
    let verified: Vec<bool> =
        set["breakpoints"].as_array().unwrap().iter().map(|one| one["verified"] == true).collect();
    assert_eq!(verified, [true, true, false]);
    assert!(set["breakpoints"][2]["message"].as_str().unwrap().contains("nothing is called `owl` here"), "{set}");
    assert_eq!(dap.after("continue"), 17);
    assert_eq!(
        (dap.event("output")["output"].as_str(), dap.event("output")["output"].as_str()),
        (Some("a: own is 4\n"), Some("a: own is 5\n"))
    );
    let frames = dap.ask("scopes", json!({ "frameId": 1 }))["scopes"][0]["variablesReference"].clone();
    let locals = dap.ask("variables", json!({ "variablesReference": frames }))["variables"].clone();
    assert!(locals.as_array().unwrap().iter().any(|one| one["name"] == "own" && one["value"] == "5"), "{locals}");
    // The second time since the beginning.
    let points = json!([{ "line": 15, "hitCondition": "2" }]);
    dap.ask("setBreakpoints", json!({ "source": { "path": path }, "breakpoints": points }));
    dap.ask("restart", json!({}));
    dap.event("stopped");
    dap.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(dap.line(), 15);
    let stopped = dap.ask("evaluate", json!({ "expression": "next", "frameId": 1 }))["result"].clone();
    assert_eq!(stopped, "1");
    assert_eq!(dap.quit(), Some(0));
}

#[test]
fn an_editor_sees_locals_state_and_hosts() {
    let mut dap = Dap::launched(&file("dap_sees"), &[], &["drop no_room"], json!({}));
    let stopped = dap.event("stopped");
    assert_eq!(
        (&stopped["reason"], &stopped["description"]),
        (&json!("breakpoint"), &json!("a message ends: app.Counts.no_room"))
    );
    let threads = dap.ask("threads", json!({}));
    assert_eq!(threads["threads"], json!([{ "id": 1, "name": "a" }, { "id": 2, "name": "b" }]));
    assert_eq!(dap.ask("stackTrace", json!({ "threadId": 2 }))["totalFrames"], 0);
    let scopes = dap.ask("scopes", json!({ "frameId": 1 }))["scopes"].clone();
    let mut within =
        |reference: &Value| dap.ask("variables", json!({ "variablesReference": reference }))["variables"].clone();
    let locals = within(&scopes[0]["variablesReference"]);
    let named =
        |all: &Value, name: &str| all.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
    assert_eq!(named(&locals, "own")["value"], "5");
    let octets = within(&named(&locals, "msg")["variablesReference"]);
    assert_eq!(named(&octets, "octets")["value"], "61 67 61 69 6e");
    let layers = within(&scopes[1]["variablesReference"]);
    let entity = within(&named(&layers, "app.Counts")["variablesReference"]);
    let cells = within(&named(&entity, "entity")["variablesReference"]);
    assert_eq!(
        (&named(&cells, "next")["value"], &named(&cells, "wait")["value"]),
        (&json!("2"), &json!("rings in 19 ms (at 21 ms)"))
    );
    let mut evaluated = |text: &str| {
        dap.ask("evaluate", json!({ "expression": text, "frameId": 1 }))["result"].as_str().unwrap().to_string()
    };
    assert_eq!((evaluated("own"), evaluated("next")), ("5".to_string(), "2".to_string()));
    assert!(evaluated("why").contains("what came in at app"));
    assert!(dap.refused("evaluate", json!({ "expression": "nobody" })).contains("nothing is called `nobody` here"));
    assert_eq!(dap.quit(), Some(0));
}

/// Each frame of the call stack has its own locals, and what an editor asks for is looked for in its frame.
#[test]
fn an_editor_sees_the_locals_of_each_frame() {
    let mut dap = Dap::launched(&of_driver("calls.mok"), &[13], &[], json!({ "test": "calls" }));
    dap.event("stopped");
    dap.ask("continue", json!({ "threadId": 1 }));
    let names: Vec<String> = dap.stack().1.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["fn inner", "fn outer", "app: on deliver"]);
    for (frame, name, value) in [(1, "n", "10"), (2, "p", "10"), (3, "n", "3"), (3, "a", "10"), (3, "m", "9")] {
        let found = dap.ask("evaluate", json!({ "expression": name, "frameId": frame }))["result"].clone();
        assert_eq!(found, value, "{name} of frame {frame}");
    }
    assert!(dap.refused("evaluate", json!({ "expression": "p", "frameId": 3 })).contains("nothing is called `p`"));
    assert_eq!(dap.quit(), Some(0));
}

#[test]
fn an_editor_may_go_back_from_the_end() {
    let mut dap = Dap::launched(&file("dap_end"), &[], &[], json!({ "test": "goes down again" }));
    assert_eq!(dap.event("stopped")["description"], "the run has ended");
    let said = dap.event("output")["output"].as_str().unwrap().to_string();
    assert!(said.contains("FAILED test \"goes down again\", step 1") && said.contains("the run has ended"), "{said}");
    assert!(dap.refused("next", json!({})).contains("the run has ended"));
    assert_eq!(dap.after("stepBack"), 21);
    assert_eq!(dap.after("stepBack"), 20);
    dap.ask("restart", json!({}));
    dap.event("stopped");
    assert_eq!(dap.quit(), Some(0));
}

#[test]
fn an_editor_that_says_nonsense_is_told() {
    let file = file("dap_bad");
    let mut dap = Dap::new();
    assert!(dap.refused("next", json!({})).contains("behind `launch`"));
    dap.ask("initialize", json!({}));
    assert!(dap.refused("launch", json!({})).contains("`program` is missing"));
    assert!(dap.refused("launch", json!({ "program": "/no/where.mok" })).contains("cannot read"));
    assert!(dap
        .refused("launch", json!({ "program": file, "network": "Nobody" }))
        .contains("there is no network `Nobody`"));
    dap.ask("launch", json!({ "program": file, "stopOnEntry": true }));
    let set = dap.ask("setBreakpoints", json!({ "source": { "path": file }, "breakpoints": [{ "line": 3 }] }));
    assert_eq!(set["breakpoints"][0]["verified"], false);
    assert!(set["breakpoints"][0]["message"].as_str().unwrap().contains("there is code in line 11"), "{set}");
    let names = ["nothing", "send at nobody", "send"].map(|name| json!({ "name": name }));
    let set = dap.ask("setFunctionBreakpoints", json!({ "breakpoints": names }));
    let verified = [0, 1, 2].map(|at| set["breakpoints"][at]["verified"].as_bool().unwrap());
    assert_eq!(verified, [false, false, true], "{set}");
    assert!(set["breakpoints"][1]["message"].as_str().unwrap().contains("there is no host `nobody`"), "{set}");
    dap.raw("{");
    assert!(dap.event("output")["output"].as_str().unwrap().contains("no message of the protocol"));
    assert!(dap.refused("dance", json!({})).contains("`dance` is not known here"));
    dap.ask("configurationDone", json!({}));
    assert_eq!(dap.event("stopped")["reason"], "entry");
    assert_eq!(dap.ask("variables", json!({ "variablesReference": 99 }))["variables"], json!([]));
    assert_eq!(dap.quit(), Some(0));
}

/// A file of the library has a copy that an editor can open, and points are set by a path through links, counted as the editor does,
/// and at the end of the run.
#[test]
fn an_editors_paths_and_lines_are_understood() {
    let folder = file("dap_paths").parent().unwrap().to_path_buf();
    let program = folder.join("keeps.mok");
    let text = "use containers\n\nworker Keeps {\n    entity { queue<Message> kept(8) }\n    on send(msg) {\n        \
        kept.push(msg) or { drop msg: full }\n        if let first = kept.pop() { below.send(first) }\n    }\n}\n\
        stack S(device: Device) {\n    app = Keeps over device\n    export app\n}\n\
        test \"t\" {\n    stack S\n    app.send_to(\"a\")\n    => device.frame(\"a\")\n}\n";
    std::fs::write(&program, text).unwrap();
    let mut dap = Dap::new();
    dap.ask("initialize", json!({ "linesStartAt1": false, "columnsStartAt1": false }));
    dap.ask("launch", json!({ "program": program, "test": "t" }));
    dap.event("initialized");
    let around = folder.join("../dap_paths/keeps.mok");
    let at =
        |path: &std::path::Path, line: u64| json!({ "source": { "path": path }, "breakpoints": [{ "line": line }] });
    let set = dap.ask("setBreakpoints", at(&around, 5));
    assert_eq!((&set["breakpoints"][0]["verified"], &set["breakpoints"][0]["line"]), (&json!(true), &json!(5)));
    dap.ask("configurationDone", json!({}));
    assert_eq!(dap.line(), 5);
    dap.ask("stepIn", json!({ "threadId": 1 }));
    dap.event("stopped");
    let frames = dap.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"].clone();
    let path = std::path::PathBuf::from(frames[0]["source"]["path"].as_str().unwrap());
    let line = frames[0]["line"].as_u64().unwrap();
    let library = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(path.ends_with("library/containers/queue.mok") && library.lines().count() > line as usize, "{frames}");
    dap.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(dap.event("stopped")["description"], "the run has ended");
    assert_eq!(dap.ask("setBreakpoints", at(&path, line))["breakpoints"][0]["verified"], true);
    dap.ask("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!(dap.line(), line);
    assert_eq!(dap.quit(), Some(0));
}

/// A run that goes on is stopped, and ended, and one that never rests can be looked at.
#[test]
fn a_run_that_goes_on_is_interrupted() {
    let folder = file("dap_pause").parent().unwrap().to_path_buf();
    let network = |name: &str, after: &str, until: &str| {
        let text = format!(
            "worker A {{\n    entity {{ var n: u32 = 0  timer t }}\n    on start {{ start t after 1 us }}\n    on expiry t {{\n        n +%= 1\n        \
             start t after {after}\n    }}\n    on send(msg) {{ below.send(msg) }}\n}}\nstack S(device: Device) {{\n    app = A over device\n    export app\n}}\n\
             network N {{\n    host a = S()\n    host b = S()\n    link l {{ a.device, b.device  delay 1 ms }}\n    until {until}\n}}\n"
        );
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let long = network("long.mok", "1 us", "60 min");
    let mut dap = Dap::launched(&long, &[], &[], json!({}));
    assert_eq!(dap.ask("threads", json!({}))["threads"].as_array().unwrap().len(), 2);
    let set = dap.ask(
        "setBreakpoints",
        json!({ "source": { "path": long }, "breakpoints": [{ "line": 5, "condition": "n == 4000000000" }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true);
    dap.ask("pause", json!({ "threadId": 1 }));
    assert_eq!(dap.event("stopped")["reason"], "pause");
    dap.ask("setBreakpoints", json!({ "source": { "path": long }, "breakpoints": [{ "line": 6 }] }));
    assert_eq!(dap.after("continue"), 6);
    dap.ask("setBreakpoints", json!({ "source": { "path": long }, "breakpoints": [] }));
    dap.ask("continue", json!({ "threadId": 1 }));
    assert!(dap.refused("next", json!({})).contains("the run goes on already"));
    assert_eq!(dap.quit(), Some(0));

    let restless = network("restless.mok", "1 ns", "1 s");
    let (out, err, code) = super::transcript(&["debug", restless.to_str().unwrap()], "continue\nback\nprint n\n");
    assert!(out.contains("the run has ended\nFAILED the network makes no headway"), "{out}");
    assert!(out.contains("\n(mokume) back\n") && !out.contains("nothing is called"), "{out}");
    assert_eq!((err.as_str(), code), ("", 0));
}

#[test]
fn an_editor_may_vanish() {
    // Keeps the output open to the end: the system ends a process that writes to a closed pipe.
    let Dap { mut child, to, from: _from, .. } = Dap::launched(&file("dap_gone"), &[15], &[], json!({}));
    drop(to);
    assert!(child.wait().unwrap().code().is_some());
}

/// What is asked only seldom: the text of a source, a pause of what stands still, an end by the editor or by `quit`.
#[test]
fn what_is_left_of_the_commands() {
    let mut dap = Dap::launched(&file("dap_rest"), &[15], &[], json!({}));
    assert_eq!(dap.line(), 15);
    assert!(dap.refused("source", json!({ "sourceReference": 1 })).contains("the text is in the file"));
    assert!(dap.refused("pause", json!({ "threadId": 1 })).contains("stands still already"));
    assert_eq!(dap.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0]["line"], 15, "nothing has moved");
    dap.ask("terminate", json!({}));
    drop(dap.to);
    assert_eq!(dap.child.wait().unwrap().code(), Some(0));
    for word in ["quit", "q", "exit"] {
        let out = network("quits", &format!("help\n{word}\nstep\n"));
        assert!(out.ends_with(&format!("(mokume) {word}\n")) && out.contains("print NAME"), "{out}");
    }
}

/// Only the state of the host that runs was among the scopes.
#[test]
fn an_editor_sees_the_state_of_all_hosts() {
    let mut dap = Dap::launched(&file("dap_hosts"), &[], &["device.frame at b"], json!({}));
    assert_eq!(dap.event("stopped")["threadId"], 2);
    let scopes = dap.ask("scopes", json!({ "frameId": 1 }))["scopes"].clone();
    let names: Vec<&str> = scopes.as_array().unwrap().iter().filter_map(|scope| scope["name"].as_str()).collect();
    assert_eq!(names, ["Locals", "Layers", "Layers of a"]);
    let mut within =
        |reference: &Value| dap.ask("variables", json!({ "variablesReference": reference }))["variables"].clone();
    let layers = within(&scopes[2]["variablesReference"]);
    assert_eq!(layers[0]["name"], "app.Counts");
    let entity = within(&layers[0]["variablesReference"]);
    let cells = within(&entity[0]["variablesReference"]);
    assert_eq!((&cells[0]["name"], &cells[0]["value"]), (&json!("next"), &json!("2")), "{cells}");
    assert_eq!(dap.quit(), Some(0));
}

/// A function breakpoint may name a host, as `break` in the terminal.
#[test]
fn an_event_of_one_host() {
    for (name, thread) in [("send at a", 1), ("device.frame at b", 2)] {
        let mut dap = Dap::launched(&file("dap_one_host"), &[], &[name], json!({}));
        assert_eq!(dap.event("stopped")["threadId"], thread, "{name}");
        assert_eq!(dap.quit(), Some(0));
    }
}
