//! Every code's page: its wrong example has the code and no other, its right one has none.

use crate::common;
use mokume_base::Page;
use mokume_syntax::{Fragment, CODES};

/// The file of a code's page.
fn page_file(code: &str) -> Option<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diagnostics");
    std::fs::read_to_string(folder.join(format!("{code}.md"))).ok()
}

/// The text of the first block that is fenced with `fence`.
fn block<'p>(page: &'p str, fence: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("\n{fence}\n")).expect("the fence that opens");
    rest.split_once("\n```").expect("the fence that closes").0
}

#[test]
fn every_page_shows_the_mistake_and_the_way_out() {
    for code in CODES.iter().map(|code| code.0) {
        let file = page_file(code).unwrap_or_else(|| panic!("{code} has no page"));
        let page = Page::read(&file).filter(|page| page.code == code).expect("a heading with the code");
        assert!(!page.title.is_empty() && page.text.len() > 80, "{code} has no page");
        let (wrong, right) = (block(page.text, "```wrong"), block(page.text, "```right"));
        let said = common::shown(wrong, &common::checked(wrong, Fragment::File));
        assert!(said.iter().all(|line| line.starts_with(code)) && !said.is_empty(), "{code}, wrong: {said:#?}");
        let said = common::shown(right, &common::checked(right, Fragment::File));
        assert!(said.is_empty(), "{code}, right: {said:#?}");
    }
}

#[test]
fn codes_are_in_order_and_said_once() {
    let codes: Vec<&str> = CODES.iter().map(|code| code.0).collect();
    assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
}

#[test]
fn a_missing_page_is_found() {
    assert!(page_file("M0001").is_some() && page_file("M0000").is_none());
}
