//! How a run is led: what is asked for, why it stands still, and how it ended.

use mokume_reaction::SourceId;

use super::facts::Code;

/// How a run ended: what was not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct End {
    pub failed: Vec<String>,
}

/// What is to happen next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Go {
    /// To the next point, or the end.
    On,
    Forward(By),
    /// To the last such moment before this one, or to the beginning.
    Back(By),
    /// From the beginning, to its first statement.
    Restart,
    Quit,
}

/// By how much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The next statement, wherever it is.
    Statement,
    /// The next statement of this handler, not of what it calls; of another, where this one ends.
    Over,
    /// Behind what was called.
    Out,
    /// The next reaction of a host: an input, a frame, a timer.
    Reaction,
    /// The next frame that a host receives.
    Frame,
    /// The next point.
    Point,
}

/// Why it stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    Beginning,
    /// As far as it was to go.
    Stepped,
    /// The point of this number.
    Point(u32),
}

/// A handler or a function that runs, and where it is.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Call {
    /// How many bodies ran when it was met.
    pub bodies: usize,
    pub code: Option<Code>,
    pub source: SourceId,
}
