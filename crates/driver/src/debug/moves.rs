//! Moves in a run: what is requested, why it stopped, and how it ended.

/// How a run ended: the failures.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct End {
    pub failed: Vec<String>,
}

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Go {
    /// Continue to the next point, or the end.
    On,
    Forward(By),
    /// Back to the last such moment before this one, or to the beginning.
    Back(By),
    /// From the beginning, to its first statement.
    Restart,
    /// What was meant before somebody interrupted the run.
    Same,
    /// To where the run stood before somebody went back.
    Home,
    Quit,
}

/// The unit of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The next statement, anywhere.
    Statement,
    /// The next statement of this handler, not in what it calls; of another handler, if this one ends.
    Over,
    /// To the end of the called function.
    Out,
    /// A host's next reaction: an input, a frame, a timer.
    Reaction,
    /// The next frame that a host receives.
    Frame,
    /// The next point.
    Point,
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    Beginning,
    /// The step is done.
    Stepped,
    /// The point of this number.
    Point(u32),
    /// Somebody interrupts.
    Asked,
    /// Somebody interrupts a way back. The run is replayed, and this is not where he was: [`Go::Home`] leads there.
    AskedOnTheWayBack,
    /// Where the run stood before, as somebody has interrupted a way back.
    Home,
}
