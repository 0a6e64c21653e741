//! Quick fixes: mistakes that one edit corrects. Only those whose `help:` gives the exact text and place.

use std::ops::Range;

use mokume_base::{Diagnostic, FileId};
use mokume_syntax::{SyntaxKind, TextSize};

use crate::analysis::Analysis;

/// An edit that corrects a mistake.
pub struct Fix {
    pub title: String,
    pub octets: Range<usize>,
    pub text: String,
}

/// The fixes for mistakes of a file within these octets.
pub fn of<'a>(analysis: &'a Analysis, file: FileId, asked: &Range<usize>) -> Vec<(&'a Diagnostic, Vec<Fix>)> {
    let here = analysis.diagnostics_so_far().iter().filter(|found| {
        let span = found.primary.as_ref().map(|label| label.span);
        span.is_some_and(|span| {
            span.file == file && span.start as usize <= asked.end && asked.start <= span.end as usize
        })
    });
    here.map(|found| (found, fixes(analysis, file, found))).filter(|(_, fixes)| !fixes.is_empty()).collect()
}

fn fixes(analysis: &Analysis, file: FileId, found: &Diagnostic) -> Vec<Fix> {
    found.helps.iter().filter_map(|help| fix(analysis, file, found, help)).collect()
}

fn fix(analysis: &Analysis, file: FileId, found: &Diagnostic, help: &str) -> Option<Fix> {
    let span = found.primary.as_ref()?.span;
    let text = &analysis.checked.sources.file(file).text;
    let octets = span.start as usize..span.end as usize;
    if let Some(meant) = quoted(help, "did you mean `", "`?") {
        let written = text.get(octets.clone())?;
        // Replaces a word by a word; the help of larger changes does not say enough.
        let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        return (is_word(written) && is_word(meant)).then(|| Fix {
            title: format!("write `{meant}`"),
            octets,
            text: meant.to_string(),
        });
    }
    if let Some((_, module)) = help.split_once("has it: write `use ").or_else(|| help.split_once("add `use ")) {
        let module = module.strip_suffix('`').filter(|module| !module.contains(['`', ' ', '…']))?;
        return Some(use_of(analysis, file, module));
    }
    let member = quoted(help, "add `", "` to the layer").filter(|member| !member.contains(['`', '…']))?;
    let root = analysis.tree(file);
    let token = root.token_at_offset(TextSize::from(span.start)).right_biased()?;
    let layer = token.parent_ancestors().find(|node| matches!(node.kind(), SyntaxKind::LAYER | SyntaxKind::PART))?;
    let brace = layer.children_with_tokens().find(|element| element.kind() == SyntaxKind::L_BRACE)?;
    let at = usize::from(brace.text_range().end());
    Some(Fix { title: format!("add `{member}`"), octets: at..at, text: format!("\n    {member}") })
}

/// The text between the beginning and the end of a help that has nothing else.
fn quoted<'h>(help: &'h str, front: &str, back: &str) -> Option<&'h str> {
    help.strip_prefix(front)?.strip_suffix(back)
}

/// Adds a `use`, after the existing ones or at the beginning of the file.
fn use_of(analysis: &Analysis, file: FileId, module: &str) -> Fix {
    let root = analysis.tree(file);
    let uses = root.children().filter(|node| node.kind() == SyntaxKind::USE);
    let (at, text) = match uses.last() {
        Some(last) => (usize::from(last.text_range().end()), format!("\nuse {module}")),
        None => (0, format!("use {module}\n\n")),
    };
    Fix { title: format!("add `use {module}`"), octets: at..at, text }
}
