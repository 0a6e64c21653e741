//! `mokume lsp`: what an editor asks of a file while it is written, over the language server protocol.
//!
//! Invariant: what is said of a text is what the command would say of it, were it saved. Nothing is decided about the language here,
//! no file of the user's is written, and a program is run only where the user asks for it, by the command, in a process of its own; positions are octets but for the edge ([`text`]).

mod analysis;
mod calls;
mod complete;
mod diagnostics;
mod documents;
mod fixes;
mod frames;
mod hints;
mod hover;
mod names;
mod outline;
mod overlay;
mod places;
mod rename;
mod requests;
mod runs;
mod selection;
mod server;
mod session;
mod text;
mod tokens;
mod wires;
mod workspace;

pub use server::{serve, Ended};
