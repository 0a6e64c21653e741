//! `mokume lsp`: what an editor asks of a file while it is written, over the language server protocol.
//!
//! Invariant: what is said of a text is what the command would say of it, were it saved. Nothing is decided about the language here,
//! no file of the user's is written, and nothing of a program is run; positions are octets but for the edge ([`text`]).

mod analysis;
mod complete;
mod diagnostics;
mod documents;
mod fixes;
mod frames;
mod hover;
mod names;
mod outline;
mod overlay;
mod places;
mod rename;
mod requests;
mod server;
mod session;
mod text;
mod tokens;
mod wires;
mod workspace;

pub use server::{serve, Ended};
