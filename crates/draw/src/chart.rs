//! A message sequence chart as data: lifelines (hosts, or layers of hosts) and events in order.

/// One run, or a part of one, to draw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chart {
    pub title: String,
    pub unit: Unit,
    pub lifelines: Vec<Lifeline>,
    /// The events, in the order in which they happened.
    pub items: Vec<Item>,
}

/// The unit of a chart's times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    #[default]
    Nanoseconds,
    /// Numbers of steps, as in the explorer.
    Steps,
}

/// A host, or a layer of one: a vertical line of the chart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lifeline {
    pub name: String,
    /// Adjacent lifelines of one group (the layers of a host) have a common heading; empty for none.
    pub group: String,
}

/// An event and its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// `None`: in the same reaction as the previous item.
    pub time: Option<u64>,
    pub event: Event,
}

/// Connects the sending of a message with its arrivals (none, one, or several) or its loss; unique in the chart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MessageId(pub u32);

/// An event. Lifelines are indices into [`Chart::lifelines`]; an event with an invalid index is not drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A message is sent; if it is never received or lost, it is still on its way at the end.
    Send {
        from: usize,
        to: usize,
        message: MessageId,
        label: String,
    },
    /// It arrives; a second arrival is a duplicate.
    Receive {
        message: MessageId,
    },
    /// It arrives at a receiver that it is not for.
    Ignore {
        message: MessageId,
    },
    /// It arrives corrupted.
    Damage {
        message: MessageId,
    },
    /// The network lost it.
    Lose {
        message: MessageId,
    },
    /// A partition separates sender and receiver.
    CutOff {
        message: MessageId,
    },
    /// The queue of the line was full.
    Overflow {
        message: MessageId,
    },
    /// An instantaneous event between two layers.
    Pass {
        from: usize,
        to: usize,
        label: String,
    },
    /// An event between a lifeline and the outside: an application's call, or a delivery to it.
    Call {
        at: usize,
        direction: Direction,
        label: String,
    },
    /// A message ended here, for a reason.
    Drop {
        at: usize,
        label: String,
    },
    Timer {
        at: usize,
        what: TimerEvent,
        label: String,
    },
    /// A note at a lifeline, or across the chart.
    Note {
        at: Option<usize>,
        label: String,
    },
    /// A violated property: drawn across the chart, never folded away.
    Violation {
        label: String,
    },
}

impl Event {
    /// The message of an event on its way from one lifeline to another.
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

/// Whether an event at a port is an input or an output.
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
    /// An empty chart of these lifelines, without groups.
    pub fn new(title: impl Into<String>, unit: Unit, lifelines: &[&str]) -> Self {
        let lifelines =
            lifelines.iter().map(|name| Lifeline { name: name.to_string(), ..Lifeline::default() }).collect();
        Chart { title: title.into(), unit, lifelines, items: Vec::new() }
    }

    /// Appends an event. Items are in the order in which they happened, even if times are equal; `None` as the time
    /// puts the event in the reaction of the previous item. Times are in the chart's unit.
    pub fn push(&mut self, time: impl Into<Option<u64>>, event: Event) {
        self.items.push(Item { time: time.into(), event });
    }

    /// A time for people: steps as numbers, durations in the largest unit that keeps them short.
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

/// `time / unit` with up to three decimals.
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
