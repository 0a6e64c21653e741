//! The words that the parser reads as keywords in their places, for tools that suggest them.

use crate::parser;

/// The words with which items of a file begin.
pub fn of_items() -> &'static [&'static str] {
    &parser::ITEM_WORDS
}

/// The words with which members of a layer begin.
pub fn of_members() -> &'static [&'static str] {
    &parser::MEMBER_WORDS
}

/// The words with which pieces of state in a scope begin.
pub fn of_state() -> &'static [&'static str] {
    &parser::STATE_WORDS
}

/// The words with which statements begin, and `else`.
pub fn of_statements() -> &'static [&'static str] {
    &parser::STATEMENT_WORDS
}

/// An example of the construct that begins with the word; empty if there is none.
pub fn form(word: &str) -> &'static str {
    parser::form_of(word)
}
