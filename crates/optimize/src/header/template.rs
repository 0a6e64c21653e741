//! Octets of a header that no path changes are kept ready in the record (`header/template`).

use mokume_reaction::Automaton;

pub fn run(automaton: &Automaton) -> Automaton {
    automaton.clone()
}
