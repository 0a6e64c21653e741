//! The automaton's text: what is read is printed and read again as the same, and the verifier has an answer to all of it.
#![no_main]

use mokume_base::{FileId, Severity};
use mokume_reaction::{text, verify};

libfuzzer_sys::fuzz_target!(|source: &str| {
    let parsed = text::parse(FileId(0), source);
    let faults = verify::diagnose(&parsed.automaton, &parsed.places);
    let wrong = |found: &mokume_base::Diagnostic| found.severity == Severity::Error;
    if parsed.diagnostics.iter().chain(&faults).any(wrong) {
        return;
    }
    let printed = text::print(&parsed.automaton);
    let again = text::parse(FileId(0), &printed);
    assert!(again.diagnostics.is_empty(), "it does not read its own text: {:?}\n{printed}", again.diagnostics);
    assert_eq!(text::print(&again.automaton), printed, "printing is stable");
});
