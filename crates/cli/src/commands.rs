//! One function for each command: asks the driver, prints what it says.

use std::path::Path;
use std::time::Duration;

use mokume_base::world::{RealWorld, World};
use mokume_base::Diagnostic;
use mokume_driver::apart::Streams;
use mokume_driver::compile::{self, Checked, Compiled};
use mokume_driver::path::{Fuse, Passes};
use mokume_driver::{build, dissect, explain, graph, prove, record, size, Failure};
use serde_json::json;

use crate::apart::Apart;
use crate::arguments::{Arguments, ByProfile, Command, Drawn, Emit, SchemaOf, StackChoice};
use crate::common::{
    accepted, backend_of, compiled_to_write, picture_name, profile_of, with_stack, write_within, written,
};
use crate::input;
use crate::overwritten::nothing_is_overwritten;
use crate::print::{counted, Printer, Status};
use crate::run::run_stack;
use crate::simulate::{simulate, SimOptions};
use crate::streams;
use crate::tests::{tests, Asked};

/// What lines of `--format json` may be, as JSON Schema.
const LINES: &str = include_str!("../../../schemas/lines-4.json");

/// Carries one command out. `Ok` holds the exit code: 0, or 1 where the program or its tests are wrong; `Err` is for
/// the caller to print, and says its own.
pub fn run(arguments: &Arguments, apart: &Apart, printer: &Printer) -> Result<i32, Failure> {
    input::is_read_once(&arguments.command)?;
    nothing_is_overwritten(&arguments.command, &RealWorld)?;
    match &arguments.command {
        Command::Check { files, watch, .. } | Command::Test { files, watch, .. } if watch.watch => {
            crate::watch::watch(files, printer)
        }
        Command::Sim { file, watch, .. } if watch.watch => crate::watch::watch(file.as_slice(), printer),
        Command::Check { files, .. } => check(files, apart, printer),
        Command::Test { files, backend, fused, optimize, filter, record, steps, html, .. } => {
            let filter = filter.as_deref().unwrap_or("");
            let asked = Asked {
                files,
                backend: backend.map(backend_of),
                fuse: fused.told()?,
                optimize: *optimize,
                filter,
                record: record.as_deref(),
                steps: steps.steps,
                html: html.as_deref(),
            };
            tests(&asked, apart, printer)
        }
        Command::Run { stack, on, record, steps, lines } => {
            let checked = accepted(stack.file.as_slice(), printer)?.fused(on.fused.told()?);
            let chosen = (&checked, stack.stack.as_deref());
            with_stack(chosen, (apart, Streams::Shared), printer, |compiled| {
                let record = record.as_deref().map(|name| (name, steps.steps));
                run_stack((&checked, compiled), on, (record, lines.as_deref()), on.seed.seed, printer)
            })
        }
        Command::Connect { remote, timeout, stack, on, linger } => {
            let with = (on, linger, timeout.as_deref());
            streams::one(streams::Ask::Connect(remote), stack, with, (on.seed.seed, apart), printer)
        }
        Command::Listen { local, stack, on, linger } => {
            streams::one(streams::Ask::Listen(local), stack, (on, linger, None), (on.seed.seed, apart), printer)
        }
        Command::Forward { from, to, stack, on } => {
            streams::forward((from, to), stack, on, (on.seed.seed, apart), printer)
        }
        Command::Sim {
            file,
            network,
            backend,
            against,
            every,
            fused,
            pcap,
            chart,
            log,
            record,
            steps,
            html,
            seed,
            seeds,
            jobs,
            ..
        } => {
            let options = SimOptions {
                network: network.as_deref(),
                backend: *backend,
                against: *against,
                every: *every,
                pcap: pcap.as_deref(),
                chart: chart.as_deref(),
                log: *log,
                record: record.as_deref(),
                steps: steps.steps,
                html: html.as_deref(),
                seed: seed.seed,
                seeds: *seeds,
                jobs: *jobs,
            };
            picture_name(options.chart, &[".svg", ".txt"])?;
            let checked = accepted(file.as_slice(), printer)?.fused(fused.told()?);
            apart.carry_out(&checked.natives, || simulate(&checked, file.as_deref(), &options, printer))
        }
        Command::Debug { dap: true, seed, .. } => crate::debug::serve(seed.seed, printer),
        Command::Debug { dap: false, .. } if printer.is_json() => {
            let help = "leave out `--format json`; `--dap` is for programs";
            Err(Failure::of_use("`debug` talks to a person", help))
        }
        Command::Debug { file, network, test, seed, dap: false } => {
            let checked = accepted(file.as_slice(), printer)?;
            let asked = crate::debug::Asked { network: network.as_deref(), test: test.as_deref(), seed: seed.seed };
            crate::debug::debug(&checked, &asked, printer)
        }
        Command::Profile { file, network, stack, seed, seeds, output } => {
            let checked = accepted(file.as_slice(), printer)?;
            let asked = crate::profile::Asked {
                network: network.as_deref(),
                stack: stack.as_deref(),
                seed: seed.seed,
                seeds: *seeds,
                output: output.as_deref(),
            };
            apart.carry_out(&checked.natives, || crate::profile::profile(&checked, &asked, printer))
        }
        Command::Build {
            stack,
            emit: Emit::Wireshark,
            output,
            at,
            device,
            uncomposed,
            size,
            returned,
            batched,
            proved,
            fused,
            by,
        } => {
            if *uncomposed
                || *returned
                || *batched
                || *size
                || *proved
                || fused.level.is_some()
                || !fused.left_out.passes.is_empty()
                || by.profile.is_some()
            {
                let help = "leave out `--uncomposed`, `--size`, `--returned`, `--batched`, `--proved`, `--fuse`, `--pass` and `--profile`";
                return Err(Failure::of_use("a dissector is of the wires and handlers of a stack alone", help));
            }
            wireshark(stack, (at, device.as_deref()), output.as_deref(), printer)
        }
        Command::Build { stack, emit, output, at, device, uncomposed, size, returned, batched, proved, fused, by } => {
            if !at.is_empty() || device.is_some() {
                let option = if at.is_empty() { "--device" } else { "--at" };
                let help = "say `--emit wireshark`, or leave it out";
                return Err(Failure::of_use(format!("`{option}` is of a dissector"), help));
            }
            let aim = if *size { build::Aim::Size } else { build::Aim::Time };
            let (level, passes) = fused.told()?;
            let style = build::Style { aim, returned: *returned, batched: *batched };
            let what = What { emit: *emit, uncomposed: *uncomposed, style, level, passes, proved: *proved };
            build_stack((stack, by), &what, output.as_deref(), printer)
        }
        Command::Path { stack, event, html, by, left_out } => match (event, html) {
            (Some(event), Some(html)) => crate::path::page((stack, by, left_out.rest()), event, html, printer),
            _ => crate::path::path((stack, by, left_out.rest()), event.as_deref(), printer),
        },
        Command::Prove { stack, other, other_stack, seed, limit, .. } if !other.is_empty() => {
            let other = (&other[..], other_stack.as_deref());
            crate::equal::prove_equal(stack, other, (Duration::from_secs(*limit), seed.unwrap_or(1)), printer)
        }
        Command::Prove { stack, .. } if stack.file.as_deref() == Some("==") => {
            let help = "as in `mokume prove old.mok == new.mok`; in a project without a file in front, name the file";
            Err(Failure::of_use("nothing stands in front of `==`", help))
        }
        Command::Prove { stack, event, limit, again, by, .. } => {
            let asked = (event.as_deref(), Duration::from_secs(*limit), *again);
            crate::prove::prove((stack, by), asked, printer)
        }
        Command::Graph { stack, what, output } => {
            let asked = (*what, output.as_deref());
            picture_name(asked.1, kinds(asked.0).1)?;
            let checked = accepted(stack.file.as_slice(), printer)?;
            let chosen = (&checked, stack.stack.as_deref());
            with_stack(chosen, (apart, Streams::Shared), printer, |compiled| draw((&checked, compiled), asked, printer))
        }
        Command::Doc { files, library, examples, output } => {
            let asked = mokume_document::Asked { files, library: *library, examples };
            crate::doc::doc(&asked, output.as_deref(), printer)
        }
        Command::Show { file, runs, run, host, from, to, chart, pcap, html, against } => {
            picture_name(chart.as_deref(), &[".svg", ".txt"])?;
            let time = |text: &Option<String>| text.as_deref().map(mokume_driver::run::duration).transpose();
            let part = record::Part { hosts: host.clone(), from: time(from)?, to: time(to)? };
            if let (Some(from), Some(to), true) = (from, to, part.from > part.to && part.to.is_some()) {
                return Err(Failure::of_use(
                    format!("`--from {from}` is later than `--to {to}`: nothing is between them"),
                    "the earlier time comes first",
                ));
            }
            let asked = crate::show::Asked {
                which: (!runs).then_some(*run),
                part,
                chart: chart.as_deref(),
                pcap: pcap.as_deref(),
                html: html.as_deref(),
                against: against.as_deref(),
            };
            crate::show::show(file, &asked, printer)
        }
        Command::Schema { name } => {
            let schema = match name {
                SchemaOf::Record => record::SCHEMA,
                SchemaOf::Dissect => dissect::json::SCHEMA,
                SchemaOf::Follow => mokume_driver::follow::json::SCHEMA,
                SchemaOf::Doc => mokume_document::SCHEMA,
                SchemaOf::Lines => LINES,
            };
            printer.line(schema.trim_end());
            Ok(0)
        }
        Command::Doctor => Ok(crate::version::doctor(printer)),
        Command::Completions { shell } => {
            crate::installed::completions(*shell, printer);
            Ok(0)
        }
        Command::Man { output } => crate::installed::man(output.as_deref(), printer),
        Command::Dissect { file, by, stack, packets, filter, follow, .. } if follow.follow => {
            let which = (packets.as_deref(), filter.as_deref());
            if by.is_none() && mokume_driver::project::find(&RealWorld, ".")?.is_none() {
                let help = "say which file it is of: `--by FILE`; in a project its sources are taken";
                return Err(Failure::of_use("`--follow` needs a stack to run", help));
            }
            let checked = accepted(by.as_slice(), printer)?;
            let asked = crate::follow::Asked { file, stack: stack.as_deref(), which, how: follow };
            apart.carry_out(&checked.natives, || crate::follow::follow(&checked, &asked, printer))
        }
        Command::Dissect { file, by, stack, device, packets, filter, .. } => {
            let which = (packets.as_deref(), filter.as_deref());
            crate::dissect::dissect(file, by.as_deref(), (stack.as_deref(), device.as_deref()), which, printer)
        }
        Command::Size { stack, fused } => {
            let checked = accepted(stack.file.as_slice(), printer)?.fused(fused.told()?);
            let chosen = (&checked, stack.stack.as_deref());
            with_stack(chosen, (apart, Streams::Shared), printer, |compiled| sizes(compiled, printer))
        }
        Command::Fmt { files, check } => crate::fmt::fmt(files, *check, printer),
        Command::Lsp { .. } => crate::lsp::lsp(printer),
        Command::New { name } => crate::new::new(name, printer),
        Command::Explain { code } => explain_code(code.as_deref(), printer),
    }
}

