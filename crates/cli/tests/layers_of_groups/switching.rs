//! Several ways for casts, of which each view uses one: the network, and the faults that it and `tests/library` must find.

use super::{faults, of};
use crate::groups::{Fault, FOUR};

/// Three ways, of which one has total order. Members propose another one while all cast, and two at once propose different ones.
pub fn switch() -> String {
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

/// A fault in a layer, for the network.
const FAULTS: [(&str, Fault); 7] = [
    // The view begins when the first of the ways says so: another may still bring what was cast before.
    (
        "switch",
        Fault {
            layer: "switch",
            from: "        if views < below.count { return }\n        views = 0\n",
            to: "        if views != 1 {\n            views = 0\n            return\n        }\n",
            seed: "2",
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
];

/// Faults that show in no network.
const FAULTS_OF_TESTS: [Fault; 3] = [
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
        from: "        if ready == ways { below.block_ok() }\n",
        to: "        below.block_ok()\n",
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
];

#[test]
fn faults_planted_in_switching_are_found() {
    faults::are_found("switch_fault", &FAULTS);
}

#[test]
fn faults_planted_in_switching_are_found_by_tests_of_the_library() {
    faults::are_found_by_tests("switch_test", &FAULTS_OF_TESTS);
}
