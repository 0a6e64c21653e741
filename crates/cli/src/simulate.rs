//! `mokume sim`.

mod seeds;

use std::collections::BTreeMap;

use mokume_base::world::RealWorld;
use mokume_driver::compile::Checked;
use mokume_driver::machines::Backend;
use mokume_driver::{record, sim, Failure};
use serde_json::json;

use crate::accounts::print_accounts;
use crate::arguments;
use crate::common::{backend_of, refused, write};
use crate::print::{time, Printer, Status};

/// The options of a simulation.
pub struct SimOptions<'a> {
    pub network: Option<&'a str>,
    pub backend: Option<arguments::Backend>,
    /// The back end to compare with, and of how many seeds one is compared.
    pub against: Option<arguments::Backend>,
    pub every: Option<u64>,
    pub pcap: Option<&'a str>,
    pub chart: Option<&'a str>,
    pub log: bool,
    pub record: Option<&'a str>,
    /// Whether the record has the steps of layers.
    pub steps: bool,
    pub html: Option<&'a str>,
    pub seed: Option<u64>,
    /// The number of seeds; one by default.
    pub seeds: Option<u64>,
    /// The number of parallel runs.
    pub jobs: Option<usize>,
}

/// `mokume sim`: runs a network, and writes the requested files about the run.
pub fn simulate(
    checked: &Checked,
    file: Option<&str>,
    options: &SimOptions<'_>,
    printer: &Printer,
) -> Result<i32, Failure> {
    let world = RealWorld;
    let network = sim::choose(checked, options.network)?;
    let stacks = sim::sound_stacks(checked, network, &world).map_err(|wrong| refused(&wrong, checked, printer))?;
    let seed = options.seed.or(checked.manifest.defaults.seed).unwrap_or(1);
    let backend = options.backend.map_or(Backend::Interpreter, backend_of);
    let against = options.against.map(backend_of);
    let mut prepared = sim::Prepared::new(checked, network, &stacks, backend)?;
    if let Some(other) = against {
        prepared = prepared.against(other)?;
    }
    let replay = Replay { file, network: &network.name.text, backend, against };
    if let Some(count) = options.seeds {
        let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |cores| cores.get()));
        let asked = sim::seeds::Asked { first: seed, count, jobs, every: options.every.unwrap_or(1) };
        return seeds::run(&prepared, asked, &replay, printer);
    }
    let files = [options.pcap, options.chart, options.record, options.html];
    for name in files.iter().copied().flatten() {
        Failure::without_folder(&RealWorld, name)?;
    }
    let is_wanted = options.log || files.iter().any(Option::is_some);
    let keep = match is_wanted {
        true if options.steps || options.html.is_some() => sim::Keep::Steps,
        true => sim::Keep::All,
        false if against.is_some() => sim::Keep::All,
        false => sim::Keep::Reports,
    };
    let mut progress = Status::new(printer);
    let how = sim::How { seed, keep, weather: sim::Sky::Seeded };
    let finished = prepared.run(how, &world, &mut |at| progress.show(|| bar(at, network.until)))?;
    let other = || sim::How { seed, keep: sim::Keep::All, weather: sim::Sky::Seeded };
    let other = against.map(|backend| prepared.run_on(backend, other(), &world)).transpose()?;
    progress.end();
    if is_wanted {
        let record = prepared.record(&finished);
        let beside = other.as_ref().map(|other| prepared.record(other));
        // Files first: the reader of the printed output may go away.
        write_files((&record, beside.as_ref()), options, &format!("{} (seed {seed})", network.name.text), printer)?;
        if options.log {
            crate::show::print_log(&record, &record::Part::default(), printer);
        }
    }
    let difference = other.as_ref().and_then(|other| prepared.difference(&finished, other));
    let kept = prepared.kept(&finished, &world)?;
    let finished = finished.come_to_rest()?;
    print_hosts(&finished, (&network.name.text, seed), printer);
    for place in &finished.unmet {
        printer.note(format!("{place}: what this `when` waits for never came"));
    }
    let mut wrong = sim::seeds::wrong(&finished);
    if other.is_some() && difference.is_none() {
        print_alike(&finished, printer);
    }
    wrong.extend(difference);
    wrong.sort_by_key(|failed| failed.at);
    for (failed, more) in first_of_each(&wrong) {
        let lost = kept.as_ref().and_then(|record| prepared.on_the_way(record, failed));
        print_failed((failed, lost.as_ref()), more, seed, &replay, printer);
    }
    Ok(i32::from(!wrong.is_empty()))
}

/// Says that the other back end did the same.
fn print_alike(run: &sim::Run, printer: &Printer) {
    match printer.is_json() {
        true => printer.object(&json!({ "differ": false, "events": [] })),
        // With the end of the run, as in its record.
        false => printer.line(format!("interpreter and C do the same: {} events", run.records.len() + 1)),
    }
}

/// If a host reports the same place again and again, keeps the first report with the number of further ones.
fn first_of_each(wrong: &[sim::Failed]) -> Vec<(&sim::Failed, usize)> {
    let mut firsts: Vec<(&sim::Failed, usize)> = Vec::new();
    let mut known = BTreeMap::new();
    for failed in wrong {
        let first = *known.entry((&failed.place, &failed.found)).or_insert(firsts.len());
        match firsts.get_mut(first).filter(|_| failed.wanted.is_empty()) {
            Some((_, more)) => *more += 1,
            None => firsts.push((failed, 0)),
        }
    }
    firsts
}

