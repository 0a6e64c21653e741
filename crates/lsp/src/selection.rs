//! Growing selections around a place: word, value, statement, block, member, layer, file.

use ls_types::SelectionRange;
use mokume_syntax::{SyntaxKind, SyntaxNode, TextRange, TextSize};

use crate::text::Lines;

/// All ranges around an offset, from the smallest outwards.
pub fn around(root: &SyntaxNode, lines: &Lines<'_>, offset: usize) -> SelectionRange {
    let at = TextSize::from(offset as u32).min(root.text_range().end());
    let mut ranges: Vec<TextRange> = Vec::new();
    if let Some(token) = root.token_at_offset(at).max_by_key(|token| !token.kind().is_trivia()) {
        ranges.extend((token.kind() != SyntaxKind::WHITESPACE).then(|| token.text_range()));
        let around = token.parent_ancestors().map(|node| trimmed(&node));
        ranges.extend(around.filter(|range| range.contains_inclusive(at)));
    }
    ranges.push(root.text_range());
    ranges.dedup();
    let mut found: Option<SelectionRange> = None;
    for range in ranges.into_iter().rev() {
        let range = lines.range(usize::from(range.start())..usize::from(range.end()));
        if found.as_ref().is_none_or(|around| holds(around.range, range)) {
            found = Some(SelectionRange { range, parent: found.map(Box::new) });
        }
    }
    found.unwrap_or(SelectionRange { range: lines.range(0..0), parent: None })
}

fn holds(outer: ls_types::Range, inner: ls_types::Range) -> bool {
    outer.start <= inner.start && inner.end <= outer.end && outer != inner
}

/// A node's range without the comments and blanks around it.
fn trimmed(node: &SyntaxNode) -> TextRange {
    let whole = node.text_range();
    let words = || node.descendants_with_tokens().filter_map(|part| part.into_token());
    let first = words().find(|token| !token.kind().is_trivia());
    let last = words().filter(|token| !token.kind().is_trivia()).last();
    match (first, last) {
        (Some(first), Some(last)) => TextRange::new(first.text_range().start(), last.text_range().end()),
        _ => whole,
    }
}
