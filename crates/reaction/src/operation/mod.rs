//! Operations: the table ([`table`]), the kinds of operands ([`kinds`]), and what operations do besides giving results
//! ([`Effects`]).
//!
//! The text form, types, operand visits and the verifier all follow from the table. The crates that run, translate or
//! judge operations match every operation by name (`cargo xtask tidy` checks this), so a new line of the table does not
//! compile until each of them says what it means.

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

/// An event that leaves a handler: its receiver, name and arguments.
#[derive(Clone, Copy, Debug)]
pub enum Emission<'a> {
    /// An event for an object of another layer, in this reaction.
    Event { target: Addressee, event: &'a str, args: &'a [Value] },
    /// An event at a port, by index in [`crate::Port::outputs`].
    Output { port: crate::PortId, event: u32, args: &'a [Value] },
}

/// The object that an emitted event is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressee {
    /// This object.
    Object(Value),
    /// The object that the cell refers to when the emission is carried out (`docs/semantics.md`, O9).
    Linked { object: Value, cell: CellId },
}

impl OpKind {
    /// The event that this operation emits, if it emits one.
    pub fn emission(&self) -> Option<Emission<'_>> {
        match self {
            OpKind::Emit { target, event, args } => {
                Some(Emission::Event { target: Addressee::Object(*target), event, args })
            }
            OpKind::EmitBy { object, cell, event, args } => {
                Some(Emission::Event { target: Addressee::Linked { object: *object, cell: *cell }, event, args })
            }
            OpKind::Out { port, event, args } => Some(Emission::Output { port: *port, event: *event, args }),
            // Emissions of a procedure are those of its own operations.
            OpKind::Run { .. } => None,
            other => {
                debug_assert!(!other.effects().contains(Effects::EMITS), "an emission that nobody sees: {other:?}");
                None
            }
        }
    }

    /// The event that this operation queues for a reaction of its own, if it does.
    pub fn put_off(&self) -> Option<Emission<'_>> {
        match self {
            OpKind::Defer { target, event, args } => {
                Some(Emission::Event { target: Addressee::Object(*target), event, args })
            }
            _ => None,
        }
    }

    /// The object and the event whose queue for reactions of their own this operation asks for, or puts into.
    pub fn queue(&self) -> Option<(Value, &str)> {
        match self {
            OpKind::Defer { target, event, .. } | OpKind::Waiting { target, event } => Some((*target, event)),
            _ => None,
        }
    }

    /// The object that this operation ends.
    pub fn ends(&self) -> Option<Value> {
        let ends = self.effects().contains(Effects::ENDS);
        ends.then(|| self.operands().first().copied()).flatten()
    }
}

impl Fallible {
    /// The event that this operation queues for a reaction of its own, if it does.
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
