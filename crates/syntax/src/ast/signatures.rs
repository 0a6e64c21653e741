//! Types of layers: signatures, vocabularies, and what a layer needs and gives.

use super::containers::texts;
use super::{child, children, choice, doc_of, expr_after, first_token, node, Address, Expr, Key, Name, Publish, Reads};
use super::{Parts, Signal, Writes};

choice! {
    /// A member of a signature.
    SignatureMember {
        Include(Include), Promise(Promise), Unit(Unit), Boundaries(Boundaries), Directed(Directed), Address(Address), Key(Key),
        Publish(Publish), Reads(Reads), Writes(Writes), Speaks(Speaks),
    }
}

node! {
    /// `signature Internet { include Datagrams  … }`
    Signature = SIGNATURE;
    /// `include Datagrams, Addressed`
    Include = INCLUDE;
    /// `promise "casts come once, in the order of their member"`
    Promise = PROMISE;
    /// `unit message`, `unit stream`
    Unit = UNIT;
    /// `boundaries exact`, `boundaries padded`
    Boundaries = BOUNDARIES;
    /// `down open, ask(who: u8)`, `up known(who: u8)`
    Directed = DIRECTED;
    /// `vocabulary Presence { … }`
    Vocabulary = VOCABULARY;
    /// `reasons left, expelled`
    Reasons = REASONS;
    /// `speaks Presence`
    Speaks = SPEAKS;
    /// `needs Datagrams, exact when checksums`
    Needs = NEEDS;
    /// `gives Datagrams`
    Gives = GIVES;
    /// `breaks InView`
    Breaks = BREAKS;
    /// One name behind `needs`, `gives` or `breaks`
    Claim = CLAIM;
    /// `when checksums`
    WhenClause = WHEN_CLAUSE;
}

macro_rules! names {
    ($($node:ident),*) => {$(
        impl $node {
            /// The names, in order.
            pub fn names(&self) -> Vec<Name> {
                children(&self.0)
            }
        }
    )*};
}
names!(Include, Unit, Boundaries, Reasons, Speaks, Parts);

impl Signature {
    /// Its name in `needs` and `gives`.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<SignatureMember> {
        children(&self.0)
    }
}

impl Vocabulary {
    /// Its name in `speaks`.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        doc_of(&self.0)
    }
    /// The events, grouped by direction as written.
    pub fn events(&self) -> Vec<Directed> {
        children(&self.0)
    }
    /// All reasons.
    pub fn reasons(&self) -> Vec<Name> {
        children::<Reasons>(&self.0).iter().flat_map(Reasons::names).collect()
    }
}

impl Promise {
    /// What is promised, in words; none where the text is missing.
    pub fn text(&self) -> Option<String> {
        texts(&self.0).into_iter().next()
    }
}

impl Directed {
    /// Whether it is `down`, not `up`.
    pub fn is_down(&self) -> bool {
        first_token(&self.0).is_some_and(|token| token.text() == "down")
    }
    /// The events, in order.
    pub fn events(&self) -> Vec<Signal> {
        children(&self.0)
    }
}

macro_rules! claims {
    ($($node:ident),*) => {$(
        impl $node {
            /// Signatures, `exact`, `padded`.
            pub fn names(&self) -> Vec<Name> {
                children::<Claim>(&self.0).iter().filter_map(|claim| child(&claim.0)).collect()
            }
            /// The condition on the layer's parameters; without one the claim always holds.
            pub fn condition(&self) -> Option<Expr> {
                child::<WhenClause>(&self.0).and_then(|when| expr_after(&when.0, "when"))
            }
        }
    )*};
}
claims!(Needs, Gives, Breaks);
