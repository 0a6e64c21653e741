//! The symbolic reading against the interpreter: for each input of random runs, exactly one way is possible, and its
//! prediction (outputs, reports, cells, ends of messages) comes true.

use crate::common::watched::{Seen, Watched};
use crate::common::{composed, perhaps_composed, run_tests, text_of};
use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Binary, Compare, OpKind};
use mokume_testkit::together;

/// Runs `automaton` beside the reading of `read`, with many seeds; returns the first difference, and the counts.
fn watch(automaton: &Automaton, read: &Automaton, seeds: u64) -> Result<Seen, String> {
    let mut all = Seen::default();
    for seed in 0..seeds {
        let mut plain = Instance::new(automaton, &[], seed);
        let mut watched = Watched::new(automaton, read, seed);
        let difference = together(automaton, &mut plain, &mut watched, seed, 120);
        assert_eq!(difference, None, "the watched interpreter is an interpreter");
        if let Some(wrong) = watched.wrong {
            return Err(format!("seed {seed}: foretold {wrong}"));
        }
        let Seen { compared, escaped, unread, left_out } = watched.seen;
        all.compared += compared;
        all.escaped += escaped;
        all.unread += unread;
        all.left_out += left_out;
    }
    Ok(all)
}

/// Stacks; the reading reports what it does not follow, and predicts nothing about it.
const STACKS: [&str; 13] = [
    "addressed.ra",
    "arrays.ra",
    "emit_then_out.ra",
    "fcfs_sequencer_credit.ra",
    "library_1.ra",
    "library_2.ra",
    "library_3.ra",
    "library_4.ra",
    "library_morpheus.ra",
    "octet_credit.ra",
    "shared_sequence.ra",
    "two_outs.ra",
    "two_sessions.ra",
];

#[test]
fn what_is_foretold_happens() {
    for name in STACKS {
        let stack = composed(&text_of(name));
        let seen = watch(&stack, &stack, 20).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        println!("FIGURE: reading {name}: {seen:?}");
        assert!(seen.compared > 0, "{name}: {seen:?}");
    }
}

/// Run tests whose automata are not compared with their reading, and why.
const NOT_COMPARED: [(&str, &str); 4] = [
    (
        "maps_find_objects_by_their_cells.ra",
        "ways through look-ups by every key that was asked for before take minutes",
    ),
    ("headers_are_values_for_the_peer.ra", "a packet wrong in two ways is foretold to be refused for the later one"),
    ("ports_refuse_what_is_no_value.ra", "what a port takes in is decided before a handler begins"),
    ("messages_octets.ra", "the terms of sums over octets at places that are not known take gigabytes"),
];

/// The run tests have every operation: a new one is compared here as soon as it has its file there.
#[test]
fn what_is_foretold_of_run_tests_happens() {
    let mut wrong = Vec::new();
    let (mut files, mut read) = (0, 0);
    for (name, text) in run_tests() {
        let Some(stack) = perhaps_composed(&text) else { continue };
        if NOT_COMPARED.iter().any(|(left_out, _)| *left_out == name) {
            continue;
        }
        files += 1;
        match watch(&stack, &stack, 6) {
            Ok(seen) => read += usize::from(seen.compared > 0),
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("FIGURE: reading run tests: something foretold in {read} of {files}");
    assert!(read > 20, "something was foretold in {read} only");
}

/// A check that has never failed proves nothing: an operation that is read as another one is noticed.
#[test]
fn a_wrong_reading_is_found() {
    let stack = composed(&text_of("two_outs.ra"));
    let other = composed(&text_of("octet_credit.ra"));
    let arrays = composed(&text_of("arrays.ra"));
    /// Returns whether it has changed the operation.
    type Plant = fn(&mut OpKind) -> bool;
    let faults: [(&Automaton, Plant); 5] = [
        (&other, |kind| match kind {
            OpKind::Binary { op: op @ Binary::Sub, .. } => {
                *op = Binary::Add;
                true
            }
            _ => false,
        }),
        (&other, |kind| match kind {
            OpKind::Compare { op: op @ Compare::Le, .. } => {
                *op = Compare::Ge;
                true
            }
            _ => false,
        }),
        (&arrays, |kind| match kind {
            OpKind::SetItem { array, index, .. } => {
                *kind = OpKind::Splice { array: *array, index: *index, with: *array };
                true
            }
            _ => false,
        }),
        (&arrays, |kind| match kind {
            OpKind::Slice { ty, .. } => {
                *kind = OpKind::Pack { ty: *ty, values: Vec::new() };
                true
            }
            _ => false,
        }),
        (&stack, |kind| match kind {
            OpKind::Const { value, .. } => {
                *value += 1;
                true
            }
            _ => false,
        }),
    ];
    for (number, (stack, plant)) in faults.into_iter().enumerate() {
        let mut faulty = stack.clone();
        let ops = faulty.handlers.iter_mut().flat_map(|handler| &mut handler.body.blocks).flat_map(|b| &mut b.ops);
        assert!(ops.map(|op| &mut op.kind).any(plant), "fault {number}: nothing to plant it in");
        assert!(watch(stack, &faulty, 20).is_err(), "fault {number} is not noticed");
    }
}
