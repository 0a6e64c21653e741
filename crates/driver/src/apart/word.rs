//! What a child says, a line each.

use serde::{Deserialize, Serialize};

/// What a child says to who started it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub enum Word {
    /// A test is begun.
    Begins(Place),
    /// All C that was called has come back.
    Lives,
    /// The test that was begun has come to its end.
    Ends { passed: bool },
    /// All is done, and said.
    Last(Last),
}

/// One test on one back end; of other commands without names.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Place {
    pub test: String,
    pub file: String,
    pub line: u32,
    pub backend: String,
    /// Whether C is called: the stack's own, or functions in C.
    pub runs_c: bool,
    /// Whether functions in C are called.
    pub calls_functions: bool,
}

/// How a child ends that ends by itself.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Last {
    pub code: i32,
    /// Whether tests were run to their end: then what they came to is still to be said.
    pub is_sum_due: bool,
    /// Tests that did not run, by the words for them.
    pub left_out: Vec<(String, usize)>,
}
