//! Random automata of every kind of operation: they pass the verifier, nothing panics, every message has one fate, and
//! the composed stack does what the uncomposed one does. The same comparison must find planted faults.

use mokume_base::SourceMap;
use mokume_compose::{compose, Options};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Binary, OpKind};
use mokume_testkit::{generate, together};

const AUTOMATA: u64 = 400;
const STEPS: usize = 40;

fn automaton(seed: u64) -> Automaton {
    let text = generate::automaton(seed);
    let mut map = SourceMap::default();
    let file = map.add("random", &*text);
    let parsed = mokume_reaction::text::parse(file, &text);
    let faults = mokume_reaction::verify::diagnose(&parsed.automaton, &parsed.places);
    if let Some(diagnostic) = parsed.diagnostics.iter().chain(&faults).next() {
        let at = diagnostic.primary.as_ref().map(|label| map.line_column(file, label.span.start));
        panic!("seed {seed}, {at:?}: {} {:?}\n{text}", diagnostic.message, diagnostic.helps);
    }
    parsed.automaton
}

#[test]
fn composing_changes_nothing_and_every_message_has_one_fate() {
    let mut reached = 0;
    for seed in 0..AUTOMATA {
        let uncomposed = automaton(seed);
        let composed =
            compose(&uncomposed, Options::default()).automaton.unwrap_or_else(|| panic!("seed {seed} composes"));
        let mut first = Instance::new(&uncomposed, &[], seed);
        let mut second = Instance::new(&composed, &[], seed);
        if let Some(difference) = together(&uncomposed, &mut first, &mut second, seed, STEPS) {
            panic!("seed {seed}: {}\nafter {:#?}", difference.what, difference.inputs);
        }
        let peak = composed.composition.as_ref().map_or(0, |composition| composition.peak);
        for machine in [first, second] {
            // docs/semantics.md, M3.
            assert!(machine.most_held() <= u64::from(peak), "seed {seed}: {} held, peak {peak}", machine.most_held());
            reached += u64::from(peak > 0 && machine.most_held() == u64::from(peak));
            assert_eq!(machine.ledger().origins, machine.ledger().fates, "seed {seed}");
            assert_eq!(machine.leaked(), 0, "seed {seed}");
        }
    }
    // With one buffer less, it would be noticed that they are too few.
    assert!(reached > 0, "no automaton came to the peak that composing counts");
    println!("{reached} of {} runs held as many messages at once as composing counts", 2 * AUTOMATA);
}

type Change<'a> = &'a dyn Fn(&mut OpKind) -> bool;

/// Changes the operations that `change` accepts; returns how many of the automata with such an operation show a
/// difference.
fn found(change: impl Fn(&mut OpKind) -> bool) -> (u64, u64) {
    let (mut planted, mut found) = (0, 0);
    for seed in 0..60 {
        let right = automaton(seed);
        let mut wrong = right.clone();
        let ops = wrong.handlers.iter_mut().flat_map(|h| &mut h.body.blocks).flat_map(|block| &mut block.ops);
        if ops.filter_map(|op| change(&mut op.kind).then_some(())).count() == 0 {
            continue;
        }
        planted += 1;
        let (mut first, mut second) = (Instance::new(&right, &[], seed), Instance::new(&wrong, &[], seed));
        found += u64::from(together(&right, &mut first, &mut second, seed, STEPS).is_some());
    }
    (planted, found)
}

#[test]
fn planted_faults_are_found() {
    let silent = |kind: &mut OpKind| match kind {
        OpKind::Binary { op: op @ Binary::Add, .. } => {
            *op = Binary::AddWrap;
            true
        }
        _ => false,
    };
    let early = |kind: &mut OpKind| match kind {
        OpKind::Arm { object, cell, .. } => {
            *kind = OpKind::Disarm { object: *object, cell: *cell };
            true
        }
        _ => false,
    };
    let unchanged = |kind: &mut OpKind| match kind {
        OpKind::SetItem { array, index, .. } => {
            *kind = OpKind::Splice { array: *array, index: *index, with: *array };
            true
        }
        _ => false,
    };
    let faults: [(&str, Change); 3] = [
        ("an item is not changed", &unchanged),
        ("carries are not reported", &silent),
        ("timers are not armed", &early),
    ];
    for (name, change) in faults {
        let (planted, seen) = found(change);
        println!("{name}: found in {seen} of {planted}");
        assert!(planted > 20 && seen > planted / 3);
    }
}
