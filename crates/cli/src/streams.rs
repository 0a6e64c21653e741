//! `mokume connect`, `listen` and `forward`.

use std::io::ErrorKind;

use mokume_base::RealWorld;
use mokume_driver::apart::Streams;
use mokume_driver::compile::{Checked, Compiled};
use mokume_driver::run;
use mokume_driver::streams::{self, Ended, Patience};
use mokume_driver::Failure;

use crate::accounts::print_accounts;
use crate::apart::Apart;
use crate::arguments::{Fused, Linger, OnDevices, StreamStack};
use crate::common::{accepted, with_stack};
use crate::print::Printer;
use crate::run::request;

/// What to open, and the address.
#[derive(Clone, Copy)]
pub enum Ask<'a> {
    Connect(&'a [String]),
    Listen(&'a [String]),
}

/// `mokume connect`, `mokume listen`: one stream, joined to the standard input and output.
pub fn one(
    ask: Ask<'_>,
    choice: &StreamStack,
    with: (&OnDevices, &Linger, Option<&str>),
    (seed, apart): (Option<u64>, &Apart),
    printer: &Printer,
) -> Result<i32, Failure> {
    if printer.is_json() {
        let help = "leave `--format` out; `mokume forward` has a report in JSON";
        return Err(Failure::of_use("the standard output carries the stream, and no JSON", help));
    }
    let checked = files(choice, &with.0.fused, printer)?;
    with_stack((&checked, stack(choice)), (apart, Streams::TheChilds), printer, |compiled| {
        joined(ask, (&checked, compiled, choice), with, seed, printer)
    })
}

fn joined(
    ask: Ask<'_>,
    (checked, compiled, choice): (&Checked, &Compiled, &StreamStack),
    (on, linger, timeout): (&OnDevices, &Linger, Option<&str>),
    seed: Option<u64>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let mut request = request(on, seed, &checked.manifest.defaults)?;
    if choice.file.is_none() {
        let (Ask::Connect(end) | Ask::Listen(end)) = ask;
        streams::without_older_family(&mut request, &[end]);
    }
    let linger = run::duration(&linger.linger)?;
    let patience = Patience { answer: timeout.map(run::duration).transpose()?, linger };
    let mut tell = |what: &str| printer.note(what);
    let (ended, what) = match ask {
        Ask::Connect(remote) => {
            (streams::connect(compiled, &request, &RealWorld, remote, patience, &mut tell)?, remote)
        }
        Ask::Listen(local) => (streams::listen(compiled, &request, &RealWorld, local, linger, &mut tell)?, local),
    };
    match ended {
        Ended::Cleanly => Ok(0),
        Ended::Broken(reason) if reason == "no route" => {
            let help = "set a gateway that the stack's network has, as `--set gateway=10.77.0.1`, or a wider network of its address";
            Err(Failure { help: help.to_string(), ..Failure::of_peer(format!("no way to {}", what.join(" "))) })
        }
        Ended::Broken(reason) => Err(Failure::of_peer(format!("{}: {reason}", what.join(" ")))),
        Ended::Unread(ErrorKind::BrokenPipe, _) => mokume_driver::end_by_closed_pipe(),
        Ended::Unread(_, reason) => Err(Failure::of_peer(format!("standard input or output: {reason}"))),
    }
}

/// `mokume forward`.
pub fn forward(
    (from, to): (&[String], &[String]),
    choice: &StreamStack,
    on: &OnDevices,
    (seed, apart): (Option<u64>, &Apart),
    printer: &Printer,
) -> Result<i32, Failure> {
    if from.len() != to.len() {
        let message = format!("there are {} of `--from` and {} of `--to`", from.len(), to.len());
        return Err(Failure::of_use(message, "each `--from` has its `--to`, in the same order"));
    }
    let ways: Vec<streams::Way> =
        from.iter().zip(to).map(|(from, to)| streams::way(from, to)).collect::<Result<_, _>>()?;
    // Two sockets of the system at one port are refused by the system.
    let of_stack = |place: usize| match &ways[place] {
        streams::Way::In { from, .. } => Some(from),
        streams::Way::Out { .. } => None,
    };
    let is_twice =
        |place: &usize| of_stack(*place).is_some_and(|from| (0..*place).any(|at| of_stack(at) == Some(from)));
    if let Some(place) = (0..ways.len()).find(is_twice) {
        let message = format!("`--from {}` is there twice: a connection goes one way", from[place]);
        return Err(Failure::of_use(message, "leave one out, or name another port"));
    }
    let checked = files(choice, &on.fused, printer)?;
    with_stack((&checked, stack(choice)), (apart, Streams::Shared), printer, |compiled| {
        forwarded(&ways, (&checked, compiled, choice), on, seed, printer)
    })
}

fn forwarded(
    ways: &[streams::Way],
    (checked, compiled, choice): (&Checked, &Compiled, &StreamStack),
    on: &OnDevices,
    seed: Option<u64>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let mut request = request(on, seed, &checked.manifest.defaults)?;
    if choice.file.is_none() {
        let ends: Vec<&[String]> = ways.iter().map(streams::Way::of_stack).collect();
        streams::without_older_family(&mut request, &ends);
    }
    let mut tell = |what: &str| {
        if printer.is_json() {
            printer.object(&serde_json::json!({ "note": what }));
        } else {
            printer.note(what);
        }
    };
    let (report, cut) = streams::forward(compiled, &request, &RealWorld, ways, &mut tell)?;
    let automaton = &compiled.composed;
    print_accounts(("stack", &automaton.name), automaton, &report.accounts, Some(&report), printer);
    Ok(i32::from(report.reports > 0 || cut > 0))
}

/// Checks the file, or the built-in stack if no file is named.
fn files(choice: &StreamStack, fused: &Fused, printer: &Printer) -> Result<Checked, Failure> {
    let checked = match &choice.file {
        Some(file) => accepted(std::slice::from_ref(file), printer)?,
        None => streams::own(&RealWorld),
    };
    Ok(checked.fused(fused.told()?))
}

/// The name of the chosen stack; the built-in stack has its own.
fn stack(choice: &StreamStack) -> Option<&str> {
    match &choice.file {
        Some(_) => choice.stack.as_deref(),
        None => Some(streams::OWN_STACK),
    }
}
