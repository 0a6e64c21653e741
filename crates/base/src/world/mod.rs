//! The one door to files, time, randomness, the environment and other programs.
//!
//! Whoever needs one of these takes a `&dyn World`; so a test gives a world in memory, and a run is a function of its
//! world. Paths are as the user writes them; a world answers with errors as data and never panics.

mod memory;
mod real;

use std::io::{self, Read, Write};
use std::time::Duration;

pub use memory::{MemoryWorld, Partner, Program};
pub use real::RealWorld;

/// Another program with its arguments, to be run once or talked with.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Invocation {
    /// A name that the machine looks for, or a path.
    pub command: String,
    pub args: Vec<String>,
    /// Where it runs; our own folder if it is `None`.
    pub folder: Option<String>,
}

impl Invocation {
    /// A program without arguments.
    pub fn of(command: impl Into<String>) -> Invocation {
        Invocation { command: command.into(), ..Invocation::default() }
    }

    /// With more arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Invocation {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// In a folder, from which the paths in its arguments count.
    pub fn within(mut self, folder: impl Into<String>) -> Invocation {
        self.folder = Some(folder.into());
        self
    }
}

/// How a program ended and what it wrote.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Output {
    /// `None` when it was ended by a signal or by the timeout.
    pub status: Option<i32>,
    pub timed_out: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Output {
    /// It said that all is well.
    pub fn is_success(&self) -> bool {
        self.status == Some(0)
    }
}

/// A program that runs, and is talked with: what is written is its input, what is read its output.
pub trait Running: Read + Write + Send {
    /// Closes its input and waits for its end.
    fn finish(&mut self) -> Exit;
}

/// How a program exited that was talked with.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exit {
    /// In the machine's words: `exit status: 1`, `signal: 6 (SIGABRT)`; empty if it does not know.
    pub how: String,
    /// What it wrote to its standard error.
    pub stderr: String,
}

/// What a program of ours may want of the machine that it runs on.
pub trait World: Sync {
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// Writes a file, and the folders it needs.
    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes a folder and those around it; one that is there is good.
    fn make_folder(&self, path: &str) -> io::Result<()>;

    /// Gives a file another name, in place of what has it: whoever reads sees the one or the other, whole.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Lets nobody write a file any more by mistake; a world that knows no such thing leaves it as it is.
    fn make_read_only(&self, _path: &str) -> io::Result<()> {
        Ok(())
    }

    /// Removes a file, or a folder with all that is in it.
    fn remove(&self, path: &str) -> io::Result<()>;

    /// A file or a folder.
    fn exists(&self, path: &str) -> bool;

    fn is_folder(&self, path: &str) -> bool;

    /// The names in a folder, sorted; folders end with `/`.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// The path from the root, without links, `.` and `..`.
    fn absolute(&self, path: &str) -> io::Result<String>;

    /// The folder for what need not last.
    fn temporary(&self) -> String {
        self.environment("TMPDIR").filter(|folder| !folder.is_empty()).unwrap_or_else(|| "/tmp".into())
    }

    /// Since the epoch of Unix; only for what people read, never for what is compiled.
    fn now(&self) -> Duration;

    /// A seed that differs from run to run.
    fn seed(&self) -> u64;

    fn environment(&self, name: &str) -> Option<String>;

    /// Runs a program to its end, or ends it, with all that it started, at the timeout.
    fn run(&self, program: &Invocation, stdin: &[u8], timeout: Duration) -> io::Result<Output>;

    /// Starts a program to talk with.
    fn start(&self, program: &Invocation) -> io::Result<Box<dyn Running>>;

    /// A file that must be text.
    fn read_text(&self, path: &str) -> io::Result<String> {
        String::from_utf8(self.read(path)?)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
    }
}

#[cfg(test)]
mod tests;
