//! Wrong programs whose errors only show in a whole stack, in `tests/check/whole`, marked like those in `tests/check`.
//! Also what holds of all of them together: at least 100 programs, 70 codes, and a page for each code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mokume_base::world::RealWorld;
use mokume_base::Diagnostic;
use mokume_driver::compile::{self, Checked};
use mokume_driver::{check, explain};
use mokume_testkit::marks;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/check")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("tests/check").flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "mok")).collect();
    paths.sort();
    paths
}

/// A file without its marks, as `mokume check` sees it.
fn checked(program: &str, scratch: &Path) -> (Checked, Vec<Diagnostic>) {
    std::fs::write(scratch, program).expect("a scratch file");
    let checked = compile::check(&RealWorld, &[scratch.to_string_lossy().into_owned()]).expect("it is read");
    let diagnostics = check::all(&checked, &RealWorld);
    (checked, diagnostics)
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("mokume-wrong-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder.join(name)
}

#[test]
fn every_diagnostic_of_whole_stacks_stands_where_it_is_marked() {
    let mut all = Vec::new();
    let scratch = scratch("marked.mok");
    for path in files(&folder().join("whole")) {
        let text = std::fs::read_to_string(&path).expect("a file");
        let (program, expected) = marks::read(&text);
        let (checked, diagnostics) = checked(&program, &scratch);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, marks::marked(&program, &checked.sources, &diagnostics)).expect("blessed");
            continue;
        }
        assert!(!expected.is_empty(), "{} is a wrong program", path.display());
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        all.extend(marks::faults(&name, &expected, &checked.sources, &diagnostics));
        all.extend(diagnostics.iter().filter_map(|found| Some(format!("{name}: {} {}", found.code.0, lacks(found)?))));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// What a diagnostic lacks.
fn lacks(found: &Diagnostic) -> Option<&'static str> {
    match (&found.primary, found.helps.is_empty()) {
        (None, _) => Some("has no place"),
        (_, true) => Some("has no way out"),
        _ => None,
    }
}

#[test]
fn what_a_diagnostic_lacks_is_found() {
    let bare = Diagnostic::error(mokume_base::Code("M0001"), "wrong");
    assert_eq!(lacks(&bare), Some("has no place"));
    let placed = bare.at(mokume_base::Span::new(mokume_base::FileId(0), 0, 1), "here");
    assert_eq!(lacks(&placed), Some("has no way out"));
    assert_eq!(lacks(&placed.help("write it right")), None);
}

/// Wrong programs of all files, as `mokume check` sees them, including those whose errors only show in a whole stack.
#[test]
fn every_diagnostic_of_every_wrong_program_has_a_place() {
    let scratch = scratch("placed.mok");
    let mut placeless = Vec::new();
    for path in files(&folder()).into_iter().chain(files(&folder().join("whole"))) {
        let (program, _) = marks::read(&std::fs::read_to_string(&path).expect("a file"));
        let (_, diagnostics) = checked(&program, &scratch);
        let found = diagnostics.iter().filter(|found| found.primary.is_none());
        placeless.extend(found.map(|found| format!("{}: {} {}", path.display(), found.code.0, found.message)));
    }
    assert!(placeless.is_empty(), "{}", placeless.join("\n"));
}

#[test]
fn a_hundred_wrong_programs_meet_seventy_codes_and_each_has_a_page() {
    let paths: Vec<PathBuf> = files(&folder()).into_iter().chain(files(&folder().join("whole"))).collect();
    let mut codes = BTreeSet::new();
    for path in &paths {
        let (_, marks) = marks::read(&std::fs::read_to_string(path).expect("a file"));
        codes.extend(marks.into_iter().filter_map(|(_, _, what)| {
            let code = what.split_once('[')?.1.trim_end_matches(']').to_string();
            Some(code)
        }));
    }
    println!("FIGURE: wrong programs: {}, {} codes of {}", paths.len(), codes.len(), explain::pages().len());
    assert!(paths.len() >= 100, "{} programs", paths.len());
    assert!(codes.len() >= 70, "{} codes: {codes:?}", codes.len());
    for code in &codes {
        let page = explain::page(code).unwrap_or_else(|| panic!("{code} has no page"));
        assert!(page.text.len() > 80 && !page.title.is_empty(), "{code}'s page");
    }
    // The check can fail: an unused code has no page.
    assert!(explain::page("M0000").is_none());
}

/// Errors that hide no later ones: of names, types, shapes, messages, wires, stacks, whole stacks, tests, networks.
#[test]
fn wrong_programs_joined_in_one_file_say_all_that_each_says() {
    let mut joined = String::new();
    let mut wanted = BTreeSet::new();
    let scratch = scratch("joined.mok");
    let mut number = 0;
    for path in files(&folder()).into_iter().chain(files(&folder().join("whole"))) {
        let text = std::fs::read_to_string(&path).expect("a file");
        let (program, _) = marks::read(&text);
        // Names are made unique to the file. A file with an unclosed brace would swallow the next one.
        let open = program.matches('{').count() != program.matches('}').count();
        let quotes = program.matches('"').count() % 2 == 1;
        let (alone, diagnostics) = checked(&program, &scratch);
        let only_warnings = !compile::has_errors(&diagnostics);
        if open || quotes || only_warnings || program.contains("use ") || program.contains("/*") {
            continue;
        }
        number += 1;
        let renamed = renamed(&program, &alone, number);
        let (_, again) = checked(&renamed, &scratch);
        // The renamed program's codes count: diagnostics about a name may change with the name.
        wanted.extend(again.iter().map(|diagnostic| diagnostic.code.0));
        joined += &renamed;
    }
    let (_, all) = checked(&joined, &scratch);
    let found: BTreeSet<&str> = all.iter().map(|diagnostic| diagnostic.code.0).collect();
    let hidden: Vec<&&str> = wanted.iter().filter(|code| !found.contains(**code)).collect();
    println!(
        "FIGURE: wrong programs joined in one file: {number} programs, {} codes, {} hidden",
        wanted.len(),
        hidden.len()
    );
    assert!(number >= 60, "{number} programs are joined");
    assert!(hidden.is_empty(), "hidden by others: {hidden:?}");
}

/// The program with a number after every name of an item of its own.
fn renamed(program: &str, alone: &Checked, number: usize) -> String {
    let root = alone.roots[0];
    let parse = mokume_syntax::parse(root, program);
    let identifiers = |node: mokume_syntax::SyntaxNode| {
        let tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
        tokens.filter(|token| token.kind() == mokume_syntax::SyntaxKind::IDENT).map(|token| token.text().to_string())
    };
    let named = |node: mokume_syntax::SyntaxNode| {
        let mut words = identifiers(node);
        let what = words.next().map(|word| if word == "extern" { words.next() } else { Some(word) })??;
        let name = words.next()?;
        let common = ["fn", "attribute", "const", "type"].contains(&what.as_str());
        (common || name.starts_with(char::is_uppercase)).then_some(name)
    };
    let own: BTreeSet<String> = parse.syntax().children().filter_map(named).collect();
    let tokens = parse.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
    let text = |token: mokume_syntax::SyntaxToken| match own.contains(token.text()) {
        true => format!("{}N{number}", token.text()),
        false => token.text().to_string(),
    };
    tokens.map(text).collect()
}
