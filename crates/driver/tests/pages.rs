//! Every code of Mokume has a page in `docs/diagnostics`, and every page there has a code.

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::{Diagnostic, MemoryWorld, Page, Severity};
use mokume_driver::{check, compile, explain};

/// The pages in the folder, by file name.
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let files = std::fs::read_dir(folder).expect("the pages").flatten();
    let text = |entry: &std::fs::DirEntry| std::fs::read_to_string(entry.path()).expect("a page");
    files.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(&entry))).collect()
}

/// The mismatches between codes and the files of their pages.
fn faults(codes: &[&str], files: &[(String, String)]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut paged = BTreeSet::new();
    for (name, text) in files {
        match Page::read(text) {
            Some(page) if format!("{}.md", page.code) != *name => {
                faults.push(format!("{name} is the page of {}", page.code))
            }
            Some(page) if !codes.contains(&page.code) => faults.push(format!("nobody gives {}", page.code)),
            Some(page) => drop(paged.insert(page.code)),
            None => faults.push(format!("{name} does not begin as a page does")),
        }
    }
    faults.extend(codes.iter().filter(|code| !paged.contains(**code)).map(|code| format!("{code} has no page")));
    let once: BTreeSet<&&str> = codes.iter().collect();
    if once.len() != codes.len() {
        faults.push("two crates give one code".to_string());
    }
    faults
}

#[test]
fn codes_and_pages_are_the_same() {
    assert_eq!(faults(&explain::codes(), &files()), Vec::<String>::new());
    let mut codes = explain::codes();
    codes.sort();
    assert_eq!(explain::pages().iter().map(|page| page.code).collect::<Vec<_>>(), codes, "in the program");
}

/// The first example of a kind on a page; not every page has examples.
fn example<'p>(page: &'p str, kind: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("\n```{kind}\n"))?;
    Some(rest.split_once("\n```").unwrap_or((rest, "")).0)
}

/// The codes of errors and warnings that `mokume check` reports of an example. Files after the first begin with a line
/// `// --- name.mok`; files in C are there, and empty.
fn checked(text: &str) -> Vec<Diagnostic> {
    let mut parts = text.split("// --- ");
    let first = parts.next().unwrap_or_default().to_string();
    let named = parts.filter_map(|part| part.split_once('\n'));
    let world = named.fold(MemoryWorld::new(), |world, (name, text)| world.with_file(name.trim(), text));
    let in_c = text.split('"').filter(|word| word.ends_with(".c"));
    let world = in_c.fold(world, |world, name| world.with_file(name, ""));
    let checked = compile::check_texts(&world, vec![("page.mok".to_string(), first)], Vec::new());
    check::without_c(&checked)
}

/// Warnings about excerpts, which lack their other half.
const OF_EXCERPTS: [&str; 8] = ["M0291", "M0298", "M0518", "M0519", "M0520", "M0521", "M0522", "M0794"];

/// What is false about the examples of a page.
fn false_examples(page: &Page<'_>) -> Vec<String> {
    let (Some(wrong), Some(right)) = (example(page.text, "wrong"), example(page.text, "right")) else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    let found = checked(wrong);
    if !found.iter().any(|found| found.code.0 == page.code) {
        let codes: Vec<&str> = found.iter().map(|found| found.code.0).collect();
        faults.push(format!("{}: the wrong example gives {codes:?}", page.code));
    }
    let is_of_excerpt = |found: &&Diagnostic| {
        found.severity == Severity::Warning && OF_EXCERPTS.contains(&found.code.0) && found.code.0 != page.code
    };
    let found = checked(right);
    for found in found.iter().filter(|found| !is_of_excerpt(found)) {
        faults.push(format!("{}: the right example gives {} {}", page.code, found.code.0, found.message));
    }
    faults
}

#[test]
fn examples_are_true_of_the_whole_command() {
    let pages = explain::pages();
    let faults: Vec<String> = pages.iter().flat_map(false_examples).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let with = pages.iter().filter(|page| example(page.text, "wrong").is_some()).count();
    assert!(with > 200, "{with} pages have examples");
}

#[test]
fn a_false_example_is_found() {
    let pages = explain::pages();
    let page = pages.iter().find(|page| page.code == "M0780").expect("a page");
    let swapped = page.text.replace("```wrong", "```x").replace("```right", "```wrong").replace("```x", "```right");
    let faults = false_examples(&Page { text: &swapped, ..*page });
    assert!(
        faults.len() >= 2
            && faults[0].contains("the wrong example gives")
            && faults[1].contains("the right example gives"),
        "{faults:?}"
    );
}

#[test]
fn what_does_not_fit_is_found() {
    let (codes, mut files) = (explain::codes(), files());
    let (name, text) = files.pop().expect("a page");
    assert_eq!(faults(&codes, &files).len(), 1, "a page that is missing");
    files.push((name.clone(), text.replacen("# ", "", 1)));
    assert_eq!(faults(&codes, &files).len(), 2, "a file without the heading of a page");
    files.pop();
    files.push(("M0000.md".to_string(), text.clone()));
    assert_eq!(faults(&codes, &files).len(), 2, "a page in the wrong file");
    files.pop();
    files.push((name, text));
    files.push(("M0000.md".to_string(), "# M0000: a code of nobody\n\nWhy.\n".to_string()));
    assert_eq!(faults(&codes, &files), ["nobody gives M0000"]);
    let twice: Vec<&str> = codes.iter().copied().chain(codes.first().copied()).collect();
    files.pop();
    assert_eq!(faults(&twice, &files), ["two crates give one code"]);
}

/// The codes that occur as texts in the sources of a crate.
fn written(sources: &Path, into: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(sources).expect("a folder").flatten() {
        if entry.path().is_dir() {
            written(&entry.path(), into);
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).expect("a source");
        let texts = text.split('"').filter(|text| text.len() == 5 && text.starts_with('M'));
        into.extend(texts.filter(|text| text[1..].bytes().all(|octet| octet.is_ascii_digit())).map(str::to_string));
    }
}

#[test]
fn codes_that_are_texts_are_in_their_list() {
    // The other crates name their codes by constants, which are the list.
    let mut found = BTreeSet::new();
    written(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../lower/src"), &mut found);
    let listed: Vec<&str> = mokume_lower::codes::CODES.iter().map(|code| code.0).collect();
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), listed);
    found.clear();
    written(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut found);
    assert!(found.contains("M0342"), "a code that stands in a source is found");
}
