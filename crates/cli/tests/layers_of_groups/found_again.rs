//! What a later outsider found: casts as long as a packet, hosts that begin anew, windows, limits in octets, long lines.

use super::{faults, judged, stacks, still, ORDERED};
use crate::groups::Fault;

pub fn networks() -> [(&'static str, String); 9] {
    [
        ("edge", edge()),
        ("reborn", reborn()),
        ("reborn_states", reborn_states()),
        ("windows", windows()),
        ("throttled", throttled()),
        ("paced", paced()),
        ("leave_apart", leave_apart()),
        ("slow_line", slow_line()),
        ("leave_both", leave_both()),
    ]
}

/// Casts as long as a packet has room for, where each layer's header stands by itself: one that was kept for the order was dropped further
/// below, as headers are on it there.
fn edge() -> String {
    let cast = |(number, octets): (usize, usize)| {
        let said = format!("{number}{}", "#".repeat(octets - 1));
        let host = ["a", "b", "c"][number % 3];
        format!("at {} ms  {host}.app.send_to(0, 255, \"{said}\")", 1500 + 3 * number)
    };
    let sizes = [1450, 7, 1449, 1450, 9, 1436, 1448, 8, 1450];
    let mut lines: Vec<String> = sizes.into_iter().enumerate().map(cast).collect();
    lines.extend(judged(ORDERED));
    lines.push("expect c.app.deliver_from(..)  9 times".to_string());
    still("Members / Sync / TotalOrder(depth) / Stable", 128, &lines, 3000).replace(" encoded compressed", "")
}

/// Five hosts, of which two are cut off and one begins anew beside them: it remembers nothing, so that no view of these three is a primary
/// one. The others suspect it late, and go on meanwhile.
fn reborn() -> String {
    "use group
bundle Five(own: Member) = Members / Sync / Primary(5) / TotalOrder / Stable / Mnak / Vsync / Current / Intra / Suspect(1 s) / Bottom(own)
stack Host(device: Device, own: Member) {
    app = Five(own) over device
    export app
}
network Net {
    host a = Host(own: 1)
    host b = Host(own: 2)
    host c = Host(own: 3)
    host d = Host(own: 4)
    host e = Host(own: 5)
    link lan { a.device, b.device, c.device, d.device, e.device   delay 1 ms }
    partition d, e from 4 s until 18 s
    crash c at 18 s
    partition a, b from 18 s until 21 s
    restart c(own: 17) at 18020 ms
    at 19 s  b.app.send_to(0, 255, \"by the old\")
    at 20900 ms  d.app.send_to(0, 255, \"by the new\")
    at 40 s  c.app.send_to(0, 255, \"by all\")
    expect d.app.view(_, _, 3, ..)  until 20900 ms
    expect b.app.deliver_from(_, _, \"by the old\")
    expect nothing at d.app.deliver_from(_, _, \"by the new\") until 20950 ms
    expect b.app.deliver_from(_, _, \"by all\")
    until 41 s
}
"
    .to_string()
}

/// A value that a primary view wrote stays, though its maker begins anew beside those who do not know it.
fn reborn_states() -> String {
    let layers =
        stacks::store_layers().replace("Sync / Transfer / TotalOrder", "Sync / Transfer / Primary(5) / TotalOrder");
    format!(
        "{layers}network Net {{
    host a = Replica(own: 1)
    host b = Replica(own: 2)
    host c = Replica(own: 3)
    host d = Replica(own: 4)
    host e = Replica(own: 5)
    link lan {{ a.device, b.device, c.device, d.device, e.device   delay 1 ms }}
    partition d, e from 4 s until 7 s
    partition b, c from 6 s until 9 s
    at 5 s  b.app.put(7, 100)
    crash a at 6 s
    restart a(own: 17) at 6500 ms
    at 12 s  d.app.get(7)
    expect d.app.view(_, _, 3, ..)  until 9 s
    expect d.app.value(7, 100)
    until 13 s
}}
"
    )
}

/// Larger casts than a window has places for would wait for ever.
fn windows() -> String {
    let long = "#".repeat(64_000);
    let lines = [
        format!("at 1 s  a.app.send_to(0, 255, \"{long}\")"),
        "at 2 s  a.app.send_to(0, 255, \"behind\")".to_string(),
        format!("expect b.app.deliver_from(_, _, \"{long}\")"),
        "expect b.app.deliver_from(_, _, \"behind\")".to_string(),
    ];
    still("Members / Sync / Frag(48) / TotalOrder(depth) / Stable / Leave / Pt2pt", 128, &lines, 4000)
}

fn casts(count: usize, at: impl Fn(usize) -> String, octets: usize) -> Vec<String> {
    let fill = "x".repeat(octets);
    (0..count).map(|number| format!("at {}  b.app.send_to(0, 255, \"{number:03}{fill}\")", at(number))).collect()
}

/// Sixty casts of a thousand octets at once, of which sixteen may be on their way: the port drops the others.
fn throttled() -> String {
    let mut lines = casts(60, |_| "2 s".to_string(), 997);
    let fill = "x".repeat(997);
    lines.push(format!("expect c.app.deliver_from(_, _, \"010{fill}\")"));
    lines.push(format!("expect nothing at c.app.deliver_from(_, _, \"040{fill}\")"));
    still("Members / Sync / Flow(128, 16_000) / TotalOrder(depth) / Stable", 128, &lines, 3000)
}

/// What waited for a view goes by the same limit: two casts in each round trip.
fn paced() -> String {
    let mut lines = casts(64, |number| format!("{} us", 1_220_000 + 100 * number), 1000);
    let fill = "x".repeat(1000);
    lines.push("partition c from 1 s until 2 s".to_string());
    lines.push(format!("expect a.app.deliver_from(_, _, \"001{fill}\")"));
    lines.push(format!("expect nothing at a.app.deliver_from(_, _, \"060{fill}\")"));
    let text = still("Members / Sync / Flow(128, 2000) / TotalOrder(depth) / Stable", 128, &lines, 2000);
    text.replace("   delay 1 ms }", "   delay 32 ms }")
}

/// Who leaves a view that is not a primary one does not wait for another, though casts wait.
fn leave_apart() -> String {
    let cast = |number| format!("at {} us  a.app.send_to(0, 255, \"a{number}\")", 1_150_000 + 200 * number);
    let mut lines: Vec<String> = (0..400).map(cast).collect();
    lines.extend(
        ["partition a, b from 1 s until 4 s", "at 2 s  a.app.leave()", "expect a.app.left()  until 3 s"]
            .map(str::to_string),
    );
    still("Members / Sync / Primary(4) / TotalOrder(depth) / Stable / Leave / Pt2pt", 128, &lines, 4000)
}

/// Round trips of two seconds, five times `every`: three come into one view, and stay there.
fn slow_line() -> String {
    "use group
stack Chat(device: Device, own: Member) {
    app = Synchronous(own, 64, every: 400 ms) over device
    export app
}
network Net {
    host a = Chat(own: 1)
    host b = Chat(own: 2)
    host c = Chat(own: 3)
    link lan { a.device, b.device, c.device   delay 1 s }
    at 50 s  a.app.send_to(0, 255, \"x\")
    casts app.send_to(_, 255, _)
    delivers app.deliver_from
    views app.view(?v, ..)
    expect casts own, together
    expect c.app.view(_, _, 3, ..)  until 50 s
    expect c.app.deliver_from(_, _, \"x\")
    until 100 s
}
"
    .to_string()
}

/// Two leave at once, of whom one makes views: it made one with itself when it had said that it goes, and of the others one went there and
/// one into that which they made without it. Nobody would be suspected for six seconds.
fn leave_both() -> String {
    "use group
bundle Tried(own: Member) = Members / Sync / TotalOrder / Stable / Leave / Mnak / Vsync / Current / Intra / Suspect(1 s) / Bottom(own)
stack Chat(device: Device, own: Member) {
    app = Tried(own) over device
    export app
}
network Net {
    host a = Chat(own: 1)
    host b = Chat(own: 2)
    host c = Chat(own: 3)
    host d = Chat(own: 4)
    link lan { a.device, b.device, c.device, d.device   delay 1 ms }
    at 2500 ms  b.app.leave()
    at 2501 ms  a.app.leave()
    expect a.app.left()  until 3 s
    expect b.app.left()  until 3 s
    expect c.app.view(_, _, 2, ..)  until 3 s
    expect d.app.view(_, _, 2, ..)  until 3 s
    until 3500 ms
}
"
    .to_string()
}

const FAULTS: [(&str, Fault); 9] = [
    ("edge", Fault { layer: "mnak", from: " +% ABOVE", to: "", seed: "1", broken: "`expect casts" }),
    (
        "reborn",
        Fault {
            layer: "primary",
            from: "if known == [] or by in known { count += 1 }",
            to: "count += 1",
            seed: "1",
            broken: "\"by the new\"",
        },
    ),
    (
        "reborn_states",
        Fault {
            layer: "primary",
            from: "if known == [] or by in known { count += 1 }",
            to: "count += 1",
            seed: "1",
            broken: "app.value",
        },
    ),
    (
        "windows",
        Fault { layer: "pt2pt", from: "depth: u32 = 128", to: "depth: u32 = 64", seed: "1", broken: "\"behind\"" },
    ),
    (
        "throttled",
        Fault {
            layer: "flow",
            from: "    limit send: most() - min(most(), octets_under_way()) octets\n",
            to: "",
            seed: "1",
            broken: "\"040",
        },
    ),
    (
        "paced",
        Fault {
            layer: "sync",
            from: "if first.size > below.credit_octets {",
            to: "if first.size > 100_000 {",
            seed: "1",
            broken: "\"060",
        },
    ),
    (
        "leave_apart",
        Fault { layer: "sync", from: "        if is_apart { give_up() }\n", to: "", seed: "1", broken: "app.left()" },
    ),
    (
        "slow_line",
        Fault {
            layer: "heal",
            from: "min(2 * patience, 64)",
            to: "min(2 * patience, 4)",
            seed: "1",
            broken: "app.view",
        },
    ),
    (
        "leave_both",
        Fault {
            layer: "intra",
            from: "first_of(why.failed | gone)",
            to: "first_of(why.failed)",
            seed: "1",
            broken: "_, 2, ..",
        },
    ),
];

#[test]
fn what_a_later_outsider_found_is_found() {
    faults::are_found("found_again", &FAULTS);
}
