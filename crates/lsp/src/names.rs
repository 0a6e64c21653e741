//! What the word under the cursor refers to, and where else it occurs. Uses the compiler's own table ([`Mention`]). If
//! that has nothing, as for what layers match by name, it takes all declarations of the name.

use mokume_base::{FileId, Span};
use mokume_semantics::program::Mention;
use mokume_syntax::ast::{self, AstNode, UseTarget};
use mokume_syntax::{SyntaxKind, SyntaxNode, SyntaxToken, TextSize};

use crate::analysis::Analysis;
use crate::outline::{self, Declared};

/// A word of a text.
pub struct Word {
    pub text: String,
    pub at: Span,
    pub token: SyntaxToken,
}

/// The word that contains an offset or ends there.
pub fn word(analysis: &Analysis, file: FileId, offset: u32) -> Option<Word> {
    let root = tree(analysis, file);
    let offset = TextSize::from(offset).min(root.text_range().end());
    let is_word = |token: &SyntaxToken| token.kind() == SyntaxKind::IDENT;
    let token = root.token_at_offset(offset).find(is_word)?;
    Some(Word { text: token.text().to_string(), at: ast::token_span(&token, file), token })
}

/// The syntax tree of a file.
pub fn tree(analysis: &Analysis, file: FileId) -> SyntaxNode {
    analysis.tree(file)
}

/// The declarations of what a word refers to; the word itself if it declares something; empty if it means nothing.
pub fn declarations(analysis: &Analysis, word: &Word) -> Vec<Span> {
    let exact = exact_declarations(analysis, word.at);
    if !exact.is_empty() {
        return exact;
    }
    if outline::declares(&word.token) {
        return vec![word.at];
    }
    by_text(analysis, &word.text)
}

/// Whether a word declares something that the compiler's table follows.
pub fn is_declared(word: &Word) -> bool {
    let owner = word.token.parent().and_then(|name| name.parent()).map(|owner| owner.kind());
    let is_matched = matches!(owner, Some(SyntaxKind::SIGNAL | SyntaxKind::PUBLISH | SyntaxKind::HANDLER));
    outline::declares(&word.token) && !is_matched
}

/// The same from the compiler's table only.
pub fn exact_declarations(analysis: &Analysis, at: Span) -> Vec<Span> {
    let mentions = &analysis.checked.program.mentions;
    let found: Vec<Span> = mentions_at(mentions, at).iter().map(|mention| mention.of).collect();
    let is_declared = || mentions.iter().any(|mention| mention.of == at);
    if found.is_empty() && is_declared() {
        return vec![at];
    }
    found
}

fn mentions_at(mentions: &[Mention], at: Span) -> &[Mention] {
    let from = mentions.partition_point(|mention| mention.at < at);
    let to = mentions.partition_point(|mention| mention.at <= at);
    &mentions[from..to]
}

/// Handlers, operations and published values with a name, which layers match by name.
fn by_text(analysis: &Analysis, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for (file, source) in analysis.checked.sources.files() {
        if source.text.contains(text) {
            collect(file, text, outline::declarations(&tree(analysis, file)), &mut found);
        }
    }
    found
}

fn collect(file: FileId, text: &str, declared: Vec<Declared>, found: &mut Vec<Span>) {
    for one in declared {
        let is_matched = matches!(one.node, SyntaxKind::HANDLER | SyntaxKind::SIGNAL | SyntaxKind::PUBLISH);
        let plain = one.name.strip_prefix("on ").unwrap_or(&one.name);
        if is_matched && plain == text {
            found.push(Span::new(file, one.named.start as u32, one.named.end as u32));
        }
        collect(file, text, one.within, found);
    }
}

/// All places in one analysis that mention one of these declarations, without the declarations.
pub fn uses(analysis: &Analysis, declared: &[Span]) -> Vec<Span> {
    let of = analysis.checked.program.mentions.iter().filter(|mention| declared.contains(&mention.of));
    let mut found: Vec<Span> = of.map(|mention| mention.at).filter(|at| !declared.contains(at)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The beginnings of the files that a `use` at this place leads to.
pub fn used(analysis: &Analysis, file: FileId, offset: u32) -> Vec<Span> {
    let root = tree(analysis, file);
    let offset = TextSize::from(offset).min(root.text_range().end());
    let Some(path) = root.token_at_offset(offset).find_map(|token| ast::UsePath::cast(token.parent()?)) else {
        return Vec::new();
    };
    let name = |file: FileId| analysis.checked.sources.file(file).name.as_str();
    let own = name(file).rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_it = |other: &str| match path.target() {
        Some(UseTarget::Module(module)) => {
            let mut folders = other.rsplit('/');
            folders.nth(1) == Some(module.as_str())
        }
        Some(UseTarget::File(name)) => {
            let plain = name.trim_start_matches("./");
            other.ends_with(plain.trim_start_matches("../")) && (plain.starts_with("..") || other.starts_with(own))
        }
        None => false,
    };
    let files = analysis.checked.sources.files().map(|(id, _)| id).filter(|id| *id != file && is_it(name(*id)));
    files.map(|id| Span::new(id, 0, 0)).collect()
}
