//! What a stopped run shows: names at the first operation of a statement, and state whose values have parts.

use std::path::Path;
use std::process::Command;

use crate::debug::transcript;

fn scratch(name: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stopped");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_string_lossy().into_owned()
}

/// What the debugger prints for these commands, in a program's network or its test.
fn told(name: &str, text: &str, commands: &str) -> String {
    let (out, err, _) = transcript(&["debug", &scratch(name, text)], commands);
    out + &err
}

/// The same where `app` of a stack, `W`, gets a message of one octet and lets it through.
fn of_test(name: &str, layers: &str, commands: &str) -> String {
    const TEST: &str = "stack S(device: Device) {
    app = W over device
    export app
}
test \"t\" {
    stack S
    app.send_to(\"a\")
    => device.frame(\"a\")
}
";
    told(name, &format!("{layers}{TEST}"), commands)
}

/// The record of a network's run, with its steps.
fn recorded(name: &str, text: &str) -> String {
    let (file, record) = (scratch(&format!("{name}.mok"), text), scratch(&format!("{name}.jsonl"), ""));
    let arguments = ["sim", &file, "--record", &record, "--steps"];
    assert!(Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap().status.success());
    std::fs::read_to_string(record).unwrap()
}

/// Nothing was bound before a statement that reads a parameter of the stack, and the message of a statement that gives it away
/// was not there.
#[test]
fn names_are_bound_at_the_first_operation_of_a_statement() {
    const PROGRAM: &str = "worker W(own: u8) {
    header { node: u8 }
    entity { counter mine }
    on send(msg) { below.send(msg, node: 2) }
    on deliver(msg, node) {
        if node == own { count mine }
        above.deliver(msg)
    }
}
stack One(device: Device, own: u8) {
    app = W(own) over device
    export app
}
network N {
    host a = One(own: 1)
    host b = One(own: 3)
    link l { a.device, b.device   delay 1 ms }
    at 1 ms  a.app.send_to(\"xy\")
    until 10 ms
}
";
    for at in ["6", "7", "W.deliver", "6 if node == 2", "7 if msg.size == 2", "W.deliver if node == 2"] {
        let said = told("bound.mok", PROGRAM, &format!("break {at}\ncontinue\nlocals\n"));
        assert!(said.contains("(point 1)"), "{at}\n{said}");
        let has_begun = !said.contains("begins  (point 1)");
        assert!(!has_begun || said.contains("node = 2") && said.contains("msg = 2 octets"), "{at}\n{said}");
    }
}

