//! What the shape around a layer's code says.

use mokume_reaction::Value;
use mokume_semantics::program::{Emission, Stmt};

use super::writer::Writer;

/// What the code of a layer asks of the shape around it.
pub trait Around {
    /// An event of the layer's own.
    fn emission<'p>(&self, w: &mut Writer<'_, 'p>, emission: &'p Emission, stmt: &'p Stmt);

    /// The object settles once more.
    fn again(&self, w: &mut Writer);

    /// What the shape does with the event at hand.
    fn pass(&self, w: &mut Writer);

    /// A session for whoever sent the message.
    fn accept(&self, w: &mut Writer, message: Value, stmt: &Stmt);
}
