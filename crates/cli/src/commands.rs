//! One function for each command: asks the driver, prints what it says.

use std::collections::BTreeMap;
use std::path::Path;

use mokume_base::world::{RealWorld, World};
use mokume_driver::compile::{self, Checked, Compiled};
use mokume_driver::machines::Backend;
use mokume_driver::{build, explain, graph, run, sim, size, test, Failure};
use mokume_reaction::{Accounts, Automaton};
use serde_json::{json, Value};

use crate::arguments::{self, Arguments, Command, Drawn, Emit, StackChoice};
use crate::print::{counted, time, Printer};

/// Carries one command out. `Ok` holds the exit code: 0, or 1 where the program or its tests are wrong; `Err` is for
/// the caller to print, and says its own.
pub fn run(arguments: &Arguments, printer: &Printer) -> Result<i32, Failure> {
    match &arguments.command {
        Command::Check { files } => check(files, printer),
        Command::Test { files, backend, filter } => {
            tests(files, backend.map(backend_of), filter.as_deref().unwrap_or(""), printer)
        }
        Command::Run { stack, device, set, backend, duration, pcap } => {
            let seed = arguments.seed;
            let options =
                RunOptions { device, set, backend: *backend, duration: duration.as_deref(), pcap: pcap.clone(), seed };
            run_stack(stack, options, printer)
        }
        Command::Sim { file, network, backend, pcap, chart, log } => {
            let options = SimOptions {
                network: network.as_deref(),
                backend: *backend,
                pcap: pcap.as_deref(),
                chart: chart.as_deref(),
                log: *log,
                seed: arguments.seed,
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

fn backend_of(backend: arguments::Backend) -> Backend {
    match backend {
        arguments::Backend::Interpreter => Backend::Interpreter,
        arguments::Backend::C => Backend::C,
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
    printer.diagnostics(&results.diagnostics, &checked.sources);
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
    if let Some(failure) = &results.skipped {
        printer.note(format!("not run in C: {failure}"));
        if backend == Some(Backend::C) {
            return Ok(failure.exit_code());
        }
    }
    if results.outcomes.is_empty() && results.diagnostics.is_empty() {
        return Err(Failure::of_use("there is no test", "write `test \"name\" { stack … }`, or change `--filter`"));
    }
    let wrong = failed > 0 || compile::has_errors(&results.diagnostics);
    if !printer.is_json() {
        printer.line(format!("{} passed, {failed} failed", results.outcomes.len() - failed));
    }
    Ok(i32::from(wrong))
}

fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Interpreter => "interpreter",
        Backend::C => "C",
    }
}

/// Files without errors; with errors they are shown, and the failure says how many.
fn accepted(files: &[String], printer: &Printer) -> Result<Checked, Failure> {
    let checked = compile::check(&RealWorld, files)?;
    if checked.has_errors() {
        printer.diagnostics(&checked.diagnostics, &checked.sources);
        return Err(Failure::of_program(counted(&checked.diagnostics), "`mokume explain CODE` tells more"));
    }
    Ok(checked)
}

fn compiled(choice: &StackChoice, printer: &Printer) -> Result<(Checked, Compiled), Failure> {
    let checked = accepted(choice.file.as_slice(), printer)?;
    let stack = compile::choose_stack(&checked, choice.stack.as_deref())?;
    let (compiled, diagnostics) = compile::compile(&checked, stack, &RealWorld);
    match compiled {
        Some(compiled) => Ok((checked, compiled)),
        None => {
            printer.diagnostics(&diagnostics, &checked.sources);
            Err(Failure::of_program(counted(&diagnostics), "`mokume explain CODE` tells more"))
        }
    }
}

struct RunOptions<'a> {
    device: &'a [String],
    set: &'a [String],
    backend: Option<arguments::Backend>,
    duration: Option<&'a str>,
    pcap: Option<String>,
    seed: Option<u64>,
}

fn run_stack(choice: &StackChoice, options: RunOptions<'_>, printer: &Printer) -> Result<i32, Failure> {
    let (checked, compiled) = compiled(choice, printer)?;
    let defaults = &checked.manifest.defaults;
    let mut set: Vec<(String, String)> =
        defaults.set.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    for text in options.set {
        set.push(run::setting(text)?);
    }
    let devices = if options.device.is_empty() {
        defaults.device.iter().map(|(name, value)| format!("{name}={value}")).collect()
    } else {
        options.device.to_vec()
    };
    let backend = match (options.backend, &defaults.backend) {
        (Some(backend), _) => backend_of(backend),
        (None, Some(name)) => Backend::named(name)?,
        (None, None) => Backend::Interpreter,
    };
    let seed = options.seed.or(defaults.seed).unwrap_or_else(|| RealWorld.seed() & 0xffff_ffff); // short enough to type again
    let nanoseconds = options.duration.map(run::duration).transpose()?;
    let request = run::Request { devices, set, backend, seed, nanoseconds, pcap: options.pcap };
    let mut ready = || {
        let name = &compiled.composed.name;
        if printer.is_json() {
            printer.object(&json!({ "running": name, "backend": backend_name(backend), "seed": seed }));
        } else {
            printer.note(format!("running `{name}` ({}), seed {seed}; ends by Ctrl-C", backend_name(backend)));
        }
    };
    let automaton = &compiled.composed;
    let mut heard = |at: u64, output: &mokume_reaction::Output| {
        let port = &automaton.ports[output.port.index()];
        let described = &port.outputs[output.event as usize];
        let event = &described.event;
        let args = sim::arguments(automaton, &compiled.written, output.port, &described.params, &output.args);
        if printer.is_json() {
            printer.object(&json!({ "at": at, "port": port.name, "event": event, "args": args }));
        } else {
            printer.line(format!("{:>12}  {}.{event}{args}", time(at), port.name));
        }
    };
    let mut said = |at: u64, what: &str| printer.note(format!("{:>12}  report: {what}", time(at)));
    let report = run::run(&compiled, &request, &RealWorld, &mut ready, &mut heard, &mut said)?;
    print_accounts(("stack", &automaton.name), automaton, &report.accounts, Some(&report), printer);
    Ok(i32::from(report.reports > 0))
}

/// Totals of a stack: what became of the messages.
fn print_accounts(
    whose: (&str, &str),
    automaton: &Automaton,
    accounts: &Accounts,
    report: Option<&run::Report>,
    printer: &Printer,
) {
    let named = |list: &[(mokume_reaction::ReasonId, u64)]| -> BTreeMap<String, u64> {
        list.iter().map(|(reason, count)| (automaton.reasons[reason.index()].name.clone(), *count)).collect()
    };
    let (dropped, consumed) = (named(&accounts.dropped), named(&accounts.consumed));
    let counters: BTreeMap<&str, u64> = accounts.counters.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    if printer.is_json() {
        let mut object = json!({ whose.0: whose.1, "stack": automaton.name, "received": accounts.received, "delivered": accounts.delivered,
            "held": accounts.held, "merged": accounts.merged, "gone": accounts.gone, "refused": accounts.refused,
            "dropped": dropped, "consumed": consumed, "counters": counters });
        if let (Some(report), Value::Object(fields)) = (report, &mut object) {
            fields.insert("frames_in".into(), json!(report.traffic.received));
            fields.insert("frames_out".into(), json!(report.traffic.sent));
            fields.insert("frames_unsent".into(), json!(report.traffic.unsent));
            fields.insert("reports".into(), json!(report.reports));
        }
        printer.object(&object);
        return;
    }
    if let Some(report) = report {
        let Traffic { received, sent, unsent } = report.traffic;
        printer.line(format!("frames: {received} in, {sent} out, {unsent} not taken by a device"));
    }
    let Accounts { delivered, held, gone, refused, .. } = accounts;
    printer.line(format!(
        "messages: {delivered} left by a port, {held} held, {gone} gone with their session, {refused} refused"
    ));
    for (name, list) in [("dropped", dropped), ("consumed", consumed)] {
        for (reason, count) in list {
            printer.line(format!("  {name:<9} {count:>8}  {reason}"));
        }
    }
    for (name, count) in counters.iter().filter(|(_, count)| **count > 0) {
        printer.line(format!("  counted   {count:>8}  {name}"));
    }
}

use mokume_driver::live::Traffic;

struct SimOptions<'a> {
    network: Option<&'a str>,
    backend: Option<arguments::Backend>,
    pcap: Option<&'a str>,
    chart: Option<&'a str>,
    log: bool,
    seed: Option<u64>,
}

fn simulate(files: &[String], options: SimOptions<'_>, printer: &Printer) -> Result<i32, Failure> {
    let world = RealWorld;
    picture_name(options.chart, &[".svg", ".txt"])?;
    let checked = accepted(files, printer)?;
    let network = sim::choose(&checked, options.network)?;
    let (stacks, diagnostics) = sim::stacks(&checked, network, &RealWorld);
    if compile::has_errors(&diagnostics) {
        printer.diagnostics(&diagnostics, &checked.sources);
        return Err(Failure::of_program(counted(&diagnostics), "`mokume explain CODE` tells more"));
    }
    let seed = options.seed.or(checked.manifest.defaults.seed).unwrap_or(1);
    let backend = options.backend.map_or(Backend::Interpreter, backend_of);
    let is_wanted = options.log || options.pcap.is_some() || options.chart.is_some();
    let keep = if is_wanted { sim::Keep::All } else { sim::Keep::Reports };
    let mut progress = Progress::new(network.until, printer);
    let finished = sim::run(&checked, network, &stacks, backend, seed, keep, &world, &mut |at| progress.show(at))?;
    progress.end();
    if options.log {
        print_log(&finished, printer);
    }
    let reports =
        finished.records.iter().filter(|r| matches!(r.what, mokume_simulate::RecordedEvent::Reported { .. })).count();
    if printer.is_json() {
        printer.object(&json!({ "network": network.name.text, "seed": seed, "nanoseconds": finished.until }));
    } else {
        printer.line(format!(
            "network `{}`: {} hosts, {} of virtual time, seed {seed}",
            network.name.text,
            finished.hosts.len(),
            time(finished.until)
        ));
    }
    for host in &finished.hosts {
        if !printer.is_json() {
            printer.line(format!("{}:", host.name));
        }
        print_accounts(("host", &host.name), &host.automaton, &host.accounts, None, printer);
    }
    if let Some(name) = options.pcap {
        make_folder(&world, name)?;
        let frames = sim::capture(&finished, name)?;
        printer.note(format!("{frames} frames in {name}"));
    }
    if let Some(name) = options.chart {
        let title = format!("{} (seed {seed})", network.name.text);
        let chart = sim::chart(&finished, &title);
        let picture = graph::chart(&chart, name.ends_with(".txt"));
        write(&world, name, picture.as_bytes())?;
        printer.note(format!("sequence chart in {name}"));
    }
    Ok(i32::from(reports > 0))
}

fn print_log(finished: &sim::Run, printer: &Printer) {
    for line in sim::log(finished) {
        if printer.is_json() {
            printer.object(&line.json());
        } else {
            printer.line(format!("{:>12}  {:<10} {}", time(line.at), line.host, line.text));
        }
    }
}

/// A bar on a terminal, for runs that take long.
struct Progress {
    until: u64,
    shown: bool,
    started: std::time::Instant,
    last: u64,
    is_on: bool,
}

impl Progress {
    fn new(until: u64, printer: &Printer) -> Self {
        use std::io::IsTerminal;
        let is_on = !printer.is_json() && std::io::stderr().is_terminal();
        Progress { until, shown: false, started: std::time::Instant::now(), last: 0, is_on }
    }

    fn show(&mut self, at: u64) {
        let elapsed = self.started.elapsed().as_millis() as u64;
        if self.is_on && elapsed > 500 && elapsed >= self.last + 100 {
            self.last = elapsed;
            self.shown = true;
            let percent = (at.saturating_mul(100) / self.until.max(1)).min(100) as usize;
            eprint!("\r[{:<50}] {percent:>3} % of {}", "#".repeat(percent / 2), time(self.until));
        }
    }

    fn end(&self) {
        if self.shown {
            eprintln!();
        }
    }
}

fn build_stack(
    choice: &StackChoice,
    emit: Emit,
    output: Option<&str>,
    uncomposed: bool,
    printer: &Printer,
) -> Result<i32, Failure> {
    let (_, compiled) = compiled(choice, printer)?;
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

/// A picture is what its name says: SVG in a file called `.png` opens nowhere.
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

fn picture_name(name: Option<&str>, kinds: &[&str]) -> Result<(), Failure> {
    let Some(name) = name else { return Ok(()) };
    let file = name.rsplit('/').next().unwrap_or(name);
    if !file.contains('.') || kinds.iter().any(|kind| file.ends_with(kind)) {
        return Ok(());
    }
    let help = format!("end the name in {}; `rsvg-convert` makes a PNG of an SVG", kinds.join(" or "));
    Err(Failure::of_use(format!("`{name}` is of a kind that is not written"), help))
}

fn written(output: Option<&str>, text: &str, printer: &Printer) -> Result<i32, Failure> {
    match output {
        Some(name) => {
            write(&RealWorld, name, text.as_bytes())?;
            printer.note(format!("written: {name}"));
        }
        None => printer.line(text.trim_end()),
    }
    Ok(0)
}

fn write(world: &RealWorld, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    world.write(name, bytes).map_err(|error| {
        Failure::of_use(format!("cannot write `{name}`: {error}"), "is the folder there and writable?")
    })
}

fn make_folder(world: &RealWorld, name: &str) -> Result<(), Failure> {
    // Writing an empty file makes the folders on the way; the capture then replaces it.
    write(world, name, &[])
}

fn sizes(choice: &StackChoice, printer: &Printer) -> Result<i32, Failure> {
    let (_, compiled) = compiled(choice, printer)?;
    let sizes = size::sizes(&compiled.composed);
    if printer.is_json() {
        for row in &sizes.rows {
            printer.object(&json!({ "class": row.class, "octets": row.octets, "capacity": row.capacity }));
        }
        printer.object(&json!({ "objects": sizes.objects(), "buffers": sizes.buffers }));
        for (wire, hash) in &sizes.layouts {
            printer.object(&json!({ "wire": wire, "layout": format!("{hash:08x}") }));
        }
        return Ok(0);
    }
    printer.line(format!("{:<32} {:>10} {:>10} {:>12}", "class", "octets", "capacity", "in all"));
    for row in &sizes.rows {
        printer.line(format!(
            "{:<32} {:>10} {:>10} {:>12}",
            row.class,
            row.octets,
            row.capacity,
            row.octets * row.capacity
        ));
    }
    printer.line(format!("{:<32} {:>10} {:>10} {:>12}", "objects", "", "", sizes.objects()));
    printer.line(format!("message buffers: {} ({})", sizes.buffers, sizes.why));
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
