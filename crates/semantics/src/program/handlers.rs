//! Handlers of layers, and the events that they are for.

use mokume_base::Span;

use super::{Expr, Local, LocalId, Name, ScopeKind, ServiceId, StateRef, Stmt};

/// What a layer does at an event.
#[derive(Clone, Debug)]
pub struct Handler {
    /// With the locals that its parameters are.
    pub event: Event,
    /// For `Expiry` and `Settle`: whose. For the others `Entity`, `Session`, … as the text's state needs: the
    /// innermost scope that the body names (`Session` for a worker or multiplexor without any runs in either mode).
    pub scope: ScopeKind,
    /// Parameters first; by [`LocalId`].
    pub locals: Vec<Local>,
    /// Each message that it begins with or gets is given away once on every path.
    pub body: Vec<Stmt>,
    /// Of the event's name.
    pub span: Span,
}

/// An event with the locals that a handler's head binds. A flow is the one behind `to` or `from`, if the head names
/// it.
#[derive(Clone, Debug)]
pub enum Event {
    /// Before the first input.
    Start,
    /// `flow`: `to flow`.
    Send {
        /// Held by the handler.
        message: LocalId,
        /// Of the upper side.
        flow: Option<LocalId>,
    },
    /// `variant` of the own header with a local for each field that is named, by field index; `message` is none for
    /// alternatives that go alone, or when the handler does not take it (lowering then consumes it, as `layer.variant`).
    Deliver {
        /// Held by the handler.
        message: Option<LocalId>,
        /// By its index in the own header.
        variant: Option<u32>,
        /// Index of the field, and its local.
        fields: Vec<(u32, LocalId)>,
        /// Of the lower side.
        flow: Option<LocalId>,
    },
    /// A message for which there is no session below this layer, whose sessions it begins (docs/language.md, section 6). As
    /// [`Event::Deliver`], on the entity.
    Arrives {
        /// Held by the handler.
        message: Option<LocalId>,
        /// By its index in the own header.
        variant: Option<u32>,
        /// Index of the field, and its local.
        fields: Vec<(u32, LocalId)>,
        /// Of the lower side.
        flow: Option<LocalId>,
    },
    /// A session is opened from above.
    Open {
        /// Of the upper side: with whom.
        flow: Option<LocalId>,
    },
    /// A session that was opened stands.
    Opened,
    /// The session below has failed, and ends.
    Failed {
        /// Why, if the head asks.
        reason: Option<LocalId>,
    },
    /// `failed(reason, quote)`: with the beginning of the packet that failed. The session lives until a layer ends it.
    FailedQuoting {
        /// Why.
        reason: LocalId,
        /// The beginning of the packet; held by the handler.
        message: LocalId,
    },
    /// Somebody above waits for sessions.
    Listen {
        /// Of the upper side, a pattern.
        flow: Option<LocalId>,
    },
    /// Somebody above takes flow traffic.
    Bind {
        /// Of the upper side, a pattern.
        flow: Option<LocalId>,
    },
    /// Either is taken back.
    Unlisten {
        /// Of the upper side, the pattern.
        flow: Option<LocalId>,
    },
    /// A session that the other end began.
    Accepted {
        /// Of the lower side.
        flow: Option<LocalId>,
    },
    /// A message that a multiplexor finds nobody for.
    Unmatched {
        /// Held by the handler.
        message: LocalId,
        /// Of the upper side: who it would be for.
        flow: Option<LocalId>,
    },
    /// The layer above closes its session.
    Close,
    /// The layer above breaks its session off.
    Abort,
    /// The session below is closed.
    Closed,
    /// A timer of the layer expires.
    Expiry {
        /// Without a handle: of the object that the handler runs for.
        timer: StateRef,
    },
    /// The object was touched, and nothing is left to do in the reaction.
    Settle {
        /// How often at most in a reaction, a `u32` of constants and parameters.
        limit: Expr,
    },
    /// A value that is published below has changed.
    Change {
        /// Of the value.
        name: Name,
    },
    /// An operation of a service: of one that the layer serves, or (`uses` index) an `out` of one that it uses.
    Service {
        /// Of which it is.
        service: ServiceId,
        /// By its place in the service.
        operation: u32,
        /// Among [`super::Layer::uses`]; none if the layer serves it.
        uses: Option<u32>,
        /// One for each of the operation's.
        params: Vec<LocalId>,
    },
    /// Any other event; `up`: comes from below. `later` capacity when it is a target of `later`.
    Custom {
        /// As emissions name it.
        name: Name,
        /// Which way it goes.
        from: Origin,
        /// As many as emissions give.
        params: Vec<LocalId>,
        /// How many `later` of it may wait.
        later_capacity: u32,
    },
}

/// Where an event of the layers' own comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It goes down.
    Above,
    /// It goes up.
    Below,
    /// Only the layer's own `later`.
    Own,
}
