//! What records say of reasons that are values, of alternatives, and of values with parts.

use std::path::Path;
use std::process::Command;

/// What a command says of a program, in a folder with its record.
fn of(name: &str, text: &str, words: &[&str]) -> (String, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.mok")), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let output = command.args(words).current_dir(&folder).output().unwrap();
    let record = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (said, record)
}

const TWO_HOSTS: &str = "stack S(device: Device) {
    app = K over device
    export app
}
network N {
    host a = S()
    host b = S()
    link l { a.device, b.device delay 1 ms }
";

/// Records named no statement for a reason that is a value, and `dissect` blamed a wire that the stack does not have.
#[test]
fn a_reason_that_is_a_value_has_its_place() {
    let program = format!(
        "worker K {{
    header {{ n: u8 }}
    on send(msg) {{ below.send(msg, n: msg.size as u8) }}
    on deliver(msg, n) {{
        let why: Reason = if n > 3 {{ timed_out }} else {{ refused }}
        if n != 2 {{
            drop msg: why
            return
        }}
        consume msg: refused
    }}
}}
{TWO_HOSTS}    at 1 ms a.app.send_to(\"four\")
    at 2 ms a.app.send_to(\"xx\")
    until 10 ms
}}
"
    );
    let (said, record) = of("why", &program, &["sim", "why.mok", "--record", "why.jsonl", "--pcap", "why.pcap"]);
    assert!(
        record.contains(r#""reason":"timed_out","count":1,"layers":["app"],"places":["why.mok:7"]"#),
        "{said}{record}"
    );
    assert!(record.contains(r#""event":"consumes""#) && record.contains(r#""places":["why.mok:10"]"#), "{record}");
    let (said, _) = of("why", &program, &["dissect", "why.pcap", "--by", "why.mok"]);
    assert!(said.contains("dropped in any state: a reason that is decided there (why.mok:7)"), "{said}");
}

/// The head of the first alternative's handler ran for packets of the others.
#[test]
fn the_handler_of_an_alternative_runs_from_its_own_head() {
    let program = "endpoint Two {
    header { Ping { n: u8 } with message | Note { n: u8 } with message }
    entity {
        counter pings
        counter notes
    }
    on deliver(msg, Ping { n: _n }) {
        count pings
        drop msg: seen
    }
    on deliver(msg, Note { n: _n }) {
        count notes
        drop msg: seen
    }
}
stack S(device: Device) { two = Two over device }
test \"a note\" {
    stack S
    device.frame(x\"01 05\" \"note\")
    dropped seen 1
}
";
    let words = ["test", "note.mok", "--backend", "interpreter", "--record", "note.jsonl", "--steps"];
    let (said, record) = of("note", program, &words);
    let ran = record.split("\"ran\":").nth(2).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    assert!(ran.contains("12,13") && !ran.contains(",7,") && !ran.contains("[7,"), "{said}{record}");
}

/// Values and keys of maps were bare numbers in a row.
#[test]
fn values_of_maps_are_written_as_their_types_are() {
    let program = format!(
        "use internet
record Hop {{ to: Ipv4Address, since: Duration }}
worker K {{
    entity {{
        map hops: [u8 -> Hop; 4]
        map names: [u8 -> [u8; ..4]; 4]
        map keys: [Hop -> u8; 4]
    }}
    on send(msg) {{
        let hop = Hop {{ to: 10.0.0.1, since: 3 ms }}
        hops[1] = hop or {{ }}
        names[1] = \"ab\" or {{ }}
        keys[hop] = 3 or {{ }}
        if 1 in hops and 1 in names {{ below.send(msg) }} else {{ drop msg: none }}
    }}
}}
{TWO_HOSTS}    at 1 ms a.app.send_to(\"four\")
    until 10 ms
}}
"
    );
    let (said, record) = of("maps", &program, &["sim", "maps.mok", "--record", "maps.jsonl", "--steps"]);
    for wanted in
        [r#""to":"{ to: 10.0.0.1, since: 3 ms }""#, r#""to":"\"ab\"""#, r#""at":"{ to: 10.0.0.1, since: 3 ms }""#]
    {
        assert!(record.contains(wanted), "{wanted}\n{said}{record}");
    }
    // With another value the runs do the same, and are told apart by it.
    let other = program.replace("since: 3 ms", "since: 4 ms");
    let (said, _) = of("maps4", &other, &["sim", "maps4.mok", "--record", "maps4.jsonl", "--steps"]);
    assert!(said.contains("events in maps4.jsonl"), "{said}");
    let (said, _) = of("maps", &program, &["show", "maps.jsonl", "--against", "maps4.jsonl"]);
    assert!(said.contains("variables differ from here on") && said.contains("since: 4 ms"), "{said}");
}

/// A drop for want of room at a layer that looks at nothing in a packet was drawn as another host's frame.
#[test]
fn a_layer_that_looks_at_nothing_drops_for_itself() {
    let program = "worker Half(odd: u8) {
    entity { var n: u8 = 0 }
    on send(msg) { below.send(msg) }
    on deliver(msg) {
        n +%= 1
        if n & 1 == odd { drop msg: full } else { above.deliver(msg) }
    }
}
stack S(device: Device, odd: u8 = 0) {
    app = Half(odd) over device
    export app
}
network N {
    host a = S()
    host b = S(0)
    host c = S(1)
    link one { a.device, b.device, c.device   delay 1 ms }
    at 5 ms a.app.send_to(\"m1\")
    at 6 ms a.app.send_to(\"m2\")
    until 100 ms
}
";
    let (said, _) = of("half", program, &["sim", "half.mok", "--chart", "half.txt"]);
    let chart = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded/half.txt");
    let chart = std::fs::read_to_string(chart).unwrap();
    assert_eq!(chart.matches("drop: app.full").count(), 2, "{said}{chart}");
}
