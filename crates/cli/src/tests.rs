//! `mokume test`: a child runs the tests and reports each; the parent counts, and reports what killed a child.

use std::time::Duration;

use mokume_base::world::RealWorld;
use mokume_driver::apart::{self, Ended, Last, Place, Signals, Word};
use mokume_driver::machines::Backend;
use mokume_driver::path::Passes;
use mokume_driver::record::Lines;
use mokume_driver::test::{self, NotRun, Outcome, Play, Watch, Written};
use mokume_driver::{compile, Failure};
use serde_json::json;

use crate::apart::{again, died, Apart};
use crate::common::{accepted, backend_name};
use crate::input::{self, is_input};
use crate::print::{Printer, Status};

/// The options of the command line.
pub struct Asked<'a> {
    pub files: &'a [String],
    pub backend: Option<Backend>,
    pub fuse: (Option<u8>, Passes),
    /// How far the C compiler optimizes, if that was said.
    pub optimize: Option<u8>,
    pub filter: &'a str,
    /// The file for the record.
    pub record: Option<&'a str>,
    /// Whether the record has the steps of layers.
    pub steps: bool,
    /// The folder for pages of failed tests.
    pub html: Option<&'a str>,
}

/// `mokume test`.
pub fn tests(asked: &Asked<'_>, apart: &Apart, printer: &Printer) -> Result<i32, Failure> {
    let patience = apart.patience;
    if apart.is_child() {
        return in_child(asked, patience, apart, printer);
    }
    if asked.optimize.is_some() && asked.backend == Some(Backend::Interpreter) {
        return Err(Failure::of_use(
            "`--optimize` is for the C compiler, which the interpreter does not use",
            "leave it out, or use `--backend c`",
        ));
    }
    if is_input(asked.files)? {
        // Each child is given it.
        input::text()?;
    }
    let mut sum = Sum::default();
    loop {
        let mut under_way = None;
        let words = ["--behind".to_string(), sum.begun.to_string()];
        let ended = again(&words, Signals::EndBoth, patience, &mut |word| sum.hear(word, &mut under_way))?;
        match (&ended.last, under_way) {
            (Some(last), _) if ended.how == apart::How::Exit(last.code) => return Ok(sum.print(last, printer)),
            (_, Some(place)) => {
                sum.failed += 1;
                print_death(&ended, &place, printer);
            }
            (_, None) if ended.is_by_closed_pipe() => mokume_driver::end_by_closed_pipe(),
            (_, None) => return died(&ended, "the process that runs the tests was ended, outside of any test"),
        }
    }
}

/// The results of the tests over all children.
#[derive(Default)]
struct Sum {
    begun: usize,
    passed: usize,
    failed: usize,
}

impl Sum {
    fn hear(&mut self, word: &Word, under_way: &mut Option<Place>) {
        match word {
            Word::Begins(place) => {
                self.begun += 1;
                *under_way = Some(place.clone());
            }
            Word::Ends { passed } => {
                *under_way = None;
                *(if *passed { &mut self.passed } else { &mut self.failed }) += 1;
            }
            Word::Lives | Word::Last(_) => {}
        }
    }

    /// Prints the totals, and returns the exit code.
    fn print(&self, last: &Last, printer: &Printer) -> i32 {
        if last.is_sum_due && !printer.is_json() {
            let left_out: String = last.left_out.iter().map(|(what, count)| format!(", {count} {what}")).collect();
            printer.line(format!("{} passed, {} failed{left_out}", self.passed, self.failed));
        }
        if self.failed > 0 {
            1
        } else {
            last.code
        }
    }
}

