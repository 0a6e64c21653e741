//! Stacks from test files, composed and fused.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use mokume_reaction::Automaton;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The stacks that the passes are tested with: name and file.
pub const STACKS: [(&str, &str); 5] = [
    ("fcfs_sequencer_credit", "tests/reaction/right/fcfs_sequencer_credit.ra"),
    ("addressed", "tests/fuse/addressed.ra"),
    ("two_outs", "tests/fuse/two_outs.ra"),
    ("shared_sequence", "tests/fuse/shared_sequence.ra"),
    ("emit_then_out", "tests/fuse/emit_then_out.ra"),
];

/// A file's layers, composed; lenses and paths of the file are left out.
pub fn composed(file: &str) -> Automaton {
    let text = std::fs::read_to_string(root().join(file)).expect("a test file");
    let parsed = mokume_reaction::text::parse(mokume_base::FileId(0), &text);
    assert!(parsed.diagnostics.is_empty(), "{file}: {}", parsed.diagnostics[0].message);
    let layers = Automaton { composition: None, lenses: Vec::new(), paths: Vec::new(), ..parsed.automaton };
    mokume_compose::compose(&layers, mokume_compose::Options::default()).automaton.expect("composes")
}
