//! What went wrong for somebody who wrote a first protocol over UDP, one case each: `tests/newcomer`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).current_dir(root()).output().unwrap()
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

fn scratch(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("newcomer");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name).to_string_lossy().into_owned()
}

/// A run that ended with reports said so, but not which.
#[test]
fn a_run_with_reports_says_each_with_place_cause_and_time() {
    let output = mokume(&["sim", "tests/newcomer/reports.mok"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stdout) + &text(&output.stderr);
    for (line, what) in [
        (58, "host `reader` reported misuse, as a timer was due (at 261.0 ms, seed 1)"),
        (62, "host `probe` reported misuse, as frame #11 came (at 268.1 ms, seed 1)"),
    ] {
        let wanted = format!("FAILED tests/newcomer/reports.mok:{line}: {what}");
        assert!(said.contains(&wanted), "{wanted}\n{said}");
    }
    assert!(said.contains("again: mokume sim tests/newcomer/reports.mok --network Plant --seed 1 --log"), "{said}");
}

/// An alternative without a payload was called malformed; only Wireshark's own columns named the protocol of a packet.
#[test]
fn a_packet_without_a_message_is_right_and_says_whose_it_is() {
    let file = "tests/newcomer/alternative.mok";
    let (seen, lua) = (scratch("seen.pcap"), scratch("node.lua"));
    let output = mokume(&["sim", file, "--pcap", &seen]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&mokume(&["dissect", &seen, "--by", file, "--stack", "Node"]).stdout);
    assert!(
        said.contains("Hello low=1 high=2") && said.contains("Response id=1 Tell sensor=3 status=Fine value=215"),
        "{said}"
    );
    assert!(!said.contains("malformed") && !said.contains("refused"), "{said}");
    let output = mokume(&["build", file, "--stack", "Node", "--emit", "wireshark", "-o", &lua]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let Ok(output) = Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).output() else {
        println!("SKIPPED: no tshark");
        return;
    };
    let said = text(&output.stdout);
    for words in [
        "02:00:00:00:00:01 → ff:ff:ff:ff:ff:ff Rfc826",
        "10.0.0.1 → 10.0.0.2     VersionWire 49 Hello low=1 high=2",
        "10.0.0.2 → 10.0.0.1     SensorWire 57 Response id=1 Tell sensor=3 status=Fine value=215",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

/// A name was shown letter by letter, as numbers, an address in a list as a number; and a test had to write octets one by one.
#[test]
fn octets_of_a_list_are_a_name_and_elements_are_written_as_their_type() {
    let file = "tests/newcomer/names.mok";
    let output = mokume(&["test", file]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let (seen, chart, lua) = (scratch("names.pcap"), scratch("names.svg"), scratch("names.lua"));
    assert!(mokume(&["sim", file, "--pcap", &seen, "--chart", &chart]).status.success());
    let chart = std::fs::read_to_string(chart).unwrap();
    // A random number.
    let id = chart.split("Query id=").nth(1).and_then(|rest| rest.split(' ').next()).expect("a query");
    let query = format!("Query id={id} labels=2 octets=3 letter=&quot;www&quot; octets=2 letter=&quot;ex&quot;");
    assert!(chart.contains(&query) || chart.contains(&query.replace("&quot;", "\"")), "{chart}");
    // Wireshark's column has all fields, our summaries leave zeros out.
    let (answer, whole) = (
        format!("Answer id={id} count=2 host=10.0.0.1 host=10.0.0.2"),
        format!("Answer id={id} code=0 count=2 host=10.0.0.1 host=10.0.0.2"),
    );
    let said = text(
        &mokume(&["dissect", &seen, "--by", file, "--stack", "Host", "--filter", "Answer.host == 10.0.0.2"]).stdout,
    );
    assert!(said.contains(&answer) && said.contains("host   u32  10.0.0.2"), "{said}");
    let how = ["build", file, "--stack", "Host", "--emit", "wireshark", "--at", "udp.port:53:names", "-o", &lua];
    assert!(mokume(&how).status.success());
    let Ok(output) = Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).output() else {
        println!("SKIPPED: no tshark");
        return;
    };
    let said = text(&output.stdout);
    assert!(said.contains(&whole) && said.contains(&query.replace("&quot;", "\"")), "{said}");
}

/// The way out named a field that there is not: `Talks.letters.length`, of a header with alternatives.
#[test]
fn the_way_out_of_a_list_that_nothing_counts_names_the_alternative() {
    let file = scratch("uncounted.mok");
    let text_of_file = "endpoint Talks {\n    header { Say { letters: [u8; ..8] } | Heard }\n    on deliver(Say) { below.send(Heard) }\n\
        \x20   on deliver(Heard) { below.send(Say { letters: [] }) }\n}\nbundle Talking = Talks encoded TalkWire\nwire TalkWire big {\n\
        \x20   kind: u8\n    choice kind {\n        1 => Say { each letter in Talks.Say.letters { letter: u8 = letter } }\n\
        \x20       2 => Heard { }\n    }\n}\n";
    std::fs::write(&file, text_of_file).unwrap();
    let said = text(&mokume(&["check", &file]).stderr);
    assert!(said.contains("M0644") && said.contains("`count: u8 = Talks.Say.letters.length`"), "{said}");
}

/// The halves of an address are one in the columns.
#[test]
fn halves_of_an_address_are_one_address() {
    let (seen, lua) = (scratch("both.pcap"), scratch("both.lua"));
    let output = mokume(&["sim", "tests/newcomer/halves.mok", "--pcap", &seen]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(mokume(&["build", "examples/host6.mok", "--stack", "Host6", "--emit", "wireshark", "-o", &lua])
        .status
        .success());
    let Ok(output) = Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).output() else {
        println!("SKIPPED: no tshark");
        return;
    };
    let said = text(&output.stdout);
    assert!(said.contains("fd00::1 → fd00::2 ") && said.contains("::0 → ff02::16 "), "{said}");
}

/// The message about something that a wire cannot carry had no place.
#[test]
fn a_wire_that_cannot_carry_a_header_is_shown_with_both() {
    for (file, wanted) in [
        ("tests/newcomer/wire.mok", ["tests/newcomer/wire.mok:133:6", "Versions.Hello", "Versions.Welcome"]),
        ("tests/newcomer/wires.mok", ["tests/newcomer/wires.mok:12:6", "tests/newcomer/wires.mok:14:6", "V.Hello"]),
    ] {
        let output = mokume(&["check", file]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(!output.status.success() && wanted.iter().all(|words| said.contains(words)), "{said}");
    }
}

/// A field that hides the layer's state: writes went nowhere.
#[test]
fn a_field_that_hides_state_is_said() {
    let output = mokume(&["check", "tests/newcomer/hidden.mok"]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(
        output.status.success() && said.contains("M0294") && said.contains("tests/newcomer/hidden.mok:5:21"),
        "{said}"
    );
    assert!(said.contains("call the field otherwise here: `version: other`"), "{said}");
}

/// The faults in the places of these diagnostics, one line each.
fn without_a_place(diagnostics: &str) -> Vec<String> {
    let is_placed = |line: &&str| {
        let said: serde_json::Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| said.get(name).cloned().unwrap_or_default();
        of("code").is_null() || (of("file").is_string() && of("line").is_u64() && of("column").is_u64())
    };
    diagnostics.lines().filter(|line| !is_placed(line)).map(str::to_string).collect()
}

/// What six protocols that no page mentions got wrong at first, each as the smallest program.
#[test]
fn what_first_tries_get_wrong_is_said_with_its_way_out() {
    let file = scratch("first_tries.mok");
    let objects = "endpoint Asks {\n    header { id: u8 }\n    object Question[id: u8] capacity 4 {\n        var times: u8 = 0\n        timer again\n\
        \x20       on expiry again { repeat(SELF) }\n    }\n    on deliver(msg, id) {\n        consume msg: heard\n        \
        if let q = Question[id] { END }\n        let made = Question[id] or new { return }\n        repeat(made)\n    }\n\
        \x20   fn repeat(q: Question) {\n        q.times +%= 1\n        start q.again after 1 s\n    }\n}\n";
    let wire = "worker Asks {\n    header { Ask { id: u8 } with message | Tell { id: u8 } with message }\n\
        \x20   on send(msg) { below.send(msg, Ask { id: 1 }) }\n    on deliver(msg, Ask { id }) { below.send(msg, Tell { id }) }\n\
        \x20   on deliver(msg, Tell) { above.deliver(msg) }\n}\nbundle Asking = Asks encoded AskWire\nwire AskWire big {\n\
        \x20   id: u8\n    kind: u8\n    choice kind { 1 => Ask { }  2 => Tell { } }\n}\n";
    let keyed = "type Name = [u8; ..8]\nrecord Whole { name: Name, kind: u8 }\nworker Keeps {\n    header { id: u8 }\n\
        \x20   object Known[whole: KEY] capacity 4 { var at: u8 = 0 }\n    on send(msg) { below.send(msg, id: 1) }\n\
        \x20   on deliver(msg, id) { above.deliver(msg) }\n}\n";
    let marked = "worker Marks {\n    reads mark\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n";
    let called = "worker Calls(name: [u8; ..8]) {\n    header { id: u8 }\n    on send(msg) { below.send(msg, id: name.length as u8) }\n\
        \x20   on deliver(msg) { above.deliver(msg) }\n}\nbundle Called(name: [u8; ..8] = NAME) = ONCalls(name) encoded Calling\n\
        wire Calling big { id: u8 = Calls.id }\n";
    let found = objects.replace("repeat(SELF)", "if let q = Question[id] { repeat(q) }");
    for (source, code, way_out) in [
        (objects.replace("SELF", "it").replace("END", "end q"), "M0201", "`if let one = Question[id] { … }`"),
        (objects.replace("SELF", "self").replace("END", "end q"), "M0201", "`if let one = Question[id] { … }`"),
        (found.replace("END", "q.end"), "M0206", "`end e`"),
        (found.replace("END", "end q"), "", ""),
        (wire.to_string(), "M0614", "`id: u8 = Asks.Ask.id`"),
        (keyed.replace("KEY", "Name"), "M0307", "`map known: [Name -> u16; 8]`"),
        (keyed.replace("KEY", "Whole"), "M0307", "not by a vector"),
        (marked.to_string(), "M0209", "`attribute mark: u8 = 0`"),
        (wire.replace("    id: u8\n", "    length: u8\n"), "M0614", "`= size(packet)` of a length"),
        (
            wire.replace("    id: u8\n", "").replace("Ask { id: 1 }", "Ask { id: random(9) }"),
            "M0213",
            "from a range: `random % 100`",
        ),
        (
            wire.replace("    id: u8\n", "")
                .replace("below.send(msg, Ask", "let a = Ask { id: 2 }  below.send(msg, Ask"),
            "M0202",
            "only there: `below.send(Ask { … })`",
        ),
        (called.replace("NAME", "\"heat\"").replace("ON", "\n    "), "", ""),
        (called.replace("NAME", "x\"68 65\"").replace("ON", ""), "", ""),
        (called.replace("NAME", "\"much too long\"").replace("ON", ""), "M0642", "leave some out, or widen the type"),
        (called.replace("NAME", "\"heat\"").replace("u8;", "u16;").replace("ON", ""), "M0301", "message"),
        (
            called.replace(" = ONCalls(name) encoded Calling", " =\nworker Other { on send(msg) { below.send(msg) } }"),
            "M0100",
            "`bundle Udp",
        ),
    ] {
        std::fs::write(&file, &source).unwrap();
        let output = mokume(&["check", &file]);
        let said = text(&output.stdout) + &text(&output.stderr);
        let is_right = code.is_empty();
        assert_eq!(
            (output.status.success(), is_right || said.contains(&format!("error[{code}]"))),
            (is_right, true),
            "{said}"
        );
        assert!(said.contains(way_out), "{way_out}: {said}");
    }
}

/// Six protocols that no page mentions, written from the documents alone: they run, and Wireshark reads the media stream as we do.
#[test]
fn first_tries_run() {
    for (file, counts) in [
        ("resolver.mok", &["Names.E.asked", "Names.E.found", "Names.E.from_cache"][..]),
        ("media.mok", &["Media.S.played", "Media.S.late", "app.E.heard"]),
        ("exchange.mok", &[]),
        ("clock.mok", &["Clock.E.answers", "Clock.E.better"]),
        ("pubsub.mok", &["Broker.E.fanned", "Broker.E.got", "Broker.E.confirmed"]),
        ("lease.mok", &["Leases.E.elections", "Leases.E.led"]),
    ] {
        let file = format!("tests/newcomer/{file}");
        let seen = scratch("first_try.pcap");
        let how = if counts.is_empty() { vec!["test", &file] } else { vec!["sim", &file, "--pcap", &seen] };
        let output = mokume(&how);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{file}: {said}{}", text(&output.stderr));
        let missing: Vec<&&str> = counts.iter().filter(|count| !said.contains(**count)).collect();
        assert!(missing.is_empty(), "{file}: {missing:?}\n{said}");
        if !file.ends_with("media.mok") {
            continue;
        }
        let fields = ["-e", "rtp.seq", "-e", "rtp.timestamp", "-e", "rtp.ssrc", "-e", "rtp.p_type", "-e", "rtp.marker"];
        let how = ["-r", &seen, "-d", "udp.port==5004,rtp", "-Y", "rtp", "-T", "fields"];
        let Ok(output) = Command::new("tshark").args(how).args(fields).output() else {
            println!("SKIPPED: no tshark");
            continue;
        };
        let theirs: Vec<Vec<u64>> = text(&output.stdout)
            .lines()
            .map(|line| {
                let number = |field: &str| {
                    field.strip_prefix("0x").map_or(field.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok())
                };
                line.split('\t').map(|field| number(field).unwrap_or(u64::from(field == "True"))).collect()
            })
            .collect();
        let dissected = mokume(&["dissect", &seen, "--by", &file, "--stack", "Hears", "--format", "json"]);
        let field = |packet: &serde_json::Value, name: &str| -> Option<u64> {
            let layers = packet["layers"].as_array()?;
            let fields = layers.iter().find(|layer| layer["wire"] == "Rfc3550")?["fields"].as_array()?;
            let value = &fields.iter().find(|field| field["name"] == name)?["value"];
            value.as_u64().or_else(|| value.as_str()?.parse().ok())
        };
        let packets = text(&dissected.stdout);
        let packets = packets.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let ours: Vec<Vec<u64>> = packets
            .filter_map(|packet| {
                ["seq", "stamp", "source", "kind", "marker"].map(|name| field(&packet, name)).into_iter().collect()
            })
            .collect();
        assert!(ours.len() > 200 && ours == theirs, "{:?} {:?}", ours.first(), theirs.first());
    }
}

/// Every fourth of the wrong programs of `tests/check`, and all of the newcomer's.
#[test]
fn every_error_has_a_place() {
    let names = |folder: &str| {
        let names = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| format!("{folder}/{}", name.to_string_lossy())).collect();
        names.retain(|name| name.ends_with(".mok"));
        names.sort();
        names
    };
    let (mut codes, mut wrong) = (0, Vec::new());
    for file in names("tests/check").into_iter().step_by(4).chain(names("tests/newcomer")) {
        let said = text(&mokume(&["check", &file, "--format", "json"]).stdout);
        codes += said.matches("\"code\":\"M").count();
        wrong.extend(without_a_place(&said));
    }
    println!("FIGURE: diagnostics with a place: {codes}");
    assert!(wrong.is_empty() && codes > 200, "{codes}: {wrong:#?}");
    assert_eq!(without_a_place(r#"{"code":"M0831","message":"nowhere","file":null}"#).len(), 1);
}

/// Charts said of a segment which ports it is between and no flag, of a resolver's question everything but who is sought, and of an
/// address in two halves neither.
#[test]
fn labels_of_charts_have_what_tells_frames_apart() {
    // Nobody has the port that #8 of the demo is sent to; it was labelled as a refused packet of the layer that has another.
    for (file, network, labels) in [
        ("tests/library/tcp_faults.mok", "Few", &["tcp syn source=5 destination=80", "tcp acks psh fin source="][..]),
        ("examples/courier.mok", "Field", &["arp operation=1 sender_host=10.0.0.1 target_host=10.0.0.2 "][..]),
        ("examples/demo.mok", "Demo", &["#8 udp source=4000 destination=9 length=20 &quot;nobody there&quot;"]),
        ("tests/newcomer/halves.mok", "Two", &["source=fe80::", "destination=ff02::16", "icmp6 type=135 code=0"][..]),
    ] {
        let chart = scratch("labels.svg");
        let output = mokume(&["sim", file, "--network", network, "--chart", &chart]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let chart = std::fs::read_to_string(chart).unwrap();
        for label in labels {
            assert!(chart.contains(label), "{file}: {label}\n{chart}");
        }
    }
}

/// The fields behind the place where a packet was refused were said not to be there.
#[test]
fn behind_what_refuses_a_packet_nothing_was_read() {
    let file = scratch("not_read.mok");
    std::fs::write(&file, NOT_READ).unwrap();
    let said = text(&mokume(&["test", &file, "--backend", "interpreter"]).stdout);
    assert!(said.contains("W { a: (not read), b: (not read), .. } (malformed: W.length)"), "{said}");
}

const NOT_READ: &str = r#"// The packet is refused at its length: the fields behind it were not read, and are in it all the same.
worker E {
    header { a: u8, b: u8 }
    on send(msg) { below.send(msg, a: 1, b: 2) }
    on deliver(msg) { above.deliver(msg) }
}
wire W big {
    length: u8 = size(packet)    where length >= 20
    a:      u8 = E.a
    b:      u8 = E.b
}
bundle B = E encoded W
stack Host(device: Device) {
    e = B over device
    export e
}

test "a packet that its own wire refuses" {
    stack Host
    e.send_to("x")
    => device.frame(W { a: 1, b: 2 } "x")
}
"#;

/// A datagram to a port that nobody has was called malformed, by the wire of a layer that has another port.
#[test]
fn a_packet_that_may_be_for_somebody_else_is_malformed_only_if_it_is_not() {
    let seen = scratch("demo.pcap");
    assert!(mokume(&["sim", "examples/demo.mok", "--pcap", &seen]).status.success());
    let said = text(&mokume(&["dissect", &seen, "--by", "examples/reliable.mok", "--stack", "TellerHost"]).stdout);
    let packet = said.split("\n\n").find(|packet| packet.starts_with("packet 8:")).unwrap();
    let verdict = "malformed at octet 42: reliable.GoBackN.tag; if it is for `reliable`";
    assert!(packet.contains(verdict), "{packet}");
    assert!(packet.lines().next().unwrap().ends_with(" UTC: source=4000 destination=9 length=20"), "{packet}");
    // JSON, filters and Wireshark say the same.
    let asked = |more: &[&str]| {
        mokume(&[&["dissect", &seen, "--by", "examples/reliable.mok", "--stack", "TellerHost"], more].concat())
    };
    let said = text(&asked(&["--packets", "8", "--format", "json"]).stdout);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&said["refused"], &said["may_be_refused"]), (&false.into(), &true.into()), "{said}");
    let layers = said["layers"].as_array().unwrap();
    let others: Vec<bool> = layers.iter().map(|layer| layer["may_be_for_another"].as_bool().unwrap()).collect();
    assert_eq!(others, [false, false, false, true], "{said}");
    let refused = asked(&["--filter", "refused"]);
    assert_eq!(text(&refused.stdout), "");
    assert_eq!(
        text(&refused.stderr),
        "1 packet more may be refused: it may be for another layer; `may_be_refused` selects it\n"
    );
    let doubtful = text(&asked(&["--filter", "may_be_refused"]).stdout);
    assert!(doubtful.starts_with("packet 8: ") && doubtful.matches("packet ").count() == 1, "{doubtful}");
    let lua = scratch("teller.lua");
    let build = ["build", "examples/reliable.mok", "--stack", "TellerHost", "--emit", "wireshark", "-o", &lua];
    assert!(mokume(&build).status.success());
    let tshark = |more: &[&str]| {
        Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).args(more).output()
    };
    let Ok(shown) = tshark(&["-Y", "gobackn.may_be_refused"]) else {
        println!("SKIPPED: no tshark");
        return;
    };
    let shown = text(&shown.stdout);
    assert!(shown.contains("Rfc768 54 source=4000 destination=9 length=20") && shown.lines().count() == 1, "{shown}");
    assert!(text(&tshark(&["-Y", "frame.number == 8", "-V"]).unwrap().stdout).contains(verdict));
    assert_eq!(text(&tshark(&["-Y", "gobackn.malformed"]).unwrap().stdout), "");
    // Planted: a dissector that does not know of multiplexors.
    let right = std::fs::read_to_string(&lua).unwrap();
    std::fs::write(&lua, right.replace("multiplexes = true", "multiplexes = false")).unwrap();
    assert_eq!(text(&tshark(&["-Y", "gobackn.may_be_refused"]).unwrap().stdout), "");
    assert!(text(&tshark(&["-Y", "gobackn.malformed"]).unwrap().stdout).lines().count() == 1);
}

/// Fields that are called as the dissector calls its findings, and two whose names differ in a capital letter.
const FINDINGS: &str = r#"worker Rude {
    header { malformed: u8, dropped: u8, may_be_refused: u8, Seq: u8, seq: u8 }
    on send(msg) { below.send(msg, malformed: 1, dropped: 2, may_be_refused: 4, Seq: 5, seq: 6) }
    on deliver(msg) { above.deliver(msg) }
}
bundle Names = Rude encoded Findings
wire Findings big {
    malformed:      u8 = Rude.malformed
    dropped:        u8 = Rude.dropped
    may_be_refused: u8 = Rude.may_be_refused
    Seq:            u8 = Rude.Seq
    seq:            u8 = Rude.seq
}
stack S(device: Device) {
    names = Names over device
    export names
}
network N {
    host a = S
    host b = S
    link l { a.device, b.device   delay 1 ms }
    at 1 ms  a.names.send_to("x")
    expect b.names.deliver_from("x")
    until 10 ms
}
"#;

/// A field `malformed` could not be asked for, since the dissector's own finding has that name; nor the second of two names that differ in a
/// capital letter.
#[test]
fn names_in_wireshark_are_of_one_field() {
    let [file, seen, lua] = ["findings.mok", "findings.pcap", "findings.lua"].map(scratch);
    std::fs::write(&file, FINDINGS).unwrap();
    assert!(mokume(&["sim", &file, "--pcap", &seen]).status.success());
    assert!(mokume(&["build", &file, "--stack", "S", "--emit", "wireshark", "-o", &lua]).status.success());
    for (filter, count) in [
        ("findings.malformed_field == 1 and findings.dropped_field == 2", 1),
        ("findings.malformed or findings.dropped", 0),
        ("findings.may_be_refused_field == 4", 1),
        ("findings.seq == 5 and findings.seq_2 == 6", 1),
    ] {
        let words = ["-r", &seen, "-X", &format!("lua_script:{lua}"), "-Y", filter];
        let Ok(output) = Command::new("tshark").args(words).output() else {
            println!("SKIPPED: no tshark");
            return;
        };
        assert!(output.status.success(), "{filter}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).lines().count(), count, "{filter}");
    }
}

/// Durations and instants were bare numbers of nanoseconds in charts, logs, packets and Wireshark.
#[test]
fn a_time_is_written_with_its_unit_wherever_it_is_seen() {
    let file = "tests/program/times.mok";
    let [seen, chart, lua] = ["times.pcap", "times.svg", "times.lua"].map(scratch);
    let output = mokume(&["sim", file, "--log", "--pcap", &seen, "--chart", &chart]);
    let said = text(&output.stdout) + &text(&output.stderr);
    for words in [
        "<- app.open(1, 5, 9, 1.5 ms)",
        "<- app.open(2, 6, 9, 1.5 s)",
        "app good=1.5 ms left=2 ms \"late\"",
        "app good=1.5 s left=20 ms \"in time\"",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    let chart = std::fs::read_to_string(chart).unwrap();
    assert!(chart.contains("good=1.5 ms left=2 ms") && chart.contains("app.open(1, 5, 9, 1.5 ms)"), "{chart}");
    for (filter, packets) in [
        ("good == 1.5ms", "packet 1"),
        ("good == 1.5 ms and left > 1 ms", "packet 1"),
        ("not (good < 1 s)", "packet 2"),
        ("good >= 1500000000", "packet 2"),
    ] {
        let said = text(&mokume(&["dissect", &seen, "--by", file, "--filter", filter]).stdout);
        assert!(said.starts_with(packets) && said.matches("packet ").count() == 1, "{filter}: {said}");
    }
    assert!(mokume(&["build", file, "--emit", "wireshark", "-o", &lua]).status.success());
    let Ok(output) = Command::new("tshark").args(["-r", &seen, "-X", &format!("lua_script:{lua}")]).output() else {
        println!("SKIPPED: no tshark");
        return;
    };
    let said = text(&output.stdout);
    assert!(said.contains("good=1.5 ms left=2 ms") && said.contains("good=1.5 s left=20 ms"), "{said}");
}

/// The help said that a layer of sessions must stand below; one did, and what lacked was the layer's own `session { }`.
#[test]
fn objects_of_sessions_say_what_their_layer_lacks() {
    const TEXT: &str = "multiplexor Ports { key { port: u8 } }
worker Asks {
    header { id: u8 }
    object Question[id: u8] capacity 4 owned by session { var times: u8 = 0 }
    on send(msg) {
        let q = Question[1] or new {
            drop msg: full
            return
        }
        q.times += 1
        below.send(msg, id: q.times)
        end q
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    asks  = Asks over ports
    ports = Ports over device
    export asks
}
";
    let file = scratch("of_sessions.mok");
    std::fs::write(&file, TEXT).unwrap();
    let output = mokume(&["check", &file]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("error[M0725]") && said.contains("write `session { }` in this layer"), "{said}");
    // Once, and of which stack.
    assert_eq!((said.matches("error[").count(), said.matches("asks  = Asks over ports").count()), (1, 1), "{said}");
    // The hosts of a network have it in common.
    let network = "network N {\n    host a = S()\n    host b = S()\n    host c = S()\n    link l { a.device, b.device, c.device }\n    until 1 s\n}\n";
    std::fs::write(&file, TEXT.to_string() + network).unwrap();
    let output = mokume(&["sim", &file]);
    let all = text(&output.stderr);
    let count = all.matches("error[M0725]").count();
    assert!(all.contains(&format!("mokume: {count} error{};", if count == 1 { "" } else { "s" })), "{all}");
    std::fs::write(&file, TEXT.replace("    header", "    session { }\n    header")).unwrap();
    let output = mokume(&["check", &file]);
    assert!(output.status.success(), "{}", text(&output.stdout) + &text(&output.stderr));
}

/// An error in a layer of the library named lines of the library only.
#[test]
fn an_error_in_a_layer_of_the_library_shows_the_line_of_the_stack() {
    let file = scratch("of_the_library.mok");
    // A layer that cannot work there, and one whose promises do not hold there: the second of them is noted.
    for (layer, code, more) in [("Sync(8)", "M0727", ""), ("TotalOrder(256)", "M0552", "it needs `OfOthers`, too")] {
        let stack =
            format!("use group\n\nstack A(device: Device) {{\n    o   = Ordered(1) over device\n    app = {layer} over o\n    export app\n}}\n");
        std::fs::write(&file, stack).unwrap();
        let output = mokume(&["check", &file]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(said.contains(&format!("error[{code}]")) && said.contains(&format!("app = {layer} over o")), "{said}");
        assert!(said.contains(more), "{said}");
        assert_eq!(said.matches("error[").count(), 1, "{said}");
    }
}

/// What `mokume check` says of a text.
fn checked(name: &str, source: &str) -> String {
    let file = scratch(name);
    std::fs::write(&file, source).unwrap();
    let output = mokume(&["check", &file]);
    text(&output.stdout) + &text(&output.stderr)
}

/// What lacks is told with who breaks it, who gives it though from above, and where in a bundle the layer stands.
#[test]
fn a_promise_that_does_not_hold_is_told_with_its_reason() {
    let layers = "signature InOrder { promise \"messages come in order\" }
signature Plain { unit message }
worker Orders { gives InOrder }
worker Hurries { breaks InOrder }
worker Repeats { needs InOrder }
worker Odd { breaks Plain, padded }
";
    let of = |stack: &str| {
        checked(
            "promise.mok",
            &format!("{layers}{stack}stack S(device: Device) {{\n    app = Tried over device\n    export app\n}}\n"),
        )
    };
    let said = of("bundle Tried = Repeats / Hurries / Orders\n");
    for part in [
        "`Hurries` below it breaks that",
        "messages come in order",
        "here in its bundle",
        "broken here",
        "let `Repeats` stand below `Hurries`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for part in ["`Plain` makes no promise that could be broken", "boundaries are no promise", "write `gives padded`"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let said = of("worker Loses { needs Whole  breaks InOrder }
worker Cuts { needs InOrder  breaks Whole }
signature Whole { promise \"messages are whole\" }
bundle Tried = Cuts / Loses / Orders
");
    assert!(said.contains("leave one of them out: `Loses` needs `Whole`, which `Cuts` breaks"), "{said}");
    let said = of("bundle Tried = Orders / Repeats\n");
    assert!(said.contains("nobody below promises it"), "{said}");
    assert!(said.contains("`Orders` gives it, and stands above: let `Orders` stand below `Repeats`"), "{said}");
    let said = of("bundle Tried = Repeats\n");
    assert!(said.contains("`Orders` says that it gives this"), "{said}");
    let said =
        of("bundle Kept(Lower: InOrder) = Repeats / Lower\nbundle Bad = Hurries / Orders\nbundle Tried = Kept(Bad)\n");
    assert!(said.contains("`Hurries` breaks that") && said.contains("let a layer that gives it stand above"), "{said}");
}

/// A host of UDP, with its line for `Udp`, and a network with this input.
fn of_udp(line: &str, input: &str) -> String {
    format!(
        "use internet, ethernet, arp, ipv4, icmp, udp, echo
stack Host(device: Device, address: Ipv4Cidr) {{
    ethernet = Ethernet(device.mac) over device
    arp      = Arp(address.address) over ethernet[type: 0x0806]
    ip       = Ipv4(address) over ethernet[type: 0x0800] with arp, icmp
    icmp     = Icmp over ip[protocol: 1] with ip
    {line}
    export udp
}}
network Lan {{
    host a = Host(address: 10.0.0.1/24)
    host b = Host(address: 10.0.0.2/24)
    link lan {{ a.device, b.device }}
    at 10 ms  a.udp.bind(1, 0, 4000)
    at 20 ms  {input}
    until 1 s
}}
"
    )
}

const UDP: &str = "udp      = Udp over ip[protocol: 17] with icmp";
const SENT: &str = "a.udp.send_to(0, 4000, 10.0.0.2, 7, \"hello\")";

/// A key that a line of the stack leaves out was told at each of the network's inputs, and not at the line.
#[test]
fn a_key_that_a_stack_leaves_out_is_told_once_with_its_line() {
    let right = checked("key.mok", &of_udp(UDP, SENT));
    assert!(right.contains("no errors"), "{right}");
    let said = checked("key.mok", &of_udp("udp      = Udp over ip with icmp", SENT));
    assert_eq!(said.matches("error[M0729]").count(), 1, "{said}");
    assert!(said.contains("udp      = Udp over ip with icmp") && said.contains("`over ip[protocol: …]`"), "{said}");
    let said = checked("key.mok", &of_udp(UDP, &SENT.replace("send_to", "send")));
    assert!(said.contains("error[M0729]") && said.contains("`udp.send_to` has 5"), "{said}");
}

/// What lies below a layer of the library is named as users write it: a bundle, and its module.
#[test]
fn what_lacks_below_a_layer_is_named_as_it_is_written() {
    let said = checked("below.mok", &of_udp("udp      = Udp over ethernet[type: 17] with icmp", SENT));
    assert!(said.contains("put `Ipv4` below it") && !said.contains("`Ipv4` is in"), "{said}");
    let alone = |module: &str, line: &str| {
        format!("use thin, {module}, ethernet\nstack A(device: Device) {{\n    e   = Ethernet(device.mac) over device\n    app = {line}\n    export app\n}}\n")
    };
    for said in [
        checked("below.mok", &alone("udp", "Udp over e[type: 17]")),
        checked("below.mok", &alone("tcp", "Tcp over e[type: 6]")),
    ] {
        assert!(said.contains("put `Ipv4` of the module `ipv4`"), "{said}");
    }
    // A key's type is the layer's: no wider one can be used.
    let said = checked("below.mok", &of_udp(&format!("{UDP}\n    echo     = Echo over udp[port: 70000]"), SENT));
    assert!(said.contains("the largest is 65535") && !said.contains("wider"), "{said}");
}

/// A file whose lines end with CR alone is one line to the compiler: its first comment takes the rest.
#[test]
fn line_ends_of_another_kind_are_one_error() {
    let lines = [
        "// A plain layer.",
        "worker Plain { }",
        "stack S(device: Device) {",
        "    app = Plain over device",
        "    export app",
        "}",
        "",
    ];
    let said = checked("lines.mok", &lines.join("\r"));
    assert!(said.contains("error[M0001]: a carriage return alone") && said.contains("LF or CRLF"), "{said}");
    assert!(said.contains("1 error"), "{said}");
    for right in ["\r\n", "\n"] {
        let said = checked("lines.mok", &lines.join(right));
        assert!(said.contains("no errors"), "{said}");
    }
}

/// A file is written where its folder is; a misspelt one is not made.
#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let nowhere = scratch("nowhere/seen");
    for words in [
        vec!["sim", "examples/demo.mok", "--pcap", &nowhere],
        vec!["sim", "examples/demo.mok", "--record", &nowhere],
        vec!["build", "examples/reliable.mok", "--stack", "TellerHost", "--emit", "automaton", "-o", &nowhere],
        vec!["graph", "examples/host.mok", "-o", &nowhere],
    ] {
        let output = mokume(&words);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("there is no folder"), "{words:?}: {said}");
        assert!(!Path::new(&nowhere).parent().unwrap().exists());
    }
}

/// A slip in a name put a record where the program was, and ended with 0.
#[test]
fn nothing_that_the_user_has_is_overwritten_by_a_slip() {
    let [source, record, both] = ["slip.mok", "slip.jsonl", "slip.out"].map(scratch);
    std::fs::copy(root().join("examples/courier.mok"), &source).unwrap();
    assert!(mokume(&["sim", &source, "--record", &record]).status.success());
    let (of_source, of_record) = (std::fs::read(&source).unwrap(), std::fs::read(&record).unwrap());
    let elsewhere = format!("{}/../newcomer/slip.jsonl", Path::new(&record).parent().unwrap().display());
    let device = format!("pcap:{record},{elsewhere}");
    for (words, why) in [
        (vec!["sim", &source, "--record", &source], "it is a source"),
        (vec!["sim", "examples/courier.mok", "--html", &source], "it is a source"),
        (vec!["test", "examples/courier.mok", "--record", "examples/courier.mok"], "it is a source"),
        (vec!["graph", "examples/host.mok", "-o", &source], "it is a source"),
        (vec!["show", &record, "--html", &record], "it is read, too"),
        (vec!["show", &record, "--pcap", &elsewhere], "it is read, too"),
        (vec!["run", "examples/host.mok", "--device", &device], "it is read, too"),
        (vec!["sim", &source, "--record", &both, "--pcap", &both], "would be written twice"),
    ] {
        let output = mokume(&words);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{words:?}: {said}");
        assert!(!Path::new(&both).exists());
        let are = (std::fs::read(&source).unwrap(), std::fs::read(&record).unwrap());
        assert!(are == (of_source.clone(), of_record.clone()), "{words:?}");
    }
    assert!(mokume(&["sim", &source, "--record", "/dev/null", "--pcap", "/dev/null"]).status.success());
}

/// Of a list in a list, what is written field by field says of no element which of the inner ones are its own.
#[test]
fn elements_of_a_list_in_a_list_that_are_not_told_apart_are_refused() {
    let file = std::fs::read_to_string(root().join("tests/program/lists_in_lists.mok")).unwrap();
    let test = |fields: &str| {
        let step =
            format!("test \"told\" {{\n    stack Mapped\n    device.frame(Map {{ {fields} }})\n    => nothing\n}}\n");
        checked("lists.mok", &format!("{file}{step}"))
    };
    let said = test("site: 1, site: 2, weight: 3, weight: 4, host: 1, host: 3, host: 4");
    assert!(said.contains("error[M0729]: `host` has no place in a `Map`"), "{said}");
    assert!(said.contains("write a list's elements one after the other, each with all its fields"), "{said}");
    for (fields, lacks) in
        [("site: 7, site: 8, site: 9, weight: 4, weight: 5", "site"), ("host: 1, site: 1, host: 2, site: 2", "host")]
    {
        let said = test(fields);
        assert!(said.contains("error[M0729]") && said.contains(&format!("`{lacks}`")), "{fields}: {said}");
    }
    let said = test("site: 1, host: 1, weight: x\"\"");
    assert!(said.contains("error[M0301]: `weight` is given no octets"), "{said}");
    let said = test("site: 1, host: 1, many: 1, count: 0");
    assert!(said.contains("error[M0729]: `host` has no place in a `Map`"), "{said}");
}

/// A layer of the library on a layer whose flows have more parts: its text is not the user's to change.
#[test]
fn a_layer_of_the_library_on_the_wrong_layer_is_told_where_it_goes() {
    let wrong = of_udp(UDP, SENT).replace("Icmp over ip[protocol: 1]", "Icmp over udp[port: 1]");
    let said = checked("further_down.mok", &wrong);
    assert!(said.contains("M0714") && said.contains("put it on a layer further down"), "{said}");
    assert!(!said.contains("name it: `local.host"), "{said}");
}

/// Of octets in lists each is compared with its own.
#[test]
fn what_differs_in_a_list_of_octets_is_shown_in_its_place() {
    let file = std::fs::read_to_string(root().join("tests/program/lists_in_lists.mok")).unwrap();
    let step = "test \"told\" {
    stack Paired
    device.frame(x\"02 0102 0304\")
    => app.deliver_from(\"\")
    app.send_to(\"\")
    => device.frame(PairsWire { left: 1, right: 2, left: 3, right: 5 })
}
";
    let name = scratch("octets_of_lists.mok");
    std::fs::write(&name, format!("{file}{step}")).unwrap();
    let output = mokume(&["test", &name, "--filter", "told", "--backend", "interpreter"]);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("x\"04\" (not x\"05\")") && said.matches("(not").count() == 1, "{said}");
}
