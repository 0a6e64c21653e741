//! The debugger over the debug adapter protocol, on the standard input and output: one editor, one run.
//!
//! Keeps: every request gets one answer; unknown requests are refused by name. What comes while the run goes on is answered there,
//! and `pause` stops it.

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::sync::mpsc::{channel, Receiver, TryRecvError};

use mokume_base::world::{RealWorld, World};
use mokume_driver::debug::{
    time, unknown_name, By, Condition, End, Facts, Front, Go, Hits, Only, Point, Points, Stopped, Variable, Where, Why,
};
use mokume_driver::shelf::Shelf;
use serde_json::{json, Value};

/// The most bytes of a message; a longer one is not read.
const LONGEST: usize = 1 << 26;

/// The connection between editor and adapter.
pub struct Wire {
    /// What comes in is read beside the run, so that the editor can interrupt it.
    from: Receiver<Incoming>,
    /// Requests that came while the run went on.
    waiting: VecDeque<Request>,
    to: Box<dyn Write + Send>,
    /// The sequence number of the last message that we sent.
    said: u64,
}

/// A request of an editor.
pub struct Request {
    number: Value,
    pub command: String,
    pub arguments: Value,
}

/// What comes from an editor.
enum Incoming {
    Request(Request),
    /// This is no message of the protocol.
    Nonsense,
}

impl Wire {
    /// A connection over these streams.
    pub fn new(from: Box<dyn BufRead + Send>, to: Box<dyn Write + Send>) -> Wire {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut from = from;
            while let Some(incoming) = read(&mut *from) {
                if sender.send(incoming).is_err() {
                    return;
                }
            }
        });
        Wire { from: receiver, waiting: VecDeque::new(), to, said: 0 }
    }

    /// The next request; `None` at the end of the input, or if the input is not understood any more.
    pub fn read(&mut self) -> Option<Request> {
        loop {
            if let Some(request) = self.waiting.pop_front() {
                return Some(request);
            }
            let incoming = self.from.recv().ok()?;
            self.take(incoming);
        }
    }

    /// Whether the editor has sent a request that waits, or has left.
    fn is_asked(&mut self) -> bool {
        loop {
            match self.from.try_recv() {
                Ok(incoming) => self.take(incoming),
                Err(TryRecvError::Empty) => return !self.waiting.is_empty(),
                Err(TryRecvError::Disconnected) => return true,
            }
        }
    }

    fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Request(request) => self.waiting.push_back(request),
            Incoming::Nonsense => {
                let body = json!({ "category": "stderr", "output": "this is no message of the protocol\n" });
                self.event("output", body);
            }
        }
    }

    fn write(&mut self, mut message: Value) {
        self.said += 1;
        message["seq"] = json!(self.said);
        let text = message.to_string();
        // The next read notices if the editor has gone.
        let _ = write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).and_then(|()| self.to.flush());
    }

    /// Sends an event, which the editor did not ask for.
    pub fn event(&mut self, event: &str, body: Value) {
        self.write(json!({ "type": "event", "event": event, "body": body }));
    }

    /// Answers a request.
    pub fn answer(&mut self, request: &Request, body: Value) {
        let Request { number, command, .. } = request;
        self.write(
            json!({ "type": "response", "request_seq": number, "success": true, "command": command, "body": body }),
        );
    }

    /// Refuses a request.
    pub fn refuse(&mut self, request: &Request, why: &str) {
        let Request { number, command, .. } = request;
        self.write(json!({ "type": "response", "request_seq": number, "success": false, "command": command,
            "message": why, "body": { "error": { "id": 1, "format": why, "showUser": true } } }));
    }
}