fn check(files: &[String], apart: &Apart, printer: &Printer) -> Result<i32, Failure> {
    if input::is_input(files)? {
        let checked = input::check()?;
        let diagnostics = mokume_driver::check::without_c(&checked);
        return say_checked(&checked, &diagnostics, printer);
    }
    let checked = match compile::check(&RealWorld, files) {
        Ok(checked) => checked,
        Err(unread) => return check_others(files, unread, printer),
    };
    // Functions in C are compiled and opened, for what is to be said of them.
    apart.carry_out(&checked.natives, || print_checked(&checked, printer))
}

/// Checks the files that can be read, where one cannot, and returns the failure of that.
fn check_others(files: &[String], unread: Failure, printer: &Printer) -> Result<i32, Failure> {
    let is_read = |name: &String| RealWorld.read_text(name).is_ok();
    let others: Vec<String> =
        compile::files(&RealWorld, files).unwrap_or_default().into_iter().filter(is_read).collect();
    if !others.is_empty() {
        let checked = compile::check(&RealWorld, &others)?;
        say_checked(&checked, &mokume_driver::check::without_c(&checked), printer)?;
    }
    Err(unread)
}

fn print_checked(checked: &Checked, printer: &Printer) -> Result<i32, Failure> {
    say_checked(checked, &mokume_driver::check::all(checked, &RealWorld), printer)
}

