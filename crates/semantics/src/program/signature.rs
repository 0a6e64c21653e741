//! Types of layers: what a boundary between two layers carries, and what a layer claims to need and give.
//!
//! A signature is a row: what it does not mention is left open, and passes through the layers between. Keeps: a
//! signature here contains what it includes, so that readers need not follow inclusions.

use mokume_base::Span;

use super::{AttributeId, Expr, Field, Name, SignatureId, Type, VocabularyId};

/// What a boundary between two layers carries.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name, as in `needs` and `gives`.
    pub name: Name,
    /// All signatures that it includes, directly or not.
    pub included: Vec<SignatureId>,
    /// What is promised, in words, and the place in the text: it holds only where a layer says that it gives it.
    pub promise: Option<(String, Span)>,
    /// What travels through the boundary, and the place in the text.
    pub unit: Option<(Unit, Span)>,
    /// Whether messages keep their length, and the place in the text.
    pub boundaries: Option<(Boundaries, Span)>,
    /// Events that go down; those of the language have no parameters here.
    pub down: Vec<Carried>,
    /// Events that go up.
    pub up: Vec<Carried>,
    /// Parts of the flows above such a layer: its addresses and keys.
    pub parts: Vec<Field>,
    /// Values that layers above can read.
    pub published: Vec<Offered>,
    /// Attributes that a layer below reads.
    pub reads: Vec<(AttributeId, Span)>,
    /// Attributes that a layer below writes.
    pub writes: Vec<(AttributeId, Span)>,
    /// Vocabularies that a layer below speaks.
    pub speaks: Vec<(VocabularyId, Span)>,
}

/// What travels through a boundary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Separate messages.
    Message,
    /// A stream of octets without boundaries.
    Stream,
}

/// Whether a message comes up with its original length, or with padding behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boundaries {
    /// With its original length.
    Exact,
    /// Perhaps with additional octets at its end.
    Padded,
}

/// An event with the types of its parameters.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The name in handlers and emissions.
    pub name: Name,
    /// The parameters; empty for events of the language.
    pub params: Vec<Field>,
    /// `may` in a vocabulary: a stack is also correct if no layer emits it, or none handles it.
    pub optional: bool,
    /// `all` in a vocabulary: it goes to the entities of all layers on that side, through layers of any shape.
    pub of_all: bool,
    /// `begins` in a vocabulary: it begins a view.
    pub begins: bool,
    /// `ends` in a vocabulary: its sender sends nothing more in this view.
    pub ends: bool,
}

/// A published value in a signature.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The name, as in `below.name`.
    pub name: Name,
    /// The type, which the publisher must use.
    pub ty: Type,
    /// `publish x(flow): T`
    pub per_flow: bool,
}

/// Own events and reasons, which pass through layers that do not know them.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// The name, as in `speaks`.
    pub name: Name,
    /// Events that go down.
    pub down: Vec<Carried>,
    /// Events that go up.
    pub up: Vec<Carried>,
    /// Reasons that have one meaning in all layers.
    pub reasons: Vec<Name>,
}

impl Vocabulary {
    /// The event of this name.
    pub fn event(&self, name: &str) -> Option<&Carried> {
        self.down.iter().chain(&self.up).find(|known| known.name.text == name)
    }
}

/// One thing that a layer `needs`, `gives` or `breaks`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The claim.
    pub what: Claimed,
    /// A condition on the layer's parameters; without one the claim always holds.
    pub when: Option<Expr>,
    /// The place in the layer's text.
    pub span: Span,
}

impl Claim {
    /// Whether it is about this signature: it names it, or one that includes it. `all` are the program's.
    pub fn speaks_of(&self, all: &[Signature], signature: SignatureId) -> bool {
        match self.what {
            Claimed::Signature(id) => id == signature || all[id.index()].included.contains(&signature),
            Claimed::Boundaries(_) => false,
        }
    }
}

/// What can be claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claimed {
    /// Everything in a signature.
    Signature(SignatureId),
    /// `exact`, `padded`
    Boundaries(Boundaries),
}

impl Boundaries {
    /// The word in the source.
    pub fn word(self) -> &'static str {
        match self {
            Boundaries::Exact => "exact",
            Boundaries::Padded => "padded",
        }
    }
}

impl Unit {
    /// The word in the source.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Message => "message",
            Unit::Stream => "stream",
        }
    }
}

/// What may stand behind a message and a dot beside its attributes. Of fields of octets (`uN` and `be` or `le`) those that are usual.
pub const OF_MESSAGES: [&str; 26] = [
    "size",
    "share",
    "sum16",
    "received",
    "trim",
    "skip",
    "split",
    "join",
    "has",
    "field",
    "u8",
    "u16be",
    "u24be",
    "u32be",
    "u64be",
    "u16le",
    "u32le",
    "u64le",
    "put_u8",
    "put_u16be",
    "put_u24be",
    "put_u32be",
    "put_u64be",
    "put_u16le",
    "put_u32le",
    "put_u64le",
];

/// Reasons for which the compiler itself drops a layer's messages, or counts them: what a layer drops by such a name is
/// counted together with these. Those of wires, with the names of their fields, are besides.
pub const COMPILER_REASONS: [&str; 11] = [
    "ended",
    "failed",
    "lost",
    "no_credit",
    "path",
    "quote_short",
    "shared",
    "short",
    "tag",
    "unexpected",
    "unmatched",
];

/// Reasons that have one meaning in all layers (docs/language.md, section 14).
pub const STANDARD_REASONS: [&str; 8] =
    ["bad_address", "no_route", "refused", "reset", "timed_out", "too_big", "no_room", "gone"];
