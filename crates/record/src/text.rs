//! The text form: the head of a run on a line, then an event a line; a file may hold several runs.

use std::fmt;

use crate::{Event, Head, Run, VERSION};

/// What cannot be read, and on which line of the text.
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
    // Data of ours has no maps with keys that are no text, which alone could fail.
    serde_json::to_string(value).unwrap_or_default()
}

impl Head {
    /// Its line, without the end.
    pub fn line(&self) -> String {
        line(self)
    }
}

impl Event {
    /// Its line, without the end.
    pub fn line(&self) -> String {
        line(self)
    }
}

impl Run {
    /// All lines, each with its end.
    pub fn text(&self) -> String {
        let events = self.events.iter().map(Event::line);
        std::iter::once(self.head.line()).chain(events).map(|line| line + "\n").collect()
    }
}

/// The runs of a file.
pub fn read(text: &str) -> Result<Vec<Run>, Unread> {
    let mut runs: Vec<Run> = Vec::new();
    for (place, one) in text.lines().enumerate().filter(|(_, one)| !one.trim().is_empty()) {
        let wrong = |reason: String| Unread { line: place + 1, reason };
        let object: serde_json::Value = serde_json::from_str(one).map_err(|error| wrong(error.to_string()))?;
        match object.get("record").map(|version| version.as_u64()) {
            Some(Some(version)) if version == u64::from(VERSION) => {
                let head = serde_json::from_value(object).map_err(|error| wrong(error.to_string()))?;
                runs.push(Run { head, events: Vec::new() });
            }
            Some(version) => {
                let version = version.map_or("no number".to_string(), |version| version.to_string());
                return Err(wrong(format!("the record has version {version}, and this program reads {VERSION}")));
            }
            None => {
                let run = runs.last_mut().ok_or_else(|| wrong("a record begins with its head".to_string()))?;
                run.events.push(serde_json::from_value(object).map_err(|error| wrong(error.to_string()))?);
            }
        }
    }
    Ok(runs)
}
