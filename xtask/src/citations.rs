//! Citations: what a comment or a page of the law names must exist in the repository.
//!
//! The check reads comments of Rust, C, layers and run files, and the page docs/semantics.md itself:
//! - a path of the repository (a file, or a folder), and any `….md`;
//! - after a page, `section 7`, and after docs/semantics.md its rules: `O3`, `O2 and O3`, `P1 to P4`, or a section,
//!   `O`;
//! - `decision 0013`;
//! - a `section` of something that is not named, or that is not here (`the plan, section 2`), is a fault, as is a
//!   figure with a letter. Sections of RFCs are not looked up.

mod comments;
mod page;
pub mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The searched folders; cited paths begin with one of them.
const FOLDERS: [&str; 10] =
    ["benches", "crates", "docs", "examples", "fuzz", "library", "runtime", "scripts", "tests", "xtask"];

/// Files and folders whose comments are not checked, each with the reason.
const NOT_LOOKED_AT: [(&str, &str); 1] = [("xtask/src/citations", "it shows faults, and plants them")];

/// What can be cited.
#[derive(Default)]
pub struct Repository {
    /// Texts by path from the root, with `/` between the parts.
    files: BTreeMap<String, String>,
    /// By page: the numbers of its sections, and the letters and rules of the law.
    parts: BTreeMap<String, BTreeSet<String>>,
}

impl Repository {
    /// Reads all files of the searched folders and of the root; files that are not text count as empty.
    pub fn read(root: &Path) -> Repository {
        let mut files = BTreeMap::new();
        collect(root, "", &mut files);
        Repository::of(files)
    }

    fn of(files: BTreeMap<String, String>) -> Repository {
        let pages = files.iter().filter(|(path, _)| path.ends_with(".md"));
        let parts = pages.map(|(path, text)| (path.clone(), page::parts(text))).collect();
        Repository { files, parts }
    }

    /// Whether a file or folder has this path from the root.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below = format!("{path}/");
        self.files.contains_key(path)
            || self.files.range(below.clone()..).next().is_some_and(|(file, _)| file.starts_with(&below))
    }

    /// The path of a page cited from a file: a path from the root or from the file's folder, or a name in `docs`.
    fn page(&self, name: &str, from: &str) -> Option<String> {
        let beside = from.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let candidates = [name.to_string(), format!("{beside}{name}"), format!("docs/{name}")];
        candidates.into_iter().find(|path| self.files.contains_key(path))
    }

    fn has_decision(&self, number: &str) -> bool {
        let start = format!("docs/decisions/{number}-");
        self.files.range(start.clone()..).next().is_some_and(|(path, _)| path.starts_with(&start))
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_built = ["target", "__pycache__"].contains(&name.as_str());
        if !path.is_dir() {
            let text = std::fs::read(&path).ok().and_then(|octets| String::from_utf8(octets).ok());
            files.insert(format!("{prefix}{name}"), text.unwrap_or_default());
        } else if !is_built && (!prefix.is_empty() || FOLDERS.contains(&name.as_str())) {
            collect(&path, &format!("{prefix}{name}/"), files);
        }
    }
}

/// Every dangling citation of the repository, with its place.
pub fn faults(repository: &Repository) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in &repository.files {
        if NOT_LOOKED_AT.iter().any(|(start, _)| path.starts_with(start)) {
            continue;
        }
        for (line, comment) in comments::of(path, text) {
            let faults = in_comment(repository, path, &comment);
            found.extend(faults.into_iter().map(|fault| format!("{path}:{line}: {fault}")));
        }
    }
    found.extend(page::faults(repository));
    found
}

/// The faults of one comment; `from` is its file.
fn in_comment(repository: &Repository, from: &str, comment: &str) -> Vec<String> {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let mut faults = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = bare(word);
        let (before, behind) = (&words[..at], &words[at + 1..]);
        if name.ends_with(".md") && is_path(name) {
            match repository.page(name, from) {
                Some(page) => faults.extend(missing_parts(repository, &page, behind)),
                None => faults.push(format!("`{name}` is no page of the repository")),
            }
        } else if is_of_repository(name) && !repository.has(name) {
            faults.push(format!("`{name}` is not in the repository"));
        } else if ["section", "sections"].contains(&name) && is_number(behind) && !names_a_source(before) {
            faults.push(format!("`{name} {}` of what? A page is cited by its path", behind[0]));
        } else if name == "figure"
            && behind.first().is_some_and(|next| bare(next).len() > 1 && page::is_rule(bare(next)))
        {
            faults.push(format!("figure {} is not in the repository", bare(behind[0])));
        } else if ["decision", "decisions"].contains(&name) && is_number(behind) {
            let number = bare(behind[0]);
            if !repository.has_decision(number) {
                faults.push(format!("decision {number} is not in docs/decisions"));
            }
        }
    }
    faults
}

/// The sections and rules that are cited directly after a page but are not on it.
fn missing_parts(repository: &Repository, page: &str, behind: &[&str]) -> Vec<String> {
    let parts = &repository.parts[page];
    let mut faults = Vec::new();
    let mut sections = false;
    for word in behind {
        let name = bare(word);
        sections |= ["section", "sections"].contains(&name);
        let is_part = if sections { name.parse::<u32>().is_ok() } else { page == page::LAW && page::is_rule(name) };
        if is_part && !parts.contains(name) {
            faults.push(format!("`{page}` has no {name}"));
        }
        let goes_on = is_part || ["section", "sections", "and", "to"].contains(&name);
        if !goes_on || word.ends_with([')', '.', ':', ';', '"']) {
            break;
        }
    }
    faults
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(|mark: char| "()[]{}<>,.;:!?`'\"*|".contains(mark));
    word.strip_suffix("'s").unwrap_or(word)
}

/// Whether a word is spelled as a path and stands for one path; `docs/diagnostics/M….md` stands for many.
fn is_path(name: &str) -> bool {
    name.chars().all(|mark| mark.is_ascii_alphanumeric() || "_-./".contains(mark))
}

fn is_of_repository(name: &str) -> bool {
    let folder = name.split_once('/').filter(|(_, rest)| !rest.is_empty()).map(|(folder, _)| folder);
    is_path(name) && folder.is_some_and(|folder| FOLDERS.contains(&folder))
}

fn is_number(behind: &[&str]) -> bool {
    behind.first().is_some_and(|word| bare(word).starts_with(|mark: char| mark.is_ascii_digit()))
}

/// Whether one of the last words names a page, or a document that is not ours.
fn names_a_source(before: &[&str]) -> bool {
    before.iter().rev().take(6).any(|word| {
        let name = bare(word);
        name.ends_with(".md") || name.starts_with("RFC") || name.starts_with("IEEE") || name.starts_with("C11")
    })
}

#[cfg(test)]
mod tests;
