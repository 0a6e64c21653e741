//! The interface of a generated stack: its header, inputs and outputs, life, and the tables for programs that do not
//! know its types.

mod batched;
mod border;
pub(crate) mod header;
pub(crate) mod inputs;
pub(crate) mod life;
pub(crate) mod memory;
pub(crate) mod outputs;
mod parts;
mod returned;
pub(crate) mod signature;
mod tables;
