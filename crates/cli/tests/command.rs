//! The command as a user sees it: what it prints, what it writes, how it ends. Wrong use is one line that says what to
//! do.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root()).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

pub fn has_c_compiler() -> bool {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_library_and_the_examples_have_no_errors_and_pass_their_tests() {
    let output = mokume(&["check", "library", "examples", "tests/library"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    if !has_c_compiler() {
        println!("SKIPPED: no C compiler");
        return;
    }
    // Other tests of all these stacks do not optimize.
    let output = mokume(&["test", "tests/library", "examples", "--optimize", "1"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    println!("FIGURE: mokume test tests/library examples: {}", String::from_utf8_lossy(&output.stdout).trim());
}

#[test]
fn a_failing_test_is_shown_with_what_came_and_ends_with_1() {
    let file = scratch("failing.mok");
    let text = "use thin\n\nstack Numbered(device: Device) {\n    app = Sequencer over device\n    export app\n}\n\n\
        test \"wrong on purpose\" {\n    stack Numbered(device)\n    app.open(1)\n    => app.opened(2, ?s)\n}\n";
    std::fs::write(&file, text).unwrap();
    let output = mokume(&["test", "--backend", "interpreter", &file]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("0 passed, 1 failed"), "{}", said(&output));
    assert!(said(&output).contains("app.opened"), "{}", said(&output));
}

/// Two stacks with a test each.
const TWO_STACKS: &str =
    "use thin\n\nstack Taken(device: Device) {\n    app = Sequencer over device\n    export app\n}\n\n\
    stack Refused(device: Device) {\n    app = Sequencer over device\n    export app\n}\n\n\
    test \"one\" {\n    stack Taken(device)\n    app.open(1)\n    => app.opened(1, ?s)\n}\n\n\
    test \"other\" {\n    stack Refused(device)\n    app.open(1)\n    => app.opened(1, ?s)\n}\n";

fn tested_with(compiler: &str, arguments: &[&str]) -> Output {
    let file = scratch("two_stacks.mok");
    std::fs::write(&file, TWO_STACKS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.arg("test").args(arguments).arg(file).env("CC", compiler).current_dir(root()).output().unwrap()
}

/// A test that C did not run has not passed.
#[test]
fn a_test_that_the_c_compiler_refused_is_counted_by_itself_and_ends_with_1() {
    if !has_c_compiler() {
        return println!("SKIPPED: no C compiler");
    }
    let compiler = scratch("refuses-one");
    let real = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let script = format!("#!/bin/sh\ncase \"$*\" in *Refused*) echo no good >&2; exit 1;; esac\nexec {real} \"$@\"\n");
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = tested_with(&compiler, &[]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("3 passed, 0 failed, 1 not run in C"), "{}", said(&output));
    assert!(said(&output).contains("no good"), "{}", said(&output));
    let output = tested_with(&compiler, &["--format", "json", "--backend", "c"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("\"tests\":1") && said(&output).contains("\"skipped\":false"), "{}", said(&output));
}

#[test]
fn without_a_c_compiler_its_tests_are_skipped_and_that_is_said() {
    let output = tested_with("/nowhere/cc", &[]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(said(&output).contains("2 passed, 0 failed, 2 skipped in C"), "{}", said(&output));
    assert_eq!(said(&output).matches("/nowhere/cc").count(), 1, "{}", said(&output));
    let output = tested_with("/nowhere/cc", &["--backend", "c"]);
    assert_eq!(code(&output), 2, "{}", said(&output));
    assert!(said(&output).contains("0 passed, 0 failed, 2 skipped in C"), "{}", said(&output));
}

/// A test whose step does not fit its stack did not run, and the sum said "0 passed, 0 failed".
#[test]
fn a_test_that_is_wrong_is_counted_as_not_run() {
    let file = scratch("wrong_steps.mok");
    for (from, to, sum) in [
        ("app.open(1)", "app.opens(1)", "0 passed, 0 failed, 2 not run: see the errors"),
        (
            "app.open(1)\n    => app.opened(1, ?s)\n}\n\n",
            "app.opens(1)\n}\n\n",
            "1 passed, 0 failed, 1 not run: see the errors",
        ),
        ("app.open(1)", "app.open(1)", "2 passed, 0 failed\n"),
    ] {
        std::fs::write(&file, TWO_STACKS.replace(from, to)).unwrap();
        let output = mokume(&["test", &file, "--backend", "interpreter"]);
        assert!(said(&output).contains(sum), "{sum}: {}", said(&output));
        let wrong = sum.contains("not run");
        assert_eq!(
            (code(&output), said(&output).contains("error[M0729]")),
            (i32::from(wrong), wrong),
            "{}",
            said(&output)
        );
    }
}

/// docs/semantics.md, A11: the run goes on, and the command's exit code says that something was reported.
#[test]
fn a_simulation_goes_on_after_a_report_and_ends_with_1() {
    let file = scratch("reports.mok");
    let text = "worker Counts {\n    header { n: u8 }\n    entity { var n: u8 = FIRST }\n    on send(msg) {\n        n += 1\n        \
        below.send(msg, n: n)\n    }\n    on deliver(msg) { consume msg: came }\n}\n\
        stack Counting(device: Device) {\n    app = Counts over device\n    export app\n}\n\
        network Two {\n    host a = Counting()\n    host b = Counting()\n    link lan { a.device, b.device }\n    \
        at 10 ms a.app.send_to(\"x\")\n    at 20 ms a.app.send_to(\"y\")\n    until 1 s\n}\n";
    let backends = if has_c_compiler() { vec!["interpreter", "c"] } else { vec!["interpreter"] };
    for backend in backends {
        for (first, status) in [("7", 0), ("255", 1)] {
            std::fs::write(&file, text.replace("FIRST", first)).unwrap();
            let output = mokume(&["sim", &file, "--log", "--backend", backend]);
            assert_eq!(code(&output), status, "{backend}: {}", said(&output));
            assert_eq!(said(&output).matches("REPORT overflow").count(), status as usize, "{}", said(&output));
            assert!(said(&output).contains("messages: 2 left by a port"), "{}", said(&output));
        }
    }
}

#[test]
fn a_wrong_program_is_shown_with_place_and_way_out_and_ends_with_1() {
    let file = scratch("wrong.mok");
    std::fs::write(
        &file,
        "worker Echo {\n    on deliver(msg) { above.deliver(msg)  below.send(msg) }\n    on send(msg) { }\n}\n",
    )
    .unwrap();
    let output = mokume(&["check", &file]);
    assert_eq!(code(&output), 1);
    let text = said(&output);
    assert!(text.contains("error[M04") && text.contains("wrong.mok:2:") && text.contains("wrong.mok:3:"), "{text}");
    assert!(text.contains("help:"), "{text}");
    let output = mokume(&["check", &file, "--format", "json"]);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["code"].is_string(), "{line}");
    }
}

#[test]
fn wrong_use_is_an_object_where_json_is_asked_for() {
    for wrong in
        [&["chekc", "--format", "json"][..], &["sim", "--format=json"], &["check", "nothere.mok", "--format", "json"]]
    {
        let output = mokume(wrong);
        assert_eq!(code(&output), 2, "{wrong:?}");
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
        assert!(object["error"].is_string() && object["help"].is_string(), "{object}");
    }
    let output = mokume(&["check", "examples/host.mok", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(object["errors"], 0, "a good file is said to be good: {object}");
}

#[test]
fn wrong_use_is_one_line_and_ends_with_2() {
    let host = "examples/host.mok";
    let cut = scratch("cut.pcap");
    std::fs::write(&cut, [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]).unwrap();
    let cut_device = format!("pcap:{cut}");
    let empty = scratch("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["check", "nowhere.mok"], "nowhere.mok"),
        (&["check", &empty], "no `.mok` file"),
        (&["test", host], "no test"),
        (&["run", host], "device"),
        (&["run", host, "--device", "floppy"], "floppy"),
        (&["run", host, "--device", "lan=tap:x"], "no device `lan`"),
        (&["run", host, "--device", "pcap:/nowhere.pcap", "--set", "address=10.0.0.1/24"], "/nowhere.pcap"),
        (&["run", host, "--device", &cut_device, "--set", "address=10.0.0.1/24"], "cut.pcap"),
        (&["run", host, "--device", "tap:a name"], "no name of an interface"),
        (&["run", "library/udp/udp.mok", "--device", "tap:x"], "no stack"),
        (&["sim", host], "no network"),
        (&["sim", "examples/demo.mok", "--network", "Nope"], "Demo"),
        (&["graph", host, "--stack", "Nope"], "Host"),
        (&["explain", "M9999"], "M9999"),
    ];
    for (arguments, word) in cases {
        let output = mokume(arguments);
        let text = said(&output);
        assert_eq!(code(&output), 2, "{arguments:?}: {text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{arguments:?}: {text}");
        assert!(text.starts_with("mokume: ") && text.contains(word), "{arguments:?}: {text}");
    }
    assert_eq!(code(&mokume(&["fly"])), 2);
}

#[test]
fn settings_are_checked_by_name_form_and_size() {
    let device = format!("pcap:{}", empty_capture());
    let run = |set: &str| mokume(&["run", "examples/host.mok", "--device", &device, "--set", set]);
    for (set, word) in [
        ("adress=10.0.0.1/24", "address"),
        ("address=10.0.0.1", "10.0.0.1/24"),
        ("address=ten", "ten"),
        ("address", "NAME=VALUE"),
        ("gateway=0x1ffffffff", "too large"),
    ] {
        let output = run(set);
        assert_eq!(code(&output), 2, "{set}: {}", said(&output));
        assert!(said(&output).contains(word), "{set}: {}", said(&output));
    }
    assert_eq!(code(&run("address=10.0.0.1/24")), 0, "{}", said(&run("address=10.0.0.1/24")));
}

/// What goes into a stack from outside is a value of its type, or refused with the way out.
#[test]
fn settings_are_values_of_their_types() {
    let device = format!("pcap:{}", empty_capture());
    let file = scratch("set.mok");
    let text = "enum Mode: u8 { Slow, Fast = 7 }\nenum Later: u8 open { Ask = 1 }\nrecord Pair { left: u8, name: [u8; ..4] }\n\
        attribute kind: Mode = Mode.Slow\nattribute wait: Duration = 1 ms\n\
        worker W(mode: Mode, later: Later, every: Duration, name: [u8; ..8], modes: [Mode; ..2], pair: Pair) {\n\
        \u{20}   header { mode: Mode, later: Later, every: Duration, name: [u8; ..8], first: u8 }\n    reads kind, wait\n\
        \u{20}   on send(msg) {\n        let m = if msg.kind == Mode.Fast and msg.wait > 2 ms { Mode.Fast } else { mode }\n\
        \u{20}       let first = Mode.Slow\n        for one in modes limit 1 { first = one }\n\
        \u{20}       below.send(msg, mode: m, later: later, every: every, name: name, first: if first == Mode.Fast { pair.left } else { 0 })\n    }\n\
        \u{20}   on deliver(msg) { above.deliver(msg) }\n}\n\
        stack One(device: Device, mode: Mode = Mode.Slow, later: Later = Later.Ask, every: Duration = 10 ms, name: [u8; ..8] = [], \
        modes: [Mode; ..2] = [], pair: Pair = Pair { left: 3, name: [] }) {\n\
        \u{20}   app = W(mode, later, every, name, modes, pair) over device\n    export app with kind, wait\n}\n\
        stack Needs(device: Device, name: [u8; ..8]) {\n\
        \u{20}   app = W(Mode.Slow, Later.Ask, 1 ms, name, [], Pair { left: 3, name: [] }) over device\n    export app\n}\n";
    std::fs::write(&file, text).unwrap();
    let run = |more: &[&str]| {
        mokume(&[&["run", &file, "--stack", "One", "--device", &device, "--for", "1ms"][..], more].concat())
    };
    for right in [
        "mode=7",
        "mode=Fast",
        "mode=Mode.Slow",
        "later=200",
        "later=Ask",
        "every=1.5s",
        "every=2 min",
        "name=\"ab\"",
        "name=ab",
        "name=x\"6162\"",
        "name=[1, 0x2]",
        "name=[]",
        "modes=[Fast, Mode.Slow]",
        "pair.name=\"abcd\"",
        "device.mac=02:00:00:00:00:01",
        "device.mac=1",
    ] {
        let output = run(&["--set", right]);
        assert_eq!(code(&output), 0, "{right}: {}", said(&output));
    }
    let names = "write `Mode.Slow` or `Mode.Fast`";
    let as_text = "`--set 'name=\"ab\"'`, `'name=x\"6162\"'` or `'name=[1, …]'`";
    for (wrong, way) in [
        ("mode=3", names),
        ("mode=300", names),
        ("mode=fast", names),
        ("mode=7ms", names),
        ("later=256", "too large"),
        ("later=ask", "`Later.Ask` or a number of 8 bits"),
        ("every=5", "a time has a unit, as in `20 ms`"),
        ("every=0", "a time has a unit"),
        ("name=97", as_text),
        ("name=x6162", as_text),
        ("name=\"abcdefghi\"", "9 elements, and 8 are the most"),
        ("name=[256]", "too large"),
        ("name.length=9", as_text),
        ("modes=[3]", names),
        ("modes=ab", "`--set` `'modes=[Mode.Slow, …]'`"),
        ("pair.name=\"abcde\"", "5 elements, and 4 are the most"),
        ("device.mac=02:00:00:00:01", "it is written as in `"),
    ] {
        let output = run(&["--set", wrong]);
        assert!(code(&output) == 2 && said(&output).contains(way), "{wrong}: {}", said(&output));
    }
    let output = mokume(&["run", &file, "--stack", "Needs", "--device", &device]);
    assert!(code(&output) == 2 && said(&output).contains(as_text), "{}", said(&output));
    // The same of what goes in by lines, and in tests.
    assert_eq!(code(&run(&["--lines", "app.send_to(line, 7, 3 ms)"])), 0);
    for (wrong, way) in [("line, 9, 3 ms", names), ("line, Fast, 3", "a time has a unit"), ("line, fast, 3 ms", names)]
    {
        let output = run(&["--lines", &format!("app.send_to({wrong})")]);
        assert!(code(&output) == 2 && said(&output).contains(way), "{wrong}: {}", said(&output));
    }
    let step = format!("{text}test \"t\" {{\n    stack One\n    app.send_to(\"x\", 9, 1 ms)\n    => nothing\n}}\n");
    let file = scratch("set_test.mok");
    std::fs::write(&file, step).unwrap();
    let output = mokume(&["check", &file]);
    assert!(said(&output).contains("M0729") && said(&output).contains(names), "{}", said(&output));
}

/// A vector of a header is called in its picture as the source calls it, and what must hold of a field stands there.
#[test]
fn headers_are_drawn_with_the_names_of_the_source() {
    let file = scratch("named.mok");
    let text = "record Line { node: u16, cost: u8 }\n\
        worker Plain {\n    header { a: u8, tags: [u16; ..3] }\n    on send(msg) { below.send(msg, a: 1, tags: []) }\n\
        \u{20}   on deliver(msg) { above.deliver(msg) }\n}\n\
        worker Wired {\n    header { a: u8, lines: [Line; ..4], letters: [u8; ..2] }\n\
        \u{20}   on send(msg) { below.send(msg, a: 9, lines: [], letters: []) }\n    on deliver(msg) { above.deliver(msg) }\n}\n\
        bundle B = Wired encoded WW\n\
        wire WW big {\n    a: u8 = Wired.a where a >= 8\n    n: u8 = Wired.lines.length\n    each l in Wired.lines { to: u16 = l.node  cost: u8 = l.cost }\n\
        \u{20}   m: u8 = Wired.letters.length\n    each c in Wired.letters { letter: u8 = c }\n}\n\
        stack One(device: Device) {\n    app = Plain over b\n    b = B over device\n    export app\n}\n";
    std::fs::write(&file, text).unwrap();
    let output = mokume(&["graph", &file, "--what", "headers"]);
    let text = said(&output);
    for wanted in [
        "Plain.tags.length",
        "app.tags.*",
        "Wired.lines.length",
        "Wired.lines.*.node",
        "Wired.lines.*.cost",
        "Wired.letters.length",
        "Wired.letters.*",
        "Wired.a, where a >= 8",
    ] {
        let wanted = wanted.replace("Plain.", "app.").replace("Wired.", "b.Wired.");
        assert!(text.contains(&wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("_length") && !text.contains("_0") && !text.contains("tags_"), "{text}");
    let output = mokume(&["graph", &file, "--what", "headers", "--format", "json"]);
    assert!(said(&output).contains("b.Wired.lines.*.node") && !said(&output).contains("_length"), "{}", said(&output));
}

/// A capture without packets: only the header of a pcap file.
fn empty_capture() -> String {
    let name = scratch("empty.pcap");
    let mut header = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
    header.extend([0; 8]);
    header.extend(65_535_u32.to_le_bytes());
    header.extend(1_u32.to_le_bytes());
    std::fs::write(&name, header).unwrap();
    name
}

#[test]
fn a_simulation_writes_capture_and_chart_and_a_seed_replays_it() {
    let (pcap, svg, text) = (scratch("demo.pcap"), scratch("demo.svg"), scratch("demo.txt"));
    let run = |seed: &str, chart: &str| {
        let output = mokume(&["sim", "examples/demo.mok", "--seed", seed, "--pcap", &pcap, "--chart", chart, "--log"]);
        assert_eq!(code(&output), 0, "{}", said(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let one = run("5", &svg);
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    assert!(std::fs::read(&pcap).unwrap().len() > 1000);
    let capture = std::fs::read(&pcap).unwrap();
    assert_eq!(one, run("5", &text));
    assert_eq!(capture, std::fs::read(&pcap).unwrap());
    assert_ne!(one, run("6", &text));
    assert!(std::fs::read_to_string(&text).unwrap().contains("hearer"));
}

#[test]
fn a_stack_is_built_drawn_and_measured() {
    let folder = scratch("built");
    let output = mokume(&["build", "examples/host.mok", "--emit", "c", "-o", &folder]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(Path::new(&folder).join("Host.c").exists() && Path::new(&folder).join("mokume.h").exists());
    let output = mokume(&["build", "examples/host.mok", "--emit", "automaton"]);
    assert!(said(&output).starts_with("automaton Host"), "{}", said(&output).chars().take(200).collect::<String>());
    let output = mokume(&["graph", "examples/host.mok"]);
    assert!(said(&output).starts_with("<svg"));
    let output = mokume(&["size", "examples/host.mok", "--format", "json"]);
    assert!(said(&output).lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

/// The octets over all layers, timers and tables, as C stores them: cells, padding, and the heads of objects; without
/// messages. What paths remember of a connection takes as much again.
#[test]
fn ten_thousand_connections_have_400_octets_each() {
    let rows = |fuse: &str| {
        let output = mokume(&["size", "tests/library/tcp_many.mok", "--fuse", fuse, "--format", "json"]);
        said(&output).lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let remembered: u64 = rows("2").iter().filter_map(|row| row["in_all"].as_u64()).sum();
    assert!((4_000_000..=8_000_000).contains(&remembered), "{remembered}");
    let rows = rows("1");
    let sessions = rows.iter().find(|row| row["class"] == "tcp.Connection.S").expect("the class of connections");
    assert_eq!(sessions["capacity"], 10_000);
    let octets: u64 = rows.iter().filter_map(|row| row["in_all"].as_u64()).sum();
    assert_eq!(rows.iter().find_map(|row| row["objects"].as_u64()), Some(octets));
    assert!((3_500_000..=4_000_000).contains(&octets), "{octets}");
    // A listener needs a point, and a place in the map of listeners; a session needs neither.
    let of = |name: &str| rows.iter().find(|row| row["class"] == name).expect("a class");
    assert!(of("tcp.Connection.P")["capacity"].as_u64() < Some(100));
    assert!(of("tcp.TcpPorts.E")["octets"].as_u64() < Some(70_000));
}

/// An instance of hundreds of megabytes came without a word what to do.
#[test]
fn a_large_instance_comes_with_advice() {
    for (file, advice) in [
        (&["examples/store.mok"][..], Some(" % of it are buffers: 3088 for `peak of a reaction`, 2048 for `quota ")),
        (&["tests/program/addresses_seen.mok", "--stack", "Filtered"], None),
    ] {
        let output = mokume(&[&["size"], file].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        match advice {
            Some(advice) => assert!(told.contains(advice) && told.contains("`config.buffer_octets`"), "{told}"),
            None => assert_eq!(told, ""),
        }
    }
}

/// The sizes that the stack's C reports itself.
#[cfg(target_os = "linux")]
#[test]
fn the_whole_of_an_instance_is_what_its_c_asks_for() {
    let folder = scratch("whole");
    for (file, stack) in
        [("examples/services.mok", "Services"), ("examples/stream.mok", "Host"), ("examples/host.mok", "Host")]
    {
        let size = mokume(&["size", file, "--format", "json"]);
        let rows = said(&size);
        let rows = rows.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let whole = rows.filter_map(|row| row["instance"].as_u64()).next().expect("an instance");
        let into = format!("{folder}/{stack}");
        let built = mokume(&["build", file, "--output", &into]);
        assert_eq!(code(&built), 0, "{}", said(&built));
        let is_header = |name: &String| name.ends_with(".h") && !name.starts_with("mk_") && name != "mokume.h";
        let files = std::fs::read_dir(&into).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let header = files.into_iter().find(is_header).expect("a header");
        let name = header.trim_end_matches(".h");
        let program = format!(
            "#include \"{name}.c\"\n#include <stdio.h>\n\
             int main(void) {{ printf(\"%zu\", {name}_size(&{name}_defaults)); return 0; }}\n"
        );
        std::fs::write(format!("{into}/asks.c"), program).unwrap();
        let command = "cc -std=c11 -w -o asks asks.c mk_*.c && ./asks";
        let asked = Command::new("sh").args(["-c", command]).current_dir(&into).output().unwrap();
        assert_eq!(said(&asked), whole.to_string(), "{file}: {}", String::from_utf8_lossy(&asked.stderr));
    }
}

#[test]
fn every_code_has_a_page() {
    let output = mokume(&["explain"]);
    let list = said(&output);
    assert!(list.lines().count() > 60, "{list}");
    for line in list.lines() {
        let code_of = line.split_whitespace().next().unwrap();
        let page = mokume(&["explain", code_of]);
        assert_eq!(code(&page), 0);
        assert!(said(&page).lines().count() > 2, "{code_of}: {}", said(&page));
    }
}

#[test]
fn a_project_names_its_sources_and_defaults() {
    let folder = scratch("project");
    // What an earlier run has left names a module that is not there yet.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(format!("{folder}/src")).unwrap();
    let manifest = "[project]\nname = \"p\"\nsources = [\"src\"]\n[defaults]\nnetwork = \"Second\"\nseed = 3\n";
    std::fs::write(format!("{folder}/Mokume.toml"), manifest).unwrap();
    let text = "use thin\n\nstack Plain(device: Device) {\n    app = Sequencer over device\n    export app\n}\n\n\
        network First { host a = Plain()  until 1 s }\nnetwork Second { host b = Plain()  until 1 s }\n";
    std::fs::write(format!("{folder}/src/p.mok"), text).unwrap();
    let inside = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(&folder).output().unwrap()
    };
    let checked = inside(&["check"]);
    assert_eq!(code(&checked), 0, "{}", said(&checked));
    for arguments in [&["sim", "src/p.mok"][..], &["sim"]] {
        let run = inside(arguments);
        assert!(said(&run).contains("network `Second`") && said(&run).contains("seed 3"), "{}", said(&run));
    }
    assert_eq!(code(&inside(&["build", "--emit", "c", "-o", "out"])), 0);
    // Files are shown as seen from where the command runs, those of the project's library like its sources.
    std::fs::create_dir_all(format!("{folder}/lib/own")).unwrap();
    std::fs::write(format!("{folder}/lib/own/own.mok"), "worker Own { on send(mesg) { drop msg: x } }\n").unwrap();
    std::fs::write(format!("{folder}/src/q.mok"), "use own\nbundle Twice = Own / Own\n").unwrap();
    std::fs::write(format!("{folder}/Mokume.toml"), manifest.replace("[project]", "[project]\nlibrary = [\"lib\"]"))
        .unwrap();
    for (from, shown) in [("", "--> lib/own/own.mok:1"), ("/src", "--> ../lib/own/own.mok:1")] {
        let here = format!("{folder}{from}");
        for arguments in [&["check"][..], &["check", if from.is_empty() { "src/q.mok" } else { "q.mok" }]] {
            let wrong = Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(&here).output().unwrap();
            assert!(said(&wrong).contains(shown), "{arguments:?} in `{from}`: {}", said(&wrong));
        }
    }
    let nowhere = Command::new(env!("CARGO_BIN_EXE_mokume")).arg("sim").current_dir("/").output().unwrap();
    assert!(code(&nowhere) == 2 && said(&nowhere).contains("name a `.mok` file"), "{}", said(&nowhere));
    std::fs::write(format!("{folder}/Mokume.toml"), "[project]\nnames = 1\n").unwrap();
    let wrong = inside(&["check"]);
    assert_eq!(code(&wrong), 2);
    assert!(said(&wrong).contains("Mokume.toml:2"), "{}", said(&wrong));
}

#[test]
fn the_standard_input_is_checked_as_a_file_is() {
    let check = |more: &[&str], text: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
        command.args([&["check", "-"], more].concat()).current_dir(root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that refuses its arguments reads no input.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        child.wait_with_output().unwrap()
    };
    let right = check(
        &[],
        "use thin\nworker W {\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n",
    );
    assert!(code(&right) == 0 && said(&right).contains("checked 1 file: no errors"), "{}", said(&right));
    let wrong = check(&[], "worker W {\n    on deliver(msg) { above.deliver(m) }\n}\n");
    assert!(code(&wrong) == 1 && said(&wrong).contains("standard input:2:37"), "{}", said(&wrong));
    for more in ["examples/host.mok", "--watch"] {
        let refused = check(&[more], "");
        assert!(code(&refused) == 2 && said(&refused).contains('-'), "{more}: {}", said(&refused));
    }
}

#[test]
fn a_picture_of_a_kind_that_is_not_written_is_refused() {
    for arguments in [["graph", "examples/host.mok", "-o"], ["sim", "examples/budget.mok", "--chart"]] {
        let name = scratch("picture.png");
        let mut all = arguments.to_vec();
        all.push(&name);
        let output = mokume(&all);
        assert_eq!(code(&output), 2, "{}", said(&output));
        assert!(said(&output).contains(".svg"), "{}", said(&output));
        assert!(!Path::new(&name).exists());
        let output = mokume(&[&arguments[..], &["-"]].concat());
        assert!(code(&output) == 2 && said(&output).contains("standard output"), "{}", said(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_does_not_arrive_on_the_standard_output_is_no_good_end() {
    for words in [
        "graph examples/host.mok",
        "check examples/host.mok",
        "debug examples/meter.mok",
        "--help",
        "sim --help",
        "--version",
        "-V",
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_mokume"))
            .args(words.split(' '))
            .current_dir(root())
            .stdout(full)
            .output()
            .unwrap();
        assert_eq!(code(&output), 2, "{words}: {}", said(&output));
        assert!(said(&output).contains("cannot write to the standard output"), "{words}: {}", said(&output));
    }
}

/// Commands that an editor starts say why they end, too.
#[cfg(target_os = "linux")]
#[test]
fn what_an_editor_starts_says_why_it_ends() {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let adapter = r#"{"seq":1,"type":"request","command":"initialize","arguments":{}}"#;
    for (words, text, left) in [
        (&["lsp"][..], initialize, "the editor left without `shutdown` and `exit`"),
        (&["debug", "--dap"], adapter, "the editor left without `disconnect`"),
    ] {
        for (input, full, status, expected) in
            [(text, true, 2, "cannot write to the standard output"), (text, false, 1, left), ("", true, 1, left)]
        {
            let to = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let mut child = Command::new(env!("CARGO_BIN_EXE_mokume"))
                .args(words)
                .stdin(Stdio::piped())
                .stdout(if full { Stdio::from(to()) } else { Stdio::piped() })
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut pipe = child.stdin.take().unwrap();
            if !input.is_empty() {
                write!(pipe, "Content-Length: {}\r\n\r\n{input}", input.len()).unwrap();
            }
            drop(pipe);
            let output = child.wait_with_output().unwrap();
            let words = format!("{words:?} {input:?} {full}: {}", said(&output));
            assert_eq!((code(&output), said(&output).contains(expected)), (status, true), "{words}");
        }
    }
}

/// Lines of help are no wider than the terminal, and every one is read to its end.
#[test]
fn help_is_as_wide_as_the_terminal() {
    let all = ["check", "test", "run", "connect", "sim", "build", "debug", "dissect", "prove", "new", "explain"];
    let whole = |width: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
        String::from_utf8(command.args(arguments).env("COLUMNS", width).output().unwrap().stdout).unwrap()
    };
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for arguments in std::iter::once(vec!["--help"]).chain(all.map(|command| vec![command, "--help"])) {
        let wide = whole("1000", &arguments);
        for width in [40, 60, 80, 100] {
            let text = whole(&width.to_string(), &arguments);
            // A word that is longer than a line stays whole, and so does the line of usage.
            let is_broad = |line: &&str| line.chars().count() > width && line.split_whitespace().count() > 1;
            let broad = text.lines().filter(is_broad).filter(|line| !line.starts_with("Usage: "));
            assert_eq!(broad.collect::<Vec<_>>(), Vec::<&str>::new(), "{arguments:?} at {width}");
            assert_eq!(words(&text), words(&wide), "{arguments:?} at {width}");
        }
    }
}

/// What stands in the way is named: a file where a folder must be, a place where nothing can be written.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_told_with_what_stands_in_the_way() {
    let file = scratch("stands_in_the_way");
    std::fs::write(&file, "").unwrap();
    let folder = scratch("is_a_folder");
    std::fs::create_dir_all(&folder).unwrap();
    let below = format!("{file}/deeper/run.jsonl");
    let in_the_way = format!("`{file}` is a file: name a folder, or remove the file");
    let cases: &[(&[&str], &str, &str)] = &[
        (&["doc", "examples/meter.mok", "--output"], &file, &in_the_way),
        (&["man", "--output"], &file, &in_the_way),
        (&["man", "--output"], "/proc/none", "can something be written in `/proc`?"),
        (&["sim", "examples/meter.mok", "--record"], &below, &in_the_way),
        (&["sim", "examples/meter.mok", "--record"], &folder, "this is a folder: name a file"),
        (&["sim", "examples/meter.mok", "--chart"], &folder, "this is a folder: name a file"),
        (&["sim", "examples/meter.mok", "--record"], "/dev/full", "is there room where it goes?"),
    ];
    for (arguments, to, expected) in cases {
        let output = mokume(&[*arguments, &[*to]].concat());
        let said = said(&output);
        assert_eq!((code(&output), said.contains(expected)), (2, true), "{arguments:?} {to}: {said}");
    }
}

/// A compiler that builds nothing is what is wrong, not a stack.
#[test]
fn a_c_compiler_that_does_not_work_is_named_with_the_ways_out() {
    let compiler = scratch("broken-cc");
    std::fs::write(&compiler, "#!/bin/sh\necho 'cannot execute cc1' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let silent = "false".to_string();
    for (compiler, why) in [(&compiler, "cannot execute cc1"), (&silent, "it fails, and says nothing")] {
        let expected = format!("the C compiler `{compiler}` does not work: {why}");
        let sim = Command::new(env!("CARGO_BIN_EXE_mokume"))
            .args(["sim", "examples/meter.mok", "--backend", "c"])
            .env("CC", compiler)
            .current_dir(root())
            .output()
            .unwrap();
        for (output, status) in
            [(sim, 2), (tested_with(compiler, &[]), 0), (tested_with(compiler, &["--backend", "c"]), 2)]
        {
            let said = said(&output);
            assert_eq!((code(&output), said.matches(&expected).count()), (status, 1), "{said}");
            assert!(said.contains("CC") && said.contains("--backend interpreter"), "{said}");
            assert!(!said.contains("please report"), "{said}");
        }
    }
}

/// Names of files are octets, and may be no text.
#[cfg(unix)]
#[test]
fn an_argument_that_is_not_text_is_refused_by_name() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"n\xff.mok");
    for words in ["check", "sim", "fmt", "dissect", "new", "explain", "sim examples/meter.mok --seed", ""] {
        for format in [None, Some("--format=json")] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
            command.args(words.split_whitespace()).arg(odd).args(format).current_dir(root());
            let output = command.output().unwrap();
            let said = said(&output) + &String::from_utf8_lossy(&output.stdout);
            assert_eq!(code(&output), 2, "{words}: {said}");
            assert!(said.contains("xFF.mok") && !said.contains("panicked"), "{words}: {said}");
            assert!(format.is_none() || said.starts_with('{'), "{words}: {said}");
        }
    }
}

/// `>&-`: there is no standard output.
#[cfg(target_os = "linux")]
#[test]
fn what_is_printed_to_a_closed_output_is_no_good_end() {
    for words in ["graph examples/host.mok >&-", "check examples/host.mok >&-"] {
        let command = format!("{} {words}", env!("CARGO_BIN_EXE_mokume"));
        let output = Command::new("sh").args(["-c", &command]).current_dir(root()).output().unwrap();
        assert_eq!(code(&output), 2, "{words}: {}", said(&output));
        assert!(said(&output).contains("cannot write to the standard output: it is closed"), "{}", said(&output));
    }
}
