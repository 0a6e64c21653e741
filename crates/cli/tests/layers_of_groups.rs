//! Layers that a group may have or not: each in a network that says what it promises, in C as in the interpreter, and with faults planted
//! in it that the network must find. Which stacks compose, and what of it each keeps, is the table of `docs/groups.md`.

use std::fmt::Write;
use std::path::Path;

use crate::groups::{network, sim, Fault, FOUR};

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
    let mut lines =
        vec!["at 2 s  d.app.leave()".to_string(), "expect a.app.view(_, _, 3, ..)  until 2500 ms".to_string()];
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

fn networks() -> [(&'static str, String); 9] {
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
const FAULTS: [(&str, Fault); 26] = [
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
            from: "                below.send(m)\n",
            to: "                drop m: lost\n",
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
