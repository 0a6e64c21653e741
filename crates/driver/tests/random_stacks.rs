//! Random stacks of the thin layers on a simulated network with bad weather. Each runs equally on the interpreter and
//! in C, keeps its layers' promises, and behaves the same with an additional layer that only passes events on. With a
//! layer that does not fit it is refused, and the boundary is named.
//!
//! `./campaign stacks` runs more; `FIRST=17 SEEDS=1 cargo test -p mokume-driver --test all random_stacks` repeats one.

#[path = "random/promises.rs"]
mod promises;
#[path = "random/rooms.rs"]
mod rooms;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use mokume_base::world::RealWorld;
use mokume_base::Random;
use mokume_driver::compile::{self, Checked};
use mokume_driver::machines::Backend;
use mokume_driver::{check, sim};
use mokume_reaction::Datum;
use mokume_simulate::{Record, RecordedEvent};
use promises::{broken, Channel, Thin, FRAGMENT, THIN};

/// The number of stacks in `./test`, and which of them run in C, too; if `SEEDS` sets the number, all do.
const SEEDS: u64 = 60;
const IN_C: u64 = 3;
const MESSAGES: u64 = 12;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A stack and its weather.
struct Case {
    /// From bottom to top.
    layers: Vec<&'static Thin>,
    link: String,
    device: Channel,
    sent: Vec<Vec<u8>>,
    through: usize,
}

static FRAGMENT_LAYER: Thin = FRAGMENT;
static LAYERS: [Thin; 22] = THIN;
/// Those of them that are not in the library.
const HELD: &str = include_str!("random/held.mok");

fn case(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x5eed_57ac);
    let count = 1 + random.below(5) as usize;
    let mut layers: Vec<&Thin> = Vec::new();
    for _ in 0..count {
        let of = random.below(LAYERS.len() as u64 + 1) as usize;
        layers.push(LAYERS.get(of).unwrap_or(&FRAGMENT_LAYER));
    }
    // A router opens no sessions, and many of these layers need one: a branching layer is directly on the device, and
    // only once.
    let branches = |layer: &&Thin| layer.written.contains("BELOW");
    if let Some(one) = layers.iter().copied().find(branches) {
        layers.retain(|layer| !branches(layer));
        layers.insert(0, one);
    }
    let count = layers.len();
    let chance = |random: &mut Random, most: u64| if random.below(2) == 0 { 0 } else { random.below(most + 1) };
    let (loss, duplicate) = (chance(&mut random, 20), chance(&mut random, 10));
    let (reorder, corrupt) = (chance(&mut random, 20), chance(&mut random, 6));
    let longest = 1 + random.below(5);
    let mut link = format!(
        "    link lan {{ a.device, b.device  loss {loss} %  duplicate {duplicate} %  reorder {reorder} %  corrupt {corrupt} %  delay 1 ms .. {longest} ms }}\n"
    );
    let parted = random.below(4) == 0;
    if parted {
        link += "    partition a  from 500 ms until 900 ms\n";
    }
    // Different delays reorder messages that are sent closer together; here only layers do that.
    let reorders = reorder > 0 || longest > 1;
    let device =
        Channel { loses: loss > 0 || parted, duplicates: duplicate > 0, reorders, corrupts: corrupt > 0, stops: false };
    let sent = (0..MESSAGES)
        .map(|number| {
            let filler = random.below(120) as usize;
            format!("m{number:02}{}", "abcdefghij".repeat(12).get(..filler).unwrap_or("")).into_bytes()
        })
        .collect();
    let through = random.below(count as u64 + 1) as usize;
    Case { layers, link, device, sent, through }
}

