//! What all parts of the form share: index types, values, and their types.
//!
//! It knows nothing else of the form, so that operations, bodies and automata can depend on it.

/// The most octets of a message that a layer makes or an application sends (docs/semantics.md, F11). Headers that wires
/// add come on top.
pub const LONGEST_MESSAGE: u32 = 65_535;

mokume_base::ids! {
    /// A layer instance of the stack.
    LayerId,
    /// A class of objects: the entity, points, sessions or keyed objects of one layer instance.
    ClassId,
    /// A cell, by its index in its class.
    CellId,
    /// An enumeration.
    EnumId,
    /// What a layer pushes onto messages, with all its variants.
    HeaderId,
    /// An alternative of a header, by its index in the header.
    VariantId,
    /// The layout of headers in a packet.
    WireId,
    /// A door to the world outside.
    PortId,
    /// The code of the objects of one class for one event.
    HandlerId,
    /// A function, or a published value.
    FunctionId,
    /// A path: a whole reaction as one body.
    PathId,
    /// A parameter of the stack: set once, before the first reaction.
    ParamId,
    /// A typed value that travels with a message through layers that do not know it.
    AttributeId,
    /// Why a message was dropped or consumed.
    ReasonId,
    /// A place in a source text: an index into [`crate::Automaton::sources`].
    SourceId,
}

/// A value of one body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value(pub u32);

/// A block of one body; block 0 is the entry and has the body's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);

impl Value {
    /// The number as an index into [`crate::Body::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<usize> for BlockId {
    fn from(index: usize) -> Self {
        BlockId(index as u32)
    }
}

impl BlockId {
    /// The number as an index into [`crate::Body::blocks`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The type of a value. Records are flattened; `Instant` and `Duration` are `U(64)`, in nanoseconds.
///
/// An array is a value within a body only: cells hold arrays as [`crate::CellKind::Array`], and nothing that leaves or
/// enters a body (an event, a header, a function's signature, a key) is an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Type {
    Bool,
    /// Unsigned, 1 to 64 bits.
    U(u8),
    /// As `U`, but compared circularly (RFC 1982): `a < b` when `b - a` is in `1 .. 2^(n-1)`.
    Seq(u8),
    Enum(EnumId),
    /// A handle of an object of the class, or `null`.
    Ref(ClassId),
    /// A message: a header stack and octets. Linear: used up exactly once on every path.
    Msg,
    /// A [`ReasonId`] as a value: `decode` gives one when it refuses.
    Reason,
    /// An array of this many items, 1 to [`MOST_ITEMS`].
    Array(Item, u32),
}

/// The most items of an array value: each operation on an array may copy it.
pub const MOST_ITEMS: u32 = 4096;

/// The item type of an array value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Item {
    Bool,
    U(u8),
    Seq(u8),
    Enum(EnumId),
    Reason,
}

impl Type {
    /// This type as an item of arrays, if arrays can have such items.
    pub fn as_item(self) -> Option<Item> {
        match self {
            Type::Bool => Some(Item::Bool),
            Type::U(bits) => Some(Item::U(bits)),
            Type::Seq(bits) => Some(Item::Seq(bits)),
            Type::Enum(id) => Some(Item::Enum(id)),
            Type::Reason => Some(Item::Reason),
            Type::Ref(_) | Type::Msg | Type::Array(..) => None,
        }
    }

    /// The item type of an array, and how many items it has.
    pub fn array(self) -> Option<(Type, u32)> {
        match self {
            Type::Array(item, count) => Some((item.ty(), count)),
            Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Ref(_) | Type::Msg | Type::Reason => None,
        }
    }
}

impl Item {
    /// The type of one item as a value.
    pub fn ty(self) -> Type {
        match self {
            Item::Bool => Type::Bool,
            Item::U(bits) => Type::U(bits),
            Item::Seq(bits) => Type::Seq(bits),
            Item::Enum(id) => Type::Enum(id),
            Item::Reason => Type::Reason,
        }
    }
}

/// An object's number and generation. A port refuses the handle of an object that has ended. `NULL` refers to none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Handle {
    pub object: u32,
    pub generation: u32,
}

impl Handle {
    /// The handle of no object. A port accepts it among arguments, and refuses it as the object of an event
    /// (docs/semantics.md, P3).
    pub const NULL: Handle = Handle { object: u32::MAX, generation: 0 };
}
