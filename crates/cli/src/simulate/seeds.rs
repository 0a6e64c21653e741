//! `mokume sim --seeds`: runs many seeds, and shrinks the weather of the first that fails.

use std::time::{Duration, Instant};

use mokume_base::world::RealWorld;
use mokume_driver::machines::Backend;
use mokume_driver::sim::seeds::{self, Asked, Outcome};
use mokume_driver::sim::shrink::{self, Shrunk};
use mokume_driver::sim::{Failed, How, Keep, Prepared, Sky};
use mokume_driver::{record, Failure};
use serde_json::json;

use super::{print_failed, Replay};
use crate::print::{time, Printer, Status};

/// Runs the seeds, prints which failed, and shrinks the first failure. Returns the exit code.
pub(super) fn run(
    prepared: &Prepared<'_>,
    asked: Asked,
    replay: &Replay<'_>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let count = asked.count;
    let started = Instant::now();
    let mut said = Status::new(printer);
    let (mut done, mut wrong) = (0, 0);
    let failed = seeds::run(prepared, asked, &RealWorld, &mut |outcome| {
        done += 1;
        wrong += u64::from(!outcome.wrong.is_empty());
        said.show(|| format!("{done} of {count} seeds, {wrong} failed"));
    })?;
    said.end();
    let took = started.elapsed();
    let lost = lost(prepared, &failed)?;
    print_summary((prepared, asked), (&failed, &lost), (replay, took), printer);
    let Some((first, earliest)) = failed.first().and_then(|first| Some((first, first.wrong.first()?))) else {
        return Ok(0);
    };
    print_shortest(&failed, printer);
    let began = Instant::now();
    let shrunk = shrink::shrink(prepared, first.seed, earliest, &RealWorld, &mut |runs, left| {
        said.show(|| format!("shrinking seed {}: {left} left after {runs} runs", first.seed));
        began.elapsed() < PATIENCE
    })?;
    said.end();
    print_shrunk(shrunk.as_ref(), first.seed, replay, printer);
    Ok(1)
}

/// The search for the smallest weather stops after this time, with the smallest found so far.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most failures printed in full; of the others only the seed is printed.
const TOLD: usize = 3;

/// The runs of the first failed seeds once more, if outputs did not come in them, to see what was lost on the way.
fn lost(prepared: &Prepared<'_>, failed: &[Outcome]) -> Result<Vec<Option<record::Run>>, Failure> {
    let again = |outcome: &Outcome| match outcome.wrong.iter().any(Failed::is_missing) {
        true => {
            let how = How { seed: outcome.seed, keep: Keep::Reports, weather: Sky::Seeded };
            prepared.kept(&prepared.run(how, &RealWorld, &mut |_| {})?, &RealWorld)
        }
        false => Ok(None),
    };
    failed.iter().take(TOLD).map(again).collect()
}

/// `lost` has the records of the first failed seeds.
fn print_summary(
    (prepared, asked): (&Prepared<'_>, Asked),
    (failed, lost): (&[Outcome], &[Option<record::Run>]),
    (replay, took): (&Replay<'_>, Duration),
    printer: &Printer,
) {
    let Asked { first, count, .. } = asked;
    let told = if printer.is_json() { failed.len() } else { TOLD };
    for (number, outcome) in failed.iter().take(told).enumerate() {
        let record = lost.get(number).and_then(Option::as_ref);
        for (wrong, more) in super::first_of_each(&outcome.wrong) {
            let lost = record.and_then(|record| prepared.on_the_way(record, wrong));
            print_failed((wrong, lost.as_ref()), more, outcome.seed, replay, printer);
        }
    }
    let seeds: Vec<u64> = failed.iter().map(|outcome| outcome.seed).collect();
    let differ = || failed.iter().filter(|outcome| outcome.wrong.iter().any(Failed::is_of_comparing)).count();
    if printer.is_json() {
        let compared = replay
            .against
            .map(|other| json!({ "against": other.name(), "seeds": asked.compared(), "differ": differ() }));
        return printer.object(&json!({ "network": replay.network, "first_seed": first, "seeds": count,
            "failed_seeds": seeds, "compared": compared }));
    }
    let named: Vec<String> = seeds.iter().take(20).map(u64::to_string).collect();
    let more = if seeds.len() > named.len() { ", …" } else { "" };
    let list = if seeds.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
    printer.line(format!(
        "network `{}`: {count} seeds from {first} on, {} passed, {} failed{list} ({:.1} s)",
        replay.network,
        count - seeds.len() as u64,
        seeds.len(),
        took.as_secs_f64()
    ));
    if let Some(other) = replay.against {
        let other = if other == Backend::C { "in C" } else { "on the interpreter" };
        printer.line(format!("    {} of them also {other}: {} differ", asked.compared(), differ()));
    }
}

/// Of several failed seeds, the one whose run is the shortest to look at.
fn print_shortest(failed: &[Outcome], printer: &Printer) {
    let Some((outcome, first)) = seeds::shortest(failed).filter(|_| failed.len() > 1) else { return };
    printer.note(format!("the shortest failing run: seed {}, which fails at {}", outcome.seed, time(first.at)));
}

fn print_shrunk(shrunk: Option<&Shrunk>, seed: u64, replay: &Replay<'_>, printer: &Printer) {
    let Some(shrunk) = shrunk else {
        return printer
            .note(format!("seed {seed} could not be shrunk: with its weather written down it does not fail"));
    };
    let command = replay.command(&shrunk.name, seed);
    if printer.is_json() {
        let object = json!({
            "shrunk": shrunk.network, "seed": seed, "mishaps": shrunk.mishaps.len(), "of": shrunk.from,
            "runs": shrunk.runs, "smallest": shrunk.is_smallest, "at": shrunk.wrong.at, "replay": command,
        });
        return printer.object(&object);
    }
    let kept = if shrunk.is_smallest { "needs" } else { "still fails with" };
    printer.line(format!(
        "seed {seed} {kept} {} of {} things that happened to frames ({} runs), and then fails at {}:\n",
        shrunk.mishaps.len(),
        shrunk.from,
        shrunk.runs,
        time(shrunk.wrong.at)
    ));
    printer.line(shrunk.network.trim_end());
    printer.line(format!("\n    put it into the file; again: {command}"));
}