/// The file of a case; `extra` comes first, and layers are given by their own text.
fn source(case: &Case, layers: &[&str], extra: &str, sessions: bool) -> String {
    let mut text = format!("{HELD}\n{extra}\nstack S(device: Device, own: u32, other: u32) {{\n");
    let mut below = "device".to_string();
    for (index, layer) in layers.iter().enumerate() {
        let name = if index + 1 == layers.len() { "app".to_string() } else { format!("l{index}") };
        text += &match layer.contains("BELOW") {
            true => layer.replace("NAME", &name).replace("BELOW", &below),
            false => format!("    {name} = {layer} over {below}\n"),
        };
        below = name;
    }
    text += "    export app\n}\nnetwork N {\n    host a = S(1, 2)\n    host b = S(2, 1)\n";
    text += &case.link;
    if sessions {
        text += "    at 10 ms  b.app.listen(1)\n    at 20 ms  a.app.open(1)\n";
    }
    for (index, message) in case.sent.iter().enumerate() {
        let (at, message) = (100 + 150 * (index / 3) + index % 3, String::from_utf8_lossy(message).into_owned());
        let call = if sessions { format!("send(s1, \"{message}\")") } else { format!("send_to(\"{message}\")") };
        text += &format!("    at {at} ms  a.app.{call}\n");
    }
    text + "    until 200 s\n}\n"
}

