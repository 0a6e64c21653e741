//! Expressions. Each has its type; whatever names a state, a field or a function has been looked up.

use mokume_base::Span;

use super::{AttributeId, FunctionId, LocalId, Name, ObjectId, RecordId, Type, WireId};

/// A value with its type. Evaluated from left to right in the order of the text, each part once.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// The type; never [`Type::Unknown`] in a program without errors.
    pub ty: Type,
    /// The place in the text; for what the front end adds, the place that causes it.
    pub span: Span,
}

/// Binary operators. A result that does not fit the type wraps around and is reported as `overflow`, except for `seq`
/// and the `…Wrap` forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// `+`; also of a `seq` and a number, and of an instant and a duration.
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
    /// `/`; a division by zero is reported as `division`, and gives 0.
    Div,
    /// `%`; by zero as [`Binary::Div`].
    Rem,
    /// `&`, on numbers and `bool`.
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`; a shift by all bits or more gives 0.
    Shl,
    /// `>>`; zeros come in from the left.
    Shr,
    /// `and`: the right side only if the left one is true.
    And,
    /// `or`: the right side only if the left one is false.
    Or,
    /// `==`; also of flows, reasons and bounded vectors.
    Eq,
    /// `!=`
    Ne,
    /// `<`; circular for `seq`: less if the other is ahead by less than half of all numbers.
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

impl Binary {
    /// The comparison that holds with its sides exchanged: `a < b` is `b > a`. Other operators stay.
    pub fn turned(self) -> Binary {
        match self {
            Binary::Lt => Binary::Gt,
            Binary::Le => Binary::Ge,
            Binary::Gt => Binary::Lt,
            Binary::Ge => Binary::Le,
            other => other,
        }
    }

    /// Whether a comparison holds of two numbers without a sign; `None` for other operators.
    pub fn is_met(self, a: u64, b: u64) -> Option<bool> {
        Some(match self {
            Binary::Eq => a == b,
            Binary::Ne => a != b,
            Binary::Lt => a < b,
            Binary::Le => a <= b,
            Binary::Gt => a > b,
            Binary::Ge => a >= b,
            _ => return None,
        })
    }
}

/// How a number is converted to another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastKind {
    /// To at least as many bits, or between `Duration`, `Instant`, `seq` and their numbers.
    Widen,
    /// Reports a value that does not fit.
    Checked,
    /// Keeps the low bits.
    Truncate,
}

/// A change of a bounded vector.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Sets an element; an index at or beyond the length is reported, and nothing is written.
    Set {
        /// A `u32`, from 0.
        index: Box<Expr>,
        /// Of the element's type.
        value: Box<Expr>,
    },
    /// Sets an element whose index was checked before: no report.
    PutBack {
        /// A `u32`, from 0.
        index: Box<Expr>,
        /// Of the element's type.
        value: Box<Expr>,
    },
    /// Appends an element; there is room for it.
    Push(Box<Expr>),
    /// Removes the last element; there is one.
    Pop,
}

/// The operation of an expression. Operands that are expressions are boxed; lists are in the order of the declaration.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number of any scalar type: durations in nanoseconds, enum values by number, booleans 0 and 1.
    Number(u64),
    /// A parameter or `let` of the body. A message is named by [`ExprKind::Give`] instead.
    Local(LocalId),
    /// A parameter, by index, of the layer (or bundle, or stack) that contains the expression.
    Param(u32),
    /// A record written out.
    Record {
        /// Its type.
        record: RecordId,
        /// The values of its fields, in the order of the declaration; for a bounded vector the length, then all its
        /// places.
        fields: Vec<Expr>,
    },
    /// An element of a bounded vector. An index at or beyond the length is reported, and the element is zero.
    Pick {
        /// A record that is a bounded vector.
        vector: Box<Expr>,
        /// A `u32`, from 0.
        index: Box<Expr>,
    },
    /// A bounded vector with one change.
    Edited {
        /// The vector before the change.
        vector: Box<Expr>,
        /// The change.
        edit: Edit,
    },
    /// A field of a record.
    RecordField {
        /// A value of a record type.
        record: Box<Expr>,
        /// The field's index in the declaration.
        field: u32,
    },
    /// Both operands have one type (the front end inserts `Widen`); a shift has any `UInt` on the right.
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
    /// A number converted to another type.
    Cast {
        /// What happens to bits that do not fit.
        kind: CastKind,
        /// The number; also a value of an enum.
        a: Box<Expr>,
    },
    /// `if` or `match` as a value; evaluates one of the two branches.
    If {
        /// A `bool`.
        condition: Box<Expr>,
        /// Its value if the condition holds.
        then: Box<Expr>,
        /// Its value if not; of the same type.
        otherwise: Box<Expr>,
    },
    /// A body with a local for a value, which is evaluated once, before the body.
    Let {
        /// A new local, visible in `body` only.
        local: LocalId,
        /// The value of the local.
        value: Box<Expr>,
        /// The value of the whole.
        body: Box<Expr>,
    },
    /// A call of a pure function of a file.
    Call {
        /// Index into [`Program::functions`](super::Program::functions); a stand-in if it is a parameter of the layer
        /// ([`Layer::called`](super::Layer::called)).
        function: FunctionId,
        /// One for each parameter, with defaults filled in.
        args: Vec<Expr>,
    },
    /// A call of a function of the same layer.
    CallOwn {
        /// Index into [`Layer::functions`](super::Layer::functions).
        function: u32,
        /// One for each parameter, with defaults filled in; messages among them are given away.
        args: Vec<Expr>,
    },
    /// A call of a function in C. It changes the message in place.
    Native {
        /// The function; its [`Function::native`](super::Function::native) is set.
        function: FunctionId,
        /// Its parameters that are values, in order.
        args: Vec<Expr>,
        /// Its parameter that is a message.
        message: Option<LocalId>,
    },
    /// A call of a container's function in an object that a handle names.
    CallOn {
        /// The handle.
        object: Box<Expr>,
        /// Index into [`Layer::functions`](super::Layer::functions).
        function: u32,
        /// One for each parameter, with defaults filled in.
        args: Vec<Expr>,
    },
    /// `fold16(x)`: the one's complement sum of the two halves of a `u32`, a `u16`.
    Fold16(Box<Expr>),
    /// `now`: the time of the reaction.
    Now,
    /// A random number of the expression's type.
    Sample,

    /// The value of a variable.
    State(StateRef),
    /// `a[i]`; an index beyond the end is reported as `bounds`, and gives 0.
    Element {
        /// A member of the kind [`MemberKind::Array`](super::MemberKind::Array).
        array: StateRef,
        /// A `u32`, from 0.
        index: Box<Expr>,
    },
    /// `running t`: whether a timer was started and has not expired.
    Running(StateRef),
    /// `left kept`: the units left in a quota, a `u32`.
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
        /// Index into the layer's objects.
        class: ObjectId,
        /// One for each part of the key.
        key: Vec<Expr>,
    },
    /// `Row[r]` for a class with one object for each rank: a handle.
    Row {
        /// Index into the layer's objects.
        class: ObjectId,
        /// A [`Type::Rank`].
        rank: Box<Expr>,
    },
    /// `waiting.holds(i)`: whether a place holds a message.
    Holds {
        /// A member of the kind [`MemberKind::Messages`](super::MemberKind::Messages).
        messages: StateRef,
        /// A `u32`, from 0.
        index: Box<Expr>,
    },

    /// `below.name`, for the current flow or session; `flow` is set for `below.name(flow)`, `index` for
    /// `below[i].name`. `credit` and `mtu` exist everywhere (without a limit they are the largest u32).
    Below {
        /// The name of the published value; in a stack's expressions `device.mac` or `device.mtu`.
        name: Name,
        /// A flow of the side below.
        flow: Option<Box<Expr>>,
        /// Which of several layers below, a `u32`.
        index: Option<Box<Expr>>,
    },
    /// `below.count`: how many layers a router is over; a constant of each stack.
    BelowCount,
    /// `above.layout`: a hash of the layouts of the layer's own wire and of all wires above it; a constant of each
    /// stack.
    AboveLayout,
    /// `flow.local.host`: a part of a flow.
    FlowPart {
        /// A flow of either side.
        flow: Box<Expr>,
        /// Whether it is of the remote end; else it is of the local end, or of both.
        remote: bool,
        /// The part's name, resolved when the stack is known.
        field: Name,
    },
    /// `flow(local: …, remote: …)`: parts by name, in the order of the source; parts that are left out are *any* (0).
    Flow {
        /// Parts of the local end; an unnamed one is its only part.
        local: Vec<(Option<Name>, Expr)>,
        /// Parts of the remote end.
        remote: Vec<(Option<Name>, Expr)>,
        /// Names that are written without their end: those of `local`, or of symmetric keys.
        bare: Vec<Name>,
    },

    /// `message(x"00ff")`
    NewMessage {
        /// Its octets.
        octets: Vec<u8>,
    },
    /// `msg.share()`: a copy of a message; the original stays.
    Share(LocalId),
    /// `msg.received(Rfc791)`: the packet that a message came in, as a new message; empty if it came in none.
    Received {
        /// The message, which stays.
        message: LocalId,
        /// The wire that received the packet.
        wire: WireId,
    },
    /// `msg.size`: the size in octets, a `u32`.
    MessageSize(LocalId),
    /// Reads a number of `width` bits.
    Load {
        /// The message, which stays.
        message: LocalId,
        /// Octets from the front, a `u32`; beyond the end is reported, and 0 is read.
        at: Box<Expr>,
        /// 8, 16, … 64.
        width: u8,
        /// Whether the first octet has the highest bits.
        big: bool,
    },
    /// `msg.sum16()`: the sum of a message's octets as big-endian `u16`s, a `u32`.
    Sum16(LocalId),
    /// `flow` in a session's handler without a parameter of that name: the session's flow.
    FlowHere,
    /// `flow.prf(low, high)`: a pseudo-random function of a flow, under a key of two `u64`; a `u64`.
    FlowPrf {
        /// A flow of either side.
        flow: Box<Expr>,
        /// The key's low and high half.
        key: Box<[Expr; 2]>,
    },
    /// `flow.hash(secret)`: a number that depends on the flow and the secret only.
    FlowHash {
        /// A flow of either side.
        flow: Box<Expr>,
        /// A `u64`.
        secret: Box<Expr>,
    },
    /// `msg.ttl`
    Attribute {
        /// The message, which stays.
        message: LocalId,
        /// The attribute; the layer declares that it reads it.
        attribute: AttributeId,
    },
    /// A message as a value (an argument of a call, `let other = msg`), which gives it away.
    Give(LocalId),
    /// A reason by its name, as an argument or to compare with.
    Reason(Name),
}

/// Where state is kept and handlers run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ScopeKind {
    /// One for each layer of a stack.
    Entity,
    /// One for each listener.
    Point,
    /// One for each session of the layer's upper side.
    Session,
    /// One for each session of a multiplexor's lower side.
    SessionBelow,
    /// One at a time for each layer; `renew view` replaces it.
    View,
    /// Keyed objects of one class, which the entity, a session or a view owns.
    Object(ObjectId),
}

/// A piece of state: its scope, and its index among the scope's members.
pub type StateAt = (ScopeKind, u32);

/// A member of a scope. For objects, `object` is the handle (`None`: the object that the handler runs for).
#[derive(Clone, Debug)]
pub struct StateRef {
    /// The scope.
    pub scope: ScopeKind,
    /// The member's index in the scope.
    pub member: u32,
    /// A handle, unless it is the current object.
    pub object: Option<Box<Expr>>,
    /// The place where the state is named.
    pub span: Span,
}

impl StateRef {
    /// The scope and index, without the object.
    pub fn place(&self) -> StateAt {
        (self.scope, self.member)
    }
}
