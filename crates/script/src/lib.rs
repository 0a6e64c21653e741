//! The steps of tests and networks as data: what goes into a stack and what must come out.
//!
//! `test` blocks of the language and run files become a [`Script`]; [`run`] plays it on any
//! [`mokume_reaction::Machine`] and returns the differences as data. A network's inputs and outputs are [`Call`]s.
//!
//! Invariant: knows machines by the trait only, so every back end is judged in the same way.

mod call;
mod difference;
mod likeness;
mod names;
mod octets;
mod packets;
mod play;
mod script;
mod shape;
mod written;

pub use call::datum;
pub use difference::{Failure, FailureKind};
pub use likeness::Likeness;
pub use names::Names;
pub use octets::octets_of_list;
pub use packets::why;
pub use play::{beside, is_meant, judge, parameters, run, total};
pub use script::*;
pub use shape::{braced, chosen, Alternative, Shape};
pub use written::{is_named, is_value, scalar, short_name, values_of, CellForms, ListForm, PortEvent, Written};
