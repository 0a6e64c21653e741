//! The difference of two events, field by field, as their lines omit much.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use mokume_record::{Event, Run, What};
use serde_json::{Map, Value};

use super::show::plain;

/// A field of the record in which two events differ: `copies[0].at`, `octets[17]`; with both values, `nothing` if one
/// has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Apart {
    pub field: String,
    pub values: [String; 2],
}

/// The fields in which two events of one kind differ; empty for different kinds. What only numbers an event in its
/// record, or is optional there, is not compared.
pub fn apart(pair: [Option<&Event>; 2]) -> Vec<Apart> {
    let mut found = Vec::new();
    let [Some(one), Some(other)] = pair else { return found };
    if discriminant(&one.what) != discriminant(&other.what) {
        return found;
    }
    let values = [one, other].map(value);
    walk("", [Some(&values[0]), Some(&values[1])], &mut found);
    found
}

/// Two runs as they are compared: of two texts of a program, a statement's place is what it says, not its line, which every line
/// more in front of it changes. Only records with steps have the texts; without them, places are not compared.
pub fn comparable<'a>(one: &'a Run, other: &'a Run) -> [Cow<'a, Run>; 2] {
    let have_texts = !one.sources.is_empty() && !other.sources.is_empty();
    if have_texts && one.sources == other.sources {
        return [one, other].map(Cow::Borrowed);
    }
    [one, other].map(|run| {
        let text = |place: &String| {
            let (file, line) = place.rsplit_once(':')?;
            let source = run.sources.iter().find(|source| source.source == file)?;
            let line = source.text.lines().nth(line.parse::<usize>().ok()?.checked_sub(1)?)?;
            let code = line.split_once("//").map_or(line, |(code, _)| code);
            Some(code.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let said = |place: &String| text(place).filter(|_| have_texts).unwrap_or_default();
        // Of several statements, the one that ran.
        let ran = |event: &Event, place: &String| {
            let steps = event.cause.and_then(|cause| Some(&run.event(cause)?.did.as_ref()?.steps));
            let mut lines = steps.into_iter().flatten().flat_map(|step| &step.ran);
            place.rsplit_once(':').is_some_and(|(file, line)| {
                lines.any(|of| of.file == file && of.lines.iter().any(|known| known.to_string() == line))
            })
        };
        let whole = run;
        let mut run = run.clone();
        for (event, before) in run.events.iter_mut().zip(&whole.events) {
            match &mut event.what {
                What::Drops(ended) | What::Consumes(ended) => {
                    let places = ended.places.iter().filter(|place| ran(before, place));
                    ended.places = places.map(said).filter(|said| !said.is_empty()).collect();
                }
                What::Reports { place, .. } => *place = said(place),
                What::Ends { failed, .. } => failed.iter_mut().for_each(|failed| failed.place = said(&failed.place)),
                _ => {}
            }
        }
        Cow::Owned(run)
    })
}

/// The event in one line, even if the log leaves it out.
pub fn line(run: &Run, event: &Event) -> String {
    run.line(event).unwrap_or_else(|| match &event.what {
        What::Starts => "starts".to_string(),
        What::Consumes(ended) => format!("consumes {} ×{}", ended.reason, ended.count),
        What::Ends { failed, .. } => format!("ends, {} times not as expected", failed.len()),
        _ => "wakes".to_string(),
    })
}

fn value(event: &Event) -> Value {
    let (id, cause, did) = (0, None, None);
    let event = Event { id, cause, did, what: plain(&event.what), ..event.clone() };
    // Our data has no maps with keys other than text, the only thing that could fail.
    serde_json::to_value(&event).unwrap_or_default()
}

fn walk(field: &str, pair: [Option<&Value>; 2], found: &mut Vec<Apart>) {
    match pair {
        [one, other] if one == other => {}
        [Some(Value::Object(one)), Some(Value::Object(other))] => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names.for_each(|name| walk(&inside(field, name), [one, other].map(|of: &Map<_, _>| of.get(name)), found));
        }
        [Some(Value::Array(one)), Some(Value::Array(other))] => {
            (0..one.len().max(other.len()))
                .for_each(|at| walk(&format!("{field}[{at}]"), [one.get(at), other.get(at)], found));
        }
        [Some(Value::String(one)), Some(Value::String(other))] if field.ends_with("octets") => {
            found.push(octets(field, one, other));
        }
        pair => found.push(Apart { field: field.to_string(), values: pair.map(text) }),
    }
}

fn inside(field: &str, name: &str) -> String {
    if field.is_empty() {
        name.to_string()
    } else {
        format!("{field}.{name}")
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Octets from the first difference on, two digits each, as many as are readable at a glance.
fn octets(field: &str, one: &str, other: &str) -> Apart {
    const SHOWN: usize = 16;
    let pairs = |text: &str| text.as_bytes().chunks(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let [one, other] = [one, other].map(pairs);
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let behind = |octets: &Vec<Vec<u8>>| match &octets[same..] {
        [] => "nothing".to_string(),
        rest => {
            let more = if rest.len() > SHOWN { "…" } else { "" };
            format!("0x{}{more}", String::from_utf8_lossy(&rest[..rest.len().min(SHOWN)].concat()))
        }
    };
    Apart { field: format!("{field}[{same}..]"), values: [behind(&one), behind(&other)] }
}

/// The events of two runs that do the same, both recorded with steps, at which variables begin to differ; and which: their names, and their
/// values in both.
pub fn first_state_difference<'a>(one: &'a Run, other: &'a Run) -> Option<([&'a Event; 2], Vec<Apart>)> {
    fn changed(run: &Run) -> impl Iterator<Item = (&Event, BTreeMap<String, String>)> {
        let with = run.events.iter().filter_map(|event| Some((event, values(&event.did.as_ref()?.changes))));
        with.filter(|(_, values)| !values.is_empty())
    }
    let pairs = changed(one).zip(changed(other));
    let (events, [left, right]) =
        pairs.map(|(one, other)| ([one.0, other.0], [one.1, other.1])).find(|(_, [a, b])| a != b)?;
    let names: BTreeSet<&String> =
        left.keys().chain(right.keys()).filter(|name| left.get(*name) != right.get(*name)).collect();
    let value =
        |of: &BTreeMap<String, String>, name: &String| of.get(name).cloned().unwrap_or_else(|| "unchanged".to_string());
    let apart =
        names.into_iter().map(|name| Apart { field: name.clone(), values: [value(&left, name), value(&right, name)] });
    Some((events, apart.collect()))
}

/// The new values of variables, by layer, kind of object and name.
fn values(changes: &[mokume_record::steps::Change]) -> BTreeMap<String, String> {
    let cells = changes.iter().flat_map(|change| {
        change.cells.iter().map(move |cell| {
            let at = cell.at.as_ref().map_or(String::new(), |at| format!("[{at}]"));
            let name = format!("{}.{} #{}: {}{at}", change.layer, change.class, change.object, cell.name);
            (name, cell.to.clone().unwrap_or_else(|| "none".to_string()))
        })
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use mokume_record::{Copy, Loss, Lost};

    use super::*;

    fn sends(octets: &[u8], to: &[(&str, u64)], lost: &[&str]) -> Event {
        let copies = to.iter().map(|(to, at)| Copy { to: to.to_string(), at: *at, turned: Vec::new() }).collect();
        let lost = lost.iter().map(|to| Lost { to: to.to_string(), by: Loss::Weather }).collect();
        let (port, medium, about) = ("device".to_string(), "lan".to_string(), String::new());
        let what = What::Sends { frame: 1, port, medium, about, octets: octets.to_vec(), copies, lost, packet: None };
        Event { id: 7, cause: Some(3), at: 30_000_000, host: Some("a".into()), what, did: None }
    }

    fn said(one: &Event, other: &Event) -> Vec<String> {
        let line = |apart: Apart| format!("{}: {}, {}", apart.field, apart.values[0], apart.values[1]);
        apart([Some(one), Some(other)]).into_iter().map(line).collect()
    }

    #[test]
    fn every_field_that_differs_is_named_and_no_other() {
        let one = sends(b"abc", &[("b", 1), ("c", 2)], &[]);
        assert_eq!(said(&one, &Event { id: 9, cause: None, ..one.clone() }), Vec::<String>::new());
        assert_eq!(said(&one, &sends(b"abc", &[("b", 1), ("c", 5)], &[])), ["copies[1].at: 2, 5"]);
        assert_eq!(said(&one, &sends(b"aXc", &[("b", 1), ("c", 2)], &[])), ["octets[1..]: 0x6263, 0x5863"]);
        assert_eq!(said(&one, &sends(b"abcd", &[("b", 1), ("c", 2)], &[])), ["octets[3..]: nothing, 0x64"]);
        let lost = said(&one, &sends(b"abc", &[("b", 1)], &["c"]));
        assert_eq!(lost.len(), 2, "{lost:?}");
        assert!(lost[0].starts_with("copies[1]: {") && lost[0].ends_with(", nothing"), "{lost:?}");
        assert_eq!(said(&one, &Event { at: 30_000_001, ..one.clone() }), ["at: 30000000, 30000001"]);
    }
}
