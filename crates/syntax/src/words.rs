//! The words that the parser takes as keywords where they may stand, for tools that propose them.

use crate::parser;

/// What begins an item at the top of a file.
pub fn of_items() -> &'static [&'static str] {
    &parser::ITEM_WORDS
}

/// What begins a member of a layer.
pub fn of_members() -> &'static [&'static str] {
    &parser::MEMBER_WORDS
}

/// What begins a piece of state in a scope.
pub fn of_state() -> &'static [&'static str] {
    &parser::STATE_WORDS
}

/// What begins a statement, and `else`.
pub fn of_statements() -> &'static [&'static str] {
    &parser::STATEMENT_WORDS
}

/// An example of what begins with the word; empty if there is none.
pub fn form(word: &str) -> &'static str {
    parser::form_of(word)
}
