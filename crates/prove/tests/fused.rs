//! Paths that the optimiser found, judged.

use std::path::Path;

use mokume_prove::judge::{judge, Judgement};
use mokume_prove::solver::{solvers, Solver};
use mokume_reaction::Automaton;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// As the file says, lenses and paths included.
fn as_written(name: &str) -> Automaton {
    let text = std::fs::read_to_string(root().join("tests/reaction/right").join(name)).unwrap();
    mokume_reaction::text::parse(mokume_base::FileId(0), &text).automaton
}

fn composed(name: &str) -> Automaton {
    let text = std::fs::read_to_string(root().join("tests/reaction/right").join(name)).unwrap();
    let parsed = mokume_reaction::text::parse(mokume_base::FileId(0), &text);
    let automaton = parsed.automaton;
    mokume_compose::compose(&automaton, mokume_compose::Options::default()).automaton.expect("composes")
}

fn judged(automaton: &Automaton) -> Option<Judgement> {
    let mut found: Vec<Box<dyn Solver>> = solvers(&root().join(".venv"));
    if found.is_empty() {
        println!("SKIPPED: no solver (z3 or bitwuzla) is installed; scripts/setup prepares them");
        return None;
    }
    Some(judge(automaton, &mut found))
}

#[test]
fn plain_paths_are_the_layers() {
    let fused = mokume_optimize::fuse(&composed("fcfs_sequencer_credit.ra"));
    assert_eq!(fused.paths.len(), 2);
    let Some(judgement) = judged(&fused) else { return };
    for finding in &judgement.findings {
        println!("{} {} {:?} {} {:?}", finding.condition, finding.about, finding.verdict, finding.solver, finding.took);
    }
    assert!(judgement.is_proved());
}

#[test]
fn a_lens_and_paths_written_by_hand_are_the_layers() {
    let automaton = as_written("fcfs_sequencer_credit_composed.ra");
    let Some(judgement) = judged(&automaton) else { return };
    for finding in &judgement.findings {
        println!("{} {} {:?} {} {:?}", finding.condition, finding.about, finding.verdict, finding.solver, finding.took);
    }
    assert!(judgement.is_proved());
}
