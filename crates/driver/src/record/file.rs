//! Record files: written line by line while something runs, read as a whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

use mokume_base::world::{text_of, World};
use mokume_record::steps::Source;
use mokume_record::{Event, Head, Run};

use crate::failure::Failure;

/// A record that is written during a run: at any moment the file contains complete lines only, however the run ends.
pub struct Lines {
    name: String,
    file: File,
    /// Octets of the file that are complete lines.
    kept: u64,
    /// The error that lost something.
    lost: Option<Failure>,
    /// Whether steps of layers are recorded, too.
    has_steps: bool,
}

impl Lines {
    /// Opens a record, replacing an existing one; `is_more`: appends to it.
    pub fn open(world: &dyn World, name: &str, is_more: bool) -> Result<Lines, Failure> {
        let wrong = |error: std::io::Error| Failure::of_writing(world, &format!("record `{name}`"), name, &error);
        if !is_more {
            Failure::without_folder(world, name)?;
            world.write(name, &[]).map_err(wrong)?;
        }
        let file = OpenOptions::new().append(true).create(true).open(name).map_err(wrong)?;
        let kept = file.metadata().map_err(wrong)?.len();
        Ok(Lines { name: name.to_string(), file, kept, lost: None, has_steps: false })
    }

    /// Enables the recording of steps of layers.
    pub fn with_steps(mut self, has_steps: bool) -> Lines {
        self.has_steps = has_steps;
        self
    }

    /// Whether steps of layers are recorded, too.
    pub fn has_steps(&self) -> bool {
        self.has_steps
    }

    /// Writes the head of a run.
    pub fn head(&mut self, head: &Head) {
        self.line(head.line());
    }

    /// Writes the source files that the following events refer to.
    pub fn sources(&mut self, sources: &[Source]) {
        sources.iter().for_each(|source| self.line(source.line()));
    }

    /// Writes an event. [`Lines::settle`] reports write errors.
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
                // Fails for a pipe or a device, where nothing can be cut off.
                let _ = self.file.set_len(self.kept);
                let message = format!("cannot write record `{}`: {error}", self.name);
                self.lost = Some(Failure::of_use(message, "is the disk full, or the reader gone?"));
            }
        }
    }

    /// Fails if something could not be written.
    pub fn settle(&self) -> Result<(), Failure> {
        self.lost.clone().map_or(Ok(()), Err)
    }
}

/// The runs of a record; `-` is the standard input.
pub fn read(world: &dyn World, name: &str) -> Result<Vec<Run>, Failure> {
    // A record may have more octets than a source.
    let mut piped = Vec::new();
    let octets = match name {
        "-" => io::stdin().read_to_end(&mut piped).map(|_| piped),
        name => world.read(name),
    };
    let text = octets.and_then(text_of).map_err(|error| {
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
