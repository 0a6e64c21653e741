//! Spans, files and diagnostics: what every other crate speaks with.
//!
//! Invariant: nothing here reads a file, a clock or an environment; see [`world`] for the one door.

pub mod diagnostic;
pub mod source;
pub mod spelling;

pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use source::{FileId, SourceFile, SourceMap, Span};
pub use spelling::did_you_mean;