fn say_checked(checked: &Checked, diagnostics: &[Diagnostic], printer: &Printer) -> Result<i32, Failure> {
    printer.diagnostics(diagnostics, &checked.sources);
    let wrong = compile::has_errors(diagnostics);
    let files = checked.roots.len();
    if printer.is_json() && diagnostics.is_empty() {
        printer.object(&json!({ "checked": files, "errors": 0 }));
    }
    if !printer.is_json() {
        printer.line(format!("checked {files} file{}: {}", if files == 1 { "" } else { "s" }, counted(diagnostics)));
    }
    Ok(i32::from(wrong))
}

/// What is built.
struct What {
    emit: Emit,
    uncomposed: bool,
    style: build::Style,
    level: Option<u8>,
    passes: Passes,
    /// Only with paths that are proved.
    proved: bool,
}

impl What {
    /// How far it is fused: as is told, else as the stack's C is; an automaton, and what is to be small, only if something is said of its paths.
    fn level(&self, by: &ByProfile, compiled: &Compiled) -> u8 {
        let is_plain = self.emit == Emit::Automaton || self.style.aim == build::Aim::Size;
        let is_plain = is_plain && by.profile.is_none() && self.passes == Passes::ALL && !self.proved;
        self.level.unwrap_or(if is_plain { 0 } else { compiled.fuse().level })
    }
}

