//! Every code has a page, and the page is true: its wrong example gives the code, its right one gives no diagnostic.

use std::collections::BTreeSet;

use mokume_base::{Diagnostic, Page, SourceMap};
use mokume_semantics::{analyse_files, codes::CODES, Loader};

/// The file of a code's page.
fn page_file(code: &str) -> Result<String, String> {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics").join(format!("{code}.md"));
    std::fs::read_to_string(&path).map_err(|_| format!("{code} has no page"))
}

/// The files of an example after its first: each begins with a line `// --- name.mok`.
struct Beside<'t>(&'t str);

impl Loader for Beside<'_> {
    fn module(&mut self, _name: &str) -> Option<Vec<(String, String)>> {
        None
    }
    fn file(&mut self, _from: &str, name: &str) -> Option<(String, String)> {
        let mut parts = self.0.split("// --- ").skip(1).filter_map(|part| part.split_once('\n'));
        parts.find(|(known, _)| *known == name).map(|(known, text)| (known.to_string(), text.to_string()))
    }
    fn modules(&self) -> Vec<String> {
        Vec::new()
    }
}

fn check(text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::default();
    let first = text.split("// --- ").next().unwrap_or_default();
    let root = sources.add("page.mok", first);
    analyse_files(&mut sources, &[root], &mut Beside(text)).1
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
    // An excerpt of a layer lacks its other half.
    let half = ["M0298", "M0518", "M0519", "M0520", "M0521", "M0522", "M0794"];
    let right = check(example(page, "right"));
    for diagnostic in right.iter().filter(|found| half.contains(&code) || !half.contains(&found.code.0)) {
        faults.push(format!("{code}: the right example gives {} {}", diagnostic.code.0, diagnostic.message));
    }
    faults
}

/// What is false about the page of a code, or that it is missing.
fn faults_of(code: &str) -> Vec<String> {
    let file = match page_file(code) {
        Ok(file) => file,
        Err(missing) => return vec![missing],
    };
    match Page::read(&file) {
        Some(page) if page.code == code && page.text.len() > 80 && !page.title.is_empty() => faults(code, page.text),
        _ => vec![format!("{code}: its file has no page")],
    }
}

#[test]
fn pages_are_true() {
    let all: Vec<String> = CODES.iter().flat_map(|code| faults_of(code.0)).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_false_page_is_found() {
    let file = page_file("M0401").expect("the page on leaks");
    let page = Page::read(&file).expect("a page").text;
    assert!(faults("M0401", page).is_empty());
    assert_eq!(faults("M0402", page).len(), 1, "the wrong code");
    let swapped = page.replace("```wrong", "```x").replace("```right", "```wrong").replace("```x", "```right");
    assert_eq!(faults("M0401", &swapped).len(), 2, "both examples swapped");
}

#[test]
fn a_missing_page_is_found() {
    assert_eq!(faults_of("M0000"), ["M0000 has no page"]);
}

#[test]
fn every_code_in_the_sources_has_a_page_and_is_used() {
    let mut used = BTreeSet::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut used);
    let declared: BTreeSet<&str> = CODES.iter().map(|code| code.0).collect();
    assert_eq!(declared.len(), CODES.len(), "each code once");
    assert!(used.len() > 80, "the scan finds the uses: {}", used.len());
    assert_eq!(used.len(), declared.len(), "as many names are used as there are codes: {used:?}");
}

fn sources(folder: &std::path::Path, used: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, used);
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
