//! A standard output that was closed when the program began (`>&-`): the runtime of Rust opens `/dev/null` instead, and
//! output would be lost silently.
//!
//! Keeps: writing to such an output fails, here and in processes that we start.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's runtime starts.
extern "C" fn look() {
    // SAFETY: only tests whether the descriptor is open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

#[cfg(target_os = "linux")]
#[used]
#[link_section = ".init_array"]
static LOOK: extern "C" fn() = look;

/// Replaces the standard output by something that cannot be written, if it was closed.
pub fn keep_closed_output_closed() {
    if !WAS_CLOSED.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: opens a descriptor that cannot be written, and makes it the standard output; no other one is affected.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if nothing > libc::STDERR_FILENO {
            libc::dup2(nothing, libc::STDOUT_FILENO);
            libc::close(nothing);
        }
    }
}

/// Whether the standard output can be written: Rust's library reports no error if it cannot.
pub fn takes_output() -> bool {
    // SAFETY: only asks how the descriptor was opened.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    flags != -1 && flags & libc::O_ACCMODE != libc::O_RDONLY
}