/// A vector in a record had its bound as its length, a list of lists was flat, addresses in lists were numbers.
#[test]
fn state_is_shown_as_its_type_says() {
    const PROGRAM: &str = "type Address = u32 written dotted(8)
record In { a: u8, who: Address }
record Row { id: u8, all: [In; ..4] }
enum Plan: u8 { Nothing, Wait(rounds: u8, whom: In), Other(x: Address) }
worker W {
    entity {
        var row: Row = Row { id: 7, all: [In { a: 1, who: 10.0.0.1 }] }
        var lists: [[u8; ..3]; ..4] = [[1, 2, 3], [7], []]
        array rows: [Row; 2]
        array names: [[u8; ..3]; 2]
        map plans: [(Address, u8) -> Plan; 4]
        map times: [In -> Duration; 4]
        var list_length: u16 = 9
    }
    on send(msg) {
        rows[1] = row
        names[1] = \"ab\"
        plans[10.0.0.3, 1] = Plan.Wait(3, row.all[0]) or { }
        plans[10.0.0.4, 2] = Plan.Other(10.0.0.8) or { }
        times[row.all[0]] = 5 ms or { }
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}
";
    let commands = "break 21\ncontinue\nstate\nprint row.all.length\nprint lists[0]\nprint rows[1].all[0].who\nprint list_length\n";
    let said = of_test("parts.mok", PROGRAM, commands);
    for wanted in [
        "row = { id: 7, all: [{ a: 1, who: 10.0.0.1 }] }",
        "lists = [x\"010203\", x\"07\", \"\"]",
        "[0] = { id: 0, all: [] }",
        "[1] = { id: 7, all: [{ a: 1, who: 10.0.0.1 }] }",
        "[1] = \"ab\"",
        "[10.0.0.3, 1] = Plan.Wait(rounds: 3, whom: { a: 1, who: 10.0.0.1 })",
        "[10.0.0.4, 2] = Plan.Other(x: 10.0.0.8)",
        "[{ a: 1, who: 10.0.0.1 }] = 5 ms",
        "list_length = 9",
        "(mokume) print row.all.length\n1\n",
        "(mokume) print lists[0]\nx\"010203\"\n",
        "(mokume) print rows[1].all[0].who\n10.0.0.1\n",
        "(mokume) print list_length\n9\n",
    ] {
        assert!(said.contains(wanted), "{wanted}\n{said}");
    }
    let condition = of_test("parts_if.mok", PROGRAM, "break 21 if row.all.length == 1\ncontinue\n");
    assert!(condition.contains("(point 1)"), "{condition}");
}

#[test]
fn a_declared_type_says_how_a_local_is_written() {
    const PROGRAM: &str = "type Address = u32 written dotted(8)
worker W {
    entity { var who: Address = 10.0.0.1  var n: u32 = 0 }
    on send(msg) {
        let plain: u32 = who + 5
        let same = who
        n = plain + same
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}
";
    let said = of_test("typed.mok", PROGRAM, "break 7\ncontinue\nlocals\n");
    assert!(said.contains("plain = 167772166") && said.contains("same = 10.0.0.1"), "{said}");
}

#[test]
fn a_log_text_names_what_there_is() {
    const PROGRAM: &str = "worker W {
    entity { var next: u16 = 0 }
    on send(msg) {
        next += 1
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}
";
    let said = of_test(
        "log.mok",
        PROGRAM,
        "break 5 say next is {nxt}\nbreak 5 if (next == 1\nbreak 5 say next is {next}\ncontinue\n",
    );
    assert!(said.contains("nothing is called `nxt` here") && said.contains("next is 1"), "{said}");
    assert!(said.contains("a condition has no brackets"), "{said}");
}

const ALTERNATIVES: &str = "worker W {
    header { Data { n: u8 } with message | Nak { n: u8 } }
    entity { counter naks  timer again }
    on start { start again after 10 ms }
    on expiry again { count naks }
    on send(msg) { below.send(msg, Data { n: 1 }) }
    on deliver(msg, Data) {
        below.send(Nak { n: 1 })
        above.deliver(msg)
    }
    on deliver(Nak { n }) {
        if n > 0 { count naks }
    }
}
stack S(device: Device) {
    app = W over device
    export app
}
network N {
    host a = S()
    host b = S()
    link l { a.device, b.device }
    clock b  ahead 1 s
    at 1 ms  a.app.send_to(\"x\")
    until 20 ms
}
";

/// It was the place of the first alternative's handler.
#[test]
fn a_consumed_alternative_has_the_place_of_its_own_handler() {
    let said = told("consumed.mok", ALTERNATIVES, "break drop Nak\ncontinue\n");
    assert!(said.contains("consumed.mok:11  on deliver(Nak { n }) {"), "{said}");
}

/// A timer of a host with another clock was due at a time of that clock.
#[test]
fn a_record_has_the_deadlines_of_all_hosts_in_one_time() {
    let text = recorded("clocks", ALTERNATIVES);
    assert_eq!(text.matches("\"due\":10000000,").count() + text.matches("\"due\":10000000}").count(), 2, "{text}");
    assert!(!text.contains("1010000000"), "{text}");
    assert!(text.contains("consumed") || text.contains("clocks.mok:11"), "{text}");
}

/// The length of a vector in a record was `row_all.length`.
#[test]
fn a_record_names_parts_as_the_source_does() {
    const PROGRAM: &str = "record In { a: u8, b: u16 }
record Row { id: u8, all: [In; ..4] }
worker W {
    entity { var row: Row = Row { id: 7, all: [] } }
    on send(msg) {
        row.all = [In { a: 1, b: 2 }]
        row.id = 8
        below.send(msg)
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    app = W over device
    export app
}
network N {
    host a = S()
    host b = S()
    link l { a.device, b.device }
    at 1 ms  a.app.send_to(\"x\")
    until 20 ms
}
";
    let text = recorded("named", PROGRAM);
    for wanted in ["\"row.id\"", "\"row.all.length\"", "\"row.all.a\""] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("row_all"), "{text}");
}
