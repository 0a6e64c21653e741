//! Types of layers: what a boundary between two layers carries, and what a layer says that it needs and gives.
//!
//! A signature is a row: what it does not mention is left open, and passes through the layers between. Keeps: a signature
//! here holds what it includes, too, so that nobody has to follow the inclusions again.

use mokume_base::Span;

use super::{AttributeId, Expr, Field, Name, SignatureId, Type, VocabularyId};

/// What a boundary between two layers carries.
#[derive(Clone, Debug)]
pub struct Signature {
    /// As `needs` and `gives` name it.
    pub name: Name,
    /// All that it includes, directly or not.
    pub included: Vec<SignatureId>,
    /// What goes through the boundary, and where that is said.
    pub unit: Option<(Unit, Span)>,
    /// Whether messages keep their length, and where that is said.
    pub boundaries: Option<(Boundaries, Span)>,
    /// Events by name; those of the language have no parameters here.
    pub down: Vec<Carried>,
    /// Events that go up.
    pub up: Vec<Carried>,
    /// Parts of the flows above such a layer: addresses and keys.
    pub parts: Vec<Field>,
    /// Values that come up.
    pub published: Vec<Offered>,
    /// Attributes that somebody below reads.
    pub reads: Vec<(AttributeId, Span)>,
    /// Attributes that somebody below writes.
    pub writes: Vec<(AttributeId, Span)>,
    /// Vocabularies that somebody below speaks.
    pub speaks: Vec<(VocabularyId, Span)>,
}

/// What goes through a boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Messages, each by itself.
    Message,
    /// Octets without ends.
    Stream,
}

/// Whether a message comes up as long as it went down, or with padding behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boundaries {
    /// As long as it went down.
    Exact,
    /// Perhaps with octets behind it that nobody sent.
    Padded,
}

/// An event with the types of its parameters.
#[derive(Clone, Debug)]
pub struct Carried {
    /// As handlers and emissions name it.
    pub name: Name,
    /// Empty for events of the language.
    pub params: Vec<Field>,
    /// Whether a stack is right in which nobody says it, or nobody hears it: `may` in a vocabulary.
    pub optional: bool,
    /// Whether it goes to all layers on that side, through whatever shape, for their entities: `all` in a vocabulary.
    pub of_all: bool,
    /// Whether a view begins with it: `begins` in a vocabulary.
    pub begins: bool,
    /// Whether who says it sends no more in this view: `ends` in a vocabulary.
    pub ends: bool,
}

/// A published value that a signature speaks of.
#[derive(Clone, Debug)]
pub struct Offered {
    /// As `below.name` has it.
    pub name: Name,
    /// Its type, which who publishes it must have.
    pub ty: Type,
    /// `publish x(flow): T`
    pub per_flow: bool,
}

/// Events and reasons of one's own, which pass through layers that do not care.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// As `speaks` names it.
    pub name: Name,
    /// Events that go down.
    pub down: Vec<Carried>,
    /// Events that go up.
    pub up: Vec<Carried>,
    /// Reasons that mean the same in every layer.
    pub reasons: Vec<Name>,
}

impl Vocabulary {
    /// The event of this name.
    pub fn event(&self, name: &str) -> Option<&Carried> {
        self.down.iter().chain(&self.up).find(|known| known.name.text == name)
    }
}

/// One thing that a layer `needs` or `gives`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What is claimed.
    pub what: Claimed,
    /// Of the layer's parameters; always, without.
    pub when: Option<Expr>,
    /// Where the layer says it.
    pub span: Span,
}

/// What can be claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claimed {
    /// All that a signature says.
    Signature(SignatureId),
    /// `exact`, `padded`
    Boundaries(Boundaries),
}

impl Boundaries {
    /// How the source says it.
    pub fn word(self) -> &'static str {
        match self {
            Boundaries::Exact => "exact",
            Boundaries::Padded => "padded",
        }
    }
}

impl Unit {
    /// How the source says it.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Message => "message",
            Unit::Stream => "stream",
        }
    }
}

/// Reasons that mean the same in every layer (docs/language.md, section 14).
pub const STANDARD_REASONS: [&str; 8] =
    ["bad_address", "no_route", "refused", "reset", "timed_out", "too_big", "no_room", "gone"];
