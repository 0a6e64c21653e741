//! What can be known of a body without running it: the ways through it, what depends on what, how often, how much.
//!
//! For the compiler: who lowers, composes, optimises or translates asks here, once. Who judges the compiler (`prove`,
//! `explore`) does not: it finds out by itself (decision 0013). What an operation does is in the table of operations.
//!
//! Invariant: answers hold for every run of the body, and only of verified bodies.

mod bounds;
mod components;
mod dominators;
mod flow;
mod inline;
mod levels;
mod liveness;
mod reuse;
mod straight;
mod weights;

pub use bounds::{Bounds, Quantity};
pub use dominators::Dominators;
pub use flow::{in_order, Blocks, Flow};
pub use inline::{flat, inlined, laid_open, run_by, run_in, take_out, Site};
pub use levels::{level, Amount, Level, Steps};
pub use liveness::Liveness;
pub use reuse::Reuse;
pub use straight::{straighten, uses};
pub use weights::heaviest;
