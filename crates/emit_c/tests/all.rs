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

/// That of the command.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;
