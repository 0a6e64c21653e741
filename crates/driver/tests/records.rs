//! Records of networks and tests: the interpreter's and C's are equal, written records can be read again, and they
//! match the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mokume_base::world::{RealWorld, World};
use mokume_driver::compile;
use mokume_driver::machines::Backend;
use mokume_driver::record::{self, Lines, Part, Run, SCHEMA};
use mokume_driver::sim::{self, How, Keep, Prepared, Sky};
use mokume_driver::test::{self, Unwatched, Written};
use mokume_record::steps::Life;
use mokume_record::{Kind, What};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository, or one by its absolute path.
fn checked(file: &str) -> compile::Checked {
    let name = root().join(file).to_string_lossy().into_owned();
    compile::check(&RealWorld, &[name]).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The records of a file's networks, on the interpreter and in C.
fn networks(file: &str) -> Vec<[Run; 2]> {
    let ways = [(Backend::Interpreter, Keep::All), (Backend::C, Keep::All)];
    runs(file, ways, |_, run| run)
}

/// The records of a file's networks, one for each way to run them; each with the result of `told` for it.
fn runs<const N: usize, T>(file: &str, ways: [(Backend, Keep); N], told: impl Fn(&sim::Run, Run) -> T) -> Vec<[T; N]> {
    let checked = checked(file);
    let mut all = Vec::new();
    for network in &checked.program.networks {
        let stacks =
            sim::sound_stacks(&checked, network, &RealWorld).unwrap_or_else(|wrong| panic!("{file}: {wrong:?}"));
        all.push(ways.map(|(backend, keep)| {
            let prepared = Prepared::new(&checked, network, &stacks, backend).unwrap();
            let how = How { seed: 7, keep, weather: Sky::Seeded };
            let run = prepared.run(how, &RealWorld, &mut |_| ()).unwrap_or_else(|error| panic!("{file}: {error}"));
            told(&run, prepared.record(&run))
        }));
    }
    all
}

/// Records of the previous versions match their schemas, and no other.
#[test]
fn the_versions_before_keep_their_schemas() {
    let schemas = [
        include_str!("../../../schemas/record-1.json"),
        include_str!("../../../schemas/record-2.json"),
        include_str!("../../../schemas/record-3.json"),
        SCHEMA,
    ];
    let texts = [
        include_str!("../../record/tests/first.jsonl"),
        include_str!("../../record/tests/second.jsonl"),
        include_str!("../../record/tests/third.jsonl"),
    ];
    for (of, schema) in schemas.into_iter().enumerate() {
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for (version, text) in texts.into_iter().enumerate() {
            let is_valid = text.lines().all(|line| validator.is_valid(&serde_json::from_str(line).unwrap()));
            assert_eq!(is_valid, of == version, "version {} by the schema of {}", version + 1, of + 1);
        }
    }
}

/// The run with all fields that may differ made equal.
fn alike(run: &Run) -> Run {
    let mut run = run.clone();
    run.head.backend = String::new();
    run
}

fn first_difference(one: &Run, other: &Run) -> String {
    let pair = one.events.iter().zip(&other.events).find(|(one, other)| one != other);
    format!("{:?}: {pair:#?}, of {} and {} events", one.head.name, one.events.len(), other.events.len())
}

fn validator() -> jsonschema::Validator {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

const NETWORKS: [&str; 4] =
    ["examples/meter.mok", "examples/budget.mok", "examples/window.mok", "tests/program/arrives.mok"];

#[test]
fn records_of_networks_are_those_of_both_back_ends_and_as_the_schema_says() {
    if !is_compiler_there() {
        return;
    }
    let validator = validator();
    let (mut runs, mut lines, mut kinds) = (0, 0, std::collections::BTreeSet::new());
    for file in NETWORKS {
        for [interpreted, in_c] in networks(file) {
            let (one, other) = (alike(&interpreted), alike(&in_c));
            assert!(one == other, "{file}: {}", first_difference(&one, &other));
            let text = interpreted.text();
            for line in text.lines() {
                let object: serde_json::Value = serde_json::from_str(line).unwrap();
                assert!(validator.is_valid(&object), "{file}: {line}");
                kinds.extend(object["event"].as_str().map(str::to_string));
                lines += 1;
            }
            assert_eq!(mokume_record::read(&text).as_deref(), Ok(&[interpreted][..]));
            runs += 1;
        }
    }
    println!("FIGURE: records: {runs} networks, {lines} lines, of {kinds:?}");
    assert!(kinds.len() >= 9, "{kinds:?}");
}

fn is_compiler_there() -> bool {
    let is_there = std::process::Command::new("cc").arg("--version").output().is_ok();
    if !is_there {
        println!("SKIPPED: no C compiler");
    }
    is_there
}

/// A host that crashes does not receive what arrives, and starts again.
#[test]
fn crashes_are_in_the_record() {
    if !is_compiler_there() {
        return;
    }
    let text = std::fs::read_to_string(root().join("examples/meter.mok")).unwrap();
    let crashes = text.replacen("    until ", "    crash b at 500 ms\n    restart b at 2500 ms\n    until ", 1);
    assert_ne!(crashes, text);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records-crashes.mok");
    std::fs::write(&file, crashes).unwrap();
    let [interpreted, in_c] = networks(&file.to_string_lossy()).remove(0);
    let (one, other) = (alike(&interpreted), alike(&in_c));
    assert!(one == other, "{}", first_difference(&one, &other));
    let validator = validator();
    let text = interpreted.text();
    assert!(text.lines().all(|line| validator.is_valid(&serde_json::from_str(line).unwrap())));
    let count = |wanted: fn(&What) -> bool| interpreted.events.iter().filter(|event| wanted(&event.what)).count();
    let found = [
        count(|what| matches!(what, What::Crashes)),
        count(|what| matches!(what, What::Restarts)),
        count(|what| matches!(what, What::Misses { .. })),
    ];
    assert!(found[..2] == [1, 1] && found[2] > 0, "{found:?}");
}

/// Causes precede their effects, at no later time; arriving frames were sent to their receiver; numbers of frames
/// increase.
#[test]
fn what_a_record_says_hangs_together() {
    for file in NETWORKS {
        for [run, _] in networks(file) {
            let mut frames = 0;
            for (place, event) in run.events.iter().enumerate() {
                assert_eq!(event.id, place as u64 + 1);
                let cause = event.cause.map(|cause| run.event(cause).expect("it is there"));
                assert!(cause.is_none_or(|cause| cause.id < event.id && cause.at <= event.at), "{event:?}");
                match &event.what {
                    What::Sends { frame, .. } => {
                        frames += 1;
                        assert_eq!(*frame, frames);
                    }
                    What::Receives { frame, octets, .. } => {
                        let cause = cause.expect("it was sent");
                        let What::Sends { frame: sent, octets: whole, copies, .. } = &cause.what else {
                            panic!("{cause:?}")
                        };
                        let to = event.host.as_ref().unwrap();
                        let copy = copies.iter().find(|copy| copy.to == *to && copy.at == event.at).expect("a copy");
                        let mut whole = whole.clone();
                        for bit in &copy.turned {
                            whole[(bit / 8) as usize] ^= 0x80 >> (bit % 8);
                        }
                        assert_eq!((sent, octets.is_some()), (frame, !copy.turned.is_empty()));
                        assert!(octets.as_ref().is_none_or(|octets| *octets == whole), "{event:?}");
                    }
                    What::Drops(_) | What::Consumes(_) | What::Gone { .. } | What::Reports { .. } => {
                        assert!(cause.is_some(), "{event:?}");
                    }
                    What::Starts | What::Wakes => assert_eq!(event.cause, None),
                    What::Misses { .. } => assert!(cause.is_some(), "{event:?}"),
                    What::Crashes | What::Restarts => assert_eq!(event.cause, None),
                    What::Input { .. } | What::Output { .. } | What::Ends { .. } => {}
                }
            }
            assert!(frames > 0, "{file}");
        }
    }
}

/// Alternatives by name, with their fields; else the layer, its fields, and its payload.
#[test]
fn frames_say_what_they_are_about() {
    let about = |file: &str| -> Vec<String> {
        let [run, _] = networks(file).remove(0);
        let about = |event: &mokume_record::Event| match &event.what {
            What::Sends { about, .. } => Some(about.clone()),
            _ => None,
        };
        run.events.iter().filter_map(about).collect()
    };
    let meter = about("examples/meter.mok");
    assert!(
        meter.contains(&"Ask number=1".to_string()) && meter.contains(&"Tell number=1 reading=230".to_string()),
        "{meter:?}"
    );
    let budget = about("examples/budget.mok");
    let is_datagram =
        |about: &&String| about.starts_with("udp source=4000 destination=7") && about.ends_with(" \"hello\"");
    assert!(budget.iter().any(|about| is_datagram(&about)), "{budget:?}");
}

/// A changed record does not match the schema.
#[test]
fn the_schema_is_closed() {
    let validator = validator();
    let is_valid = |line: &str| validator.is_valid(&serde_json::from_str(line).expect("JSON"));
    let [run, _] = networks("examples/budget.mok").remove(0);
    let text = run.text();
    let line = |event: &str| text.lines().find(|line| line.contains(&format!("\"event\":\"{event}\""))).expect("one");
    for (line, from, to) in [
        (line("sends"), "\"frame\":", "\"frames\":"),
        (line("sends"), "\"lost\":[", "\"more\":1,\"lost\":["),
        (line("receives"), "\"receives\"", "\"gets\""),
        (line("ends"), "\"failed\":[", "\"failed\":[1"),
        (text.lines().next().unwrap(), "\"record\":4", "\"record\":2"),
        (text.lines().next().unwrap(), "\"stack\":", "\"stacks\":"),
        (line("output"), "\"is\":\"message\"", "\"is\":\"text\""),
        (line("sends"), "\"id\":", "\"id\":-"),
        (line("sends"), "\"id\":", "\"id\":9007199254740992"),
        (line("sends"), "\"id\":", "\"id\":\"7\",\"at\":"),
    ] {
        assert!(is_valid(line), "{line}");
        let changed = line.replacen(from, to, 1);
        assert!(changed != line && !is_valid(&changed), "{changed}");
    }
}

/// A run for each test and back end, equal in pairs; a capture and a log of it.
#[test]
fn records_of_tests_are_those_of_both_back_ends() {
    if !is_compiler_there() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records");
    let file = folder.join("tests.jsonl").to_string_lossy().into_owned();
    let checked = checked("tests/library/checks.mok");
    std::fs::create_dir_all(&folder).unwrap();
    let prepared = test::prepare(&checked, "", &RealWorld);
    let mut lines = Lines::open(&RealWorld, &file, false).unwrap();
    let (outcomes, not_run) =
        prepared.run(None, &RealWorld, &mut Unwatched, Written { record: Some(&mut lines), pages: None });
    lines.settle().unwrap();
    assert!(not_run.is_empty() && outcomes.len() > 2);
    let runs = record::read(&RealWorld, &file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(runs.len(), outcomes.len());
    let (interpreted, in_c) = runs.split_at(runs.len() / 2);
    for (one, other) in interpreted.iter().zip(in_c) {
        assert_eq!((one.head.backend.as_str(), other.head.backend.as_str()), ("interpreter", "c"));
        let (one, other) = (alike(one), alike(other));
        assert!(one == other, "{}", first_difference(&one, &other));
        assert!(one.head.kind == Kind::Test && one.head.place.is_some());
    }
    let validator = validator();
    let text = RealWorld.read_text(&file).unwrap();
    for line in text.lines() {
        assert!(validator.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
    let pcap = folder.join("test.pcap").to_string_lossy().into_owned();
    let is_frame = |event: &&mokume_record::Event| matches!(event.what, What::Sends { .. } | What::Receives { .. });
    let frames = runs[0].events.iter().filter(is_frame).count() as u64;
    assert!(frames > 0 && record::capture(&runs[0], &Part::default(), &pcap) == Ok(frames));
}

/// The contents of variables, by host, layer, class, object and name, after the changes in a record.
type Held = BTreeMap<(String, String, String, u32, String, Option<String>), String>;

/// Applies the changes; each must give the old value correctly, else returns the first wrong one.
fn held_at_the_end(run: &Run) -> Result<Held, String> {
    let mut held = Held::new();
    for event in &run.events {
        let host = event.host.clone().unwrap_or_default();
        if matches!(event.what, What::Crashes) {
            held.retain(|(of, ..), _| *of != host);
        }
        for change in event.did.iter().flat_map(|did| &did.changes) {
            let is_of = |(of, layer, class, object, ..): &(String, String, String, u32, String, Option<String>)| {
                (of, layer, class, *object) == (&host, &change.layer, &change.class, change.object)
            };
            match change.life {
                Life::Begins if held.keys().any(is_of) => return Err(format!("begins again: {event:?}")),
                Life::Begins => {}
                Life::Ends => held.retain(|key, _| !is_of(key)),
                Life::GoesOn => {}
            }
            for cell in &change.cells {
                let name = (cell.name.clone(), cell.at.clone());
                let key = (host.clone(), change.layer.clone(), change.class.clone(), change.object, name.0, name.1);
                let was = match &cell.to {
                    Some(to) => held.insert(key, to.clone()),
                    None => held.remove(&key),
                };
                // Zeros of a new object's arrays are not recorded.
                let is_zero = cell.from.as_deref() == Some("0") && cell.at.is_some();
                if was != cell.from && !(was.is_none() && is_zero) {
                    return Err(format!("{was:?} {cell:?} of {event:?}"));
                }
            }
        }
    }
    Ok(held)
}

/// With steps a record contains the same and more. The contents of variables follow from it, counters are those of the
/// accounts, lines are lines of the files that it contains, and for each drop the statement ran.
#[test]
fn steps_say_what_layers_did() {
    let validator = validator();
    let (mut counters, mut statements, mut rings, mut steps, mut packets) = (0, 0, 0, 0, 0);
    for file in NETWORKS {
        let ways = [(Backend::Interpreter, Keep::All), (Backend::Interpreter, Keep::Steps)];
        let totals = |ran: &sim::Run, run: Run| {
            let of = |host: &sim::HostRun| (host.name.clone(), host.accounts.counters.clone());
            (ran.hosts.iter().map(of).collect::<Vec<_>>(), run)
        };
        for [(_, plain), (totals, run)] in runs(file, ways, totals) {
            assert_eq!(record::first_difference(&plain, &run), None, "{file}");
            assert!(plain.sources.is_empty() && plain.events.iter().all(|event| event.did.is_none()));
            let text = run.text();
            for line in text.lines() {
                assert!(validator.is_valid(&serde_json::from_str(line).unwrap()), "{file}: {line}");
            }
            assert_eq!(mokume_record::read(&text).as_deref(), Ok(&[run.clone()][..]));
            let held = held_at_the_end(&run).unwrap_or_else(|lie| panic!("{file}: {lie}"));
            for (host, name, total) in totals.iter().flat_map(|(host, all)| all.iter().map(move |(n, t)| (host, n, t)))
            {
                let is_it =
                    |(of, layer, class, _, cell, _): &&(String, String, String, u32, String, Option<String>)| {
                        let class = match class.as_str() {
                            "entity" => "E",
                            "session" => "S",
                            other => other,
                        };
                        of == host && format!("{layer}.{class}.{cell}") == *name
                    };
                let sum: u64 = held.keys().filter(is_it).filter_map(|key| held[key].parse::<u64>().ok()).sum();
                // The accounts include objects that have ended.
                assert!(sum <= *total, "{file}: {host} {name}: {sum}, {total}");
                counters += u64::from(sum == *total && sum > 0);
            }
            for event in &run.events {
                let Some(did) = event.did.as_ref() else { continue };
                steps += did.steps.len();
                rings += did.rings.len();
                assert!(did.rings.iter().all(|ring| ring.due <= event.at), "{event:?}");
                let ran: BTreeSet<(&str, u32)> = did
                    .steps
                    .iter()
                    .flat_map(|step| &step.ran)
                    .flat_map(|ran| ran.lines.iter().map(|line| (ran.file.as_str(), *line)))
                    .collect();
                for (name, line) in &ran {
                    let source = run.sources.iter().find(|source| source.source == *name).expect("it is there");
                    assert!((*line as usize) <= source.text.lines().count(), "{name}:{line}");
                }
                for effect in run.events.iter().filter(|other| other.cause == Some(event.id)) {
                    let (What::Drops(ended) | What::Consumes(ended)) = &effect.what else { continue };
                    let is_run = |place: &&String| {
                        let (file, line) = place.rsplit_once(':').unwrap();
                        ran.contains(&(file, line.parse().unwrap()))
                    };
                    let found = ended.places.iter().filter(is_run).count() as u64;
                    assert!(ended.places.is_empty() || (1..=ended.count).contains(&found), "{effect:?} by {event:?}");
                    statements += 1;
                }
            }
            packets +=
                run.events.iter().filter(|event| matches!(event.what, What::Sends { packet: Some(_), .. })).count();
        }
    }
    println!("FIGURE: records with steps: {steps} steps, {rings} timers, {statements} statements that ended messages, {packets} packets");
    assert!(counters > 3 && statements > 10 && rings > 10 && steps > 100 && packets > 20);
}

/// An omitted change, and one of another variable, are noticed.
#[test]
fn a_change_that_is_left_out_is_found() {
    let [run] = runs("examples/budget.mok", [(Backend::Interpreter, Keep::Steps)], |_, run| run).remove(0);
    assert!(held_at_the_end(&run).is_ok());
    let (mut tried, mut found) = (0, 0);
    for place in 0..run.events.len() {
        let mut other = run.clone();
        let Some(did) = &mut other.events[place].did else { continue };
        let is_value = |cell: &mokume_record::steps::Cell| cell.to.is_some() && cell.at.is_none();
        let cells = did.changes.iter_mut().flat_map(|change| &mut change.cells);
        let Some(cell) = cells.filter(|cell| is_value(cell)).find(|cell| cell.from.is_some()) else { continue };
        cell.to = Some("another".to_string());
        tried += 1;
        found += usize::from(held_at_the_end(&other).is_err());
    }
    // A variable that does not change later reveals nothing.
    assert!(tried > 3 && found * 2 > tried, "{found} of {tried}");
}

/// A changed run differs from the original at the place of the change.
#[test]
fn the_first_difference_is_found() {
    let [run, _] = networks("examples/budget.mok").remove(0);
    assert_eq!(record::first_difference(&run, &run), None);
    for place in [0, run.events.len() / 2, run.events.len() - 1] {
        let mut other = run.clone();
        let is_compared = |event: &mokume_record::Event| !matches!(event.what, What::Starts | What::Wakes);
        let place = (place..run.events.len()).find(|at| is_compared(&run.events[*at])).unwrap();
        other.events[place].at += 1;
        let found = record::first_difference(&run, &other);
        assert_eq!(found, Some([Some(&run.events[place]), Some(&other.events[place])]));
        other.events.truncate(place);
        assert_eq!(record::first_difference(&run, &other), Some([Some(&run.events[place]), None]));
    }
}

/// The places of the words in a picture: left, right, top and bottom, as they are written.
fn words(svg: &str) -> Vec<(f64, f64, f64, f64, String)> {
    const WIDE: f64 = 7.0;
    let mut found = Vec::new();
    for one in svg.split("<text ").skip(1) {
        let (attributes, rest) = one.split_once('>').unwrap();
        let text =
            rest.split("</text>").next().unwrap().replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        let of = |name: &str| {
            let value = attributes.split(&format!("{name}='")).nth(1).and_then(|rest| rest.split('\'').next());
            value.unwrap_or_default().to_string()
        };
        let (x, y): (f64, f64) = (of("x").parse().unwrap(), of("y").parse().unwrap());
        let wide = text.chars().count() as f64 * WIDE;
        let left = match of("text-anchor").as_str() {
            "end" => x - wide,
            "middle" => x - wide / 2.0,
            _ => x,
        };
        found.push((left, left + wide, y - 9.0, y, text));
    }
    found
}

fn over_each_other(words: &[(f64, f64, f64, f64, String)]) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, one) in words.iter().enumerate() {
        for other in &words[at + 1..] {
            if one.0 < other.1 && other.0 < one.1 && one.2 < other.3 && other.2 < one.3 {
                found.push((one.4.as_str(), other.4.as_str()));
            }
        }
    }
    found
}

/// No words of a chart overlap, in all examples; frames for others are grey, and their drops are not shown.
#[test]
fn charts_are_to_be_read() {
    let (mut charts, mut seen, mut grey) = (0, 0, 0);
    for file in [
        "examples/meter.mok",
        "examples/budget.mok",
        "examples/window.mok",
        "examples/selective.mok",
        "examples/demo.mok",
    ] {
        for [run] in runs(file, [(Backend::Interpreter, Keep::All)], |_, run| run) {
            let chart = record::chart(&run, &Part::default(), "a chart");
            let svg = mokume_driver::graph::chart(&chart, false);
            let words = words(&svg);
            let wrong = over_each_other(&words);
            assert!(wrong.is_empty(), "{file}: {wrong:?}");
            charts += 1;
            seen += words.len();
            grey += svg.matches("class='ignored'").count();
            assert!(!svg.contains("not_mine"), "{file}");
        }
    }
    println!("FIGURE: charts: {charts} of examples, {seen} words, {grey} frames for others");
    assert!(charts >= 5 && seen > 100 && grey > 3);
    let svg = "<text x='10.0' y='20.0' text-anchor='start' class='a'>one</text><text x='25.0' y='24.0' text-anchor='start' class='a'>two</text>";
    assert_eq!(over_each_other(&words(svg)), [("one", "two")]);
}

/// What the lowest layers drop is for others only where another host takes it: what comes twice, and what all drop, is a drop.
#[test]
fn what_nobody_takes_is_for_nobody() {
    let seen = runs("tests/dissect/followed/turned_away.mok", [(Backend::Interpreter, Keep::All)], |_, run| {
        let svg = mokume_driver::graph::chart(&record::chart(&run, &Part::default(), "a chart"), false);
        let times = |word: &str| svg.matches(word).count();
        [times("class='ignored'"), times("not_mine"), times("stale")]
    });
    // Two copies of the first frame are grey at `c`; of the second, two copies at two hosts are drops.
    assert_eq!(seen, [[[2, 4, 1]], [[0, 0, 1]]]);
}

/// A frame that a test feeds had no words: nobody sends it.
#[test]
fn a_frame_that_a_test_feeds_has_its_words() {
    let text = concat!(
        include_str!("debug/counts.mok"),
        "test \"up\" {\n    stack S\n    device.frame(x\"03 0004 78\")\n    => app.deliver_from(\"x\")\n    device.frame(x\"03\")\n    => nothing\n}\n"
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fed");
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    std::fs::write(path("fed.mok"), text).unwrap();
    let checked = compile::check(&RealWorld, &[path("fed.mok")]).unwrap();
    let mut lines = Lines::open(&RealWorld, &path("fed.jsonl"), false).unwrap();
    let prepared = test::prepare(&checked, "", &RealWorld);
    let written = Written { record: Some(&mut lines), pages: None };
    prepared.run(Some(Backend::Interpreter), &RealWorld, &mut Unwatched, written);
    drop(lines);
    let runs = record::read(&RealWorld, &path("fed.jsonl")).unwrap();
    let log: Vec<String> = runs[0].events.iter().filter_map(|event| runs[0].line(event)).collect();
    assert!(log.contains(&"receives #1: 4 octets: app kind=3 seq=4 \"x\"".to_string()), "{log:#?}");
    assert!(log.iter().any(|line| line == "receives #2: 1 octets: app kind=3"), "{log:#?}");
}
