//! Lowered stacks run on the interpreter: hand-built programs, the program files of `tests/program`, planted faults.

mod files;
mod hand;
mod marks;
mod refused;
mod settings;

use mokume_compose::compose;
use mokume_interpret::Instance;
use mokume_reaction::{verify, Automaton};
use mokume_testkit::{parameters, run, Script};

/// The complaints of the verifier, a run of the script, and a run of the composed stack.
fn complaints(automaton: &Automaton, script: &Script) -> Vec<String> {
    let mut all = faults(automaton);
    if !all.is_empty() {
        return all;
    }
    all.extend(played(automaton, script));
    let composed = compose(automaton, Default::default());
    match &composed.automaton {
        Some(composed) => {
            all.extend(played(composed, script).into_iter().map(|failure| format!("composed: {failure}")))
        }
        None => all.extend(
            composed.findings.iter().map(|found| format!("{}: {}", found.diagnostic.code.0, found.diagnostic.message)),
        ),
    }
    all
}

fn played(automaton: &Automaton, script: &Script) -> Vec<String> {
    let mut instance = Instance::new(automaton, &parameters(automaton, script), script.seed);
    run(automaton, script, &mut instance).iter().map(|failure| format!("{failure}")).collect()
}

fn faults(automaton: &Automaton) -> Vec<String> {
    let names = |fault: &mokume_reaction::verify::Fault| {
        let diagnostic = fault.diagnostic(automaton, &mokume_reaction::Places::default());
        format!("{}: {}\n{}", diagnostic.code.0, diagnostic.message, diagnostic.notes.join("\n"))
    };
    verify(automaton).iter().map(names).collect()
}
