//! Explicit-state exploration of reaction automata in closed worlds.
//!
//! A world ([`World`]) is N hosts of one automaton, a network, an application on each host, and a rule for timers.
//! [`explore`] visits every state of it, breadth first, and returns verdicts ([`Outcome`]). Each verdict names its
//! world and its strength, and a violation has a shortest trace, as steps and as a chart.
//!
//! Method: a host's reaction depends only on its own state and the event, so reactions are compiled on demand into a
//! table ([`locals`]). The search looks them up, and keeps packed states in an exact set ([`store`]).
//!
//! Invariant: knows no protocol; exact (two states are never distinguished by a hash alone).

mod arrays;
mod attempts;
mod cells;
mod channels;
mod host;
mod layout;
mod lives;
mod locals;
mod message;
mod messages;
mod moves;
mod operate;
mod outcome;
mod packets;
mod program;
mod react;
mod replay;
mod search;
mod store;
mod trace;
mod words;
mod world;

pub use outcome::{Finding, Outcome, Property, Strength, Verdict, Violation};
pub use replay::Replay;
pub use search::{explore, Effort};
pub use trace::Step;
pub use world::{Application, Network, Random, Timers, Unfit, World};

#[cfg(test)]
mod tests;
