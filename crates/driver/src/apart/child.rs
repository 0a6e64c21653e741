//! The child's side: reports its progress through a pipe.

use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, RawFd};
use std::time::{Duration, Instant};

use super::inside::Look;
use super::word::{Place, Word};
use crate::failure::Failure;

/// The pipe to the parent.
pub struct Told {
    pipe: File,
    /// When we last reported something.
    said: Instant,
}

/// The shortest time between two signs of life: a pipe is slower than a stack.
const SELDOM: Duration = Duration::from_secs(1);

impl Told {
    /// Opens the pipe from a descriptor that we were started with.
    pub fn new(descriptor: RawFd) -> Result<Told, Failure> {
        // SAFETY: these calls take numbers; one that is not a descriptor is an error. From here on, processes that we
        // start do not inherit it.
        let is_open = unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } == 0;
        if descriptor <= 2 || !is_open {
            return Err(Failure::of_use("`--watched` is said by the command to itself", "leave it out"));
        }
        // SAFETY: it is open, and the parent gave it to us alone.
        let pipe = unsafe { File::from_raw_fd(descriptor) };
        Ok(Told { pipe, said: Instant::now() })
    }

    /// Reports a word. If the pipe is closed, the parent is gone, and its end ends us too.
    pub fn say(&mut self, word: &Word) {
        self.said = Instant::now();
        if let Ok(text) = serde_json::to_string(word) {
            let _ = self.pipe.write_all(format!("{text}\n").as_bytes());
        }
    }

    /// From now on reports signs of life from a thread, often enough for the parent's patience, while no C runs or C
    /// returns.
    pub fn beat(&mut self, place: Place, patience: Option<Duration>) {
        let Some((patience, pipe)) = patience.zip(self.pipe.try_clone().ok()) else { return };
        self.say(&Word::Begins(place));
        let mut told = Told { pipe, said: Instant::now() };
        let (mut look, pause) = (Look::default(), (patience / 4).clamp(Duration::from_millis(1), SELDOM));
        std::thread::spawn(move || loop {
            std::thread::sleep(pause);
            if look.lives() {
                told.say(&Word::Lives);
            }
        });
    }

    /// Reports a sign of life, unless there was one just now; the parent waits this long.
    pub fn live(&mut self, patience: Option<Duration>) {
        if self.said.elapsed() >= patience.map_or(SELDOM, |patience| (patience / 4).min(SELDOM)) {
            self.say(&Word::Lives);
        }
    }
}
