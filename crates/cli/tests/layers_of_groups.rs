//! Layers that a group may have or not: each in a network that says what it promises, in C as in the interpreter, and with faults planted
//! in it that the network must find. Which stacks compose, and what of it each keeps, is the table of `docs/groups.md`.

use std::fmt::Write;
use std::path::Path;

use crate::groups::{network, planted, sim, Fault, FOUR};

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

/// Three hosts of a stack on a line that loses nothing, and what happens there.
fn still(layers: &str, depth: u32, lines: &[String], until: u32) -> String {
    let text = of(layers, "", &[], "30 ms");
    let kept =
        |line: &&str| !["at ", "casts", "delivers", "views", "expect"].iter().any(|word| line.trim().starts_with(word));
    let text: Vec<&str> = text.lines().filter(kept).collect();
    let text = text.join("\n").replace("    host d = Chat(own: 4)\n", "").replace(", d.device", "");
    let text = text.replace("own, 128", &format!("own, {depth}"));
    let text = text.replace("loss 20 %  duplicate 5 %  reorder 20 %  delay 1 ms .. 3 ms", "delay 1 ms");
    text.replace("    until 8000 ms", &format!("    {}\n    until {until} ms", lines.join("\n    "))) + "\n"
}

/// What a network says of all casts.
fn judged(words: &str) -> [String; 4] {
    let patterns = ["casts app.send_to(_, 255, _)", "delivers app.deliver_from", "views app.view(?v, ..)"];
    let [casts, delivers, views] = patterns.map(str::to_string);
    [casts, delivers, views, format!("expect casts {words}")]
}

/// Of two casts the second alone comes to who goes on alone: it is not delivered, as what it stands behind never comes.
fn without_the_first(layers: &str, lines: [&str; 5]) -> String {
    let seen = [
        "expect b.app.deliver_from(_, _, \"second\")",
        "expect c.app.view(_, _, 1, 3, ..)  until 2500 ms",
        "expect nothing at c.app.deliver_from",
    ];
    let lines: Vec<String> = lines.iter().chain(&seen).map(|line| line.to_string()).collect();
    still(layers, 128, &lines, 3000)
}

/// `b` has heard the first when it casts the second; `c` has not, and nobody is left to ask.
fn causal_end() -> String {
    let lines = [
        "partition c from 2 s until 2010 ms",
        "at 2005 ms  a.app.send_to(0, 255, \"first\")",
        "crash a at 2009 ms",
        "at 2011 ms  b.app.send_to(0, 255, \"second\")",
        "crash b at 2012500 us",
    ];
    without_the_first("Members / Sync / Own / Causal(depth) / Stable", lines)
}

/// `c` does not hear that `b` has the token.
fn token_end() -> String {
    let lines = [
        "partition c from 2 s until 2007500 us",
        "at 2003 ms  a.app.send_to(0, 255, \"first\")",
        "at 2006 ms  b.app.send_to(0, 255, \"second\")",
        "crash a at 2007600 us",
        "crash b at 2008500 us",
    ];
    without_the_first("Members / Sync / ByToken(depth) / Stable", lines)
}

