//! The user's page shows only text from test files, and every operation occurs in one.

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
        // Lists of declarations come from several places; everything else must occur unchanged.
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
fn operations() -> impl Iterator<Item = &'static str> {
    template::words().into_iter().chain(["return", "yield", "refuse", "jump", "br", "switch", "match"])
}

/// Whether a line of an automaton is this operation, possibly with results before it.
fn is_line_of(line: &str, word: &str) -> bool {
    let begins = |line: &str| {
        let first = line.split([' ', ';']).next().unwrap_or_default();
        first == word || first.strip_prefix(word).is_some_and(|rest| rest.starts_with('.'))
    };
    let line = line.trim();
    begins(line) || begins(line.split_once(" = ").map_or(line, |(_, operation)| operation))
}

/// Whether the page has the word in its tables: between backquotes, not as a part of another.
fn is_on(page: &str, word: &str) -> bool {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let mut shown = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    shown.any(|code| {
        code.split(' ').any(|part| part == word || part.strip_prefix(word).is_some_and(|rest| rest.starts_with('.')))
    })
}

#[test]
fn every_operation_is_on_the_page_and_in_a_test_file() {
    let (page, text) = (page(), automata().concat());
    let unused: Vec<&str> = operations().filter(|word| !text.lines().any(|line| is_line_of(line, word))).collect();
    assert!(unused.is_empty(), "no file of tests/reaction/form or right uses {unused:?}");
    let unsaid: Vec<&str> = operations().filter(|word| !is_on(&page, word)).collect();
    assert!(unsaid.is_empty(), "the tables of docs/automaton.md do not show {unsaid:?}");
}

#[test]
fn a_word_within_another_is_no_row() {
    assert!(is_on("| `a = sum16 m`, `fold16 s` | |", "sum16") && is_on("| `load.be16 m, 6` | |", "load"));
    assert!(!is_on("its high ones\n| `zones s`, ones | |", "ones"));
}
