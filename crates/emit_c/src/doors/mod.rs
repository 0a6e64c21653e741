//! The edge of a generated stack: its header, its inputs and outputs, its life, and the tables for who knows it by those only.

pub(crate) mod header;
pub(crate) mod inputs;
pub(crate) mod life;
pub(crate) mod memory;
pub(crate) mod outputs;
mod parts;
mod tables;
