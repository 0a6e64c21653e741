//! Expressions. Each has its type; whatever names a state, a field or a function has been looked up.

use mokume_base::Span;

use super::{AttributeId, FunctionId, LocalId, Name, ObjectId, RecordId, Type, WireId};

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    AddWrap,
    SubWrap,
    MulWrap,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Min,
    Max,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastKind {
    /// To at least as many bits, or between `Duration`, `Instant`, `seq` and their numbers.
    Widen,
    /// Reports what does not fit.
    Checked,
    /// Keeps the low bits.
    Truncate,
}

/// A change of a bounded vector.
#[derive(Clone, Debug)]
pub enum Edit {
    /// An index from the length on is reported, and nothing is written.
    Set { index: Box<Expr>, value: Box<Expr> },
    /// The same of an index that was looked at before: no report.
    PutBack { index: Box<Expr>, value: Box<Expr> },
    /// Behind the last; there is room.
    Push(Box<Expr>),
    /// The last is gone; there is one.
    Pop,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number of any scalar type, durations in nanoseconds, enum values by their number, booleans 0 and 1.
    Number(u64),
    Local(LocalId),
    /// A parameter of the layer (or bundle, or stack) that the expression stands in, by index.
    Param(u32),
    Record {
        record: RecordId,
        fields: Vec<Expr>,
    },
    /// An element of a bounded vector. An index from the length on is reported, and the element is zero.
    Pick {
        vector: Box<Expr>,
        index: Box<Expr>,
    },
    /// A bounded vector with one change.
    Edited {
        vector: Box<Expr>,
        edit: Edit,
    },
    RecordField {
        record: Box<Expr>,
        field: u32,
    },
    /// Operands are of one type (the front end inserts `Widen`); shifts: any `UInt` on the right.
    Binary {
        op: Binary,
        a: Box<Expr>,
        b: Box<Expr>,
    },
    Not(Box<Expr>),
    Cast {
        kind: CastKind,
        a: Box<Expr>,
    },
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// The body, with a local that stands for the value; it is evaluated once, before.
    Let {
        local: LocalId,
        value: Box<Expr>,
        body: Box<Expr>,
    },
    /// A pure function of a file.
    Call {
        function: FunctionId,
        args: Vec<Expr>,
    },
    /// A function of the same layer, by index.
    CallOwn {
        function: u32,
        args: Vec<Expr>,
    },
    /// A function in C; `args` are its values, in order. It changes the message in place.
    Native {
        function: FunctionId,
        args: Vec<Expr>,
        message: Option<LocalId>,
    },
    /// A function of a container in an object that a handle names.
    CallOn {
        object: Box<Expr>,
        function: u32,
        args: Vec<Expr>,
    },
    Fold16(Box<Expr>),
    Now,
    /// A random number of the expression's type.
    Draw,

    State(StateRef),
    Element {
        array: StateRef,
        index: Box<Expr>,
    },
    Running(StateRef),
    Left(StateRef),
    InMap {
        map: StateRef,
        key: Vec<Expr>,
    },
    HasObject {
        class: ObjectId,
        key: Vec<Expr>,
    },
    Holds {
        messages: StateRef,
        index: Box<Expr>,
    },

    /// `below.name`, for the flow or session at hand; `flow` when the source says `below.name(flow)`, `index` when it says
    /// `below[i].name`. `credit` and `mtu` exist everywhere (without a limit: the largest u32).
    Below {
        name: Name,
        flow: Option<Box<Expr>>,
        index: Option<Box<Expr>>,
    },
    /// `below.count`: how many layers a router over several stands on; a constant of each stack.
    BelowCount,
    /// `above.layout`: a hash of how the layer's own wire and all above it lie; a constant of each stack.
    AboveLayout,
    /// `flow.local.host`; `field` names a component.
    FlowPart {
        flow: Box<Expr>,
        remote: bool,
        field: Name,
    },
    /// `flow(local: …, remote: …)`: components by name, in the order of the source; what is left out is *any* (0).
    Flow {
        local: Vec<(Option<Name>, Expr)>,
        remote: Vec<(Option<Name>, Expr)>,
    },

    NewMessage {
        octets: Vec<u8>,
    },
    Share(LocalId),
    Received {
        message: LocalId,
        wire: WireId,
    },
    MessageSize(LocalId),
    /// `width` in bits.
    Load {
        message: LocalId,
        at: Box<Expr>,
        width: u8,
        big: bool,
    },
    Sum16(LocalId),
    /// `flow.hash(secret)`: a number from a flow, the same for the same flow and secret.
    FlowHash {
        flow: Box<Expr>,
        secret: Box<Expr>,
    },
    Attribute {
        message: LocalId,
        attribute: AttributeId,
    },
    /// Uses a message up as a value (an argument of a call, `let other = msg`).
    Give(LocalId),
    /// A reason by its name, as an argument or to compare with.
    Reason(Name),
}

/// Where state lives and handlers run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ScopeKind {
    Entity,
    Point,
    Session,
    SessionBelow,
    Object(ObjectId),
}

/// A member of a scope; for objects the handle is `object` (none: the object that the handler runs for).
#[derive(Clone, Debug)]
pub struct StateRef {
    pub scope: ScopeKind,
    pub member: u32,
    pub object: Option<Box<Expr>>,
    pub span: Span,
}
