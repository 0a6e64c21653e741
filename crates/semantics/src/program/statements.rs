//! Statements and emissions of handlers and of functions of layers. On every path each message ends once.

use mokume_base::Span;

use super::{AttributeId, Expr, LocalId, Name, ObjectId, ServiceId, StateRef};

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The kind.
    pub kind: StmtKind,
    /// The place of the whole statement; for what the front end adds, the place that causes it.
    pub span: Span,
}

/// The header fields of a `below.send`.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The alternative's index in the layer's header.
    pub variant: u32,
    /// One value for each field of the alternative, in order.
    pub values: Vec<Expr>,
}

/// What a handler emits to its neighbours and to layers beside it.
#[derive(Clone, Debug)]
pub enum Emission {
    /// `below.send(…)`.
    Send {
        /// The message, given away; `None` for an alternative without one (a new, empty message is sent).
        message: Option<Expr>,
        /// The header's fields; `None` if the layer has no header.
        fields: Option<Fields>,
        /// A flow of the lower side; absent: the flow or session that the handler runs for.
        to: Option<Expr>,
    },
    /// `above.deliver(msg) from flow`
    Deliver {
        /// Given away.
        message: Expr,
        /// A flow of the upper side; absent: the current flow or session.
        from: Option<Expr>,
    },
    /// `below.open(…)`.
    Open {
        /// The flow with the peer, of the lower side.
        flow: Expr,
        /// The values that layers below ask for, by name; evaluated after the flow.
        args: Vec<(Name, Expr)>,
    },
    /// `below.listen(…)`: waits for sessions.
    Listen {
        /// A pattern of flows of the lower side: parts that are left out are *any*.
        flow: Expr,
        /// The values for sessions that begin at this listener, by name; evaluated after the flow.
        args: Vec<(Name, Expr)>,
    },
    /// `below.bind(…)`: takes flow traffic.
    Bind {
        /// A pattern of flows of the lower side.
        flow: Expr,
    },
    /// `below.unlisten(…)`: ends a `listen` or `bind`.
    Unlisten {
        /// The pattern, of flows of the lower side.
        flow: Expr,
    },
    /// `below.close()`: closes the current session.
    Close,
    /// `below.abort()`: aborts the current session.
    Abort,
    /// `above.closed()`: the current session is closed.
    Closed,
    /// `above.failed(timed_out)`, `fail: timed_out`: the current session has failed.
    Failed {
        /// The reason's name.
        reason: Name,
    },
    /// `above.failed(reason)`, with the reason that the handler got.
    FailedAs {
        /// A local of type [`Type::Reason`](super::Type::Reason).
        reason: Expr,
    },
    /// `above.failed(reason, quote) from flow(…)`: a failure of a flow, with the beginning of the packet that failed.
    FailedFlow {
        /// A name, or a local.
        reason: Expr,
        /// Octets of the packet, from its front; given away.
        quote: Expr,
        /// A flow of the upper side.
        from: Expr,
    },
    /// An operation of a used service (`uses` is set), or an `out` of a served one.
    Service {
        /// The service.
        service: ServiceId,
        /// The operation's index in the service.
        operation: u32,
        /// Index into [`Layer::uses`](super::Layer::uses).
        uses: Option<u32>,
        /// One for each parameter; messages among them are given away.
        args: Vec<Expr>,
    },
    /// An own event of layers, or one of a vocabulary.
    Custom {
        /// The name in handlers.
        name: Name,
        /// To the layers below; else to those above.
        down: bool,
        /// One for each parameter of its handlers; messages among them are given away.
        args: Vec<Expr>,
    },
}

