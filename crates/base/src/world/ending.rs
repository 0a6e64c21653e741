//! While other programs run for us, a signal that ends us ends them, too: a C compiler may take a minute more.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Mutex;

/// The groups of processes that run for us; 0: a free place.
static GROUPS: [AtomicI32; 32] = [const { AtomicI32::new(0) }; 32];

/// How many of them there are, and what the signals did before the first.
static HEARD: Mutex<(usize, Vec<(libc::c_int, libc::sigaction)>)> = Mutex::new((0, Vec::new()));

/// The signals that end a process that does nothing about them.
const ENDING: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// A group of processes that runs for us, until this is dropped.
pub(super) struct Group {
    place: Option<usize>,
}

impl Group {
    /// Notes a group by its number. Drop it as soon as its first process has been waited for.
    pub fn new(number: u32) -> Group {
        hear();
        let number = number as libc::pid_t;
        let is_taken =
            |place: &AtomicI32| place.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        Group { place: GROUPS.iter().position(is_taken) }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            GROUPS[place].store(0, Ordering::SeqCst);
        }
        hear_no_more();
    }
}

/// Hears the signals that nobody else hears.
fn hear() {
    let mut heard = HEARD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    heard.0 += 1;
    if heard.0 > 1 {
        return;
    }
    for signal in ENDING {
        // SAFETY: all zeros is a valid `sigaction`; the calls read and write these two alone, and the handler does only what a
        // handler may.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            let is_plain =
                libc::sigaction(signal, std::ptr::null(), &mut before) == 0 && before.sa_sigaction == libc::SIG_DFL;
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
            if is_plain && libc::sigaction(signal, &ours, std::ptr::null_mut()) == 0 {
                heard.1.push((signal, before));
            }
        }
    }
}

fn hear_no_more() {
    let mut heard = HEARD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    heard.0 -= 1;
    if heard.0 > 0 {
        return;
    }
    for (signal, before) in heard.1.drain(..) {
        // SAFETY: restores what was read.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            let is_ours = libc::sigaction(signal, std::ptr::null(), &mut now) == 0
                && now.sa_sigaction == end as extern "C" fn(libc::c_int) as libc::sighandler_t;
            if is_ours {
                libc::sigaction(signal, &before, std::ptr::null_mut());
            }
        }
    }
}

/// Ends all groups, and then us, as the signal would have.
extern "C" fn end(signal: libc::c_int) {
    for group in &GROUPS {
        let number = group.load(Ordering::SeqCst);
        if number > 0 {
            // SAFETY: `kill` may be called in a handler.
            unsafe { libc::kill(-number, libc::SIGKILL) };
        }
    }
    // SAFETY: both may be called in a handler; the signal comes when this returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
