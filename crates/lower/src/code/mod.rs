//! Statements and expressions to bodies. Branches meet in block parameters; functions are inlined, their returns are jumps.
//!
//! Keeps: knows one instance at a time. What an event, `pass` or `accept` brings about is for the shape around the code to
//! say: [`Around`].

mod arithmetic;
mod around;
mod borders;
mod calls;
mod elements;
mod expr;
mod flow;
mod fork;
mod header_size;
mod kept;
mod limits;
mod loops;
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
