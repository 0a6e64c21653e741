//! One function for each command: asks the driver, prints what it says.

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::compile;
use mokume_driver::machines::Backend;
use mokume_driver::{build, explain, graph, size, test, Failure};
use serde_json::json;

use crate::arguments::{Arguments, Command, Drawn, Emit, StackChoice};
use crate::common::{accepted, backend_name, backend_of, compiled, compiled_to_write, picture_name, write, written};
use crate::print::{counted, Printer};
use crate::run::run_stack;
use crate::simulate::{simulate, SimOptions};
use crate::streams;

/// Carries one command out. `Ok` holds the exit code: 0, or 1 where the program or its tests are wrong; `Err` is for
/// the caller to print, and says its own.
pub fn run(arguments: &Arguments, printer: &Printer) -> Result<i32, Failure> {
    match &arguments.command {
        Command::Check { files } => check(files, printer),
        Command::Test { files, backend, filter } => {
            tests(files, backend.map(backend_of), filter.as_deref().unwrap_or(""), printer)
        }
        Command::Run { stack, on } => run_stack(stack, on, arguments.seed, printer),
        Command::Connect { remote, timeout, stack, on, linger } => {
            let with = (on, linger, timeout.as_deref());
            streams::one(streams::Ask::Connect(remote), stack, with, arguments.seed, printer)
        }
        Command::Listen { local, stack, on, linger } => {
            streams::one(streams::Ask::Listen(local), stack, (on, linger, None), arguments.seed, printer)
        }
        Command::Forward { from, to, stack, on } => streams::forward((from, to), stack, on, arguments.seed, printer),
        Command::Sim { file, network, backend, pcap, chart, log, seeds, jobs } => {
            let options = SimOptions {
                network: network.as_deref(),
                backend: *backend,
                pcap: pcap.as_deref(),
                chart: chart.as_deref(),
                log: *log,
                seed: arguments.seed,
                seeds: *seeds,
                jobs: *jobs,
            };
            simulate(file.as_slice(), options, printer)
        }
        Command::Build { stack, emit, output, uncomposed } => {
            build_stack(stack, *emit, output.as_deref(), *uncomposed, printer)
        }
        Command::Graph { stack, what, output } => draw(stack, *what, output.as_deref(), printer),
        Command::Dissect { file, by, stack, packets } => {
            crate::dissect::dissect(file, by.as_deref(), stack.as_deref(), packets.as_deref(), printer)
        }
        Command::Size { stack } => sizes(stack, printer),
        Command::Fmt { files, check } => crate::fmt::fmt(files, *check, printer),
        Command::New { name } => crate::new::new(name, printer),
        Command::Explain { code } => explain_code(code.as_deref(), printer),
    }
}

fn check(files: &[String], printer: &Printer) -> Result<i32, Failure> {
    let world = RealWorld;
    let checked = compile::check(&world, files)?;
    let diagnostics = mokume_driver::check::all(&checked, &world);
    printer.diagnostics(&diagnostics, &checked.sources);
    let wrong = compile::has_errors(&diagnostics);
    let files = checked.roots.len();
    if printer.is_json() && diagnostics.is_empty() {
        printer.object(&json!({ "checked": files, "errors": 0 }));
    }
    if !printer.is_json() {
        printer.line(format!("checked {files} file{}: {}", if files == 1 { "" } else { "s" }, counted(&diagnostics)));
    }
    Ok(i32::from(wrong))
}

fn tests(files: &[String], backend: Option<Backend>, filter: &str, printer: &Printer) -> Result<i32, Failure> {
    let world = RealWorld;
    let checked = accepted(files, printer)?;
    let results = test::run(&checked, backend, filter, &world);
    let left_out = checked.diagnostics.iter().filter(|found| compile::is_of_untaken_part(found)).cloned();
    printer.diagnostics(&left_out.chain(results.diagnostics.iter().cloned()).collect::<Vec<_>>(), &checked.sources);
    let mut failed = 0;
    for outcome in &results.outcomes {
        let good = outcome.differences.is_empty();
        failed += usize::from(!good);
        let backend = backend_name(outcome.backend);
        let differences: Vec<String> = outcome.differences.iter().map(|difference| difference.to_string()).collect();
        if printer.is_json() {
            printer
                .object(&json!({ "test": outcome.test, "file": outcome.file, "line": outcome.line, "backend": backend,
                "passed": good, "differences": differences }));
        } else if !good {
            printer.line(format!("FAILED {}:{} \"{}\" ({backend})", outcome.file, outcome.line, outcome.test));
            for difference in differences {
                printer.line(format!("  {}", difference.replace('\n', "\n  ")));
            }
        }
    }
    let is_asked = backend == Some(Backend::C);
    let not_run = not_run(&results, is_asked, printer);
    if results.outcomes.is_empty() && results.not_run.is_empty() && results.diagnostics.is_empty() {
        return Err(Failure::of_use("there is no test", "write `test \"name\" { stack … }`, or change `--filter`"));
    }
    let wrong = failed > 0 || compile::has_errors(&results.diagnostics);
    if !printer.is_json() {
        let left_out: String = not_run.counts.iter().map(|(what, count)| format!(", {count} {what}")).collect();
        printer.line(format!("{} passed, {failed} failed{left_out}", results.outcomes.len() - failed));
    }
    Ok(if wrong { 1 } else { not_run.code })
}

