//! The typed tree: a thin view on the lossless tree, with a type for each kind of node.
//!
//! Any part of a node may be missing because the text may be wrong, so accessors return options. Code that meets `None`
//! reports nothing: the parser already has. Keywords are tokens; names with a meaning are [`Name`] nodes.

mod containers;
mod expressions;
mod items;
mod members;
mod operators;
mod signatures;
mod stacks;
mod statements;
mod tests;
mod wires;

pub use containers::*;
pub use expressions::*;
pub use items::*;
pub use members::*;
pub use operators::*;
pub use signatures::*;
pub use stacks::*;
pub use statements::*;
pub use tests::*;
pub use wires::*;

use crate::kinds::{SyntaxKind, SyntaxNode, SyntaxToken};
use mokume_base::{FileId, Span};

/// A node whose kind is known.
pub trait AstNode: Sized + Clone {
    /// The node as this type; `None` if it is of another kind.
    fn cast(node: SyntaxNode) -> Option<Self>;
    /// The node itself.
    fn syntax(&self) -> &SyntaxNode;

    /// The place of the node in its file, without surrounding blanks.
    fn span(&self, file: FileId) -> Span {
        span_of(self.syntax(), file)
    }

    /// The node's source text.
    fn source(&self) -> String {
        self.syntax().text().to_string()
    }
}

/// The place of a node in its file.
pub fn span_of(node: &SyntaxNode, file: FileId) -> Span {
    let range = node.text_range();
    Span::new(file, range.start().into(), range.end().into())
}

/// A node's text on one line, without comments.
pub fn line_of(node: &SyntaxNode) -> String {
    let tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
    let words = tokens.filter(|token| !token.kind().is_trivia() || token.kind() == SyntaxKind::WHITESPACE);
    let text: String = words.map(|token| token.text().to_string()).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The place of a token in its file.
pub fn token_span(token: &SyntaxToken, file: FileId) -> Span {
    let range = token.text_range();
    Span::new(file, range.start().into(), range.end().into())
}

macro_rules! node {
    ($($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub(crate) $crate::kinds::SyntaxNode);

        impl $crate::ast::AstNode for $name {
            fn cast(node: $crate::kinds::SyntaxNode) -> Option<Self> {
                (node.kind() == $crate::kinds::SyntaxKind::$kind).then_some(Self(node))
            }
            fn syntax(&self) -> &$crate::kinds::SyntaxNode {
                &self.0
            }
        }
    )*};
}
pub(crate) use node;

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($variant:ident($type:ty)),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $(#[doc = concat!("[`", stringify!($type), "`]")] $variant($type)),* }

        impl $crate::ast::AstNode for $name {
            fn cast(node: $crate::kinds::SyntaxNode) -> Option<Self> {
                $(if let Some(inner) = <$type>::cast(node.clone()) { return Some(Self::$variant(inner)); })*
                None
            }
            fn syntax(&self) -> &$crate::kinds::SyntaxNode {
                match self { $(Self::$variant(inner) => inner.syntax()),* }
            }
        }
    };
}
pub(crate) use choice;

pub(crate) fn child<T: AstNode>(node: &SyntaxNode) -> Option<T> {
    node.children().find_map(T::cast)
}

pub(crate) fn children<T: AstNode>(node: &SyntaxNode) -> Vec<T> {
    node.children().filter_map(T::cast).collect()
}

pub(crate) fn token(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxToken> {
    node.children_with_tokens().filter_map(|element| element.into_token()).find(|token| token.kind() == kind)
}

/// The first token of the node, trivia aside.
pub(crate) fn first_token(node: &SyntaxNode) -> Option<SyntaxToken> {
    node.children_with_tokens().filter_map(|element| element.into_token()).find(|token| !token.kind().is_trivia())
}

/// Whether the node has the keyword among its own tokens.
pub(crate) fn has_word(node: &SyntaxNode, word: &str) -> bool {
    node.children_with_tokens()
        .filter_map(|element| element.into_token())
        .any(|token| token.kind() == SyntaxKind::IDENT && token.text() == word)
}

/// The expression behind a keyword or sign among the node's own tokens.
pub(crate) fn expr_after(node: &SyntaxNode, word: &str) -> Option<Expr> {
    node.children_with_tokens()
        .skip_while(|element| element.as_token().is_none_or(|token| token.text() != word))
        .find_map(|element| element.into_node().and_then(Expr::cast))
}

/// The text of the `///` lines in front of the node.
pub fn doc_of(node: &SyntaxNode) -> String {
    node.children_with_tokens()
        .map_while(|element| element.into_token().filter(|token| token.kind().is_trivia()))
        .filter(|token| token.kind() == SyntaxKind::DOC_COMMENT)
        .map(|token| token.text().trim_start_matches('/').trim().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A name's text without the blanks that may stand between its words.
fn unblanked(node: &SyntaxNode) -> String {
    let text = node.text().to_string();
    match text.contains('.') {
        true => text.split_whitespace().collect(),
        false => text,
    }
}

node! {
    /// A whole file, or a fragment.
    File = FILE;
    /// An identifier that names or mentions something.
    Name = NAME;
    /// Names joined by dots: `resolve.ask`, `Rfc768.length`.
    Path = PATH;
}

impl File {
    /// The items of the file, in order.
    pub fn items(&self) -> Vec<Item> {
        children(&self.0)
    }

    /// The direct children of one type, for fragments: `children::<Stmt>()`.
    pub fn children<T: AstNode>(&self) -> Vec<T> {
        children(&self.0)
    }
}

impl Name {
    /// The name as written, without blanks: `Ports`, or `udp.Ports` where an item may be qualified.
    pub fn text(&self) -> String {
        unblanked(&self.0)
    }
}

impl Path {
    /// Its parts, one or more.
    pub fn names(&self) -> Vec<Name> {
        children(&self.0)
    }

    /// The path as it is written, without blanks.
    pub fn text(&self) -> String {
        self.names().iter().map(Name::text).collect::<Vec<_>>().join(".")
    }
}
