//! The model of these tests, its planted faults, and worlds.

#![allow(dead_code)]

use std::path::{Path, PathBuf};

use mokume_explore::{Property, World};
use mokume_reaction::Automaton;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/explore")
}

pub fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect("a file of tests/explore")
}

/// An automaton from its text, without faults.
pub fn automaton(text: &str) -> Automaton {
    let mut sources = mokume_base::SourceMap::default();
    let file = sources.add("stop_and_wait.ra", text);
    let parsed = mokume_reaction::text::parse(file, text);
    assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
    let faults = mokume_reaction::verify::diagnose(&parsed.automaton, &parsed.places);
    assert!(faults.is_empty(), "{faults:#?}");
    parsed.automaton
}

pub fn right() -> Automaton {
    automaton(&read("stop_and_wait.ra"))
}

/// Two hosts, channels of two packets, this many messages from each side, one send for each credit.
pub fn world(from_a: usize, from_b: usize) -> World {
    let mut world = World::of(&right()).expect("one port of each kind");
    world.application.messages = vec![from_a, from_b];
    world.application.credit = Some((1, "ready".to_string()));
    world
}

/// A fault of the model: a place in its text, and the replacement.
pub struct Fault {
    pub name: &'static str,
    pub there: &'static str,
    pub instead: &'static str,
    /// The property that it violates first.
    pub property: Property,
}

const RESTART: &str =
    "    t = now\n    later = add t, 200000000\n    arm e.again, later\n    return\n}\n\nhandler saw.E.frame";
const ACKNOWLEDGE: &str = "    empty = message \"\"\n    a = push empty, saw.Hdr.Ack{seq: seq}\n    f = encode a, saw\n    out dev.frame(f)\n    expected = get e.expected\n    fresh = eq seq, expected\n    br fresh @0.9 take, again\n  take:\n";
const ACKNOWLEDGE_NEW: &str = "    expected = get e.expected\n    fresh = eq seq, expected\n    br fresh @0.9 take, again\n  take:\n    empty = message \"\"\n    a = push empty, saw.Hdr.Ack{seq: seq}\n    f = encode a, saw\n    out dev.frame(f)\n";

pub const FAULTS: [Fault; 4] = [
    Fault {
        name: "acknowledgement_not_checked",
        there: "ours = and busy, same",
        instead: "ours = and busy, busy",
        property: Property::Order,
    },
    Fault {
        name: "bit_not_toggled",
        there: "set e.expected, toggled",
        instead: "set e.expected, expected",
        property: Property::Order,
    },
    Fault {
        name: "timer_not_restarted",
        there: RESTART,
        instead: "    return\n}\n\nhandler saw.E.frame",
        property: Property::Deadlock,
    },
    Fault {
        name: "duplicates_not_acknowledged",
        there: ACKNOWLEDGE,
        instead: ACKNOWLEDGE_NEW,
        property: Property::Progress,
    },
];

impl Fault {
    pub fn automaton(&self) -> Automaton {
        let text = read("stop_and_wait.ra");
        assert_eq!(text.matches(self.there).count(), 1, "{}: the place of the fault", self.name);
        let text = text.replace(self.there, self.instead);
        automaton(&text)
    }
}

/// Compares with a file of tests/explore; `BLESS=1` rewrites it.
pub fn blessed(name: &str, actual: &str) {
    let path = folder().join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, actual).expect("the tests' folder can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} differs; if it should, run with BLESS=1. Now:\n{actual}");
}
