//! What outsiders found in layers of groups: the networks that showed it, and what has to be planted so that they show it again.

use std::fmt::Write;

use super::{faults, judged, of, stacks, still, ORDERED};
use crate::groups::Fault;

pub fn networks() -> [(&'static str, String); 15] {
    [
        ("line", replicas(stacks::KEPT, &PARTED)),
        ("last_primary", replicas("Sync / Transfer(5) / TotalOrder", &LAST_PRIMARY)),
        ("late_view", late_view()),
        ("nobody_came", nobody_came()),
        ("burst", burst()),
        ("leave_by_turns", leave_by_turns()),
        ("leave_alone", leave_alone()),
        ("large", large()),
        ("nobody", nobody()),
        ("granted", granted()),
        ("crossed", crossed()),
        ("frag_by_turns", stacks::frag_over("ByToken(depth)")),
        ("state_at_the_end", state_at_the_end()),
        ("rude", rude()),
        ("shallow", shallow()),
    ]
}

/// The example's store upon these layers.
pub fn store_upon(layers: &str) -> String {
    stacks::store_layers().replace(stacks::KEPT, layers)
}

/// The same, and what happens to it.
fn replicas(layers: &str, lines: &[&str]) -> String {
    let text = store_upon(layers);
    format!("{text}network Net {{\n    {}\n}}\n", lines.join("\n    "))
}

/// Two come in at once while many frames are lost: a view ends while states are told. Its members cast theirs when all had said that they
/// cast nothing more, and no view came any more.
fn state_at_the_end() -> String {
    let lines = [
        "host a = Replica(own: 11)",
        "host b = Replica(own: 12)",
        "host c = Replica(own: 13)",
        "host d = Replica(own: 14)",
        "link lan { a.device, b.device, c.device, d.device   loss 30 %  delay 1 ms .. 10 ms  calm from 4500 ms }",
        "crash a at 100 ms",
        "crash d at 100 ms",
        "restart a(own: 1) at 3 s",
        "restart d(own: 20) at 3 s",
        "at 2 s  b.app.put(1, 1)",
        "at 2100 ms  c.app.put(2, 2)",
        "expect d.app.view(_, _, 4, ..)",
        "until 9 s",
    ];
    replicas(stacks::KEPT, &lines)
}

/// A layer of a user's that casts all the time, also when it has said that it casts no more: others come in nevertheless.
fn rude() -> String {
    const RUDE: &str = "
group Rude {
    speaks Views
    view { timer again }

    on view_begin { start again after 1 ms }
    on expiry again {
        start again after 1 ms
        below.send(message(\"x\"))
    }
    on block() { below.block_ok() }
}
";
    let lines = ["crash c at 2 s", "restart c(own: 4) at 3 s", "expect a.app.view(_, _, 3, 1, 2, 4, ..)"];
    let text = still("Members / Rude / Own / Stable", 128, &lines.map(str::to_string), 5000);
    text.replace("use group\n", &format!("use group\n{RUDE}")).replace("   delay 1 ms }", "   delay 1 ms .. 3 ms }")
}

/// Windows of sixteen: less than what layers keep for their own casts of larger ones.
fn shallow() -> String {
    let mut lines: Vec<String> = Vec::new();
    for number in 0..20 {
        for host in ["a", "b"] {
            lines.push(format!("at {} ms  {host}.app.send_to(0, 255, \"{host}{number}\")", 1000 + 20 * number));
        }
    }
    lines.extend(judged(ORDERED));
    lines.push("expect c.app.deliver_from(_, _, \"b19\")".to_string());
    still("Members / Sync / TotalOrder(depth) / Stable", 16, &lines, 3000)
}

/// The makers of the two views have numbers that differ in their last bit: their states are different all the same.
const PARTED: [&str; 14] = [
    "host a = Replica(own: 2)",
    "host b = Replica(own: 4)",
    "host c = Replica(own: 3)",
    "host d = Replica(own: 5)",
    "link lan { a.device, b.device, c.device, d.device   delay 1 ms }",
    "partition a, b from 2 s until 4 s",
    "at 3 s  a.app.put(7, 111)",
    "at 3 s  c.app.put(7, 222)",
    "at 8 s  a.app.get(7)",
    "at 8 s  c.app.get(7)",
    "expect a.app.value(7, 111)",
    "expect c.app.value(7, 111)",
    "expect a.app.view(_, _, 4, ..)",
    "until 9 s",
];

/// Who is cut off writes more until it suspects the others; the majority has gone on.
const LAST_PRIMARY: [&str; 14] = [
    "host a = Replica(own: 1)",
    "host b = Replica(own: 2)",
    "host c = Replica(own: 3)",
    "host d = Replica(own: 4)",
    "host e = Replica(own: 5)",
    "link lan { a.device, b.device, c.device, d.device, e.device   delay 1 ms }",
    "partition a from 3250 ms until 5 s",
    "at 3300 ms  a.app.put(7, 1)",
    "at 3310 ms  a.app.put(7, 2)",
    "at 3320 ms  a.app.put(7, 3)",
    "at 3600 ms  b.app.put(7, 222)",
    "at 6 s  c.app.get(7)",
    "expect c.app.value(7, 222)",
    "until 7 s",
];

/// A view takes another in, and takes longer than that one waits: it has begun anew, and casts.
fn late_view() -> String {
    let mut lines = [
        "partition a, d from 5 s until 20 s",
        "crash d at 8 s",
        "restart d(own: 9) at 10 s",
        "crash d at 12 s",
        "restart d(own: 10) at 15 s",
    ]
    .map(str::to_string)
    .to_vec();
    lines.extend((0..1200).map(|at| format!("at {} ms  b.app.send_to(0, 255, \"b{at}\")", 19_000 + 5 * at)));
    let text = of("Members / Sync / TotalOrder(depth) / Stable", ORDERED, &[], "100 ms");
    let casts = |line: &&str| !line.trim().starts_with("at ");
    let text: Vec<&str> = text.lines().filter(casts).collect();
    let link = text.iter().position(|line| line.trim().starts_with("link")).unwrap();
    let mut text: Vec<String> = text.into_iter().map(str::to_string).collect();
    text[link] = "    link lan { a.device, b.device, c.device, d.device   delay 100 ms }".to_string();
    text.splice(link + 1..link + 1, lines.iter().map(|line| format!("    {line}")));
    text.join("\n").replace("until 8000 ms", "until 40 s") + "\n"
}

/// Who makes a view is cut off before anybody else comes into it.
fn nobody_came() -> String {
    let hosts = ["a", "b", "c", "d", "e"];
    let mut text = String::from("use group\n\nbundle Tried(own: Member) = Members / Sync / Primary(5) / TotalOrder / Stable / Mnak / Vsync / Current / Intra / Suspect / Bottom(own) encoded compressed\n");
    text += "stack Chat(device: Device, own: Member) {\n    app = Tried(own) over device\n    export app\n}\nnetwork Net {\n";
    for (number, host) in hosts.iter().enumerate() {
        writeln!(text, "    host {host} = Chat(own: {})", number + 1).unwrap();
    }
    text + "    link lan { a.device, b.device, c.device, d.device, e.device   delay 1 ms }
    crash e at 3 s
    partition a from 3179 ms until 4800 ms
    at 3300 ms  a.app.send_to(0, 255, \"a alone\")
    at 3600 ms  b.app.send_to(0, 255, \"b, c, d\")
    expect a.app.view(_, 0, 4, 1, 2, 3, 4, ..)
    expect nothing at a.app.deliver_from(_, _, \"a alone\")
    expect b.app.deliver_from(_, _, \"b, c, d\")
    until 4800 ms\n}\n"
}

/// A layer that takes eight casts at once, and more when one of them has come.
const WINDOW: &str = "
group Window(most: u32) {
    reads origin, dest, loose
    speaks Views
    limit send: most - min(most, out)
    view { var out: u32 = 0 }
    on send(msg) {
        if msg.loose or msg.dest != ALL {
            below.send(msg)
            return
        }
        if out >= most {
            drop msg: beyond_credit
            return
        }
        out += 1
        below.send(msg)
    }
    on deliver(msg) {
        if msg.origin == me {
            out -= 1
            above.grant_sends(1, 0)
        }
        above.deliver(msg)
    }
}
";

/// More casts wait for the next view than a layer takes at once.
fn burst() -> String {
    let mut lines: Vec<String> = vec!["crash c at 2 s".to_string()];
    lines.extend((0..40).map(|number| format!("at 2190 ms  b.app.send_to(0, 255, \"late{number}\")")));
    lines.extend(judged(ORDERED));
    let text = still("Members / Sync / Window(8) / TotalOrder(depth) / Stable", 128, &lines, 6000);
    text.replace("delay 1 ms", "delay 10 ms").replace("bundle Tried", &format!("{WINDOW}\nbundle Tried"))
}

/// What waits for its turn when somebody leaves comes all the same.
fn leave_by_turns() -> String {
    let mut lines: Vec<String> =
        (0..5).map(|number| format!("at 2500 ms  b.app.send_to(0, 255, \"last{number}\")")).collect();
    lines.push("at 2500 ms  b.app.leave()".to_string());
    lines.push("expect b.app.left()".to_string());
    lines.extend((0..5).map(|number| format!("expect a.app.deliver_from(_, _, \"last{number}\")")));
    let text = still("Members / Sync / ByToken(depth) / Stable / Leave", 128, &lines, 5000);
    text.replace("delay 1 ms", "delay 5 ms")
}

/// Who is alone leaves, too.
fn leave_alone() -> String {
    let lines = [
        "at 20 ms  b.app.leave()",
        "expect b.app.left()  1 times  until 50 ms",
        "expect b.app.view(_, _, 2, ..)  0 times",
    ];
    still("Members / Sync / TotalOrder(depth) / Stable / Leave", 128, &lines.map(str::to_string), 2000)
}

/// A cast that no packet holds stops nobody.
fn large() -> String {
    let long = "#".repeat(1600);
    let mut lines = vec![
        format!("at 2 s  b.app.send_to(0, 255, \"{long}\")"),
        "at 2100 ms  b.app.send_to(0, 255, \"behind\")".to_string(),
    ];
    lines.extend(
        ["crash a at 2500 ms", "expect c.app.deliver_from(_, _, \"behind\")", "expect c.app.view(_, _, 2, 2, 3, ..)"]
            .map(str::to_string),
    );
    lines.extend(judged("real, agreed"));
    still("Members / Sync / TotalOrder(depth) / Stable", 128, &lines, 5000)
}

/// A member has the number 0.
fn nobody() -> String {
    let lines = ["expect c.app.view(_, _, 3, 0, 2, 3, ..)".to_string()];
    still("Members / Sync / TotalOrder(depth) / Stable", 128, &lines, 2000).replace("Chat(own: 1)", "Chat(own: 0)")
}

/// Who has no credit hears when a view gives it some.
fn granted() -> String {
    let mut lines = vec!["partition c from 2 s until 4 s".to_string()];
    lines.extend((0..150).map(|number| format!("at 2050 ms  b.app.send_to(0, 255, \"b{number}\")")));
    lines.push("expect b.app.grant_sends_to(96, _)  5 times".to_string());
    still("Members / Sync / Own / Stable", 128, &lines, 6000)
}

/// A member proposes a way while the view ends for another reason.
fn crossed() -> String {
    let text = super::switching::switch();
    let (layers, _) = text.split_once("network ").unwrap();
    format!(
        "{layers}network Net {{
    host a = Chat(own: 1)
    host b = Chat(own: 2)
    host c = Chat(own: 3)
    link lan {{ a.device, b.device, c.device   delay 10 ms }}
    partition c from 2 s until 2790 ms
    at 2165 ms  b.app.use_way(1)
    expect b.app.in_use(1)
    until 2790 ms
}}
"
    )
}

const FAULTS: [(&str, Fault); 14] = [
    ("line", Fault { layer: "transfer", from: "        line = view.id +% 1\n", to: "        line = view.id | 1\n", seed: "1", broken: "app.value" }),
    ("last_primary", Fault { layer: "transfer", from: "let is_newer = theirs_last != 0 and", to: "let is_newer = false and", seed: "1", broken: "app.value" }),
    ("late_view", Fault { layer: "intra", from: " and (follows.ended == view.id or follows.also == view.id) and why != NONE", to: "", seed: "1", broken: "`expect casts" }),
    ("nobody_came", Fault { layer: "primary", from: "        if not are_most(known) and all < of {\n            if all == view.size { above.primary(false) }\n            return\n        }\n", to: "", seed: "1", broken: "\"a alone\"" }),
    ("burst", Fault { layer: "sync", from: "if below.credit == 0 or first.size", to: "if first.size", seed: "1", broken: "`expect casts own`" }),
    ("leave_by_turns", Fault { layer: "token", from: "    on leave() { if unsent.is_empty() { pass } else { leaves = true } }\n", to: "", seed: "1", broken: "\"last" }),
    ("leave_alone", Fault { layer: "leave", from: "        below.retires()  // alone, too\n", to: "", seed: "1", broken: "app." }),
    ("large", Fault { layer: "sync", from: "        if unlikely msg.size > below.mtu {\n            drop msg: too_big\n            return\n        }\n", to: "", seed: "1", broken: "`expect casts" }),
    ("nobody", Fault { layer: "heal", from: "        if !goes_in or first_of", to: "        if into == 0 or first_of", seed: "1", broken: "app.view" }),
    ("granted", Fault { layer: "sync", from: "    on begun() { if is_open and below.credit > 0 { above.grant_sends(below.credit, below.credit_octets) } }\n", to: "    on begun() { }\n", seed: "1", broken: "grant_sends_to" }),
    ("crossed", Fault { layer: "intra", from: "        wanted = next + 1\n        ends_for([], false, wanted)\n", to: "        ends_for([], false, next + 1)\n", seed: "1", broken: "in_use(1)" }),
    ("frag_by_turns", Fault { layer: "token", from: "let behind = min(msg.behind, PIECES - 1)", to: "let behind: u32 = 0", seed: "1", broken: "`expect casts" }),
    ("rude", Fault { layer: "mnak", from: "        if unlikely told_all { drop msg: behind_the_end  return }\n", to: "", seed: "1", broken: "_, 3, 1, 2, 4" }),
    ("shallow", Fault { layer: "mnak", from: "reserve min(SPARE, depth / 2)", to: "reserve SPARE", seed: "1", broken: "\"b19\"" }),
];

#[test]
fn what_outsiders_found_is_found() {
    faults::are_found("found", &FAULTS);
}
