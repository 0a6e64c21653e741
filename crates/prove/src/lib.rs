//! Bodies as terms, solvers that decide questions about them, and the judge of paths that stands on both.
//!
//! [`symbolic`] reads one reaction of an automaton for all states at once, [`term`] holds what it says, [`solver`] asks other
//! people's programs, [`judge`] compares a path with the layers. Its tests hold the reading against the interpreter.
//!
//! Invariant: uses `base` and `reaction` only. A judge shares no code with the judged: the reading of bodies is its own.

pub mod judge;
mod lemmas;
mod smtlib;
pub mod solver;
pub mod symbolic;
pub mod term;