/// Reports a test that did not end because its process died.
fn print_death(ended: &Ended, place: &Place, printer: &Printer) {
    let Place { test, file, line, backend, calls_functions, .. } = place;
    let code = apart::ENDED.0;
    let what = format!("{code}: {}: {}", apart::who(place), ended.how);
    let help = apart::look_at(ended.how, *calls_functions);
    if printer.is_json() {
        printer.object(&json!({ "test": test, "file": file, "line": line, "backend": backend, "passed": false,
            "differences": [what], "code": code, "ended": ended.how.to_string(), "help": help }));
    } else {
        printer.line(format!("FAILED {file}:{line} \"{test}\" ({backend})\n  {what}\n  help: {help}"));
    }
}

/// Runs the tests in a child, and reports them to the parent.
fn in_child(asked: &Asked<'_>, patience: Option<Duration>, apart: &Apart, printer: &Printer) -> Result<i32, Failure> {
    let world = RealWorld;
    let checked = accepted(asked.files, printer)?.fused(asked.fuse);
    let prepared = test::prepare(&checked, asked.filter, &world).optimized(asked.optimize.unwrap_or(0));
    let left_out = checked.diagnostics.iter().filter(|found| compile::is_of_untaken_part(found));
    let diagnostics: Vec<_> = left_out.chain(&prepared.diagnostics).cloned().collect();
    if apart.behind == 0 {
        printer.diagnostics(&diagnostics, &checked.sources);
    }
    let (is_wrong, wrong) = (compile::has_errors(&prepared.diagnostics), prepared.wrong);
    let is_silent = prepared.diagnostics.is_empty();
    let backends = if asked.backend.is_some() { 1 } else { 2 };
    let mut teller = Teller {
        apart,
        patience,
        printer,
        status: Status::new(printer),
        number: 0,
        all: prepared.names().len() * backends,
        failed: false,
        checked: &checked,
        warned: Vec::new(),
    };
    // Appends to the record if an earlier child died.
    let is_more = apart.behind > 0;
    let mut record = asked
        .record
        .map(|name| Lines::open(&world, name, is_more).map(|lines| lines.with_steps(asked.steps)))
        .transpose()?;
    let written = Written { record: record.as_mut(), pages: asked.html };
    let (_, not_run) = prepared.run(asked.backend, &world, &mut teller, written);
    teller.status.end();
    if let Some(record) = record {
        record.settle()?;
    }
    if teller.number == 0 && not_run.is_empty() && is_silent {
        let help = match (checked.program.networks.is_empty(), asked.filter.is_empty()) {
            (false, true) => "write `test \"name\" { stack … }`; what its networks expect is checked by `mokume sim`",
            _ => "write `test \"name\" { stack … }`, or change `--filter`",
        };
        return Err(Failure::of_use("there is no test", help));
    }
    if asked.filter.is_empty() {
        match checked.program.networks.len() {
            0 => {}
            1 => printer.note("1 network is not run here: `mokume sim` checks what it expects"),
            more => printer.note(format!("{more} networks are not run here: `mokume sim` checks what they expect")),
        }
    }
    let (mut left_out, code) = print_not_run(&not_run, asked.backend == Some(Backend::C), printer);
    left_out.extend((wrong > 0).then(|| ("not run: see the errors".to_string(), wrong)));
    apart.sum_up(left_out);
    Ok(if teller.failed || is_wrong { 1 } else { code })
}

/// Prints the results of tests, and reports progress to the parent.
struct Teller<'a> {
    apart: &'a Apart,
    patience: Option<Duration>,
    printer: &'a Printer,
    status: Status,
    /// The number of tests so far, including those that earlier children began.
    number: usize,
    /// The number of tests on all back ends together.
    all: usize,
    failed: bool,
    checked: &'a compile::Checked,
    /// The files whose warnings were printed because one of their tests failed.
    warned: Vec<String>,
}

