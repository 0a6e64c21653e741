//! Operations: what there are ([`table`]), what their operands may be ([`kinds`]), what they do beside giving results ([`Effects`]).
//!
//! The text form, types, visits of operands and the verifier all follow from the table. Who runs, translates or judges
//! operations matches every one by name (`cargo xtask tidy` holds them to it), so a new line of the table does not compile
//! until each of them says what it means.

mod effects;
pub mod kinds;
mod numbers;
mod row;
pub mod table;
pub mod template;

pub use effects::Effects;
pub use kinds::{Kind, OctetField, Slot};
pub use numbers::{Binary, Compare, Endian};
pub use row::{Given, Operation, Row};
pub use table::{Fallible, OpKind};

use crate::{CellId, Value};

/// An event that leaves a handler: who it is for, and its name and arguments.
#[derive(Clone, Copy, Debug)]
pub enum Emission<'a> {
    /// For an object of another layer, in this reaction.
    Event { target: Addressee, event: &'a str, args: &'a [Value] },
    /// For whoever is at a port, by index in [`crate::Port::outputs`].
    Output { port: crate::PortId, event: u32, args: &'a [Value] },
}

/// The object that an emitted event is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressee {
    /// This one.
    Object(Value),
    /// The one that a cell refers to when the emission is carried out (`docs/semantics.md`, O9).
    Linked { object: Value, cell: CellId },
}

impl OpKind {
    /// What leaves the handler by this operation, if anything does.
    pub fn emission(&self) -> Option<Emission<'_>> {
        match self {
            OpKind::Emit { target, event, args } => {
                Some(Emission::Event { target: Addressee::Object(*target), event, args })
            }
            OpKind::EmitBy { object, cell, event, args } => {
                Some(Emission::Event { target: Addressee::Linked { object: *object, cell: *cell }, event, args })
            }
            OpKind::Out { port, event, args } => Some(Emission::Output { port: *port, event: *event, args }),
            // What a procedure emits leaves by its own operations.
            OpKind::Run { .. } => None,
            other => {
                debug_assert!(!other.effects().contains(Effects::EMITS), "an emission that nobody sees: {other:?}");
                None
            }
        }
    }

    /// The object that ends by this operation.
    pub fn ends(&self) -> Option<Value> {
        let ends = self.effects().contains(Effects::ENDS);
        ends.then(|| self.operands().first().copied()).flatten()
    }
}

impl Fallible {
    /// The event that starts a reaction of its own by this operation, if one does.
    pub fn emission(&self) -> Option<Emission<'_>> {
        match self {
            Fallible::Later { target, event, args } => {
                Some(Emission::Event { target: Addressee::Object(*target), event, args })
            }
            Fallible::TryRun { .. } => None,
            other => {
                debug_assert!(!other.effects().contains(Effects::EMITS), "an emission that nobody sees: {other:?}");
                None
            }
        }
    }
}
