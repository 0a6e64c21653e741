//! Tools for our own tests: run files, marked programs, random automata.
//!
//! [`text`] is the text form of scripts ([`mokume_script`] has their data and plays them). [`generate`] makes random
//! automata, and [`together`] drives two machines of one automaton with the same random inputs.
//!
//! Invariant: uses machines through the trait only, so every back end is judged by the same text.

mod asking;
mod finding;
pub mod generate;
pub mod growing;
mod keeping;
mod lex;
pub mod marks;
mod meeting;
pub mod odd;
mod packets;
mod reckoning;
pub mod text;
mod together;
mod workers;

pub use asking::asking;
pub use finding::{finding, finding_hints};
pub use keeping::{keeping, keeping_hints};
pub use meeting::{meeting, meeting_hints};
pub use mokume_script::*;
pub use packets::packets;
pub use reckoning::{reckoning, reckoning_hints};
pub use text::{parse, split, ParseError};
pub use together::{together, together_by, Difference, Hints};
pub use workers::workers;

/// The seeds of a random test: those of `MOKUME_SEEDS=from..to`, else `default`.
pub fn seeds(default: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let given = std::env::var("MOKUME_SEEDS").unwrap_or_default();
    let bounds = given.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    bounds.unwrap_or(default)
}

/// A C compiler for code that is run a few times only: TinyCC, which takes a fiftieth of gcc's time, where it is installed; else
/// `None`, the usual compiler. It warns of little: what many programs of a kind are compiled with needs gcc somewhere, too.
pub fn quick_compiler() -> Option<String> {
    let is_here = std::process::Command::new("tcc").arg("-v").output().is_ok_and(|output| output.status.success());
    is_here.then(|| "tcc".to_string())
}
