//! Solvers on readings: the ways through a reaction cover everything, and no two are possible at once.

use crate::common::watched::{reading, Reading};
use crate::common::{composed, text_of};
use std::time::Duration;

use mokume_prove::solver::{Answer, Solver};
use mokume_prove::term::Term;
use mokume_reaction::PortId;

/// Every input of a stack that is read.
fn readings(name: &str) -> Vec<(String, Reading)> {
    let stack = composed(&text_of(name));
    let mut found = Vec::new();
    for (p, port) in stack.ports.iter().enumerate() {
        for (e, input) in port.inputs.iter().enumerate() {
            let read = reading(&stack, PortId::from(p), e);
            found.extend(read.map(|reading| (format!("{name} {}.{}", port.name, input.event), reading)));
        }
    }
    found
}

/// What must be impossible: no way at all, or two of the first `most_pairs` at once.
fn failure(reading: &mut Reading, most_pairs: usize) -> Term {
    let ways: Vec<Term> = reading.leaves.iter().map(|leaf| reading.terms.all(&leaf.condition)).collect();
    let any = reading.terms.any(&ways);
    let mut failures = vec![reading.terms.not(any)];
    let pairs = (0..ways.len()).flat_map(|a| (a + 1..ways.len()).map(move |b| (a, b)));
    for (a, b) in pairs.take(most_pairs) {
        failures.push(reading.terms.all(&[ways[a], ways[b]]));
    }
    reading.terms.any(&failures)
}

fn there() -> Vec<Box<dyn Solver>> {
    crate::judging::there_for(Duration::from_secs(60))
}

fn ask(solver: &mut dyn Solver, reading: &Reading, fact: Term) -> Answer {
    match reading.terms.constant(fact) {
        Some(0) => Answer::Unsat,
        _ => solver.ask(&reading.terms.script(&[fact]), &[]),
    }
}

#[test]
fn ways_are_exhaustive_and_exclude_each_other() {
    let mut all = there();
    for name in ["addressed.ra", "fcfs_sequencer_credit.ra", "library_2.ra", "octet_credit.ra", "two_sessions.ra"] {
        for (about, mut reading) in readings(name) {
            let failure = failure(&mut reading, 200);
            for solver in &mut all {
                let answer = ask(solver.as_mut(), &reading, failure);
                assert_eq!(answer, Answer::Unsat, "{about}, {}", solver.name());
            }
        }
    }
}

/// An omitted way is found, by each solver.
#[test]
fn a_way_that_is_left_out_is_found() {
    for solver in &mut there() {
        for (about, mut reading) in readings("octet_credit.ra") {
            reading.leaves.pop();
            let failure = failure(&mut reading, 0);
            let answer = ask(solver.as_mut(), &reading, failure);
            assert!(matches!(answer, Answer::Sat(_)), "{about}, {}: {answer:?}", solver.name());
        }
    }
}
