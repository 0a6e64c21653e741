//! The parent's side: starts the command again, receives its reports, and finds out how it ended.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, Seek, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

use mokume_base::world::{RealWorld, World};

use super::word::{Last, Word};
use crate::failure::Failure;

/// What happens on a signal that asks to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signals {
    /// The child ends as we do: nothing is lost.
    EndBoth,
    /// The child gets the signal, and we wait for it, as it has something to finish first.
    ToChild,
}

/// Which process uses the standard input and output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streams {
    Shared,
    /// Only the child: if it closes one, the other end notices.
    TheChilds,
}

/// How to start the command again.
pub struct Again<'a> {
    /// Arguments to insert before our own. [`Again::watched`] is how the child learns the pipe's descriptor.
    pub words: &'a [String],
    /// The option before the descriptor's number.
    pub watched: &'a str,
    pub signals: Signals,
    pub streams: Streams,
    /// How long C may run without an answer; `None`: forever.
    pub patience: Option<Duration>,
    /// What the child reads from its standard input, where we have read that already; `None`: the same as ours.
    pub input: Option<&'a str>,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Exit(i32),
    Signal(i32),
    /// It did not answer for this long, and we ended it.
    NoAnswer(Duration),
}

/// How a child ended, and its last word, if there was one.
pub struct Ended {
    pub how: How,
    pub last: Option<Last>,
}

/// The polling interval.
const SLICE: Duration = Duration::from_millis(100);

/// How long output written before the end may still take to arrive, if another process keeps the pipe open; else the pipe ends before.
const REST: Duration = Duration::from_secs(2);

/// Starts the command again with our arguments, and receives its reports until its end.
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

/// Our own executable, even if its file has been replaced in the meantime.
pub fn ourselves() -> io::Result<std::path::PathBuf> {
    let link = std::path::PathBuf::from("/proc/self/exe");
    if link.exists() {
        return Ok(link);
    }
    std::env::current_exe()
}

/// Runs the command without one of our arguments, and waits for its end; returns its exit code, if it has one.
///
/// Fails if the process cannot be started.
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
    if let Some(text) = how.input {
        command.stdin(file_of(text)?);
    }
    // SAFETY: between fork and exec only two system calls, with numbers.
    unsafe {
        command.pre_exec(move || {
            if libc::fcntl(pipe, libc::F_SETFD, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            // It ends what it has started.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
    command.spawn()
}

/// A file with this text that nobody else sees, to be read from its beginning.
fn file_of(text: &str) -> io::Result<File> {
    let name = Path::new(&RealWorld.temporary()).join(format!("mokume-input-{}", std::process::id()));
    let mut file = File::options().read(true).write(true).create_new(true).open(&name)?;
    std::fs::remove_file(&name)?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Redirects our standard input from, and our standard output to, nothing.
fn let_go_of_streams() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: a call with two open descriptors; nothing here has a handle of what it closes.
        if unsafe { libc::dup2(nothing.as_raw_fd(), stream) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Records the last signal that asks to end, instead of ending us; a closed pipe is one of these.
fn hear_signals(signal: &Arc<AtomicI32>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
    for number in [SIGHUP, SIGINT, SIGPIPE, SIGTERM] {
        let signal = signal.clone();
        // SAFETY: the handler only does an atomic store.
        unsafe { signal_hook::low_level::register(number, move || signal.store(number, Ordering::Relaxed)) }?;
    }
    Ok(())
}

/// The reported words, line by line, until the pipe is closed. Other lines are ignored: C may write there, too.
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
    /// How long the stack, or C, has been running without an answer. Counted in intervals, not by the clock, so that a
    /// stopped process or a sleeping machine does not count.
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

    /// The pipe is closed: the child ends, unless code in it closed the pipe for another reason.
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
        // It may have ended just now; then this fails.
        let _ = self.child.kill();
        self.child.wait()?;
        Ok(Ended { how: How::NoAnswer(self.patience.unwrap_or_default()), last })
    }

    fn pass_signal_on(&self) {
        let signal = self.signal.swap(0, Ordering::Relaxed);
        if let (true, Ok(child)) = (signal != 0, libc::pid_t::try_from(self.child.id())) {
            // SAFETY: the child has not been waited for, so its number is still its own.
            unsafe {
                libc::kill(child, signal);
            }
        }
    }
}

/// Whether a timeout applies after a word, if the word changes that.
fn is_timed_behind(word: &Word) -> Option<bool> {
    match word {
        // A step of the interpreter may take days, too: `later` loops.
        Word::Begins(_) => Some(true),
        Word::Lives => None,
        Word::Ends { .. } => Some(false),
        // Destructors of functions in C run after this.
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
