//! The failures of a run test, as data and as text for people.

use std::fmt;

/// One expectation that was not met. The test continues after it, as far as that makes sense.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub test: String,
    /// The line of the step in its file; 0 if a program made the test.
    pub line: u32,
    /// 0 is the start, 1 the first step.
    pub step: usize,
    /// The time of the test when the step had been played, in nanoseconds.
    pub at: u64,
    pub kind: FailureKind,
}

/// What was expected and what happened, in the notation of test files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// The outputs of one group of ports, in order.
    Outputs {
        expected: Vec<String>,
        actual: Vec<String>,
        /// If some did not come: what was dropped since the last step with outputs, why, and where.
        dropped: Vec<String>,
        /// If some did not come: the time, and when the next timer is due, in nanoseconds.
        due: Option<(u64, Option<u64>)>,
    },
    Reports {
        expected: Vec<String>,
        actual: Vec<String>,
    },
    Refused {
        expected: bool,
    },
    Total {
        what: String,
        expected: u64,
        actual: u64,
        /// Other counts of dropped or consumed messages.
        beside: Vec<String>,
    },
    /// All of them are those of another run.
    AsBefore {
        on: &'static str,
    },
    /// The test itself does not fit this stack.
    Senseless {
        reason: String,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "test \"{}\", step {} (line {}):", self.test, self.step, self.line)?;
        match &self.kind {
            FailureKind::Outputs { expected, actual, dropped, due } => {
                lists(f, "outputs", expected, actual)?;
                dropped.iter().try_for_each(|one| write!(f, "\n    dropped on the way: {one}"))?;
                match due {
                    Some((now, Some(due))) => {
                        write!(f, "\n    it is {}; the next timer is due at {}", show_time(*now), show_time(*due))
                    }
                    Some(_) | None => Ok(()),
                }
            }
            FailureKind::AsBefore { on } => write!(f, "  all that differs is the same as {on}"),
            FailureKind::Reports { expected, actual } => lists(f, "reports", expected, actual),
            FailureKind::Refused { expected: true } => write!(f, "  should have been refused at the door, but was not"),
            FailureKind::Refused { expected: false } => write!(f, "  was refused at the door: whom it is for has ended, or there is no room for what may come of it (docs/semantics.md, P3)"),
            FailureKind::Total { what, expected, actual, beside } => {
                write!(f, "  {what} should be {expected}, is {actual}")?;
                beside.iter().try_for_each(|other| write!(f, "\n    {other}"))
            }
            FailureKind::Senseless { reason } => write!(f, "  {reason}"),
        }
    }
}

/// Both lists as one: common lines, `-` missing ones, `+` unexpected ones.
fn lists(f: &mut fmt::Formatter<'_>, what: &str, expected: &[String], actual: &[String]) -> fmt::Result {
    write!(f, "  {what} differ (- expected, + came):")?;
    let (mut e, mut a) = (0, 0);
    for (next_e, next_a) in common(expected, actual).into_iter().chain([(expected.len(), actual.len())]) {
        for missing in &expected[e..next_e] {
            write!(f, "\n  - {missing}")?;
        }
        for extra in &actual[a..next_a] {
            write!(f, "\n  + {extra}")?;
        }
        if let Some(same) = expected.get(next_e) {
            write!(f, "\n    {same}")?;
        }
        (e, a) = (next_e + 1, next_a + 1);
    }
    Ok(())
}

/// A longest common subsequence, as pairs of indices.
pub(crate) fn common(expected: &[String], actual: &[String]) -> Vec<(usize, usize)> {
    let columns = actual.len() + 1;
    let mut longest = vec![0u32; (expected.len() + 1) * columns];
    for e in (0..expected.len()).rev() {
        for a in (0..actual.len()).rev() {
            longest[e * columns + a] = match expected[e] == actual[a] {
                true => longest[(e + 1) * columns + a + 1] + 1,
                false => longest[(e + 1) * columns + a].max(longest[e * columns + a + 1]),
            };
        }
    }
    let (mut e, mut a, mut pairs) = (0, 0, Vec::new());
    while e < expected.len() && a < actual.len() {
        if expected[e] == actual[a] {
            pairs.push((e, a));
            (e, a) = (e + 1, a + 1);
        } else if longest[(e + 1) * columns + a] >= longest[e * columns + a + 1] {
            e += 1;
        } else {
            a += 1;
        }
    }
    pairs
}

/// A time for people.
pub(crate) fn show_time(time: u64) -> String {
    match time {
        0 => "0".to_string(),
        t if t % 1_000_000 == 0 => format!("{}ms", t / 1_000_000),
        t if t % 1_000 == 0 => format!("{}us", t / 1_000),
        t => format!("{t}ns"),
    }
}
