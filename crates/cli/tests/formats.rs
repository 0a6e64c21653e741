//! `--format json`: each line of each command matches the schema, and a schema does not change without a new version.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const LINES: &str = include_str!("../../../schemas/lines-4.json");

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("formats");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

/// The output of a command, line by line.
fn printed(arguments: &[&str], input: &str) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .args(arguments)
        .args(["--format", "json"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A command that does not read it may end first.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

/// Finds the kind of a line.
struct Kinds(Vec<(String, jsonschema::Validator)>);

impl Kinds {
    fn of(schema: &str) -> Kinds {
        let whole: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        let kind = |one: &serde_json::Value| {
            let name = one["$ref"].as_str().unwrap().trim_start_matches("#/$defs/").to_string();
            let schema =
                serde_json::json!({ "$schema": whole["$schema"], "$ref": one["$ref"], "$defs": whole["$defs"] });
            (name, jsonschema::validator_for(&schema).expect("a schema"))
        };
        Kinds(whole["anyOf"].as_array().or(whole["oneOf"].as_array()).unwrap().iter().map(kind).collect())
    }

    fn name(&self, line: &str) -> Option<&str> {
        let object = serde_json::from_str(line).ok()?;
        self.0.iter().find(|(_, schema)| schema.is_valid(&object)).map(|(name, _)| name.as_str())
    }
}

#[test]
fn what_commands_print_is_as_the_schema_says() {
    let kinds = Kinds::of(LINES);
    let [record, other, pages, made, new, page] =
        ["a.jsonl", "b.jsonl", "pages", "built", "new", "path.html"].map(scratch);
    let [wrong, failing, unlaid, frames] = ["wrong.mok", "failing.mok", "unlaid.mok", "a.pcap"].map(scratch);
    let _ = std::fs::remove_dir_all(&new);
    let meter = std::fs::read_to_string(root().join("examples/meter.mok")).unwrap();
    std::fs::write(&wrong, meter.replace("count late", "count latee")).unwrap();
    let unmet = meter.replacen("until 4500 ms", "expect reader.device.frame 2 times\n    until 4500 ms", 1);
    std::fs::write(&failing, unmet.replacen("000000e6", "000000e7", 1)).unwrap();
    std::fs::write(&unlaid, "worker   X {}\n").unwrap();
    let device = format!("pcap:{frames}");
    let commands: Vec<Vec<&str>> = vec![
        vec!["check", "examples/meter.mok"],
        vec!["check", &wrong],
        vec!["check", "nowhere.mok"],
        vec!["sim", "examples/meter.mok", "--record", &record, "--pcap", &frames, "--seed", "18446744073709551615"],
        vec!["sim", "examples/meter.mok", "--record", &other, "--seed", "2"],
        vec!["sim", "examples/meter.mok", "--seeds", "2"],
        vec!["sim", "examples/meter.mok", "--seeds", "2", "--against", "c"],
        vec!["sim", &failing],
        vec!["sim", &failing, "--seeds", "2"],
        vec!["test", "examples/meter.mok", "--backend", "interpreter"],
        vec!["test", &failing, "--backend", "interpreter", "--html", &pages],
        vec![
            "run",
            "examples/meter.mok",
            "--stack",
            "House",
            "--device",
            &device,
            "--set",
            "device.mac=02:00:00:00:00:02",
            "--for",
            "5s",
            "--weather",
            "loss 2 %",
        ],
        vec!["show", &record, "--runs"],
        vec!["show", &record, "--against", &other],
        vec!["profile", "examples/meter.mok", "--stack", "House"],
        vec!["path", "examples/meter.mok", "--stack", "House"],
        vec!["path", "examples/meter.mok", "--stack", "House", "--event", "device.frame"],
        vec!["path", "crates/cli/tests/viewer/plant.mok"],
        vec!["path", "examples/meter.mok", "--stack", "House", "--event", "device.frame", "--html", &page],
        vec!["prove", "examples/meter.mok", "--stack", "House"],
        vec!["build", "crates/cli/tests/viewer/plant.mok", "--proved", "-o", &made],
        vec!["build", "crates/cli/tests/viewer/plant.mok", "-o", &made],
        vec!["graph", "examples/meter.mok", "--stack", "House"],
        vec!["graph", "examples/meter.mok", "--stack", "House", "--what", "headers"],
        vec!["size", "examples/meter.mok", "--stack", "House"],
        vec!["explain", "M0401"],
        vec!["explain"],
        vec!["fmt", "--check", &unlaid],
        vec!["fmt", "-"],
        vec!["fmt", "--check", &wrong],
        vec!["new", &new],
        vec!["doctor"],
        vec!["--version"],
    ];
    let mut seen = BTreeSet::new();
    for command in &commands {
        let lines = printed(command, "worker   X {}\n");
        assert!(!lines.is_empty(), "{command:?} prints nothing");
        for line in &lines {
            let name = kinds.name(line);
            assert!(name.is_some(), "{command:?}: {line}");
            seen.extend(name);
        }
    }
    let unseen: Vec<&str> = kinds.0.iter().map(|(name, _)| name.as_str()).filter(|name| !seen.contains(name)).collect();
    println!("FIGURE: --format json: {} kinds of lines, not seen: {unseen:?}", kinds.0.len());
    // Lines about solvers, real time, a machine without a compiler, and an event that has no path.
    assert_eq!(unseen, UNSEEN);
}

const UNSEEN: [&str; 5] = ["not_run", "heard", "note", "no_path", "no_proof"];

/// What was compared with the other back end is said; a log's lines are those of a record, and come first.
#[test]
fn what_a_run_prints_beside_its_lines_is_said_too() {
    let lines = printed(&["sim", "examples/meter.mok", "--seeds", "3", "--every", "2", "--against", "c"], "");
    let compared: serde_json::Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!(compared["compared"], serde_json::json!({ "against": "c", "seeds": 2, "differ": 0 }));
    let plain = printed(&["sim", "examples/meter.mok", "--seeds", "3"], "");
    assert!(plain[0].contains("\"compared\":null"), "{plain:?}");
    let (kinds, events) = (Kinds::of(LINES), Kinds::of(include_str!("../../../schemas/record-4.json")));
    let log = printed(&["sim", "examples/meter.mok", "--log"], "");
    let is_event = |line: &&String| events.name(line).is_some();
    let count = log.iter().take_while(is_event).count();
    assert!(count > 20 && log[count..].iter().all(|line| kinds.name(line).is_some()), "{log:?}");
    assert_eq!(printed(&["debug", "examples/meter.mok"], "").len(), 1);
}

/// A line with an additional field, a missing one, or another type is invalid.
#[test]
fn a_line_that_changes_is_not_as_the_schema_says() {
    let kinds = Kinds::of(LINES);
    let lines = printed(&["sim", "examples/meter.mok"], "");
    for (line, from, to) in [
        (&lines[0], "\"seed\":", "\"seeds\":"),
        (&lines[0], "\"seed\":1", "\"seed\":9007199254740993"),
        (&lines[0], "\"seed\":1", "\"seed\":\"1\""),
        (&lines[1], "\"held\":0", "\"held\":0,\"more\":1"),
        (&lines[1], "\"dropped\":{", "\"dropped\":{\"x\":null,"),
    ] {
        let changed = line.replacen(from, to, 1);
        assert!(kinds.name(line).is_some() && changed != *line && kinds.name(&changed).is_none(), "{changed}");
    }
}

/// A digest of a schema's form: of its lines without descriptions, whose words may improve. The same on every machine.
fn digest(text: &str) -> String {
    let is_form = |line: &&str| !line.trim_start().starts_with("\"description\": \"");
    let form: String = text.lines().filter(is_form).map(|line| format!("{line}\n")).collect();
    let number = form
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, octet| (sum ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3));
    format!("{number:016x}")
}

/// The published schemas, each with its digest.
const GIVEN: &str = include_str!("formats/given.txt");

/// A published schema never changes: a changed form gets a new version, in a separate file.
#[test]
fn a_schema_does_not_change_without_a_new_version() {
    let unlike = |given: &str| -> Vec<String> {
        let mut found = Vec::new();
        for line in given.lines() {
            let (name, known) = line.split_once(' ').unwrap();
            let text = std::fs::read_to_string(root().join("schemas").join(name)).unwrap_or_default();
            found.extend((digest(&text) != known).then(|| name.to_string()));
        }
        found
    };
    assert!(unlike(GIVEN).is_empty(), "{:?}: give it a new version", unlike(GIVEN));
    let first = GIVEN.lines().next().unwrap();
    assert_eq!(unlike(&first.replace(' ', " 0")), [first.split(' ').next().unwrap()]);
    // The words of a description are free, the rest is not.
    let schema = std::fs::read_to_string(root().join("schemas/record-4.json")).unwrap();
    let [word, form] = [("The run ended.", "The run is over."), ("\"const\": 4", "\"const\": 5")]
        .map(|(from, to)| schema.replacen(from, to, 1));
    assert!(word != schema && form != schema);
    assert!(digest(&word) == digest(&schema) && digest(&form) != digest(&schema));
    for file in std::fs::read_dir(root().join("schemas")).unwrap() {
        let name = file.unwrap().file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(root().join("schemas").join(&name)).unwrap();
        assert!(GIVEN.contains(&name), "formats/given.txt lacks `{name} {}`", digest(&text));
    }
}
