//! `mokume run`.

use mokume_base::world::{RealWorld, World};
use mokume_driver::compile::{Checked, Compiled};
use mokume_driver::machines::Backend;
use mokume_driver::project::Defaults;
use mokume_driver::{record, run, Failure};
use serde_json::json;

use crate::accounts::print_accounts;
use crate::arguments::OnDevices;
use crate::common::{backend_name, backend_of};
use crate::print::{time, Printer};

/// `mokume run`: runs a stack on devices, and prints its outputs as they come. Optionally records what happens, with or
/// without the steps of layers.
pub fn run_stack(
    (checked, compiled): (&Checked, &Compiled),
    on: &OnDevices,
    (record, lines): (Option<(&str, bool)>, Option<&str>),
    seed: Option<u64>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let request = request(on, seed, &checked.manifest.defaults)?;
    let request = run::Request {
        record: record.map(|(name, _)| name.to_string()),
        lines: lines.map(str::to_string),
        steps: record.filter(|(_, has_steps)| *has_steps).map(|_| checked.sources.clone()),
        ..request
    };
    let (backend, seed) = (request.backend, request.seed);
    let end = match request.nanoseconds {
        Some(nanoseconds) => format!("ends after {}, or by Ctrl-C", time(nanoseconds)),
        None => "ends by Ctrl-C".to_string(),
    };
    let mut ready = |notes: &[String]| {
        notes.iter().for_each(|note| printer.note(note));
        let name = &compiled.composed.name;
        if printer.is_json() {
            printer.object(&json!({ "running": name, "backend": backend_name(backend), "seed": seed }));
        } else {
            printer.note(format!("running `{name}` ({}), seed {seed}; {end}", backend_name(backend)));
        }
    };
    let automaton = &compiled.composed;
    let mut heard = |at: u64, output: &mokume_reaction::Output| {
        let port = &automaton.ports[output.port.index()];
        let described = &port.outputs[output.event as usize];
        let event = &described.event;
        let args = record::arguments(
            automaton,
            &compiled.written,
            record::PortEvent::output(output.port, described),
            &output.args,
        );
        if printer.is_json() {
            printer.object(&json!({ "at": at, "port": port.name, "event": event, "args": args }));
        } else {
            printer.line(format!("{:>12}  {}.{event}{args}", time(at), port.name));
        }
    };
    let mut said = |at: u64, what: &str| printer.note(format!("{:>12}  report: {what}", time(at)));
    let report = run::run(compiled, &request, &RealWorld, &mut ready, &mut heard, &mut said)?;
    print_accounts(("stack", &automaton.name), automaton, &report.accounts, Some(&report), printer);
    Ok(i32::from(report.reports > 0))
}

/// The request of the command line; the project's file supplies what it omits.
pub fn request(on: &OnDevices, seed: Option<u64>, defaults: &Defaults) -> Result<run::Request, Failure> {
    let mut set: Vec<(String, String)> =
        defaults.set.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    for text in &on.set {
        set.push(run::setting(text)?);
    }
    let devices = if on.device.is_empty() {
        defaults.device.iter().map(|(name, value)| format!("{name}={value}")).collect()
    } else {
        on.device.clone()
    };
    let backend = match (on.backend, &defaults.backend) {
        (Some(backend), _) => backend_of(backend),
        (None, Some(name)) => Backend::named(name)?,
        (None, None) => Backend::Interpreter,
    };
    let seed = seed.or(defaults.seed).unwrap_or_else(|| RealWorld.seed());
    let nanoseconds = on.duration.as_deref().map(run::duration).transpose()?;
    Ok(run::Request {
        devices,
        set,
        backend,
        seed,
        nanoseconds,
        pcap: on.pcap.clone(),
        record: None,
        lines: None,
        steps: None,
        weather: on.weather.clone(),
    })
}
