//! Layers that a group may have or not: each in a network that says what it promises, in C as in the interpreter, and with faults planted
//! in it that the network must find. Which stacks compose, and what of it each keeps, is the table of `docs/groups.md`.

use std::fmt::Write;
use std::path::Path;

use crate::groups::{FOUR, Fault, network, sim};

/// What is below in each stack here: casts that are reliable, and views.
const BELOW: &str = "Mnak(depth) / Vsync / Current / Intra / Suspect(every) / Bottom(own)";

/// Four hosts of a stack, with what else happens to them and is expected, and which words hold.
fn of(layers: &str, words: &str, lines: &[&str], every: &str) -> String {
    let bundle = format!(
        "bundle Tried(own: Member, depth: u32, every: Duration = {every}) = {layers} / {BELOW} encoded compressed\n"
    );
    let text = network("Net", "Tried", (&["a", "b", "c", "d"], 60), lines, 8000);
    let text = text.replace("use group\n", &format!("use group\n\n{bundle}"));
    text.replace("real, own, fifo, agreed, together", words)
}

const ORDERED: &str = "real, own, fifo, causal, total, agreed, together";

fn causal() -> String {
    of("Members / Sync / Own / Causal(depth) / Stable", "real, own, fifo, causal, agreed, together", &FOUR, "30 ms")
}

fn token() -> String {
    of("Members / Sync / ByToken(depth) / Stable", ORDERED, &FOUR, "30 ms")
}

/// Each third cast needs five packets, and twice many wait for room.
fn frag() -> String {
    let mut text = of("Members / Sync / Frag(8) / TotalOrder(depth) / Stable", ORDERED, &FOUR, "30 ms");
    for host in ["a", "b", "c", "d"] {
        for number in (0..60).step_by(3) {
            text = text.replace(&format!("\"{host}{number}\""), &format!("\"{host}{number}{}\"", ".".repeat(6000)));
        }
    }
    let mut many = String::new();
    for at in [1290, 1480] {
        for host in ["b", "c", "d"] {
            for number in 0..20 {
                let long = "#".repeat(9000);
                writeln!(many, "    at {at} ms  {host}.app.send_to(0, 255, \"{host}{at}x{number}{long}\")").unwrap();
            }
        }
    }
    text.replace("    casts app", &format!("{many}    casts app"))
}

/// Nobody would be suspected for six seconds: so whoever is out of a view has left it.
fn leave() -> String {
    let lines = [
        "at 2500 ms  b.app.send_to(0, 255, \"last of b\")",
        "at 2500 ms  b.app.leave()",
        "expect b.app.left()  until 3 s",
        "expect c.app.deliver_from(_, _, \"last of b\")",
        "expect d.app.deliver_from(_, _, \"last of b\")",
        "at 2502 ms  a.app.leave()",
        "expect a.app.left()  until 3 s",
        "expect c.app.view(_, _, 2, ..)  until 3 s",
        "expect c.app.view(_, _, 4, ..)  1 times",
    ];
    let words = ORDERED.replace(", together", "");
    of("Members / Sync / TotalOrder(depth) / Stable / Leave", &words, &lines, "1 s")
}

/// Two times two hosts, of which neither pair may cast; then three and one.
fn primary() -> String {
    let lines = [
        "partition a, b from 1300 ms until 3 s",
        "partition d from 4 s until 5 s",
        "at 2 s  a.app.send_to(0, 255, \"a alone\")",
        "at 2 s  c.app.send_to(0, 255, \"c alone\")",
        "at 4500 ms  d.app.send_to(0, 255, \"d alone\")",
        "at 4500 ms  a.app.send_to(0, 255, \"a with most\")",
        "expect nothing at a.app.deliver_from(_, _, \"a alone\")",
        "expect nothing at c.app.deliver_from(_, _, \"c alone\")",
        "expect nothing at d.app.deliver_from(_, _, \"d alone\")",
        "expect b.app.deliver_from(_, _, \"a with most\")  1 times",
        "expect d.app.primary(false)  until 4500 ms",
        "expect a.app.primary(true)",
    ];
    of("Members / Sync / Primary(4) / TotalOrder(depth) / Stable", ORDERED, &lines, "30 ms")
}

/// An application that names members, as ranks are others in other views.
const PERSONS: &str = "
router Persons {
    address { member: Member }
    reads origin, dest
    writes dest
    speaks Views
    on send(msg) to flow {
        for r in view { if view.members[r] == flow.remote.member { msg.dest = r as u8 } }
        if msg.dest == ALL { drop msg: gone } else { below.send(msg) to flow() }
    }
    on deliver(msg) { above.deliver(msg) from flow(local: view.members[me], remote: view.members[msg.origin]) }
}
";

