//! Consequences of a declared name that is a reserved word of values: its uses are read as that word.

use mokume_base::{Diagnostic, Span};

use crate::codes;
use crate::load::Loaded;

/// Removes reports on lines with such a name, except the report about the name itself.
pub fn leave_out_uses(loaded: &Loaded, diagnostics: &mut Vec<Diagnostic>) {
    let mut lines = Vec::new();
    for found in diagnostics.iter().filter(|found| is_of_a_word(found)) {
        let (Some(label), Some(word)) = (&found.primary, found.message.split('`').nth(1)) else { continue };
        let parse = loaded.files.iter().find(|(file, _)| *file == label.span.file);
        lines.extend(
            parse.into_iter().flat_map(|(file, parse)| lines_with(*file, &parse.syntax(), word, label.span.start)),
        );
    }
    diagnostics.retain(|found| {
        let stands = |span: &Span| {
            lines.iter().any(|line: &Span| line.file == span.file && span.start < line.end && line.start < span.end)
        };
        is_of_a_word(found) || !found.primary.as_ref().is_some_and(|label| stands(&label.span))
    });
}

fn is_of_a_word(found: &Diagnostic) -> bool {
    found.code == codes::HIDES_BUILT_IN && found.message.contains("is a word that values are made of")
}

/// The lines with the word in the item that contains the place; in other items the word has its usual meaning.
fn lines_with(file: mokume_base::FileId, root: &mokume_syntax::SyntaxNode, word: &str, at: u32) -> Vec<Span> {
    let text = root.text().to_string();
    let holds = |item: &mokume_syntax::SyntaxNode| item.text_range().contains_inclusive(at.into());
    let Some(item) = root.children().find(holds) else { return Vec::new() };
    let tokens = item.descendants_with_tokens().filter_map(|element| element.into_token());
    let places = tokens.filter(|token| token.text() == word).map(|token| usize::from(token.text_range().start()));
    let line = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        Span::new(file, start as u32, end as u32)
    };
    places.map(line).collect()
}