/// The parts of a command that repeats a run by its seed.
struct Replay<'a> {
    file: Option<&'a str>,
    network: &'a str,
    backend: Backend,
    against: Option<Backend>,
}

impl Replay<'_> {
    /// `mokume sim x.mok --network N --seed 17 --log`
    fn command(&self, network: &str, seed: u64) -> String {
        let file = self.file.map_or(String::new(), |file| format!(" {file}"));
        let backend = if self.backend == Backend::C { " --backend c" } else { "" };
        let against = self.against.map_or(String::new(), |other| format!(" --against {}", other.name()));
        format!("mokume sim{file} --network {network} --seed {seed}{backend}{against} --log")
    }
}

/// Prints an unexpected result, with what was lost before an output that did not come, and the command that repeats it.
fn print_failed(
    (failed, lost): (&sim::Failed, Option<&sim::OnTheWay>),
    more: usize,
    seed: u64,
    replay: &Replay<'_>,
    printer: &Printer,
) {
    let command = replay.command(replay.network, seed);
    let sim::Failed { at, place, wanted, found, cause, instead, others, beside, .. } = failed;
    if printer.is_json() {
        let shown = |list: &[(u64, String)]| -> Vec<_> {
            list.iter().map(|(at, text)| json!({ "at": at, "event": text })).collect()
        };
        let (instead, beside) = (shown(instead), shown(beside));
        let on_the_way = lost.map_or_else(Vec::new, |lost| shown(&lost.shown));
        let object = json!({ "failed": wanted, "found": found, "cause": cause, "more": more, "instead": instead, "beside": beside, "on_the_way": on_the_way, "lost": lost.map(|lost| lost.all), "others": others, "place": place, "at": at, "seed": seed, "replay": command });
        return printer.object(&object);
    }
    let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
    let what = if wanted.is_empty() { found.clone() } else { format!("`{wanted}`: {found}") };
    let cause = if cause.is_empty() { String::new() } else { format!(", {cause}") };
    printer.line(format!("FAILED {place}{what}{cause} (at {}, seed {seed})", time(*at)));
    match more {
        0 => {}
        1 => printer.line("    and once more"),
        _ => printer.line(format!("    and {more} times more; `--log` has them all")),
    }
    instead.iter().for_each(|(at, text)| printer.line(format!("    came: {text} at {}", time(*at))));
    if *others > instead.len() as u64 {
        printer.line(format!("    in all {others} that were not as expected; these are the nearest"));
    }
    if failed.expectation.is_some() && instead.is_empty() {
        printer.line("    nothing of this event came");
        beside.iter().for_each(|(at, text)| printer.line(format!("    of this port came: {text} at {}", time(*at))));
    }
    if let Some(lost) = lost {
        lost.shown.iter().for_each(|(at, text)| printer.line(format!("    on the way: {text} at {}", time(*at))));
        match lost.all - lost.shown.len() {
            0 if lost.all == 0 && !lost.apart.is_empty() => {
                printer.line(format!("    no link joins to another host: {}", lost.apart.join(", ")));
            }
            0 if lost.all == 0 && instead.is_empty() => printer.line("    nothing was lost or dropped on the way"),
            0 => {}
            more => printer.line(format!("    on the way: and {more} more; `--log` has them all")),
        }
    }
    printer.line(format!("    again: {command}"));
}

/// Prints what became of each host's messages.
fn print_hosts(finished: &sim::Run, (name, seed): (&str, u64), printer: &Printer) {
    if printer.is_json() {
        printer.object(&json!({ "network": name, "seed": seed, "nanoseconds": finished.until }));
    } else {
        printer.line(format!(
            "network `{}`: {} hosts, {} of virtual time, seed {seed}",
            name,
            finished.hosts.len(),
            time(finished.until)
        ));
    }
    for host in &finished.hosts {
        if !printer.is_json() {
            printer.line(format!("{}:", host.name));
        }
        print_accounts(("host", &host.name), &host.automaton, &host.accounts, None, printer);
    }
}

/// Writes the record, the capture and the chart, if requested.
fn write_files(
    (run, other): (&record::Run, Option<&record::Run>),
    options: &SimOptions<'_>,
    title: &str,
    printer: &Printer,
) -> Result<(), Failure> {
    if let Some(name) = options.record {
        write(&RealWorld, name, run.text().as_bytes())?;
        let count = run.events.len() as u64;
        printer.told_written(name, ("events", count), format!("{count} events in {name}"));
    }
    if let Some(name) = options.html {
        crate::show::write_page(run, other, name, printer)?;
    }
    crate::show::write_files(run, &record::Part::default(), (options.chart, options.pcap), title, printer)
}

/// The progress of a run as a bar.
pub fn bar(at: u64, until: u64) -> String {
    let percent = (at.saturating_mul(100) / until.max(1)).min(100) as usize;
    format!("[{:<50}] {percent:>3} % of {}", "#".repeat(percent / 2), time(until))
}
