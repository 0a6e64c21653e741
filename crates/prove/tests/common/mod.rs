//! Test files, composed as the compiler does.
#![allow(dead_code)]

pub mod concrete;
pub mod watched;

use std::path::Path;

use mokume_reaction::Automaton;

pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub fn text_of(name: &str) -> String {
    std::fs::read_to_string(root().join("tests/reaction/right").join(name)).unwrap()
}

/// The layers of a text, composed.
pub fn composed(text: &str) -> Automaton {
    let parsed = mokume_reaction::text::parse(mokume_base::FileId(0), text);
    let faults: Vec<&str> = parsed.diagnostics.iter().map(|fault| fault.message.as_str()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    let layers = Automaton { composition: None, ..parsed.automaton };
    mokume_compose::compose(&layers, mokume_compose::Options::default()).automaton.expect("composes")
}
