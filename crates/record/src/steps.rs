//! What a call of a stack did: handlers of layers with the lines that ran, and the cells that changed.

use serde::{Deserialize, Serialize};

use crate::number;

/// What a call did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Did {
    /// Timers that expired.
    pub rings: Vec<Ring>,
    /// Handlers, in the order in which they started.
    pub steps: Vec<Step>,
    /// Objects that changed.
    pub changes: Vec<Change>,
}

/// An expired timer of a layer's object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    pub layer: String,
    pub class: String,
    pub object: u32,
    pub generation: u32,
    pub timer: String,
    /// Its deadline.
    #[serde(with = "number")]
    pub due: u64,
}

/// A handler of a layer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub layer: String,
    /// Its event: `deliver`, `start`, `settle`, `expiry again_at`.
    pub on: String,
    /// The lines that ran, by file.
    pub ran: Vec<Lines>,
}

/// Lines of a file, from 1, in the order in which they first ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    pub file: String,
    pub lines: Vec<u32>,
}

/// An object of a layer that changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub layer: String,
    /// Its class in the layer: `entity`, `session`, …
    pub class: String,
    pub object: u32,
    pub generation: u32,
    pub life: Life,
    pub cells: Vec<Cell>,
}

/// Whether an object existed before the call, and exists after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    Begins,
    GoesOn,
    Ends,
}

/// The old and new content of a variable or of a place of it, as text for people; for an armed timer, its deadline in
/// nanoseconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub name: String,
    pub kind: Kind,
    /// The index in an array, or the key in a map.
    pub at: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
}

/// The kind of a variable.
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

/// A source file that steps refer to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name in steps.
    pub source: String,
    pub text: String,
}
