//! Lexer, lossless tree, parser and typed tree of the language (`docs/language.md`).
//!
//! Invariants: every octet of the text is in the tree, whatever is wrong with it; mistakes are diagnostics beside the
//! tree and never an early exit; parsing takes time linear in the text and a bounded depth of the stack.

pub mod ast;
pub mod codes;
mod foreign;
pub mod format;
pub mod kinds;
pub mod lexer;
mod parser;
pub mod words;

pub use codes::CODES;
pub use kinds::{SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};
pub use parser::Fragment;
pub use rowan::{TextRange, TextSize};

use mokume_base::{Diagnostic, FileId};

/// A text as a tree, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Parse {
    /// Its text is the source; see [`Parse::syntax`].
    pub tree: rowan::GreenNode,
    /// In no order; none of a text without mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// The text is cut off, or its braces do not match: what is read behind the first mistake is not what is meant, and what
    /// is missing may have been there.
    pub torn: bool,
}

impl Parse {
    /// The typed root.
    pub fn file(&self) -> ast::File {
        ast::File(self.syntax())
    }

    /// The root of the tree; its text is the source, octet by octet.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.tree.clone())
    }
}

/// Reads a file.
pub fn parse(file: FileId, text: &str) -> Parse {
    parse_fragment(file, text, Fragment::File)
}

/// Reads a part of a file, such as an example in a document.
pub fn parse_fragment(file: FileId, text: &str, what: Fragment) -> Parse {
    let (tree, diagnostics, torn) = parser::parse(file, text, what);
    Parse { tree, diagnostics, torn }
}
