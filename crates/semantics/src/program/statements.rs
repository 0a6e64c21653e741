//! Statements and emissions: what handlers and functions of layers do. On every path each message ends once.

use mokume_base::Span;

use super::{AttributeId, Expr, LocalId, Name, ObjectId, ServiceId, StateRef};

/// One thing that a body does.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// The whole statement; of what the front end adds, where the reason for it is.
    pub span: Span,
}

/// What a `below.send` or `above.deliver` names beside the message.
#[derive(Clone, Debug)]
pub struct Fields {
    /// By its index in the own header.
    pub variant: u32,
    /// One for each field of the variant, in its order.
    pub values: Vec<Expr>,
}

/// What a handler sends to its neighbours, and to layers beside it.
#[derive(Clone, Debug)]
pub enum Emission {
    /// `message` is none for an alternative that goes alone (a new, empty message). `to`: a flow of the lower side.
    Send {
        /// Given away.
        message: Option<Expr>,
        /// Of the own header; none if there is none.
        fields: Option<Fields>,
        /// Without: the flow or session that the handler runs for.
        to: Option<Expr>,
    },
    /// `above.deliver(msg) from flow`
    Deliver {
        /// Given away.
        message: Expr,
        /// A flow of the upper side; without: the flow or session at hand.
        from: Option<Expr>,
    },
    /// `args`: what the layers below that ask for it are given, by name.
    Open {
        /// Of the lower side: with whom.
        flow: Expr,
        /// Evaluated behind the flow.
        args: Vec<(Name, Expr)>,
    },
    /// `below.listen(…)`: waits for sessions.
    Listen {
        /// Of the lower side, a pattern: parts that are left out are *any*.
        flow: Expr,
        /// What the sessions that begin there are given, by name; evaluated behind the flow.
        args: Vec<(Name, Expr)>,
    },
    /// `below.bind(…)`: takes flow traffic.
    Bind {
        /// Of the lower side, a pattern.
        flow: Expr,
    },
    /// `below.unlisten(…)`: takes either back.
    Unlisten {
        /// Of the lower side, the pattern.
        flow: Expr,
    },
    /// `below.close()`: the session at hand closes.
    Close,
    /// `below.abort()`: it is broken off.
    Abort,
    /// `above.closed()`: the session at hand is closed.
    Closed,
    /// `above.failed(timed_out)`, `fail: timed_out`: the session at hand has failed.
    Failed {
        /// By its name.
        reason: Name,
    },
    /// `above.failed(reason)` with the reason that the handler was given.
    FailedAs {
        /// A local of type [`Type::Reason`](super::Type::Reason).
        reason: Expr,
    },
    /// `above.failed(reason, quote) from flow(…)`: of a flow, with the beginning of the packet that failed.
    FailedFlow {
        /// A name, or a local.
        reason: Expr,
        /// Octets of the packet, from its front; given away.
        quote: Expr,
        /// A flow of the upper side.
        from: Expr,
    },
    /// Of a used service (`uses` index) or, for `out` operations, of a served one.
    Service {
        /// Of which it is.
        service: ServiceId,
        /// By its place in the service.
        operation: u32,
        /// Among [`Layer::uses`](super::Layer::uses).
        uses: Option<u32>,
        /// One for each parameter; messages among them are given away.
        args: Vec<Expr>,
    },
    /// An event of the layers' own or of a vocabulary.
    Custom {
        /// As handlers name it.
        name: Name,
        /// To the layers below; else to those above.
        down: bool,
        /// One for each parameter of those who handle it; messages among them are given away.
        args: Vec<Expr>,
    },
}

