//! Types, and what stands at the top of a file beside layers and stacks: enums, records, attributes, services.

use mokume_base::Span;

use super::{EnumId, ObjectId, RecordId};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    Bool,
    UInt(u8),
    Seq(u8),
    Duration,
    Instant,
    Enum(EnumId),
    Record(RecordId),
    /// Linear.
    Message,
    /// The flow of the layer's upper side (`Above`: what `deliver … from` and `send … to` name) or of its lower side.
    Flow(Side),
    /// A handle of a keyed object of the same layer.
    Object(ObjectId),
    Reason,
    Unit,
    /// After an error; agrees with everything.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    Above,
    Below,
}

#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Name,
    pub ty: Type,
    /// In headers and keys: the byte order where no wire says it.
    pub big: Option<bool>,
    /// In headers and keys: the value that most packets have.
    pub common: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub name: Name,
    pub width: u8,
    pub names: Vec<(Name, u64)>,
    /// With data: its values are of this record, whose first field is the number.
    pub data: Option<RecordId>,
    /// For each name, its parts among the record's fields.
    pub parts: Vec<std::ops::Range<usize>>,
}

#[derive(Clone, Debug)]
pub struct Record {
    pub name: Name,
    pub fields: Vec<Field>,
    /// It is a bounded vector: its fields are the length and the elements, of which those behind the length are zero.
    pub vector: Option<Vector>,
}

/// `[T; ..8]`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector {
    pub element: Type,
    pub bound: u32,
}

#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: Name,
    /// A scalar.
    pub ty: Type,
    pub default: u64,
}

#[derive(Clone, Debug)]
pub struct Service {
    pub name: Name,
    pub operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub name: Name,
    /// From the server to all users (`out`), or from a user to the server.
    pub out: bool,
    pub params: Vec<Field>,
}
