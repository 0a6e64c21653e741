//! What the conditions of the debugger's points are compared with.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::debug::transcript;

const PROGRAM: &str = "enum Phase: u8 { Idle, Open }
worker Waits {
    entity { var n: u16 = 5  var five: u16 = 5  var six: u16 = 6  var wait: Duration = 20 ms  var also: Duration = 20 ms  var phase: Phase = Phase.Open  var last: Phase = Phase.Open  var first: Phase = Phase.Idle }
    on send(msg) {
        n = five
        if n == six or wait != also or phase != last or first == last { drop msg: late } else { below.send(msg) }
    }
    on deliver(msg) { above.deliver(msg) }
}
stack S(device: Device) {
    app = Waits over device
    export app
}
test \"t\" {
    stack S
    app.send_to(\"x\")
    => device.frame(_)
}
";

/// The program, written once: several tests read it.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conditions.mok");
    std::fs::write(&file, PROGRAM).unwrap();
    file
});

/// What the debugger says of a point with this condition, at which the run comes once.
fn told(condition: &str) -> String {
    let words = format!("break 6 if {condition}\ncontinue\n");
    let (out, err, _) = transcript(&["debug", FILE.to_str().unwrap(), "--test", "t"], &words);
    out + &err
}

/// A comparison of two names never held, and nothing was said.
#[test]
fn two_names_are_compared() {
    for (condition, holds) in [
        ("n == five", true),
        ("n != five", false),
        ("n < six", true),
        ("not n == six", true),
        ("wait == also", true),
        ("phase == last", true),
        ("phase == first", false),
        ("phase == Open", true),
        ("phase != first", true),
        ("n == nobody", false),
    ] {
        let said = told(condition);
        assert_eq!(said.contains("(point 1"), holds, "{condition}\n{said}");
    }
}

/// A number of nanoseconds was meant, and nobody said so: `wait > 10` held for each time beyond 10 ns.
#[test]
fn a_time_is_compared_with_a_time() {
    for (condition, doubt) in [
        ("wait > 10", "`wait` is 20 ms there, a time, and `10` lacks a unit: write `10 ms`"),
        ("wait != 20", "and `20` lacks a unit"),
        ("n < 10 ms", "`n` is 5 there, and no time"),
        ("wait == n", "and `5` lacks a unit"),
    ] {
        let said = told(condition);
        assert!(said.contains(doubt) && !said.contains("(point 1"), "{condition}\n{said}");
    }
    for condition in ["wait > 0", "wait > 10 ms", "wait <= 20ms"] {
        let said = told(condition);
        assert!(said.contains("(point 1"), "{condition}\n{said}");
    }
}

/// A name of an enum and a number were never equal, and nobody said so.
#[test]
fn a_name_is_compared_with_a_name() {
    for condition in ["phase == 1", "phase != 0", "not phase == 1", "phase > 0"] {
        let said = told(condition);
        let doubt = "`phase` is Phase.Open there, a name, and `";
        assert!(said.contains(doubt) && !said.contains("(point 1"), "{condition}\n{said}");
    }
}

