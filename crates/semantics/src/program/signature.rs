//! Types of layers: what a boundary between two layers carries, and what a layer says that it needs and gives.
//!
//! A signature is a row: what it does not mention is left open, and passes through the layers between. Keeps: a signature
//! here holds what it includes, too, so that nobody has to follow the inclusions again.

use mokume_base::Span;

use super::{AttributeId, Expr, Field, Name, SignatureId, Type, VocabularyId};

#[derive(Clone, Debug)]
pub struct Signature {
    pub name: Name,
    /// All that it includes, directly or not.
    pub included: Vec<SignatureId>,
    pub unit: Option<(Unit, Span)>,
    pub boundaries: Option<(Boundaries, Span)>,
    /// Events by name; those of the language have no parameters here.
    pub down: Vec<Carried>,
    pub up: Vec<Carried>,
    /// Parts of the flows above such a layer: addresses and keys.
    pub parts: Vec<Field>,
    pub published: Vec<Offered>,
    pub reads: Vec<(AttributeId, Span)>,
    pub writes: Vec<(AttributeId, Span)>,
    pub speaks: Vec<(VocabularyId, Span)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Message,
    Stream,
}

/// Whether a message comes up as long as it went down, or with padding behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boundaries {
    Exact,
    Padded,
}

/// An event with the types of its parameters.
#[derive(Clone, Debug)]
pub struct Carried {
    pub name: Name,
    pub params: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Offered {
    pub name: Name,
    pub ty: Type,
    /// `publish x(flow): T`
    pub per_flow: bool,
}

/// Events and reasons of one's own, which pass through layers that do not care.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    pub name: Name,
    pub down: Vec<Carried>,
    pub up: Vec<Carried>,
    pub reasons: Vec<Name>,
}

/// One thing that a layer `needs` or `gives`.
#[derive(Clone, Debug)]
pub struct Claim {
    pub what: Claimed,
    /// Of the layer's parameters; always, without.
    pub when: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claimed {
    Signature(SignatureId),
    Boundaries(Boundaries),
}

impl Boundaries {
    pub fn word(self) -> &'static str {
        match self {
            Boundaries::Exact => "exact",
            Boundaries::Padded => "padded",
        }
    }
}

impl Unit {
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
