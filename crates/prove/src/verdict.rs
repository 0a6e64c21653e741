//! Verdicts: for each way of what was judged, the goals that were shown, or why it is open.

use std::collections::BTreeMap;

/// The verdict about a path.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Each way through it that ends, in the order of its text.
    pub ways: Vec<Way>,
}

impl Judged {
    /// Whether all its ways are proved, and at least one is taken.
    pub fn is_proved(&self) -> bool {
        let is_taken = |way: &Way| way.verdict.as_ref().is_ok_and(|goals| !goals.is_empty());
        self.ways.iter().all(|way| way.verdict.is_ok()) && self.ways.iter().any(is_taken)
    }
}

/// One way through a path.
#[derive(Clone, Debug)]
pub struct Way {
    /// The number of conditions on it.
    pub guards: usize,
    /// The number of goals shown of each kind, empty if the way is never taken; or why it is open.
    pub verdict: Result<Goals, Open>,
}

/// Numbers of goals that were shown, by kind.
pub type Goals = BTreeMap<Kind, u32>;

/// The subject of a goal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Neither the path nor the layers make a report.
    Reports,
    /// The objects that are referred to exist, and so do the octets that are read.
    There,
    /// Outputs at ports, in order.
    Outputs,
    /// Cells, elements of arrays and counters.
    State,
    /// Timers armed and stopped, in order.
    Timers,
    /// The ends of messages inside the stack.
    Ends,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] = [Kind::Reports, Kind::There, Kind::Outputs, Kind::State, Kind::Timers, Kind::Ends];

    /// The printed name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Reports => "reports",
            Kind::There => "there",
            Kind::Outputs => "outputs",
            Kind::State => "state",
            Kind::Timers => "timers",
            Kind::Ends => "ends",
        }
    }
}

/// Why a way is not proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    pub why: String,
    /// A state and an event for which it is not shown, as names and values. The state may be unreachable.
    pub values: Vec<(String, u64)>,
}

impl From<String> for Open {
    fn from(why: String) -> Open {
        Open { why, values: Vec::new() }
    }
}
