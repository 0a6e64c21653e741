//! The user's page shows only what stands in a test file, and every operation stands in one.

use std::path::{Path, PathBuf};

use mokume_reaction::codes::CODES;

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

/// The words that start operations and ends of blocks.
const OPERATIONS: &str = "
    add sub mul add.wrap sub.wrap mul.wrap div rem and or xor not shl shr min max eq ne lt le gt ge select
    cast param now draw call unique parent null get set arm disarm armed count give left keep holds release
    again message push pop encode size trim skip split join share received load.be16 load.le32 store.be16
    store.le32 sum16 fold16 get.attribute set.attribute emit out drop consume return yield jump br switch
    match decode vet find insert remove new first next take takeout shareheld later
";

#[test]
fn every_operation_is_on_the_page_and_in_a_test_file() {
    let (page, text) = (page(), automata().concat());
    for operation in OPERATIONS.split_whitespace() {
        let used = text.lines().any(|line| {
            let line = line.trim();
            let after_results = line.split_once(" = ").map_or(line, |(_, operation)| operation);
            [line, after_results].iter().any(|line| line.split([' ', ';']).next() == Some(operation))
        });
        assert!(used, "no test file uses {operation}");
        let verb = operation.trim_end_matches(char::is_numeric);
        assert!(page.contains(verb), "the page does not show {operation}");
    }
}
