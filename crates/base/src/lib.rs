//! What every other crate uses: spans, files, diagnostics, random numbers, and the door to the machine.
//!
//! Invariant: only [`world`] reads a file, a clock or the environment.

pub mod diagnostic;
mod ids;
pub mod notation;
pub mod random;
pub mod render;
pub mod source;
pub mod spelling;
pub mod world;

pub use diagnostic::{Code, Diagnostic, Label, Page, Severity, Thing};
pub use notation::{time, Form, Notation};
pub use random::Random;
pub use render::{json_line, render, render_all, Colour};
pub use source::{FileId, SourceFile, SourceMap, Span};
pub use spelling::did_you_mean;
pub use world::{Invocation, MemoryWorld, Output, RealWorld, World};
