//! A trace of one call of a machine, for tools that show runs: the handlers, the source places that they ran, and the
//! cells that they changed.

use crate::{CellId, ClassId, Handle, HandlerId, SourceId};

/// What one call did, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    pub steps: Vec<Step>,
    /// The objects that the call changed, by class and number.
    pub changes: Vec<Change>,
}

/// A handler that ran for an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub handler: HandlerId,
    pub object: Handle,
    /// For a timer's handler: its deadline.
    pub due: Option<u64>,
    /// The source places that ran, each once, in the order of their first run.
    pub ran: Vec<SourceId>,
}

/// The changes of one object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub class: ClassId,
    pub object: Handle,
    pub life: Lives,
    pub cells: Vec<CellChange>,
}

/// Whether an object existed before and exists afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lives {
    Begins,
    GoesOn,
    Ends,
}

/// A cell, or one place of it, that changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellChange {
    pub cell: CellId,
    pub at: At,
    /// The old content; `None` if the object is new.
    pub from: Option<Held>,
    /// The new content; `None` if the object has ended.
    pub to: Option<Held>,
}

/// Which part of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum At {
    Whole,
    Place(u32),
    Key(Vec<u64>),
}

/// The content of a cell or of a place of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// A scalar, units of a quota, a counter.
    Word(u64),
    Object(Handle),
    /// The values of a map's entry.
    Words(Vec<u64>),
    Message(Vec<u8>),
    /// A timer with its deadline.
    Armed(u64),
}
