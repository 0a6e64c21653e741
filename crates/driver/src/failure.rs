//! Failures that end a command early: a line about what is wrong, a line about what to do, and the exit code.

use std::fmt;

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
