//! Every code has a page, and the page is true: its wrong example gives the code, its right one gives nothing.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, SourceMap};
use mokume_semantics::{analyse_files, codes, load::Nothing};

fn check(text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::default();
    let root = sources.add("page.mok", text);
    analyse_files(&mut sources, &[root], &mut Nothing).1
}

fn example<'a>(page: &'a str, kind: &str) -> &'a str {
    let from = page.find(&format!("```{kind}\n")).expect("a page has both examples") + kind.len() + 4;
    let to = page[from..].find("\n```").expect("an example ends");
    &page[from..from + to]
}

/// What is false about one page.
fn faults(code: &str, page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let wrong: Vec<&str> = check(example(page, "wrong")).iter().map(|diagnostic| diagnostic.code.0).collect();
    if !wrong.contains(&code) {
        faults.push(format!("{code}: the wrong example gives {wrong:?}"));
    }
    // An excerpt of a layer leaves out its other half.
    let half = ["M0518", "M0519", "M0520", "M0521"];
    let right = check(example(page, "right"));
    for diagnostic in right.iter().filter(|found| half.contains(&code) || !half.contains(&found.code.0)) {
        faults.push(format!("{code}: the right example gives {} {}", diagnostic.code.0, diagnostic.message));
    }
    faults
}

#[test]
fn pages_are_true() {
    let all: Vec<String> = codes::all().flat_map(|(code, _, page)| faults(code, page)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_false_page_is_found() {
    let (_, _, page) = codes::all().find(|(code, _, _)| *code == "M0401").expect("the page on leaks");
    assert!(faults("M0401", page).is_empty());
    assert_eq!(faults("M0402", page).len(), 1, "the wrong code");
    let swapped = page.replace("```wrong", "```x").replace("```right", "```wrong").replace("```x", "```right");
    assert_eq!(faults("M0401", &swapped).len(), 2, "both examples swapped");
}

#[test]
fn every_code_in_the_sources_has_a_page_and_is_used() {
    let mut used = BTreeSet::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut used);
    let declared: BTreeSet<&str> = codes::all().map(|(code, _, _)| *code).collect();
    assert_eq!(declared.len(), codes::all().count(), "each code once");
    assert!(used.len() > 80, "the scan finds the uses: {}", used.len());
    for (code, title, page) in codes::all() {
        assert!(page.len() > 80 && !title.is_empty(), "{code} has a page");
    }
    assert_eq!(used.len(), declared.len(), "as many names are used as there are codes: {used:?}");
}

fn sources(folder: &std::path::Path, used: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "codes") {
                sources(&path, used);
            }
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        for part in text.split("codes::").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            if name.len() > 2 {
                used.insert(name);
            }
        }
    }
}