/// What a statement does. Whatever may find no room or nothing has a block for that; locals are of the body's list.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let x = e`
    Let {
        /// New from here to the block's end.
        local: LocalId,
        /// A message is moved to it.
        value: Expr,
    },
    /// `x = e`, of a local.
    AssignLocal {
        /// Bound before.
        local: LocalId,
        /// Of its type.
        value: Expr,
    },
    /// `x = e`, of state.
    Assign {
        /// A variable; a constant where its object begins.
        state: StateRef,
        /// Of its type.
        value: Expr,
    },
    /// `a[i] = e`: behind the end it is reported as `bounds`, and nothing is written.
    AssignElement {
        /// A member of the kind [`MemberKind::Array`](super::MemberKind::Array).
        array: StateRef,
        /// A `u32`; evaluated before the value.
        index: Expr,
        /// Of the element's type.
        value: Expr,
    },
    /// `if`, and what the front end makes of lookups in bounded vectors.
    If {
        /// A `bool`.
        condition: Expr,
        /// How probable it is that the condition holds, from 0 to 1, where the source says.
        likely: Option<f32>,
        /// If it holds.
        then: Vec<Stmt>,
        /// If not; may be empty.
        otherwise: Vec<Stmt>,
    },
    /// `match`: the first case with the value's number, else `otherwise`.
    Match {
        /// A number, a `bool` or an enum; evaluated once.
        value: Expr,
        /// No number is in two of them.
        cases: Vec<(Vec<u64>, Vec<Stmt>)>,
        /// All other values; the last case, if the cases are all.
        otherwise: Vec<Stmt>,
    },
    /// `while c limit n`
    While {
        /// Evaluated before each round.
        condition: Expr,
        /// Rounds at most, a `u32` that the stack can bound.
        limit: Expr,
        /// One round.
        body: Vec<Stmt>,
    },
    /// `local` counts from `from` up to, without, `to`.
    For {
        /// New in each round; no statement assigns it.
        local: LocalId,
        /// Evaluated once, first.
        from: Expr,
        /// Evaluated once, then.
        to: Expr,
        /// Rounds at most, a `u32` that the stack can bound.
        limit: Expr,
        /// One round.
        body: Vec<Stmt>,
    },
    /// `for e in Entry limit n`: over the objects of a class that there are.
    ForObjects {
        /// The handle.
        local: LocalId,
        /// Among the layer's objects.
        class: ObjectId,
        /// Rounds at most, a `u32` that the stack can bound.
        limit: Expr,
        /// One round.
        body: Vec<Stmt>,
    },
    /// `return`, `return e`: leaves the body.
    Return {
        /// There if the function has a result.
        value: Option<Expr>,
    },
    /// The handler's event goes on in its direction, as it came.
    Pass,
    /// Evaluates a call for its effects.
    Call(Expr),
    /// A call of a function that may refuse; `local` is its result. Where it is refused, the messages among its arguments
    /// are still there.
    IfDone {
        /// [`ExprKind::CallOwn`](super::ExprKind::CallOwn) or [`ExprKind::CallOn`](super::ExprKind::CallOn).
        call: Expr,
        /// None if it gives nothing.
        local: Option<LocalId>,
        /// If it did not refuse.
        then: Vec<Stmt>,
        /// If it refused.
        otherwise: Vec<Stmt>,
    },
    /// In a function that may: it gives its messages back.
    Refuse,
    /// Sends something to a neighbour.
    Emit(Emission),
    /// `drop msg: stale`: counted as lost.
    Drop {
        /// Given away.
        message: LocalId,
        /// Declared by being named.
        reason: Name,
    },
    /// `consume msg: used`: counted as used up.
    Consume {
        /// Given away.
        message: LocalId,
        /// Declared by being named.
        reason: Name,
    },
    /// In `unmatched`.
    Accept {
        /// Given away: the first of the session that begins.
        message: LocalId,
    },
    /// `accept(msg, iss: e) or { … }`, in `arrives`: a session begins with the other end of the flow at hand.
    Begin {
        /// Given away: the first of the session. Still held where there is no room.
        message: LocalId,
        /// What the session asks for by `from accept`: a member of the scope `session`, and its value.
        given: Vec<(u32, Expr)>,
        /// If there is no room. Leaves.
        otherwise: Vec<Stmt>,
    },
    /// `if let here = listener { … } else { … }`, in `arrives`: the listener that the flow at hand is for; `listener[whom]`, in any code
    /// of the layer: that of another.
    IfListener {
        /// The flow in brackets, if it is not the one at hand.
        flow: Option<Expr>,
        /// Of the type [`Type::Listener`](super::Type::Listener).
        local: LocalId,
        /// If there is one.
        then: Vec<Stmt>,
        /// If nobody listens.
        otherwise: Vec<Stmt>,
    },
    /// `start t after 20 ms`, `start t at e`: anew if it runs.
    Start {
        /// A member of the kind [`MemberKind::Timer`](super::MemberKind::Timer).
        timer: StateRef,
        /// An instant.
        deadline: Expr,
    },
    /// `stop t`: nothing, if it does not run.
    Stop {
        /// A member of the kind [`MemberKind::Timer`](super::MemberKind::Timer).
        timer: StateRef,
    },
    /// `take kept 3 or { … }`
    Take {
        /// A member of the kind [`MemberKind::Quota`](super::MemberKind::Quota).
        quota: StateRef,
        /// Units, a `u32`: all or none.
        amount: Expr,
        /// If fewer are left. Leaves.
        otherwise: Vec<Stmt>,
    },
    /// `give kept 3`
    Give {
        /// A member of the kind [`MemberKind::Quota`](super::MemberKind::Quota).
        quota: StateRef,
        /// Units that were taken, a `u32`.
        amount: Expr,
    },
    /// `count hits 3`
    Count {
        /// A member of the kind [`MemberKind::Counter`](super::MemberKind::Counter).
        counter: StateRef,
        /// A `u64`.
        amount: Expr,
    },
    /// `if let v = m[k] { … } else { … }`
    IfFound {
        /// A member of the kind [`MemberKind::Map`](super::MemberKind::Map).
        map: StateRef,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// One for each part of the value.
        locals: Vec<LocalId>,
        /// If the key is there.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// `m[k] = v or { … }`: the new value of a key, there before or not.
    Insert {
        /// A member of the kind [`MemberKind::Map`](super::MemberKind::Map).
        map: StateRef,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// One for each part of the value.
        values: Vec<Expr>,
        /// If the map is full. Leaves.
        otherwise: Vec<Stmt>,
    },
    /// `remove m[k]`: nothing, if it is not there.
    Remove {
        /// A member of the kind [`MemberKind::Map`](super::MemberKind::Map).
        map: StateRef,
        /// One for each part of the key.
        key: Vec<Expr>,
    },
    /// `if let e = Entry[k] { … } else { … }`
    IfObject {
        /// Among the layer's objects.
        class: ObjectId,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// The handle.
        local: LocalId,
        /// If the object is there.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// Finds or makes; `fresh` statements of its initial values are in the class. `otherwise` runs when there is no room.
    FindOrNew {
        /// Among the layer's objects.
        class: ObjectId,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// The handle, from here to the block's end.
        local: LocalId,
        /// Leaves.
        otherwise: Vec<Stmt>,
    },
    /// Ends an object (none: the one that the handler runs for).
    End {
        /// A handle.
        object: Option<Expr>,
    },
    /// `waiting.put(i, msg)`: into a place that must be empty.
    Put {
        /// A member of the kind [`MemberKind::Messages`](super::MemberKind::Messages).
        messages: StateRef,
        /// A `u32`, from 0.
        index: Expr,
        /// Given away.
        message: LocalId,
    },
    /// `share`: a second one stays.
    IfTaken {
        /// A member of the kind [`MemberKind::Messages`](super::MemberKind::Messages).
        messages: StateRef,
        /// A `u32`, from 0.
        index: Expr,
        /// Of `waiting.share(i)`.
        share: bool,
        /// The message, held in `then`.
        local: LocalId,
        /// If one was there.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// `msg.trim(n)`: keeps the first octets.
    Trim {
        /// Changed in place.
        message: LocalId,
        /// In octets, a `u32`.
        size: Expr,
    },
    /// `msg.skip(n)`: takes the first octets away.
    Skip {
        /// Changed in place.
        message: LocalId,
        /// In octets, a `u32`.
        size: Expr,
    },
    /// `let (front, rest) = msg.split(n)`
    Split {
        /// Given away.
        message: LocalId,
        /// The octets of the front, a `u32`.
        at: Expr,
        /// New, held from here.
        front: LocalId,
        /// New, held from here.
        rest: LocalId,
    },
    /// `a.join(b)`
    Join {
        /// Changed in place.
        message: LocalId,
        /// A message; given away.
        behind: Expr,
    },
    /// `msg.put_u16be(at, e)`: behind the end it is reported, and nothing is written.
    Store {
        /// Changed in place.
        message: LocalId,
        /// In octets from the front, a `u32`.
        at: Expr,
        /// 8, 16, … 64 bits.
        width: u8,
        /// The first octet holds the highest bits.
        big: bool,
        /// Of that width.
        value: Expr,
    },
    /// `msg.ttl = 3`
    SetAttribute {
        /// Changed in place.
        message: LocalId,
        /// One that the layer says it writes.
        attribute: AttributeId,
        /// Of the attribute's type.
        value: Expr,
    },
    /// `event` names a custom handler of the layer. `otherwise`: there is no room; the messages are still there.
    Later {
        /// Among [`Layer::handlers`](super::Layer::handlers).
        handler: u32,
        /// One for each parameter; messages among them are given away if there is room.
        args: Vec<Expr>,
        /// Leaves, if there are messages.
        otherwise: Vec<Stmt>,
    },
    /// `again`: one more `settle` in this reaction.
    Again,
    /// `renew view`: what is in it ends, and begins anew.
    Renew,
}
