//! The facade that all shells call: load, check, lower, run, simulate, draw, explain.
//!
//! Invariant: below this crate nothing touches a file, a clock, a device or a process but through the doors given to it.

pub mod devices;
pub mod failure;
pub mod live;
pub mod project;
pub mod settings;

pub use failure::{Blame, Failure};
