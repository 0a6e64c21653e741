//! What ends a command early: one line that says what is wrong, one that says what to do, and the exit code.

use std::fmt;

/// The program or its tests are wrong (exit 1), or the command was used wrongly or cannot run here (exit 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    Program,
    Use,
}

/// What is wrong, and what to do about it; one line each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub blame: Blame,
    pub message: String,
    pub help: String,
}

impl Failure {
    /// The command was used wrongly, or cannot run here: exit 2.
    pub fn of_use(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { blame: Blame::Use, message: message.into(), help: help.into() }
    }

    /// The program or its tests are wrong: exit 1.
    pub fn of_program(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure { blame: Blame::Program, message: message.into(), help: help.into() }
    }

    /// 1 where the program is to blame, 2 where the use is.
    pub fn exit_code(&self) -> i32 {
        match self.blame {
            Blame::Program => 1,
            Blame::Use => 2,
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
