//! The only door to files, time, randomness, the environment and other programs.
//!
//! Code that needs one of these takes a `&dyn World`. A test then passes a world in memory, and a run depends on its
//! world only. Paths are as the user writes them; a world returns errors as data and never panics.

mod ending;
mod memory;
mod real;

use std::io::{self, Read, Write};
use std::time::Duration;

pub use memory::{MemoryWorld, Partner, Program};
pub use real::RealWorld;

/// Another program with its arguments, to run once or to talk with.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Invocation {
    /// A program's name, which the machine looks up, or a path.
    pub command: String,
    pub args: Vec<String>,
    /// The folder to run in; our own folder if `None`.
    pub folder: Option<String>,
}

impl Invocation {
    /// A program without arguments.
    pub fn of(command: impl Into<String>) -> Invocation {
        Invocation { command: command.into(), ..Invocation::default() }
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Invocation {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the folder to run in; the paths in the arguments are relative to it.
    pub fn within(mut self, folder: impl Into<String>) -> Invocation {
        self.folder = Some(folder.into());
        self
    }
}

/// How a program ended and what it wrote.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// The exit status; `None` if a signal or the timeout ended it.
    pub status: Option<i32>,
    pub timed_out: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Output {
    /// Whether its exit status is 0.
    pub fn is_success(&self) -> bool {
        self.status == Some(0)
    }
}

/// A running program to talk with: writing goes to its input, reading comes from its output.
pub trait Running: Read + Write + Send {
    /// Closes its input and waits until it exits.
    fn finish(&mut self) -> Exit;
}

/// How a program that was talked with ended.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exit {
    /// In the machine's words: `exit status: 1`, `signal: 6 (SIGABRT)`; empty if unknown.
    pub how: String,
    /// What it wrote to its standard error.
    pub stderr: String,
}

/// All that our programs may ask of the machine they run on.
pub trait World: Sync {
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Writes a file, and makes the folders it needs.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes a folder and its parents; succeeds if the folder exists.
    fn make_folder(&self, path: &str) -> io::Result<()>;

    /// Renames a file and replaces any file of the new name. A reader sees the old or the new file, each complete.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Makes a file read-only, against writing by mistake; does nothing in a world without permissions.
    fn make_read_only(&self, _path: &str) -> io::Result<()> {
        Ok(())
    }

    /// Removes a file, or a folder with its contents.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// Whether there is a file or a folder at the path.
    fn exists(&self, path: &str) -> bool;

    fn is_folder(&self, path: &str) -> bool;

    /// The names in a folder, sorted; folders end with `/`.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// The path from the root, without links, `.` and `..`.
    fn absolute(&self, path: &str) -> io::Result<String>;

    /// The folder for temporary files.
    fn temporary(&self) -> String {
        self.environment("TMPDIR").filter(|folder| !folder.is_empty()).unwrap_or_else(|| "/tmp".into())
    }

    /// Time since the Unix epoch; only for output to people, never for what is compiled.
    fn now(&self) -> Duration;

    /// A seed that differs from run to run.
    fn seed(&self) -> u64;

    fn environment(&self, name: &str) -> Option<String>;

    /// Runs a program to its end. At the timeout, ends it and all processes that it started.
    fn run(&self, program: &Invocation, stdin: &[u8], timeout: Duration) -> io::Result<Output>;

    /// Starts a program to talk with.
    fn start(&self, program: &Invocation) -> io::Result<Box<dyn Running>>;

    /// Reads a file that must be text.
    fn read_text(&self, path: &str) -> io::Result<String> {
        text_of(self.read(path)?)
    }
}

/// The most octets of a text (docs/limits.md).
pub const MOST_OF_A_TEXT: u64 = 1 << 28;

/// The octets as a text, if they are one.
pub fn text_of(octets: Vec<u8>) -> io::Result<String> {
    String::from_utf8(octets).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
}

/// All octets of a text; fails with `FileTooLarge` if it has more than texts may have, as one without an end has.
pub fn octets_of_a_text(from: impl io::Read) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    from.take(MOST_OF_A_TEXT + 1).read_to_end(&mut octets)?;
    if octets.len() as u64 > MOST_OF_A_TEXT {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MOST_OF_A_TEXT} octets")));
    }
    Ok(octets)
}

#[cfg(test)]
mod tests;
