//! The words that a child reports, one a line.

use serde::{Deserialize, Serialize};

/// A report of a child to its parent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub enum Word {
    /// A test has begun.
    Begins(Place),
    /// All calls of C have returned.
    Lives,
    /// The current test has ended.
    Ends { passed: bool },
    /// Everything is done and printed.
    Last(Last),
}

/// One test on one back end; without names for other commands.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Place {
    pub test: String,
    pub file: String,
    pub line: u32,
    pub backend: String,
    /// Whether C is called: a stack in C, or functions in C.
    pub runs_c: bool,
    /// Whether functions in C are called.
    pub calls_functions: bool,
}

/// How a child ends that ends by itself.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Last {
    pub code: i32,
    /// Whether tests were run to their end, so that their summary is still to be printed.
    pub is_sum_due: bool,
    /// Tests that did not run, by reason.
    pub left_out: Vec<(String, usize)>,
}
