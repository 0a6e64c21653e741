//! Mentions: which name in the text stands for which declaration, for editors.

use mokume_base::Span;

/// A name in the text, and the name at its declaration.
///
/// A name may stand for several declarations if it is read more than once, like code of a container. Names that are
/// matched by text across layers (own events, published values, standard reasons, parts of flows) have no mention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mention {
    /// The place of the use: a single word.
    pub at: Span,
    /// The word at the declaration; a reason, which is declared where it is named first, mentions itself there.
    /// It is the same word, except where a service or a part is named in small letters.
    pub of: Span,
}

impl Mention {
    /// Whether it names what is declared at another place.
    pub fn is_use(&self) -> bool {
        self.at != self.of
    }
}
