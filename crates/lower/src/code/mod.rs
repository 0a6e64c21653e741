//! Statements and expressions to bodies. Joins use block parameters; functions are inlined, and their returns become
//! jumps.
//!
//! Keeps: knows one instance at a time. The shape around the code handles emissions, `pass` and `accept`: [`Around`].

mod arithmetic;
mod around;
mod borders;
mod calls;
mod elements;
mod expr;
mod facts;
mod flow;
mod fork;
mod header_size;
mod kept;
mod limits;
mod loops;
mod noted;
mod objects;
mod prf;
mod procedures;
mod published;
mod stmt;
mod vectors;
mod writer;
mod written;

pub use around::{Around, Begin};
pub use fork::Fork;
pub use writer::{Exits, Flow, Pass, Writer};
