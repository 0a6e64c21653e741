//! Checks over the typed program, a file each; all but [`linear`] need every layer and stack resolved.

pub mod calls;
pub mod changes;
pub mod column;
pub mod idle;
pub mod invert;
pub mod linear;
pub mod live;
pub mod ports;
pub mod ranges;
pub mod rows;
pub mod sizes;
pub mod stacks;
pub mod usage;
pub mod vectors;
pub mod vocabulary;
mod ways;
mod wire_lists;
mod wire_parts;
pub mod wires;
