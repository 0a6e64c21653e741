//! `mokume fmt`: lets the driver format files, and reports each.

use mokume_base::world::RealWorld;
use mokume_base::{Diagnostic, SourceMap};
use mokume_driver::fmt::{self, Mode, Outcome};
use mokume_driver::Failure;
use serde_json::json;

use crate::input::{self, is_input, INPUT};
use crate::print::Printer;

/// Formats files and folders, or only checks them (`is_check`); `-` alone is the standard input. The exit code is 1 if
/// a file has errors, or if the check finds one that is not formatted.
pub fn fmt(names: &[String], is_check: bool, printer: &Printer) -> Result<i32, Failure> {
    let mode = if is_check { Mode::Check } else { Mode::Write };
    match is_input(names)? {
        true => input(mode, printer),
        false => files(names, mode, printer),
    }
}

fn files(names: &[String], mode: Mode, printer: &Printer) -> Result<i32, Failure> {
    let report = fmt::files(&RealWorld, names, mode)?;
    let (mut changed, mut refused) = (0, 0);
    for (name, outcome) in &report.files {
        match outcome {
            Outcome::Refused(found) => {
                refused += 1;
                say_refused(name, found, &report.sources, printer);
            }
            Outcome::Changed(_) => {
                changed += 1;
                say(name, true, printer);
            }
            Outcome::Same => say(name, false, printer),
        }
    }
    if !printer.is_json() {
        let verb = if mode == Mode::Check { "to be formatted" } else { "formatted" };
        let mistakes = if refused > 0 { format!(", {refused} with mistakes left as they are") } else { String::new() };
        printer.note(format!("{changed} of {} files {verb}{mistakes}", report.files.len()));
    }
    Ok(i32::from(refused > 0 || mode == Mode::Check && changed > 0))
}

/// Prints a line for each changed file; in JSON, an object for every file.
fn say(name: &str, is_changed: bool, printer: &Printer) {
    if printer.is_json() {
        printer.object(&json!({ "file": name, "changed": is_changed }));
    } else if is_changed {
        printer.line(name);
    }
}

fn say_refused(name: &str, found: &[Diagnostic], sources: &SourceMap, printer: &Printer) {
    printer.diagnostics(found, sources);
    if printer.is_json() {
        printer.object(&json!({ "file": name, "changed": false, "refused": true }));
    }
}

/// Formats the standard input to the standard output; with `--check` only reports whether they differ.
fn input(mode: Mode, printer: &Printer) -> Result<i32, Failure> {
    let text = input::text()?;
    let (sources, outcome) = fmt::text(INPUT, text)?;
    let (result, is_changed) = match outcome {
        Outcome::Refused(found) => {
            say_refused(INPUT, &found, &sources, printer);
            return Ok(1);
        }
        Outcome::Changed(formatted) => (formatted, true),
        Outcome::Same => (text.to_string(), false),
    };
    if mode == Mode::Check {
        say(INPUT, is_changed, printer);
        return Ok(i32::from(is_changed));
    }
    if printer.is_json() {
        printer.object(&json!({ "file": INPUT, "changed": is_changed, "text": result }));
    } else if let Some(lines) = result.strip_suffix('\n') {
        printer.line(lines);
    }
    Ok(0)
}