/// What was left out in C: how many tests of which kind, and how the command ends if nothing else is wrong.
struct NotRun {
    counts: Vec<(&'static str, usize)>,
    code: i32,
}

/// Says what did not run in C. That a machine has no compiler is no fault where C was not asked for by name.
fn not_run(results: &test::Results, is_asked: bool, printer: &Printer) -> NotRun {
    let mut answer = NotRun { counts: Vec::new(), code: 0 };
    for (what, is_skip) in [("not run in C", false), ("skipped in C", true)] {
        let of_kind = || results.not_run.iter().filter(|left_out| left_out.is_skip() == is_skip);
        for left_out in of_kind() {
            let reason = left_out.failure.to_string();
            if printer.is_json() {
                printer
                    .object(&json!({ "backend": "c", "tests": left_out.tests, "skipped": is_skip, "not_run": reason }));
            }
            printer.note(format!("{} tests {what}: {reason}", left_out.tests));
            if is_asked || !is_skip {
                answer.code = answer.code.max(left_out.failure.exit_code());
            }
        }
        let tests: usize = of_kind().map(|left_out| left_out.tests).sum();
        answer.counts.extend((tests > 0).then_some((what, tests)));
    }
    answer
}

fn build_stack(
    choice: &StackChoice,
    emit: Emit,
    output: Option<&str>,
    uncomposed: bool,
    printer: &Printer,
) -> Result<i32, Failure> {
    let compiled = compiled_to_write(choice, printer)?;
    let automaton = if uncomposed { &compiled.uncomposed } else { &compiled.composed };
    match emit {
        Emit::Automaton => written(output, &build::automaton(automaton), printer),
        Emit::C => {
            let files = build::c(automaton, &compiled.native_files)?;
            let Some(folder) = output else {
                files.iter().for_each(|(name, text)| printer.line(format!("/* ==== {name} ==== */\n{text}")));
                return Ok(0);
            };
            for (name, text) in &files {
                write(&RealWorld, &Path::new(folder).join(name).to_string_lossy(), text.as_bytes())?;
            }
            printer.note(format!("{} files in {folder}", files.len()));
            Ok(0)
        }
    }
}

/// A picture goes where it is told, or is printed: a stack as SVG, headers as text; where JSON is asked for, what it shows.
fn draw(choice: &StackChoice, what: Drawn, output: Option<&str>, printer: &Printer) -> Result<i32, Failure> {
    let (what, kinds): (_, &[&str]) = match what {
        Drawn::Stack => (graph::Subject::Stack, &[".svg", ".dot"]),
        Drawn::Headers => (graph::Subject::Headers, &[".svg", ".txt"]),
    };
    picture_name(output, kinds)?;
    let (checked, compiled) = compiled(choice, printer)?;
    let (automaton, program) = (&compiled.uncomposed, &checked.program);
    let form = match output.and_then(|name| name.rsplit_once('.')).map(|(_, kind)| kind) {
        Some("dot") => graph::Form::Dot,
        Some("txt") => graph::Form::Text,
        None if what == graph::Subject::Headers => graph::Form::Text,
        _ => graph::Form::Svg,
    };
    if printer.is_json() && output.is_none() {
        printer.object(&graph::document(automaton, program, what));
        return Ok(0);
    }
    written(output, &graph::picture_of(automaton, program, what, form), printer)
}

fn sizes(choice: &StackChoice, printer: &Printer) -> Result<i32, Failure> {
    let (_, compiled) = compiled(choice, printer)?;
    let sizes = size::sizes(&compiled.composed);
    if printer.is_json() {
        for row in &sizes.rows {
            let (octets, capacity, in_all) = (row.octets, row.capacity, row.in_all);
            let class = &row.class;
            printer.object(&json!({ "class": class, "octets": octets, "capacity": capacity, "in_all": in_all }));
        }
        printer.object(&json!({ "objects": sizes.objects(), "buffers": sizes.buffers }));
        for need in &sizes.needs {
            printer.object(&json!({ "need": need.what, "buffers": need.buffers, "parts": need.parts }));
        }
        for (wire, hash) in &sizes.layouts {
            printer.object(&json!({ "wire": wire, "layout": format!("{hash:08x}") }));
        }
        return Ok(0);
    }
    printer.line(format!("{:<32} {:>10} {:>10} {:>12}", "class", "octets", "capacity", "in all"));
    for row in &sizes.rows {
        printer.line(format!("{:<32} {:>10} {:>10} {:>12}", row.class, row.octets, row.capacity, row.in_all));
    }
    printer.line(format!("{:<32} {:>10} {:>10} {:>12}", "objects", "", "", sizes.objects()));
    printer.line(format!("{:<36} {:>35}", "message buffers", sizes.buffers));
    for need in &sizes.needs {
        printer.line(format!("  {:>8}  {}", need.buffers, need.what));
        for (what, sum) in &need.parts {
            printer.line(format!("            {sum:>8}  {what}"));
        }
    }
    for (wire, hash) in &sizes.layouts {
        printer.line(format!("layout {hash:08x}  {wire}"));
    }
    Ok(0)
}

fn explain_code(code: Option<&str>, printer: &Printer) -> Result<i32, Failure> {
    let Some(code) = code else {
        for page in explain::pages() {
            if printer.is_json() {
                printer.object(&json!({ "code": page.code, "title": page.title, "page": page.text }));
            } else {
                printer.line(format!("{}  {}", page.code, page.title));
            }
        }
        return Ok(0);
    };
    let page = explain::page(code)
        .ok_or_else(|| Failure::of_use(format!("there is no code `{code}`"), "`mokume explain` lists them all"))?;
    if printer.is_json() {
        printer.object(&json!({ "code": page.code, "title": page.title, "page": page.text }));
    } else {
        printer.line(format!("{}: {}\n\n{}", page.code, page.title, page.text.trim_end()));
    }
    Ok(0)
}
