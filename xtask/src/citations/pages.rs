//! Paths that pages show between backquotes must exist in the repository.
//!
//! A path begins at the root, `docs/language.md`, or at the page's folder. For Rust sources the end is enough,
//! `parser/forms.rs`, since a page says which crate it describes.

use super::{is_of_repository, is_path, Repository};

/// The paths that pages name and the repository lacks.
pub fn faults(repository: &Repository) -> Vec<String> {
    let pages = repository.files.iter().filter(|(path, _)| path.ends_with(".md"));
    pages.flat_map(|(path, text)| in_page(repository, path, text)).collect()
}

fn in_page(repository: &Repository, path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let spans = line.split('`').skip(1).step_by(2).filter(|_| !fenced);
        let wrong = spans.filter(|span| is_missing(repository, path, span));
        faults.extend(wrong.map(|span| format!("{path}:{}: `{span}` is not in the repository", number + 1)));
    }
    faults
}

/// Whether a span is a path that does not exist, neither from the root nor from the page's own folder.
fn is_missing(repository: &Repository, page: &str, span: &str) -> bool {
    let beside = page.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/{span}"));
    if span.ends_with(".rs") && is_path(span) {
        let end = format!("/{span}");
        return !repository.files.keys().any(|file| file == span || file.ends_with(&end));
    }
    is_of_repository(span) && !repository.has(span) && !repository.has(&beside)
}
