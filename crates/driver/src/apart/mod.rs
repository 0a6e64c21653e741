//! Starts the command again, as a process that may die: C runs there, and the parent survives to say what happened
//! (decision 0078).
//!
//! Invariant: a child that ended without a last word has failed, whatever its exit code.

mod child;
mod inside;
mod parent;
mod word;

pub use child::Told;
pub use inside::Seen;
pub use parent::{again, ourselves, without, Again, Ended, How, Signals, Streams};
pub use word::{Last, Place, Word};

use mokume_base::diagnostic::Code;

/// C terminated the process that ran it, or did not return.
pub const ENDED: Code = Code("M0346");

/// The codes of this room.
pub const CODES: &[Code] = &[ENDED];

/// What did not return when this test was run.
pub fn who(place: &Place) -> &'static str {
    match (place.runs_c, place.calls_functions) {
        (_, true) => "a function in C, or what it left behind, ended the process that ran this test",
        (true, false) => "the stack in C ended the process that ran this test, or did not come back",
        (false, false) => "the process that ran this test was ended, or did not come back",
    }
}

/// How a command ends that panics.
const PANICKED: i32 = 101;

/// The help for that.
pub fn look_at(how: How, calls_functions: bool) -> &'static str {
    if how == How::Exit(PANICKED) {
        "the command itself has failed, as it says above: please report this, with the file"
    } else if matches!(how, How::NoAnswer(_)) && !calls_functions {
        "a step of the test did not end: look at the loops of its handlers, at `settle` that says `again`, and at events that go on by `later`; \
         `--patience 10min` waits longer for one that takes long on purpose"
    } else if matches!(how, How::NoAnswer(_)) {
        "look at the loops of the functions in C: one must return; `--patience 10min` waits longer for one that takes long on purpose"
    } else if calls_functions {
        "look at the functions in C: one must return, and touch nothing beyond its message; `--backend interpreter` calls them alone, and \
         `mokume build` writes them with the stack, for a debugger or `-fsanitize=address`"
    } else {
        "no function in C is in it: please report this, with the file"
    }
}

impl Ended {
    /// Whether it ended like a process whose reader has closed the pipe.
    pub fn is_by_closed_pipe(&self) -> bool {
        self.how == How::Signal(libc::SIGPIPE)
    }

    /// The exit code, if a signal asked it to end.
    pub fn asked_to_end(&self) -> Option<i32> {
        match self.how {
            How::Signal(signal) if [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].contains(&signal) => Some(128 + signal),
            How::Signal(_) | How::Exit(_) | How::NoAnswer(_) => None,
        }
    }
}
