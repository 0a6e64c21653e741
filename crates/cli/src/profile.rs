//! `mokume profile`.

use mokume_base::world::RealWorld;
use mokume_driver::compile::Checked;
use mokume_driver::machines::Backend;
use mokume_driver::profile::{choose, events, record, taken, Event};
use mokume_driver::{sim, Failure};
use serde_json::json;

use crate::common::{refused, write};
use crate::print::{Printer, Status};
use crate::simulate::bar;

/// The options of the command line.
pub struct Asked<'a> {
    pub network: Option<&'a str>,
    pub stack: Option<&'a str>,
    pub seed: Option<u64>,
    pub seeds: u64,
    pub output: Option<&'a str>,
}

/// The most ways shown of an event.
const SHOWN: usize = 8;

/// Runs the network, writes the profile, and prints a summary.
pub fn profile(checked: &Checked, asked: &Asked<'_>, printer: &Printer) -> Result<i32, Failure> {
    let world = RealWorld;
    let network = sim::choose(checked, asked.network)?;
    let stacks = sim::sound_stacks(checked, network, &world).map_err(|wrong| refused(&wrong, checked, printer))?;
    let stack = choose(checked, &stacks.keys().copied().collect::<Vec<_>>(), asked.stack)?;
    let prepared = sim::Prepared::new(checked, network, &stacks, Backend::Interpreter)?;
    let first = asked.seed.or(checked.manifest.defaults.seed).unwrap_or(1);
    let seeds = first..first.saturating_add(asked.seeds);
    let mut progress = Status::new(printer);
    let shown = &mut |what: &str, seed: u64, at: u64| {
        let of = if asked.seeds > 1 { format!(" seed {} of {}", seed - first + 1, asked.seeds) } else { String::new() };
        progress.show(|| format!("{}{of}{what}", bar(at, network.until)));
    };
    let Some(compiled) = stacks.get(&stack) else { return Ok(1) };
    let mut ways = |seed, at| shown("", seed, at);
    let written = record(checked, &prepared, (stack, compiled), seeds.clone(), &world, &mut ways)?;
    let mut by_paths = |seed, at| shown(", with paths", seed, at);
    let taken = taken(&prepared, (stack, compiled, &written.profile), seeds, &world, &mut by_paths)?;
    progress.end();
    if let Some(output) = asked.output {
        write(&world, output, written.print().as_bytes())?;
    }
    let events = events(&compiled.composed, &written.profile, &taken);
    events.iter().for_each(|event| line(event, printer));
    let sum = |of: fn(&Event) -> u64| events.iter().map(of).fold(0, u64::saturating_add);
    let all = Event {
        events: vec!["all".to_owned()],
        reactions: sum(|event| event.reactions),
        ways: Vec::new(),
        by_path: sum(|event| event.by_path),
    };
    if !printer.is_json() && all.reactions > 0 {
        line(&all, printer);
    }
    Ok(0)
}

fn line(event: &Event, printer: &Printer) {
    let Event { events, reactions, ways, by_path } = event;
    if printer.is_json() {
        return printer.object(&json!({ "events": events, "reactions": reactions, "ways": ways, "by_path": by_path }));
    }
    let share = |times: &u64| format!("{:.1}", *times as f64 * 100.0 / *reactions as f64);
    let shares = ways.iter().take(SHOWN).map(share).collect::<Vec<_>>().join(", ");
    let more = if ways.len() > SHOWN { ", …" } else { "" };
    let ways = match ways.len() {
        0 => String::new(),
        1 => ", 1 way".to_owned(),
        ways => format!(", {ways} ways: {shares}{more} %"),
    };
    let by_path = share(by_path);
    printer.line(format!("{:<28} {reactions:>8} reactions, {by_path:>5} % by a path{ways}", events.join(", ")));
}
