//! The server: reads messages, answers requests, and publishes diagnostics of the newest texts while no request waits.
//!
//! Keeps: every request gets one answer; an invalid message does not end the session.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::Duration;

use ls_types::notification::{self as told, Notification as _};
use ls_types::request::{self as asked, Request as _};
use ls_types::{
    InitializeParams, InitializeResult, LogMessageParams, MessageType, NumberOrString, ProgressParams,
    ProgressParamsValue, Registration, RegistrationParams, ServerInfo, ShowDocumentParams, ShowMessageParams, Uri,
    WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressCreateParams, WorkDoneProgressEnd,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use mokume_base::world::World;
use serde::de::DeserializeOwned;
use serde_json::{json, Value};

use crate::diagnostics;
use crate::frames::{self, Frame};
use crate::requests;
use crate::runs::{self, Done, What};
use crate::session::{Cancelled, Session};

/// How long the input must be quiet before the server publishes diagnostics of changed documents.
const PAUSE: Duration = Duration::from_millis(15);

/// How a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With `shutdown`, then `exit`, as the protocol demands.
    Well,
    /// The editor went away.
    Badly,
}

/// Input of the server.
enum Heard {
    From(Frame),
    /// A run has ended.
    Ran(Box<Done>),
}

/// Serves one editor until the session ends. `command` is the path of our own program, which runs tests and networks.
pub fn serve(
    world: &'static dyn World,
    command: &str,
    mut input: impl BufRead + Send,
    output: &mut dyn Write,
) -> Ended {
    let (sender, from) = channel();
    let to = sender.clone();
    let cancelled = Cancelled::default();
    let cancels = cancelled.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || loop {
            let frame = frames::read(&mut input);
            let last = match &frame {
                Frame::End => true,
                Frame::Message(Message::Notification(told)) => told.method == told::Exit::METHOD,
                Frame::Message(_) | Frame::Broken(_) => false,
            };
            if let Frame::Message(Message::Notification(told)) = &frame {
                cancels.add(told);
            }
            if to.send(Heard::From(frame)).is_err() || last {
                break;
            }
        });
        let command = command.to_string();
        let waiting = VecDeque::new();
        let server = Server { world, command, sender, from, waiting, cancelled, output, state: State::New, asked: 0 };
        server.run()
    })
}

enum State {
    /// Before `initialize`.
    New,
    Ready(Box<Session<'static>>),
    /// After `shutdown`.
    Done,
}

struct Server<'o> {
    world: &'static dyn World,
    command: String,
    sender: Sender<Heard>,
    from: Receiver<Heard>,
    waiting: VecDeque<Heard>,
    cancelled: Cancelled,
    output: &'o mut dyn Write,
    state: State,
    /// The number of requests that the server has sent.
    asked: u32,
}

