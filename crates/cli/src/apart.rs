//! Commands that run C, which may crash. The command starts itself again as a child process and survives the child's
//! death (decision 0078).

use std::cell::RefCell;
use std::time::Duration;

use mokume_driver::apart::{self, Again, Ended, Last, Place, Signals, Streams, Told, Word};
use mokume_driver::natives::Files;
use mokume_driver::{run, Failure};

use crate::arguments::Arguments;
use crate::input;

/// The hidden option that tells a process that it is such a child.
const WATCHED: &str = "--watched";

/// Where a command runs: in its own process, or in a child that reports its progress to the parent.
pub struct Apart {
    told: Option<RefCell<Told>>,
    /// The number of tests that earlier children began; this child skips them.
    pub behind: usize,
    /// How long C may run without a sign of life; `None`: without limit.
    pub patience: Option<Duration>,
    last: RefCell<Last>,
}

impl Apart {
    /// Reads the options of the command line.
    pub fn new(arguments: &Arguments) -> Result<Apart, Failure> {
        let told = arguments.watched.map(Told::new).transpose()?.map(RefCell::new);
        let patience = Duration::from_nanos(run::duration(&arguments.patience)?);
        let patience = Some(patience).filter(|patience| !patience.is_zero());
        Ok(Apart { told, behind: arguments.behind, patience, last: RefCell::default() })
    }

    /// Whether this process is a child.
    pub fn is_child(&self) -> bool {
        self.told.is_some()
    }

    /// Reports to the parent, if this process is a child.
    pub fn tell(&self, tell: impl FnOnce(&mut Told)) {
        if let Some(told) = &self.told {
            tell(&mut told.borrow_mut());
        }
    }

    /// Notes that all tests have run; `left_out` counts, by reason, the tests that did not run.
    pub fn sum_up(&self, left_out: Vec<(String, usize)>) {
        *self.last.borrow_mut() = Last { code: 0, is_sum_due: true, left_out };
    }

    /// Reports the end of a child. A child that ends without this report was killed or crashed.
    pub fn say_last(&self, code: i32) {
        self.tell(|told| told.say(&Word::Last(Last { code, ..self.last.take() })));
    }

    /// Runs `here`: in this process if there are no functions in C, else in a child. Returns the exit code.
    pub fn carry_out(&self, functions: &Files, here: impl FnOnce() -> Result<i32, Failure>) -> Result<i32, Failure> {
        if self.is_child() {
            self.beat();
            return here();
        }
        if functions.is_empty() {
            return here();
        }
        self.in_child(Streams::Shared)
    }

    /// From now on, reports signs of life to the parent, so that it sees whether functions in C return.
    pub fn beat(&self) {
        let place = Place { runs_c: true, calls_functions: true, ..Place::default() };
        self.tell(|told| told.beat(place, self.patience));
    }

    /// Runs the command in a child and returns the child's exit code.
    pub fn in_child(&self, streams: Streams) -> Result<i32, Failure> {
        let (signals, patience, input) = (Signals::ToChild, self.patience, input::kept());
        let how = Again { words: &[], watched: WATCHED, signals, streams, patience, input };
        let ended = apart::again(&how, &mut |_| {})?;
        match ended.last {
            Some(last) if ended.how == apart::How::Exit(last.code) => Ok(last.code),
            _ if ended.is_by_closed_pipe() => mokume_driver::end_by_closed_pipe(),
            _ => died(&ended, "a function in C ended the command"),
        }
    }
}

/// Starts the command again with additional arguments, and passes on what it reports until it ends.
pub fn again(
    words: &[String],
    signals: Signals,
    patience: Option<Duration>,
    heard: &mut dyn FnMut(&Word),
) -> Result<Ended, Failure> {
    let (streams, input) = (Streams::Shared, input::kept());
    apart::again(&Again { words, watched: WATCHED, signals, streams, patience, input }, heard)
}

/// Handles a child that ended without a report: the exit code if a signal asked it to end, else a failure that names
/// `what`.
pub fn died(ended: &Ended, what: &str) -> Result<i32, Failure> {
    match ended.asked_to_end() {
        Some(code) => Ok(code),
        None => Err(Failure::of_program(
            format!("{}: {what}: {}", apart::ENDED.0, ended.how),
            format!("{}; `mokume explain {}` tells more", apart::look_at(ended.how, true), apart::ENDED.0),
        )),
    }
}
