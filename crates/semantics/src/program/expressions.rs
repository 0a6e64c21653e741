//! Expressions. Each has its type; whatever names a state, a field or a function has been looked up.

use mokume_base::Span;

use super::{AttributeId, FunctionId, LocalId, Name, ObjectId, RecordId, Type, WireId};

/// A value with its type. Evaluated from left to right as it is written, each part once.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// Of a program without errors never [`Type::Unknown`].
    pub ty: Type,
    /// Where it is written; of what the front end adds, where the reason for it is.
    pub span: Span,
}

/// Binary operators. What does not fit the type wraps around and is reported as `overflow`, but for `seq` and the
/// `…Wrap` forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// `+`; of a `seq` and a number, and of an instant and a duration, too.
    Add,
    /// `-`; of two `seq` the distance, of two instants the duration between them.
    Sub,
    /// `*`; of a duration and a number, too.
    Mul,
    /// `+%`: keeps the low bits, reports nothing.
    AddWrap,
    /// `-%`
    SubWrap,
    /// `*%`
    MulWrap,
    /// `/`: by zero it is reported as `division`, and 0.
    Div,
    /// `%`: by zero as [`Binary::Div`].
    Rem,
    /// `&`, on numbers and `bool`.
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`: by all bits or more it is 0.
    Shl,
    /// `>>`, of zeros from the left.
    Shr,
    /// `and`: the right side only if the left one is true.
    And,
    /// `or`: the right side only if the left one is false.
    Or,
    /// `==`; also of flows, reasons and bounded vectors.
    Eq,
    /// `!=`
    Ne,
    /// `<`; of `seq` circular: less if the other is ahead by less than half of all numbers.
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `min(a, b)`, in the order of [`Binary::Lt`].
    Min,
    /// `max(a, b)`
    Max,
}

/// How a number becomes one of another type.
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
    Set {
        /// A `u32`, from 0.
        index: Box<Expr>,
        /// Of the element's type.
        value: Box<Expr>,
    },
    /// The same of an index that was looked at before: no report.
    PutBack {
        /// A `u32`, from 0.
        index: Box<Expr>,
        /// Of the element's type.
        value: Box<Expr>,
    },
    /// Behind the last; there is room.
    Push(Box<Expr>),
    /// The last is gone; there is one.
    Pop,
}

/// What an expression computes. Operands that are expressions are boxed; lists are in the order of the declaration.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number of any scalar type, durations in nanoseconds, enum values by their number, booleans 0 and 1.
    Number(u64),
    /// A parameter or `let` of the body. A message is named by [`ExprKind::Give`] instead.
    Local(LocalId),
    /// A parameter of the layer (or bundle, or stack) that the expression stands in, by index.
    Param(u32),
    /// A record written out.
    Record {
        /// Its type.
        record: RecordId,
        /// One for each field, in the order of the declaration; of a bounded vector the length, then all its places.
        fields: Vec<Expr>,
    },
    /// An element of a bounded vector. An index from the length on is reported, and the element is zero.
    Pick {
        /// A record that is a bounded vector.
        vector: Box<Expr>,
        /// A `u32`, from 0.
        index: Box<Expr>,
    },
    /// A bounded vector with one change.
    Edited {
        /// The vector before.
        vector: Box<Expr>,
        /// What changes.
        edit: Edit,
    },
    /// A field of a record.
    RecordField {
        /// A value of a record type.
        record: Box<Expr>,
        /// By its place in the declaration.
        field: u32,
    },
    /// Operands are of one type (the front end inserts `Widen`); shifts: any `UInt` on the right.
    Binary {
        /// The operator.
        op: Binary,
        /// The left operand, evaluated first.
        a: Box<Expr>,
        /// The right operand.
        b: Box<Expr>,
    },
    /// `not` of a `bool`, `!` of the bits of a number.
    Not(Box<Expr>),
    /// A number of another type.
    Cast {
        /// What happens to bits that do not fit.
        kind: CastKind,
        /// The number; also a value of an enum.
        a: Box<Expr>,
    },
    /// `if` or `match` as a value; evaluates one of the two.
    If {
        /// A `bool`.
        condition: Box<Expr>,
        /// Its value if the condition holds.
        then: Box<Expr>,
        /// Its value if not; of the same type.
        otherwise: Box<Expr>,
    },
    /// The body, with a local that stands for the value; it is evaluated once, before.
    Let {
        /// New, known in `body` only.
        local: LocalId,
        /// What it stands for.
        value: Box<Expr>,
        /// The value of the whole.
        body: Box<Expr>,
    },
    /// A pure function of a file.
    Call {
        /// Among [`Program::functions`](super::Program::functions); a stand-in if it is a parameter of the layer
        /// ([`Layer::called`](super::Layer::called)).
        function: FunctionId,
        /// One for each parameter, defaults filled in.
        args: Vec<Expr>,
    },
    /// A function of the same layer, by index.
    CallOwn {
        /// Among [`Layer::functions`](super::Layer::functions).
        function: u32,
        /// One for each parameter, defaults filled in; messages among them are given away.
        args: Vec<Expr>,
    },
    /// A function in C; `args` are its values, in order. It changes the message in place.
    Native {
        /// Whose [`Function::native`](super::Function::native) is there.
        function: FunctionId,
        /// Its parameters that are values, in order.
        args: Vec<Expr>,
        /// Its parameter that is a message.
        message: Option<LocalId>,
    },
    /// A function of a container in an object that a handle names.
    CallOn {
        /// The handle.
        object: Box<Expr>,
        /// Among [`Layer::functions`](super::Layer::functions).
        function: u32,
        /// One for each parameter, defaults filled in.
        args: Vec<Expr>,
    },
    /// `fold16(x)`: the one's complement sum of a `u32`'s halves, a `u16`.
    Fold16(Box<Expr>),
    /// `now`: the instant of the reaction.
    Now,
    /// A random number of the expression's type.
    Sample,

    /// The value of a variable.
    State(StateRef),
    /// `a[i]`: behind the end it is reported as `bounds`, and 0.
    Element {
        /// A member of the kind [`MemberKind::Array`](super::MemberKind::Array).
        array: StateRef,
        /// A `u32`, from 0.
        index: Box<Expr>,
    },
    /// `running t`: whether a timer is started and has not expired.
    Running(StateRef),
    /// `left kept`: the units that can be taken of a quota, a `u32`.
    Left(StateRef),
    /// `k in m`
    InMap {
        /// A member of the kind [`MemberKind::Map`](super::MemberKind::Map).
        map: StateRef,
        /// One for each part of the key.
        key: Vec<Expr>,
    },
    /// `k in Entry`
    HasObject {
        /// Among the layer's objects.
        class: ObjectId,
        /// One for each part of the key.
        key: Vec<Expr>,
    },
    /// `Row[r]` of a class that has one for each rank: a handle.
    Row {
        /// Among the layer's objects.
        class: ObjectId,
        /// A [`Type::Rank`].
        rank: Box<Expr>,
    },
    /// `waiting.holds(i)`: whether a message is in a place.
    Holds {
        /// A member of the kind [`MemberKind::Messages`](super::MemberKind::Messages).
        messages: StateRef,
        /// A `u32`, from 0.
        index: Box<Expr>,
    },

    /// `below.name`, for the flow or session at hand; `flow` when the source says `below.name(flow)`, `index` when it says
    /// `below[i].name`. `credit` and `mtu` exist everywhere (without a limit: the largest u32).
    Below {
        /// Of the published value; in a stack's expressions `device.mac` or `device.mtu`.
        name: Name,
        /// A flow of the lower side.
        flow: Option<Box<Expr>>,
        /// Which of the layers below, a `u32`.
        index: Option<Box<Expr>>,
    },
    /// `below.count`: how many layers a router over several stands on; a constant of each stack.
    BelowCount,
    /// `above.layout`: a hash of how the layer's own wire and all above it lie; a constant of each stack.
    AboveLayout,
    /// `flow.local.host`; `field` names a component.
    FlowPart {
        /// A flow of either side.
        flow: Box<Expr>,
        /// Of its remote end; else of its local one, or of both.
        remote: bool,
        /// Looked up when the stack is known.
        field: Name,
    },
    /// `flow(local: …, remote: …)`: components by name, in the order of the source; what is left out is *any* (0).
    Flow {
        /// Parts of the local end; without a name: of its only part.
        local: Vec<(Option<Name>, Expr)>,
        /// Parts of the remote end.
        remote: Vec<(Option<Name>, Expr)>,
        /// Names that stand without their end: those of `local`, or of symmetric keys.
        bare: Vec<Name>,
    },

    /// `message(x"00ff")`
    NewMessage {
        /// What it holds at first.
        octets: Vec<u8>,
    },
    /// `msg.share()`: a second message of the same octets; the first stays.
    Share(LocalId),
    /// `msg.received(Rfc791)`: the packet that a message came in, as a new message; empty if it did not come in one.
    Received {
        /// It stays.
        message: LocalId,
        /// The wire that met the packet.
        wire: WireId,
    },
    /// `msg.size`, in octets, a `u32`.
    MessageSize(LocalId),
    /// `width` in bits.
    Load {
        /// It stays.
        message: LocalId,
        /// In octets from the front, a `u32`; behind the end it is reported, and 0 is read.
        at: Box<Expr>,
        /// 8, 16, … 64.
        width: u8,
        /// The first octet holds the highest bits.
        big: bool,
    },
    /// `msg.sum16()`: the sum of a message's octets as big-endian `u16`s, a `u32`.
    Sum16(LocalId),
    /// `flow`, where a session's handler runs and no parameter has the name: the session's flow.
    FlowHere,
    /// `flow.prf(low, high)`: a pseudo-random function of a flow, under a key of two `u64`; a `u64`.
    FlowPrf {
        /// A flow of either side.
        flow: Box<Expr>,
        /// The key's low and high half.
        key: Box<[Expr; 2]>,
    },
    /// `flow.hash(secret)`: a number from a flow, the same for the same flow and secret.
    FlowHash {
        /// A flow of either side.
        flow: Box<Expr>,
        /// A `u64`.
        secret: Box<Expr>,
    },
    /// `msg.ttl`
    Attribute {
        /// It stays.
        message: LocalId,
        /// One that the layer says it reads.
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
    /// One a layer in a stack.
    Entity,
    /// One a listener.
    Point,
    /// One a session of the layer's upper side.
    Session,
    /// One a session of a multiplexor's lower side.
    SessionBelow,
    /// One a layer at a time, made anew by `renew view`.
    View,
    /// Keyed objects of one class, in the entity or owned by a session.
    Object(ObjectId),
}

/// State by its scope, and its place among the scope's members.
pub type StateAt = (ScopeKind, u32);

/// A member of a scope; for objects the handle is `object` (none: the object that the handler runs for).
#[derive(Clone, Debug)]
pub struct StateRef {
    /// Whose state it is.
    pub scope: ScopeKind,
    /// By its place among the scope's members.
    pub member: u32,
    /// A handle, where it is not the object at hand.
    pub object: Option<Box<Expr>>,
    /// Where the state is named.
    pub span: Span,
}

impl StateRef {
    /// Which state it is, whichever object's.
    pub fn place(&self) -> StateAt {
        (self.scope, self.member)
    }
}
