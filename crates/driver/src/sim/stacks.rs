//! Look-up of the stacks for a network's events.

use mokume_base::Diagnostic;
use mokume_lower::Protocols;
use mokume_reaction::Automaton;

/// A stack's automaton and protocols, by the stack's number.
pub(super) type Stacks<'s, 'a> = &'s dyn Fn(u32) -> Option<(&'a Automaton, &'a Protocols)>;

/// The result, or `None` after adding the error to `wrong`.
#[allow(clippy::result_large_err)] // A diagnostic is what every crate answers with.
pub(super) fn kept<T>(found: Result<T, Diagnostic>, wrong: &mut Vec<Diagnostic>) -> Option<T> {
    found.map_err(|diagnostic| wrong.push(diagnostic)).ok()
}