/// Casts of 45 pieces on a slow line, more than a window has room for, while a view ends as one comes in.
fn frag_large() -> String {
    let mut lines = vec!["partition c from 1 s until 2 s".to_string()];
    let long = "#".repeat(64_600);
    for number in 0..30 {
        for (later, host) in ["a", "b"].iter().enumerate() {
            let at = 1900 + 20 * number + later;
            lines.push(format!("at {at} ms  {host}.app.send_to(0, 255, \"{host}{number}{long}\")"));
        }
    }
    lines.extend(judged(ORDERED));
    let text = still("Members / Sync / Frag(48) / TotalOrder(depth) / Stable", 128, &lines, 8000);
    text.replace("   delay 1 ms }", "   delay 20 ms .. 25 ms }")
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

/// Each sends to each, until one leaves: what the others sent before comes all the same. What is on its way to one who crashes then
/// keeps nobody.
fn pt2pt() -> String {
    let mut lines =
        vec!["at 2 s  d.app.leave()".to_string(), "expect a.app.view(_, _, 3, ..)  until 2500 ms".to_string()];
    lines.extend((0..5).map(|number| format!("at {} ms  a.app.send_to(0, 3, \"late{number}\")", 2990 + 5 * number)));
    lines.extend(["crash c at 3 s", "expect a.app.view(_, _, 2, 1, 2, ..)  until 4 s"].map(str::to_string));
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

/// Among bad lines, on which every tenth frame has a bit turned, and a stranger with another key.
fn secure() -> String {
    let lines = [&FOUR[..], &["expect e.app.view(_, _, 2, ..)  0 times"]].concat();
    let words = ORDERED.replace(", together", "");
    let text = of("Members / Sync / TotalOrder(depth) / Stable", &words, &lines, "30 ms");
    let keys = "use thin

const OURS: Key256 = Key256 { first: 1, second: 2, third: 3, fourth: 4 }
const OTHER: Key256 = Key256 { first: 1, second: 2, third: 3, fourth: 5 }
stack Stranger(device: Device, own: Member) {
    app = Tried(OTHER, own, 128) over device
    export app
}
bundle Tried(key: Key256, own: Member";
    text.replace("bundle Tried(own: Member", keys)
        .replace("/ Bottom(own)", "/ Secure(key, own) / Bottom(own)")
        .replace("= Tried(own, 128)", "= Tried(OURS, own, 128)")
        .replace("    link lan { ", "    host e = Stranger(own: 9)\n    link lan { e.device, ")
        .replace("loss 20 %", "loss 10 %  corrupt 10 %")
}

/// Twice sixty casts of a thousand octets at once, of which 16,000 octets may be on their way.
fn flow() -> String {
    let text = of("Members / Sync / Flow(128, 16_000) / TotalOrder(depth) / Stable", ORDERED, &[], "30 ms");
    let mut many = String::new();
    for at in [3, 4] {
        for number in 0..60 {
            let long = "#".repeat(994);
            writeln!(many, "    at {at} s  b.app.send_to(0, 255, \"x{at}x{number:03}{long}\")").unwrap();
        }
    }
    text.replace("    casts app", &format!("{many}    casts app"))
}

/// Three ways, of which one has total order. Members propose another one while all cast, and two at once propose different ones.
fn switch() -> String {
    let lines = [
        "at 1080 ms  a.app.use_way(1)",
        "expect a.app.in_use(1)  until 1500 ms",
        "at 1450 ms  b.app.use_way(0)",
        "at 4 s  a.app.use_way(1)",
        "at 4 s  d.app.use_way(2)",
        "expect a.app.in_use(2)  until 4500 ms",
        "expect b.app.in_use(2)  until 4500 ms",
        "expect c.app.in_use(2)  until 4500 ms",
        "expect d.app.in_use(2)  until 4500 ms",
        "at 5 s  b.app.use_way(3)",
        "expect nothing at b.app.in_use(3)",
    ];
    let words = "real, own, fifo, causal, agreed, together";
    let text = of("Stable", words, &[&FOUR[..], &lines].concat(), "30 ms");
    let ways = "bundle Above = Members / Sync / Choose
bundle First = Own / Causal(128)
bundle Tried";
    text.replacen("bundle Tried", ways, 1).replace(
        "    app = Tried(own, 128) over device\n",
        "    app = Above over (first, second, third)
    first = First over ways[way: 0]
    second = TotalOrder(128) over ways[way: 1]
    third = Own over ways[way: 2]
    ways = Ways(3) over base
    base = Tried(own, 128) over device\n",
    )
}

fn networks() -> [(&'static str, String); 13] {
    [
        ("causal", causal()),
        ("token", token()),
        ("frag", frag()),
        ("leave", leave()),
        ("primary", primary()),
        ("pt2pt", pt2pt()),
        ("transfer", store()),
        ("secure", secure()),
        ("flow", flow()),
        ("switch", switch()),
        ("causal_end", causal_end()),
        ("token_end", token_end()),
        ("frag_large", frag_large()),
    ]
}

#[test]
fn layers_of_groups_keep_what_they_promise() {
    for (layer, text) in networks() {
        let (is_right, said) = sim(&format!("layer_{layer}"), &text, None, &["--seeds", "3"]);
        assert!(is_right, "{layer}: {said}");
    }
}

/// The logs of the interpreter and of C are equal.
fn in_c(layer: &str, text: &str) {
    let log = |backend| sim(&format!("in_c_{layer}"), text, None, &["--seed", "3", "--log", "--backend", backend]);
    let (reference, in_c) = (log("interpreter"), log("c"));
    assert!(reference.0 && in_c.0, "{layer}: {}", in_c.1);
    assert!(reference.1 == in_c.1, "{layer}: the logs differ");
}

#[test]
fn layers_of_groups_in_c_do_the_same() {
    in_c("transfer", &store());
}

#[test]
#[ignore = "campaign: groups"]
fn all_layers_of_groups_in_c_do_the_same() {
    networks().iter().for_each(|(layer, text)| in_c(layer, text));
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

/// A fault in a layer, and the network that must find it.
const FAULTS: [(&str, Fault); 38] = [
    // Casts come up at a view's end though their causes never do.
    (
        "causal_end",
        Fault {
            layer: "causal",
            from: "{ drop m: no_cause }",
            to: "{ above.deliver(m) }",
            seed: "1",
            broken: "c.app.deliver_from",
        },
    ),
    // … or though their turn never came.
    (
        "token_end",
        Fault {
            layer: "token",
            from: "{ drop m: no_turn }",
            to: "{ above.deliver(m) }",
            seed: "1",
            broken: "c.app.deliver_from",
        },
    ),
    // A cast goes though there is no room for all its pieces.
    (
        "frag_large",
        Fault {
            layer: "frag",
            from: "return !blocked and below.credit > SPARE + (max(octets, 1) - 1) / largest()",
            to: "return !blocked",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // … or though the view ends.
    (
        "frag_large",
        Fault { layer: "frag", from: "return !blocked and", to: "return", seed: "2", broken: "`expect casts agreed`" },
    ),
    // The end of a view waits for one who has failed.
    (
        "pt2pt",
        Fault { layer: "pt2pt", from: "not (r in failed) and Peer", to: "Peer", seed: "3", broken: "_, 2, 1, 2" },
    ),
    // The view begins when the first of the ways says so: another may still bring what was cast before.
    (
        "switch",
        Fault {
            layer: "switch",
            from: "        if views < below.count { return }\n        views = 0\n",
            to: "        if views != 1 {\n            views = 0\n            return\n        }\n",
            seed: "1",
            broken: "`expect casts agreed`",
        },
    ),
    // Those who hear of the next view do not take its way.
    (
        "switch",
        Fault {
            layer: "intra",
            from: "        if next != choice { above",
            to: "        if next != choice and me == 0 { above",
            seed: "1",
            broken: "in_use(2)",
        },
    ),
    // What a member proposes the others do not hear.
    (
        "switch",
        Fault {
            layer: "intra",
            from: "choice: max(why.choice, next) }",
            to: "choice: why.choice }",
            seed: "1",
            broken: "in_use(1)",
        },
    ),
    // The next view is as this one.
    (
        "switch",
        Fault {
            layer: "intra",
            from: "let next = if why.choice == 0 { choice } else { why.choice - 1 }",
            to: "let next = choice",
            seed: "1",
            broken: "in_use(1)",
        },
    ),
    // Who tells what it has does not say for which end of the view.
    (
        "switch",
        Fault {
            layer: "vsync",
            from: "End { failed, merges, choice }",
            to: "End { failed, merges, choice: 0 }",
            seed: "1",
            broken: "in_use(1)",
        },
    ),
    // The way stays.
    ("switch", Fault { layer: "switch", from: "        using = next\n", to: "", seed: "1", broken: "in_use(1)" }),
    // A way that there is not.
    (
        "switch",
        Fault {
            layer: "switch",
            from: "if way < below.count as u8 { below.choose(way) }",
            to: "below.choose(way)",
            seed: "1",
            broken: "in_use(3)",
        },
    ),
    // Nothing is waited for.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "        for i in 0 .. after.length limit MOST { if after[i] > heard[i] { return false } }\n",
            to: "",
            seed: "1",
            broken: "`expect casts causal`",
        },
    ),
    // What was delivered since the last cast is not said.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "        is_said = false\n",
            to: "",
            seed: "1",
            broken: "`expect casts causal`",
        },
    ),
    // What may come overtakes what waits.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "f.waiting.is_empty() and may_come(after)",
            to: "may_come(after)",
            seed: "1",
            broken: "`expect casts fifo`",
        },
    ),
    // Whose turn it is does not count.
    (
        "token",
        Fault {
            layer: "token",
            from: "        if likely r == holder and f.waiting.is_empty() {",
            to: "        if likely f.waiting.is_empty() {",
            seed: "2",
            broken: "`expect casts total`",
        },
    ),
    // The token is taken for a cast.
    (
        "token",
        Fault {
            layer: "token",
            from: "        bring(next, r, heir)\n        return true",
            to: "        bring(next, r, STAYS)\n        return true",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // Casts go on when the view ends.
    (
        "token",
        Fault {
            layer: "token",
            from: "        if blocked or holder != me { return }",
            to: "        if holder != me { return }",
            seed: "2",
            broken: "`expect casts agreed`",
        },
    ),
    // The last piece is taken for a whole.
    (
        "frag",
        Fault {
            layer: "frag",
            from: "        below.send(msg, Last)",
            to: "        below.send(msg)",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // Two pieces are taken for a whole.
    (
        "frag",
        Fault {
            layer: "frag",
            from: "            f.front.put(0, all)\n            return",
            to: "            above.deliver(all)\n            return",
            seed: "1",
            broken: "`expect casts own`",
        },
    ),
    // Who leaves does not wait for others to have its casts.
    (
        "leave",
        Fault {
            layer: "leave",
            from: "        if everywhere < made { return }\n",
            to: "",
            seed: "4",
            broken: "\"last of b\"",
        },
    ),
    // Who leaves stays in its view.
    (
        "leave",
        Fault { layer: "leave", from: "        below.goes(others)\n", to: "", seed: "1", broken: "b.app.left()" },
    ),
    // Nobody is told.
    (
        "leave",
        Fault {
            layer: "leave",
            from: "            below.send(Bye, loose: true)\n",
            to: "",
            seed: "2",
            broken: "c.app.view(_, _, 2",
        },
    ),
    // Who has left comes in again.
    ("leave", Fault { layer: "intra", from: " and !gone", to: "", seed: "10", broken: "c.app.view(_, _, 4" }),
    // Half is enough.
    (
        "primary",
        Fault {
            layer: "primary",
            from: "view.size > of / 2",
            to: "view.size >= of / 2",
            seed: "1",
            broken: "\"a alone\"",
        },
    ),
    // What waited for a primary view is lost.
    (
        "primary",
        Fault {
            layer: "primary",
            from: "{ below.send(m) }",
            to: "{ drop m: lost }",
            seed: "1",
            broken: "`expect casts own`",
        },
    ),
    // A view ends before all has come.
    (
        "pt2pt",
        Fault {
            layer: "pt2pt",
            from: "if not (r in failed) and Peer[r].sent.size() > 0 { return }",
            to: "if false { return }",
            seed: "2",
            broken: "it came never",
        },
    ),
    // … as nobody waits for `block_ok`.
    (
        "pt2pt",
        Fault {
            layer: "mnak",
            from: "if unlikely told_all { below.have(have()) }",
            to: "if unlikely ending { below.have(have()) }",
            seed: "2",
            broken: "it came never",
        },
    ),
    // Gaps are passed over.
    (
        "pt2pt",
        Fault {
            layer: "pt2pt",
            from: "        if likely seq == p.upto {",
            to: "        if likely seq >= p.upto {",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // It is sent again once.
    (
        "pt2pt",
        Fault {
            layer: "pt2pt",
            from: "            if sent.size() > 0 { start again after patience }",
            to: "",
            seed: "2",
            broken: "it came never",
        },
    ),
    // Whose state it is, is asked when it is another already.
    (
        "transfer",
        Fault {
            layer: "transfer",
            from: "        is_current = source == me or line == best and line != 0\n        if !differ { settle() }\n",
            to: "        if !differ { settle() }\n        is_current = source == me or line == best and line != 0\n",
            seed: "1",
            broken: "app.value",
        },
    ),
    // What is in the state comes again.
    (
        "transfer",
        Fault {
            layer: "transfer",
            from: "        if is_current { wake() } else { forget() }",
            to: "        wake()",
            seed: "1",
            broken: "app.value",
        },
    ),
    // Casts go up before the state.
    (
        "transfer",
        Fault {
            layer: "transfer",
            from: "        if likely settled and held.is_empty() {",
            to: "        if likely held.is_empty() {",
            seed: "2",
            broken: "app.value",
        },
    ),
    // The state of those who have heard least is taken.
    (
        "transfer",
        Fault {
            layer: "transfer",
            from: "told == [] or count > most or",
            to: "told == [] or count < most or",
            seed: "1",
            broken: "app.value",
        },
    ),
    // What does not open comes up all the same.
    (
        "secure",
        Fault {
            layer: "secure",
            from: "bound(id, by, dest), 0, 8, msg) {\n            drop msg: forged",
            to: "bound(id, by, dest), 0, 8, msg) and false {\n            drop msg: forged",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // The key of a view is not made of the group's.
    (
        "secure",
        Fault {
            layer: "secure",
            from: "first: stream.u64be(0), second: stream.u64be(8), third: stream.u64be(16), fourth: stream.u64be(24)",
            to: "first: 0, second: 0, third: 0, fourth: 0",
            seed: "1",
            broken: "e.app.view(_, _, 2",
        },
    ),
    // Copies are not known.
    ("secure", Fault { layer: "secure", from: "            f.beyond = counter + 1\n", to: "", seed: "1", broken: "" }),
    // What was taken is not heard of.
    (
        "flow",
        Fault {
            layer: "flow",
            from: "        p.taken_octets = max(p.taken_octets, taken_octets)\n",
            to: "",
            seed: "1",
            broken: "",
        },
    ),
];

/// What a run tells where no word is broken: so many copies, so many casts beyond the credit.
const TOLD: [(&str, &str); 2] = [("secure", "app.Secure.replayed"), ("flow", "88  app.application.no_credit")];

#[test]
fn faults_planted_in_layers_of_groups_are_found() {
    let networks = networks();
    for (name, told) in TOLD {
        let (_, text) = networks.iter().find(|(layer, _)| *layer == name).unwrap();
        let (is_right, said) = sim(&format!("told_{name}"), text, None, &["--seed", "1"]);
        assert!(is_right && said.contains(told), "{name}: {said}");
    }
    for (at, (name, fault)) in FAULTS.iter().enumerate() {
        let (_, text) = networks.iter().find(|(layer, _)| layer == name).unwrap();
        let (is_right, said) = sim(&format!("layer_fault{at}"), text, Some(fault), &["--seed", fault.seed]);
        let told = TOLD.iter().find(|(layer, _)| layer == name).map(|(_, told)| *told);
        let is_found = match fault.broken {
            "" => !said.contains(told.unwrap()),
            broken => !is_right && said.contains(broken),
        };
        assert!(is_found && !said.contains("error["), "{name}, {}: {said}", fault.from);
    }
}

/// Faults that show in no network, as others keep from what they allow, or as nobody there forges frames: `tests/library` finds them.
const FAULTS_OF_TESTS: [Fault; 7] = [
    // In a view that ends before all have told, states may become different, and are taken for the same in the next.
    Fault {
        layer: "transfer",
        from: "        if line != 0 { line = line *% 0x0100_0193 +% view.id | 1 }\n",
        to: "",
        seed: "",
        broken: "by another number in each view",
    },
    // What comes by a way that is not in use goes up.
    Fault {
        layer: "switch",
        from: "if flow.way == using {",
        to: "if flow.way == using or msg.size > 0 {",
        seed: "",
        broken: "of two ways one is in use",
    },
    // A view ends when one of the ways has ended.
    Fault {
        layer: "switch",
        from: "        if ready < ways { return }\n",
        to: "",
        seed: "",
        broken: "of two ways one is in use",
    },
    // An application hears of the view's end by each way.
    Fault {
        layer: "switch",
        from: "        if blocks < below.count { return }\n",
        to: "",
        seed: "",
        broken: "of two ways one is in use",
    },
    // More comes up than may wait: in a network others wait for the token, too, and cast no more.
    Fault { layer: "token", from: "{ hold_back(full | [r]) }", to: "{ }", seed: "", broken: "so much waits" },
    // Who has the token and nothing to cast does not hear that another wants it.
    Fault { layer: "token", from: "        if holder == me { wake() }\n", to: "", seed: "", broken: "so much waits" },
    // What was sealed by nobody, of another view, goes up as it is.
    Fault {
        layer: "secure",
        from: "if id != view.id and chacha20_poly1305_open(key_of(id), by, counter, bound(id, by, dest), 0, 8, msg) {",
        to: "if id != view.id {",
        seed: "",
        broken: "what does not open is not heard",
    },
    // Not found by anything: without `id != view.id` an old frame of this view comes up again as one of another view. Frames of other
    // views may come again in any case, and what `Intra` hears in them it asks for or checks by their numbers.
];

#[test]
fn faults_planted_in_layers_of_groups_are_found_by_tests_of_the_library() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/library/group_layers.mok");
    let text = std::fs::read_to_string(file).unwrap();
    let tested = |folder: &str, fault: &Fault| {
        let folder = planted(folder, &text, Some(fault));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mokume"));
        command.args(["test", "group.mok", "--backend", "interpreter", "--filter", fault.broken]).current_dir(folder);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (at, fault) in FAULTS_OF_TESTS.iter().enumerate() {
        let (is_right, said) = tested(&format!("test_fault{at}"), fault);
        assert!(!is_right && said.contains(fault.broken), "{}: {said}", fault.from);
        let none = Fault { to: fault.from, ..*fault };
        let (is_right, said) = tested(&format!("test_no_fault{at}"), &none);
        assert!(is_right, "{said}");
    }
}

/// Round trips take 20 ms. One that is killed at this time is out of the view of all others so much later.
fn killed(order: &str, who: &str, at: u32, later: u32) -> String {
    let hosts = ["a", "b", "c", "d"];
    let rest: Vec<usize> = (1..=4).filter(|number| hosts[number - 1] != who).collect();
    let view = format!("view(_, _, 3, {}, {}, {}, ..)", rest[0], rest[1], rest[2]);
    let mut lines = vec![format!("crash {who} at {at} ms")];
    lines.extend(rest.iter().map(|number| format!("expect {}.app.{view}  until {} ms", hosts[number - 1], at + later)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let text = of(&format!("Members / Sync / {order} / Stable"), "real", &lines, "30 ms");
    text.replace("loss 20 %  duplicate 5 %  reorder 20 %  delay 1 ms .. 3 ms", "delay 10 ms")
        .replace("8000 ms", "2500 ms")
}

/// From the kill to the new view: at most the suspicion time, six times 30 ms, and three round trips. The first member makes views, and
/// says the order of `TotalOrder`; all cast meanwhile.
#[test]
fn a_new_view_comes_within_three_round_trips() {
    const MOST: u32 = 6 * 30 + 3 * 20;
    // One that makes nothing; the coordinator, who is the sequencer, too; the coordinator where a token goes round.
    for (at, (order, who)) in
        [("TotalOrder(depth)", "b"), ("TotalOrder(depth)", "a"), ("ByToken(depth)", "a")].iter().enumerate()
    {
        for phase in 0..3 {
            let text = killed(order, who, 1500 + 10 * phase, MOST);
            let (is_right, said) = sim(&format!("killed{at}"), &text, None, &["--seed", "1"]);
            assert!(is_right, "{order}, {who}: {said}");
        }
        // It is not there before anybody may be suspected, nor in time if who is silent is suspected later.
        let (is_right, said) = sim(&format!("killed{at}"), &killed(order, who, 1500, 150), None, &["--seed", "1"]);
        assert!(!is_right && said.contains("_, 3, "), "{said}");
        let to = "missed[r] > patience + 2 {";
        let fault = Fault { layer: "suspect", from: "missed[r] > patience {", to, seed: "1", broken: "" };
        let text = killed(order, who, 1500, MOST);
        let (is_right, said) = sim(&format!("killed_late{at}"), &text, Some(&fault), &["--seed", "1"]);
        assert!(!is_right && said.contains("_, 3, "), "{said}");
    }
}

/// The rows of a table of the page: what stands in back quotes, and the other cells.
fn rows(page: &str, head: &str) -> Vec<(String, Vec<String>)> {
    let (_, table) = page.split_once(head).expect("the table is on the page");
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_string());
        let stack = cells.next().unwrap().split('`').nth(1).unwrap().to_string();
        (stack, cells.collect())
    };
    lines.map(row).collect()
}

/// Each stack of `docs/groups.md` keeps what the page says, breaks what it says that it breaks, or is refused as it says.
#[test]
fn stacks_of_groups_keep_what_the_page_says() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/groups.md")).unwrap();
    let run = |layers: &str, words: &str| {
        let text = of("", words, &FOUR, "30 ms").replace(&format!(" / {BELOW}"), layers);
        let text = text.replace("depth: u32, every: Duration = 30 ms", "_depth: u32");
        sim("row", &text, None, &["--seeds", "2"])
    };
    let (_, shown) = page.split_once("```mok\n").unwrap();
    let (is_right, said) = sim("on_the_page", shown.split("```").next().unwrap(), None, &[]);
    assert!(is_right, "{said}");
    let kept = rows(&page, "| stack | keeps | does not keep |");
    assert_eq!(kept.len(), 11);
    for (layers, cells) in kept {
        let (is_right, said) = run(&layers, &cells[0]);
        assert!(is_right, "{layers} keeps {}: {said}", cells[0]);
        if cells[1].is_empty() {
            continue;
        }
        let (_, said) = run(&layers, &cells[1]);
        for word in cells[1].split(", ") {
            assert!(said.contains(&format!("`expect casts {word}`")), "{layers} does not keep {word}: {said}");
        }
    }
    let refused = rows(&page, "| stack | |");
    assert_eq!(refused.len(), 5);
    for (layers, cells) in refused {
        let (is_right, said) = run(&layers, ORDERED);
        assert!(!is_right && said.contains(&format!("error[{}]", &cells[0][..5])), "{layers}: {said}");
    }
}