/// Reads the next message; `None` at the end of the input, or if the input is not understood any more.
fn read(from: &mut dyn BufRead) -> Option<Incoming> {
    loop {
        let mut length = None;
        loop {
            let mut line = Vec::new();
            if from.read_until(b'\n', &mut line).ok()? == 0 {
                return None;
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(octets) = line.strip_prefix("Content-Length:") {
                length = octets.trim().parse::<usize>().ok().filter(|octets| *octets <= LONGEST);
            }
        }
        let Some(length) = length else { continue };
        let mut octets = vec![0; length];
        from.read_exact(&mut octets).ok()?;
        let Ok(message) = serde_json::from_slice::<Value>(&octets) else { return Some(Incoming::Nonsense) };
        // We send no requests, so there are no answers to expect.
        if let (Some("request"), Some(command)) = (message["type"].as_str(), message["command"].as_str()) {
            let (number, command) = (message["seq"].clone(), command.to_string());
            return Some(Incoming::Request(Request { number, command, arguments: message["arguments"].clone() }));
        }
    }
}

/// The capabilities of the adapter. Editors begin anew for `restart`: the text may have changed.
pub fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsStepBack": true,
        "supportsTerminateRequest": true,
        "supportsEvaluateForHovers": true,
        "exceptionBreakpointFilters": [
            { "filter": "report", "label": "Reports", "default": true },
            { "filter": "drop", "label": "Messages that are dropped or consumed" },
        ],
    })
}

/// How an editor counts lines and columns: from 1, or from 0 if it says so.
#[derive(Clone, Copy)]
pub struct Counting {
    first_line: u32,
    first_column: u32,
}

impl Counting {
    /// That of the arguments of `initialize`.
    pub fn of(arguments: &Value) -> Counting {
        let first = |name: &str| u32::from(arguments[name] != false);
        Counting { first_line: first("linesStartAt1"), first_column: first("columnsStartAt1") }
    }

    fn line(self, ours: u32) -> u32 {
        ours + self.first_line - 1
    }

    fn column(self, ours: u32) -> u32 {
        ours + self.first_column - 1
    }

    fn our_line(self, theirs: u64) -> u64 {
        theirs.saturating_add(1) - u64::from(self.first_line)
    }
}

/// The parts of a variable.
enum Parts {
    Are(Vec<Variable>),
    /// The state of the layers of this host, which is read when the editor asks for it.
    OfHost(String),
}

/// An editor that controls a run.
pub struct Adapter {
    wire: Wire,
    counting: Counting,
    /// Where the library's files have copies.
    shelf: Shelf,
    stop_on_entry: bool,
    is_configured: bool,
    /// The parts of structured variables since the last stop, by reference.
    within: Vec<Parts>,
}

impl Adapter {
    /// The adapter after `launch`.
    pub fn new(wire: Wire, counting: Counting, stop_on_entry: bool) -> Adapter {
        let shelf = Shelf::of(&RealWorld);
        Adapter { wire, counting, shelf, stop_on_entry, is_configured: false, within: Vec::new() }
    }

    /// Answers requests until one lets the run go on.
    fn led(&mut self, here: Option<&Stopped<'_>>, facts: &Facts, points: &mut Points) -> Go {
        loop {
            let Some(request) = self.wire.read() else { return Go::Quit };
            let go = match request.command.as_str() {
                "configurationDone" => {
                    self.wire.answer(&request, Value::Null);
                    let is_first = !std::mem::replace(&mut self.is_configured, true);
                    match here.filter(|_| is_first) {
                        Some(_) if !self.stop_on_entry => return Go::On,
                        Some(here) => self.tell_stop(here),
                        None => {}
                    }
                    continue;
                }
                command => match move_of(command) {
                    Some(go) => go,
                    None => {
                        self.answer(&request, here, facts, points);
                        continue;
                    }
                },
            };
            if here.is_none() && matches!(go, Go::On | Go::Forward(_)) {
                self.wire.refuse(&request, "the run has ended: step back, or restart");
                continue;
            }
            if go == Go::Quit {
                return self.quit(&request);
            }
            let body = if request.command == "continue" { json!({ "allThreadsContinued": true }) } else { Value::Null };
            self.wire.answer(&request, body);
            return go;
        }
    }

    fn quit(&mut self, request: &Request) -> Go {
        self.wire.answer(request, Value::Null);
        self.wire.event("terminated", Value::Null);
        Go::Quit
    }

    /// Answers what came while the run went on, which stops only for `pause`.
    fn interrupted(&mut self, here: &Stopped<'_>, points: &mut Points) -> Go {
        while self.wire.is_asked() {
            let Some(request) = self.wire.read() else { return Go::Quit };
            match move_of(&request.command) {
                Some(Go::Quit) => return self.quit(&request),
                Some(_) => self.wire.refuse(&request, "the run goes on already: `pause` stops it"),
                None if request.command == "pause" => {
                    self.wire.answer(&request, Value::Null);
                    if here.why == Why::AskedOnTheWayBack {
                        return Go::Home;
                    }
                    self.tell_stop(here);
                    return self.led(Some(here), here.facts, points);
                }
                None => self.answer(&request, Some(here), here.facts, points),
            }
        }
        Go::Same
    }

