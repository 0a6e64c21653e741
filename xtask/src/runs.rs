//! `cargo xtask test` and `cargo xtask campaign`: what `./test` and `./campaign` run, with one way to count.
//!
//! `./test` holds every kind of check, and every planted fault that shows that a check can fail: whatever a change can
//! break shows there. `./campaign` holds more of the same random numbers, long runs on real interfaces, and measurements.
//! Both end with one line, `N passed, N failed, N skipped`.

mod campaign;
mod command;
mod count;
mod libtest;
mod lines;
mod test;

use std::process::ExitCode;

pub use campaign::{campaign, names};
use count::Counter;
pub use test::test;

/// Prints the last line; success if nothing failed.
fn ended(counter: &Counter) -> ExitCode {
    println!("{}", counter.total());
    if counter.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
