//! Types, and the items of files besides layers and stacks: enums, records, attributes, services.

use mokume_base::{Form, Notation, Span};

use super::{EnumId, ObjectId, RecordId};

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `bool`, of one bit.
    Bool,
    /// `u1` … `u64`, by its bits.
    UInt(u8),
    /// `seq1` … `seq64`: numbers of a circle, compared circularly.
    Seq(u8),
    /// Nanoseconds, in 64 bits.
    Duration,
    /// A time of the stack's clock in nanoseconds, in 64 bits.
    Instant,
    /// An enum without data, as its number. An enum with data is a record.
    Enum(EnumId),
    /// A record; also a bounded vector ([`Record::vector`]) or an enum with data ([`Enum::data`]).
    Record(RecordId),
    /// A message, which is linear.
    Message,
    /// A flow of the layer's upper side (`Above`: the one in `deliver … from` and `send … to`) or of its lower side.
    Flow(Side),
    /// A handle of a keyed object of the current layer.
    Object(ObjectId),
    /// A handle of a listener's point of the current layer.
    Listener,
    /// A member's number in a view, from 0 on; valid in that view only.
    Rank,
    /// A set of ranks, one bit for each.
    Ranks,
    /// The reason of a failure; it can be compared only with names of reasons.
    Reason,
    /// No value.
    Unit,
    /// The type after an error; it fits any other type.
    Unknown,
}

/// A side of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// Towards the application.
    Above,
    /// Towards the device.
    Below,
}

/// A name, and its place in the source.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text as written; paths include their dots.
    pub text: String,
    /// The place; for what has no name in the source, the place that it comes from.
    pub span: Span,
}

impl Name {
    /// The name inside a part of a layer: the text behind the last dot.
    pub fn plain(&self) -> &str {
        self.text.rsplit('.').next().unwrap_or(&self.text)
    }

    /// Whether it is written as alternatives are, with a large letter first; `_` in front says that it is meant to be unused.
    pub fn is_capital(&self) -> bool {
        mokume_syntax::is_upper(&self.text)
    }

    /// Whether it begins with `_`, which says that the author means it and silences warnings.
    pub fn is_meant(&self) -> bool {
        self.plain().starts_with('_')
    }
}

/// A field of a record, a key, an address or a header; a parameter of an event or operation.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name, unique in its list; names that the compiler makes begin with a dot, which no source can write.
    pub name: Name,
    /// The type: in keys a scalar, in headers a scalar or a bounded vector.
    pub ty: Type,
    /// In headers and keys: big-endian or not, if no wire says it.
    pub big: Option<bool>,
    /// In headers and keys: the value in most packets.
    pub common: Option<u64>,
    /// For scalars: the notation of the declared type.
    pub written: Option<Notation>,
}

/// Names for numbers.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The name in the source.
    pub name: Name,
    /// The bits of a value.
    pub width: u8,
    /// Numbers without a name are valid values, too.
    pub open: bool,
    /// The names with their numbers, which fit the width and are all different.
    pub names: Vec<(Name, u64)>,
    /// For an enum with data: the record of its values, whose first field is the number.
    pub data: Option<RecordId>,
    /// For each name, the range of its parts among the record's fields.
    pub parts: Vec<std::ops::Range<usize>>,
}

/// Values side by side.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name; for a bounded vector, its type as written.
    pub name: Name,
    /// The fields, in their order in memory.
    pub fields: Vec<Field>,
    /// Set for a bounded vector: its fields are the length and the elements; elements at or beyond the length are zero.
    pub vector: Option<Vector>,
    /// The notation of its values; [`Program::form`](super::Program::form) gives it in full.
    pub written: Option<RecordNotation>,
}

/// The notation of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordNotation {
    /// All its fields, which are `uN`, written as one number, the first field highest.
    Whole(Notation),
    /// `first/second`: its two fields; the second is the length of a prefix of the first, which has its own notation.
    Prefix,
}

/// A type with a notation.
#[derive(Clone, Debug)]
pub struct WrittenType {
    /// The declared name.
    pub name: Name,
    /// A `uN`, or a record.
    pub ty: Type,
    /// The form in which literals are read, and values shown.
    pub form: Form,
}

/// `[T; ..8]`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector {
    /// Any type that can be stored.
    pub element: Type,
    /// The most elements, from 1 to 64.
    pub bound: u32,
}

/// A number that goes with a message beside its octets.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name, as in `msg.name`.
    pub name: Name,
    /// What qualifies the name where several modules have it.
    pub module: String,
    /// A scalar.
    pub ty: Type,
    /// The value in messages in which no layer has written it.
    pub default: u64,
    /// The notation of the declared type.
    pub written: Option<Notation>,
}

/// What one layer asks of another layer beside it.
#[derive(Clone, Debug)]
pub struct Service {
    /// The name; the layer that serves it uses it in small letters.
    pub name: Name,
    /// The operations, numbered in this order.
    pub operations: Vec<Operation>,
}

/// One thing that a service does or tells.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The name, unique in its service.
    pub name: Name,
    /// `out`: from the server to all users; else from a user to the server.
    pub out: bool,
    /// The parameters.
    pub params: Vec<Field>,
}
