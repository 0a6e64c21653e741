//! What the shape around a layer's code says.

use mokume_reaction::Value;
use mokume_semantics::program::{Emission, Expr, LocalId, Stmt};

use super::fork::Fork;
use super::writer::{Flow, Writer};

/// A session that is to begin: the message, the values that it asks for (by member of its scope), and what is done where there is
/// no room.
pub struct Begin<'p> {
    pub message: LocalId,
    pub given: &'p [(u32, Expr)],
    pub otherwise: &'p [Stmt],
}

/// What the code of a layer asks of the shape around it.
pub trait Around {
    /// An event of the layer's own.
    fn emission<'p>(&self, w: &mut Writer<'_, 'p>, emission: &'p Emission, stmt: &'p Stmt);

    /// `accept(msg, …) or { … }`: a session begins with the message at hand.
    fn begin_session<'p>(&self, w: &mut Writer<'_, 'p>, begin: Begin<'p>);

    /// The point of the listener that a flow is for, the one at hand if none is named; the other way where nobody listens.
    fn listener(&self, w: &mut Writer, flow: Option<Flow>) -> Option<Fork>;

    /// The object settles once more.
    fn again(&self, w: &mut Writer);

    /// What the shape does with the event at hand.
    fn pass(&self, w: &mut Writer);

    /// A session for whoever sent the message.
    fn accept(&self, w: &mut Writer, message: Value, stmt: &Stmt);
}
