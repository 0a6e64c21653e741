//! Specialised equals original, by SMT: the judge of the optimiser.
//!
//! Invariant: uses `base` and `reaction` only. The judge shares no code with the judged: its translation of bodies is its own.

pub mod judge;
pub mod level2;
pub mod solver;
pub mod symbolic;
pub mod term;