fn build_stack(
    (choice, by): (&StackChoice, &ByProfile),
    what: &What,
    output: Option<&str>,
    printer: &Printer,
) -> Result<i32, Failure> {
    if what.uncomposed && (what.level.is_some_and(|level| level > 0) || what.passes != Passes::ALL) {
        let help = "leave out `--uncomposed`, or `--fuse` and `--pass`";
        return Err(Failure::of_use("layers that are not composed have no paths through them", help));
    }
    if what.style.aim == build::Aim::Size && what.emit != Emit::C {
        return Err(Failure::of_use(
            "`--size` is of C, and an automaton has no size",
            "leave out `--size`, or `--emit`",
        ));
    }
    for (is_wanted, option) in [(what.style.returned, "--returned"), (what.style.batched, "--batched")] {
        if is_wanted && what.emit != Emit::C {
            return Err(Failure::of_use(
                format!("`{option}` is of C, and an automaton has no entries"),
                format!("leave out `{option}`, or `--emit`"),
            ));
        }
    }
    let mut compiled = compiled_to_write(choice, printer)?;
    let level = what.level(by, &compiled);
    if level == 0 && by.profile.is_some() {
        let help = "say `--fuse 2`, or leave out `--profile`";
        return Err(Failure::of_use("a profile says where paths go, and at `--fuse 0` there is none", help));
    }
    if level == 0 && what.proved {
        let help = "say `--fuse 2`, or leave out `--proved`";
        return Err(Failure::of_use("`--proved` says which paths there are, and at `--fuse 0` there is none", help));
    }
    let profile = profile_of((by, what.passes), &compiled)?;
    compiled.fuse_by(Fuse { level, passes: what.passes }, profile);
    let mut proved = Vec::new();
    let mut status = Status::new(printer);
    if !what.uncomposed {
        status.show(|| "composing layers, and making paths through them".to_owned());
    }
    if !what.uncomposed && (what.proved || what.emit == Emit::C) {
        proved = prove::kept(&RealWorld, &prove::folder(&RealWorld, choice.file.as_deref())?, compiled.for_c());
    }
    if what.proved {
        status.end();
        left_out(&compiled.keep_only(&proved), (choice, by), printer);
    }
    let automaton = if what.uncomposed { &compiled.uncomposed } else { compiled.for_c() };
    status.end();
    match what.emit {
        Emit::Automaton => written(output, &build::automaton(automaton), printer),
        Emit::Wireshark => wireshark(choice, (&[], None), output, printer),
        Emit::C => {
            let files = match what.uncomposed {
                true => build::c_uncomposed(&compiled)?,
                false => build::c_with(&compiled, &proved, what.style)?,
            };
            let Some(folder) = output else {
                files.iter().for_each(|(name, text)| printer.line(format!("/* ==== {name} ==== */\n{text}")));
                return Ok(0);
            };
            for (name, text) in &files {
                write_within(&RealWorld, &Path::new(folder).join(name).to_string_lossy(), text.as_bytes())?;
            }
            let count = files.len() as u64;
            printer.told_written(folder, ("files", count), format!("{count} files in {folder}"));
            Ok(0)
        }
    }
}

