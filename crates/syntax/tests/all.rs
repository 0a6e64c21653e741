//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod common;
mod format;
mod language_page;
mod pages;
mod repository;
mod robustness;
mod tree_sitter;
mod typed_tree;
mod wrong_files;