    fn answer(&mut self, request: &Request, here: Option<&Stopped<'_>>, facts: &Facts, points: &mut Points) {
        let arguments = &request.arguments;
        let body = match (request.command.as_str(), here) {
            ("threads", Some(here)) => {
                let hosts = here.facts.hosts.iter().zip(1..);
                let threads: Vec<Value> = hosts.map(|(host, id)| json!({ "id": id, "name": host.name })).collect();
                Ok(json!({ "threads": threads }))
            }
            ("threads", None) => Ok(json!({ "threads": [] })),
            ("stackTrace", Some(here)) => Ok(self.stack(arguments, here)),
            ("scopes", Some(here)) => Ok(self.scopes(arguments, here)),
            ("variables", _) => Ok(self.variables(arguments, here)),
            ("setBreakpoints", _) => Ok(self.lines(arguments, facts, points)),
            ("setFunctionBreakpoints", _) => Ok(events(arguments, facts, points)),
            ("setExceptionBreakpoints", _) => Ok(exceptions(arguments, points)),
            ("evaluate", Some(here)) => evaluated(arguments, here),
            ("stackTrace" | "scopes" | "evaluate", None) => Err("the run has ended: step back, or restart".to_string()),
            ("source", _) => Err("the text is in the file".to_string()),
            ("pause", _) => Err("the run stands still already".to_string()),
            (other, _) => Err(format!("`{other}` is not known here")),
        };
        match body {
            Ok(body) => self.wire.answer(request, body),
            Err(why) => self.wire.refuse(request, &why),
        }
    }

    /// The path by which an editor finds a file: one of the library has a copy.
    fn path_of(&self, file: &str) -> String {
        let copy = (!RealWorld.exists(file)).then(|| self.shelf.source(&RealWorld, file)).flatten();
        copy.unwrap_or_else(|| {
            std::path::absolute(file).map_or_else(|_| file.to_string(), |path| path.to_string_lossy().into_owned())
        })
    }