/// Writes the dissector of a stack.
fn wireshark(
    choice: &StackChoice,
    (at, device): (&[String], Option<&str>),
    output: Option<&str>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let chosen = (choice.stack.as_deref(), device);
    let dissector = crate::dissect::of_users((choice.file.as_slice(), chosen), printer)?;
    let at = at.iter().map(|text| dissect::wireshark::at(&dissector, text)).collect::<Result<Vec<_>, _>>()?;
    written(output, &dissect::wireshark::lua(&dissector, at), printer)
}

/// Says whose paths are left out, and what would bring them back.
fn left_out(paths: &[Vec<String>], (choice, by): (&StackChoice, &ByProfile), printer: &Printer) {
    if paths.is_empty() {
        return;
    }
    let events: Vec<String> = paths.iter().map(|events| events.join(", ")).collect();
    if printer.is_json() {
        return printer.object(&json!({ "left_out": events, "help": "run `mokume prove` first" }));
    }
    let file = choice.file.as_deref().map_or(String::new(), |file| format!(" {file}"));
    let stack = choice.stack.as_deref().map_or(String::new(), |stack| format!(" --stack {stack}"));
    let profile = by.profile.as_deref().map_or(String::new(), |profile| format!(" --profile {profile}"));
    printer.note(format!(
        "without a path, as no verdict of it is kept: {}; run `mokume prove{file}{stack}{profile}` first",
        events.join(", ")
    ));
}

/// What is drawn, and in which kinds of files.
fn kinds(what: Drawn) -> (graph::Subject, &'static [&'static str]) {
    match what {
        Drawn::Stack => (graph::Subject::Stack, &[".svg", ".dot"]),
        Drawn::Headers => (graph::Subject::Headers, &[".svg", ".txt"]),
    }
}

/// A picture goes where it is told, or is printed: a stack as SVG, headers as text; where JSON is asked for, what it shows.
fn draw(
    (checked, compiled): (&Checked, &Compiled),
    (what, output): (Drawn, Option<&str>),
    printer: &Printer,
) -> Result<i32, Failure> {
    let what = kinds(what).0;
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

fn sizes(compiled: &Compiled, printer: &Printer) -> Result<i32, Failure> {
    let sizes = size::sizes(compiled.for_c());
    if printer.is_json() {
        for row in &sizes.rows {
            let (octets, capacity, in_all) = (row.octets, row.capacity, row.in_all);
            let class = &row.class;
            printer.object(&json!({ "class": class, "octets": octets, "capacity": capacity, "in_all": in_all }));
        }
        printer.object(&json!({ "objects": sizes.objects(), "buffers": sizes.buffers }));
        printer.object(&in_all(&sizes.needed));
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
    let needed = &sizes.needed;
    let each = |count: u64, what: &str, octets: u64| format!("{count} {what} of {octets}");
    for (what, octets) in [
        ("the structure: objects, and what the runtime keeps".to_string(), needed.instance),
        ("what a reaction has emitted, and what waits for its own".to_string(), needed.agenda + needed.later),
        ("outputs and reports".to_string(), needed.outputs),
        ("what paths write before it leaves".to_string(), needed.front),
        (each(needed.buffers, "buffers", needed.buffer), needed.buffers * needed.buffer),
        (each(needed.messages, "messages", needed.message), needed.pool - needed.buffers * needed.buffer),
        ("an instance, as C is given it by itself".to_string(), needed.whole),
    ] {
        printer.line(format!("{what:<56} {octets:>14}"));
    }
    for (wire, hash) in &sizes.layouts {
        printer.line(format!("layout {hash:08x}  {wire}"));
    }
    sizes.advice().into_iter().for_each(|advice| printer.note(advice));
    Ok(0)
}

/// What an instance needs, as an object.
fn in_all(needed: &size::Needed) -> serde_json::Value {
    json!({
        "instance": needed.whole,
        "structure": needed.instance,
        "agenda": needed.agenda,
        "later": needed.later,
        "outputs": needed.outputs,
        "front": needed.front,
        "buffer": needed.buffer,
        "buffers": needed.buffers,
        "message": needed.message,
        "messages": needed.messages,
        "pool": needed.pool,
    })
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
