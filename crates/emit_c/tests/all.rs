//! All tests of this crate that use it from outside, as one program: each program is linked separately.

mod checks;
mod common;
mod differential;
mod door;
mod embed;
mod faults;
mod octets;
mod packets;
mod run_files;
mod sums;
mod timers;

/// That of the command: tests take a tenth less time with it.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
