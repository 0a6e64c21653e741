//! A standard output that was closed when the program began (`>&-`): the language's start-up opens `/dev/null` in its place, and what is
//! written there is lost without a word.
//!
//! Keeps: such an output takes nothing, here and in processes that we start.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before the language's start-up does.
extern "C" fn look() {
    // SAFETY: asks whether the descriptor is open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

#[cfg(target_os = "linux")]
#[used]
#[link_section = ".init_array"]
static LOOK: extern "C" fn() = look;

/// Puts something there that takes nothing, if the standard output was closed.
pub fn keep_closed_output_closed() {
    if !WAS_CLOSED.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: opens a descriptor that cannot be written, and makes it the standard output; no other is touched.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if nothing > libc::STDERR_FILENO {
            libc::dup2(nothing, libc::STDOUT_FILENO);
            libc::close(nothing);
        }
    }
}

/// Whether the standard output can be written: who prints to one that cannot be hears of no error from the language's library.
pub fn takes_output() -> bool {
    // SAFETY: asks how the descriptor is open.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    flags != -1 && flags & libc::O_ACCMODE != libc::O_RDONLY
}
