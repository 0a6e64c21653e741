//! Every code's page: its wrong example has the code and no other, its right one has none.

mod common;

use mokume_syntax::{Fragment, CODES};

/// The text of the first block that is fenced with `fence`.
fn block<'p>(page: &'p str, fence: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("\n{fence}\n")).expect("the fence that opens");
    rest.split_once("\n```").expect("the fence that closes").0
}

#[test]
fn every_page_shows_the_mistake_and_the_way_out() {
    for (code, title, page) in CODES {
        assert!(!title.is_empty() && page.len() > 80, "{code} has no page");
        let (wrong, right) = (block(page, "```wrong"), block(page, "```right"));
        let said = common::shown(wrong, &common::checked(wrong, Fragment::File));
        assert!(said.iter().all(|line| line.starts_with(code)) && !said.is_empty(), "{code}, wrong: {said:#?}");
        let said = common::shown(right, &common::checked(right, Fragment::File));
        assert!(said.is_empty(), "{code}, right: {said:#?}");
    }
}

#[test]
fn codes_are_in_order_and_said_once() {
    let codes: Vec<&str> = CODES.iter().map(|(code, _, _)| *code).collect();
    assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
}
