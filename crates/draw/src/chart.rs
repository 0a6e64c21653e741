//! A message sequence chart as data: lifelines (hosts, or layers of hosts) and events in order.

use std::collections::{BTreeMap, BTreeSet};

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

    /// The times of all items for people, each with as few decimals as tell it from the others.
    pub(crate) fn times(&self) -> Times {
        let mut left: BTreeSet<u64> = self.items.iter().filter_map(|item| item.time).collect();
        let mut shown = BTreeMap::new();
        for decimals in [3, 6, 9] {
            let mut texts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
            for time in left {
                texts.entry(self.unit.show(time, decimals)).or_default().push(time);
            }
            left = texts.values().filter(|times| times.len() > 1).flatten().copied().collect();
            let alone = texts.into_iter().filter(|(_, times)| times.len() == 1);
            shown.extend(alone.map(|(text, times)| (times[0], text)));
        }
        Times(shown)
    }
}

/// The times of a chart as they are shown.
pub(crate) struct Times(BTreeMap<u64, String>);

impl Times {
    pub fn show(&self, time: u64) -> &str {
        self.0.get(&time).map_or("", String::as_str)
    }

    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }
}

impl Unit {
    /// Steps as numbers, durations in the largest unit that keeps them short.
    fn show(self, time: u64, decimals: u32) -> String {
        match (self, time) {
            (Unit::Steps, _) => time.to_string(),
            (_, 0) => "0".to_string(),
            (_, 1..1_000) => format!("{time} ns"),
            (_, 1_000..1_000_000) => fraction(time, decimals.min(3), (3, "µs")),
            (_, 1_000_000..1_000_000_000) => fraction(time, decimals.min(6), (6, "ms")),
            (_, 1_000_000_000..) => fraction(time, decimals, (9, "s")),
        }
    }
}

/// Nanoseconds in a unit of ten to this power, with so many decimals at most.
fn fraction(time: u64, decimals: u32, (power, name): (u32, &str)) -> String {
    let unit = 10_u64.pow(power);
    let parts = time % unit / 10_u64.pow(power - decimals);
    let digits = format!("{}.{parts:0width$}", time / unit, width = decimals as usize);
    format!("{} {name}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_and_no_two_look_alike() {
        let shown = |unit: Unit, times: &[u64]| -> Vec<String> {
            let event = Event::Note { at: None, label: String::new() };
            let item = |time: &u64| Item { time: Some(*time), event: event.clone() };
            let chart = Chart { unit, items: times.iter().map(item).collect(), ..Chart::default() };
            let texts = chart.times();
            times.iter().map(|time| texts.show(*time).to_string()).collect()
        };
        let times = [0, 999, 1_500, 20_000_000, 1_000_000_000, 61_250_000_000, 61_250_000_000];
        assert_eq!(shown(Unit::Nanoseconds, &times), ["0", "999 ns", "1.5 µs", "20 ms", "1 s", "61.25 s", "61.25 s"]);
        let close = [31_103_301, 31_136_740, 31_136_741, 2_000_000_000, 2_000_050_000, 2_001_000_000];
        let wanted = ["31.103 ms", "31.13674 ms", "31.136741 ms", "2 s", "2.00005 s", "2.001 s"];
        assert_eq!(shown(Unit::Nanoseconds, &close), wanted);
        assert_eq!(shown(Unit::Steps, &[7, 8]), ["7", "8"]);
    }
}
