//! Readers for programs other than cargo: those that print a line for each test, and those that are one test.

use super::count::{Outcome, Reader, Said};

/// A program that prints `ok NAME`, `not ok NAME` and `skip NAME: why`, like TAP.
#[derive(Default)]
pub struct Lines {
    tests: u64,
    failed: u64,
}

impl Reader for Lines {
    fn line(&mut self, line: &str) -> Vec<Said> {
        let (name, outcome) = if let Some(name) = line.strip_prefix("ok ") {
            (name, Outcome::Passed)
        } else if let Some(name) = line.strip_prefix("not ok ") {
            self.failed += 1;
            (name, Outcome::Failed)
        } else if let Some((name, why)) = line.strip_prefix("skip ").and_then(|rest| rest.split_once(": ")) {
            (name, Outcome::Skipped(why.to_string()))
        } else {
            return vec![Said::Line(line.to_string())];
        };
        self.tests += 1;
        vec![Said::Test { name: name.to_string(), outcome }]
    }

    fn end(&mut self, success: bool) -> Vec<Said> {
        let name = match (success, self.tests) {
            (false, _) if self.failed == 0 => "it ended without success",
            (true, 0) => "it ran no test",
            _ => return Vec::new(),
        };
        vec![Said::Test { name: name.to_string(), outcome: Outcome::Failed }]
    }
}

/// A program that is one test: it passes if the program succeeds. All its output is shown.
pub struct Whole(pub String);

impl Reader for Whole {
    fn line(&mut self, line: &str) -> Vec<Said> {
        vec![Said::Line(line.to_string())]
    }

    fn end(&mut self, success: bool) -> Vec<Said> {
        let outcome = if success { Outcome::Passed } else { Outcome::Failed };
        vec![Said::Test { name: self.0.clone(), outcome }]
    }
}

/// A build is not a test, but a failed build counts as one, and its first errors are shown.
#[derive(Default)]
pub struct Build {
    shown: usize,
}

impl Reader for Build {
    fn line(&mut self, line: &str) -> Vec<Said> {
        if self.shown == 0 && !line.starts_with("error") || self.shown == 60 {
            return Vec::new();
        }
        self.shown += 1;
        vec![Said::Line(line.to_string())]
    }

    fn end(&mut self, success: bool) -> Vec<Said> {
        let failed = Said::Test { name: "the build".to_string(), outcome: Outcome::Failed };
        (!success).then_some(failed).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::count::Counter;

    fn counted(text: &str, success: bool) -> String {
        Counter::of(Lines::default(), text, success)
    }

    #[test]
    fn lines_are_tests() {
        assert_eq!(counted("ok a\nnot ok b: bad\nskip c: no ping\nhello\n", false), "1 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_program_that_says_nothing_or_ends_badly_has_failed() {
        assert_eq!(counted("", true), "0 passed, 1 failed, 0 skipped");
        assert_eq!(counted("ok a\nTraceback\n", false), "1 passed, 1 failed, 0 skipped");
        let mut counter = Counter::silent();
        counter.heed(Whole("fuzz".into()).end(false));
        counter.heed(Build::default().end(true));
        counter.heed(Build::default().end(false));
        assert_eq!(counter.total(), "0 passed, 2 failed, 0 skipped");
    }
}
