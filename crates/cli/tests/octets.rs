//! Lists of octets and parts of flows are told as the language writes them: in conditions, filters, failing tests and
//! the state of a stopped run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const NAMED: &str = r#"enum Answered: u8 open { Found, Missing, Busy = 9 }
worker Says {
    header { what: Answered, name: [u8; ..8] }
    on send(msg) { below.send(msg, what: Answered.Missing, name: "heat") }
    on deliver(msg, what, name) { if name == "heat" { consume msg: hot  return } above.deliver(msg) }
}
bundle Saying = Says encoded W
wire W big {
    what: u8 = Says.what
    size: u8 = Says.name.length
    each c in Says.name { name: u8 = c }
}
stack One(device: Device) {
    app = Saying over device
    export app
}
test "one" {
    stack One
    app.send_to("x")
    => device.frame(W { what: Answered.Found, name: "cold" } "x")
}
network N {
    host a = One()
    host b = One()
    link l { a.device, b.device  delay 1 ms }
    at 1 ms a.app.send_to("x")
    expect b.app.deliver_from("y")
    expect a.device.frame(W { what: Answered.Found, name: "cold" } "x")
    until 1 s
}
"#;

const KEEPS: &str = r#"type Address = u32 written dotted(8)
router Hosts(own: Address) {
    header { source: Address }
    address { host: Address }
    on send(msg) to flow { below.send(msg, source: own) to flow() }
    on deliver(msg, source) { above.deliver(msg) from flow(local.host: own, remote.host: source) }
}
endpoint Keeps {
    entity { var last: Flow = flow() }
    object Waiting[client: Flow] capacity 4 { var times: u8 = 0 }
    on deliver(msg) from flow {
        last = flow
        let one = Waiting[flow] or new {
            drop msg: full
            return
        }
        one.times += 1
        consume msg: kept
    }
}
stack Keeper(device: Device, own: Address) {
    keeps = Keeps over hosts
    hosts = Hosts(own) over device
}
stack Asker(device: Device, own: Address) {
    hosts = Hosts(own) over device
    export hosts
}
network Two {
    host a = Asker(own: 10.0.0.3)
    host b = Keeper(own: 10.0.0.78)
    link l { a.device, b.device  delay 1 ms }
    at 1 ms a.hosts.send_to(10.0.0.3, 10.0.0.78, "x")
    at 5 ms a.hosts.send_to(10.0.0.3, 10.0.0.78, "y")
    until 10 ms
}
"#;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("octets").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("named.mok"), NAMED).unwrap();
    std::fs::write(folder.join("keeps.mok"), KEEPS).unwrap();
    folder
}

