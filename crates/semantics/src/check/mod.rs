//! The checks over the typed program, a file or folder each.
//!
//! May assume: faulty names and types were reported, and have the type `Unknown`. Keeps: no check changes the program.
//! `linear` checks one body, as soon as it is read; all other checks need every layer and stack.

pub(crate) mod always;
pub(crate) mod amounts;
pub(crate) mod answers;
pub(crate) mod arrives;
pub(crate) mod attributes;
pub(crate) mod bound;
pub(crate) mod calls;
pub(crate) mod changes;
pub(crate) mod column;
mod descents;
pub(crate) mod ended;
pub(crate) mod endless;
pub(crate) mod hidden;
pub(crate) mod idle;
pub(crate) mod invert;
pub(crate) mod linear;
pub(crate) mod live;
pub mod names;
pub(crate) mod parts;
pub(crate) mod past_end;
pub mod ports;
pub(crate) mod quotas;
pub mod ranges;
pub(crate) mod refusals;
pub mod rows;
pub(crate) mod silent;
pub(crate) mod sizes;
pub mod stacks;
pub(crate) mod taken;
pub(crate) mod told;
pub(crate) mod units;
pub(crate) mod unused_items;
pub(crate) mod unused_lets;
pub(crate) mod usage;
pub(crate) mod vectors;
pub(crate) mod views;
pub(crate) mod vocabulary;
pub mod wires;
pub mod zeros;