    /// The name of a file in the run, from an editor's path to it, which may go through links.
    fn file_of<'f>(&self, path: &str, facts: &'f Facts) -> Option<&'f str> {
        let whole = RealWorld.absolute(path).ok();
        let is_it = |file: &&String| {
            let known = self.path_of(file);
            known == path || whole.is_some() && RealWorld.absolute(&known).ok() == whole
        };
        facts.lines.keys().find(is_it).map(String::as_str)
    }

    /// Replaces the points of one file.
    fn lines(&self, arguments: &Value, facts: &Facts, points: &mut Points) -> Value {
        let path = arguments["source"]["path"].as_str().unwrap_or("");
        let file = self.file_of(path, facts).unwrap_or(path);
        points.clear(|point| matches!(&point.at, Where::Line(of, _) if of == file));
        let set = |wanted: &Value| {
            let line = self.counting.our_line(wanted["line"].as_u64().unwrap_or(0));
            let at = Where::read(&format!("{file}:{line}"), file, facts);
            shown(at.and_then(|at| Ok(((at, None), only(wanted, facts)?))), points, wanted["line"].as_u64())
        };
        let set: Vec<Value> = arguments["breakpoints"].as_array().into_iter().flatten().map(set).collect();
        json!({ "breakpoints": set })
    }

    fn stack(&self, arguments: &Value, here: &Stopped<'_>) -> Value {
        // While the run stops at a reaction, the other hosts have no frame.
        if arguments["threadId"].as_u64() != Some(here.host as u64 + 1) {
            return json!({ "stackFrames": [], "totalFrames": 0 });
        }
        let frames: Vec<Value> = here
            .calls()
            .iter()
            .zip(1..)
            .map(|((name, place), id)| match place {
                Some(place) => json!({ "id": id, "name": name,
                    "line": self.counting.line(place.line), "column": self.counting.column(place.column),
                    "source": { "name": place.file.rsplit('/').next(), "path": self.path_of(&place.file) } }),
                None => json!({ "id": id, "name": name, "line": 0, "column": 0, "presentationHint": "subtle" }),
            })
            .collect();
        json!({ "totalFrames": frames.len(), "stackFrames": frames })
    }

    fn scopes(&mut self, arguments: &Value, here: &Stopped<'_>) -> Value {
        let frame = arguments["frameId"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
        let locals = here.all_locals().into_iter().nth(frame).unwrap_or_default();
        let (locals, state) = (self.keep(locals), self.keep(here.state()));
        let mut scopes = vec![
            json!({ "name": "Locals", "presentationHint": "locals", "variablesReference": locals, "expensive": false }),
            json!({ "name": "Layers", "variablesReference": state, "expensive": false }),
        ];
        for host in here.facts.hosts.iter().filter(|host| host.name != here.host_name()) {
            self.within.push(Parts::OfHost(host.name.clone()));
            let reference = self.within.len();
            let name = format!("Layers of {}", host.name);
            scopes.push(json!({ "name": name, "variablesReference": reference, "expensive": true }));
        }
        json!({ "scopes": scopes })
    }

    /// Stores variables and returns a reference to them; 0 if there are none, as the protocol demands.
    fn keep(&mut self, variables: Vec<Variable>) -> usize {
        if variables.is_empty() {
            return 0;
        }
        self.within.push(Parts::Are(variables));
        self.within.len()
    }

    fn variables(&mut self, arguments: &Value, here: Option<&Stopped<'_>>) -> Value {
        let place = arguments["variablesReference"].as_u64().unwrap_or(0) as usize;
        let found = match place.checked_sub(1).and_then(|place| self.within.get(place)) {
            Some(Parts::Are(all)) => all.clone(),
            Some(Parts::OfHost(name)) => {
                let state = here.map(|here| here.at_host(name, |there| there.state()));
                let none = |why: String| vec![Variable { name: name.clone(), value: why, within: Vec::new() }];
                state.map_or_else(Vec::new, |state| state.unwrap_or_else(none))
            }
            None => Vec::new(),
        };
        let shown: Vec<Value> = found
            .into_iter()
            .map(|variable| {
                let reference = self.keep(variable.within);
                json!({ "name": variable.name, "value": variable.value, "variablesReference": reference })
            })
            .collect();
        json!({ "variables": shown })
    }

    fn tell_stop(&mut self, at: &Stopped<'_>) {
        self.within.clear();
        let reason = match at.why {
            Why::Beginning => "entry",
            Why::Stepped => "step",
            Why::Asked | Why::AskedOnTheWayBack | Why::Home => "pause",
            Why::Point(_) => "breakpoint",
        };
        let mut body = json!({ "reason": reason, "threadId": at.host + 1, "allThreadsStopped": true });
        if let Why::Point(number) = at.why {
            body["hitBreakpointIds"] = json!([number]);
        }
        if at.what() != "statement" {
            body["description"] = json!(at.what());
        }
        self.wire.event("stopped", body);
    }
}

impl Front for Adapter {
    fn interrupts(&mut self) -> bool {
        self.wire.is_asked()
    }

    fn stopped(&mut self, at: &Stopped<'_>, points: &mut Points) -> Go {
        if matches!(at.why, Why::Asked | Why::AskedOnTheWayBack) {
            return self.interrupted(at, points);
        }
        match self.is_configured {
            true => self.tell_stop(at),
            // Now the editor sends its points.
            false => self.wire.event("initialized", Value::Null),
        }
        self.led(Some(at), at.facts, points)
    }

    fn said(&mut self, host: &str, _: u32, text: &str) {
        self.wire.event("output", json!({ "category": "console", "output": format!("{host}: {text}\n") }));
    }

    fn turned(&mut self, host: &str, at: u64, begins: bool) {
        let what = if begins { "begins anew" } else { "crashes" };
        let output = format!("{host}: {what} at {}\n", time(at));
        self.wire.event("output", json!({ "category": "console", "output": output }));
    }

