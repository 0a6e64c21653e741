//! Bodies as terms, and solvers that decide questions about them: what a judge of fused code will stand on.
//!
//! [`symbolic`] reads one reaction of an automaton for all states at once, [`term`] holds what it says, [`solver`] asks other
//! people's programs. No command uses it yet; its tests hold it against the interpreter.
//!
//! Invariant: uses `base` and `reaction` only. A judge shares no code with the judged: the reading of bodies is its own.

pub mod judge;
mod lemmas;
mod smtlib;
pub mod solver;
pub mod symbolic;
pub mod term;
