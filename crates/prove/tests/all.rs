//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod common;
mod false_certificates;
mod judging;
mod reading;
mod rules;
mod solving;
mod terms;

/// That of the command.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
