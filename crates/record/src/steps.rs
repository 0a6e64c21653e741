//! What a call of a stack did: handlers of layers with the lines that ran, and the cells that changed.

use serde::{Deserialize, Serialize};

use crate::number;

/// What a call did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Did {
    /// Timers that rang.
    pub rings: Vec<Ring>,
    /// Handlers, in the order in which they began.
    pub steps: Vec<Step>,
    /// Objects that are not as they were.
    pub changes: Vec<Change>,
}

/// A timer of an object of a layer that rang.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    pub layer: String,
    pub class: String,
    pub object: u32,
    pub generation: u32,
    pub timer: String,
    /// When it was due.
    #[serde(with = "number")]
    pub due: u64,
}

/// A handler of a layer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub layer: String,
    /// What it is for: `deliver`, `start`, `settle`, `expiry again_at`.
    pub on: String,
    /// The lines that ran, by file.
    pub ran: Vec<Lines>,
}

/// Lines of a file, counted from 1, in the order in which they ran first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    pub file: String,
    pub lines: Vec<u32>,
}

/// An object of a layer that is not as it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub layer: String,
    /// What it is of its layer: `entity`, `session`, …
    pub class: String,
    pub object: u32,
    pub generation: u32,
    pub life: Life,
    pub cells: Vec<Cell>,
}

/// Whether an object was there before the call, and is there after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    Begins,
    GoesOn,
    Ends,
}

/// What a variable, or a place of it, held and holds, as people read it; of a timer that is armed the nanoseconds at which it rings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub name: String,
    pub kind: Kind,
    /// The place in an array, or the key in a map.
    pub at: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
}

/// What a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Value,
    Array,
    Map,
    Messages,
    Timer,
    Quota,
    Counter,
}

/// A file that steps name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// As steps name it.
    pub source: String,
    pub text: String,
}
