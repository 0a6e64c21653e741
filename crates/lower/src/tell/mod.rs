//! What a layer sends to its neighbours: events for the sessions and entities above and below, and messages with their
//! headers on the way down.
//!
//! Keeps: the receiver of an event has a handler for it, requested here. An event for a session that does not exist
//! (yet or any more) is gone with its messages: the form defines that (docs/automaton.md), and no layer checks it.

mod down;
mod given;
mod neighbours;
mod own;
mod unsaid;

pub use down::Fields;
