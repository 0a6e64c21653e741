//! Types, and what stands at the top of a file beside layers and stacks: enums, records, attributes, services.

use mokume_base::{Form, Notation, Span};

use super::{EnumId, ObjectId, RecordId};

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `bool`, of one bit.
    Bool,
    /// `u1` … `u64`, by its bits.
    UInt(u8),
    /// `seq1` … `seq64`: numbers of a circle, compared by which is ahead.
    Seq(u8),
    /// Nanoseconds, in 64 bits.
    Duration,
    /// Nanoseconds of the stack's clock, in 64 bits.
    Instant,
    /// An enum without data, by its number. One with data is a record.
    Enum(EnumId),
    /// Also of bounded vectors ([`Record::vector`]) and of enums with data ([`Enum::data`]).
    Record(RecordId),
    /// Linear.
    Message,
    /// The flow of the layer's upper side (`Above`: what `deliver … from` and `send … to` name) or of its lower side.
    Flow(Side),
    /// A handle of a keyed object of the same layer.
    Object(ObjectId),
    /// A handle of a listener's point of the same layer.
    Listener,
    /// Who somebody is in a view, from 0 on; of one view alone.
    Rank,
    /// A set of ranks, a bit each.
    Ranks,
    /// Why something failed; compared only with names of reasons.
    Reason,
    /// No value.
    Unit,
    /// After an error; agrees with everything.
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

/// A name, and where the source has it.
#[derive(Clone, Debug)]
pub struct Name {
    /// As it is written; of paths with their dots.
    pub text: String,
    /// Of what has no name in the source, the place that it comes from.
    pub span: Span,
}

impl Name {
    /// What a part of a layer calls it: without what stands before the last dot.
    pub fn plain(&self) -> &str {
        self.text.rsplit('.').next().unwrap_or(&self.text)
    }

    /// Whether it begins with `_`: what a check would ask about is meant so.
    pub fn is_meant(&self) -> bool {
        self.plain().starts_with('_')
    }
}

/// A field of a record, a key, an address or a header; a parameter of an event or operation.
#[derive(Clone, Debug)]
pub struct Field {
    /// Unique among its like; what the compiler makes begins with a dot, which no source can write.
    pub name: Name,
    /// In keys and headers a scalar, in headers also a bounded vector.
    pub ty: Type,
    /// In headers and keys: the byte order where no wire says it.
    pub big: Option<bool>,
    /// In headers and keys: the value that most packets have.
    pub common: Option<u64>,
    /// Of scalars, and of a vector's elements: how the declared type's values are written.
    pub written: Option<Notation>,
}

/// Names for numbers.
#[derive(Clone, Debug)]
pub struct Enum {
    /// As the source has it.
    pub name: Name,
    /// The bits of its numbers.
    pub width: u8,
    /// Numbers without a name are values, too.
    pub open: bool,
    /// Each with its number, which fits the width; numbers differ.
    pub names: Vec<(Name, u64)>,
    /// With data: its values are of this record, whose first field is the number.
    pub data: Option<RecordId>,
    /// For each name, its parts among the record's fields.
    pub parts: Vec<std::ops::Range<usize>>,
}

/// Values side by side.
#[derive(Clone, Debug)]
pub struct Record {
    /// Of a bounded vector, how its type is written.
    pub name: Name,
    /// In the order in which they lie.
    pub fields: Vec<Field>,
    /// It is a bounded vector: its fields are the length and the elements, of which those behind the length are zero.
    pub vector: Option<Vector>,
    /// How its values are written; [`Program::form`](super::Program::form) has it whole.
    pub written: Option<RecordNotation>,
}

/// How a record's values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordNotation {
    /// All its fields, which are `uN`, as one number, the first the highest.
    Whole(Notation),
    /// `first/second`: its two fields, the second the length of a prefix of the first, which has a notation of its own.
    Prefix,
}

/// A type that says how its values are written.
#[derive(Clone, Debug)]
pub struct WrittenType {
    /// As it is declared.
    pub name: Name,
    /// A `uN`, or a record.
    pub ty: Type,
    /// By which literals are read, and values shown.
    pub form: Form,
}

/// `[T; ..8]`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector {
    /// Any type that can be stored.
    pub element: Type,
    /// How many elements there are at most, from 1 to 64.
    pub bound: u32,
}

/// A number that goes with a message beside its octets.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// As `msg.name` has it.
    pub name: Name,
    /// A scalar.
    pub ty: Type,
    /// Of messages for which nobody has written it.
    pub default: u64,
    /// How the declared type's values are written.
    pub written: Option<Notation>,
}

/// What one layer asks of another beside it.
#[derive(Clone, Debug)]
pub struct Service {
    /// In the layer that serves it, it is called by this in small letters.
    pub name: Name,
    /// In the order of the declaration, by which events and emissions number them.
    pub operations: Vec<Operation>,
}

/// One thing that a service does or tells.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Unique in its service.
    pub name: Name,
    /// From the server to all users (`out`), or from a user to the server.
    pub out: bool,
    /// With their types.
    pub params: Vec<Field>,
}
