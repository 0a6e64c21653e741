//! `mokume prove`.

use std::time::Duration;

use mokume_base::RealWorld;
use mokume_driver::path::Passes;
use mokume_driver::prove::{folder, prove as prove_all, Choice, Known, Proof, Step, Told, Way};
use mokume_driver::Failure;
use serde_json::json;

use crate::arguments::{ByProfile, StackChoice};
use crate::common::{compiled_to_write, profile_of};
use crate::print::{Printer, Status};

/// Prints a line for each path as soon as it is known, and a progress line before that.
struct Lines<'p> {
    printer: &'p Printer,
    status: Status,
}

impl Told for Lines<'_> {
    fn works_on(&mut self, events: &[String], Step { way, ways, questions, .. }: Step) {
        self.status.show(|| format!("{}: way {way} of {ways}, {questions} questions", events.join(", ")));
    }

    fn knows(&mut self, proof: &Proof) {
        self.status.end();
        line(proof, self.printer);
    }
}

/// Proves the path of an event, or all paths.
pub fn prove(
    (choice, by): (&StackChoice, &ByProfile),
    (event, limit, again): (Option<&str>, Duration, bool),
    printer: &Printer,
) -> Result<i32, Failure> {
    let compiled = compiled_to_write(choice, printer)?;
    let profile = profile_of((by, Passes::ALL), &compiled)?;
    let status = Status::new(printer);
    let kept = folder(&RealWorld, choice.file.as_deref())?;
    let wanted = Choice { event, limit, kept, again };
    let mut lines = Lines { printer, status };
    let proofs = prove_all(&RealWorld, (&compiled, &profile), &wanted, &mut lines)?;
    let proved = proofs.iter().filter(|proof| proof.is_proved()).count();
    if let (true, true, Some(event)) = (printer.is_json(), proofs.is_empty(), event) {
        printer.object(&json!({ "events": [event], "proved": false, "why": "it has no path" }));
    }
    if !printer.is_json() {
        printer.line(match (proofs.len(), event) {
            (0, Some(event)) => format!("`{event}` has no path: `mokume path` says why"),
            (0, None) => "there is no path: `mokume path` says why".to_owned(),
            (all, _) => format!("{proved} of {all} paths are proved"),
        });
    }
    Ok(i32::from(proved < proofs.len() || proofs.is_empty()))
}

fn line(proof: &Proof, printer: &Printer) {
    if printer.is_json() {
        return printer.object(&object(proof));
    }
    let (events, seconds) = (proof.events.join(", "), proof.took.as_secs_f64());
    let ways = match &proof.ways {
        Ok(ways) => ways,
        Err(why) => return printer.line(format!("{events:<28} open: {why} ({seconds:.1} s)")),
    };
    let (all, proved) = (ways.len(), ways.iter().filter(|way| way.verdict.is_ok()).count());
    let taken = |way: &&Way| way.verdict.as_ref().is_ok_and(|shown| !shown.goals.is_empty());
    let never = match proved - ways.iter().filter(taken).count() {
        0 => String::new(),
        never => format!(", {never} of them never taken"),
    };
    let goals = goals_of(ways);
    printer.line(match proof.is_proved() {
        true if proof.known == Known::Kept => format!("{events:<28} proved: {all} ways{never}, {goals} goals (kept)"),
        true if proof.known == Known::Shipped => {
            format!("{events:<28} proved: {all} ways{never}, {goals} goals (comes with Mokume)")
        }
        true => format!("{events:<28} proved: {all} ways{never}, {goals} goals ({seconds:.1} s)"),
        // The layers do something that has no path, whatever comes.
        false if proved == all => {
            format!("{events:<28} open: {all} ways, none of them ever taken ({seconds:.1} s)")
        }
        false => format!("{events:<28} open: {proved} of {all} ways are proved ({seconds:.1} s)"),
    });
    for (number, way) in ways.iter().enumerate() {
        let Err(open) = &way.verdict else { continue };
        printer.line(format!("  way {} of {} guards: {}", number + 1, way.guards, open.why));
        for (name, value) in &open.values {
            printer.line(format!("    {name} = {value}"));
        }
    }
    replayed(proof, printer);
}

/// Prints whether a run reproduces what a solver found.
fn replayed(proof: &Proof, printer: &Printer) {
    match &proof.replayed {
        Some(found) => {
            printer.line(
                "  refuted: replayed from the start. In this test the layers do what it says, and the path does not",
            );
            printer.line(format!("    layers: {}", found.layers));
            printer.line(format!("    path:   {}", found.path));
            found.test.lines().for_each(|line| printer.line(format!("    {line}")));
        }
        None if proof.found().is_some() => {
            printer
                .line("  not replayed: no run from the start shows it, and the state may be one that is never reached");
        }
        None => {}
    }
}

fn object(proof: &Proof) -> serde_json::Value {
    let seconds = proof.took.as_secs_f64();
    match &proof.ways {
        Ok(ways) => json!({
            "events": proof.events, "proved": proof.is_proved(), "ways": ways.iter().map(way_object).collect::<Vec<_>>(), "seconds": seconds,
            "replayed": proof.replayed.as_ref().map(|found| json!({ "test": found.test, "layers": found.layers, "path": found.path })),
            "kept": proof.known == Known::Kept, "shipped": proof.known == Known::Shipped,
        }),
        Err(why) => json!({ "events": proof.events, "proved": false, "why": why, "seconds": seconds }),
    }
}

/// The number of proved goals.
pub fn goals_of(ways: &[Way]) -> u32 {
    let goals = ways.iter().filter_map(|way| way.verdict.as_ref().ok()).flat_map(|shown| &shown.goals);
    goals.map(|(_, count)| count).sum()
}

/// A way as an object: its goals by kind, or why it is open.
pub fn way_object(way: &Way) -> serde_json::Value {
    match &way.verdict {
        Ok(shown) => {
            let goals: serde_json::Map<_, _> =
                shown.goals.iter().map(|(kind, count)| ((*kind).to_owned(), json!(count))).collect();
            json!({ "guards": way.guards, "proved": true, "goals": goals })
        }
        Err(open) => {
            let values: serde_json::Map<_, _> =
                open.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({ "guards": way.guards, "proved": false, "why": open.why, "values": values })
        }
    }
}