fn mokume(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let piped = command.args(arguments).current_dir(folder).stdin(Stdio::piped());
    let mut child = piped.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_condition_compares_octets_with_a_text_and_says_what_can_never_be() {
    let folder = folder("conditions");
    let debug = |condition: &str| {
        let commands = format!("break Says.deliver if {condition}\ncontinue\nprint name\n");
        said(&mokume(&folder, &["debug", "named.mok", "--network", "N"], &commands))
    };
    for holds in ["name == \"heat\"", "name==x\"68656174\"", "name != \"cold\"", "name[0] == 104 and name == \"heat\""]
    {
        let out = debug(holds);
        assert!(out.contains("(point 1)") && out.contains("print name\n\"heat\"\n"), "{holds}: {out}");
    }
    for never in ["name == \"cold\"", "name != \"heat\"", "name == \"heat \""] {
        let out = debug(never);
        assert!(!out.contains("(point 1)") && !out.contains("never met"), "{never}: {out}");
    }
    for (wrong, why) in [
        ("name == 5", "a list: compare it with a text"),
        ("name == heat", "a list: compare it with a text"),
        ("what == \"heat\"", "no list of octets"),
        ("name == \"heat", "is no text"),
        ("name > \"heat\"", "a text is compared by `==` and `!=`"),
    ] {
        let out = debug(wrong);
        assert!(out.contains(why) && !out.contains("(point 1)\n"), "{wrong}: {out}");
    }
}

#[test]
fn a_failing_test_tells_enums_by_name_and_octets_as_text() {
    let out = said(&mokume(&folder("tests"), &["test", "named.mok"], ""));
    assert!(
        out.contains("what: Answered.Found") && out.contains("what: Answered.Missing (not Answered.Found)"),
        "{out}"
    );
    assert!(out.contains("name: \"cold\"") && out.contains("name: \"heat\" (not \"cold\")"), "{out}");
    assert!(!out.contains("name: 104"), "{out}");
}

#[test]
fn a_filter_compares_octets_with_a_text() {
    let folder = folder("filters");
    mokume(&folder, &["sim", "named.mok", "--network", "N", "--pcap", "n.pcap"], "");
    let filtered = |filter: &str| mokume(&folder, &["dissect", "n.pcap", "--by", "named.mok", "--filter", filter], "");
    for taken in ["name == \"heat\"", "W.name==x\"68 65 61 74\"", "name != \"hea\"", "not name == \"heat2\""] {
        assert!(said(&filtered(taken)).contains("name=\"heat\""), "{taken}: {}", said(&filtered(taken)));
    }
    for left in ["name == \"cold\"", "name != \"heat\"", "name == \"\""] {
        assert!(!said(&filtered(left)).contains("name=\"heat\""), "{left}: {}", said(&filtered(left)));
    }
    for (wrong, why) in [
        ("name == heat", "of a list of octets a text: `name == \"heat\"`"),
        ("name > \"heat\"", "a text is compared by `==` and `!=`"),
        ("name == \"heat", "has no meaning"),
    ] {
        let output = filtered(wrong);
        assert!(output.status.code() == Some(2) && said(&output).contains(why), "{wrong}: {}", said(&output));
    }
}

#[test]
fn parts_of_a_kept_flow_are_written_as_their_types_say() {
    let folder = folder("flows");
    let commands = "break Keeps.deliver\ncontinue\ncontinue\nstate\n";
    let out = said(&mokume(&folder, &["debug", "keeps.mok", "--network", "Two"], commands));
    for part in [
        "        last = { local { host: 10.0.0.78 }, remote { host: 10.0.0.3 } }\n",
        "        client = { local { host: 10.0.0.78 }, remote { host: 10.0.0.3 } }\n        times = 1\n",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let output = mokume(&folder, &["sim", "keeps.mok", "--network", "Two", "--record", "r.jsonl", "--steps"], "");
    let record = std::fs::read_to_string(folder.join("r.jsonl")).unwrap_or_else(|_| panic!("{}", said(&output)));
    let changed = |to: &str| record.contains(&format!("\"to\":\"{to}\""));
    assert!(changed("10.0.0.78") && changed("10.0.0.3") && !changed("167772238"), "{record}");
    assert!(record.contains("\"name\":\"client.remote.host\"") && !record.contains("client_remote"), "{record}");
}

/// Records have parts, maps have lists as keys, and a bundle's name stands for its layers; what the compiler names is not shown.
#[test]
fn state_is_shown_as_the_source_writes_it() {
    let program = "type Name = [u8; ..6]
record Best { rtt: Duration, of: u8 }
worker Keeps {
    header { name: Name }
    entity {
        map known: [Name -> u8; 8]
        map odd: [(u8, Name) -> Duration; 8]
        var best: Best = Best { rtt: 5 ms, of: 2 }
    }
    object One[at: u8] capacity 4 { var name: Name = [] }
    on send(msg) {
        let one = One[best.of] or new { drop msg: full  return }
        one.name = \"heat\"
        known[\"cold\"] = 3 or { drop msg: full  return }
        odd[(7, \"ab\")] = 9 ms or { drop msg: full  return }
        below.send(msg, name: \"heat\")
    }
    on deliver(msg) { above.deliver(msg) }
}
worker Plain { on send(msg) { below.send(msg) }  on deliver(msg) { above.deliver(msg) } }
bundle Both = Keeps / Plain
stack S(device: Device) { app = Both over device  export app }
test \"sends\" {
    stack S
    app.send_to(\"x\")
    => device.frame(_)
}
";
    let folder = folder("shown");
    std::fs::write(folder.join("shown.mok"), program).unwrap();
    let commands = "break shown.mok:16\ncontinue\nlocals\nstate app\nprint best\nprint best.rtt\nprint one.name\n\
                    break shown.mok:16 if best.rtt == 5 ms and one.name == \"heat\"\nrestart\ncontinue\n";
    let out = said(&mokume(&folder, &["debug", "shown.mok", "--test", "sends"], commands));
    for shown in [
        "        known = 1 entries\n",
        "            [\"cold\"] = 3\n",
        "            [7, \"ab\"] = 9 ms\n",
        "        best = { rtt: 5 ms, of: 2 }\n",
        "        name = \"heat\"\n",
        "app.Plain: no state",
        "print best\n{ rtt: 5 ms, of: 2 }\n(mokume) print best.rtt\n5 ms\n(mokume) print one.name\n\"heat\"\n",
        "point 1: shown.mok:16 if best.rtt == 5 ms and one.name == \"heat\"\n",
    ] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
    assert_eq!(out.matches("on send  (point 1)").count(), 2, "{out}");
    assert!(!out.contains("made = ") && !out.contains("best_"), "{out}");
}

/// Vectors and arrays of records have their elements; a variable may be called like a part of another one.
#[test]
fn records_in_vectors_and_names_like_parts_are_told_apart() {
    let program = "record Best { rtt: Duration, of: u8 }
record P { x: u16, y: u16 }
type L = [u8; ..4]
worker Keeps {
    header { n: u8 }
    entity {
        var best_rtt: u32 = 77
        var held_best: u16 = 3
        var held: Best = Best { rtt: 60 s, of: 9 }
        var best: Best = Best { rtt: 5 ms, of: 1 }
        var pts: [P; ..3] = []
        array tab: [P; 2]
        map lists: [L -> L; 4]
    }
    on send(msg) { below.send(msg, n: 1) }
    on deliver(msg, n) {
        let p = P { x: n as u16, y: n as u16 + 1 }
        let ps: [P; ..3] = [p, P { x: 3, y: 4 }]
        pts = ps
        tab[1] = p
        let k: L = [1, 2]
        let v: L = \"hi\"
        lists[k] = v or { drop msg: full  return }
        best_rtt += 1
        held_best += 1
        if best.rtt < 1 ms { best = held }
        above.deliver(msg)
    }
}
stack S(device: Device) { app = Keeps over device  export app }
test \"comes\" {
    stack S
    device.frame(x\"05\" \"a\")
    => app.deliver_from(\"a\")
    device.frame(x\"05\" \"b\")
    => app.deliver_from(\"b\")
}
";
    let folder = folder("apart");
    std::fs::write(folder.join("apart.mok"), program).unwrap();
    let commands = "break Keeps.deliver if best.rtt == 5 ms\ncontinue\ncontinue\nstate\nprint best\nprint best.rtt\nprint best_rtt\n\
                    print tab[1]\nprint tab[1].y\nprint pts\nprint pts[1].x\nprint pts.length\nstate Keeps\n";
    let out = said(&mokume(&folder, &["debug", "apart.mok", "--test", "comes"], commands));
    for shown in [
        "        best_rtt = 78\n",
        "        best = { rtt: 5 ms, of: 1 }\n",
        "print best\n{ rtt: 5 ms, of: 1 }\n(mokume) print best.rtt\n5 ms\n(mokume) print best_rtt\n78\n",
        "print tab[1]\n{ x: 5, y: 6 }\n(mokume) print tab[1].y\n6\n",
        "print pts\n[{ x: 5, y: 6 }, { x: 3, y: 4 }]\n(mokume) print pts[1].x\n3\n(mokume) print pts.length\n2\n",
        "            [x\"0102\"] = \"hi\"\n",
    ] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
    assert!(!out.contains("best_rtt_") && !out.contains("pts_") && !out.contains("no layer"), "{out}");
    let output =
        mokume(&folder, &["test", "apart.mok", "--backend", "interpreter", "--record", "r.jsonl", "--steps"], "");
    let record = std::fs::read_to_string(folder.join("r.jsonl")).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert!(
        record.contains("{\"name\":\"best_rtt\",\"kind\":\"value\",\"at\":null,\"from\":\"77\",\"to\":\"78\"}"),
        "{record}"
    );
}

/// In a project the capture of a host is followed without `--by`; elsewhere it is told what is missing.
#[test]
fn a_project_says_what_is_followed() {
    let folder = folder("project");
    std::fs::write(folder.join("Mokume.toml"), "[project]\nname = \"octets\"\nsources = [\"keeps.mok\"]\n").unwrap();
    let pcap = mokume(&folder, &["sim", "keeps.mok", "--network", "Two", "--pcap", "k.pcap"], "");
    let capture = ["k.pcap", "k_b.pcap"].into_iter().find(|name| folder.join(name).exists());
    let capture = capture.unwrap_or_else(|| panic!("{}", said(&pcap)));
    let output = mokume(&folder, &["dissect", capture, "--follow", "--network", "Two", "--host", "b"], "");
    assert!(output.status.code() != Some(2) && said(&output).contains("packets at `b`"), "{}", said(&output));
    std::fs::write(folder.join("none.mok"), "const A: u8 = 1\n").unwrap();
    let output = mokume(&folder, &["dissect", capture, "--by", "none.mok", "--follow", "--network", "Two"], "");
    assert!(said(&output).contains("the files have no network at all"), "{}", said(&output));
}
