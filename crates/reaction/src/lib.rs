//! The reaction automaton: Mokume's one intermediate form.
//!
//! Data ([`automaton`], [`body`], [`wire`]), its text form ([`text`]) and its verifier ([`verify`]).
//! `docs/automaton.md` is the user's page. Small, and rarely changed: every tool is a function on it.
//!
//! Invariant: this crate knows no protocol, no language and no back end.

pub mod automaton;
pub mod body;
pub mod build;
pub mod canonical;
pub mod codes;
pub mod machine;
pub mod place;
pub mod text;
pub mod types;
pub mod verify;
pub mod visit;
pub mod wire;

pub use automaton::*;
pub use body::*;
pub use build::{result_types, to, BodyBuilder};
pub use machine::*;
pub use place::{Place, Places, Unit};
pub use types::{types, Typing};
pub use verify::{diagnose, verify};
pub use wire::*;
