//! `mokume path`.

use mokume_base::RealWorld;
use mokume_driver::path::{known, paths, percent, Fuse, Left, Line, Nowhere, Passes, Shown, Way};
use mokume_driver::path_page::page as page_of;
use mokume_driver::{prove, Failure};
use serde_json::json;

use crate::arguments::{ByProfile, StackChoice};
use crate::common::{accepted, compiled_to_write, profile_of, to_write, written};
use crate::print::Printer;

/// The most ways listed as missing.
const MOST_MISSED: usize = 12;

/// Prints the path of an event, or a line for each path.
pub fn path(
    (choice, by, passes): (&StackChoice, &ByProfile, Passes),
    event: Option<&str>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let compiled = compiled_to_write(choice, printer)?;
    let all = paths(&compiled.composed, &profile_of((by, passes), &compiled)?, passes);
    let Some(event) = event else {
        all.iter().for_each(|one| line(one, printer));
        return Ok(0);
    };
    known(&compiled.composed, all.iter().map(|shown| &shown.events), event)?;
    let Some(shown) = all.iter().find(|shown| shown.events.iter().any(|known| known == event)) else { return Ok(0) };
    match &shown.path {
        Ok(way) if printer.is_json() => object(shown, Some(way), printer),
        Ok(way) => {
            printer.line(format!("through {}", way.layers.join(", ")));
            let mut last = None;
            for Line { text, place, left } in &way.lines {
                let place = place.as_ref().filter(|place| last.replace(*place) != Some(*place));
                let said: Vec<&str> = place.into_iter().chain(left).map(String::as_str).collect();
                match said.is_empty() {
                    true => printer.line(text),
                    false => printer.line(format!("{text:<60} ; {}", said.join(", "))),
                }
            }
            left(way, printer);
            missed(shown, printer);
        }
        Err(_) => line(shown, printer),
    }
    Ok(0)
}

/// Writes the path of an event to a file, as a page.
pub fn page(
    (choice, by, passes): (&StackChoice, &ByProfile, Passes),
    event: &str,
    html: &str,
    printer: &Printer,
) -> Result<i32, Failure> {
    if !html.ends_with(".html") && html.rsplit('/').next().is_some_and(|file| file.contains('.')) {
        return Err(Failure::of_use(format!("`{html}` is not the name of a page"), "end the name in .html"));
    }
    let checked = accepted(choice.file.as_slice(), printer)?;
    let mut compiled = to_write(&checked, choice.stack.as_deref(), printer)?;
    let profile = profile_of((by, passes), &compiled)?;
    compiled.fuse_by(Fuse { passes, ..Fuse::default() }, profile.clone());
    let folder = prove::folder(&RealWorld, choice.file.as_deref())?;
    let proved = prove::kept(&RealWorld, &folder, compiled.for_c());
    let page = page_of((&compiled.composed, &profile, passes), &checked.sources, event, &proved)?;
    written(Some(html), &page, printer)
}

/// Prints what is left of each layer on the likeliest way.
fn left(way: &Way, printer: &Printer) {
    printer.line("left of each layer, on the likeliest way:");
    for left in &way.left {
        let (layers, operations, guards) = (left.layers.join(", "), left.operations, left.guards);
        printer.line(format!("    {operations:>4} operations, {guards:>3} guards  {layers}"));
    }
}

/// Prints the ways that the path leaves out: how likely each is reached, why it ends there, and where.
fn missed(shown: &Shown, printer: &Printer) {
    if !shown.missed.is_empty() {
        printer.line("not in it, the likeliest first:");
    }
    for (likely, nowhere) in shown.missed.iter().take(MOST_MISSED) {
        printer.line(format!("    {:>7}  {}{}", percent(*likely), nowhere.why, nowhere.at()));
    }
    if let Some((likely, _)) = shown.missed.get(MOST_MISSED) {
        let more = shown.missed.len() - MOST_MISSED;
        printer.line(format!("    and {more} more, of {} or less", percent(*likely)));
    }
}

fn line(shown: &Shown, printer: &Printer) {
    if printer.is_json() {
        return object(shown, None, printer);
    }
    let events = shown.events.join(", ");
    printer.line(match &shown.path {
        Ok(way) => {
            let (layers, operations, guards) = (way.layers.len(), way.operations, way.guards);
            format!("{events:<28} {layers:>3} layers, {operations:>4} operations, {guards:>3} guards")
        }
        Err(nowhere) => {
            format!("{events:<28} none: the likeliest way {}{}", nowhere.why, nowhere.at())
        }
    });
}

fn object(shown: &Shown, way: Option<&Way>, printer: &Printer) {
    let lines = way.map(|way| {
        let line = |Line { text, place, left }: &Line| {
            let text = left.as_ref().map_or_else(|| text.clone(), |left| format!("{text} ; {left}"));
            json!({ "text": text, "place": place })
        };
        way.lines.iter().map(line).collect::<Vec<_>>()
    });
    let missed =
        |(likely, nowhere): &(f32, Nowhere)| json!({ "likely": likely, "why": nowhere.why, "place": nowhere.place });
    let left_of = |left: &Left| json!({ "layers": left.layers, "operations": left.operations, "guards": left.guards });
    let missed: Vec<_> = shown.missed.iter().map(missed).collect();
    printer.object(&match &shown.path {
        Ok(way) => json!({
            "events": shown.events, "layers": way.layers, "operations": way.operations, "guards": way.guards, "lines": lines,
            "missed": missed,
            "left": way.left.iter().map(left_of).collect::<Vec<_>>(),
        }),
        Err(nowhere) => {
            json!({ "events": shown.events, "why": nowhere.why, "place": nowhere.place, "missed": missed })
        }
    });
}