fn checked(text: &str) -> Checked {
    let folder = std::env::temp_dir().join(format!("mokume-random-stacks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let file: PathBuf = folder.join(format!("{:?}.mok", std::thread::current().id()).replace(['(', ')'], ""));
    std::fs::write(&file, text).expect("a scratch file");
    compile::check(&RealWorld, &[file.to_string_lossy().into_owned()]).expect("it is read")
}

/// Whether the application's port has sessions.
fn has_sessions(case: &Case, layers: &[&str], extra: &str) -> Result<bool, String> {
    // The steps of the network are checked only when it runs.
    let checked = checked(&source(case, layers, extra, false));
    let stack = compile::choose_stack(&checked, Some("S")).map_err(|failure| failure.to_string())?;
    if checked.has_errors() {
        return Err(format!("{:?}", checked.diagnostics));
    }
    let (compiled, diagnostics) = compile::compile(&checked, stack, &RealWorld);
    let compiled = compiled.ok_or_else(|| format!("{diagnostics:?}"))?;
    let ports = &compiled.composed.ports;
    Ok(ports.iter().any(|port| port.name == "app" && port.inputs.iter().any(|input| input.event == "open")))
}

fn simulate(text: &str, backend: Backend, seed: u64) -> Result<sim::Run, String> {
    let checked = checked(text);
    let network = sim::choose(&checked, None).map_err(|failure| failure.to_string())?;
    let (compiled, diagnostics) = sim::stacks(&checked, network, &RealWorld);
    if compile::has_errors(&diagnostics) || checked.has_errors() {
        return Err(format!("{:?} {diagnostics:?}", checked.diagnostics));
    }
    let prepared = sim::Prepared::new(&checked, network, &compiled, backend).map_err(|failure| failure.to_string())?;
    let how = sim::How { seed, keep: sim::Keep::All, weather: sim::Sky::Seeded };
    prepared.run(how, &RealWorld, &mut |_| {}).map_err(|failure| failure.to_string())
}

/// The messages delivered to the application of `b`.
fn delivered(run: &sim::Run) -> Vec<Vec<u8>> {
    let message = |record: &Record| match &record.what {
        RecordedEvent::Output { host: 1, args, .. } => match args.last() {
            Some(Datum::Message(octets)) => Some(octets.clone()),
            _ => None,
        },
        _ => None,
    };
    run.records.iter().filter_map(message).collect()
}

/// The outputs to both applications, with their times.
fn seen(run: &sim::Run) -> Vec<String> {
    let output = |record: &Record| match &record.what {
        RecordedEvent::Output { host, port, event, args } => {
            Some(format!("{} {host} {}", record.at, run.hosts[*host].output(*port, *event, args)))
        }
        _ => None,
    };
    run.records.iter().filter_map(output).collect()
}

/// A layer that retransmits waits longer than those below it, or they would retransmit what is on its way.
fn patient(layers: Vec<String>) -> Vec<String> {
    let mut patience = 50;
    let one = |layer: String| {
        let written = layer.replace("PATIENCE", &format!("{patience} ms"));
        if written != layer {
            patience *= 6;
        }
        written
    };
    layers.into_iter().map(one).collect()
}

/// What is wrong with one case, if anything.
fn judge(seed: u64, extra: &str, replace: &dyn Fn(&'static str) -> String, in_c: bool) -> Result<Channel, String> {
    let case = case(seed);
    let owned = patient(case.layers.iter().map(|layer| replace(layer.written)).collect());
    let layers: Vec<&str> = owned.iter().map(String::as_str).collect();
    let shown = layers.iter().rev().copied().collect::<Vec<_>>().join(" / ");
    let fault = |what: String| format!("seed {seed}: {shown}\n{}{what}", case.link);
    let sessions = has_sessions(&case, &layers, extra).map_err(fault)?;
    let text = source(&case, &layers, extra, sessions);
    let run = simulate(&text, Backend::Interpreter, seed).map_err(fault)?;
    let promise = case.layers.iter().fold(case.device, |below, layer| (layer.promise)(below));
    if let Some(what) = broken(promise, &case.sent, &delivered(&run)) {
        return Err(fault(format!("{promise:?}: {what}")));
    }
    if in_c {
        let again = simulate(&text, Backend::C, seed).map_err(fault)?;
        if again.records != run.records {
            let at = run.records.iter().zip(&again.records).position(|(a, b)| a != b);
            return Err(fault(format!("interpreter and C differ at record {at:?}")));
        }
    }
    let mut with = layers.clone();
    with.insert(case.through, "Through");
    let passed = simulate(&source(&case, &with, extra, sessions), Backend::Interpreter, seed).map_err(fault)?;
    if seen(&passed) != seen(&run) {
        return Err(fault(format!("a layer that passes on, at {}, is observed", case.through)));
    }
    Ok(promise)
}

#[test]
fn random_stacks_run_equal_and_keep_their_promises() {
    let (first, seeds) = (number("FIRST", 0), number("SEEDS", SEEDS));
    let next = AtomicU64::new(first);
    let judged = Mutex::new(Vec::new());
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= first + seeds {
            break;
        }
        let verdict = judge(seed, "", &|layer| layer.to_string(), seeds != SEEDS || seed.is_multiple_of(IN_C));
        judged.lock().expect("no judge panics").push(verdict);
    };
    std::thread::scope(|scope| {
        (0..std::thread::available_parallelism().map_or(2, usize::from)).for_each(|_| drop(scope.spawn(work)))
    });
    let mut faults = Vec::new();
    let (mut reliable, mut ordered, mut at_most_once, mut sound) = (0, 0, 0, 0);
    for verdict in judged.into_inner().expect("no judge panics") {
        match verdict {
            Ok(promise) => {
                reliable += u32::from(promise == Channel::default());
                ordered += u32::from(!promise.corrupts && !promise.reorders);
                at_most_once += u32::from(!promise.corrupts && !promise.duplicates);
                sound += u32::from(!promise.corrupts);
            }
            Err(fault) => faults.push(fault),
        }
    }
    println!(
        "FIGURE: random stacks: seeds {first} to {}, {} faults; {sound} promise what was sent, {at_most_once} at most once, {ordered} in order, {reliable} all of it",
        first + seeds - 1,
        faults.len()
    );
    assert!(faults.is_empty(), "{} faults; replay one with FIRST=seed SEEDS=1\n{}", faults.len(), faults.join("\n"));
    assert!(seeds < SEEDS || reliable > 5, "reliable ones are among them: {reliable}");
}

/// A sequencer that accepts a number twice.
#[test]
fn a_layer_that_breaks_its_word_is_found() {
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/thin/sequencer.mok");
    let text = std::fs::read_to_string(library).expect("the sequencer");
    let faulty = text.replace("worker Sequencer", "worker Faulty").replace("seq > last", "seq >= last");
    assert!(faulty.contains("seq >= last"), "the fault is planted");
    let replace = |layer: &'static str| if layer == "Sequencer" { "Faulty".to_string() } else { layer.to_string() };
    // One in a hundred seeds has it where a message arrives twice and no layer below or above removes that.
    let found = (0..4000).filter(|seed| case(*seed).layers.iter().any(|layer| layer.written == "Sequencer"));
    let found = found.filter_map(|seed| judge(seed, &faulty, &replace, false).err()).find(|why| why.contains("twice"));
    println!("FIGURE: a sequencer that takes a number twice is found: {}", found.is_some());
    assert!(found.is_some(), "a message was delivered twice, and nobody said so");
}

/// Layers that fit nowhere: what each lacks, and the code that says so.
const UNFIT: [(&str, &str); 5] = [
    ("endpoint Unfit { on deliver(msg) { drop msg: no } }", "M0708"),
    ("worker Unfit { on send(msg) { if below.rooom2 > 3 { below.send(msg) } else { drop msg: full } } }\nworker Never { publish rooom2: u32 = 1 }", "M0706"),
    ("service Asks { ask(x: u32) }\nworker Unfit { uses Asks as asks  on send(msg) { asks.ask(1)  below.send(msg) } }", "M0704"),
    ("worker Unfit { on send(msg) { below.wake(3)  below.send(msg) } }", "M0715"),
    ("router Unfit { address { host: u32 }  header { host: u32 }  below address { station: u48 }  on send(msg) to flow { below.send(msg, host: flow.remote.host) to flow(remote.station: 1) }  on deliver(msg, host) { above.deliver(msg) from flow(remote.host: host) } }", "M07"),
];

#[test]
fn random_stacks_that_do_not_fit_are_refused_and_the_boundary_is_named() {
    let (first, seeds) = (number("FIRST", 0), number("SEEDS", SEEDS));
    let mut codes = std::collections::BTreeMap::new();
    for seed in first..first + seeds {
        let case = case(seed);
        let (unfit, code) = UNFIT[(seed % UNFIT.len() as u64) as usize];
        let owned = patient(case.layers.iter().map(|layer| layer.written.to_string()).collect());
        let mut layers: Vec<&str> = owned.iter().map(String::as_str).collect();
        // Below the others, so that an endpoint has something above it.
        layers.insert(case.through.min(layers.len() - 1), "Unfit");
        let checked = checked(&source(&case, &layers, unfit, false));
        let found = check::all(&checked, &RealWorld);
        let named = found.iter().find(|diagnostic| {
            let labels = diagnostic.labels.iter().chain(&diagnostic.primary);
            let said = labels.map(|label| label.text.as_str()).chain([diagnostic.message.as_str()]);
            let at = diagnostic
                .primary
                .as_ref()
                .map(|label| checked.sources.line_column(label.span.file, label.span.start).0);
            let line = at.and_then(|line| {
                checked.sources.file(checked.roots[0]).text.lines().nth(line as usize - 1).map(str::to_string)
            });
            diagnostic.code.0.starts_with(code)
                && (said.clone().any(|text| text.contains("Unfit")) || line.is_some_and(|line| line.contains("Unfit")))
        });
        let all: Vec<String> = found.iter().map(|found| format!("{} {}", found.code.0, found.message)).collect();
        let named = named.unwrap_or_else(|| panic!("seed {seed}: {unfit}\nis not refused with {code}: {all:?}"));
        *codes.entry(named.code.0).or_insert(0) += 1;
    }
    println!("FIGURE: random stacks that do not fit: seeds {first} to {}, all refused: {codes:?}", first + seeds - 1);
}
