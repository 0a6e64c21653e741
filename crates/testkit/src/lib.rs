//! Run tests: what goes into a stack and what must come out, as data.
//!
//! [`Script`] is the data, [`text`] its text form, [`run`] plays it on any [`mokume_reaction::Machine`] and answers
//! with the differences as data. The same scripts become C, and `test` blocks of the language lower to them.
//! [`generate`] makes random automata, and [`together`] drives two machines of one by the same random inputs.
//!
//! Invariant: knows machines by the trait only, so every back end is judged by the same words.

mod differ;
pub mod generate;
mod lex;
pub mod marks;
mod run;
pub mod script;
pub mod text;
mod together;
mod workers;

pub use differ::{Failure, FailureKind};
pub use run::{parameters, run};
pub use script::*;
pub use text::{parse, split, ParseError};
pub use together::{together, Difference};
pub use workers::workers;
