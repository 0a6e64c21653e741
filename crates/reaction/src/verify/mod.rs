//! The verifier: the rules that every automaton must keep, whoever made it.
//!
//! `verify(a)` is empty exactly if `a` is well formed. It never panics, whatever the data: it checks identifiers first,
//! and skips checks that would follow a dangling one.

mod context;
mod declarations;
mod effects;
mod flow;
mod identifiers;
mod linearity;
mod loops;
mod operations;
mod wire_commons;
mod wire_lists;
mod wire_options;
mod wires;

use mokume_base::Diagnostic;

pub use context::{units, Fault};
use context::{Context, Faults};

use crate::*;

/// All faults, in the order of the automaton.
pub fn verify(automaton: &Automaton) -> Vec<Fault> {
    let mut faults = Faults(Vec::new());
    identifiers::check(automaton, &mut faults);
    if !faults.0.is_empty() {
        return faults.0;
    }
    declarations::check(automaton, &mut faults);
    wires::check(automaton, &mut faults);
    effects::check_recursion(automaton, &mut faults);
    for unit in units(automaton) {
        check_body(automaton, unit, &mut faults);
    }
    faults.0
}

/// The faults as diagnostics, with their spans if there is a text.
pub fn diagnose(automaton: &Automaton, places: &Places) -> Vec<Diagnostic> {
    verify(automaton).iter().map(|fault| fault.diagnostic(automaton, places)).collect()
}

fn check_body(automaton: &Automaton, unit: Unit, faults: &mut Faults) {
    let context = Context { automaton, unit, body: unit.body(automaton) };
    let before = faults.0.len();
    operations::check(&context, faults);
    flow::check(&context, faults);
    // The remaining checks assume that operands are defined and of the right types.
    if faults.0.len() > before {
        return;
    }
    effects::check(&context, faults);
    linearity::check(&context, faults);
    loops::check(&context, faults);
}
