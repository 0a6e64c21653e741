//! Every code of Mokume has a page in `docs/diagnostics`, and every page there has a code.

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::Page;
use mokume_driver::explain;

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
