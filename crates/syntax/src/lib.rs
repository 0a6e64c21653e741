//! Lexer, lossless tree, parser and typed tree of the language (`docs/language.md`).
//!
//! Invariants: every octet of the text is in the tree, however wrong the text is. Mistakes are diagnostics beside the
//! tree and never an early exit. Parsing takes time linear in the text and a bounded depth of the stack.

pub mod ast;
pub mod codes;
mod foreign;
pub mod format;
pub mod kinds;
pub mod lexer;
mod parser;
pub mod words;

/// The octets of a text as the language writes it: `"heat"`, `x"00ff"`; `None` if it is something else, or faulty.
pub fn octets_of(text: &str) -> Option<Vec<u8>> {
    (quoted_end(text)? == text.len()).then_some(())?;
    match text.starts_with('x') {
        true => lexer::hex_octets(text),
        false => lexer::string_octets(text),
    }
}

/// Where such a text ends that is at the beginning of another; `None` if it does not end.
pub fn quoted_end(text: &str) -> Option<usize> {
    let open = text.find('"')? + 1;
    let mut is_escaped = false;
    let end = text[open..].char_indices().find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map(|(at, _)| open + at + 1)
}

pub use codes::CODES;
pub use kinds::{SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};
pub use parser::{is_upper, Fragment};
pub use rowan::{TextRange, TextSize};

use mokume_base::{Diagnostic, FileId};

/// The tree of a text, and its diagnostics.
#[derive(Clone, Debug)]
pub struct Parse {
    /// The lossless tree; see [`Parse::syntax`].
    pub tree: rowan::GreenNode,
    /// Unordered; empty for a text without mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// The text is cut off or its braces do not match: what follows the first mistake may be misread, and missing parts
    /// may have been there.
    pub torn: bool,
}

impl Parse {
    /// The root of the typed tree.
    pub fn file(&self) -> ast::File {
        ast::File(self.syntax())
    }

    /// The root of the lossless tree; its text is the source, octet by octet.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.tree.clone())
    }
}

/// Parses a file.
pub fn parse(file: FileId, text: &str) -> Parse {
    parse_fragment(file, text, Fragment::File)
}

/// Parses a part of a file, such as an example in a document.
pub fn parse_fragment(file: FileId, text: &str, what: Fragment) -> Parse {
    let (tree, diagnostics, torn) = parser::parse(file, text, what);
    Parse { tree, diagnostics, torn }
}