    fn ended(&mut self, end: &End, facts: &Facts, points: &mut Points) -> Go {
        let text: String = end.failed.iter().map(|failed| format!("FAILED {failed}\n")).collect();
        let doubts: String = points.doubts().iter().map(|doubt| format!("{doubt}\n")).collect();
        let text = format!("{text}{doubts}the run has ended: step back, or restart\n");
        self.wire.event("output", json!({ "category": "console", "output": text }));
        self.within.clear();
        // Editors show no buttons after `terminated`, so we report a pause.
        let body =
            json!({ "reason": "pause", "description": "the run has ended", "threadId": 1, "allThreadsStopped": true });
        self.wire.event("stopped", body);
        self.led(None, facts, points)
    }
}

/// Points on events, `drop REASON` and `report`, each also with `at HOST` behind it; the protocol calls them function breakpoints.
fn events(arguments: &Value, facts: &Facts, points: &mut Points) -> Value {
    points.clear(|point| match &point.at {
        Where::Event(_) => true,
        Where::Drop(of) if of != "*" => true,
        Where::Drop(_) | Where::Report => point.host.is_some(),
        Where::Line(..) => false,
    });
    let set = |wanted: &Value| {
        let at = Where::read_at_host(wanted["name"].as_str().unwrap_or(""), "", facts);
        shown(at.and_then(|at| Ok((at, only(wanted, facts)?))), points, None)
    };
    let set: Vec<Value> = arguments["breakpoints"].as_array().into_iter().flatten().map(set).collect();
    json!({ "breakpoints": set })
}

/// The move that a request asks for; `None` for one that only asks or sets.
fn move_of(command: &str) -> Option<Go> {
    Some(match command {
        "continue" => Go::On,
        "next" => Go::Forward(By::Over),
        "stepIn" => Go::Forward(By::Statement),
        "stepOut" => Go::Forward(By::Out),
        "stepBack" => Go::Back(By::Statement),
        "reverseContinue" => Go::Back(By::Point),
        "restart" => Go::Restart,
        "disconnect" | "terminate" => Go::Quit,
        _ => return None,
    })
}

/// Reads `condition`, `hitCondition` and `logMessage`; editors omit them or send them empty.
fn only(wanted: &Value, facts: &Facts) -> Result<Only, mokume_driver::Failure> {
    let text = |name: &str| wanted[name].as_str().filter(|text| !text.trim().is_empty());
    Ok(Only {
        when: text("condition").map(|when| Condition::read(when, facts)).transpose()?,
        hits: text("hitCondition").map(Hits::read).transpose()?,
        log: text("logMessage").map(|text| Only::log_text(text, facts)).transpose()?,
    })
}

type Set = Result<((Where, Option<String>), Only), mokume_driver::Failure>;

fn shown(set: Set, points: &mut Points, line: Option<u64>) -> Value {
    let mut body = match set {
        Ok(((at, host), only)) => {
            let Point { number, .. } = points.add_only(at, host, only);
            json!({ "verified": true, "id": number })
        }
        Err(failure) => json!({ "verified": false, "message": format!("{}: {}", failure.message, failure.help) }),
    };
    if let Some(line) = line {
        body["line"] = json!(line);
    }
    body
}

fn exceptions(arguments: &Value, points: &mut Points) -> Value {
    let is_one = |at: &Where| *at == Where::Report || *at == Where::Drop("*".to_string());
    points.clear(|point| point.host.is_none() && is_one(&point.at));
    let filters = arguments["filters"].as_array().cloned().unwrap_or_default();
    let filters = filters.iter().filter_map(Value::as_str);
    for filter in filters {
        match filter {
            "report" => drop(points.add(Where::Report, None).number),
            "drop" => drop(points.add(Where::Drop("*".to_string()), None).number),
            _ => {}
        }
    }
    Value::Null
}

/// Evaluates a local of the frame that is asked for, a cell of the state by its name, or `why`.
fn evaluated(arguments: &Value, here: &Stopped<'_>) -> Result<Value, String> {
    let expression = arguments["expression"].as_str().unwrap_or("");
    let frame = arguments["frameId"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
    let result = |text: String| Ok(json!({ "result": text, "variablesReference": 0 }));
    if expression == "why" {
        return result(here.causes().join("\n"));
    }
    match here.value_in(frame, expression.trim()) {
        Some(value) => result(value),
        None => Err(format!("{}: names of locals and of state, and `why`", unknown_name(expression.trim()))),
    }
}
