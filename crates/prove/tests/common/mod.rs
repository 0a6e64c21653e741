//! Test files, solvers, and one concrete state.
#![allow(dead_code)]

pub mod concrete;
pub mod replay;

use std::path::Path;

use mokume_prove::judge::{judge, Judgement};
use mokume_prove::solver::{solvers, Solver};
use mokume_reaction::Automaton;

pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub fn text_of(name: &str) -> String {
    std::fs::read_to_string(root().join("tests").join(name)).unwrap()
}

pub fn parsed(text: &str) -> Automaton {
    let parsed = mokume_reaction::text::parse(mokume_base::FileId(0), text);
    let faults: Vec<&str> = parsed.diagnostics.iter().map(|fault| fault.message.as_str()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    parsed.automaton
}

/// The layers of a text, composed; its own lenses and paths are left out.
pub fn composed(text: &str) -> Automaton {
    let automaton = Automaton { composition: None, lenses: Vec::new(), paths: Vec::new(), ..parsed(text) };
    mokume_compose::compose(&automaton, mokume_compose::Options::default()).automaton.expect("composes")
}

/// Nothing when this machine has no solver: the test then says so and passes.
pub fn judged(automaton: &Automaton) -> Option<Judgement> {
    let mut found: Vec<Box<dyn Solver>> = solvers(&root().join(".venv"));
    if found.is_empty() {
        println!("SKIPPED: no solver (z3 or bitwuzla) is installed; scripts/setup prepares them");
        return None;
    }
    Some(judge(automaton, &mut found))
}

/// What was not proved, for people.
pub fn failures(judgement: &Judgement) -> Vec<String> {
    let failed = judgement.findings.iter().filter(|finding| finding.verdict != mokume_prove::judge::Verdict::Proved);
    failed.map(|finding| format!("{} {}: {:?}", finding.condition, finding.about, finding.verdict)).collect()
}