/// Kinds of statements. A statement that may find no room or nothing has a block for that. Locals are those of the
/// body.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let x = e`
    Let {
        /// A new local, visible to the end of the block.
        local: LocalId,
        /// The value; a message is moved.
        value: Expr,
    },
    /// `x = e`, of a local.
    AssignLocal {
        /// The local, bound before.
        local: LocalId,
        /// The value, of the local's type.
        value: Expr,
    },
    /// `x = e`, of state.
    Assign {
        /// A variable; also a constant, where its object begins.
        state: StateRef,
        /// The value, of the variable's type.
        value: Expr,
    },
    /// `a[i] = e`; an index beyond the end is reported as `bounds`, and nothing is written.
    AssignElement {
        /// A member of the kind [`MemberKind::Array`](super::MemberKind::Array).
        array: StateRef,
        /// A `u32`; evaluated before the value.
        index: Expr,
        /// Of the element's type.
        value: Expr,
    },
    /// `if`; also look-ups in bounded vectors, which the front end turns into it.
    If {
        /// A `bool`.
        condition: Expr,
        /// The probability that the condition holds, from 0 to 1, if the source says.
        likely: Option<f32>,
        /// The block if it holds.
        then: Vec<Stmt>,
        /// The block if not; may be empty.
        otherwise: Vec<Stmt>,
    },
    /// `match`: runs the first case with the value's number, else `otherwise`.
    Match {
        /// A number, a `bool` or an enum; evaluated once.
        value: Expr,
        /// The cases; no number is in two of them.
        cases: Vec<(Vec<u64>, Vec<Stmt>)>,
        /// The block for all other values; if the cases cover all values, the last case.
        otherwise: Vec<Stmt>,
        /// The places of the blocks: of each case, then of `otherwise`.
        places: Vec<Span>,
    },
    /// `while c limit n`
    While {
        /// Evaluated before each round.
        condition: Expr,
        /// The most iterations, a `u32` that the stack can bound.
        limit: Expr,
        /// The body of the loop.
        body: Vec<Stmt>,
    },
    /// `for`: `local` counts from `from` up to `to`, exclusive.
    For {
        /// The counter, new in each round; no statement assigns it.
        local: LocalId,
        /// Evaluated once, first.
        from: Expr,
        /// Evaluated once, then.
        to: Expr,
        /// The most iterations, a `u32` that the stack can bound.
        limit: Expr,
        /// The body of the loop.
        body: Vec<Stmt>,
    },
    /// `for e in Entry limit n`: over the existing objects of a class.
    ForObjects {
        /// The handle.
        local: LocalId,
        /// Index into the layer's objects.
        class: ObjectId,
        /// The most iterations, a `u32` that the stack can bound.
        limit: Expr,
        /// The body of the loop.
        body: Vec<Stmt>,
    },
    /// `return`, `return e`: leaves the body.
    Return {
        /// Set if the function has a result.
        value: Option<Expr>,
    },
    /// The handler's event continues in its direction, unchanged.
    Pass,
    /// Evaluates a call for its effects.
    Call(Expr),
    /// A call of a function that may refuse; `local` is its result. On refusal, the messages among its arguments are
    /// still held.
    IfDone {
        /// [`ExprKind::CallOwn`](super::ExprKind::CallOwn) or [`ExprKind::CallOn`](super::ExprKind::CallOn).
        call: Expr,
        /// The result; `None` if there is none.
        local: Option<LocalId>,
        /// The block on success.
        then: Vec<Stmt>,
        /// The block on refusal.
        otherwise: Vec<Stmt>,
    },
    /// In a function that may refuse: gives its messages back.
    Refuse,
    /// Sends something to a neighbour.
    Emit(Emission),
    /// `drop msg: stale`: counted as dropped.
    Drop {
        /// Given away.
        message: LocalId,
        /// The reason; naming it declares it.
        reason: Name,
        /// The value of that name, if it is a name in scope of type [`Type::Reason`](super::Type::Reason): the message is dropped for it.
        value: Option<Expr>,
    },
    /// `consume msg: used`: counted as consumed.
    Consume {
        /// Given away.
        message: LocalId,
        /// The reason; naming it declares it.
        reason: Name,
    },
    /// In `unmatched`.
    Accept {
        /// The message, given away: it becomes the first of the new session.
        message: LocalId,
    },
    /// `accept(msg, iss: e) or { … }`, in `arrives`: a session begins with the other end of the current flow.
    Begin {
        /// The message, given away as the first of the session; still held if there is no room.
        message: LocalId,
        /// The values for `from accept`: a member of the session, and its value.
        given: Vec<(u32, Expr)>,
        /// The block if there is no room; it leaves.
        otherwise: Vec<Stmt>,
    },
    /// `if let here = listener { … } else { … }`, in `arrives`: the listener for the current flow; `listener[whom]`, in
    /// any code of the layer: the one for another flow.
    IfListener {
        /// The flow in brackets, if it is not the current one.
        flow: Option<Expr>,
        /// Of the type [`Type::Listener`](super::Type::Listener).
        local: LocalId,
        /// The block if there is a listener.
        then: Vec<Stmt>,
        /// The block if there is none.
        otherwise: Vec<Stmt>,
    },
    /// `start t after 20 ms`, `start t at e`; restarts a running timer.
    Start {
        /// A member of the kind [`MemberKind::Timer`](super::MemberKind::Timer).
        timer: StateRef,
        /// The deadline, an instant.
        deadline: Expr,
    },
    /// `stop t`; does nothing if the timer is not running.
    Stop {
        /// A member of the kind [`MemberKind::Timer`](super::MemberKind::Timer).
        timer: StateRef,
    },
    /// `take kept 3 or { … }`
    Take {
        /// A member of the kind [`MemberKind::Quota`](super::MemberKind::Quota).
        quota: StateRef,
        /// The units, a `u32`: takes all of them or none.
        amount: Expr,
        /// The block if fewer are left; it leaves.
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
        /// The block if the key is in the map.
        then: Vec<Stmt>,
        /// The block if not.
        otherwise: Vec<Stmt>,
    },
    /// `m[k] = v or { … }`: sets the value of a key, new or not.
    Insert {
        /// A member of the kind [`MemberKind::Map`](super::MemberKind::Map).
        map: StateRef,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// One for each part of the value.
        values: Vec<Expr>,
        /// The block if the map is full; it leaves.
        otherwise: Vec<Stmt>,
    },
    /// `remove m[k]`; does nothing if the key is not in the map.
    Remove {
        /// A member of the kind [`MemberKind::Map`](super::MemberKind::Map).
        map: StateRef,
        /// One for each part of the key.
        key: Vec<Expr>,
    },
    /// `if let e = Entry[k] { … } else { … }`
    IfObject {
        /// Index into the layer's objects.
        class: ObjectId,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// The handle.
        local: LocalId,
        /// The block if the object exists.
        then: Vec<Stmt>,
        /// The block if not.
        otherwise: Vec<Stmt>,
    },
    /// Finds or makes an object; the class has the initial values of a new one. `otherwise` runs if there is no room.
    FindOrNew {
        /// Index into the layer's objects.
        class: ObjectId,
        /// One for each part of the key.
        key: Vec<Expr>,
        /// The handle, visible to the end of the block.
        local: LocalId,
        /// The block if there is no room; it leaves.
        otherwise: Vec<Stmt>,
    },
    /// Ends an object (`None`: the one that the handler runs for).
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
    /// `if let m = waiting.take(i)`, or `waiting.share(i)`: the message in a place.
    IfTaken {
        /// A member of the kind [`MemberKind::Messages`](super::MemberKind::Messages).
        messages: StateRef,
        /// A `u32`, from 0.
        index: Expr,
        /// Whether it is `waiting.share(i)`: the place keeps the message, and this is a copy.
        share: bool,
        /// The message, held in `then`.
        local: LocalId,
        /// The block if there was a message.
        then: Vec<Stmt>,
        /// The block if not.
        otherwise: Vec<Stmt>,
    },
    /// `msg.trim(n)`: keeps the first `n` octets.
    Trim {
        /// Changed in place.
        message: LocalId,
        /// In octets, a `u32`.
        size: Expr,
    },
    /// `msg.skip(n)`: removes the first `n` octets.
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
        /// The size of the front in octets, a `u32`.
        at: Expr,
        /// The front, held from here on.
        front: LocalId,
        /// The rest, held from here on.
        rest: LocalId,
    },
    /// `a.join(b)`: appends a message.
    Join {
        /// Changed in place.
        message: LocalId,
        /// The message to append; given away.
        behind: Expr,
    },
    /// `msg.put_u16be(at, e)`; a place beyond the end is reported, and nothing is written.
    Store {
        /// Changed in place.
        message: LocalId,
        /// In octets from the front, a `u32`.
        at: Expr,
        /// 8, 16, … 64 bits.
        width: u8,
        /// Whether the first octet has the highest bits.
        big: bool,
        /// Of that width.
        value: Expr,
    },
    /// `msg.ttl = 3`
    SetAttribute {
        /// Changed in place.
        message: LocalId,
        /// The attribute; the layer declares that it writes it.
        attribute: AttributeId,
        /// Of the attribute's type.
        value: Expr,
    },
    /// `later name(…) or { … }`: queues an own event of the layer. On `otherwise` there is no room, and the messages
    /// are still held.
    Later {
        /// Index into [`Layer::handlers`](super::Layer::handlers).
        handler: u32,
        /// One for each parameter; messages among them are given away if there is room.
        args: Vec<Expr>,
        /// The block if there is no room; it leaves if there are messages.
        otherwise: Vec<Stmt>,
    },
    /// `again`: settles once more in this reaction.
    Again,
    /// `renew view`: everything in the view ends, and a new view begins.
    Renew,
}
