//! Stacks that a program builds at run time. They take the same path through the compiler as stacks in files.
//!
//! [`Graph`] says which layers stand over which; [`Graph::check`] checks it as the compiler checks a file. The checked
//! stack runs on the interpreter, or as C that is compiled at run time, behind one interface, [`Running`].
//! `docs/embedding.md` is the guide, in Rust and in C.
//!
//! Invariant: nothing about a stack is decided here. A graph becomes the equivalent source text, which is checked,
//! lowered and composed.

pub mod c_api;
mod graph;
mod running;
mod stack;
mod told;

pub use graph::{Graph, Layer};
pub use mokume_driver::machines::Backend;
pub use mokume_driver::weather::Way;
pub use mokume_driver::Failure;
pub use mokume_reaction::{Accounts, Handle};
pub use running::{Event, Running, User};
pub use stack::{Options, Refused, Stack};
pub use told::line;

/// An argument of an event: a number, an object, or a message's octets.
pub use mokume_reaction::Datum as Value;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Guide;
