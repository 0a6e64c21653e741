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
    if outline::declares(&word.token) || is_handled(&word.token) {
        return vec![word.at];
    }
    if is_name(&word.token) {
        by_text(analysis, &word.text)
    } else {
        Vec::new()
    }
}

/// Whether a word is a name, and not the word that begins a statement, such as `start`.
fn is_name(word: &SyntaxToken) -> bool {
    use SyntaxKind as S;
    word.parent().is_some_and(|parent| matches!(parent.kind(), S::NAME | S::NAME_EXPR | S::PATH))
}

/// Whether a word declares something that the compiler's table follows.
pub fn is_declared(word: &Word) -> bool {
    let owner = word.token.parent().and_then(|name| name.parent()).map(|owner| owner.kind());
    let is_matched = matches!(owner, Some(SyntaxKind::SIGNAL | SyntaxKind::PUBLISH | SyntaxKind::HANDLER));
    outline::declares(&word.token) && !is_matched
}

/// Whether a word is the event of a handler, which is the declaration for those that tell it.
fn is_handled(word: &SyntaxToken) -> bool {
    let mut around = word.parent_ancestors().map(|node| node.kind());
    let owner = around.find(|kind| !matches!(kind, SyntaxKind::NAME | SyntaxKind::PATH));
    owner == Some(SyntaxKind::HANDLER)
}

/// Whether only its own file can name what is declared at a place: parameters and locals of code, the state of a layer
/// without parts, hosts and links of a network, names that a test binds.
pub fn is_local(analysis: &Analysis, declared: Span) -> bool {
    use SyntaxKind as S;
    let Some(word) = word(analysis, declared.file, declared.start).filter(|word| word.at == declared) else {
        return false;
    };
    let Some(owner) = word.token.parent().and_then(|name| name.parent()) else { return false };
    let around = |kinds: &[S]| owner.ancestors().find(|node| kinds.contains(&node.kind())).map(|node| node.kind());
    // The code of containers and parts is read where it is used.
    if around(&[S::CONTAINER, S::PART]).is_some() {
        return false;
    }
    let layer = owner.ancestors().find(|node| node.kind() == S::LAYER);
    let is_of_layer = layer.is_some();
    // Its parts may be in other files, and name its state. Its quotas are given to containers.
    let has_parts = layer.is_some_and(|layer| layer.children().any(|member| member.kind() == S::PARTS));
    match owner.kind() {
        S::HOST | S::LINK | S::BIND_EXPR => true,
        S::VAR | S::TIMER | S::ARRAY | S::MAP | S::MESSAGES | S::OBJECT => is_of_layer && !has_parts,
        S::PARAM => is_of_layer && around(&[S::HANDLER, S::FUNCTION]).is_some(),
        S::NAME_PATTERN | S::TUPLE_PATTERN | S::PATTERN_FIELD | S::FOR_STMT | S::LET_CONDITION => {
            // So is that of functions that take functions.
            let is_read = || analysis.checked.program.mentions.iter().any(|mention| mention.of == declared);
            is_of_layer || is_read()
        }
        _ => false,
    }
}

/// The declarations of what a word refers to, from the compiler's table only.
pub fn exact_declarations(analysis: &Analysis, at: Span) -> Vec<Span> {
    let mentions = &analysis.checked.program.mentions;
    let found: Vec<Span> = mentions_at(mentions, at).iter().map(|mention| mention.of).collect();
    let is_declared = || mentions.iter().any(|mention| mention.of == at);
    if found.is_empty() && is_declared() {
        return vec![at];
    }
    found
}

/// All that a word is the name of: what it refers to, and the local that it binds beside.
pub fn meant(analysis: &Analysis, at: Span) -> Vec<Span> {
    let mut found = exact_declarations(analysis, at);
    if !found.contains(&at) && analysis.checked.program.mentions.iter().any(|mention| mention.of == at) {
        found.push(at);
    }
    found
}

/// Whether the compiler's table says that this word refers to another.
pub fn is_mention(analysis: &Analysis, at: Span) -> bool {
    mentions_at(&analysis.checked.program.mentions, at).iter().any(Mention::is_use)
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use mokume_base::world::RealWorld;

    use super::*;
    use crate::overlay::Overlay;

    /// Searches for what is local leave other files out, so no file may name such a thing of another.
    #[test]
    fn no_other_file_names_what_is_local() {
        let (mut local, mut others) = (0, BTreeSet::new());
        for folder in ["library", "tests/library", "examples"] {
            let folder = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
            let world = Overlay { world: &RealWorld, texts: &BTreeMap::new() };
            let analysis = Analysis::of_files(&world, &[folder]);
            for mention in &analysis.checked.program.mentions {
                match is_local(&analysis, mention.of) {
                    true if mention.at.file != mention.of.file => {
                        let source = analysis.checked.sources.file(mention.of.file);
                        let text = &source.text[mention.of.start as usize..mention.of.end as usize];
                        others.insert(format!("`{text}` of {}", source.name));
                    }
                    is_local => local += usize::from(is_local),
                }
            }
        }
        assert!(local > 5000 && others.is_empty(), "{local}: {others:#?}");
    }
}
