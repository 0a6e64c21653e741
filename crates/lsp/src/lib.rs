//! `mokume lsp`: answers an editor's questions about a file that is being written, over the language server protocol.
//!
//! Invariant: answers about a text equal what the command would say if the text were saved. This crate decides nothing
//! about the language and writes no file of the user's. A program runs only if the user requests it: the command runs
//! it, in a separate process. Positions are octets except at the interface to the editor ([`text`]).

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
mod neighbours;
mod outline;
mod overlay;
mod places;
mod rename;
mod requests;
mod runs;
mod selection;
mod server;
mod session;
mod shorthand;
mod text;
mod tokens;
mod wires;
mod workspace;

pub use server::{serve, Ended};
