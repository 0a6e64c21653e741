//! What can be known of a body without running it: its control flow, dependencies, frequencies and amounts.
//!
//! For the compiler: lowering, composing, optimising and back ends use it. The judges of the compiler (`prove`,
//! `explore`) do not, so that they share no mistakes with it (decision 0013). The table of operations says what an
//! operation does.
//!
//! Invariant: answers hold for every run of the body, and only for verified bodies.

mod bounds;
mod components;
mod dominators;
mod flow;
mod inline;
mod levels;
mod liveness;
mod reuse;
mod state;
mod straight;
mod weights;

pub use bounds::{Bounds, Quantity};
pub use dominators::Dominators;
pub use flow::{in_order, Blocks, Flow};
pub use inline::{flat, inlined, laid_open, run_by, run_in, take_out, Site};
pub use levels::{level, Amount, Level, Steps};
pub use liveness::Liveness;
pub use reuse::Reuse;
pub use state::State;
pub use straight::{straighten, uses, Renamed};
pub use weights::heaviest;
