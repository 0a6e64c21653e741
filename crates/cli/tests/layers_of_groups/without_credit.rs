//! A layer that casts more than there is credit for, and does not look: what is not cast nobody hears, not even who wanted to cast it. And layers
//! of groups that find too little.

use super::faults;
use super::found_again::{group, lan};
use super::{judged, ORDERED};
use crate::groups::Fault;

pub fn networks() -> [(&'static str, String); 8] {
    [
        (
            "burst_sync",
            burst("Sync / TotalOrder(8) / Stable", "    expect a.app.total(200703)\n    expect b.app.total(200703)\n"),
        ),
        ("burst_total", burst("TotalOrder(8) / Stable", FIRST_EIGHT)),
        ("burst_own", burst("Own / Stable", FIRST_EIGHT)),
        // What the other casts makes the next say what is behind it.
        ("burst_causal", burst("Causal(8) / Stable", "    at 1500 ms  a.app.add(1)\n    expect a.app.total(196863)\n")),
        ("burst_flow", burst("Flow(4) / TotalOrder(8) / Stable", FIRST_EIGHT)),
        ("long_casts", long_casts()),
        ("receipts", receipts()),
        ("burst_leave", burst("Stable / Leave", "    at 3500 ms  b.app.leave()\n    expect b.app.left()\n")),
    ]
}

/// A window has eight places; the two casts that come later find room.
const FIRST_EIGHT: &str = "    expect a.app.total(196863)\n    expect b.app.total(196863)\n";

/// Twelve casts at once, and two later, by a layer that adds up what comes; those two look at the credit.
fn burst(layers: &str, expected: &str) -> String {
    let text = format!(
        "use group
vocabulary Adds {{ down all add(n: u32)  up all may total(n: u32) }}
group Counter {{
    speaks Views, Adds
    entity {{ var sum: u32 = 0 }}
    on add(n) {{
        if n >= 65536 and below.credit == 0 {{ return }}
        let msg = message(x\"00000000\")
        msg.put_u32be(0, n)
        below.send(msg)
    }}
    on deliver(msg) {{
        sum +%= msg.u32be(0)
        consume msg: added
        above.total(sum)
    }}
    on send(msg) {{ drop msg: not_here }}
    on block() {{ below.block_ok() }}
}}
stack Host(device: Device, own: Member) {{
    app = Counter / {layers} / Mnak(8) / Vsync / Current / Intra / Suspect / Bottom(own) over device
    export app
}}
"
    );
    let adds: String = (0..12).map(|bit| format!("    at 1 s  b.app.add({})\n", 1 << bit)).collect();
    let later = "    at 2 s  b.app.add(65536)\n    at 3 s  b.app.add(131072)\n";
    lan(&text, "Host", 2, "1 ms", &format!("{adds}{later}{expected}    until 4 s\n"))
}

/// Who has the turn has a window that is partly full, and casts of many pieces: the next needs more room than there is. It waits, and does not
/// look again and again in no time.
fn long_casts() -> String {
    let layers = "Members / Sync / Frag(16) / ByToken(128) / Stable / Mnak(128) / Vsync / Current / Intra / Suspect / Bottom(own)";
    let cast = |at: u32, host: &str, what: &str| format!("    at {at} ms  {host}.app.send_to(0, 255, \"{what}\")\n");
    let mut lines = cast(1726, "b", "warm");
    lines.extend((0..58).map(|number| cast(2026, "b", &format!("s{number}"))));
    lines += &cast(2016, "a", "A");
    lines.extend((0..20).map(|number| cast(2037, "b", &format!("B{number}{}", "#".repeat(22_000)))));
    group(layers, 2, "20 ms", &format!("{lines}{}    until 4 s\n", all_holds()))
}

/// Each answers each cast by a cast, as if there were credit for all: the first member, whose window is full, says no order that it does not cast.
fn receipts() -> String {
    let layers = "use group
group Receipts {
    header { else | Got { n: u32 } }
    reads origin, dest
    speaks Views
    entity { var n: u32 = 0  counter got counter busy }
    on deliver(msg) {
        n += 1
        if msg.origin != me { later say(n) or { count busy } }
        above.deliver(msg)
    }
    on say(k: u32) later 64 { below.send(Got { n: k }) }
    on deliver(Got { n: k }, origin) { count got }
}
bundle Tried(own: Member) = Members / Receipts / Sync / TotalOrder / Stable / Mnak / Vsync / Current / Intra / Suspect / Bottom(own) encoded compressed
stack Host(device: Device, own: Member) {
    app = Tried(own) over device
    export app
}
";
    let cast = |name: char, number: usize| format!("    at 4 s  {name}.app.send_to(0, 255, \"{name}{number}\")\n");
    let casts: String = ('a'..='h').flat_map(|name| (0..40).map(move |number| cast(name, number))).collect();
    let later = "    at 6 s  b.app.send_to(0, 255, \"b later\")\n";
    lan(layers, "Host", 8, "1 ms", &format!("{casts}{later}{}    until 8 s\n", all_holds()))
}

/// What a network of one order says of all casts.
fn all_holds() -> String {
    judged(ORDERED).map(|line| format!("    {line}\n")).concat()
}

/// The guard of a layer.
const fn unguarded(layer: &'static str, from: &'static str, to: &'static str, broken: &'static str) -> Fault {
    Fault { layer, from, to, seed: "1", broken }
}

const FAULTS: [(&str, Fault); 8] = [
    ("burst_sync", unguarded("sync", "if likely is_open and below.credit > 0 {", "if likely is_open {", "app.total")),
    (
        "burst_total",
        unguarded("total", "        if unlikely below.credit == 0 { drop msg: no_credit  return }\n", "", "app.total"),
    ),
    ("burst_own", unguarded("members", "if unlikely below.credit == 0 {", "if unlikely false {", "app.total")),
    ("burst_causal", unguarded("causal", "if unlikely below.credit == 0 {", "if unlikely false {", "app.total")),
    ("burst_flow", unguarded("flow", "if unlikely below.credit == 0 {", "if unlikely false {", "app.total")),
    (
        "long_casts",
        unguarded(
            "token",
            "if unsent.left() > room_before { later go() or { return } }",
            "later go() or { return }",
            "does not come to rest",
        ),
    ),
    (
        "receipts",
        unguarded(
            "total",
            "{ unsaid.push(me) or { return }  if !(running soon) { start soon after 1 ms } }",
            "{ say_also(me) }",
            "`expect casts own`",
        ),
    ),
    ("burst_leave", unguarded("leave", " and below.credit > 0 { made", " { made", "app.left")),
];

#[test]
fn what_is_not_cast_nobody_hears() {
    faults::are_found("without_credit", &FAULTS);
}
