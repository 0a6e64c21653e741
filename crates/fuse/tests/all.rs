//! Paths: which are found, and that they do what the handlers do.

mod agree;
mod asks;
mod memos;
mod random;

/// That of the command.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
