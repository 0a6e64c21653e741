//! What the operands of an operation may be, and what it may name: the columns of the table.
//!
//! A [`Kind`] says how a field is written, which type it needs and what it must fit; a [`Slot`] is the content of one
//! field of one operation.

use std::borrow::Cow;

use super::{Binary, Compare, Endian};
use crate::{
    AttributeId, CellId, ClassId, FunctionId, HeaderId, ParamId, PortId, ReasonId, Type, Value, VariantId, WireId,
};

/// An unsigned number of whole octets in a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OctetField {
    /// In bits: whole octets, 8 to 64.
    pub width: u8,
    pub endian: Endian,
}

impl OctetField {
    /// The type of the number as a value.
    pub fn ty(self) -> Type {
        Type::U(self.width)
    }

    /// As the text form writes it: `be16`.
    pub fn word(self) -> String {
        format!("{}{}", self.endian.word(), self.width)
    }

    /// Parses `be16` and the like; `None` for another word or an unsupported width.
    pub fn of_word(word: &str) -> Option<OctetField> {
        let endian = Endian::of_word(word.get(..2)?)?;
        let field = OctetField { width: word[2..].parse().ok()?, endian };
        field.is_whole().then_some(field)
    }

    /// Whether the width is one of those above.
    pub fn is_whole(self) -> bool {
        matches!(self.width, 8 | 16 | 24 | 32 | 40 | 48 | 56 | 64)
    }
}

/// The content of one field of an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Slot<'a> {
    Value(Value),
    Values(Cow<'a, [Value]>),
    Perhaps(Option<Value>),
    Type(Type),
    PerhapsType(Option<Type>),
    Number(u64),
    Name(Cow<'a, str>),
    Octets(Cow<'a, [u8]>),
    Cell(CellId),
    Class(ClassId),
    Function(FunctionId),
    Param(ParamId),
    Header(HeaderId),
    Variant(VariantId),
    Wire(WireId),
    Attribute(AttributeId),
    Reason(ReasonId),
    Port(PortId),
    Field(OctetField),
    Binary(Binary),
    Compare(Compare),
}

impl Slot<'_> {
    /// The value, if the slot holds exactly one; `None` for a list, an absent optional value, and slots without values.
    pub fn value(&self) -> Option<Value> {
        match self {
            Slot::Value(value) | Slot::Perhaps(Some(value)) => Some(*value),
            _ => None,
        }
    }

    /// The cell, if the slot names one.
    pub fn cell(&self) -> Option<CellId> {
        match self {
            Slot::Cell(cell) => Some(*cell),
            _ => None,
        }
    }

    /// The type, if the slot names one.
    pub(crate) fn ty(&self) -> Option<Type> {
        match self {
            Slot::Type(ty) => Some(*ty),
            _ => None,
        }
    }

    /// The class, if the slot names one.
    pub(crate) fn class(&self) -> Option<ClassId> {
        match self {
            Slot::Class(class) => Some(*class),
            _ => None,
        }
    }

    /// The values in the slot, in order.
    pub fn values(&self) -> Vec<Value> {
        match self {
            Slot::Values(values) => values.to_vec(),
            other => other.value().into_iter().collect(),
        }
    }
}

/// Implemented by all types that a field of an operation can have.
pub trait Data: Sized {
    fn slot(&self) -> Slot<'_>;

    fn of_slot(slot: Slot<'_>) -> Option<Self>;

    fn each(&self, _: &mut dyn FnMut(Value)) {}

    fn each_mut(&mut self, _: &mut dyn FnMut(&mut Value)) {}
}

impl Data for Value {
    fn slot(&self) -> Slot<'_> {
        Slot::Value(*self)
    }

    fn of_slot(slot: Slot<'_>) -> Option<Self> {
        match slot {
            Slot::Value(value) => Some(value),
            _ => None,
        }
    }

    fn each(&self, f: &mut dyn FnMut(Value)) {
        f(*self);
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        f(self);
    }
}

impl Data for Vec<Value> {
    fn slot(&self) -> Slot<'_> {
        Slot::Values(Cow::Borrowed(self))
    }

    fn of_slot(slot: Slot<'_>) -> Option<Self> {
        match slot {
            Slot::Values(values) => Some(values.into_owned()),
            _ => None,
        }
    }

    fn each(&self, f: &mut dyn FnMut(Value)) {
        self.iter().for_each(|value| f(*value));
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.iter_mut().for_each(f);
    }
}

impl Data for Option<Value> {
    fn slot(&self) -> Slot<'_> {
        Slot::Perhaps(*self)
    }

    fn of_slot(slot: Slot<'_>) -> Option<Self> {
        match slot {
            Slot::Perhaps(value) => Some(value),
            Slot::Value(value) => Some(Some(value)),
            _ => None,
        }
    }

    fn each(&self, f: &mut dyn FnMut(Value)) {
        self.iter().for_each(|value| f(*value));
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        self.iter_mut().for_each(f);
    }
}

/// Implements [`Data`] for types without values in them.
macro_rules! plain {
    ($($ty:ty, $slot:pat => $of:expr, $self:ident => $to:expr;)*) => { $(
        impl Data for $ty {
            fn slot(&self) -> Slot<'_> {
                let $self = self;
                $to
            }

            fn of_slot(slot: Slot<'_>) -> Option<Self> {
                match slot {
                    $slot => Some($of),
                    _ => None,
                }
            }
        }
    )* };
}

