//! The reference interpreter of the reaction automaton: what it does is what a stack means.
//!
//! [`Instance`] is one running stack behind [`mokume_reaction::Machine`]. An uncomposed automaton is run by the agenda
//! of the design, section 2, "Order"; a composed one calls along direct channels and queues on the others.
//!
//! What the design leaves to be decided, decided here for every back end:
//! - A timer's reaction happens at its deadline: `now` is the deadline, or the last `now` if that is later. So polling
//!   is not an input. Due timers run by deadline, then class and cell as declared, then the age of the object.
//!   Deadlines round up to the tick; beyond the end of time, down.
//! - After a reaction: first continuations, then `later` events, each a reaction, until none is left. A call does at
//!   most [`REACTIONS_PER_CALL`] reactions; what is left then is due at once ([`Machine::next_deadline`]).
//! - An object asks `again` in its own settle instant; asked elsewhere, the object is dirty from then on. `again` wins
//!   over a place further back in the queue of the dirty. A class that settles without a limit has the limit 1.
//! - `out` is an emission like the others: outputs of a layer at a port are a channel.
//! - An object that has ended keeps its place until the end of the reaction: it counts for the capacity, its cells can
//!   be read and written, and nothing can be made in it. A reference to an object that was freed reads zeros and
//!   writes nothing; an event for it is dropped as gone. An event for `null` is dropped as gone, too.
//! - The place of a new object is the lowest free one; a place's generation is the number of objects it held before.
//! - An object's random stream is SplitMix64; see [`random`].
//! - The second part of a split message has no headers. What a decoder met is remembered when it accepts.
//! - An index beyond a place of messages is reported; the message to be kept is dropped as gone.
//! - The minimum and the maximum of `seqN` are circular, and its `+ - *` never report.
//!
//! Invariant: nothing that a verified automaton does panics, and no recursion depends on the length of a reaction.
//!
//! [`Machine::next_deadline`]: mokume_reaction::Machine::next_deadline

mod accounts;
mod core;
mod ends;
mod eval;
mod inspect;
mod instance;
mod message;
mod ops;
mod program;
pub mod random;
mod reaction;
mod record;
mod store;

pub use accounts::Ledger;
pub use inspect::CellView;
pub use instance::{Instance, REACTIONS_PER_CALL};
pub use message::Message;
pub use record::{Cause, Coverage, Emission, Instant, Recipient, Recording};