const OBJECTS: &str = "multiplexor Ports { key { port: u8 } }
worker Counts {
    session { var got: u8 = 0 }
    on deliver(msg) {
        got += 1
        above.deliver(msg)
    }
}
stack S(device: Device) {
    app = Counts / Ports over device
    export app
}
test \"t\" {
    stack S
    app.open(1, 5, 6)
    => app.opened(1, ?s, ..)
    app.open(2, 7, 8)
    => app.opened(2, ?t, ..)
    device.frame(x\"08 07\" \"a\")
    => app.deliver(t, \"a\")
    device.frame(x\"08 07\" \"a\")
    => app.deliver(t, \"a\")
}
worker Peers {
    header { from: u8 }
    entity { var all: u8 = 0 }
    object Peer[id: u8] capacity 4 { var count: u8 = 0 }
    on send(msg) { below.send(msg, from: 1) }
    on deliver(msg, from) {
        let p = Peer[from] or new { drop msg: full return }
        p.count += 1
        all += 1
        above.deliver(msg)
    }
}
stack O(device: Device) {
    app = Peers over device
    export app
}
test \"o\" {
    stack O
    device.frame(x\"05\" \"a\")
    => app.deliver_from(\"a\")
    device.frame(x\"07\" \"a\")
    => app.deliver_from(\"a\")
    device.frame(x\"07\" \"a\")
    => app.deliver_from(\"a\")
}
";

/// The state of the object at hand is meant, not that of the first of its kind; where none is at hand, all are told.
#[test]
fn a_name_is_the_current_objects() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("objects.mok");
    std::fs::write(&file, OBJECTS).unwrap();
    let file = file.to_str().unwrap();
    let (out, err, _) =
        transcript(&["debug", file, "--test", "t"], "break 6 if got == 2\ncontinue\nprint got\nprint session.got\n");
    assert!(
        out.contains("\n2\n") && out.contains("0 (app.Counts.session #0), 2 (app.Counts.session #1)"),
        "{out}{err}"
    );
    let said = |words: &str| {
        let (out, err, _) = transcript(&["debug", file, "--test", "o"], words);
        out + &err
    };
    let met = said("break 33 if p.count == 2\ncontinue\nprint count\nprint all\nprint Peer #0.count\n");
    for part in
        ["(point 1)", "print count\n1 (app.Peer #0), 2 (app.Peer #1)\n", "print all\n3\n", "print Peer #0.count\n1\n"]
    {
        assert!(met.contains(part), "{part}\n{met}");
    }
    let not_met = said("break 33 if count == 2\ncontinue\n");
    assert!(!not_met.contains("(point 1"), "{not_met}");
}

/// An empty message and an attribute that nobody gave had no value: a condition on them was never met, and nothing was said.
#[test]
fn an_empty_message_has_a_size_and_an_attribute_its_default() {
    const MARKS: &str = "enum Kind: u8 { Publish, Ask }
attribute level: u8 = 7
attribute kind: Kind = Kind.Publish
worker Marks {
    reads level, kind
    on send(msg) {
        if msg.level == 7 and msg.kind == Kind.Publish {
            below.send(msg)
        } else {
            drop msg: other
        }
    }
    on deliver(msg) { above.deliver(msg) }
}
stack One(device: Device) {
    app = Marks over device
    export app with level, kind
}
test \"t\" {
    stack One
    app.send_to(\"\", 7, 0)
    => device.frame(\"\")
    app.send_to(\"x\", 8, 1)
    => nothing
}
";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("defaults.mok");
    std::fs::write(&file, MARKS).unwrap();
    for (condition, shown) in [
        ("msg.size == 0", "0 octets"),
        ("msg.size < 1", "0 octets"),
        ("msg.level == 7", "0 octets"),
        ("msg.level != 8", "0 octets"),
        ("msg.kind == Publish", "0 octets"),
        ("msg.size == 1", "1 octets"),
        ("msg.level == 8", "1 octets"),
        ("msg.kind == Ask", "1 octets"),
    ] {
        let words = format!("break 7 if {condition}\ncontinue\nlocals\nprint msg.size\nprint msg.level\ncontinue\n");
        let (out, err, _) = transcript(&["debug", file.to_str().unwrap(), "--test", "t"], &words);
        let said = out + &err;
        assert!(said.matches("(point 1").count() == 1 && said.contains(shown), "{condition}\n{said}");
        assert!(!said.contains("nothing is called"), "{condition}\n{said}");
    }
}

/// Numbers that wrap, quotas, maps, enums with parts, containers, points.
const KINDS: &str = "use containers
enum Plan: u8 { Nothing, Wait(rounds: u8) }
multiplexor Ports { key { port: u8 } }
worker K {
    header { s: seq16 }
    entity {
        quota kept: 6
        map m: [u8 -> u8; 4]
        messages held: 2 from kept
        queue<u8> waiting(4)
        var plan: Plan = Plan.Nothing
        var last: seq16 = 65530
    }
    point { var open: u32 = 0 }
    session { }
    on accepted {
        open += 1
        pass
    }
    on deliver(msg, s) {
        take kept or {
            drop msg: full
            return
        }
        m[1] = 1 or { }
        plan = Plan.Wait(3)
        waiting.push(7) or { }
        let first = waiting.pop() or { 0 }
        waiting.push(first) or { }
        if s > last and left kept < 6 and 1 in m and plan == Plan.Wait(3) {
            give kept
            above.deliver(msg)
        } else {
            drop msg: stale
        }
    }
}
stack S(device: Device) {
    app = K over ports
    ports = Ports over device
    export app
}
test \"t\" {
    stack S
    app.listen(1, 80)
    app.listen(1, 81)
    device.frame(x\"01 50 04 00\" \"a\")
    => app.accepted(?a, 80, 1)  app.deliver(a, \"a\")
}
";

/// A sequence number was compared as a plain number, a quota and a map with none at all, and nobody said so; the state of a session's point was
/// that of all points.
#[test]
fn each_kind_of_state_is_compared_as_the_language_does() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kinds.mok");
    std::fs::write(&file, KINDS).unwrap();
    let told = |line: u32, condition: &str| {
        let words = format!("break {line} if {condition}\ncontinue\nprint waiting\n");
        let (out, err, _) = transcript(&["debug", file.to_str().unwrap(), "--test", "t"], &words);
        out + &err
    };
    for (condition, holds) in [
        ("s > last", true),
        ("s < last", false),
        ("kept == 5", true),
        ("kept < 5", false),
        ("plan == Plan.Wait", true),
        ("plan == Plan.Nothing", false),
        ("plan != Nothing", true),
        ("plan.rounds == 3", true),
    ] {
        let said = told(30, condition);
        assert_eq!(said.contains("(point 1"), holds, "{condition}\n{said}");
    }
    for condition in ["m == 1", "held == 1"] {
        let said = told(30, condition);
        assert!(said.contains("and no number"), "{condition}\n{said}");
    }
    for (condition, holds) in [("open == 0", false), ("open == 1", true)] {
        let said = told(30, condition);
        assert_eq!(said.contains("(point 1"), holds, "{condition}\n{said}");
    }
    let said = told(30, "s > last");
    assert!(said.contains("length 1") || said.contains("count 1"), "{said}");
}
