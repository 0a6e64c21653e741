//! What a later outsider found: casts as long as a packet, hosts that begin anew, windows, limits in octets, long lines.

use super::{faults, found, judged, still, ORDERED};
use crate::groups::Fault;

pub fn networks() -> [(&'static str, String); 10] {
    [
        ("edge", edge()),
        ("reborn", reborn()),
        ("reborn_states", reborn_states()),
        ("windows", windows()),
        ("throttled", throttled()),
        ("paced", paced()),
        ("leave_apart", leave_apart("2 s")),
        ("leave_ending", leave_apart("1154 ms")),
        ("slow_line", slow_line()),
        ("leave_both", leave_both()),
    ]
}

/// Hosts of a stack on one line, and what happens there.
pub fn lan(layers: &str, stack: &str, count: usize, delay: &str, lines: &str) -> String {
    let names = &["a", "b", "c", "d", "e", "f", "g", "h"][..count];
    let host = |(at, name): (usize, &&str)| format!("    host {name} = {stack}(own: {})\n", at + 1);
    let hosts: String = names.iter().enumerate().map(host).collect();
    let devices: Vec<String> = names.iter().map(|name| format!("{name}.device")).collect();
    let link = format!("    link lan {{ {}   delay {delay} }}\n", devices.join(", "));
    format!("{layers}network Net {{\n{hosts}{link}{lines}}}\n")
}

/// The same of these layers, each with headers of its own.
pub fn group(layers: &str, count: usize, delay: &str, lines: &str) -> String {
    let stack = format!(
        "use group\nstack Host(device: Device, own: Member) {{\n    app = {layers} over device\n    export app\n}}\n"
    );
    lan(&stack, "Host", count, delay, lines)
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
    let layers =
        "Members / Sync / Primary(5) / TotalOrder / Stable / Mnak / Vsync / Current / Intra / Suspect(1 s) / Bottom(own)";
    group(
        layers,
        5,
        "1 ms",
        "    partition d, e from 4 s until 18 s
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
",
    )
}

/// A value that a primary view wrote stays, though its maker begins anew beside those who do not know it.
fn reborn_states() -> String {
    let layers = found::store_upon("Sync / Transfer(5) / TotalOrder");
    lan(
        &layers,
        "Replica",
        5,
        "1 ms",
        "    partition d, e from 4 s until 7 s
    partition b, c from 6 s until 9 s
    at 5 s  b.app.put(7, 100)
    crash a at 6 s
    restart a(own: 17) at 6500 ms
    at 12 s  d.app.get(7)
    expect d.app.view(_, _, 3, ..)  until 9 s
    expect d.app.value(7, 100)
    until 13 s
",
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

/// A cast of so many octets and three, of this number.
fn cast(number: usize, octets: usize) -> String {
    format!("{number:03}{}", "x".repeat(octets))
}

fn casts(count: usize, at: impl Fn(usize) -> String, octets: usize) -> Vec<String> {
    let line = |number| format!("at {}  b.app.send_to(0, 255, \"{}\")", at(number), cast(number, octets));
    (0..count).map(line).collect()
}

/// Sixty casts of a thousand octets at once, of which sixteen may be on their way: the port drops the others.
fn throttled() -> String {
    let mut lines = casts(60, |_| "2 s".to_string(), 997);
    lines.push(format!("expect c.app.deliver_from(_, _, \"{}\")", cast(10, 997)));
    lines.push(format!("expect nothing at c.app.deliver_from(_, _, \"{}\")", cast(40, 997)));
    still("Members / Sync / Flow(128, 16_000) / TotalOrder(depth) / Stable", 128, &lines, 3000)
}

/// What waited for a view goes by the same limit: one cast in each round trip.
fn paced() -> String {
    let mut lines = casts(64, |number| format!("{} us", 1_220_000 + 100 * number), 1000);
    lines.push("partition c from 1 s until 2 s".to_string());
    lines.push(format!("expect a.app.deliver_from(_, _, \"{}\")", cast(1, 1000)));
    lines.push(format!("expect nothing at a.app.deliver_from(_, _, \"{}\")", cast(60, 1000)));
    let text = still("Members / Sync / Flow(128, 2000) / TotalOrder(depth) / Stable", 128, &lines, 2000);
    text.replace("   delay 1 ms }", "   delay 32 ms }")
}

/// Who leaves a view that is not a primary one does not wait for another, though casts wait; nor who leaves as such a view comes.
fn leave_apart(leave: &str) -> String {
    let cast = |number| format!("    at {} us  a.app.send_to(0, 255, \"a{number}\")\n", 1_150_000 + 200 * number);
    let casts: String = (0..400).map(cast).collect();
    let layers = "Members / Sync / Primary(4) / TotalOrder(128) / Stable / Leave / Pt2pt / Mnak(128) / Vsync / Current / Intra / Suspect / Bottom(own)";
    let lines = "    partition a, b from 1 s until 4 s\n    expect a.app.left()  until 3 s\n    until 4 s\n";
    group(layers, 4, "1 ms", &format!("{casts}    at {leave}  a.app.leave()\n{lines}"))
}

/// Round trips of two seconds, five times `every`: three come into one view, and stay there.
fn slow_line() -> String {
    group(
        "Synchronous(own, 64, every: 400 ms)",
        3,
        "1 s",
        "    at 50 s  a.app.send_to(0, 255, \"x\")
    casts app.send_to(_, 255, _)
    delivers app.deliver_from
    views app.view(?v, ..)
    expect casts own, together
    expect c.app.view(_, _, 3, ..)  until 50 s
    expect c.app.deliver_from(_, _, \"x\")
    until 100 s
",
    )
}

/// Two leave at once, of whom one makes views: it made one with itself when it had said that it goes, and of the others one went there and
/// one into that which they made without it. Nobody would be suspected for six seconds.
fn leave_both() -> String {
    let layers =
        "Members / Sync / TotalOrder / Stable / Leave / Mnak / Vsync / Current / Intra / Suspect(1 s) / Bottom(own)";
    group(
        layers,
        4,
        "1 ms",
        "    at 2500 ms  b.app.leave()
    at 2501 ms  a.app.leave()
    expect a.app.left()  until 3 s
    expect b.app.left()  until 3 s
    expect c.app.view(_, _, 2, ..)  until 3 s
    expect d.app.view(_, _, 2, ..)  until 3 s
    until 3500 ms
",
    )
}

const FAULTS: [(&str, Fault); 10] = [
    ("edge", Fault { layer: "mnak", from: " +% ABOVE", to: "", seed: "1", broken: "`expect casts" }),
    (
        "reborn",
        Fault {
            layer: "primary",
            from: "if theirs { known += 1 }",
            to: "known += 1",
            seed: "1",
            broken: "\"by the new\"",
        },
    ),
    (
        "reborn_states",
        Fault {
            layer: "transfer",
            from: "if theirs_last != 0 { known += 1 }",
            to: "known += 1",
            seed: "1",
            broken: "app.value",
        },
    ),
    (
        "windows",
        Fault { layer: "pt2pt", from: "depth - unheard", to: "64 - min(unheard, 64)", seed: "1", broken: "\"behind\"" },
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
        Fault { layer: "sync", from: " or first.size > below.credit_octets {", to: " {", seed: "1", broken: "\"060" },
    ),
    (
        "leave_apart",
        Fault { layer: "sync", from: "        if is_apart { give_up() }\n", to: "", seed: "1", broken: "app.left()" },
    ),
    (
        "leave_ending",
        Fault {
            layer: "sync",
            from: "        if is_apart and leaves and !waiting.is_empty() { later go() or { return } }\n",
            to: "",
            seed: "1",
            broken: "app.left()",
        },
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
