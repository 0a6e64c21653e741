//! Reads the output of `cargo test -- --show-output`.
//!
//! Rust's test harness does not let a test skip itself at run time. Ours then print a line `SKIPPED: why`, and count as
//! skipped here. Lines `FIGURE: …` are what pages quote. A test of `./campaign` is `#[ignore = "campaign: NAME"]`; any
//! other ignored test is skipped.

use std::collections::BTreeMap;
use std::time::Instant;

use super::command::time;
use super::count::{Outcome, Reader, Said};

/// The most lines shown of a failed test's output, and of a compiler error.
const SHOWN: usize = 40;

/// Reads one run of `cargo test`.
#[derive(Default)]
pub struct Libtest {
    /// The running test program, if any.
    program: Option<Program>,
    /// The crate whose programs run: its own tests come first, and have its name.
    of: String,
    /// How many of the following lines are still shown.
    showing: usize,
    tests: u64,
    failed: u64,
}

/// One test program.
struct Program {
    name: String,
    started: Instant,
    outcomes: BTreeMap<String, Outcome>,
    /// The test whose output follows.
    of: Option<String>,
}

/// The numbers of a line `test result: …`.
struct Stated {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Reader for Libtest {
    fn line(&mut self, line: &str) -> Vec<Said> {
        if let Some(name) = program(line, &mut self.of) {
            let said = self.close(None);
            let (started, outcomes) = (Instant::now(), BTreeMap::new());
            self.program = Some(Program { name, started, outcomes, of: None });
            return said;
        }
        if let Some(stated) = stated(line) {
            return self.close(Some(stated));
        }
        let Some(program) = &mut self.program else { return self.cargo(line) };
        program.line(line, &mut self.showing).into_iter().collect()
    }

    fn end(&mut self, success: bool) -> Vec<Said> {
        let mut said = self.close(None);
        let why = match (success, self.tests) {
            (false, _) if self.failed == 0 => "cargo ended without success",
            (true, 0) => "no test was run",
            _ => return said,
        };
        said.push(Said::Test { name: why.to_string(), outcome: Outcome::Failed });
        said
    }
}

impl Libtest {
    /// A line of cargo itself: compiler errors, with the lines after them.
    fn cargo(&mut self, line: &str) -> Vec<Said> {
        if line.starts_with("error") && !line.starts_with("error: test failed") {
            self.showing = SHOWN;
        }
        if line.trim_start().starts_with("Compiling ") || self.showing == 0 {
            return Vec::new();
        }
        self.showing -= 1;
        vec![Said::Line(line.to_string())]
    }

    /// The program has ended. Without a result it has failed, whatever its tests said.
    fn close(&mut self, stated: Option<Stated>) -> Vec<Said> {
        let Some(mut program) = self.program.take() else { return Vec::new() };
        self.showing = 0;
        program.complete(stated);
        let took = time(program.started.elapsed());
        let count = |wanted: fn(&Outcome) -> bool| program.outcomes.values().filter(|outcome| wanted(outcome)).count();
        let (passed, failed) =
            (count(|outcome| *outcome == Outcome::Passed), count(|outcome| *outcome == Outcome::Failed));
        self.tests += program.outcomes.len() as u64;
        self.failed += failed as u64;
        let line = format!("{}: {passed} passed in {took}", program.name);
        let outcomes = program
            .outcomes
            .into_iter()
            .map(|(name, outcome)| Said::Test { name: format!("{}: {name}", program.name), outcome });
        let outcomes: Vec<Said> = outcomes.collect();
        match outcomes.is_empty() {
            true => outcomes,
            false => outcomes.into_iter().chain([Said::Line(line)]).collect(),
        }
    }
}

impl Program {
    fn line(&mut self, line: &str, showing: &mut usize) -> Option<Said> {
        if let Some((name, outcome)) = test(line) {
            self.outcomes.insert(name, outcome);
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.of = Some(name.to_string());
            let failed = self.outcomes.get(name) == Some(&Outcome::Failed);
            *showing = if failed { SHOWN } else { 0 };
            return failed.then(|| Said::Line(format!("{}: {name}:", self.name)));
        } else if line.trim_start().starts_with("process didn't exit successfully") {
            return Some(Said::Line(format!("{}: {}", self.name, line.trim_start())));
        } else if line == "successes:" || line == "failures:" {
            (self.of, *showing) = (None, 0);
        } else if let Some(name) = &self.of {
            return self.output(name.clone(), line, showing);
        }
        None
    }

    /// A line that a test printed.
    fn output(&mut self, name: String, line: &str, showing: &mut usize) -> Option<Said> {
        if let Some(why) = line.strip_prefix("SKIPPED: ") {
            // A test that failed did not skip itself.
            let outcome = self.outcomes.entry(name).or_insert(Outcome::Passed);
            if *outcome == Outcome::Passed {
                *outcome = Outcome::Skipped(why.to_string());
            }
            return None;
        }
        if line.starts_with("FIGURE: ") {
            return Some(Said::Line(line.to_string()));
        }
        if *showing == 0 {
            return None;
        }
        *showing -= 1;
        Some(Said::Line(format!("    {line}")))
    }

