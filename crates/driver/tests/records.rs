//! Records of networks and tests: the interpreter's and C's are equal, what is written is read again, and the schema has it.

use std::path::{Path, PathBuf};

use mokume_base::world::{RealWorld, World};
use mokume_driver::compile;
use mokume_driver::machines::Backend;
use mokume_driver::record::{self, Lines, Part, Run, SCHEMA};
use mokume_driver::sim::{self, How, Keep, Prepared, Sky};
use mokume_driver::test::{self, Unwatched};
use mokume_record::{Kind, What};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository, or one by its whole path.
fn checked(file: &str) -> compile::Checked {
    let name = root().join(file).to_string_lossy().into_owned();
    compile::check(&RealWorld, &[name]).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The records of a file's networks, on the interpreter and in C.
fn networks(file: &str) -> Vec<[Run; 2]> {
    let checked = checked(file);
    let mut all = Vec::new();
    for network in &checked.program.networks {
        let stacks =
            sim::sound_stacks(&checked, network, &RealWorld).unwrap_or_else(|wrong| panic!("{file}: {wrong:?}"));
        all.push([Backend::Interpreter, Backend::C].map(|backend| {
            let prepared = Prepared::new(&checked, network, &stacks, backend).unwrap();
            let how = How { seed: 7, keep: Keep::All, weather: Sky::Seeded };
            let run = prepared.run(how, &RealWorld, &mut |_| ()).unwrap_or_else(|error| panic!("{file}: {error}"));
            prepared.record(&run)
        }));
    }
    all
}

/// With all that may differ.
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

/// A host that crashes does not hear what comes, and begins anew.
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

/// Causes come before what they bring about, at no later time; frames that come were sent to who gets them; numbers of frames count up.
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

/// Alternatives by name, with their fields; else the layer, its fields, and what it carries.
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

/// What is changed in a record is not as the schema says.
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
        (text.lines().next().unwrap(), "\"record\":1", "\"record\":2"),
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
    let prepared = test::prepare(&checked, "", &RealWorld);
    let mut lines = Lines::open(&RealWorld, &file, false).unwrap();
    let (outcomes, not_run) = prepared.run(None, &RealWorld, &mut Unwatched, Some(&mut lines));
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
