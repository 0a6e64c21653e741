//! Diagnostics of composing, with places in the program: composing itself sees no text.

use mokume_base::Diagnostic;
use mokume_reaction::Source;

/// A diagnostic whose places are from the automaton's table of sources.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub diagnostic: Diagnostic,
    /// The primary place; `None` if it is about the whole stack.
    pub at: Option<Source>,
    /// The text at the primary place.
    pub text: &'static str,
    /// A further place that explains the first.
    pub also: Option<(Source, &'static str)>,
}

impl Finding {
    /// A finding about the whole stack.
    pub fn of_stack(diagnostic: Diagnostic) -> Finding {
        Finding { diagnostic, at: None, text: "", also: None }
    }
}
