//! Records as files: written line by line while something runs, read whole.

use std::fs::{File, OpenOptions};
use std::io::Write;

use mokume_base::world::World;
use mokume_record::steps::Source;
use mokume_record::{Event, Head, Run};

use crate::failure::Failure;

/// A record that is written while something runs: what is in the file are whole lines at any moment, however the run ends.
pub struct Lines {
    name: String,
    file: File,
    /// Octets of the file that are whole lines.
    kept: u64,
    /// Why something is not in the file.
    lost: Option<Failure>,
    /// Whether what layers do is written down, too.
    has_steps: bool,
}

impl Lines {
    /// A new record of that name, over one that is there; `is_more`: behind what is there.
    pub fn open(world: &dyn World, name: &str, is_more: bool) -> Result<Lines, Failure> {
        let wrong = |error: std::io::Error| {
            Failure::of_use(format!("cannot write record `{name}`: {error}"), "is the folder there and writable?")
        };
        if !is_more {
            // Makes the folders on the way, too.
            world.write(name, &[]).map_err(wrong)?;
        }
        let file = OpenOptions::new().append(true).create(true).open(name).map_err(wrong)?;
        let kept = file.metadata().map_err(wrong)?.len();
        Ok(Lines { name: name.to_string(), file, kept, lost: None, has_steps: false })
    }

    /// The same, with what layers do, step by step.
    pub fn with_steps(mut self, has_steps: bool) -> Lines {
        self.has_steps = has_steps;
        self
    }

    /// Whether what layers do is written down, too.
    pub fn has_steps(&self) -> bool {
        self.has_steps
    }

    /// A run begins.
    pub fn head(&mut self, head: &Head) {
        self.line(head.line());
    }

    /// Files that the events behind this name.
    pub fn sources(&mut self, sources: &[Source]) {
        sources.iter().for_each(|source| self.line(source.line()));
    }

    /// Something happened. What cannot be written is said by [`Lines::settle`].
    pub fn event(&mut self, event: &Event) {
        self.line(event.line());
    }

    fn line(&mut self, mut line: String) {
        if self.lost.is_some() {
            return;
        }
        line.push('\n');
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => self.kept += line.len() as u64,
            Err(error) => {
                // Not of a pipe or a device; there is nothing to be cut off.
                let _ = self.file.set_len(self.kept);
                let message = format!("cannot write record `{}`: {error}", self.name);
                self.lost = Some(Failure::of_use(message, "is the disk full, or the reader gone?"));
            }
        }
    }

    /// A failure if something is not in the file.
    pub fn settle(&self) -> Result<(), Failure> {
        self.lost.clone().map_or(Ok(()), Err)
    }
}

/// The runs of a record.
pub fn read(world: &dyn World, name: &str) -> Result<Vec<Run>, Failure> {
    let text = world.read_text(name).map_err(|error| {
        Failure::of_use(format!("cannot read `{name}`: {error}"), "name a file that `--record` has written")
    })?;
    let runs = mokume_record::read(&text).map_err(|wrong| {
        let help = "is it what `--record` of this version of `mokume` has written?";
        Failure::of_use(format!("`{name}` is no record: {wrong}"), help)
    })?;
    match runs.is_empty() {
        true => Err(Failure::of_use(format!("`{name}` holds no run"), "name a file that `--record` has written")),
        false => Ok(runs),
    }
}
