//! What is known of what was judged: way by way, goals that were shown, or why it is open.

use std::collections::BTreeMap;

/// What is known of a path.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Each way through it that ends, in the order of its text.
    pub ways: Vec<Way>,
}

impl Judged {
    /// Whether all its ways are proved, and one is taken.
    pub fn is_proved(&self) -> bool {
        let is_taken = |way: &Way| way.verdict.as_ref().is_ok_and(|goals| !goals.is_empty());
        self.ways.iter().all(|way| way.verdict.is_ok()) && self.ways.iter().any(is_taken)
    }
}

/// One way through a path.
#[derive(Clone, Debug)]
pub struct Way {
    /// Conditions on it.
    pub guards: usize,
    /// How many goals of each kind were shown, none where it is never taken; or why it is open.
    pub verdict: Result<Goals, Open>,
}

/// Goals that were shown, by kind.
pub type Goals = BTreeMap<Kind, u32>;

/// What a goal is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Nothing is reported, by the path nor by the layers.
    Reports,
    /// Who is spoken of is there, and so are the octets that are looked at.
    There,
    /// What leaves by ports, in order.
    Outputs,
    /// Cells, elements of arrays and counters.
    State,
    /// What is armed and stopped, in order.
    Timers,
    /// How messages end inside.
    Ends,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] = [Kind::Reports, Kind::There, Kind::Outputs, Kind::State, Kind::Timers, Kind::Ends];

    /// As it is printed.
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
    /// A state and an event for which nobody has shown it, as names and values: it may be one that is never reached.
    pub values: Vec<(String, u64)>,
}

impl From<String> for Open {
    fn from(why: String) -> Open {
        Open { why, values: Vec::new() }
    }
}
