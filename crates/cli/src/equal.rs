//! `mokume prove A == B`.

use std::time::Duration;

use mokume_base::RealWorld;
use mokume_driver::prove::equal::{equal, Equality, Heard, Part};
use mokume_driver::prove::Replayed;
use mokume_driver::Failure;
use serde_json::json;

use crate::arguments::StackChoice;
use crate::common::compiled_to_write;
use crate::print::{Printer, Status};
use crate::prove::{goals_of, way_object};

/// Tries to prove that two stacks behave the same. Returns the exit code: 0 if that is proved, else 1.
pub fn prove_equal(
    first: &StackChoice,
    (other, other_stack): (&[String], Option<&str>),
    (limit, seed): (Duration, u64),
    printer: &Printer,
) -> Result<i32, Failure> {
    let [between, file] = other else {
        return Err(Failure::of_use(
            "`prove` takes one file, or two".to_owned(),
            "as in `mokume prove old.mok == new.mok`",
        ));
    };
    if between != "==" {
        let why = format!("`{between}` is not `==`");
        return Err(Failure::of_use(why, "two stacks are compared by `mokume prove old.mok == new.mok`"));
    }
    let stack = other_stack.map(str::to_owned).or_else(|| first.stack.clone());
    let second = compiled_to_write(&StackChoice { file: Some(file.clone()), stack }, printer)?;
    let first = compiled_to_write(first, printer)?;
    let mut status = Status::new(printer);
    let mut heard = |what: Heard| match what {
        Heard::WorksOn(name, step) => {
            status.show(|| format!("{name}: way {} of {}, {} questions", step.way, step.ways, step.questions));
        }
        Heard::Runs(done, most) => status.show(|| format!("both run with random events: {done} of {most} sequences")),
        Heard::Handler(part) => {
            status.end();
            line(part, "", printer);
        }
        Heard::Event(part) => {
            status.end();
            line(part, ", and all that follows", printer);
        }
    };
    let equality = equal(&RealWorld, (&first, &second), (limit, seed), &mut heard)?;
    match printer.is_json() {
        true => printer.object(&object(&equality)),
        false => said(&equality, printer),
    }
    Ok(i32::from(!equality.is_proved()))
}

fn line(part: &Part, more: &str, printer: &Printer) {
    if printer.is_json() {
        return;
    }
    let (name, seconds) = (format!("{}{more}", part.name), part.took.as_secs_f64());
    let ways = match &part.ways {
        Ok(ways) => ways,
        Err(why) => return printer.line(format!("{name:<36} open: {why} ({seconds:.1} s)")),
    };
    let all = ways.len();
    let proved = ways.iter().filter(|way| way.verdict.is_ok()).count();
    printer.line(match part.is_proved() {
        true => format!("{name:<36} proved: {all} ways, {} goals ({seconds:.1} s)", goals_of(ways)),
        false => format!("{name:<36} open: {proved} of {all} ways are proved ({seconds:.1} s)"),
    });
    // A reason, how often it occurs, and the first values that a solver found for it.
    type Told<'t> = (&'t str, usize, &'t [(String, u64)]);
    let mut told: Vec<Told> = Vec::new();
    for open in ways.iter().filter_map(|way| way.verdict.as_ref().err()) {
        match told.iter_mut().find(|(why, ..)| *why == open.why) {
            Some((_, times, _)) => *times += 1,
            None => told.push((&open.why, 1, &open.values)),
        }
    }
    for (why, times, values) in told {
        let times = if times == 1 { String::new() } else { format!(" ({times} ways)") };
        printer.line(format!("  {why}{times}"));
        values.iter().for_each(|(name, value)| printer.line(format!("    {name} = {value}")));
    }
}

fn said(equality: &Equality, printer: &Printer) {
    if !equality.apart.is_empty() {
        equality.apart.iter().for_each(|what| printer.line(format!("not the same in both: {what}")));
        return printer.line("nothing is proved: what both have must be declared alike");
    }
    if let Some(Replayed { test, layers, path }) = &equality.refuted {
        printer.line("refuted: run from the start by the events of this test, which says what the first puts out, the two differ");
        printer.line(format!("  first:  {layers}"));
        printer.line(format!("  second: {path}"));
        test.lines().for_each(|line| printer.line(format!("  {line}")));
    }
    if !equality.alone.is_empty() {
        printer.line(format!("only one of the two has {}: what is in it is not compared", equality.alone.join(", ")));
    }
    if let Some((first, second)) = equality.buffers {
        printer.line(format!("the pool has {first} buffers in the first, {second} in the second: what is lost for want of one is not compared"));
    }
    let (same, handlers) = (equality.same, equality.handlers.len());
    let proved = equality.handlers.iter().filter(|part| part.is_proved()).count();
    let functions = match equality.functions.len() {
        0 => String::new(),
        1 => " but for 1 function that does the same".to_owned(),
        many => format!(" but for {many} functions that do the same"),
    };
    let what = format!("{same} handlers are the same code{functions}, {proved} of {handlers} others do the same");
    printer.line(match (equality.is_proved(), &equality.refuted) {
        (true, _) if proved == handlers => format!("the two do the same: {what}"),
        (true, _) => {
            format!("the two do the same: {what}, and all {} events that come to the rest", equality.events.len())
        }
        (false, Some(_)) => format!("the two do not do the same: {what}"),
        (false, None) => format!("open: {what}; no run from the start shows a difference"),
    });
}

fn object(equality: &Equality) -> serde_json::Value {
    let part = |part: &Part| {
        let (name, seconds) = (&part.name, part.took.as_secs_f64());
        match &part.ways {
            Ok(ways) => json!({
                "name": name, "proved": part.is_proved(), "ways": ways.iter().map(way_object).collect::<Vec<_>>(), "seconds": seconds,
            }),
            Err(why) => json!({ "name": name, "proved": false, "why": why, "seconds": seconds }),
        }
    };
    json!({
        "proved": equality.is_proved(), "apart": equality.apart, "same": equality.same, "alone": equality.alone,
        "functions": equality.functions.iter().map(part).collect::<Vec<_>>(),
        "handlers": equality.handlers.iter().map(part).collect::<Vec<_>>(),
        "events": equality.events.iter().map(part).collect::<Vec<_>>(),
        "buffers": equality.buffers.map(|(first, second)| json!([first, second])),
        "refuted": equality.refuted.as_ref().map(|found| json!({ "test": found.test, "first": found.layers, "second": found.path })),
    })
}
