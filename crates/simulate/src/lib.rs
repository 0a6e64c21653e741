//! Several hosts in virtual time, on media with seeded weather.
//!
//! Invariant: a run is a function of the machines, the script, the media and the seed; no clock, no file.

pub mod network;
pub mod record;

pub use network::{Host, Keep, Medium, Partition, ScriptedInput, Simulation, Weather};
pub use record::{Fate, Record, RecordedEvent};
