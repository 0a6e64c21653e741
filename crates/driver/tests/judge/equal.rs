//! Tests what `mokume prove A == B` says about handlers: faults are planted in handlers, and none with visible effects
//! may be proved to be the same.

use std::collections::BTreeMap;
use std::time::Duration;

use mokume_driver::prove::Beside;
use mokume_prove::equal::{judge_same, Extent};
use mokume_prove::judge::Step;
use mokume_prove::pair::pair;
use mokume_reaction::{verify, Automaton};

use super::faults::{of_handlers, Fault, Home};
use super::{number, shuffled, there, ALL, LIMIT, QUICK};
use crate::campaign::stacks::of_files;

#[derive(Default)]
struct Counted {
    refused: u64,
    open: u64,
    same: u64,
    wrong: Vec<String>,
    /// The names of those that are proved, and of those that are refused.
    names: Vec<String>,
    /// Why handlers are open.
    why: BTreeMap<String, u64>,
}

/// Whether a handler with a fault is proved to do the same as without. `None`: the automaton is invalid, or is not
/// read; `Some(false)`: a solver found a difference.
fn is_same(flat: &Automaton, faulty: &Automaton, fault: &Fault, counted: &mut Counted) -> Option<bool> {
    let Home::Handler(changed) = fault.home else { return None };
    // A constant that is changed to an unnamed value cannot be written in the text form.
    let pair = pair(flat, faulty).ok()?;
    let handlers = pair.handlers();
    let both = handlers.iter().find(|both| both.first.is_some_and(|first| first.index() == changed))?;
    if pair.is_same_code(both, &Default::default()) {
        return None;
    }
    let mut solvers = there(LIMIT);
    let mut watch = |_: Step| Ok(Duration::from_secs(20));
    let judged = match judge_same(&pair, both, Extent::Handler, &mut solvers, &mut watch) {
        Ok(judged) => judged,
        Err(why) => {
            counted.open += 1;
            *counted.why.entry(why).or_default() += 1;
            return None;
        }
    };
    if judged.is_proved() {
        return Some(true);
    }
    let open = judged.ways.iter().filter_map(|way| way.verdict.as_ref().err());
    let is_refused = open.clone().any(|open| open.why.contains("may differ"));
    match is_refused {
        true => Some(false),
        false => {
            counted.open += 1;
            for open in open {
                *counted.why.entry(open.why.clone()).or_default() += 1;
            }
            None
        }
    }
}

fn judge_handlers(files: &[&str], mutants: usize, (sequences, seed): (u64, u64)) -> Counted {
    let stacks = of_files(files);
    let each = mutants.div_ceil(stacks.len());
    let mut counted = Counted::default();
    for stack in stacks {
        let flat = mokume_analyse::flat(&stack.uncomposed).into_owned();
        let mut tried = 0;
        for fault in shuffled(of_handlers(&flat, seed), seed) {
            if tried >= each {
                break;
            }
            let faulty = fault.planted(&flat);
            if !verify(&faulty).is_empty() {
                continue;
            }
            let Some(same) = is_same(&flat, &faulty, &fault, &mut counted) else { continue };
            tried += 1;
            if !same {
                counted.refused += 1;
                continue;
            }
            counted.same += 1;
            let name = format!("{}: {fault}", stack.name);
            let beside = Beside { layers: &flat, natives: &stack.natives, lessons: &stack.lessons };
            match beside.run(&faulty, 0, (sequences, seed)).0 {
                Some(difference) => counted.wrong.push(format!("{name}\n{difference}")),
                None => counted.names.push(name),
            }
        }
    }
    let Counted { refused, open, same, wrong, names, why } = &counted;
    println!("FIGURE: equal: {refused} handlers with a fault refused, {same} proved to be the same, {open} open, {} false proofs", wrong.len());
    names.iter().for_each(|name| println!("the same: {name}"));
    why.iter().for_each(|(why, times)| println!("open, {times}: {why}"));
    counted
}

#[test]
fn no_handler_with_a_fault_that_shows_is_proved() {
    let counted = judge_handlers(QUICK, number("MOKUME_MUTANTS", 45) as usize, (60, number("MOKUME_SEED", 1)));
    assert!(counted.wrong.is_empty(), "proved, and wrong:\n{}", counted.wrong.join("\n\n"));
    assert!(counted.refused >= 25, "{} are refused", counted.refused);
}

#[test]
#[ignore = "campaign: judge"]
fn no_handler_of_many_stacks_with_a_fault_that_shows_is_proved() {
    let counted = judge_handlers(ALL, number("MOKUME_MUTANTS", 500) as usize, (1000, number("MOKUME_SEED", 1)));
    assert!(counted.wrong.is_empty(), "proved, and wrong:\n{}", counted.wrong.join("\n\n"));
    assert!(counted.refused >= 250, "{} are refused", counted.refused);
}