plain! {
    u64, Slot::Number(number) => number, it => Slot::Number(*it);
    u32, Slot::Number(number) => number.try_into().ok()?, it => Slot::Number(u64::from(*it));
    String, Slot::Name(name) => name.into_owned(), it => Slot::Name(Cow::Borrowed(it));
    Vec<u8>, Slot::Octets(octets) => octets.into_owned(), it => Slot::Octets(Cow::Borrowed(it));
    Type, Slot::Type(ty) => ty, it => Slot::Type(*it);
    Option<Type>, Slot::PerhapsType(ty) => ty, it => Slot::PerhapsType(*it);
    CellId, Slot::Cell(id) => id, it => Slot::Cell(*it);
    ClassId, Slot::Class(id) => id, it => Slot::Class(*it);
    FunctionId, Slot::Function(id) => id, it => Slot::Function(*it);
    ParamId, Slot::Param(id) => id, it => Slot::Param(*it);
    HeaderId, Slot::Header(id) => id, it => Slot::Header(*it);
    VariantId, Slot::Variant(id) => id, it => Slot::Variant(*it);
    WireId, Slot::Wire(id) => id, it => Slot::Wire(*it);
    AttributeId, Slot::Attribute(id) => id, it => Slot::Attribute(*it);
    ReasonId, Slot::Reason(id) => id, it => Slot::Reason(*it);
    PortId, Slot::Port(id) => id, it => Slot::Port(*it);
    OctetField, Slot::Field(field) => field, it => Slot::Field(*it);
    Binary, Slot::Binary(op) => op, it => Slot::Binary(*it);
    Compare, Slot::Compare(op) => op, it => Slot::Compare(*it);
}

/// The kinds of fields, and the Rust type of each.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $ty:ty,)*) => {
        /// The kind of a field: what it may hold.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        /// The data type of each kind, by the kind's name; the table's enumerations are made from these.
        pub(crate) mod data {
            use super::*;
            $(pub type $kind = $ty;)*
        }
    };
}

kinds! {
    // -- one value
    /// `bool`, a number, a name of an enumeration.
    Scalar: Value,
    /// A number, or `bool`.
    Bits: Value,
    /// Two values of one type, which is not `msg`.
    Alike: Value,
    /// The operands of arithmetic: two of one type for which it is defined.
    Operand: Value,
    /// The operands of a comparison.
    Compared: Value,
    Truth: Value,
    /// A `u32`: a size, an offset, a position, an amount of a quota.
    Word32: Value,
    /// A `u64`: a deadline.
    Word64: Value,
    /// A plain number of any width; as a literal, a `u32`.
    Count: Value,
    /// A number as wide as the octet field.
    Content: Value,
    Reason: Value,
    /// A message; the operation uses it up.
    Message: Value,
    /// A message that is only read.
    Borrowed: Value,
    /// A reference.
    Object: Value,
    /// A reference to an object of the handler's own layer.
    Own: Value,
    /// The same, of a class with `on settle`.
    Settling: Value,
    /// A reference to an object of another layer.
    Neighbour: Value,
    /// A value of the type that the cell holds in one place.
    Element: Value,
    /// A value of the attribute's type.
    AttributeValue: Value,
    /// An array.
    Array: Value,
    /// A value of the array's item type.
    Item: Value,
    /// A value of the array type that equals the cell's whole array.
    Whole: Value,

    // -- several values
    /// Values of the function's parameter types.
    Arguments: Vec<Value>,
    /// Values of the event's parameter types.
    EventArguments: Vec<Value>,
    /// Values of the parameter types of the port's output.
    OutputArguments: Vec<Value>,
    /// The header's fields; written with their names.
    Fields: Vec<Value>,
    /// Values of the types of the map's key.
    Key: Vec<Value>,
    /// Values of the map's value types; each is written after a comma.
    MapValues: Vec<Value>,
    Numbers: Vec<Value>,
    /// Values of the item type of the named array, at most as many as it has items.
    Items: Vec<Value>,

    // -- perhaps a value
    /// The parent object; absent for a class without a parent.
    Parent: Option<Value>,
    PerhapsMessage: Option<Value>,

    // -- what is named
    /// The type of a constant.
    ConstantType: Type,
    ScalarType: Type,
    ArrayType: Type,
    PerhapsType: Option<Type>,
    Number: u64,
    Class: ClassId,
    /// A class with one object that exists from the start.
    UniqueClass: ClassId,
    /// A class of the handler's own layer.
    OwnClass: ClassId,
    ScalarCell: CellId,
    /// A cell with one reference to an object of another layer.
    LinkCell: CellId,
    ArrayCell: CellId,
    TimerCell: CellId,
    CounterCell: CellId,
    QuotaCell: CellId,
    MessagesCell: CellId,
    MapCell: CellId,
    Function: FunctionId,
    /// A procedure of the layer.
    Procedure: FunctionId,
    /// A procedure that may refuse.
    Refusing: FunctionId,
    /// A memo.
    Memo: FunctionId,
    Param: ParamId,
    Header: HeaderId,
    /// Written with its header.
    Variant: VariantId,
    Wire: WireId,
    Attribute: AttributeId,
    ReasonName: ReasonId,
    Port: PortId,
    /// By index in [`crate::Port::outputs`].
    Output: u32,
    /// An event for which the target has a handler.
    Event: String,
    /// The same, with a queue for `later`.
    QueuedEvent: String,
    /// A function in C.
    Symbol: String,
    Octets: Vec<u8>,
    Field: OctetField,
    /// The most octets by which a message may grow.
    Growth: u32,
    Arithmetic: Binary,
    Comparison: Compare,
}
