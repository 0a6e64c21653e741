//! Statements and emissions: what handlers and functions of layers do. On every path each message ends once.

use mokume_base::Span;

use super::{AttributeId, Expr, LocalId, Name, ObjectId, ServiceId, StateRef};

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// What a `below.send` or `above.deliver` names beside the message.
#[derive(Clone, Debug)]
pub struct Fields {
    pub variant: u32,
    /// One for each field of the variant, in its order.
    pub values: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub enum Emission {
    /// `message` is none for an alternative that goes alone (a new, empty message). `to`: a flow of the lower side.
    Send {
        message: Option<Expr>,
        fields: Option<Fields>,
        to: Option<Expr>,
    },
    Deliver {
        message: Expr,
        from: Option<Expr>,
    },
    /// `args`: what the layers below that ask for it are given, by name.
    Open {
        flow: Expr,
        args: Vec<(Name, Expr)>,
    },
    Listen {
        flow: Expr,
    },
    Bind {
        flow: Expr,
    },
    Unlisten {
        flow: Expr,
    },
    Close,
    Abort,
    Closed,
    Failed {
        reason: Name,
    },
    /// `above.failed(reason)` with the reason that the handler was given.
    FailedAs {
        reason: Expr,
    },
    /// `above.failed(reason, quote) from flow(…)`: of a flow, with the beginning of the packet that failed.
    FailedFlow {
        reason: Expr,
        quote: Expr,
        from: Expr,
    },
    /// Of a used service (`uses` index) or, for `out` operations, of a served one.
    Service {
        service: ServiceId,
        operation: u32,
        uses: Option<u32>,
        args: Vec<Expr>,
    },
    Custom {
        name: Name,
        down: bool,
        args: Vec<Expr>,
    },
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Let {
        local: LocalId,
        value: Expr,
    },
    AssignLocal {
        local: LocalId,
        value: Expr,
    },
    Assign {
        state: StateRef,
        value: Expr,
    },
    AssignElement {
        array: StateRef,
        index: Expr,
        value: Expr,
    },
    If {
        condition: Expr,
        likely: Option<f32>,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Match {
        value: Expr,
        cases: Vec<(Vec<u64>, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    While {
        condition: Expr,
        limit: Expr,
        body: Vec<Stmt>,
    },
    /// `local` counts from `from` up to, without, `to`.
    For {
        local: LocalId,
        from: Expr,
        to: Expr,
        limit: Expr,
        body: Vec<Stmt>,
    },
    ForObjects {
        local: LocalId,
        class: ObjectId,
        limit: Expr,
        body: Vec<Stmt>,
    },
    Return {
        value: Option<Expr>,
    },
    /// The handler's event goes on in its direction, as it came.
    Pass,
    /// Evaluates a call for its effects.
    Call(Expr),
    /// A call of a function that may refuse; `local` is its result. Where it is refused, the messages among its arguments
    /// are still there.
    IfDone {
        call: Expr,
        local: Option<LocalId>,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// In a function that may: it gives its messages back.
    Refuse,
    Emit(Emission),
    Drop {
        message: LocalId,
        reason: Name,
    },
    Consume {
        message: LocalId,
        reason: Name,
    },
    /// In `unmatched`.
    Accept {
        message: LocalId,
    },
    Start {
        timer: StateRef,
        deadline: Expr,
    },
    Stop {
        timer: StateRef,
    },
    Take {
        quota: StateRef,
        amount: Expr,
        otherwise: Vec<Stmt>,
    },
    Give {
        quota: StateRef,
        amount: Expr,
    },
    Count {
        counter: StateRef,
        amount: Expr,
    },
    IfFound {
        map: StateRef,
        key: Vec<Expr>,
        locals: Vec<LocalId>,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Insert {
        map: StateRef,
        key: Vec<Expr>,
        values: Vec<Expr>,
        otherwise: Vec<Stmt>,
    },
    Remove {
        map: StateRef,
        key: Vec<Expr>,
    },
    IfObject {
        class: ObjectId,
        key: Vec<Expr>,
        local: LocalId,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// Finds or makes; `fresh` statements of its initial values are in the class. `otherwise` runs when there is no room.
    FindOrNew {
        class: ObjectId,
        key: Vec<Expr>,
        local: LocalId,
        otherwise: Vec<Stmt>,
    },
    /// Ends an object (none: the one that the handler runs for).
    End {
        object: Option<Expr>,
    },
    Put {
        messages: StateRef,
        index: Expr,
        message: LocalId,
    },
    /// `share`: a second one stays.
    IfTaken {
        messages: StateRef,
        index: Expr,
        share: bool,
        local: LocalId,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Trim {
        message: LocalId,
        size: Expr,
    },
    Skip {
        message: LocalId,
        size: Expr,
    },
    Split {
        message: LocalId,
        at: Expr,
        front: LocalId,
        rest: LocalId,
    },
    Join {
        message: LocalId,
        behind: Expr,
    },
    Store {
        message: LocalId,
        at: Expr,
        width: u8,
        big: bool,
        value: Expr,
    },
    SetAttribute {
        message: LocalId,
        attribute: AttributeId,
        value: Expr,
    },
    /// `event` names a custom handler of the layer. `otherwise`: there is no room; the messages are still there.
    Later {
        handler: u32,
        args: Vec<Expr>,
        otherwise: Vec<Stmt>,
    },
    Again,
}
