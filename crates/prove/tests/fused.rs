//! Paths that the optimiser found, judged.

mod common;

use common::{composed, failures, judged, parsed, text_of};

#[test]
fn plain_paths_are_the_layers() {
    let fused = mokume_optimize::structure::fuse(&composed(&text_of("reaction/right/fcfs_sequencer_credit.ra")));
    assert_eq!(fused.paths.len(), 2);
    let Some(judgement) = judged(&fused) else { return };
    assert!(judgement.is_proved(), "{:?}", failures(&judgement));
}

#[test]
fn a_lens_and_paths_written_by_hand_are_the_layers() {
    let automaton = parsed(&text_of("reaction/right/fcfs_sequencer_credit_composed.ra"));
    let Some(judgement) = judged(&automaton) else { return };
    assert!(judgement.is_proved(), "{:?}", failures(&judgement));
}
