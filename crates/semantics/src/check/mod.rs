//! Checks over the typed program, a file each; all but [`linear`] need every layer and stack resolved.

pub mod calls;
pub mod idle;
pub mod invert;
pub mod linear;
pub mod ranges;
pub mod stacks;
pub mod usage;
mod ways;
mod wire_parts;
pub mod wires;
