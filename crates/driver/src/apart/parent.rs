//! The parent's side: starts the command again, hears what it says, and knows how it ended.

use std::io::{self, BufRead, BufReader, PipeReader};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use super::word::{Last, Word};
use crate::failure::Failure;

/// Who hears of a signal that asks to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signals {
    /// The child ends as we do: nothing is lost by it.
    EndBoth,
    /// The child is told, and we wait for it: it brings something to its end first.
    ToChild,
}

/// Who has the standard input and output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    Shared,
    /// The child alone: where it closes one, the other end hears that.
    TheChilds,
}

/// How to start the command again.
pub struct Again<'a> {
    /// Words in front of those that we were started with; how the child hears of the pipe's descriptor is [`Again::watched`].
    pub words: &'a [String],
    /// The word in front of the descriptor's number.
    pub watched: &'a str,
    pub signals: Signals,
    pub streams: Streams,
    /// How long C may take without an answer; for ever, if `None`.
    pub patience: Option<Duration>,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Exit(i32),
    Signal(i32),
    /// It gave no answer for so long, and we ended it.
    NoAnswer(Duration),
}

/// How a child ended, and its last word, if it had one.
pub struct Ended {
    pub how: How,
    pub last: Option<Last>,
}

/// How often we look at what does not announce itself.
const SLICE: Duration = Duration::from_millis(100);

/// How long what was written before the end may still take to arrive, where somebody else keeps the pipe open.
const REST: Duration = Duration::from_millis(100);

/// Starts the command again with the words that we were started with, and hears it to its end.
pub fn again(how: &Again<'_>, heard: &mut dyn FnMut(&Word)) -> Result<Ended, Failure> {
    let failed = |error: io::Error| {
        Failure::of_machine(format!("what runs C cannot be started: {error}"), "is there room for a second process?")
    };
    let signal = Arc::new(AtomicI32::new(0));
    if how.signals == Signals::ToChild {
        hear_signals(&signal).map_err(failed)?;
    }
    let (reader, writer) = io::pipe().map_err(failed)?;
    let child = start(how, writer.as_raw_fd()).map_err(failed)?;
    drop(writer);
    if how.streams == Streams::TheChilds {
        let_go_of_streams().map_err(failed)?;
    }
    let watch = Watch { child, words: words_of(reader), patience: how.patience, signal, quiet: Duration::ZERO };
    watch.hear_out(heard).map_err(failed)
}

/// Ourselves, also where the file that we were started from has been replaced meanwhile.
pub fn ourselves() -> io::Result<std::path::PathBuf> {
    let link = std::path::PathBuf::from("/proc/self/exe");
    if link.exists() {
        return Ok(link);
    }
    std::env::current_exe()
}

/// Carries the command out without one of the words that we were started with, and waits for its end; the answer is its exit code, if it has one.
///
/// Fails where the system starts nothing.
pub fn without(word: &str) -> Result<Option<i32>, Failure> {
    let mut own = std::env::args_os();
    let failed = |error: io::Error| {
        Failure::of_use(format!("the command cannot be started again: {error}"), "start it by its path")
    };
    let mut command = Command::new(ourselves().map_err(failed)?);
    command.arg0(own.next().unwrap_or_else(|| "mokume".into())).args(own.filter(|own| own != word));
    Ok(command.status().map_err(failed)?.code())
}

fn start(how: &Again<'_>, pipe: RawFd) -> io::Result<Child> {
    let mut own = std::env::args_os();
    let mut command = Command::new(ourselves()?);
    command.arg0(own.next().unwrap_or_else(|| "mokume".into()));
    command.args([how.watched, &pipe.to_string()]).args(how.words).args(own);
    // Who only runs tests has nothing to bring to an end.
    let fate = if how.signals == Signals::EndBoth { libc::SIGKILL } else { libc::SIGTERM };
    // SAFETY: between fork and exec two calls of the kernel, with numbers.
    unsafe {
        command.pre_exec(move || {
            if libc::fcntl(pipe, libc::F_SETFD, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, fate);
            #[cfg(not(target_os = "linux"))]
            let _ = fate;
            Ok(())
        });
    }
    command.spawn()
}

