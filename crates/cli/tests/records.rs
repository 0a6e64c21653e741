//! `--record` of `sim`, `run` and `test`, and `mokume show`: what is shown later is what was reported at the time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::viewer::{body, browser};

fn mokume(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    out(output) + &String::from_utf8_lossy(&output.stderr)
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

/// Frames of a capture of ours, in order.
fn frames(name: &str) -> Vec<Vec<u8>> {
    let octets = std::fs::read(name).unwrap();
    let (mut at, mut found) = (24, Vec::new());
    while at < octets.len() {
        let size = u32::from_le_bytes(octets[at + 8..at + 12].try_into().unwrap()) as usize;
        found.push(octets[at + 16..at + 16 + size].to_vec());
        at += 16 + size;
    }
    found
}

fn events(name: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(name).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The numbers of frames in a record match those of packets in a capture.
fn is_numbered_as(record: &str, capture: &str) -> usize {
    let packets = frames(capture);
    for event in events(record).iter().filter(|event| event["frame"].is_u64() && event["octets"].is_string()) {
        let number = event["frame"].as_u64().unwrap() as usize;
        assert_eq!(event["octets"], hex(&packets[number - 1]), "frame {number}: {event}");
    }
    packets.len()
}

#[test]
fn what_is_shown_later_is_what_was_said_then() {
    let [record, pcap, later, chart, drawn] =
        ["sim.jsonl", "sim.pcap", "later.pcap", "sim.svg", "later.svg"].map(scratch);
    let sim = ["sim", "examples/meter.mok", "--record", &record, "--pcap", &pcap, "--chart", &chart, "--log"];
    let output = mokume(&sim);
    assert!(output.status.success(), "{}", said(&output));
    let log: Vec<String> =
        out(&output).lines().take_while(|line| !line.starts_with("network ")).map(String::from).collect();
    let shown = mokume(&["show", &record]);
    assert_eq!(out(&shown).lines().collect::<Vec<_>>(), log);
    assert!(
        log.iter().any(|line| line.contains("lost by a partition")) && log.iter().any(|line| line.contains("drops "))
    );
    let output = mokume(&["show", &record, "--pcap", &later, "--chart", &drawn]);
    assert!(output.status.success() && out(&output).is_empty(), "{}", said(&output));
    assert_eq!(frames(&pcap), frames(&later));
    assert_eq!(std::fs::read(&chart).unwrap(), std::fs::read(&drawn).unwrap());
    assert!(is_numbered_as(&record, &pcap) > 10);
    // The objects are those of the record.
    let json = mokume(&["show", &record, "--format", "json"]);
    let lines: Vec<String> = std::fs::read_to_string(&record).unwrap().lines().skip(1).map(String::from).collect();
    assert_eq!(out(&json).lines().collect::<Vec<_>>(), lines);
    let logged = mokume(&["sim", "examples/meter.mok", "--log", "--format", "json"]);
    assert_eq!(out(&logged).lines().take(lines.len()).collect::<Vec<_>>(), lines);
}

#[test]
fn a_host_and_a_time_are_picked() {
    let record = scratch("part.jsonl");
    assert!(mokume(&["sim", "examples/meter.mok", "--record", &record]).status.success());
    let all = out(&mokume(&["show", &record]));
    let part = out(&mokume(&["show", &record, "--host", "b", "--from", "1s", "--to", "2s"]));
    let lines: Vec<&str> = part.lines().collect();
    assert!(
        !lines.is_empty() && lines.len() < all.lines().count() && lines.iter().all(|line| line.contains("  b ")),
        "{part}"
    );
    for (arguments, why) in [
        (&["show", record.as_str(), "--host", "c"][..], "there are: reader, a, b"),
        (&["show", record.as_str(), "--run", "2"], "it has 1"),
        (&["show", record.as_str(), "--from", "soon"], "is no duration"),
        (&["show", record.as_str(), "--from", "2s", "--to", "1s"], "`--from 2s` is later than `--to 1s`"),
        (&["show", "examples/meter.mok"], "is no record: line 1"),
        (&["show", "nowhere.jsonl"], "cannot read"),
        (&["show", "/dev/null"], "holds no run"),
        (&["sim", "examples/meter.mok", "--record", "/dev/full"], "cannot write"),
        (&["sim", "examples/meter.mok", "--seeds", "2", "--record", "x.jsonl"], "cannot be used with"),
    ] {
        let output = mokume(arguments);
        assert!(output.status.code() == Some(2) && said(&output).contains(why), "{arguments:?}: {}", said(&output));
    }
}

/// A stack on a capture: frames have the numbers of the packets in its own capture.
#[test]
fn a_run_is_written_down_as_it_goes() {
    let [network, record, pcap, first] = ["run.pcap", "run.jsonl", "ran.pcap", "first.jsonl"].map(scratch);
    assert!(mokume(&["sim", "examples/meter.mok", "--pcap", &network, "--record", &first]).status.success());
    let device = format!("pcap:{network}");
    let set = ["--set", "device.mac=02:00:00:00:00:02", "--for", "5s"];
    let run =
        ["run", "examples/meter.mok", "--stack", "House", "--device", &device, "--record", &record, "--pcap", &pcap];
    let output = mokume(&[&run[..], &set[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let count = is_numbered_as(&record, &pcap);
    let kinds = |kind: &str| events(&record).iter().filter(|event| event["event"] == kind).count();
    assert!(count > 10 && kinds("receives") + kinds("sends") == count && kinds("sends") > 2, "{count}");
    assert_eq!(kinds("ends"), 1);
    let later = scratch("run-later.pcap");
    assert!(mokume(&["show", &record, "--pcap", &later]).status.success());
    assert_eq!(frames(&later), frames(&pcap));
    let output = mokume(
        &[
            &["run", "examples/meter.mok", "--stack", "House", "--device", &device][..],
            &set[..],
            &["--record", "/dev/full"],
        ]
        .concat(),
    );
    assert!(
        output.status.code() == Some(2) && said(&output).contains("cannot write record `/dev/full`"),
        "{}",
        said(&output)
    );
}

#[test]
fn tests_are_runs_of_a_record() {
    let record = scratch("tests.jsonl");
    let _ = std::fs::remove_file(PathBuf::from(&record));
    let output = mokume(&["test", "tests/library/checks.mok", "--backend", "interpreter", "--record", &record]);
    assert!(output.status.success(), "{}", said(&output));
    let runs = out(&mokume(&["show", &record, "--runs"]));
    assert!(runs.lines().count() > 4 && runs.contains("checks.mok:10 a sum of octet pairs goes before"), "{runs}");
    let second = out(&mokume(&["show", &record, "--run", "2"]));
    assert!(second.contains("drops ") && second.contains("checks"), "{second}");
}

/// A failing test names its page; the page ends with what was unexpected.
#[test]
fn a_test_that_fails_has_a_page() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/meter.mok")).unwrap();
    let [file, folder] = ["fails.mok", "pages"].map(scratch);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::write(&file, text.replacen("x\"12 0007 000000e6\"", "x\"12 0007 000000e7\"", 1)).unwrap();
    let output = mokume(&["test", &file, "--html", &folder]);
    let report = said(&output);
    assert!(output.status.code() == Some(1), "{report}");
    let pages: Vec<&str> = report.lines().filter_map(|line| line.split("to see it: ").nth(1)).collect();
    assert!(pages.len() == 2 && pages[0].ends_with("-interpreter.html") && pages[1].ends_with("-c.html"), "{report}");
    let page = std::fs::read_to_string(pages[0]).unwrap();
    assert!(page.contains("\"failed\":[{") && page.contains("\"did\":{") && page.contains("\"kind\":\"test\""));
    let record = pages[0].replace(".html", ".jsonl");
    let failed = events(&record).last().unwrap()["failed"][0].clone();
    assert!(failed["found"].as_str().unwrap().contains("000000e7"), "{failed}");
    // The step's own line: that of its action, before what it expects.
    let line = text.lines().position(|line| line.contains("x\"12 0007 000000e6\"")).unwrap();
    assert!(failed["place"].as_str().unwrap().ends_with(&format!(":{line}")), "{failed}");
    let output = mokume(&["test", &file, "--html", "/dev/null/x", "--backend", "interpreter"]);
    assert!(output.status.code() == Some(1) && said(&output).contains("no page of it: cannot write"), "{output:?}");
    assert!(mokume(&["test", "examples/meter.mok", "--html", "/dev/null/x"]).status.success());
}

#[test]
fn the_schema_is_printed() {
    let schema: serde_json::Value = serde_json::from_str(&out(&mokume(&["schema", "record"]))).expect("JSON");
    assert_eq!(schema["$defs"]["head"]["properties"]["record"]["const"], 4);
}

/// The two lines may be equal: they do not contain the times of copies, the flipped bits, or the octets.
#[test]
fn two_runs_that_part_say_in_which_fields() {
    let network = |delay: &str, text: &str| {
        format!(
            "stack S(device: Device) {{ app = W over device  export app }}
worker W {{
    on send(msg) {{ below.send(msg) }}
    on deliver(msg) {{ consume msg: {text} }}
}}
network N {{
    host a = S()
    host b = S()
    link lan {{ a.device, b.device  delay {delay} }}
    at 1 ms a.app.send_to(\"one\")
    until 1 s
}}
"
        )
    };
    let run = |name: &str, text: &str| {
        let [file, record] = ["mok", "jsonl"].map(|ending| scratch(&format!("{name}.{ending}")));
        std::fs::write(&file, text).unwrap();
        assert!(mokume(&["sim", &file, "--record", &record]).status.success(), "{name}");
        record
    };
    let one = run("parts_one", &network("20 ms", "taken"));
    let cases = [
        ("parts_late", network("20001 us", "taken"), "copies[0].at: 21000000 in A, 21001000 in B"),
        (
            "parts_other",
            network("20 ms", "taken").replace("\"one\"", "\"two\""),
            "octets[0..]: 0x6f6e65 in A, 0x74776f in B",
        ),
        ("parts_end", network("20 ms", "left"), "reason: app.taken in A, app.left in B"),
    ];
    for (name, text, field) in cases {
        let output = mokume(&["show", &one, "--against", &run(name, &text)]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(said(&output).contains(field), "{name}: {}", said(&output));
        assert!(!said(&output).contains("ends\n"), "{name}: {}", said(&output));
    }
}

/// A comment more in front of a statement was a difference of the runs, and hid the others.
#[test]
fn a_line_more_in_the_source_is_no_difference() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/selective.mok")).unwrap();
    let run = |name: &str, text: &str, more: &[&str]| {
        let [file, record] = ["mok", "jsonl"].map(|ending| scratch(&format!("{name}.{ending}")));
        std::fs::write(&file, text).unwrap();
        let output = mokume(&[&["sim", &file, "--seed", "3", "--record", &record], more].concat());
        assert!(output.status.success(), "{name}: {}", said(&output));
        record
    };
    for more in [&[][..], &["--steps"]] {
        let one = run("lines_one", &text, more);
        let commented = run("lines_commented", &format!("// One line more.\n{text}"), more);
        let output = mokume(&["show", &one, "--against", &commented]);
        assert_eq!((out(&output).trim(), output.status.code()), ("the runs do not differ", Some(0)));
        let changed = format!("// One line more.\n{}", text.replace("delay 1 ms .. 3 ms", "delay 2 ms .. 4 ms"));
        let output = mokume(&["show", &one, "--against", &run("lines_changed", &changed, more)]);
        assert!(out(&output).contains("copies[0].at") && !out(&output).contains("places"), "{}", out(&output));
    }
}

/// A statement whose code is all another function's was not among those that ran.
#[test]
fn all_statements_that_run_are_recorded() {
    let [file, record] = ["ran.mok", "ran.jsonl"].map(scratch);
    let text = "use containers

worker Keeps(sums: bool = false) {
    header { x: u8 }
    entity { queue<Message> kept(4)  var n: u32 = 0 }
    fn double(of: u32) -> u32 { return of * 2 }
    fn helper() { n += 1 }
    on send(msg) {
        let copy = msg.share()
        kept.push(copy) or {
            consume copy: full
        }
        let twice = double(msg.size)
        if sums {
            n += 1
        }
        helper()
        n += twice
        below.send(msg, x: 1)
    }
    on deliver(msg, x) { above.deliver(msg) }
}
stack S(device: Device) {
    app = Keeps over device
    export app
}
network N {
    host a = S()
    host b = S()
    link lan { a.device, b.device  delay 1 ms }
    at 1 ms a.app.send_to(\"one\")
    until 10 ms
}
";
    std::fs::write(&file, text).unwrap();
    let output = mokume(&["sim", &file, "--record", &record, "--steps"]);
    assert!(output.status.success(), "{}", said(&output));
    let steps = |event: serde_json::Value| event["did"]["steps"].as_array().cloned().unwrap_or_default();
    let sends = events(&record)
        .into_iter()
        .flat_map(steps)
        .find(|step| step["on"] == "send" && step["ran"] != serde_json::json!([]));
    let ran = sends.unwrap()["ran"].as_array().unwrap().iter().find(|of| of["file"].as_str() == Some(&file)).cloned();
    let mut lines: Vec<u64> =
        ran.unwrap()["lines"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect();
    lines.sort_unstable();
    assert_eq!(lines, [6, 7, 8, 9, 10, 13, 14, 17, 18, 19]);
}

/// Lanes, rows, causes, octets; a page whose script does not select the event shows none of these.
#[test]
fn a_page_shows_a_run_and_why() {
    let [record, page, later] = ["page.jsonl", "page.html", "page-later.html"].map(scratch);
    let output = mokume(&["sim", "examples/meter.mok", "--record", &record, "--html", &page]);
    assert!(output.status.success() && said(&output).contains("page in "), "{}", said(&output));
    assert!(mokume(&["show", &record, "--html", &later]).status.success());
    assert_eq!(std::fs::read(&page).unwrap(), std::fs::read(&later).unwrap());
    // The first reception of an answer: sent for a question, which a start caused.
    let event = events(&record).into_iter().find(|event| event["event"] == "receives" && event["frame"] == 2).unwrap();
    let Some(browser) = browser() else { return };
    let hash = format!("#{}", event["id"]);
    let shown = body(browser, &page, &hash);
    for part in [
        "reader</span>",
        "46 of 62 events",
        "#2 Tell number=1 reading=230",
        "why</h3>",
        "0  reader  starts",
        "<b>Tell.reading</b><span>230</span>",
        "<td>asked</td><td>1</td>",
        "on deliver(Ask { number }) from flow {",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    let broken = std::fs::read_to_string(&page).unwrap().replace("if (asked) choose(asked);", "if (false) {}");
    std::fs::write(&later, broken).unwrap();
    let shown = body(browser, &later, &hash);
    assert!(shown.contains("46 of 62 events") && !shown.contains("why</h3>"));
}

#[test]
fn timers_that_ring_stand_in_the_chart() {
    let [plain, whole, chart] = ["rings.jsonl", "rings-steps.jsonl", "rings.txt"].map(scratch);
    let network = "crates/cli/tests/viewer/plant.mok";
    let rings = |record: &str, words: &[&str]| {
        let sim = mokume(&[&["sim", network, "--seed", "14", "--record", record], words].concat());
        assert!(sim.status.success(), "{sim:?}");
        assert!(mokume(&["show", record, "--chart", &chart]).status.success());
        std::fs::read_to_string(&chart).unwrap().matches("sensors.Sensor.next expires").count()
    };
    assert_eq!(rings(&plain, &[]), 0);
    assert!(rings(&whole, &["--steps"]) > 5);
}

/// A vector's length was called as a variable `list_length` beside it.
#[test]
fn a_vectors_length_has_a_name_of_its_own() {
    let [file, record] = ["lengths.mok", "lengths.jsonl"].map(scratch);
    let program = "worker L {
        header { n: u8 }
        entity { var list: [u8; ..4] = []  var list_length: u8 = 7 }
        on send(msg) { list.push(1) or { drop msg: full  return }  list_length += 1  below.send(msg, n: list_length) }
        on deliver(msg, n) { above.deliver(msg) }
    }
    stack S(device: Device) { l = L over device  export l }
    network N { host a = S  host b = S  link l { a.device, b.device  delay 1 ms }  at 1 ms a.l.send_to(\"x\")  until 10 ms }
    ";
    std::fs::write(&file, program).unwrap();
    assert!(mokume(&["sim", &file, "--record", &record, "--steps"]).status.success());
    let text = std::fs::read_to_string(&record).unwrap();
    let said = |name: &str, from: &str, to: &str| {
        text.contains(&format!(r#"{{"name":"{name}","kind":"value","at":null,"from":"{from}","to":"{to}"}}"#))
    };
    assert!(said("list_length", "7", "8") && said("list.length", "0", "1"), "{text}");
}
