//! The formatter: the same tokens and comments, in the house's layout.
//!
//! Lines break where the author broke them, but where a brace holds more than a line, an item begins, or a block does
//! not fit; blanks, indentation, columns and empty lines are the formatter's. Must keep: the tree but for its white
//! space (checked here before anything is handed back), every comment, and its own results as they are.

mod align;
mod breaks;
mod lay;
mod line;
mod pieces;
mod same;
mod space;

use mokume_base::{Diagnostic, FileId, Severity};

pub use line::WIDTH;

/// Why a text is left as it is.
#[derive(Clone, Debug)]
pub enum Refused {
    /// It has mistakes, and what its author meant is not known.
    Mistakes(Vec<Diagnostic>),
    /// The layout would read as something else: a fault of the formatter. The line of the text where they part.
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
