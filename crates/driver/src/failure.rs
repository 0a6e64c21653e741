//! Failures that end a command early: a line about what is wrong, a line about what to do, and the exit code.

use std::fmt;
use std::io;
use std::path::Path;

use mokume_base::world::World;

/// The cause of a failure: the program or its tests are wrong (exit 1), the command was misused or cannot run here
/// (exit 2), something that it needs is not on this machine (exit 2), or the other end of a stream broke it (exit 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    Program,
    Use,
    Machine,
    Peer,
}

/// What is wrong, and what to do about it; one line each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub blame: Blame,
    pub message: String,
    pub help: String,
}

impl Failure {
    /// The command was misused, or cannot run here: exit 2.
    pub fn of_use(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { blame: Blame::Use, message: message.into(), help: help.into() }
    }

    /// Something could not be written. `what` says what, with its name: "record `run.jsonl`"; `name` is where. The help says
    /// which of the usual causes it was.
    pub fn of_writing(world: &dyn World, what: &str, name: &str, error: &io::Error) -> Self {
        Failure::of_use(format!("cannot write {what}: {error}"), way_to_write(world, name, error))
    }

    /// Fails if the folder of a file to write is not there: it is misspelt more often than wanted.
    pub fn without_folder(world: &dyn World, name: &str) -> Result<(), Failure> {
        let folder = Path::new(name).parent().map(|folder| folder.to_string_lossy()).unwrap_or_default();
        // What stands in the way is told by who cannot write.
        let mut above = Path::new(name).ancestors().skip(1).map(|folder| folder.to_string_lossy());
        let is_barred = above.find(|at| world.exists(at)).is_some_and(|at| !world.is_folder(&at));
        if folder.is_empty() || world.exists(&folder) || is_barred {
            return Ok(());
        }
        Err(Failure::of_use(
            format!("cannot write `{name}`: there is no folder `{folder}`"),
            "make it first, or name another",
        ))
    }

    /// A required tool is not installed: exit 2.
    pub fn of_machine(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { blame: Blame::Machine, message: message.into(), help: help.into() }
    }

    /// The program or its tests are wrong: exit 1.
    pub fn of_program(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { blame: Blame::Program, message: message.into(), help: help.into() }
    }

    /// The peer or the network failed: exit 1. Nothing can be done about it here.
    pub fn of_peer(message: impl Into<String>) -> Self {
        Failure { blame: Blame::Peer, message: message.into(), help: String::new() }
    }

    /// 2 if the use or the machine is the cause, else 1.
    pub fn exit_code(&self) -> i32 {
        match self.blame {
            Blame::Program | Blame::Peer => 1,
            Blame::Use | Blame::Machine => 2,
        }
    }
}

/// What to do so that a file of this name can be written.
fn way_to_write(world: &dyn World, name: &str, error: &io::Error) -> String {
    use io::ErrorKind::*;
    let folders = Path::new(name).ancestors().skip(1).map(|folder| folder.to_string_lossy().into_owned());
    let nearest =
        folders.map(|folder| if folder.is_empty() { ".".to_owned() } else { folder }).find(|at| world.exists(at));
    let nearest = nearest.unwrap_or_else(|| ".".to_owned());
    if world.is_folder(name) {
        return "this is a folder: name a file".to_owned();
    }
    if !world.is_folder(&nearest) {
        return format!("`{nearest}` is a file: name a folder, or remove the file");
    }
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "is there room where it goes?".to_owned(),
        PermissionDenied if world.exists(name) => "you may not write this file: name another".to_owned(),
        PermissionDenied | ReadOnlyFilesystem => format!("you may not write in `{nearest}`: name another place"),
        _ => format!("can something be written in `{nearest}`?"),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