    /// Tests that the harness counted but we did not see, since another program wrote into the line, count without a
    /// name.
    fn complete(&mut self, stated: Option<Stated>) {
        let Some(stated) = stated else {
            self.outcomes.insert("the program ended without a result".to_string(), Outcome::Failed);
            return;
        };
        let failed = self.outcomes.values().filter(|outcome| **outcome == Outcome::Failed).count();
        for number in failed..stated.failed {
            self.outcomes.insert(format!("a test that failed, {number}"), Outcome::Failed);
        }
        for number in self.outcomes.len()..stated.passed + stated.failed + stated.ignored {
            self.outcomes.insert(format!("a test without a name, {number}"), Outcome::Passed);
        }
    }
}

/// `     Running unittests src/lib.rs (target/tested/deps/mokume_base-0123)` begins a crate, whose name is kept in
/// `of`. Lines of its integration tests follow, and at the very end `   Doc-tests mokume_embed`.
fn program(line: &str, of: &mut String) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name}, examples in comments"));
    }
    let (source, path) = line.strip_prefix("Running ")?.split_once(" (")?;
    if !source.starts_with("unittests") {
        return Some(format!("{of} {source}").trim_start().to_string());
    }
    let file = path.trim_end_matches(')').rsplit('/').next()?;
    *of = file.rsplit_once('-').map_or(file, |(stem, _)| stem).to_string();
    Some(of.clone())
}

/// `test NAME ... ok`, `FAILED`, `ignored, why`.
fn test(line: &str) -> Option<(String, Outcome)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match outcome {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        _ => {
            let why = outcome.strip_prefix("ignored")?.trim_start_matches(", ");
            if why.starts_with("campaign: ") {
                Outcome::OfTheCampaign
            } else {
                Outcome::Skipped(format!("ignored {why}"))
            }
        }
    };
    Some((name.trim_end_matches(" - should panic").to_string(), outcome))
}

/// `test result: ok. 12 passed; 0 failed; 1 ignored; …`
fn stated(line: &str) -> Option<Stated> {
    let rest = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |word: &str| {
        let part = rest.split("; ").find_map(|part| part.strip_suffix(word))?;
        part.trim().parse().ok()
    };
    Some(Stated { passed: number(" passed")?, failed: number(" failed")?, ignored: number(" ignored")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::count::Counter;

    fn counted(text: &str, success: bool) -> String {
        Counter::of(Libtest::default(), text, success)
    }

    const HEAD: &str = "     Running tests/all.rs (target/tested/deps/all-01)\n\nrunning 3 tests\n";

    fn result(passed: u32, failed: u32, ignored: u32) -> String {
        format!("test result: ok. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out\n")
    }

    #[test]
    fn a_test_that_left_itself_out_is_skipped_once() {
        let ended = "test a ... ok\ntest b ... ok\ntest c - should panic ... ok\n\nsuccesses:\n\n";
        let printed = "---- a stdout ----\nSKIPPED: no socat\nSKIPPED: no ping\n\nsuccesses:\n    a\n    b\n";
        let text = format!("{HEAD}{ended}{printed}{}", result(3, 0, 0));
        assert_eq!(counted(&text, true), "2 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_test_that_failed_is_not_skipped() {
        let printed =
            "test a ... FAILED\n\nfailures:\n\n---- a stdout ----\nSKIPPED: half of it\npanicked\n\nfailures:\n    a\n";
        let text = format!("{HEAD}{printed}{}", result(0, 1, 0));
        assert_eq!(counted(&text, false), "0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn ignored_tests_are_skipped_but_for_those_of_the_campaign() {
        let text = format!("{HEAD}test a ... ignored, campaign: spin\ntest b ... ignored, slow\n{}", result(0, 0, 2));
        assert_eq!(counted(&text, true), "0 passed, 0 failed, 1 skipped");
    }

    #[test]
    fn a_program_that_ends_without_a_result_has_failed() {
        let text = format!("{HEAD}test a ... ok\n{HEAD}test a ... ok\n{}", result(1, 0, 0));
        assert_eq!(counted(&text, false), "2 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_line_that_another_wrote_into_counts_by_the_result() {
        let text = format!("{HEAD}test a ... gcc: warning\nok\nnoise test b ... FAILED\n{}", result(1, 1, 0));
        assert_eq!(counted(&text, false), "1 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn what_does_not_compile_or_runs_nothing_has_failed() {
        assert_eq!(counted("error[E0425]: cannot find value\n --> x.rs\n", false), "0 passed, 1 failed, 0 skipped");
        assert_eq!(counted("", true), "0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn programs_have_names() {
        let mut of = String::new();
        let mut named = |line: &str| program(line, &mut of).unwrap_or_default();
        assert_eq!(named("     Running unittests src/lib.rs (target/tested/deps/mokume_base-0a1b)"), "mokume_base");
        assert_eq!(named(HEAD.lines().next().unwrap_or("")), "mokume_base tests/all.rs");
        assert_eq!(named("   Doc-tests mokume_embed"), "mokume_embed, examples in comments");
    }
}
