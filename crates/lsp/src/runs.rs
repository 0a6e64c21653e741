//! Tests and networks that an editor can run: finds them in a text, and reports the result of a run.
//!
//! Keeps: the command itself runs them, in a separate process, on the saved files; nothing runs unrequested.

use std::ops::Range;
use std::time::Duration;

use ls_types::{CodeLens, Command, MessageType, NumberOrString, Uri};
use mokume_base::world::{Invocation, World};
use mokume_base::FileId;
use mokume_syntax::{SyntaxKind, SyntaxNode};
use serde_json::{json, Value};

use crate::outline;
use crate::text::Lines;

/// Runs one test of a file, or all. Arguments: the file's address, and the test's name.
pub const TEST: &str = "mokume.test";
/// Runs a network of a file, and shows its page. Arguments: the file's address, and the network's name.
pub const SIMULATE: &str = "mokume.simulate";
/// The kind of these code actions.
pub const KIND: &str = "mokume.run";

/// The time limit of a run; the command gives up earlier on a step that hangs.
const PATIENCE: Duration = Duration::from_secs(600);
/// The most characters of a difference shown beside the text; the log has all of it.
const MOST_SHOWN: usize = 2000;

/// A requested run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The file's address, as the editor writes it, and its path.
    pub uri: Uri,
    pub file: String,
    pub what: What,
}

/// What to run of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    Test(String),
    Tests,
    /// With the path of its page.
    Network {
        name: String,
        page: String,
    },
}

impl Asked {
    /// What an editor shows during the run.
    pub fn title(&self) -> String {
        match &self.what {
            What::Test(name) => format!("test \"{name}\""),
            What::Tests => "all tests of the file".to_string(),
            What::Network { name, .. } => format!("network {name}"),
        }
    }

