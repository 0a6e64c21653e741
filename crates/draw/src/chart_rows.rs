//! A chart prepared for drawing: its rows, and where each message starts and ends.

use std::collections::HashMap;

use crate::fold::{extent, shown, Shown};
use crate::{Chart, Direction, Event, Limit, MessageId, TimerEvent};

pub(crate) struct Rows<'a> {
    pub shown: Vec<Shown>,
    pub journeys: Vec<Journey<'a>>,
}

/// A message's path; at least one of its ends is visible.
pub(crate) struct Journey<'a> {
    pub from: usize,
    pub to: usize,
    pub label: &'a str,
    pub sent: RowPosition,
    pub fates: Vec<(RowPosition, Fate)>,
}

/// A row, and whether it shows the item itself or hides it with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowPosition {
    pub row: usize,
    pub visible: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Received,
    Ignored,
    Damaged,
    Lost,
    CutOff,
    Overflown,
}

impl Fate {
    /// For an event that ends a message: which message, and how.
    pub fn of(event: &Event) -> Option<(MessageId, Fate)> {
        match event {
            Event::Receive { message } => Some((*message, Fate::Received)),
            Event::Ignore { message } => Some((*message, Fate::Ignored)),
            Event::Damage { message } => Some((*message, Fate::Damaged)),
            Event::Lose { message } => Some((*message, Fate::Lost)),
            Event::CutOff { message } => Some((*message, Fate::CutOff)),
            Event::Overflow { message } => Some((*message, Fate::Overflown)),
            _ => None,
        }
    }

    /// Whether it does not arrive.
    pub fn is_loss(self) -> bool {
        matches!(self, Fate::Lost | Fate::CutOff | Fate::Overflown)
    }

    /// The word at its end, if there is one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Fate::Received | Fate::Ignored => None,
            Fate::Damaged => Some("changed"),
            Fate::Lost => Some("lost"),
            Fate::CutOff => Some("cut off"),
            Fate::Overflown => Some("no room"),
        }
    }
}

/// On which side of its lifeline a local note is written: where the fewest messages pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

pub(crate) fn side(chart: &Chart, lifeline: usize) -> Side {
    match lifeline {
        0 if chart.lifelines.len() > 1 => Side::Left,
        _ => Side::Right,
    }
}

/// The text of an event that stays at one lifeline; `None` for all others.
pub(crate) fn local(event: &Event) -> Option<(usize, String)> {
    match event {
        Event::Call { at, label, .. } | Event::Note { at: Some(at), label } => Some((*at, label.clone())),
        Event::Drop { at, label } => Some((*at, format!("drop: {label}"))),
        Event::Timer { at, what, label } => {
            let what = match what {
                TimerEvent::Armed => "set",
                TimerEvent::Fired => "expires",
                TimerEvent::Stopped => "stopped",
            };
            Some((*at, format!("{label} {what}")))
        }
        _ => None,
    }
}

/// The text of a row that hides others.
pub(crate) fn hidden_note(chart: &Chart, row: &Shown) -> Option<String> {
    let rows = |first: usize, items: usize| (first..first + items).filter(|at| !is_joined(chart, *at)).count();
    match *row {
        Shown::Item(_) => None,
        Shown::Repeat { first, items, rounds } => {
            Some(format!("… {rounds} more rounds of the {} above", rows(first, items)))
        }
        Shown::Cut { first, items } => Some(format!("… {} more", rows(first, items))),
    }
}

/// Whether an item is the message of the previous item, on its way to another lifeline: both are in one row.
fn is_joined(chart: &Chart, at: usize) -> bool {
    let Some([before, item]) = at.checked_sub(1).and_then(|before| chart.items.get(before..=at)) else { return false };
    match (&before.event, &item.event) {
        (Event::Send { from, to, label, .. }, Event::Send { from: also, to: other, label: same, .. }) => {
            (from, label, before.time) == (also, same, item.time) && to != other
        }
        _ => false,
    }
}

pub(crate) fn rows(chart: &Chart, limit: Limit) -> Rows<'_> {
    let mut shown = shown(chart, limit);
    shown.dedup_by(
        |row, before| matches!((&*row, before), (Shown::Item(at), Shown::Item(first)) if joins(chart, *first, *at)),
    );
    let mut places = vec![RowPosition { row: 0, visible: false }; chart.items.len()];
    for (row, what) in shown.iter().enumerate() {
        let (first, end) = extent(what);
        let visible = matches!(what, Shown::Item(_));
        let end = if visible { (end..).find(|at| !joins(chart, first, *at)).unwrap_or(end) } else { end };
        places[first..end.min(chart.items.len())].fill(RowPosition { row, visible });
    }
    Rows { journeys: journeys(chart, &places), shown }
}

/// Whether all items after the first, up to this one, are in its row.
fn joins(chart: &Chart, first: usize, at: usize) -> bool {
    first < at && (first + 1..=at).all(|at| is_joined(chart, at))
}

fn journeys<'a>(chart: &'a Chart, places: &[RowPosition]) -> Vec<Journey<'a>> {
    let mut journeys: Vec<Journey<'a>> = Vec::new();
    let mut by_message: HashMap<MessageId, usize> = HashMap::new();
    for (item, place) in chart.items.iter().zip(places) {
        match &item.event {
            Event::Send { from, to, message, label } if is_there(chart, *from) && is_there(chart, *to) => {
                by_message.insert(*message, journeys.len());
                journeys.push(Journey { from: *from, to: *to, label, sent: *place, fates: Vec::new() });
            }
            event => {
                if let Some((journey, fate)) =
                    Fate::of(event).and_then(|(message, fate)| Some((by_message.get(&message)?, fate)))
                {
                    journeys[*journey].fates.push((*place, fate));
                }
            }
        }
    }
    journeys.retain(|journey| journey.sent.visible || journey.fates.iter().any(|(place, _)| place.visible));
    journeys
}

pub(crate) fn is_there(chart: &Chart, lifeline: usize) -> bool {
    lifeline < chart.lifelines.len()
}

/// Adjacent lifelines of one group: name, first and last.
pub(crate) fn groups(chart: &Chart) -> Vec<(&str, usize, usize)> {
    let mut groups: Vec<(&str, usize, usize)> = Vec::new();
    for (index, lifeline) in chart.lifelines.iter().enumerate().filter(|(_, lifeline)| !lifeline.group.is_empty()) {
        match groups.last_mut() {
            Some((name, _, last)) if *name == lifeline.group && *last + 1 == index => *last = index,
            _ => groups.push((&lifeline.group, index, index)),
        }
    }
    groups
}

/// `->` to the lifeline or from it, for text forms.
pub(crate) fn arrow(direction: Direction, side: Side) -> &'static str {
    match (direction, side) {
        (Direction::In, Side::Left) | (Direction::Out, Side::Right) => "─▶",
        (Direction::Out, Side::Left) | (Direction::In, Side::Right) => "◀─",
    }
}
