//! The user's page shows only what stands in a test file, and every operation stands in one.

use std::path::{Path, PathBuf};

use mokume_reaction::codes::CODES;
use mokume_reaction::operation::template;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/automaton.md")).unwrap()
}

fn automata() -> Vec<String> {
    let folders = ["right", "form"].map(|folder| root().join("tests/reaction").join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

/// The blocks between ```ra and ```.
fn examples(page: &str) -> Vec<String> {
    page.split("```ra\n").skip(1).map(|rest| rest.split("```").next().unwrap_or("").to_owned()).collect()
}

#[test]
fn every_example_stands_in_a_test_file() {
    let (page, automata) = (page(), automata());
    let examples = examples(&page);
    assert!(examples.len() > 10);
    for example in examples {
        // Lists of declarations are gathered from several places; everything else stands as it is.
        let is_list = example.lines().all(|line| !line.starts_with(' ') && !line.ends_with('{') && line != "}");
        let stands = |text: &str| automata.iter().any(|automaton| automaton.contains(text));
        let found = if is_list { example.lines().all(|line| stands(&format!("{line}\n"))) } else { stands(&example) };
        let whole = example.split("\n}\n").all(stands);
        assert!(found || whole, "no test file has\n{example}");
    }
}

#[test]
fn a_planted_example_would_be_found() {
    assert!(!automata().iter().any(|automaton| automaton.contains("emit above.sned(m1)")));
    assert_eq!(examples("a\n```ra\nb\n```\nc"), ["b\n"]);
}

#[test]
fn the_page_lists_every_code() {
    let page = page();
    for code in CODES {
        assert!(page.contains(code.0), "{}", code.0);
    }
}

/// Every operation of the table, and every other terminator.
#[test]
fn every_operation_is_on_the_page_and_in_a_test_file() {
    let (page, text) = (page(), automata().concat());
    let terminators = ["return", "yield", "jump", "br", "switch", "match"];
    for word in template::words().into_iter().chain(terminators) {
        let begins = |line: &str| {
            let first = line.split([' ', ';']).next().unwrap_or_default();
            first == word || first.strip_prefix(word).is_some_and(|rest| rest.starts_with('.'))
        };
        let used = text.lines().any(|line| {
            let line = line.trim();
            let after_results = line.split_once(" = ").map_or(line, |(_, operation)| operation);
            begins(line) || begins(after_results)
        });
        assert!(used, "no test file uses {word}");
        assert!(page.contains(word), "the page does not show {word}");
    }
}
