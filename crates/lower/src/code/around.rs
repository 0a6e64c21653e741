//! The interface from a layer's code to the shape around it.

use mokume_reaction::Value;
use mokume_semantics::program::{Emission, Expr, LocalId, Stmt};

use super::fork::Fork;
use super::writer::{Flow, Writer};

/// A session that is to begin: the message, the values for it (by member of its scope), and the code for no room.
pub struct Begin<'p> {
    pub message: LocalId,
    pub given: &'p [(u32, Expr)],
    pub otherwise: &'p [Stmt],
}

/// What the code of a layer needs from the shape around it.
pub trait Around {
    /// Emits an event of the layer's code.
    fn emission<'p>(&self, w: &mut Writer<'_, 'p>, emission: &'p Emission, stmt: &'p Stmt);

    /// `accept(msg, …) or { … }`: begins a session with the current message.
    fn begin_session<'p>(&self, w: &mut Writer<'_, 'p>, begin: Begin<'p>);

    /// Branches on whether there is a listener for a flow (the current one if `None`), with the listener's point.
    fn listener(&self, w: &mut Writer, flow: Option<Flow>) -> Option<Fork>;

    /// Makes the object settle once more.
    fn again(&self, w: &mut Writer);

    /// `pass`: continues the current event.
    fn pass(&self, w: &mut Writer);

    /// `accept msg`: begins a session with the message's sender.
    fn accept(&self, w: &mut Writer, message: Value, stmt: &Stmt);
}
