//! A message sequence chart as data: lifelines (hosts, or layers of hosts) and what happened, in order.

/// One run, or a part of one, to be drawn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chart {
    pub title: String,
    pub unit: Unit,
    pub lifelines: Vec<Lifeline>,
    /// In the order in which they happened.
    pub items: Vec<Item>,
}

/// What the times of a chart are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    #[default]
    Nanoseconds,
    /// Numbers of steps, as a checker counts them.
    Steps,
}

/// A host, or a layer of one: a vertical line of the chart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lifeline {
    pub name: String,
    /// Neighbours of one group (the layers of a host) stand under a common name; empty: none.
    pub group: String,
}

/// Something that happened, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// `None`: in the same reaction as the item before.
    pub time: Option<u64>,
    pub event: Event,
}

/// Ties the sending of a message to its arrivals (none, one, or several) or its loss; unique in the chart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MessageId(pub u32);

/// What happened. Lifelines are indices into [`Chart::lifelines`]; an event that names one that is not there is not drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message sets out; one that is never received or lost is still under way at the end.
    Send {
        from: usize,
        to: usize,
        message: MessageId,
        label: String,
    },
    /// It arrives; a second time: a duplicate.
    Receive {
        message: MessageId,
    },
    /// It arrives, and is not for who gets it.
    Ignore {
        message: MessageId,
    },
    /// It arrives otherwise than it was sent.
    Damage {
        message: MessageId,
    },
    /// The network lost it.
    Lose {
        message: MessageId,
    },
    /// A partition cut it off.
    CutOff {
        message: MessageId,
    },
    /// The line had no room for it.
    Overflow {
        message: MessageId,
    },
    /// An event that takes no time, between two layers.
    Pass {
        from: usize,
        to: usize,
        label: String,
    },
    /// Between a lifeline and the world outside the chart: an application's call, a delivery to it.
    Call {
        at: usize,
        direction: Direction,
        label: String,
    },
    /// A message ended here, and why.
    Drop {
        at: usize,
        label: String,
    },
    Timer {
        at: usize,
        what: TimerEvent,
        label: String,
    },
    /// A remark at a lifeline, or across the chart.
    Note {
        at: Option<usize>,
        label: String,
    },
    /// What must not happen: drawn across the chart, never folded away.
    Violation {
        label: String,
    },
}

impl Event {
    /// The message of which it is, on its way from one lifeline to another.
    pub(crate) fn message(&self) -> Option<MessageId> {
        match self {
            Event::Send { message, .. }
            | Event::Receive { message }
            | Event::Ignore { message }
            | Event::Damage { message }
            | Event::Lose { message }
            | Event::CutOff { message }
            | Event::Overflow { message } => Some(*message),
            Event::Pass { .. }
            | Event::Call { .. }
            | Event::Drop { .. }
            | Event::Timer { .. }
            | Event::Note { .. }
            | Event::Violation { .. } => None,
        }
    }
}

/// Whether an event comes in by a port, or goes out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    In,
    Out,
}

/// What happened to a timer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TimerEvent {
    Armed,
    Fired,
    Stopped,
}

impl Chart {
    /// A chart of these lifelines, without groups, and without items so far.
    pub fn new(title: impl Into<String>, unit: Unit, lifelines: &[&str]) -> Self {
        let lifelines =
            lifelines.iter().map(|name| Lifeline { name: name.to_string(), ..Lifeline::default() }).collect();
        Chart { title: title.into(), unit, lifelines, items: Vec::new() }
    }

    /// Puts an event behind all others. Items stand in the order in which they happened, also where times are equal;
    /// `None` as the time joins the event to the reaction of the item before. The time is in the chart's unit.
    pub fn push(&mut self, time: impl Into<Option<u64>>, event: Event) {
        self.items.push(Item { time: time.into(), event });
    }

    /// A time as people write it: steps as numbers, durations in the largest unit that keeps them short.
    pub(crate) fn show_time(&self, time: u64) -> String {
        match self.unit {
            Unit::Steps => time.to_string(),
            Unit::Nanoseconds => match time {
                0 => "0".to_string(),
                t if t < 1_000 => format!("{t} ns"),
                t if t < 1_000_000 => fraction(t, 1_000, "µs"),
                t if t < 1_000_000_000 => fraction(t, 1_000_000, "ms"),
                t => fraction(t, 1_000_000_000, "s"),
            },
        }
    }
}

/// `time / unit` with up to three digits behind the point.
fn fraction(time: u64, unit: u64, name: &str) -> String {
    let thousandths = time % unit / (unit / 1000);
    let digits = format!("{}.{thousandths:03}", time / unit);
    format!("{} {name}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_and_exact_to_a_thousandth() {
        let chart = Chart::default();
        let shown: Vec<String> =
            [0, 999, 1_500, 20_000_000, 1_000_000_000, 61_250_000_000].iter().map(|t| chart.show_time(*t)).collect();
        assert_eq!(shown, ["0", "999 ns", "1.5 µs", "20 ms", "1 s", "61.25 s"]);
    }
}