/// Each sends to each, until one leaves: what the others sent before comes all the same.
fn pt2pt() -> String {
    let mut lines = vec!["at 2 s  d.app.leave()".to_string(), "expect a.app.view(_, _, 3, ..)  until 2500 ms".to_string()];
    for (by, host) in ["a", "b", "c"].iter().enumerate() {
        for number in 0..30 {
            for (to, other) in ["a", "b", "c"].iter().enumerate().filter(|(to, _)| *to != by) {
                let at = 1700 + 10 * number + by;
                let said = format!("\"{host}{other}{number}\"");
                lines.push(format!("at {at} ms  {host}.app.send_to(0, {}, {said})", to + 1));
                lines.push(format!("expect {other}.app.deliver_from(_, {}, {said})  1 times", by + 1));
            }
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let text = of("Persons / Sync / TotalOrder(depth) / Stable / Leave / Pt2pt", "real, fifo", &lines, "30 ms");
    let cast = |line: &&str| !line.contains("send_to(0, 255,");
    let text: Vec<&str> = text.lines().filter(cast).collect();
    let text = text.join("\n").replace("bundle Tried", &format!("{PERSONS}\nbundle Tried"));
    text.replace("casts app.send_to(_, 255, _)", "casts app.send_to(..)") + "\n"
}

/// The example, with a network in which all add to the same values, while those who have them crash, come back, and are cut off.
/// What each adds comes everywhere once: it says so itself, by the sums.
fn store() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store.mok");
    let example = std::fs::read_to_string(file).unwrap();
    let (layers, _) = example.split_once("/// Who makes the order crashes").unwrap();
    let mut text = format!("{layers}network Net {{\n");
    for (number, host) in ["a", "b", "c", "d"].iter().enumerate() {
        writeln!(text, "    host {host} = Replica(own: {})", number + 1).unwrap();
    }
    text += "    link lan { a.device, b.device, c.device, d.device   loss 10 %  duplicate 5 %  reorder 20 %  delay 1 ms .. 3 ms }
    partition d from 2800 ms until 3200 ms
    crash a at 3 s
    restart a(own: 17) at 3400 ms
    crash b at 4500 ms
    restart b(own: 18) at 4700 ms\n";
    let mut random = 12_345_u64;
    let mut sums = [0_u64; 4];
    let spans = [
        ("a", 2000, 2600),
        ("a", 4100, 5200),
        ("b", 2000, 4200),
        ("b", 5400, 6000),
        ("c", 2000, 6000),
        ("d", 2000, 2600),
        ("d", 3900, 6000),
    ];
    for (host, from, upto) in spans {
        let mut at = from;
        while at < upto {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (key, value) = ((random >> 40) as usize % 4, random >> 50);
            sums[key] += value;
            writeln!(text, "    at {at} ms  {host}.app.add({key}, {value})").unwrap();
            at += 10 + (random >> 33) % 30;
        }
    }
    for host in ["a", "b", "c", "d"] {
        for (key, sum) in sums.iter().enumerate() {
            writeln!(text, "    at 8 s  {host}.app.get({key})").unwrap();
            writeln!(text, "    expect {host}.app.value({key}, {sum})").unwrap();
        }
    }
    text + "    until 8500 ms\n}\n"
}

fn networks() -> [(&'static str, String); 7] {
    [
        ("causal", causal()),
        ("token", token()),
        ("frag", frag()),
        ("leave", leave()),
        ("primary", primary()),
        ("pt2pt", pt2pt()),
        ("transfer", store()),
    ]
}

#[test]
fn layers_of_groups_keep_what_they_promise() {
    for (layer, text) in networks() {
        let (is_right, said) = sim(&format!("layer_{layer}"), &text, None, &["--seeds", "4"]);
        assert!(is_right, "{layer}: {said}");
    }
}

#[test]
fn layers_of_groups_in_c_do_the_same() {
    for (layer, text) in networks() {
        let log = |backend| sim(&format!("in_c_{layer}"), &text, None, &["--seed", "3", "--log", "--backend", backend]);
        let (reference, in_c) = (log("interpreter"), log("c"));
        assert!(reference.0 && in_c.0, "{layer}: {}", in_c.1);
        assert!(reference.1 == in_c.1, "{layer}: the logs differ");
    }
}

#[test]
#[ignore = "campaign: groups"]
fn layers_of_groups_keep_what_they_promise_for_long() {
    let seeds = std::env::var("MOKUME_SEEDS").unwrap_or("300".to_string());
    for (layer, text) in networks() {
        let (is_right, said) = sim(&format!("long_{layer}"), &text, None, &["--seeds", &seeds]);
        assert!(is_right, "{layer}: {said}");
    }
}
