//! Queries on a file's syntax tree: places, names and texts of nodes.

use mokume_base::{FileId, Span};
use mokume_syntax::ast;
use mokume_syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

pub use mokume_syntax::ast::line_of as line;

/// All tokens within a node.
pub fn tokens(node: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> {
    node.descendants_with_tokens().filter_map(|element| element.into_token())
}

/// A node's place, without the comments and blanks around it.
pub fn place(node: &SyntaxNode, file: FileId) -> Span {
    let mut words = tokens(node).filter(|token| !token.kind().is_trivia());
    let Some(first) = words.next() else { return ast::span_of(node, file) };
    let last = words.last().unwrap_or_else(|| first.clone());
    ast::token_span(&first, file).to(ast::token_span(&last, file))
}

/// The text before a node's code, on one line: for handlers and functions all but the block, for others up to the first
/// brace.
pub fn head(node: &SyntaxNode) -> String {
    let has_block = matches!(node.kind(), SyntaxKind::HANDLER | SyntaxKind::FUNCTION);
    let is_code = |token: &SyntaxToken| {
        let is_blocks = token.parent().is_some_and(|parent| parent.kind() == SyntaxKind::BLOCK);
        token.kind() == SyntaxKind::L_BRACE && (is_blocks || !has_block)
    };
    let before = tokens(node).filter(|token| !is_comment(token)).take_while(|token| !is_code(token));
    let text: String = before.map(|token| token.text().to_string()).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_comment(token: &SyntaxToken) -> bool {
    token.kind().is_trivia() && token.kind() != SyntaxKind::WHITESPACE
}

/// The first word of a node.
pub fn word(node: &SyntaxNode) -> String {
    tokens(node).find(|token| !token.kind().is_trivia()).map_or(String::new(), |token| token.text().to_string())
}

/// The first name or path among a node's children.
pub fn name(node: &SyntaxNode) -> Option<SyntaxNode> {
    node.children().find(|child| matches!(child.kind(), SyntaxKind::NAME | SyntaxKind::PATH))
}

/// A name's text, without blanks.
pub fn text(node: &SyntaxNode) -> String {
    node.text().to_string().split_whitespace().collect()
}

/// All nodes of a kind within a node.
pub fn within(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = SyntaxNode> {
    node.descendants().filter(move |child| child.kind() == kind)
}

/// The children of a kind.
pub fn children(node: &SyntaxNode, kind: SyntaxKind) -> impl Iterator<Item = SyntaxNode> {
    node.children().filter(move |child| child.kind() == kind)
}

/// The comment at the beginning of a file, without its slashes.
pub fn front(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//").filter(|rest| !rest.starts_with('/')));
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}
