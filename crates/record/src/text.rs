//! The text form: the head of a run on a line, then an event a line; a file may contain several runs.

use std::fmt;

use crate::steps::Source;
use crate::{Event, Head, Run, VERSION};

/// What cannot be read, and its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    pub line: usize,
    pub reason: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// One line of JSON, without its end.
fn line(value: &impl serde::Serialize) -> String {
    // Our data has no maps with keys other than text, the only thing that could fail.
    serde_json::to_string(value).unwrap_or_default()
}

impl Head {
    /// The line, without its line break.
    pub fn line(&self) -> String {
        line(self)
    }
}

impl Event {
    /// The line, without its line break.
    pub fn line(&self) -> String {
        line(self)
    }
}

impl Source {
    /// The line, without its line break.
    pub fn line(&self) -> String {
        line(self)
    }
}

impl Run {
    /// All lines, with line breaks.
    pub fn text(&self) -> String {
        let sources = self.sources.iter().map(Source::line);
        let events = self.events.iter().map(Event::line);
        std::iter::once(self.head.line()).chain(sources).chain(events).map(|line| line + "\n").collect()
    }
}

/// Reads the runs of a file. Runs of the previous version have all that this version requires.
pub fn read(text: &str) -> Result<Vec<Run>, Unread> {
    let mut runs: Vec<Run> = Vec::new();
    let is_cut = !text.ends_with('\n');
    let count = text.lines().count();
    for (place, one) in text.lines().enumerate().filter(|(_, one)| !one.trim().is_empty()) {
        let wrong = |reason: String| Unread { line: place + 1, reason };
        let unread = |error: serde_json::Error| match error.is_eof() && is_cut && place + 1 == count {
            true => wrong("the record is cut off: its last line is not whole".to_string()),
            false => wrong(reason(&error)),
        };
        let object: serde_json::Value = serde_json::from_str(one).map_err(unread)?;
        if let Some(version) = object.get("record").map(|version| version.as_u64()) {
            if !version.is_some_and(|version| (FIRST..=VERSION).any(|known| version == u64::from(known))) {
                let version = version.map_or("no number".to_string(), |version| version.to_string());
                let known = format!("this program reads {FIRST} to {VERSION}");
                return Err(wrong(format!("the record has version {version}, and {known}")));
            }
            let head = serde_json::from_value(object).map_err(unread)?;
            runs.push(Run { head, sources: Vec::new(), events: Vec::new() });
            continue;
        }
        let run = runs.last_mut().ok_or_else(|| wrong("a record begins with its head".to_string()))?;
        match object.get("source").is_some() {
            true => run.sources.push(serde_json::from_value(object).map_err(unread)?),
            false => run.events.push(serde_json::from_value(object).map_err(unread)?),
        }
    }
    Ok(runs)
}

/// The oldest version that can be read.
const FIRST: u32 = 1;

/// Why a line is not valid, without its number, which the reader knows.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line 1 column ") {
        Some((reason, column)) => format!("{reason}, at column {column}"),
        None => text,
    }
}
