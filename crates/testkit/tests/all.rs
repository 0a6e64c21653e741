//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod generated;
mod random_back_ends;
mod scripts;

/// That of the command.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
