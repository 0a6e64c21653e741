//! `mokume show`, and how `mokume sim` shows its record.

use mokume_base::world::RealWorld;
use mokume_driver::record::{self, Part, Run};
use mokume_driver::{graph, Failure};
use serde_json::json;

use crate::common::write;
use crate::print::{time, Printer};

/// What to show of a record.
pub struct Asked<'a> {
    /// The number of the run, from 1; `None`: list the runs.
    pub which: Option<u64>,
    pub part: Part,
    pub chart: Option<&'a str>,
    pub pcap: Option<&'a str>,
    pub html: Option<&'a str>,
    /// Another record to compare with.
    pub against: Option<&'a str>,
}

/// `mokume show`: shows a run of a record, or lists its runs.
pub fn show(file: &str, asked: &Asked<'_>, printer: &Printer) -> Result<i32, Failure> {
    let runs = record::read(&RealWorld, file)?;
    let Some(which) = asked.which else {
        runs.iter().enumerate().for_each(|(place, run)| print_run(place + 1, run, printer));
        return Ok(0);
    };
    let run = numbered(&runs, which, file)?;
    if let Some(name) = asked.against {
        let others = record::read(&RealWorld, name)?;
        return held_against(run, numbered(&others, which, name)?, asked.html, printer);
    }
    asked.part.check(run)?;
    write_files(run, &asked.part, (asked.chart, asked.pcap), &title(run), printer)?;
    if let Some(name) = asked.html {
        write_page(run, None, name, printer)?;
    }
    if [asked.chart, asked.pcap, asked.html].iter().all(Option::is_none) {
        print_log(run, &asked.part, printer);
    }
    Ok(0)
}

fn numbered<'a>(runs: &'a [Run], which: u64, file: &str) -> Result<&'a Run, Failure> {
    usize::try_from(which - 1).ok().and_then(|place| runs.get(place)).ok_or_else(|| {
        let count = runs.len();
        Failure::of_use(format!("`{file}` has no run {which}"), format!("it has {count}: `--runs` lists them"))
    })
}

/// Compares two runs: a page of both, or what each does where they first differ. Returns 1 if they differ, else 0.
fn held_against(run: &Run, other: &Run, html: Option<&str>, printer: &Printer) -> Result<i32, Failure> {
    if let Some(name) = html {
        write_page(run, Some(other), name, printer)?;
    }
    let whole = [run, other];
    let compared = record::comparable(run, other);
    let [run, other] = [&*compared[0], &*compared[1]];
    let outside = record::first_difference(run, other);
    let (said, parted, fields) = match outside {
        Some(parted) => ("the runs differ from here on:", parted, record::apart(parted)),
        None => match record::first_state_difference(run, other) {
            Some((parted, fields)) => {
                ("the runs do the same, and variables differ from here on:", parted.map(Some), fields)
            }
            None => {
                match printer.is_json() {
                    true => printer.object(&json!({ "differ": false, "events": [] })),
                    false => printer.line("the runs do not differ"),
                }
                return Ok(0);
            }
        },
    };
    let [one, other] = parted.map(|event| event.map(|event| event.id));
    let parted = [one.and_then(|id| whole[0].event(id)), other.and_then(|id| whole[1].event(id))];
    if printer.is_json() {
        printer.object(&json!({ "differ": true, "events": parted }));
        return Ok(1);
    }
    printer.line(said);
    for (run, (name, event)) in whole.into_iter().zip(["A", "B"].into_iter().zip(parted)) {
        let line = event.map_or_else(|| "ends".to_string(), |event| record::line(run, event));
        let (at, host) =
            event.map_or((String::new(), ""), |event| (time(event.at), event.host.as_deref().unwrap_or("")));
        printer.line(format!("{name} {at:>12}  {host:<10} {line}"));
    }
    // If both runs do the same thing, their lines may be equal; then the fields that differ are printed.
    for record::Apart { field, values: [one, other] } in fields {
        printer.line(format!("  {field}: {one} in A, {other} in B"));
    }
    Ok(1)
}

/// `Street (seed 1)`
fn title(run: &Run) -> String {
    format!("{} (seed {})", run.head.name, run.head.seed)
}

fn print_run(number: usize, run: &Run, printer: &Printer) {
    let head = &run.head;
    if printer.is_json() {
        let (name, place, backend, seed) = (&head.name, &head.place, &head.backend, head.seed.to_string());
        let events = run.events.len();
        return printer.object(&json!({
            "run": number, "name": name, "place": place, "backend": backend, "seed": seed, "events": events
        }));
    }
    let place = head.place.as_ref().map_or(String::new(), |place| format!("{place} "));
    let events = run.events.len();
    printer.line(format!("{number:>4}  {place}{} ({}), seed {}, {events} events", head.name, head.backend, head.seed));
}

/// Prints the events, one a line; in JSON as they are in the record.
pub fn print_log(run: &Run, part: &Part, printer: &Printer) {
    for (event, line) in record::log(run, part) {
        if printer.is_json() {
            printer.line(event.line());
        } else if let Some(line) = line {
            printer.line(format!("{:>12}  {:<10} {line}", time(event.at), event.host.as_deref().unwrap_or("")));
        }
    }
}

/// Writes the page of a run, optionally with another run beside it.
pub fn write_page(run: &Run, against: Option<&Run>, name: &str, printer: &Printer) -> Result<(), Failure> {
    write(&RealWorld, name, record::page(run, against).as_bytes())?;
    printer.told_written(name, ("page", 1), format!("page in {name}: a browser opens it"));
    Ok(())
}

/// Writes the chart and the capture, if requested.
pub fn write_files(
    run: &Run,
    part: &Part,
    (chart, pcap): (Option<&str>, Option<&str>),
    title: &str,
    printer: &Printer,
) -> Result<(), Failure> {
    if let Some(name) = pcap {
        Failure::without_folder(&RealWorld, name)?;
        let frames = record::capture(run, part, name)?;
        printer.told_written(name, ("frames", frames), format!("{frames} frames in {name}"));
    }
    if let Some(name) = chart {
        let chart = record::chart(run, part, title);
        let picture = graph::chart(&chart, name.ends_with(".txt"));
        write(&RealWorld, name, picture.as_bytes())?;
        printer.told_written(name, ("chart", 1), format!("sequence chart in {name}"));
    }
    Ok(())
}
