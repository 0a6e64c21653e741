//! Commands that run C in a process that may die, which the command itself starts and outlives (decision 0078).

use std::cell::RefCell;
use std::time::Duration;

use mokume_driver::apart::{self, Again, Ended, Last, Place, Signals, Streams, Told, Word};
use mokume_driver::natives::Files;
use mokume_driver::{run, Failure};

use crate::arguments::Arguments;

/// The word by which a child hears that it is one.
const WATCHED: &str = "--watched";

/// Where a command runs: by itself, or as a child that says where it is.
pub struct Apart {
    told: Option<RefCell<Told>>,
    /// Tests that a child begun before this one.
    pub behind: usize,
    /// How long C may run without an answer.
    pub patience: Option<Duration>,
    last: RefCell<Last>,
}

impl Apart {
    /// What the command line says.
    pub fn new(arguments: &Arguments) -> Result<Apart, Failure> {
        let told = arguments.watched.map(Told::new).transpose()?.map(RefCell::new);
        let patience = Duration::from_nanos(run::duration(&arguments.patience)?);
        let patience = Some(patience).filter(|patience| !patience.is_zero());
        Ok(Apart { told, behind: arguments.behind, patience, last: RefCell::default() })
    }

    /// Whether we are a child.
    pub fn is_child(&self) -> bool {
        self.told.is_some()
    }

    /// Tells who started us, if somebody did.
    pub fn tell(&self, tell: impl FnOnce(&mut Told)) {
        if let Some(told) = &self.told {
            tell(&mut told.borrow_mut());
        }
    }

    /// All tests have run; some were left out, by the words for them.
    pub fn sum_up(&self, left_out: Vec<(String, usize)>) {
        *self.last.borrow_mut() = Last { code: 0, is_sum_due: true, left_out };
    }

    /// The last word of a child: without it, something has ended us.
    pub fn say_last(&self, code: i32) {
        self.tell(|told| told.say(&Word::Last(Last { code, ..self.last.take() })));
    }

    /// Carries out what may call functions in C: here, if there are none, else in a child.
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

    /// From now on who started us hears whether functions in C come back.
    pub fn beat(&self) {
        let place = Place { runs_c: true, calls_functions: true, ..Place::default() };
        self.tell(|told| told.beat(place, self.patience));
    }

    /// Carries the command out in a child; the answer is its exit code.
    pub fn in_child(&self, streams: Streams) -> Result<i32, Failure> {
        let how = Again { words: &[], watched: WATCHED, signals: Signals::ToChild, streams, patience: self.patience };
        let ended = apart::again(&how, &mut |_| {})?;
        match ended.last {
            Some(last) if ended.how == apart::How::Exit(last.code) => Ok(last.code),
            _ if ended.is_by_closed_pipe() => mokume_driver::end_by_closed_pipe(),
            _ => died(&ended, "a function in C ended the command"),
        }
    }
}

/// Starts the command again with more words, and hears it to its end.
pub fn again(
    words: &[String],
    signals: Signals,
    patience: Option<Duration>,
    heard: &mut dyn FnMut(&Word),
) -> Result<Ended, Failure> {
    apart::again(&Again { words, watched: WATCHED, signals, streams: Streams::Shared, patience }, heard)
}

/// How a child ended, of which nobody knows more: by a signal that asks to end, or by what it ran.
pub fn died(ended: &Ended, what: &str) -> Result<i32, Failure> {
    match ended.asked_to_end() {
        Some(code) => Ok(code),
        None => Err(Failure::of_program(
            format!("{}: {what}: {}", apart::ENDED.0, ended.how),
            format!("{}; `mokume explain {}` tells more", apart::look_at(ended.how, true), apart::ENDED.0),
        )),
    }
}
