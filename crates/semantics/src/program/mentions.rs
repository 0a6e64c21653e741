//! Which name stands for which declaration: what an editor follows.

use mokume_base::Span;

/// A name in the text, and the name where it is declared.
///
/// A name may stand for several declarations where it is read more than once, as code of a container is. What is matched by its text
/// across layers (events of their own, published values, reasons, parts of flows) has none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mention {
    /// Where it is used: a single word.
    pub at: Span,
    /// The word where it is declared; the same, but where a service or a part is called by its name in small letters.
    pub of: Span,
}
