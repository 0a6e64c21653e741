//! The child's side: says by a pipe where it is.

use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, RawFd};
use std::time::{Duration, Instant};

use super::inside::Look;
use super::word::{Place, Word};
use crate::failure::Failure;

/// The way to who started us.
pub struct Told {
    pipe: File,
    /// When we said something last.
    said: Instant,
}

/// We live, and say so no oftener: a pipe is slower than a stack.
const SELDOM: Duration = Duration::from_secs(1);

impl Told {
    /// By a descriptor that we were started with.
    pub fn new(descriptor: RawFd) -> Result<Told, Failure> {
        // SAFETY: these calls take numbers; one that is no descriptor is an error. From here on nothing that we start has it.
        let is_open = unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } == 0;
        if descriptor <= 2 || !is_open {
            return Err(Failure::of_use("`--watched` is said by the command to itself", "leave it out"));
        }
        // SAFETY: it is open, and whoever started us gave it to us alone.
        let pipe = unsafe { File::from_raw_fd(descriptor) };
        Ok(Told { pipe, said: Instant::now() })
    }

    /// Says it. Where nobody listens, who started us is gone, and so are we, by his end.
    pub fn say(&mut self, word: &Word) {
        self.said = Instant::now();
        if let Ok(text) = serde_json::to_string(word) {
            let _ = self.pipe.write_all(format!("{text}\n").as_bytes());
        }
    }

    /// From now on, beside all else: says that we live, to one who waits for so long, while no C runs or it comes back.
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

    /// Says that we live, if that was not said just now, to one who waits for so long.
    pub fn live(&mut self, patience: Option<Duration>) {
        if self.said.elapsed() >= patience.map_or(SELDOM, |patience| (patience / 4).min(SELDOM)) {
            self.say(&Word::Lives);
        }
    }
}