impl Teller<'_> {
    /// Prints the warnings of a file whose test failed: they may explain the failure.
    fn warn(&mut self, file: &str) {
        if self.warned.iter().any(|known| known == file) {
            return;
        }
        self.warned.push(file.to_string());
        let sources = &self.checked.sources;
        let is_of_it = |found: &&mokume_base::Diagnostic| {
            let place = found.primary.as_ref().map(|label| label.span.file);
            !compile::is_of_untaken_part(found) && place.is_some_and(|place| sources.file(place).name == file)
        };
        let found: Vec<_> = self.checked.diagnostics.iter().filter(is_of_it).cloned().collect();
        self.printer.diagnostics(&found, sources);
    }
}

impl Watch for Teller<'_> {
    fn begins(&mut self, play: &Play<'_>) -> bool {
        self.number += 1;
        let is_ours = self.number > self.apart.behind;
        if is_ours {
            let (number, all, backend) = (self.number, self.all, backend_name(play.backend));
            self.status.show(|| format!("test {number} of {all}, on {backend}: {}", play.test));
            let place = Place {
                test: play.test.to_string(),
                file: play.file.to_string(),
                line: play.line,
                backend: backend_name(play.backend).to_string(),
                runs_c: play.calls_functions || play.backend == Backend::C,
                calls_functions: play.calls_functions,
            };
            self.apart.tell(|told| told.say(&Word::Begins(place)));
        }
        is_ours
    }

    fn answers(&mut self) {
        self.apart.tell(|told| told.live(self.patience));
    }

    fn ended(&mut self, outcome: &Outcome) {
        let passed = outcome.differences.is_empty();
        self.failed |= !passed;
        self.apart.tell(|told| told.say(&Word::Ends { passed }));
        if !passed || outcome.page.is_some() {
            self.status.end();
        }
        print_outcome(outcome, self.printer);
        if !passed {
            self.warn(&outcome.file);
        }
    }
}

fn print_outcome(outcome: &Outcome, printer: &Printer) {
    let passed = outcome.differences.is_empty();
    let backend = backend_name(outcome.backend);
    let differences: Vec<String> = outcome.differences.iter().map(|difference| difference.to_string()).collect();
    if printer.is_json() {
        let page = outcome.page.as_ref().and_then(|page| page.as_ref().ok());
        printer.object(&json!({ "test": outcome.test, "file": outcome.file, "line": outcome.line, "backend": backend,
            "passed": passed, "differences": differences, "page": page }));
    } else if !passed {
        printer.line(format!("FAILED {}:{} \"{}\" ({backend})", outcome.file, outcome.line, outcome.test));
        for difference in differences {
            printer.line(format!("  {}", difference.replace('\n', "\n  ")));
        }
    }
    match &outcome.page {
        Some(Ok(page)) if !printer.is_json() => printer.line(format!("  to see it: {page}")),
        Some(Err(failure)) => printer.note(format!("no page of it: {failure}")),
        Some(Ok(_)) | None => {}
    }
}

/// Reports the tests that did not run in C: their number by reason, and the exit code if nothing else is wrong. A
/// machine without a compiler is no error unless C was requested by name.
fn print_not_run(not_run: &[NotRun], is_asked: bool, printer: &Printer) -> (Vec<(String, usize)>, i32) {
    let (mut counts, mut code) = (Vec::new(), 0);
    for (what, is_skip) in [("not run in C", false), ("skipped in C", true)] {
        let of_kind = || not_run.iter().filter(|left_out| left_out.is_skip() == is_skip);
        for left_out in of_kind() {
            let reason = left_out.failure.to_string();
            if printer.is_json() {
                printer
                    .object(&json!({ "backend": "c", "tests": left_out.tests, "skipped": is_skip, "not_run": reason }));
            }
            let tests = if left_out.tests == 1 { "test" } else { "tests" };
            printer.note(format!("{} {tests} {what}: {reason}", left_out.tests));
            if is_asked || !is_skip {
                code = code.max(left_out.failure.exit_code());
            }
        }
        let tests: usize = of_kind().map(|left_out| left_out.tests).sum();
        counts.extend((tests > 0).then(|| (what.to_string(), tests)));
    }
    (counts, code)
}
