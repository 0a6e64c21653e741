//! The facade that all shells call: load, check, lower, run, simulate, draw, explain.
//!
//! Invariant: nothing below this crate touches a file, a clock, a device or a process except through the doors that it
//! is given.

pub mod about;
pub mod apart;
mod backend;
mod cache;
pub mod check;
mod chosen;
pub mod compile;
pub mod debug;
pub mod devices;
pub mod dissect;
pub mod doctor;
pub mod explain;
pub mod failure;
pub mod fmt;
pub mod follow;
pub mod library;
mod lines;
pub mod live;
pub mod machines;
pub mod natives;
pub mod new;
mod output;
mod own_packets;
mod parts;
pub mod path;
pub mod path_page;
mod places;
pub mod profile;
pub mod project;
pub mod prove;
pub mod record;
pub mod run;
pub mod settings;
mod shapes;
pub mod shelf;
pub mod sim;
pub mod streams;
pub mod test;
mod unreached;
pub mod usual;
pub mod weather;
pub mod written;

pub use failure::{Blame, Failure};
pub use output::{keep_closed_output_closed, takes_output};

pub mod build;
pub mod graph;
pub mod size;

pub use mokume_reaction::{border::plain_name, Report};
pub use mokume_semantics::program::StackId;

/// Lets a closed pipe end the program as it ends other programs, instead of making a print fail.
pub fn quiet_on_closed_pipe() {
    // SAFETY: sets a signal's disposition before any thread is started.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// Ends the program as a closed pipe ends others; for commands that held the signal back to finish something.
pub fn end_by_closed_pipe() -> ! {
    quiet_on_closed_pipe();
    // SAFETY: sends a signal to this process, which ends by it. If the parent had the signal ignored, the process
    // exits.
    unsafe {
        libc::raise(libc::SIGPIPE);
        libc::_exit(128 + libc::SIGPIPE)
    }
}
