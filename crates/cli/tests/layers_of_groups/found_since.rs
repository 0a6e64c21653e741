//! What outsiders found since: who counts for a primary view, states on their way, shallow windows, casts that were kept for another view.

use super::found::store_upon;
use super::found_again::{group, lan};
use super::{faults, judged, still, ORDERED};
use crate::groups::Fault;

const PRIMARY: &str = "Sync / Transfer(3) / TotalOrder";

pub fn networks() -> [(&'static str, String); 11] {
    [
        ("never_met", never_met()),
        ("all_there", all_there()),
        ("on_its_way", on_its_way()),
        ("apart_for_long", apart_for_long()),
        ("shallow_order", shallow_order()),
        ("taken_in", taken_in()),
        ("bare", bare()),
        ("leave_between", leave_between()),
        ("no_room_for_state", no_room_for_state()),
        ("kept_and_taken", kept_and_taken()),
        ("deaf", deaf()),
    ]
}

/// One begins anew, and meets one who never met the others: neither remembers anything, and no view of the two is a primary one, as the
/// third may remember. Before all three have met there is none at all.
fn never_met() -> String {
    lan(
        &store_upon(PRIMARY),
        "Replica",
        3,
        "1 ms",
        "    partition c from 0 ms until 2 s
    partition a from 2 s until 4 s
    crash b at 2 s
    restart b(own: 17) at 2100 ms
    at 1 s  a.app.put(7, 100)
    at 3500 ms  c.app.put(8, 5)
    expect nothing at c.app.written  until 4 s
    expect nothing at a.app.written  until 4 s
    expect b.app.written(7, 100)
    expect c.app.written(8, 5)
    until 7 s
",
    )
}

/// Two were in a primary view, and one of them begins anew while the third is away: when all are there, their view is a primary one, though one
/// alone remembers.
fn all_there() -> String {
    let layers =
        "Members / Sync / Primary(3) / TotalOrder / Stable / Mnak / Vsync / Current / Intra / Suspect / Bottom(own)";
    group(
        layers,
        3,
        "1 ms",
        "    crash b at 1500 ms
    crash c at 1500 ms
    restart b(own: 17) at 2 s
    restart c(own: 18) at 3 s
    at 5 s  b.app.send_to(0, 255, \"by three\")
    expect c.app.deliver_from(_, _, \"by three\")
    until 6 s
",
    )
}

/// Who comes into a primary view, and goes on without its others before their state has come, has not been in one that counts: of its state
/// and that of an earlier primary view the other one stays.
fn on_its_way() -> String {
    lan(
        &store_upon(PRIMARY),
        "Replica",
        3,
        "1 ms",
        "    partition c from 1500 ms until 3 s
    partition b from 3 s until 5 s
    at 2500 ms  a.app.put(7, 100)
    crash a at 3152500 us
    at 9500 ms  b.app.get(7)
    expect b.app.written(7, 100)  until 3 s
    expect b.app.view(_, _, 2, 2, 3, ..)
    expect b.app.value(7, 100)
    until 10 s
",
    )
}

/// Many views come that are no primary ones: in the primary one behind them all say whose state they have.
fn apart_for_long() -> String {
    let apart: String =
        (4..72).map(|half| format!("    partition a from {}00 ms until {}00 ms\n", 5 * half, 5 * half + 3)).collect();
    let layers = store_upon("Sync / Transfer(4) / TotalOrder");
    let lines = "    crash d at 1 s
    partition c from 1 s until 40 s
    at 42 s  a.app.put(7, 1)
    expect c.app.written(7, 1)
    until 45 s
";
    lan(&layers, "Replica", 4, "1 ms", &format!("{apart}{lines}"))
}

/// A window of one place, a quarter of which is none: the first said an order when it could not be cast.
fn shallow_order() -> String {
    let cast = |number: usize| {
        let host = ["a", "b", "c"][number % 3];
        format!("at {} ms  {host}.app.send_to(0, 255, \"{host}{number}\")", 1500 + number)
    };
    let mut lines: Vec<String> = (0..60).map(cast).collect();
    lines.extend(judged(ORDERED));
    still("Members / Sync / TotalOrder(depth) / Stable", 1, &lines, 6000)
}

/// Two wrote, and one of them begins anew. It is taken in by a primary view, and goes on with the one who was away before the state has come
/// to them: they are no primary view, as neither has what was written.
fn taken_in() -> String {
    lan(
        &store_upon(PRIMARY),
        "Replica",
        3,
        "10 ms",
        "    partition b from 1 s until 3 s
    at 2 s  a.app.put(7, 100)
    crash c at 2500 ms
    restart c(own: 17) at 2510 ms
    partition a from 3125 ms until 7 s
    at 4900 ms  b.app.put(8, 5)
    at 9 s  a.app.get(7)
    expect c.app.written(7, 100)  until 2500 ms
    expect a.app.written(7, 100)  until 2500 ms
    expect nothing at b.app.written(8, 5)  until 6 s
    expect a.app.value(7, 100)
    until 10 s
",
    )
}

/// `Own` keeps a copy of what layers above have put headers on: casts as long as a packet, and pieces of longer ones, where each layer's
/// header stands by itself.
fn bare() -> String {
    let mut lines: Vec<String> = [3000, 1450, 9]
        .into_iter()
        .enumerate()
        .map(|(number, octets)| {
            format!("at {} ms  a.app.send_to(0, 255, \"{number}{}\")", 1500 + 20 * number, "#".repeat(octets - 1))
        })
        .collect();
    lines.extend(judged("real, own, fifo, causal, agreed, together"));
    still("Members / Sync / Flow / Frag / Own / Causal(depth) / Stable", 128, &lines, 3000)
        .replace(" encoded compressed", "")
}

/// Who leaves as a view begins does not give up what waits before it is known whether the view is a primary one.
fn leave_between() -> String {
    let layers = "use group
vocabulary Say { down all say(n: u32) }
group Caster {
    speaks Say, Views
    on say(n) {
        let msg = message(x\"00000000\")
        msg.put_u32be(0, n)
        below.send(msg)
    }
}
stack Host(device: Device, own: Member) {
    app = Members / Caster / Sync / Primary(4) / TotalOrder(32) / Stable / Leave / Pt2pt / Mnak(32) / Vsync / Current / Intra / Suspect / Bottom(own) over device
    export app
}
";
    let said: String = (1..=30).map(|n| format!("    at {} ms  a.app.say({n})\n", 1500 + 10 * n)).collect();
    let lines = "    partition a, b from 1 s until 2500 ms
    partition d from 2565 ms until 10 s
    at 2580 ms  a.app.leave()
    expect a.app.left()
    expect b.app.deliver_from(_, _, x\"0000001e\")
    until 10 s
";
    lan(layers, "Host", 4, "1 ms", &format!("{said}{lines}"))
}

/// A window of three places, in which each has said whose state it has: the state waits until there is room.
fn no_room_for_state() -> String {
    let layers = store_upon("Sync / Transfer(3) / TotalOrder").replace("own, 128", "own, 3");
    lan(
        &layers,
        "Replica",
        3,
        "1 ms",
        "    at 2 s  a.app.put(7, 100)
    expect c.app.written(7, 100)
    until 3 s
",
    )
}

/// A layer below `Flow` keeps what is cast as a view ends: the others take in the next view what was not sent in it. They may cast on.
fn kept_and_taken() -> String {
    let cast = |from: usize, step: usize| {
        move |number: usize| {
            let host = ["a", "b", "c"][number % 3];
            format!("at {} ms  {host}.app.send_to(0, 255, \"{host}{number}\")", from + step * (number % 600))
        }
    };
    let mut lines = vec!["partition c from 1500 ms until 2200 ms".to_string()];
    lines.extend((0..600).map(cast(2150, 1)));
    lines.extend((600..690).map(cast(4000, 20)));
    lines.extend(judged(ORDERED));
    lines.extend(["a687", "b688", "c689"].map(|last| format!("expect a.app.deliver_from(_, _, \"{last}\")")));
    still("Members / Sync / Flow(4) / ByToken(depth) / Stable", 128, &lines, 8000)
}

/// A host that says that it is there, and hears nothing, is asked for ever; the others come together beside it. So it is where a stranger
/// repeats what was said long ago under a key.
fn deaf() -> String {
    let layers = "Members / Sync / Own / Stable / Mnak / Vsync / Current / Intra / Suspect / Bottom(own)";
    let stacks = format!(
        "use group
worker HearsNothing {{ on deliver(msg) {{ drop msg: deaf }} }}
stack Host(device: Device, own: Member) {{
    app = {layers} over device
    export app
}}
stack Deaf(device: Device, own: Member) {{
    app = {layers} / HearsNothing over device
    export app
}}
"
    );
    let lines = "    partition c from 0 ms until 1 s
    at 4 s  c.app.send_to(0, 255, \"together\")
    expect a.app.deliver_from(_, _, \"together\")
    expect c.app.deliver_from(_, _, \"together\")
    expect nothing at b.app.deliver_from
    until 5 s
";
    lan(&stacks, "Host", 3, "1 ms", lines).replace("host b = Host", "host b = Deaf")
}

const FAULTS: [(&str, Fault); 11] = [
    (
        "deaf",
        Fault {
            layer: "heal",
            from: "on expiry asks { in_vain = true }",
            to: "on expiry asks { }",
            seed: "1",
            broken: "\"together\"",
        },
    ),
    (
        "never_met",
        Fault {
            layer: "transfer",
            from: "if theirs_last != 0 { known += 1 }",
            to: "known += 1",
            seed: "1",
            broken: "c.app.written",
        },
    ),
    ("all_there", Fault { layer: "primary", from: " and all < of {", to: " {", seed: "1", broken: "\"by three\"" }),
    (
        "on_its_way",
        Fault {
            layer: "transfer",
            from: "said = true  below.send(Has { id: view.id, line, primary, heard })",
            to: "said = true  below.send(Has { id: view.id, line, primary, heard })  primary = view.id",
            seed: "1",
            broken: "app.value",
        },
    ),
    (
        "apart_for_long",
        Fault {
            layer: "transfer",
            from: "if line == best { free = before  if of > 0 { primary = view.id } }",
            to: "if line == best { free = before }",
            seed: "1",
            broken: "app.written",
        },
    ),
    (
        "shallow_order",
        Fault { layer: "total", from: "max(room / 4, 1)", to: "room / 4", seed: "1", broken: "`expect casts" },
    ),
    (
        "taken_in",
        Fault {
            layer: "transfer",
            from: "            if of > 0 { primary = view.id }\n            above.take",
            to: "            above.take",
            seed: "1",
            broken: "app.written",
        },
    ),
    ("bare", Fault { layer: "members", from: " +% FRONT", to: "", seed: "1", broken: "`expect casts own`" }),
    (
        "leave_between",
        Fault {
            layer: "sync",
            from: "        if waiting.is_empty() { pass }\n",
            to: "        give_up()\n        pass\n",
            seed: "1",
            broken: "deliver_from",
        },
    ),
    (
        "no_room_for_state",
        Fault {
            layer: "transfer",
            from: "if blocked or below.credit == 0 { return }",
            to: "if blocked { return }",
            seed: "1",
            broken: "app.written",
        },
    ),
    (
        "kept_and_taken",
        Fault {
            layer: "flow",
            from: "min(taken -% p.taken, sent -% p.taken)",
            to: "(taken -% p.taken)",
            seed: "1",
            broken: "deliver_from",
        },
    ),
];

#[test]
fn what_outsiders_found_since_is_found() {
    faults::are_found("found_since", &FAULTS);
}