    /// The arguments of the command.
    fn words(&self) -> Vec<&str> {
        match &self.what {
            What::Test(name) => vec!["test", &self.file, "--format", "json", "--filter", name],
            What::Tests => vec!["test", &self.file, "--format", "json"],
            What::Network { name, page } => vec!["sim", &self.file, "--network", name, "--html", page],
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Done {
    pub asked: Asked,
    pub severity: MessageType,
    /// The result in one line, or a few.
    pub message: String,
    /// All output.
    pub log: String,
    /// For tests: the lines of the failed steps, from 1, and the reasons.
    pub failed: Vec<(u32, String)>,
    /// The page of the run, if there is one.
    pub page: Option<String>,
    /// The token of the editor's progress display.
    pub token: Option<NumberOrString>,
}

impl Done {
    fn of(asked: Asked, message: String, log: String) -> Done {
        Done { asked, severity: MessageType::INFO, message, log, failed: Vec::new(), page: None, token: None }
    }
}

// ---- what there is to run ----

/// A test or a network in a text: its place, and the command that runs it.
struct Runnable {
    octets: Range<usize>,
    command: Command,
}

fn runnable(text: &str, uri: &Uri) -> Vec<Runnable> {
    let root = mokume_syntax::parse(FileId(0), text).syntax();
    let mut found = Vec::new();
    let mut add = |node: &SyntaxNode, title: &str, command: &str, name: Option<String>| {
        let Some(first) = outline::first_word(node) else { return };
        let octets = usize::from(first)..usize::from(node.text_range().end());
        let mut arguments = vec![json!(uri)];
        arguments.extend(name.map(Value::String));
        let command = Command { title: title.to_string(), command: command.to_string(), arguments: Some(arguments) };
        found.push(Runnable { octets, command });
    };
    let of = |kind| move |node: &SyntaxNode| node.kind() == kind;
    let tests: Vec<SyntaxNode> = root.children().filter(of(SyntaxKind::TEST)).collect();
    if let Some(first) = tests.first().filter(|_| tests.len() > 1) {
        add(first, "▶ run all tests", TEST, None);
    }
    for test in &tests {
        let title = test.children_with_tokens().find(|part| part.kind() == SyntaxKind::STRING);
        if let Some(title) = title.map(|title| title.to_string().trim_matches('"').to_string()) {
            add(test, "▶ run this test", TEST, Some(title));
        }
    }
    for network in root.children().filter(of(SyntaxKind::NETWORK)) {
        if let Some(name) = network.children().find(of(SyntaxKind::NAME)) {
            add(&network, "▶ simulate", SIMULATE, Some(name.text().to_string()));
        }
    }
    found
}

/// A code lens over each test and each network of a text.
pub fn lenses(text: &str, lines: &Lines<'_>, uri: &Uri) -> Vec<CodeLens> {
    let lens = |found: Runnable| {
        let at = lines.position(found.octets.start);
        CodeLens { range: ls_types::Range::new(at, at), command: Some(found.command), data: None }
    };
    runnable(text, uri).into_iter().map(lens).collect()
}

/// The commands for the test or network around a place, for editors without code lenses.
pub fn around(text: &str, uri: &Uri, asked: &Range<usize>) -> Vec<Command> {
    let is_around = |found: &Runnable| found.octets.start <= asked.start && asked.end <= found.octets.end;
    let found = runnable(text, uri).into_iter().filter(is_around).map(|found| found.command);
    found.map(|command| Command { title: command.title.trim_start_matches("▶ ").to_string(), ..command }).collect()
}

// ---- running it ----

/// Runs it to its end. `command` is the path of our own program.
pub fn carry_out(world: &dyn World, command: &str, asked: Asked) -> Done {
    let words = asked.words();
    let invocation = Invocation::of(command).args(words);
    let ran = match world.run(&invocation, &[], PATIENCE) {
        Ok(ran) => ran,
        Err(error) => {
            let message = format!("{} cannot be run: {error}", asked.title());
            let log = message.clone();
            return Done { severity: MessageType::ERROR, ..Done::of(asked, message, log) };
        }
    };
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let log = format!("mokume {}\n{out}{err}", asked.words().join(" "));
    let is_good = ran.is_success();
    let mut done = Done::of(asked, String::new(), log);
    match &done.asked.what {
        What::Test(_) | What::Tests => of_tests(&mut done, &out),
        What::Network { page, .. } => {
            done.page = world.exists(page).then(|| page.clone());
            done.message = match is_good {
                true => format!("{}: nothing went wrong", done.asked.title()),
                false => format!("{} went wrong:\n{}", done.asked.title(), cut(err.trim())),
            };
        }
    }
    if !is_good {
        done.severity = MessageType::ERROR;
        if done.message.is_empty() {
            done.message = format!("{} could not be run:\n{}", done.asked.title(), cut(err.trim()));
        }
    }
    done
}

/// Reads the command's output about tests, one object a line.
fn of_tests(done: &mut Done, out: &str) {
    let (mut passed, mut failed) = (0, 0);
    for said in out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let Some(error) = said["error"].as_str() {
            let help = said["help"].as_str().map_or(String::new(), |help| format!("\nhelp: {help}"));
            done.message = format!("{}: {error}{help}", done.asked.title());
            return;
        }
        // A filter also matches longer names that contain this one.
        let is_other = matches!(&done.asked.what, What::Test(name) if said["test"].as_str() != Some(name));
        let Some(is_good) = said["passed"].as_bool().filter(|_| !is_other) else { continue };
        if is_good {
            passed += 1;
            continue;
        }
        failed += 1;
        let by = if said["backend"] == "C" { "in C" } else { "on the interpreter" };
        for difference in said["differences"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let line = line_of(difference).or(said["line"].as_u64().map(|line| line as u32)).unwrap_or(1);
            let plain = difference.split_once(":\n").map_or(difference, |(_, plain)| plain);
            let found = (line, format!("{by}: {}", cut(plain.trim())));
            if !done.failed.contains(&found) {
                done.failed.push(found);
            }
        }
    }
    done.message = match (passed, failed) {
        (0, 0) => String::new(),
        (_, 0) => format!("{}: {passed} passed", done.asked.title()),
        _ => format!("{}: {passed} passed, {failed} failed", done.asked.title()),
    };
}

/// The line of the step in a difference: `… step 1 (line 284): …`.
fn line_of(difference: &str) -> Option<u32> {
    let (_, behind) = difference.lines().next()?.rsplit_once("(line ")?;
    behind.split(')').next()?.parse().ok()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
