//! Paths that the optimiser found, judged.

mod common;

use common::{composed, failures, judged, parsed, text_of};
use mokume_optimize::{fuse_with, Passes};

#[test]
fn plain_paths_are_the_layers() {
    let fused = mokume_optimize::structure::fuse(&composed(&text_of("reaction/right/fcfs_sequencer_credit.ra")));
    assert_eq!(fused.paths.len(), 4);
    let Some(judgement) = judged(&fused) else { return };
    assert!(judgement.is_proved(), "{:?}", failures(&judgement));
}

#[test]
fn a_lens_and_paths_written_by_hand_are_the_layers() {
    let automaton = parsed(&text_of("reaction/right/fcfs_sequencer_credit_composed.ra"));
    let Some(judgement) = judged(&automaton) else { return };
    assert!(judgement.is_proved(), "{:?}", failures(&judgement));
}

#[test]
fn counters_and_budgets_are_the_layers() {
    let layers = composed(&text_of("reaction/right/fcfs_sequencer_credit.ra"));
    let fused = fuse_with(&layers, Passes { template: false, ..Passes::ALL });
    let found = mokume_reaction::verify::verify(&fused);
    assert!(found.is_empty(), "{found:?}");
    let Some(judgement) = judged(&fused) else { return };
    assert!(judgement.is_proved(), "{:?}", failures(&judgement));
}

#[test]
fn templates_are_the_layers() {
    let fused = mokume_optimize::fuse(&composed(&text_of("fuse/addressed.ra")));
    let found = mokume_reaction::verify::verify(&fused);
    assert!(found.is_empty(), "{found:?}");
    let Some(judgement) = judged(&fused) else { return };
    assert!(judgement.is_proved(), "{:?}", failures(&judgement));
}
