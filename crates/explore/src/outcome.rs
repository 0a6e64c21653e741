//! The result of an exploration: verdicts with their world and strength, counts, and traces.

use std::fmt::Write;

use mokume_draw::Chart;
use serde_json::{json, Value};

use crate::trace::Step;
use crate::world::World;

/// The properties that are checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// The messages that a host receives from another are a prefix of those that the other sent.
    Order,
    /// No overflow, no index out of bounds, no misuse of a quota.
    Reports,
    /// Every reaction ends.
    Rest,
    /// A network that does not lose packets has room for what is sent.
    Room,
    /// Some step is possible, or all messages have been delivered.
    Deadlock,
    /// From every reachable state, all messages can still be delivered.
    Progress,
}

impl Property {
    /// All properties, in the order in which verdicts are given and printed.
    pub const ALL: [Property; 6] =
        [Property::Order, Property::Reports, Property::Rest, Property::Room, Property::Deadlock, Property::Progress];

    /// The property as a statement, for people.
    pub fn text(self) -> &'static str {
        match self {
            Property::Order => "what is delivered is a prefix of what was sent",
            Property::Reports => "nothing is reported",
            Property::Rest => "every reaction ends",
            Property::Room => "the channels have room",
            Property::Deadlock => "no deadlock before all is delivered",
            Property::Progress => "from every reachable state all can still be delivered",
        }
    }

    /// The property's name, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Property::Order => "order",
            Property::Reports => "reports",
            Property::Rest => "rest",
            Property::Room => "room",
            Property::Deadlock => "deadlock",
            Property::Progress => "progress",
        }
    }
}

/// The result of one exploration: verdicts, and what they rest on.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub stack: String,
    pub world: World,
    pub strength: Strength,
    pub verdicts: Vec<Verdict>,
    pub states: u64,
    pub transitions: u64,
    /// The number of steps from the beginning to the farthest state.
    pub depth: u64,
    /// The memory of the set of states, for each state: keys, parents and table.
    pub bytes_per_state: f64,
    /// The number of different states of hosts; beside it, of different packets.
    pub host_states: usize,
    pub packets: usize,
    pub bytes_of_tables: usize,
    /// Blocks of handlers that no reaction reached; the verdicts say nothing about them.
    pub unreached: Vec<String>,
}

/// How much of the world was explored, and so what a verdict is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strength {
    /// Every state of this world was visited.
    Exhaustive,
    /// The search ended at the first violation; only the violation is known.
    UpToViolation,
    /// The search ended at a limit of states.
    Bounded { limit: usize },
}

/// The finding about one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    pub property: Property,
    pub finding: Finding,
}

/// Whether a property holds, in this world and with the outcome's strength.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    Holds,
    /// Undecided: the exploration ended before.
    Open,
    Violated(Box<Violation>),
}

/// A way from the beginning to a forbidden state or step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    pub text: String,
    /// A shortest sequence of steps to it.
    pub steps: Vec<Step>,
    pub chart: Chart,
}

impl Outcome {
    /// The finding about a property; `Open` if the exploration has none.
    pub fn finding(&self, property: Property) -> &Finding {
        let found = self.verdicts.iter().find(|verdict| verdict.property == property);
        found.map_or(&Finding::Open, |verdict| &verdict.finding)
    }

    /// The violation, if one was found.
    pub fn violation(&self) -> Option<(Property, &Violation)> {
        self.verdicts.iter().find_map(|verdict| match &verdict.finding {
            Finding::Violated(violation) => Some((verdict.property, &**violation)),
            _ => None,
        })
    }

    fn strength_text(&self) -> String {
        match self.strength {
            Strength::Exhaustive => "exhaustive in this world".to_string(),
            Strength::UpToViolation => "up to the first violation".to_string(),
            Strength::Bounded { limit } => format!("bounded: it ended at {limit} states"),
        }
    }

    /// The result as text, without the chart.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}: {}", self.stack, self.strength_text());
        let _ = writeln!(text, "  world   {}", self.world);
        for verdict in &self.verdicts {
            let (sign, more) = match &verdict.finding {
                Finding::Holds => ("holds   ", String::new()),
                Finding::Open => ("open    ", String::new()),
                Finding::Violated(violation) => {
                    ("VIOLATED", format!(" — {}, after {} steps", violation.text, violation.steps.len()))
                }
            };
            let _ = writeln!(text, "  {sign} {}{more}", verdict.property.text());
        }
        let _ = writeln!(
            text,
            "  met     {} states, {} transitions, depth {}; {:.1} bytes a state, {} host states and {} packets in {} KiB of tables",
            self.states,
            self.transitions,
            self.depth,
            self.bytes_per_state,
            self.host_states,
            self.packets,
            self.bytes_of_tables / 1024,
        );
        if !self.unreached.is_empty() {
            let _ = writeln!(text, "  never reached: {}", self.unreached.join(", "));
        }
        if let Some((_, violation)) = self.violation() {
            for (number, step) in violation.steps.iter().enumerate() {
                let _ = writeln!(text, "  {:>3} {step}", number + 1);
            }
        }
        text
    }

    /// The result as JSON.
    pub fn json(&self) -> Value {
        let verdict = |verdict: &Verdict| {
            let (finding, violation) = match &verdict.finding {
                Finding::Holds => ("holds", None),
                Finding::Open => ("open", None),
                Finding::Violated(violation) => ("violated", Some(violation)),
            };
            let steps = |violation: &Violation| violation.steps.iter().map(Step::json).collect::<Vec<_>>();
            json!({
                "property": verdict.property.name(),
                "finding": finding,
                "text": violation.map(|violation| &violation.text),
                "steps": violation.map(|violation| steps(violation)),
            })
        };
        json!({
            "stack": self.stack,
            "world": self.world.to_string(),
            "strength": self.strength_text(),
            "verdicts": self.verdicts.iter().map(verdict).collect::<Vec<_>>(),
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "bytes_per_state": self.bytes_per_state,
            "host_states": self.host_states,
            "packets": self.packets,
            "unreached": self.unreached,
        })
    }
}
