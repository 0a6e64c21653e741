//! Paths: what is found, and that it does what the handlers do.

mod agree;
mod asks;
mod memos;
mod random;
