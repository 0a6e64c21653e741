//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod generated;
mod random_back_ends;
mod scripts;

/// That of the command: tests take a tenth less time with it.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
