//! The stacks and their networks; what the page says of stacks; the time from a kill to the new view.

use std::fmt::Write;
use std::path::Path;

use super::{judged, of, still, BELOW, ORDERED};
use crate::groups::{sim, Fault, FOUR, WEATHER};

pub fn causal() -> String {
    of("Members / Sync / Own / Causal(depth) / Stable", "real, own, fifo, causal, agreed, together", &FOUR, "30 ms")
}

pub fn token() -> String {
    of("Members / Sync / ByToken(depth) / Stable", ORDERED, &FOUR, "30 ms")
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
pub fn causal_end() -> String {
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
pub fn token_end() -> String {
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
pub fn frag_large() -> String {
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
pub fn frag() -> String {
    frag_over("TotalOrder(depth)")
}

/// The same over an order.
pub fn frag_over(order: &str) -> String {
    let mut text = of(&format!("Members / Sync / Frag(8) / {order} / Stable"), ORDERED, &FOUR, "30 ms");
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
pub fn leave() -> String {
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
pub fn primary() -> String {
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
pub fn pt2pt() -> String {
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

/// How the states of the example are brought to others.
pub const KEPT: &str = "Sync / Transfer(depth: depth) / TotalOrder";

/// The example's layers and stack, without its network.
pub fn store_layers() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store.mok");
    let example = std::fs::read_to_string(file).unwrap();
    example.split_once("/// Who makes the order crashes").unwrap().0.to_string()
}

/// The example, with a network in which all add to the same values, while those who have them crash, come back, and are cut off.
/// What each adds comes everywhere once: it says so itself, by the sums.
pub fn store() -> String {
    let mut text = format!("{}network Net {{\n", store_layers());
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
        ("a", 4300, 5200),
        ("b", 2000, 4200),
        ("b", 5400, 6000),
        ("c", 2000, 6000),
        ("d", 2000, 2600),
        ("d", 4300, 6000),
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
pub fn secure() -> String {
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
pub fn flow() -> String {
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

/// Round trips take 20 ms. One that is killed at this time is out of the view of all others so much later.
fn killed(order: &str, who: &str, at: u32, later: u32) -> String {
    let hosts = ["a", "b", "c", "d"];
    let rest: Vec<usize> = (1..=4).filter(|number| hosts[number - 1] != who).collect();
    let view = format!("view(_, _, 3, {}, {}, {}, ..)", rest[0], rest[1], rest[2]);
    let mut lines = vec![format!("crash {who} at {at} ms")];
    lines.extend(rest.iter().map(|number| format!("expect {}.app.{view}  until {} ms", hosts[number - 1], at + later)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let text = of(&format!("Members / Sync / {order} / Stable"), "real", &lines, "30 ms");
    text.replace(WEATHER, "delay 10 ms").replace("8000 ms", "2500 ms")
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
        let to = "missed[r] >= patience + 2 {";
        let fault = Fault { layer: "suspect", from: "missed[r] >= patience {", to, seed: "1", broken: "" };
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

/// Without `Sync` a view ends when the application has said that it casts no more.
fn answering(text: &str) -> String {
    let answer = |host: &str| format!("    when {host}.app.block  {host}.app.block_ok()\n");
    let answers: String = ["a", "b", "c", "d"].map(answer).concat();
    text.replacen("    casts app", &format!("{answers}    casts app"), 1)
}

/// Each stack of `docs/groups.md` keeps what the page says, breaks what it says that it breaks, or is refused as it says.
#[test]
fn stacks_of_groups_keep_what_the_page_says() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/groups.md")).unwrap();
    let run = |layers: &str, words: &str| {
        let text = of("", words, &FOUR, "30 ms").replace(&format!(" / {BELOW}"), layers);
        let text = text.replace("depth: u32, every: Duration = 30 ms", "_depth: u32");
        let text = if layers.contains(" / Sync / ") { text } else { answering(&text) };
        sim("row", &text, None, &["--seeds", "2"])
    };
    let (_, shown) = page.split_once("```mok\n").unwrap();
    let (is_right, said) = sim("on_the_page", shown.split("```").next().unwrap(), None, &[]);
    assert!(is_right, "{said}");
    let kept = rows(&page, "| stack | keeps | does not keep |");
    assert_eq!(kept.len(), 10);
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
    assert_eq!(refused.len(), 15);
    for (layers, cells) in refused {
        let (is_right, said) = run(&layers, ORDERED);
        assert!(!is_right && said.contains(&format!("error[{}]", &cells[0][..5])), "{layers}: {said}");
    }
}
