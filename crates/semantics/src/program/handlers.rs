//! Handlers of layers, and their events.

use mokume_base::Span;

use super::{Expr, Local, LocalId, Name, ScopeKind, ServiceId, StateRef, Stmt};

/// The code of a layer for one event.
#[derive(Clone, Debug)]
pub struct Handler {
    /// The event, with the locals for its parameters.
    pub event: Event,
    /// For `Expiry` and `Settle`, the scope of the event. For the others, the innermost scope that the body names:
    /// `Entity`, `Session`, … (`Session` for a worker or multiplexor whose body names none; it runs in either mode).
    pub scope: ScopeKind,
    /// All locals by [`LocalId`], parameters first.
    pub locals: Vec<Local>,
    /// The body. It gives each message that it starts with or gets away exactly once on every path.
    pub body: Vec<Stmt>,
    /// The place of the event's name.
    pub span: Span,
}

/// An event, with the locals that a handler's head binds. A flow is the one behind `to` or `from`, if the head names
/// it.
#[derive(Clone, Debug)]
pub enum Event {
    /// Before the first input.
    Start,
    /// A message comes from above; `flow` is that of `to flow`.
    Send {
        /// The message, which the handler holds.
        message: LocalId,
        /// The flow, of the upper side.
        flow: Option<LocalId>,
    },
    /// A message comes from below. `variant` is the alternative of the layer's header, `fields` has a local for each
    /// field that is named. `message` is `None` for alternatives without a message, and if the handler does not take it
    /// (lowering then consumes it, as `layer.variant`).
    Deliver {
        /// The message, which the handler holds.
        message: Option<LocalId>,
        /// Index in the layer's header.
        variant: Option<u32>,
        /// Index of the field, and its local.
        fields: Vec<(u32, LocalId)>,
        /// The flow, of the lower side.
        flow: Option<LocalId>,
    },
    /// A message for which this layer, which begins sessions, has none yet below (docs/language.md, section 6). As
    /// [`Event::Deliver`], but on the entity.
    Arrives {
        /// The message, which the handler holds.
        message: Option<LocalId>,
        /// Index in the layer's header.
        variant: Option<u32>,
        /// Index of the field, and its local.
        fields: Vec<(u32, LocalId)>,
        /// The flow, of the lower side.
        flow: Option<LocalId>,
    },
    /// The layer above opens a session.
    Open {
        /// The flow with the peer, of the upper side.
        flow: Option<LocalId>,
    },
    /// A session that was opened is established.
    Opened,
    /// The session below has failed, and ends.
    Failed {
        /// The reason, if the head binds it.
        reason: Option<LocalId>,
    },
    /// `failed(reason, quote)`: a failure with the beginning of the packet that failed. The session lives until a layer
    /// ends it.
    FailedQuoting {
        /// The reason.
        reason: LocalId,
        /// The beginning of the packet, as a message that the handler holds.
        message: LocalId,
        /// The flow that the failed packet was sent along: of the lower side in a router.
        flow: Option<LocalId>,
    },
    /// A layer above starts to listen for sessions.
    Listen {
        /// A pattern of flows of the upper side.
        flow: Option<LocalId>,
    },
    /// A layer above starts to take flow traffic.
    Bind {
        /// A pattern of flows of the upper side.
        flow: Option<LocalId>,
    },
    /// A layer above ends a `listen` or `bind`.
    Unlisten {
        /// The pattern, of flows of the upper side.
        flow: Option<LocalId>,
    },
    /// The other end began a session.
    Accepted {
        /// The flow, of the lower side.
        flow: Option<LocalId>,
    },
    /// A message for which a multiplexor finds no receiver.
    Unmatched {
        /// The message, which the handler holds.
        message: LocalId,
        /// The flow that it is for, of the upper side.
        flow: Option<LocalId>,
    },
    /// The layer above closes its session.
    Close,
    /// The layer above aborts its session.
    Abort,
    /// The session below is closed.
    Closed,
    /// A timer of the layer expires.
    Expiry {
        /// The timer; without a handle: of the object that the handler runs for.
        timer: StateRef,
    },
    /// The object was touched, and nothing else is left to do in the reaction.
    Settle {
        /// The most runs in one reaction, a `u32` of constants and parameters.
        limit: Expr,
    },
    /// A value that is published below has changed.
    Change {
        /// The value's name.
        name: Name,
    },
    /// An operation of a service that the layer serves, or (if `uses` is set) an `out` of one that it uses.
    Service {
        /// The service.
        service: ServiceId,
        /// The operation's index in the service.
        operation: u32,
        /// Index into [`super::Layer::uses`]; `None` if the layer serves the service.
        uses: Option<u32>,
        /// One local for each parameter of the operation.
        params: Vec<LocalId>,
    },
    /// Any other event.
    Custom {
        /// The name, which emissions use.
        name: Name,
        /// The direction.
        from: Origin,
        /// One local for each argument of an emission.
        params: Vec<LocalId>,
        /// The capacity of its `later` queue; 0 if nothing queues it.
        later_capacity: u32,
    },
}

/// Where an own event of layers comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It goes down.
    Above,
    /// It goes up.
    Below,
    /// Only from the layer's own `later`.
    Own,
}
