//! Lowered stacks run on the interpreter: hand-built programs, the program files of `tests/program`, planted faults.

mod files;
mod hand;

use mokume_interpret::Instance;
use mokume_reaction::{verify, Automaton};
use mokume_testkit::{parameters, run, Script};

/// What the verifier and a run of the script have against an automaton.
fn complaints(automaton: &Automaton, script: &Script) -> Vec<String> {
    let mut all = faults(automaton);
    if all.is_empty() {
        let mut instance = Instance::new(automaton, &parameters(automaton, script), script.seed);
        all.extend(run(automaton, script, &mut instance).iter().map(|failure| format!("{failure}")));
    }
    all
}

fn faults(automaton: &Automaton) -> Vec<String> {
    let names = |fault: &mokume_reaction::verify::Fault| {
        let diagnostic = fault.diagnostic(automaton, &mokume_reaction::Places::default());
        format!("{}: {}\n{}", diagnostic.code.0, diagnostic.message, diagnostic.notes.join("\n"))
    };
    verify(automaton).iter().map(names).collect()
}
