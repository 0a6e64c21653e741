//! The reference interpreter of the reaction automaton: its behaviour defines what a stack means.
//!
//! [`Instance`] is one running stack as a [`mokume_reaction::Machine`]. It follows the rules of docs/semantics.md to
//! the letter; if it and the page disagree, one of the two is wrong. An uncomposed automaton runs with a queue for each
//! channel (O2, O3); a composed one calls along direct channels and queues on the others (O6).
//!
//! A rule of the form, not of the language: a class that settles without a limit has the limit 1.
//!
//! Invariant: nothing that a verified automaton does panics, and no recursion depends on the length of a reaction.

mod accounts;
mod arrays;
mod cells;
mod chance;
mod core;
mod eval;
mod exits;
mod inspect;
mod instance;
mod left;
mod message;
mod messages;
mod observe;
mod ops;
mod program;
pub mod random;
mod reaction;
mod record;
mod steps;
mod store;
mod terminators;
mod trace;
mod watching;

pub use accounts::Ledger;
pub use chance::{Choice, Chosen};
pub use instance::{ways_of, Instance, REACTIONS_PER_CALL};
pub use left::{Exits, Left};
pub use message::{fold16, Message};
pub use ops::{binary, compare};
pub use program::mask;
pub use record::{Cause, Coverage, Emission, Instant, Recipient, Recording};
pub use store::CellView;
pub use watching::{Frame, Local, Moment, Observed, Observer, Part, What};
