//! Every code that the front end gives has a page in `docs/diagnostics`, and every page there has a code.

use std::collections::BTreeSet;
use std::path::Path;

use mokume_base::Page;
use mokume_driver::explain;

/// The pages in the folder, by the names of their files.
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    let files = std::fs::read_dir(folder).expect("the pages").flatten();
    let text = |entry: &std::fs::DirEntry| std::fs::read_to_string(entry.path()).expect("a page");
    files.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(&entry))).collect()
}

/// What does not fit between codes and the files of their pages.
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
    for code in explain::codes() {
        assert!(explain::page(code).is_some(), "{code} is in the folder and not in the program");
    }
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
