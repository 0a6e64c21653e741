//! What a machine did within a call, for who shows runs: handlers, the places that they ran, and the cells that they changed.

use crate::{CellId, ClassId, Handle, HandlerId, SourceId};

/// What one call did, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    pub steps: Vec<Step>,
    /// The objects that are not as they were before the call, by class and place.
    pub changes: Vec<Change>,
}

/// A handler that ran for an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub handler: HandlerId,
    pub object: Handle,
    /// Of a timer's handler: when it was due.
    pub due: Option<u64>,
    /// The places of the source that ran, each once, in the order in which they ran first.
    pub ran: Vec<SourceId>,
}

/// What became of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub class: ClassId,
    pub object: Handle,
    pub life: Lives,
    pub cells: Vec<CellChange>,
}

/// Whether an object was there before, and is there afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lives {
    Begins,
    GoesOn,
    Ends,
}

/// A cell, or one place of it, that holds something else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellChange {
    pub cell: CellId,
    pub at: At,
    /// Nothing of an object that was not there.
    pub from: Option<Held>,
    /// Nothing of an object that is there no more.
    pub to: Option<Held>,
}

/// Which part of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum At {
    Whole,
    Place(u32),
    Key(Vec<u64>),
}

/// What a cell, or a place of it, holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Held {
    /// A scalar, units of a quota, a counter.
    Word(u64),
    Object(Handle),
    /// The values of a map's entry.
    Words(Vec<u64>),
    Message(Vec<u8>),
    /// A timer that rings at this time.
    Armed(u64),
}
