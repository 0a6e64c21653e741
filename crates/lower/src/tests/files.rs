//! The program files of `tests/program` and of the library's tests: every `test` block runs on the interpreter.

use std::path::{Path, PathBuf};

use mokume_base::{Diagnostic, Severity, SourceMap};
use mokume_reaction::text::print;
use mokume_reaction::Automaton;
use mokume_semantics::program::Program;
use mokume_semantics::{analyse_files, Loader};
use mokume_testkit::Script;

use crate::{lower_whole, test_script, Fault, Lowered, Options};

use super::complaints;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The library's folders and the folder of the file that asks.
struct Folders;

impl Loader for Folders {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let folder = root().join("library").join(name);
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|known| known == "mok"));
        files.sort();
        let read = |path: PathBuf| Some((path.to_string_lossy().into_owned(), std::fs::read_to_string(&path).ok()?));
        files.into_iter().map(read).collect()
    }

    fn file(&mut self, from: &str, name: &str) -> Option<(String, String)> {
        let path = Path::new(from).parent()?.join(name);
        Some((path.to_string_lossy().into_owned(), std::fs::read_to_string(&path).ok()?))
    }

    fn modules(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The `.mok` files of a folder.
pub fn files_of(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|known| known == "mok"));
    files.sort();
    files
}

pub fn analyse(path: &Path) -> (SourceMap, Program, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = sources.add(path.to_string_lossy(), text);
    let (program, diagnostics) = analyse_files(&mut sources, &[file], &mut Folders);
    (sources, program, diagnostics)
}

/// Errors as text, with their lines.
pub fn shown(sources: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<String> {
    let show = |diagnostic: &Diagnostic| {
        let place = diagnostic.primary.as_ref().map_or(String::new(), |label| {
            let (line, column) = sources.line_column(label.span.file, label.span.start);
            format!("{}:{line}:{column}", sources.file(label.span.file).name)
        });
        format!("{place}: {} {}", diagnostic.code.0, diagnostic.message)
    };
    diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).map(show).collect()
}

/// A test block with its lowered stack.
pub struct Case {
    pub automaton: Automaton,
    pub script: Script,
}

/// All tests of a file under some options, or the errors that kept them from running.
pub fn cases(path: &Path, options: &Options) -> Result<Vec<Case>, Vec<String>> {
    let (sources, program, diagnostics) = analyse(path);
    let errors = shown(&sources, &diagnostics);
    if !errors.is_empty() {
        return Err(errors);
    }
    // There is no C here.
    let options = &Options { models: true, ..options.clone() };
    let mut all = Vec::new();
    for test in &program.tests {
        let (lowered, diagnostics) = lower_whole(&program, &sources, test.stack, options);
        let Some(Lowered { automaton, protocols, .. }) = lowered else { return Err(shown(&sources, &diagnostics)) };
        let (script, diagnostics) = test_script(&program, (&automaton, &protocols), &sources, test);
        let Some(script) = script else { return Err(shown(&sources, &diagnostics)) };
        all.push(Case { automaton, script });
    }
    Ok(all)
}

/// Every complaint about a file's tests.
fn judge(path: &Path, options: &Options) -> Vec<String> {
    let cases = match cases(path, options) {
        Ok(cases) => cases,
        Err(errors) => return errors,
    };
    let mut all = Vec::new();
    for case in cases {
        for complaint in complaints(&case.automaton, &case.script) {
            all.push(format!("{}: {complaint}", case.script.name));
        }
    }
    all
}

fn all_pass(folder: &str) {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut all = Vec::new();
    for path in files_of(folder) {
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        // Its tests are about the functions in C themselves.
        if !name.contains(&only) || name == "cipher.mok" {
            continue;
        }
        all.extend(judge(&path, &Options::default()).into_iter().map(|complaint| format!("{name}: {complaint}")));
        if std::env::var("SHOW").is_ok() {
            for case in cases(&path, &Options::default()).into_iter().flatten() {
                println!("{}", print(&case.automaton));
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn programs_do_what_their_tests_say() {
    all_pass("tests/program");
}

#[test]
fn the_library_does_what_its_tests_say() {
    all_pass("tests/library");
}

/// A fault is found if a program whose tests pass without it fails with it (or does not even lower).
#[test]
fn every_planted_fault_is_found() {
    let sound: Vec<PathBuf> =
        files_of("tests/program").into_iter().filter(|path| judge(path, &Options::default()).is_empty()).collect();
    assert!(!sound.is_empty());
    let missed: Vec<Fault> = Fault::ALL
        .into_iter()
        .filter(|fault| {
            let options = Options { fault: Some(*fault), ..Options::default() };
            // A failed assertion counts as found.
            let unseen = || sound.iter().all(|path| judge(path, &options).is_empty());
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(unseen)).unwrap_or(false)
        })
        .collect();
    assert!(missed.is_empty(), "nobody finds {missed:?}");
}
