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
