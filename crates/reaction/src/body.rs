//! What a handler does: blocks of operations in SSA form, with block arguments.
//!
//! Each operation has one effect. An operation that may refuse is a terminator: it branches, and a message that was
//! not taken is still the handler's. Every cycle of blocks goes through a block with a `bound`.

use crate::{
    AttributeId, CellId, ClassId, FunctionId, HeaderId, ParamId, PortId, ReasonId, SourceId, Type, VariantId, WireId,
};

/// A value of one body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Value(pub u32);

/// A block of one body; block 0 is the entry and has the body's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BlockId(pub u32);

impl Value {
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
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    pub blocks: Vec<Block>,
    /// Type and name (for people; may be empty) of each value.
    pub values: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ValueInfo {
    pub ty: Type,
    pub name: String,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub label: String,
    pub params: Vec<Value>,
    pub ops: Vec<Op>,
    pub end: Terminator,
    /// Where an end of several targets comes from.
    pub mark: Option<Mark>,
    /// The block is the head of a loop that is entered at most this often before it is left.
    pub bound: Option<u32>,
}

/// Where an end comes from: a statement, and which of the ends it is that one rendering of the statement needs. So a
/// branch of a function that is rendered at each of its calls has one mark, whoever calls it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Mark {
    pub source: SourceId,
    pub nth: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Op {
    pub kind: OpKind,
    pub results: Vec<Value>,
    pub source: Option<SourceId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Binary {
    /// Modulo 2^n, by intent.
    AddWrap,
    SubWrap,
    MulWrap,
    /// Modulo 2^n, and a carry is reported (design, section 2, arithmetic).
    Add,
    Sub,
    Mul,
    /// Division by zero is 0 and reported.
    Div,
    Rem,
    And,
    Or,
    Xor,
    /// Shifts by the width or more give 0.
    Shl,
    Shr,
    Min,
    Max,
    /// The first below the second; else it is out of bounds, which is reported, and is the largest number of its width.
    Within,
}

impl Binary {
    /// Whether it may report (a carry, a division by zero, an index out of bounds), which is an effect.
    pub fn may_report(self) -> bool {
        matches!(self, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem | Binary::Within)
    }
}

/// On `Seq` values `Lt … Ge` are circular. References know `Eq` and `Ne` only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    /// `==` … `>=`: as the text form, C and people write it.
    pub fn sign(self) -> &'static str {
        match self {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Endian {
    Big,
    Little,
}

/// Operations that do not branch. `m` operands that are *borrowed* stay usable; all others are used up.
#[derive(Clone, PartialEq, Debug)]
pub enum OpKind {
    // -- values
    Const {
        ty: Type,
        value: u64,
    },
    /// The handle that refers to nothing.
    Null {
        class: ClassId,
    },
    /// Both of one type; the result has it too.
    Binary {
        op: Binary,
        a: Value,
        b: Value,
    },
    /// Both of one type.
    Compare {
        op: Compare,
        a: Value,
        b: Value,
    },
    /// Logical on `bool`, bitwise on `uN`.
    Not {
        a: Value,
    },
    /// `if c { a } else { b }`; not on messages.
    Select {
        c: Value,
        a: Value,
        b: Value,
    },
    /// To another scalar type, `to`: the low bits, or filled up with zeros.
    Cast {
        a: Value,
        to: Type,
    },
    Param {
        param: ParamId,
    },
    /// Nanoseconds; constant in a reaction.
    Now,
    Call {
        function: FunctionId,
        args: Vec<Value>,
    },
    /// A random number from the object's own stream.
    Draw {
        object: Value,
        ty: Type,
    },
    /// The one object of a unique class.
    Unique {
        class: ClassId,
    },
    /// The object that `object` was made in.
    Parent {
        object: Value,
    },

    // -- cells; `object` is a handle of the cell's class, never null
    Get {
        object: Value,
        cell: CellId,
    },
    Set {
        object: Value,
        cell: CellId,
        value: Value,
    },
    /// An index beyond the array is reported and reads 0.
    GetAt {
        object: Value,
        cell: CellId,
        index: Value,
    },
    /// An index beyond the array is reported and writes nothing.
    SetAt {
        object: Value,
        cell: CellId,
        index: Value,
        value: Value,
    },
    /// `deadline` in nanoseconds, rounded up to the tick; replaces an earlier one.
    Arm {
        object: Value,
        cell: CellId,
        deadline: Value,
    },
    Disarm {
        object: Value,
        cell: CellId,
    },
    IsArmed {
        object: Value,
        cell: CellId,
    },
    /// Adds to a counter.
    Count {
        object: Value,
        cell: CellId,
        amount: Value,
    },
    /// Gives `amount` (u32) back to a quota; more than was taken is reported.
    Give {
        object: Value,
        cell: CellId,
        amount: Value,
    },
    /// What is left of a quota, u32.
    Left {
        object: Value,
        cell: CellId,
    },
    /// Puts a message into a place (u32 index) that must be empty; else it is reported and the old one dropped as `gone`.
    Keep {
        object: Value,
        cell: CellId,
        index: Value,
        message: Value,
    },
    /// Whether a place holds a message.
    Holds {
        object: Value,
        cell: CellId,
        index: Value,
    },
    /// Ends an object and those in it: timers stop, held messages are dropped as `gone`; freed after the reaction.
    Release {
        object: Value,
    },
    /// The object settles once more in this reaction.
    Again {
        object: Value,
    },

    // -- messages
    /// A new message of these octets.
    NewMessage {
        octets: Vec<u8>,
    },
    Push {
        message: Value,
        header: HeaderId,
        variant: VariantId,
        fields: Vec<Value>,
    },
    /// Takes off a header of one variant: the message, then its fields.
    Pop {
        message: Value,
        header: HeaderId,
        variant: VariantId,
    },
    /// The wire's headers become octets. A field too narrow for its value is reported and truncated.
    Encode {
        message: Value,
        wire: WireId,
    },
    /// Octets, u32; headers that are not encoded are not counted. Borrows.
    Size {
        message: Value,
    },
    /// Keeps the first `size` (u32) octets; more than there are is reported and keeps all.
    Trim {
        message: Value,
        size: Value,
    },
    /// Takes the first `size` (u32) octets away; more than there are is reported and leaves none.
    Skip {
        message: Value,
        size: Value,
    },
    /// The first `at` octets, and the rest; attributes go with both.
    Split {
        message: Value,
        at: Value,
    },
    /// The second's octets behind the first's.
    Join {
        first: Value,
        second: Value,
    },
    /// A second message of the same headers, octets and attributes. Borrows.
    Share {
        message: Value,
    },
    /// The octets of the packet in which the message came, as `wire` met it, as a new message; empty if it came in none. Borrows.
    Received {
        message: Value,
        wire: WireId,
    },
    /// An unsigned field of `ty` (8, 16, 24, 32, 48, 64 bits) at an octet (u32); beyond the end is reported and reads 0. Borrows.
    Load {
        message: Value,
        at: Value,
        ty: Type,
        endian: Endian,
    },
    /// Beyond the end is reported and writes nothing.
    Store {
        message: Value,
        at: Value,
        value: Value,
        endian: Endian,
    },
    /// Sum of the octets as big-endian u16s (an odd last one padded), modulo 2^32: a linear u32. Borrows.
    Sum16 {
        message: Value,
    },
    /// A u32 folded to 16 bits with end-around carry, u16.
    Fold16 {
        a: Value,
    },
    /// A function in C: numbers, then the octets of a message, which it may change and make longer by at most `grows`. The
    /// results: the message, then the function's. What it gives depends on nothing but what it is given.
    Native {
        symbol: String,
        grows: u32,
        args: Vec<Value>,
        message: Option<Value>,
        result: Option<Type>,
    },
    /// Borrows.
    GetAttribute {
        message: Value,
        attribute: AttributeId,
    },
    /// The message with another value of the attribute.
    SetAttribute {
        message: Value,
        attribute: AttributeId,
        value: Value,
    },

    // -- what leaves the handler
    /// An event for an object of another layer; `target` must not be null. If it has ended: dropped as `gone`.
    Emit {
        target: Value,
        event: String,
        args: Vec<Value>,
    },
    /// The event of a port, by index in [`crate::Port::outputs`].
    Out {
        port: PortId,
        event: u32,
        args: Vec<Value>,
    },
    /// The end of a message, counted.
    Drop {
        message: Value,
        reason: DropReason,
    },
    /// The end of a message that did its work, counted.
    Consume {
        message: Value,
        reason: ReasonId,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    Known(ReasonId),
    /// A value of type `Reason`.
    Value(Value),
}

/// A block and the arguments of its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    pub block: BlockId,
    pub args: Vec<Value>,
}

/// How a block ends. In `then` targets marked *results first*, the results come before the target's own arguments.
#[derive(Clone, PartialEq, Debug)]
pub enum Terminator {
    Return,
    /// Of a function only.
    Yield {
        values: Vec<Value>,
    },
    Jump {
        to: Target,
    },
    /// `likely`: the probability of `then`, from the source, 0 to 1.
    Branch {
        condition: Value,
        then: Target,
        otherwise: Target,
        likely: Option<f32>,
    },
    Switch {
        value: Value,
        cases: Vec<(u64, Target)>,
        default: Target,
    },
    /// By the variant of the header on top, which is taken off; each case's results first: the message, the fields.
    PopSwitch {
        message: Value,
        header: HeaderId,
        cases: Vec<(VariantId, Target)>,
    },
    /// Octets become the wire's headers; `then` results first: the message; `otherwise` results first: the message, the reason.
    Decode {
        message: Value,
        wire: WireId,
        then: Target,
        otherwise: Target,
    },
    /// Checks the octets as `Decode` would and trims them, but leaves them octets (a layer below the encoding point looks
    /// at them first); `then` results first: the message; `otherwise` results first: the message, the reason.
    Vet {
        message: Value,
        wire: WireId,
        then: Target,
        otherwise: Target,
    },
    /// `then` results first: the values.
    Find {
        object: Value,
        cell: CellId,
        key: Vec<Value>,
        then: Target,
        otherwise: Target,
    },
    /// Replaces the values of a key that is there; `otherwise` when the map is full.
    Insert {
        object: Value,
        cell: CellId,
        key: Vec<Value>,
        values: Vec<Value>,
        then: Target,
        otherwise: Target,
    },
    /// `then` results first: the values that were there.
    Remove {
        object: Value,
        cell: CellId,
        key: Vec<Value>,
        then: Target,
        otherwise: Target,
    },
    /// A new object in `parent` (none for a class without a parent); `then` results first: its handle.
    New {
        class: ClassId,
        parent: Option<Value>,
        then: Target,
        otherwise: Target,
    },
    /// The oldest living object of the class in `parent`; `then` results first: its handle.
    First {
        class: ClassId,
        parent: Option<Value>,
        then: Target,
        otherwise: Target,
    },
    /// The next younger one with the same parent; `then` results first: its handle.
    Next {
        object: Value,
        then: Target,
        otherwise: Target,
    },
    /// `amount` (u32) from a quota.
    Take {
        object: Value,
        cell: CellId,
        amount: Value,
        then: Target,
        otherwise: Target,
    },
    /// The message held in a place (u32); `then` results first: it.
    TakeOut {
        object: Value,
        cell: CellId,
        index: Value,
        then: Target,
        otherwise: Target,
    },
    /// A share of the message held in a place; `then` results first: it.
    ShareHeld {
        object: Value,
        cell: CellId,
        index: Value,
        then: Target,
        otherwise: Target,
    },
    /// An event in a reaction of its own, before other inputs; `otherwise`: its queue is full, the messages are still ours.
    Later {
        target: Value,
        event: String,
        args: Vec<Value>,
        then: Target,
        otherwise: Target,
    },
}