/// Nothing comes from our standard input any more, and nothing goes to our standard output.
fn let_go_of_streams() -> io::Result<()> {
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: a call with two open descriptors; nobody here has a handle of what is closed by it.
        if unsafe { libc::dup2(nothing.as_raw_fd(), stream) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// The last signal that asks to end, instead of our end; that nobody reads any more is one.
fn hear_signals(signal: &Arc<AtomicI32>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
    for number in [SIGHUP, SIGINT, SIGPIPE, SIGTERM] {
        let signal = signal.clone();
        // SAFETY: an atomic store is all that the handler does.
        unsafe { signal_hook::low_level::register(number, move || signal.store(number, Ordering::Relaxed)) }?;
    }
    Ok(())
}

/// What is said, line by line, until the pipe is closed. What is no word of ours is left out: C may write there, too.
fn words_of(pipe: PipeReader) -> Receiver<Word> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            if let Ok(word) = serde_json::from_slice(&line) {
                if sender.send(word).is_err() {
                    return;
                }
            }
        }
    });
    receiver
}

struct Watch {
    child: Child,
    words: Receiver<Word>,
    patience: Option<Duration>,
    signal: Arc<AtomicI32>,
    /// How long the stack, or C, has been running without an answer. Counted in slices and not by the clock: what is stopped, and a machine
    /// that sleeps, waits for nothing.
    quiet: Duration,
}

impl Watch {
    fn hear_out(mut self, heard: &mut dyn FnMut(&Word)) -> io::Result<Ended> {
        let (mut last, mut is_timed) = (None, false);
        loop {
            match self.words.recv_timeout(SLICE) {
                Ok(word) => {
                    self.quiet = Duration::ZERO;
                    is_timed = is_timed_behind(&word).unwrap_or(is_timed);
                    hear(word, &mut last, heard);
                }
                Err(RecvTimeoutError::Disconnected) => return self.silent_end(last),
                Err(RecvTimeoutError::Timeout) => {
                    self.pass_signal_on();
                    if let Some(status) = self.child.try_wait()? {
                        while let Ok(word) = self.words.recv_timeout(REST) {
                            hear(word, &mut last, heard);
                        }
                        return Ok(Ended { how: how(status), last });
                    }
                    if is_timed && self.is_out_of_patience() {
                        return self.cut_off(last);
                    }
                }
            }
        }
    }

    /// The pipe is closed: the child ends, if nobody in it has closed it for another reason.
    fn silent_end(mut self, last: Option<Last>) -> io::Result<Ended> {
        let mut wait = Duration::from_micros(200);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Ended { how: how(status), last });
            }
            std::thread::sleep(wait);
            self.pass_signal_on();
            self.quiet += wait;
            wait = (wait * 2).min(SLICE);
            if self.patience.is_some_and(|patience| self.quiet >= patience) {
                return self.cut_off(last);
            }
        }
    }

    fn is_out_of_patience(&mut self) -> bool {
        self.quiet += SLICE;
        self.patience.is_some_and(|patience| self.quiet >= patience)
    }

    fn cut_off(&mut self, last: Option<Last>) -> io::Result<Ended> {
        // It may have ended just now; then it is not there to be ended.
        let _ = self.child.kill();
        self.child.wait()?;
        Ok(Ended { how: How::NoAnswer(self.patience.unwrap_or_default()), last })
    }

    fn pass_signal_on(&self) {
        let signal = self.signal.swap(0, Ordering::Relaxed);
        if let (true, Ok(child)) = (signal != 0, libc::pid_t::try_from(self.child.id())) {
            // SAFETY: the child has not been waited for, so its number is its own.
            unsafe {
                libc::kill(child, signal);
            }
        }
    }
}

/// Whether an answer is waited for behind a word that changes that.
fn is_timed_behind(word: &Word) -> Option<bool> {
    match word {
        // A step of the interpreter, too, may take days: loops of events that go on later.
        Word::Begins(_) => Some(true),
        Word::Lives => None,
        Word::Ends { .. } => Some(false),
        // What functions in C do at the end of the process comes now.
        Word::Last(_) => Some(true),
    }
}

fn hear(word: Word, last: &mut Option<Last>, heard: &mut dyn FnMut(&Word)) {
    heard(&word);
    if let Word::Last(said) = word {
        *last = Some(said);
    }
}

fn how(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exit(code),
        (None, Some(signal)) => How::Signal(signal),
        (None, None) => How::Exit(-1),
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            How::Exit(code) => write!(f, "it called `exit({code})`, or ended so by another way"),
            How::Signal(signal) => match signal_hook::low_level::signal_name(signal) {
                Some(name) => write!(f, "{name} (signal {signal})"),
                None => write!(f, "signal {signal}"),
            },
            How::NoAnswer(patience) => write!(f, "no answer for {} s", patience.as_secs_f64()),
        }
    }
}
