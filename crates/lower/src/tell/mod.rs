//! What goes from a layer to its neighbours: events for the sessions and entities above and below, and messages with their
//! headers on the way down.
//!
//! Keeps: who an event is for has a handler of it, asked for here. An event for nobody, a session that has none above or
//! below it any more or not yet, is gone with its messages: the form says so (docs/automaton.md), and no layer checks.

mod down;
mod given;
mod neighbours;
mod own;
mod unsaid;

pub use down::Fields;