impl Server<'_> {
    fn run(mut self) -> Ended {
        // A failed write means that the editor has gone.
        self.messages().unwrap_or(Ended::Badly)
    }

    fn messages(&mut self) -> io::Result<Ended> {
        loop {
            let frame = match self.next()? {
                Heard::From(frame) => frame,
                Heard::Ran(done) => {
                    self.ran(*done)?;
                    continue;
                }
            };
            match frame {
                Frame::End => return Ok(Ended::Badly),
                Frame::Broken(why) => {
                    let error = json!({ "code": ErrorCode::ParseError as i32, "message": why });
                    self.write_value(&json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error }))?;
                }
                Frame::Message(Message::Request(request)) => self.request(request)?,
                Frame::Message(Message::Notification(told)) if told.method == told::Exit::METHOD => {
                    return Ok(if matches!(self.state, State::Done) { Ended::Well } else { Ended::Badly });
                }
                Frame::Message(Message::Notification(told)) if told.method == told::Initialized::METHOD => {
                    self.initialized()?;
                }
                Frame::Message(Message::Notification(told)) => self.notification(told),
                // We send no request whose answer matters.
                Frame::Message(Message::Response(_)) => {}
            }
        }
    }

    /// The next message; until one comes, publishes diagnostics of changed documents.
    fn next(&mut self) -> io::Result<Heard> {
        loop {
            loop {
                match self.from.try_recv() {
                    Ok(heard) => self.waiting.push_back(heard),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        return Ok(self.waiting.pop_front().unwrap_or(Heard::From(Frame::End)));
                    }
                }
            }
            if let Some(heard) = self.waiting.pop_front() {
                return Ok(heard);
            }
            // An editor sends its requests about a new text right after the text; they come first.
            match self.from.recv_timeout(PAUSE) {
                Ok(heard) => return Ok(heard),
                Err(RecvTimeoutError::Disconnected) => return Ok(Heard::From(Frame::End)),
                Err(RecvTimeoutError::Timeout) if self.tell()? => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(self.from.recv().unwrap_or(Heard::From(Frame::End)));
                }
            }
        }
    }

    /// Publishes the diagnostics of one document; false if none is due.
    fn tell(&mut self) -> io::Result<bool> {
        let State::Ready(session) = &mut self.state else { return Ok(false) };
        match catch_unwind(AssertUnwindSafe(|| session.tell_next())) {
            Ok(None) => Ok(false),
            Ok(Some(news)) => {
                for news in news {
                    self.notify::<told::PublishDiagnostics>(news)?;
                }
                Ok(true)
            }
            Err(_) => {
                self.log("a document could not be checked: a fault of Mokume; please report it, with the file")?;
                Ok(true)
            }
        }
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let Request { id, method, params } = request;
        let is_cancelled = self.cancelled.has(&id);
        // For tests and scripts: answered when all diagnostics are published.
        while method == "mokume/settle" && self.tell()? {}
        let answer = match (&mut self.state, method.as_str()) {
            _ if is_cancelled => Ok(Value::Null),
            (State::New, "initialize") => self.initialize(params),
            (State::New, _) => Err((ErrorCode::ServerNotInitialized, "`initialize` comes first".to_string())),
            (State::Ready(_), "initialize") => Err((ErrorCode::InvalidRequest, "it was said already".to_string())),
            (State::Ready(_), "shutdown") => {
                self.state = State::Done;
                Ok(Value::Null)
            }
            (State::Ready(_), "mokume/settle") => Ok(Value::Null),
            (State::Ready(_), asked::ExecuteCommand::METHOD) => self.execute(&id, params)?,
            (State::Ready(session), method) => {
                session.asked = Some(id.clone());
                let answered = catch_unwind(AssertUnwindSafe(|| requests::answer(session, method, params)));
                session.asked = None;
                answered.unwrap_or_else(|_| Err((ErrorCode::InternalError, "a fault of Mokume".to_string())))
            }
            (State::Done, _) => Err((ErrorCode::InvalidRequest, "`shutdown` was said".to_string())),
        };
        let response = match answer {
            // An answer may have been cut short.
            Ok(_) if self.cancelled.has(&id) => taken_back(id),
            Err((ErrorCode::RequestFailed, _)) if self.cancelled.has(&id) => taken_back(id),
            Ok(result) => Response { id, result: Some(result), error: None },
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        Message::Response(response).write(&mut self.output)
    }

    fn initialize(&mut self, params: Value) -> requests::Answer {
        let editor: InitializeParams = requests::read(params)?;
        let mut session = Session::new(self.world, &editor);
        session.cancelled = self.cancelled.clone();
        let result = InitializeResult {
            capabilities: requests::capabilities(session.columns),
            server_info: Some(ServerInfo {
                name: "mokume".to_string(),
                version: Some(env!("CARGO_PKG_VERSION").to_string()),
            }),
            ..InitializeResult::default()
        };
        self.state = State::Ready(Box::new(session));
        requests::write(&result)
    }

    /// Asks the editor to report changes of files that are not open, if it can.
    fn initialized(&mut self) -> io::Result<()> {
        let State::Ready(session) = &self.state else { return Ok(()) };
        if !session.can.watch {
            return Ok(());
        }
        let patterns = ["**/*.mok", "**/Mokume.toml"].map(|pattern| json!({ "globPattern": pattern }));
        let watched = Registration {
            id: "mokume/files".to_string(),
            method: told::DidChangeWatchedFiles::METHOD.to_string(),
            register_options: Some(json!({ "watchers": patterns })),
        };
        self.ask::<asked::RegisterCapability>(&RegistrationParams { registrations: vec![watched] })
    }

    // ---- tests and networks ----

    /// Starts a run that the user requested; the answer only says that it started.
    fn execute(&mut self, id: &RequestId, params: Value) -> io::Result<requests::Answer> {
        let State::Ready(session) = &self.state else { return Ok(Ok(Value::Null)) };
        let asked = match requests::read(params).and_then(|params| requests::to_run(session, params)) {
            Ok(asked) => asked,
            Err(refused) => return Ok(Err(refused)),
        };
        let token = NumberOrString::String(format!("mokume/run {id}"));
        if session.can.progress {
            self.ask::<asked::WorkDoneProgressCreate>(&WorkDoneProgressCreateParams { token: token.clone() })?;
            let begin = WorkDoneProgressBegin { title: asked.title(), ..WorkDoneProgressBegin::default() };
            self.progress(&token, WorkDoneProgress::Begin(begin))?;
        }
        let (world, command, sender) = (self.world, self.command.clone(), self.sender.clone());
        std::thread::spawn(move || {
            let done = runs::carry_out(world, &command, asked);
            // The send fails only if the session has ended.
            let _ = sender.send(Heard::Ran(Box::new(Done { token: Some(token), ..done })));
        });
        Ok(Ok(Value::Null))
    }

    /// Reports the result of a run.
    fn ran(&mut self, done: Done) -> io::Result<()> {
        let State::Ready(session) = &mut self.state else { return Ok(()) };
        let can = session.can;
        if !matches!(done.asked.what, What::Network { .. }) {
            session.tested(&done.asked.file, diagnostics::of_steps(&done.failed));
        }
        if let Some(token) = done.token.filter(|_| can.progress) {
            self.progress(&token, WorkDoneProgress::End(WorkDoneProgressEnd { message: None }))?;
        }
        self.notify::<told::LogMessage>(LogMessageParams { typ: MessageType::LOG, message: done.log })?;
        let page = done.page.as_ref().and_then(Uri::from_file_path);
        let message = match &done.page {
            Some(page) if !can.show => format!("{}\nits page: {page}", done.message),
            _ => done.message,
        };
        self.notify::<told::ShowMessage>(ShowMessageParams { typ: done.severity, message })?;
        match page.filter(|_| can.show) {
            Some(uri) => self.ask::<asked::ShowDocument>(&ShowDocumentParams {
                uri,
                external: Some(true),
                take_focus: None,
                selection: None,
            }),
            None => Ok(()),
        }
    }

    fn progress(&mut self, token: &NumberOrString, value: WorkDoneProgress) -> io::Result<()> {
        let value = ProgressParamsValue::WorkDone(value);
        self.notify::<told::Progress>(ProgressParams { token: token.clone(), value })
    }

    fn notification(&mut self, told: Notification) {
        self.cancelled.forget(&told);
        let State::Ready(session) = &mut self.state else { return };
        let Notification { method, params } = told;
        match method.as_str() {
            told::DidOpenTextDocument::METHOD => with(params, |params| session.opened(params)),
            told::DidChangeTextDocument::METHOD => with(params, |params| session.changed(params)),
            told::DidCloseTextDocument::METHOD => with(params, |params| session.closed(params)),
            told::DidChangeWorkspaceFolders::METHOD => with(params, |params| session.folders_changed(params)),
            told::DidSaveTextDocument::METHOD | told::DidChangeWatchedFiles::METHOD => session.files_changed(),
            // The protocol allows ignoring all other notifications.
            _ => {}
        }
    }

    fn log(&mut self, text: &str) -> io::Result<()> {
        self.notify::<told::LogMessage>(LogMessageParams { typ: MessageType::ERROR, message: text.to_string() })
    }

    /// Sends a request; nothing depends on its answer.
    fn ask<R: asked::Request>(&mut self, params: &R::Params) -> io::Result<()> {
        self.asked += 1;
        let id = RequestId::from(format!("mokume/{}", self.asked));
        let params = serde_json::to_value(params)?;
        Message::Request(Request { id, method: R::METHOD.to_string(), params }).write(&mut self.output)
    }

    fn notify<N: told::Notification>(&mut self, params: N::Params) -> io::Result<()> {
        Message::Notification(Notification::new(N::METHOD.to_string(), params)).write(&mut self.output)
    }

    fn write_value(&mut self, value: &Value) -> io::Result<()> {
        let text = value.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.output.flush()
    }
}

fn taken_back(id: RequestId) -> Response {
    Response::new_err(id, ErrorCode::RequestCanceled as i32, "it was taken back".to_string())
}

/// Ignores parameters that do not have the form of the protocol.
fn with<P: DeserializeOwned>(params: Value, rule: impl FnOnce(P)) {
    if let Ok(params) = serde_json::from_value(params) {
        rule(params);
    }
}
