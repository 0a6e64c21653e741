//! `cargo xtask test` and `cargo xtask campaign`: what `./test` and `./campaign` run, with the same way of counting.
//!
//! `./test` contains every kind of check, and every planted fault that shows that a check can fail: it finds whatever a
//! change may break. `./campaign` contains more of the same random tests, long runs on real interfaces, and
//! measurements. Both end with one line, `N passed, N failed, N skipped`.

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
