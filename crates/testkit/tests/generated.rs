//! The content of random automata. The explorer is compared with the interpreter only on these, and the back ends
//! mostly: an operation that none of them has is not tested.

use std::collections::BTreeSet;

use mokume_base::FileId;
use mokume_reaction::{Automaton, Binary, Compare, Fallible, OpKind, Operation};
use mokume_testkit::generate;

/// Operations that no random automaton has, and why.
const LEFT_OUT: [(&str, &str); 4] = [
    ("Native", "the explorer refuses functions in C"),
    ("Meet", "paths alone have it: crates/fuse/tests/agree.rs"),
    ("Peek", "paths alone have it: crates/fuse/tests/agree.rs"),
    ("Recall", "paths alone have it, and are made of these: crates/fuse/tests/agree.rs"),
];

fn automaton(seed: u64) -> Automaton {
    mokume_reaction::text::parse(FileId(0), &generate::automaton(seed)).automaton
}

/// The names of the table's rows that a body of the automaton uses; arithmetic and comparisons by operator.
fn note(automaton: &Automaton, found: &mut BTreeSet<&'static str>) {
    for block in automaton.bodies().flat_map(|body| &body.blocks) {
        found.extend(block.ops.iter().map(|op| name(&op.kind)));
        found.extend(block.terminator.attempt().map(|op| op.row().name));
    }
}

fn name(op: &OpKind) -> &'static str {
    match op {
        OpKind::Binary { op, .. } => op.word(),
        OpKind::Compare { op, .. } => op.word(),
        other => other.row().name,
    }
}

/// All names.
fn names() -> BTreeSet<&'static str> {
    let rows = OpKind::ROWS.iter().chain(Fallible::ROWS).map(|row| row.name);
    let words = Binary::ALL.iter().map(|op| op.word()).chain(Compare::ALL.iter().map(|op| op.word()));
    rows.filter(|name| !["Binary", "Compare"].contains(name)).chain(words).collect()
}

/// The names that some random automaton should have, and none of these has.
fn missing(found: &BTreeSet<&'static str>) -> Vec<&'static str> {
    let wanted = names().into_iter().filter(|name| !LEFT_OUT.iter().any(|(left_out, _)| left_out == name));
    wanted.filter(|name| !found.contains(name)).collect()
}

#[test]
fn random_automata_have_every_operation() {
    let mut found = BTreeSet::new();
    (0..400).for_each(|seed| note(&automaton(seed), &mut found));
    let advice = "make them in crates/testkit/src/generate, or say why not in LEFT_OUT";
    assert_eq!(missing(&found), Vec::<&str>::new(), "operations that no random automaton has: {advice}");
    let had: Vec<_> = LEFT_OUT.iter().filter(|(name, _)| found.contains(name)).collect();
    assert!(had.is_empty(), "LEFT_OUT names what is there: {had:?}");
}

#[test]
fn an_operation_that_is_never_made_is_noticed() {
    let mut found = names();
    found.remove("Take");
    assert_eq!(missing(&found), ["Take"]);
}
