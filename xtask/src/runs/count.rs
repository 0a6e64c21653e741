//! Counts tests that have ended, and shows those that need attention.

use std::fmt;

/// How a test ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    Passed,
    Failed,
    /// It could not do its work; the reason.
    Skipped(String),
    /// It belongs to `./campaign`: it counts neither as passed nor as skipped.
    OfTheCampaign,
}

/// What the output of a run says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    Test {
        name: String,
        outcome: Outcome,
    },
    /// A line for people: a figure that pages quote, or why a test failed.
    Line(String),
}

/// Reads a command's output, line by line.
pub trait Reader {
    fn line(&mut self, line: &str) -> Vec<Said>;
    /// The command has ended; returns what is still to be said. If it failed, some test must have failed.
    fn end(&mut self, success: bool) -> Vec<Said>;
}

/// Counts tests, and decides what is shown of them.
#[derive(Default)]
pub struct Counter {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// How much is shown.
    pub shows: Shows,
}

/// Which tests are shown by name.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Shows {
    /// None, and no lines for people: for tests of the counting, whose failures must not be shown.
    Nothing,
    /// Those that failed or were skipped.
    #[default]
    Troubles,
    All,
}

impl Counter {
    pub fn heed(&mut self, said: Vec<Said>) {
        said.into_iter().for_each(|said| match said {
            Said::Test { name, outcome } => self.test(&name, outcome),
            Said::Line(line) => self.say(&line),
        });
    }

    pub fn test(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Outcome::Passed => {
                self.passed += 1;
                if self.shows == Shows::All {
                    self.say(&format!("ok {name}"));
                }
            }
            Outcome::Failed => {
                self.failed += 1;
                self.say(&format!("FAILED: {name}"));
            }
            Outcome::Skipped(why) => {
                self.skipped += 1;
                self.say(&format!("SKIPPED: {name}: {why}"));
            }
            Outcome::OfTheCampaign => {}
        }
    }

    fn say(&self, line: &str) {
        if self.shows != Shows::Nothing {
            println!("{line}");
        }
    }

    /// Adds the counts of another counter.
    pub fn add(&mut self, other: &Counter) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// `N passed, N failed, N skipped`.
    pub fn total(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
impl Counter {
    /// A counter that shows nothing.
    pub fn silent() -> Counter {
        Counter { shows: Shows::Nothing, ..Counter::default() }
    }

    /// The total that a reader counts for a command that printed this text and ended.
    pub fn of(mut reader: impl Reader, text: &str, success: bool) -> String {
        let mut counter = Counter::silent();
        text.lines().for_each(|line| counter.heed(reader.line(line)));
        counter.heed(reader.end(success));
        counter.total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_counts_as_what_it_is() {
        let mut counter = Counter::silent();
        let outcomes = [
            Outcome::Passed,
            Outcome::Failed,
            Outcome::Skipped("no socat".into()),
            Outcome::OfTheCampaign,
            Outcome::Passed,
        ];
        outcomes.into_iter().for_each(|outcome| counter.test("t", outcome));
        assert_eq!(counter.total(), "2 passed, 1 failed, 1 skipped");
    }
}
