//! The formatter: the same tokens and comments, in the house's layout.
//!
//! It keeps the author's line breaks, and adds breaks where a brace holds more than a line, an item begins, or a block
//! does not fit. It decides all blanks, indentation, columns and empty lines. Keeps: the tree except for its white
//! space (checked here before the result is returned), every comment, and its own results (formatting twice changes
//! nothing).

mod align;
mod breaks;
mod lay;
mod line;
mod pieces;
mod same;
mod space;

use mokume_base::{Diagnostic, FileId, Severity};

pub use line::WIDTH;

/// Why a text is not formatted.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The text has mistakes, so its author's intent is not known.
    Mistakes(Vec<Diagnostic>),
    /// A fault of the formatter: the result would parse as something else. With the line of the text where they differ.
    WouldChange {
        /// From 1.
        line: usize,
    },
}

/// The text in the house's layout.
pub fn format(file: FileId, text: &str) -> Result<String, Refused> {
    let before = crate::parse(file, text);
    if before.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(Refused::Mistakes(before.diagnostics));
    }
    let root = before.syntax();
    let formatted = layout(&root);
    match same::difference(&root, &crate::parse(file, &formatted)) {
        None => Ok(formatted),
        Some(at) => Err(Refused::WouldChange { line: 1 + text[..at.min(text.len())].matches('\n').count() }),
    }
}

fn layout(root: &crate::SyntaxNode) -> String {
    let pieces = pieces::pieces(root);
    let mut breaks = breaks::of_author(&pieces);
    loop {
        let mut lines = lay::lines(&pieces, &breaks);
        align::align(&pieces, &mut lines);
        // Every round breaks a line that was not broken before, so this ends.
        if !breaks.break_long(&pieces, &lines) {
            return lay::render(&pieces, &lines);
        }
    }
}

#[cfg(test)]
mod tests;
