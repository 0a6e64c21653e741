//! A chart made ready to be drawn: its rows, and where each message sets out and ends.

use std::collections::HashMap;

use crate::fold::{extent, shown, Shown};
use crate::{Chart, Direction, Event, Limit, MessageId, TimerEvent};

pub(crate) struct Rows<'a> {
    pub shown: Vec<Shown>,
    pub journeys: Vec<Journey<'a>>,
}

/// A message's way; at least one of its places is visible.
pub(crate) struct Journey<'a> {
    pub from: usize,
    pub to: usize,
    pub label: &'a str,
    pub sent: RowPosition,
    pub fates: Vec<(RowPosition, Fate)>,
}

/// A row, and whether the item itself is shown there, or is among those that the row hides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowPosition {
    pub row: usize,
    pub visible: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Received,
    Lost,
}

/// On which side of its lifeline a local remark is written: where fewest messages pass.
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

/// What is written at one lifeline for an event that stays there; `None` for all others.
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

/// What a row that hides others says.
pub(crate) fn hidden_note(row: &Shown) -> Option<String> {
    match row {
        Shown::Item(_) => None,
        Shown::Repeat { items, rounds, .. } => Some(format!("… {rounds} more rounds of the {items} above")),
        Shown::Cut { items, .. } => Some(format!("… {items} more")),
    }
}

pub(crate) fn rows(chart: &Chart, limit: Limit) -> Rows<'_> {
    let shown = shown(chart, limit);
    let mut places = vec![RowPosition { row: 0, visible: false }; chart.items.len()];
    for (row, what) in shown.iter().enumerate() {
        let (first, end) = extent(what);
        let visible = matches!(what, Shown::Item(_));
        places[first..end.min(chart.items.len())].fill(RowPosition { row, visible });
    }
    Rows { journeys: journeys(chart, &places), shown }
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
            Event::Receive { message } | Event::Lose { message } => {
                let fate = if matches!(item.event, Event::Lose { .. }) { Fate::Lost } else { Fate::Received };
                if let Some(journey) = by_message.get(message) {
                    journeys[*journey].fates.push((*place, fate));
                }
            }
            _ => {}
        }
    }
    journeys.retain(|journey| journey.sent.visible || journey.fates.iter().any(|(place, _)| place.visible));
    journeys
}

pub(crate) fn is_there(chart: &Chart, lifeline: usize) -> bool {
    lifeline < chart.lifelines.len()
}

/// Neighbouring lifelines of one group: name, first and last.
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

/// `->` into the lifeline or out of it, for text forms.
pub(crate) fn arrow(direction: Direction, side: Side) -> &'static str {
    match (direction, side) {
        (Direction::In, Side::Left) | (Direction::Out, Side::Right) => "─▶",
        (Direction::Out, Side::Left) | (Direction::In, Side::Right) => "◀─",
    }
}
