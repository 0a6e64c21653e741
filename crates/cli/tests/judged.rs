//! What a test or a network must not pass over silently: each case fails, beside a similar one that passes.

use std::path::Path;
use std::process::{Command, Output};

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The exit code for this file, and the output.
fn run(command: &str, name: &str, text: &str, more: &[&str]) -> (i32, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("judged");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    let output = mokume(&[&[command, &file.to_string_lossy()][..], more].concat());
    (output.status.code().unwrap_or(-1), said(&output))
}

fn test(name: &str, text: &str) -> (i32, String) {
    run("test", name, text, &["--backend", "interpreter"])
}

/// A timer every microsecond; a frame leaves at 1.5 s.
const OFTEN: &str = "worker Tick {
    entity {
        timer   t
        timer   u
        counter c
    }

    on start {
        start t after 1 us
        start u after 1500 ms
    }
    on expiry t {
        count c
        start t after 1 us
    }
    on expiry u { below.send(message(\"late\")) }
    on send(msg) { below.send(msg) }
    on deliver(msg) { above.deliver(msg) }
}

stack S(device: Device) {
    app = Tick over device
    export app
}
";

/// A step that gave up silently treated the frame at 1.5 s as absent.
#[test]
fn a_step_of_too_many_calls_fails_and_does_not_end_early() {
    let steps = [
        ("after 2 s\n    => nothing", false),
        ("app.send_to(\"x\")\n    => device.frame(\"x\")  device.frame(\"late\") within 2 s", false),
        ("after 1 s\n    => nothing\n    counter c 1000000", true),
        ("after 1 s\n    after 1 s\n    => device.frame(\"late\")\n    counter c 2000000", true),
        ("after 1 s\n    after 1 s\n    => nothing", false),
    ];
    for (at, (step, holds)) in steps.into_iter().enumerate() {
        let text = format!("{OFTEN}\ntest \"t\" {{\n    stack S\n    {step}\n}}\n");
        let (code, said) = test(&format!("often{at}.mok"), &text);
        assert_eq!(code, i32::from(!holds), "{step}: {said}");
        let gives_up = said.contains("this step needs more than 1000000 calls of the stack");
        assert_eq!(gives_up, at < 2, "{step}: {said}");
    }
}

/// A wire with alternatives, one with an optional part, and one with options; frames come back unchanged.
const WIRES: &str = "worker A {
    header {
        Ask { k: u8 } with message
        | Tell { n: u16 }
    }
    on send(msg) { below.send(msg, Ask { k: 7 }) }
    on deliver(msg, Ask { k }) { if k == 9 { drop msg: asked } else { above.deliver(msg) } }
    on deliver(Tell { n }) { if n == 3 { below.send(Tell { n: 4 }) } }
}
wire W big {
    t: u8
    choice t {
        1 => Ask { k: u8 = A.Ask.k }
        2 => Tell { n: u16 = A.Tell.n }
    }
}
worker B {
    header { flag: u1, key: u16, n: u8 }
    on send(msg) { below.send(msg, flag: 1, key: 7, n: 1) }
    on deliver(msg, flag, key) { if flag == 1 and key == 9 { drop msg: nine } else { above.deliver(msg) } }
}
wire V big {
    f: u1 = B.flag
    pad: u7 = 0
    optional when f == 1 { key: u16 = B.key }
    n: u8 = B.n where n < 100
}
worker C {
    header { has_most: bool, most: u16 }
    on send(msg) { below.send(msg, has_most: true, most: 5) }
    on deliver(msg, has_most, most) { if has_most and most == 9 { drop msg: nine } else { above.deliver(msg) } }
}
wire U big {
    words: u8 = size(header) / 4
    flags: u8 = 0 unread
    options kind: u8 length: u8 = size(option) until words * 4 pad 4 {
        0 => end
        1 => single
        2 => C.has_most { most: u16 = C.most }
        else => skip
    }
}
bundle LA = A encoded W
bundle LB = B encoded V
bundle LC = C encoded U
worker Back {
    on send(msg) { below.send(msg) }
    on deliver(msg) { below.send(msg) }
}
stack S(device: Device) {
    c = LC over b
    b = LB over a
    a = LA over back
    back = Back over device
    export c
}
";

/// Named values were left out, or replaced by other numbers, so the frame was not the one in the test.
#[test]
fn what_a_packet_cannot_hold_as_it_is_said_is_refused() {
    let cases = [
        ("W { t: 3 }", "no `W` has 3 in `t`: with what else is said it is 1"),
        ("W { t: 3, k: 5 }", "no `W` has 3 in `t`"),
        ("W { t: 1, n: 2 }", "`n` has no place in a `W`"),
        ("W { k: 4, n: 5 }", "has no place in a `W`"),
        ("V { f: 0, key: 5 }", "`key` has no place in a `V`"),
        ("U { has_most: 0, most: 3 }", "`most` has no place in a `U`"),
        ("U { has_most: 2 }", "no `U` has 2 in `has_most`"),
    ];
    for (at, (packet, why)) in cases.into_iter().enumerate() {
        let text = format!("{WIRES}\ntest \"t\" {{\n    stack S\n    device.frame({packet} \"y\")\n}}\n");
        let (code, said) = test(&format!("unsaid{at}.mok"), &text);
        assert!(code != 0 && said.contains(why), "{packet}: {code} {said}");
    }
    let right = [
        ("W { t: 1 }", "01 00"),
        ("W { k: 5 }", "01 05"),
        ("W { n: 5 }", "02 0005"),
        ("W { t: 2, n: 5 }", "02 0005"),
        ("V { key: 5 }", "80 0005 00"),
        ("V { pad: 3, n: 200 }", "03 c8"),
        ("V { f: 1 }", "80 0000 00"),
        ("U { most: 9 }", "02 00 02 04 0009 0000"),
        ("U { has_most: 1 }", "02 00 02 04 0000 0000"),
        ("U { has_most: 0 }", "01 00 0000"),
        ("U { words: 9, most: 3 }", "09 00 02 04 0003 0000"),
    ];
    let steps = right.map(|(packet, octets)| {
        format!("    device.frame({packet} \"y\")\n    => device.frame(x\"{octets}\" \"y\")\n")
    });
    let text = format!("{WIRES}\ntest \"t\" {{\n    stack S\n{}}}\n", steps.concat());
    let (code, said) = test("said.mok", &text);
    assert_eq!(code, 0, "{said}");
}

/// A number that is known only when the test runs.
#[test]
fn what_is_bound_and_cannot_be_held_fails_as_the_test_runs() {
    let steps = "    c.send_to(\"x\")\n    => device.frame(W { k: ?k } _)\n    device.frame(W { t: k } \"y\")\n";
    let (code, said) = test("bound.mok", &format!("{WIRES}\ntest \"t\" {{\n    stack S\n{steps}}}\n"));
    assert!(code == 1 && said.contains("no `W` has 7 in `t`"), "{code} {said}");
}

const COUNTS: &str = "worker Over {
    header { n: u8 }
    entity { var n: u8 = 254 }
    on send(msg) {
        n += 1
        below.send(msg, n: n)
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    app = Over over device
    export app
}
";

fn of_two(stack: &str, lines: &str) -> String {
    format!("{stack}network N {{\n    host a = S()\n    host b = S()\n    link lan {{ a.device, b.device }}\n{lines}    until 1 s\n}}\n")
}

/// A failing test named the report only, with another word than tests use.
#[test]
fn a_failing_test_says_where_a_report_was_made() {
    let sends = "    app.send_to(\"x\")\n    => device.frame(_)\n".repeat(2);
    let (code, text) = test("reported.mok", &format!("{COUNTS}test \"t\" {{\n    stack S\n{sends}}}\n"));
    assert!(code == 1 && text.contains("+ overflow at ") && text.contains("reported.mok:5"), "{text}");
    let (code, text) =
        test("counted.mok", &format!("{COUNTS}test \"t\" {{\n    stack S\n{sends}    reported overflow 1\n}}\n"));
    assert_eq!(code, 0, "{text}");
}

/// `mokume sim` ended with 1 and printed nothing.
#[test]
fn a_report_is_said_with_its_place() {
    let once = "    at 1 ms a.app.send_to(\"x\")\n";
    let (code, text) = run("sim", "reports.mok", &of_two(COUNTS, &once.repeat(3)), &[]);
    assert!(
        code == 1 && text.contains("host `a` reported overflow, on app.send_to(\"x\") (at 1.0 ms, seed 1)"),
        "{text}"
    );
    assert!(text.contains("reports.mok:5"), "{text}");
    assert_eq!(text.matches("overflow").count(), 1, "once for a place: {text}");
    // Each makes one.
    let stack = COUNTS.replace("n += 1", "n = full + 1").replace("entity {", "entity { var full: u8 = 255 ");
    for (count, more) in [(2, "    and once more\n"), (4, "    and 3 times more; `--log` has them all\n")] {
        let (code, text) = run("sim", "again.mok", &of_two(&stack, &once.repeat(count)), &[]);
        assert!(code == 1 && text.contains(more), "{text}");
    }
    let (code, text) = run("sim", "quiet.mok", &of_two(COUNTS, once), &[]);
    assert_eq!(code, 0, "{text}");
}

/// A message that a missing session should send was never sent.
#[test]
fn a_session_that_was_never_shown_takes_nothing() {
    let stack = "worker Plain {
    session { var n: u8 = 0 }
    on send(msg) {
        n += 1
        below.send(msg)
    }
}
multiplexor P {
    key { p: u8 }
}
stack S(device: Device) {
    app = Plain over p
    p   = P over device
    export app
}
";
    let lines = |session| {
        let open = "    at 0 ms b.app.listen(1, 7)\n    at 2 ms a.app.open(1, 0, 7)\n";
        format!("{open}    at 4 ms a.app.send({session}, \"z\")\n")
    };
    let (code, text) = run("sim", "shown.mok", &of_two(stack, &lines("s1")), &[]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = run("sim", "never.mok", &of_two(stack, &lines("s2")), &[]);
    assert!(code == 1 && text.contains("it was not put in: nothing was remembered as `s2`"), "{text}");
}

/// A failing test is shown with the check's warnings about its file, and with the other counters.
#[test]
fn what_a_failing_test_may_be_due_to_is_said() {
    let text = "worker Few {
    entity { quota few: 2 }
    on send(msg) {
        if msg.size > 9 {
            drop msg: long
            return
        }
        take few or {
            drop msg: none_left
            return
        }
        below.send(msg)
    }
}
stack S(device: Device) {
    app = Few over device
    export app
}
test \"three\" {
    stack S
    app.send_to(\"a\")
    app.send_to(\"b\")
    app.send_to(\"c\")
    => device.frame(\"a\")  device.frame(\"b\")
    dropped long 1
}
";
    let (code, said) = test("few.mok", text);
    assert!(code == 1 && said.contains("warning[M0387]"), "{said}");
    assert!(said.contains("dropped app.long should be 1, is 0") && said.contains("dropped app.none_left 1"), "{said}");
    let (code, said) = test("few_right.mok", &text.replace("dropped long", "dropped none_left"));
    assert!(code == 0 && !said.contains("warning"), "{said}");
}

/// Differing octets hid the wire behind them, and the name that it would have bound; the next step then failed for a
/// wrong reason.
#[test]
fn octets_that_differ_say_where_and_hide_nothing_behind_them() {
    let layer = "worker Counts {
    header { seq: u8 }
    entity { var next: u8 = 4 }
    on send(msg) { below.send(msg, seq: next) }
    on deliver(msg, seq) {
        next = seq
        consume msg: counted
    }
}
wire Segment big { seq: u8 = Counts.seq }
bundle Counted = Counts encoded Segment
multiplexor Ports { key symmetric { port: u16 } }
stack S(device: Device) {
    app   = Counted over ports[port: 0x0102]
    ports = Ports over device
    export app
}
";
    let steps = |prefix: &str, tail: &str| {
        format!(
            "{layer}test \"t\" {{
    stack S
    app.send_to(\"abc\")
    => device.frame({prefix} Segment {{ seq: ?first }} {tail})
    device.frame(x\"0201\" Segment {{ seq: first + 1 }})
    => nothing
}}
"
        )
    };
    let cases = [
        ("x\"0201\"", "\"abc\"", None),
        (
            "x\"0202\"",
            "\"abc\"",
            Some("device.frame(x\"0201\" (octet 1 is 0x01, not 0x02) Segment { seq: 4 } \"abc\")"),
        ),
        (
            "x\"0201\"",
            "\"aXc\"",
            Some("device.frame(x\"0201\" Segment { seq: 4 } \"abc\" (octet 4 is 0x62, not 0x58))"),
        ),
        ("x\"0201\"", "\"ab\"", Some("\"abc\" (ends only at octet 6, not 5)")),
        ("x\"0201\"", "\"abcd\"", Some("\"abc\" (ends before octet 6: 1 more are expected)")),
    ];
    for (at, (prefix, tail, failure)) in cases.into_iter().enumerate() {
        let (code, said) = test(&format!("octets{at}.mok"), &steps(prefix, tail));
        assert_eq!(code, i32::from(failure.is_some()), "{prefix} {tail}: {said}");
        assert!(said.contains(failure.unwrap_or("1 passed")), "{prefix} {tail}: {said}");
        assert!(!said.contains("has no value"), "{said}");
    }
    let text = steps("x\"0201\"", "\"abc\"").replace("app.send_to(\"abc\")", "after 1 ms");
    let (code, said) = test("octets_unbound.mok", &text);
    let reason =
        "`seq` has no value: no number was remembered as `first`, as the output that `?first` stands in did not come";
    assert!(code == 1 && said.contains(reason), "{said}");
    let whole =
        steps("x\"0201\"", "\"abc\"").replace("x\"0201\" Segment { seq: ?first } \"abc\"", "x\"0201 04 616262\"");
    let (code, said) = test("octets_whole.mok", &whole.replace("first + 1", "1"));
    assert!(code == 1 && said.contains("(octet 5 is 0x63, not 0x62)"), "{said}");
}
