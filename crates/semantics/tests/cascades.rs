//! One mistake is one error: counts the errors of the library's and the examples' programs with a token left out, a
//! token doubled, or the rest cut off. `CASCADES=20000` for more of them; `SHOW=4` prints those with this many errors.

use std::path::{Path, PathBuf};

use mokume_base::{Diagnostic, FileId, Random, Severity, SourceMap};
use mokume_semantics::{analyse_files, Loader};

/// The number in `./test` of each kind.
const MUTANTS: usize = 200;

/// The library on disk, with one file of it replaced.
struct Library<'a> {
    house: &'a Path,
    replaced: &'a Path,
    by: &'a str,
}

impl Library<'_> {
    fn text(&self, path: &Path) -> Option<String> {
        if path == self.replaced {
            return Some(self.by.to_string());
        }
        std::fs::read_to_string(path).ok()
    }
}

impl Loader for Library<'_> {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let paths = programs(&self.house.join("library").join(name));
        let read = |path: &PathBuf| Some((path.to_string_lossy().into_owned(), self.text(path)?));
        let files: Vec<_> = paths.iter().filter_map(read).collect();
        (!files.is_empty()).then_some(files)
    }
    fn file(&mut self, from: &str, name: &str) -> Option<(String, String)> {
        let path = Path::new(from).parent()?.join(name);
        Some((path.to_string_lossy().into_owned(), self.text(&path)?))
    }
    fn modules(&self) -> Vec<String> {
        folders(&self.house.join("library"))
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn folders(folder: &Path) -> Vec<String> {
    let folders = entries(folder).into_iter().filter(|path| path.is_dir());
    folders.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect()
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "mok")).collect()
}

fn tokens(text: &str) -> Vec<String> {
    let all = mokume_syntax::parse(FileId(0), text);
    let all = all.syntax().descendants_with_tokens();
    all.filter_map(|element| element.into_token()).map(|token| token.text().to_string()).collect()
}

/// The errors of a program of the repository if one of its files has this text.
fn errors(house: &Path, path: &Path, text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let module = path.parent().filter(|folder| folder.parent() == Some(&house.join("library")));
    let root = match module.and_then(|folder| folder.file_name()) {
        Some(module) => sources.add("root.mok", format!("use {}\n", module.to_string_lossy())),
        None => sources.add(path.to_string_lossy(), text),
    };
    let (_, mut found) = analyse_files(&mut sources, &[root], &mut Library { house, replaced: path, by: text });
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    (sources, found)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    LeftOut,
    Doubled,
    CutOff,
}

fn with(mistake: Mistake, tokens: &[String], at: usize) -> String {
    let (before, behind) = (tokens[..at].concat(), tokens[at + 1..].concat());
    let token = &tokens[at];
    match mistake {
        Mistake::LeftOut => before + &behind,
        Mistake::Doubled => format!("{before}{token} {token}{behind}"),
        Mistake::CutOff => before + token + "\n",
    }
}

/// How many of the mutants have each number of errors.
fn measured(mistake: Mistake) -> Vec<usize> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (mutants, show) = (number("CASCADES").unwrap_or(MUTANTS), number("SHOW").unwrap_or(usize::MAX));
    let house = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = house.join("library");
    let mut all = programs(&house.join("examples"));
    all.extend(folders(&library).iter().flat_map(|module| programs(&library.join(module))));
    let all: Vec<(PathBuf, Vec<String>)> = all
        .into_iter()
        .map(|path| (path.clone(), tokens(&std::fs::read_to_string(path).expect("a program"))))
        .collect();
    let mut random = Random::new(mistake as u64);
    let mut counts = vec![0];
    for _ in 0..mutants {
        let (path, tokens) = random.one_of(&all);
        let at = random.place(tokens.len());
        if tokens[at].trim().is_empty() || tokens[at].starts_with("//") {
            continue;
        }
        let (sources, found) = errors(&house, path, &with(mistake, tokens, at));
        counts.resize(counts.len().max(found.len() + 1), 0);
        counts[found.len()] += 1;
        if found.len() >= show {
            let line = tokens[..at].concat().matches('\n').count() + 1;
            println!("==== {mistake:?} `{}` {}:{line}: {} errors", tokens[at], path.display(), found.len());
            for diagnostic in found.iter().take(12) {
                let place = |label: &mokume_base::Label| {
                    let (line, column) = sources.line_column(label.span.file, label.span.start);
                    format!("{}:{line}:{column}", sources.file(label.span.file).name)
                };
                let place = diagnostic.primary.as_ref().map(place).unwrap_or_default();
                println!("    {} {place} {}", diagnostic.code.0, diagnostic.message);
            }
        }
    }
    println!("FIGURE: {mistake:?}: mutants with 0, 1, 2 … errors: {counts:?}");
    counts
}

/// Whether few of the mutants have four errors or more: of 2,000 it is three in a hundred, and a random sample may have
/// some more.
fn are_few(counts: &[usize]) -> bool {
    let (all, many) = (counts.iter().sum::<usize>(), counts.iter().skip(4).sum::<usize>());
    all >= MUTANTS / 3 && many <= all / 25 + 1
}

#[test]
fn a_token_left_out_is_few_errors() {
    assert!(are_few(&measured(Mistake::LeftOut)));
}

#[test]
fn a_token_doubled_is_few_errors() {
    assert!(are_few(&measured(Mistake::Doubled)));
}

#[test]
fn a_program_cut_off_is_few_errors() {
    assert!(are_few(&measured(Mistake::CutOff)));
}

#[test]
fn many_errors_are_seen() {
    // A tenth has four errors, as before unreadable text suppressed later errors.
    assert!(!are_few(&[10, 150, 20, 10, 10, 8, 2]));
}
