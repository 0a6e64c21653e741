//! What composing says, with where in the program it comes from: composing itself sees no text.

use mokume_base::Diagnostic;
use mokume_reaction::Source;

/// A diagnostic whose places are still those of the automaton's table of sources.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub diagnostic: Diagnostic,
    /// Where to look first; none if it is about the stack as a whole.
    pub at: Option<Source>,
    /// What is to be said there.
    pub text: &'static str,
    /// A further place that explains the first.
    pub also: Option<(Source, &'static str)>,
}

impl Finding {
    /// About the stack as a whole.
    pub fn of_stack(diagnostic: Diagnostic) -> Finding {
        Finding { diagnostic, at: None, text: "", also: None }
    }
}
