//! Folds a long chart: repeated parts are folded, and if it is still too long, the middle is left out.
//!
//! Two items are alike if they differ only in numbers ("data 17", "data 18"). Of a repeated part, the first and the
//! last round are kept: the first for the reader, the last because what follows depends on it.

use std::collections::HashMap;

use crate::chart_rows::Fate;
use crate::{Chart, Event, MessageId};

/// The limit of a drawn chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The most rows; a note stands for the middle, which is left out.
    pub rows: usize,
    pub fold_repeats: bool,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { rows: 120, fold_repeats: true }
    }
}

/// A row of the picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    Item(usize),
    /// The preceding `items` repeat `rounds` more times; these are the chart's items `first ..`.
    Repeat {
        first: usize,
        items: usize,
        rounds: usize,
    },
    Cut {
        first: usize,
        items: usize,
    },
}

/// The longest part, in items, whose repetitions are detected.
const LONGEST_ROUND: usize = 32;

pub(crate) fn shown(chart: &Chart, limit: Limit) -> Vec<Shown> {
    let rows = if limit.fold_repeats { folded(chart) } else { (0..chart.items.len()).map(Shown::Item).collect() };
    cut(rows, limit.rows.max(4))
}

fn folded(chart: &Chart) -> Vec<Shown> {
    let shapes = shapes(chart);
    let ends = ends(chart);
    let mut rows = Vec::new();
    let mut at = 0;
    while at < shapes.len() {
        // A round begins with what happens, not with the end of a message of the round before.
        let is_end = Fate::of(&chart.items[at].event).is_some();
        // What rows outside say of a message refers to its row.
        let stays = |period: usize, rounds: usize| {
            let end = at + rounds * period;
            (at + period..end - period).all(|item| ends[item].is_none_or(|last| last < end))
        };
        match best_repetition(&shapes[at..], &stays).filter(|_| !is_end) {
            Some((period, rounds)) => {
                rows.extend((at..at + period).map(Shown::Item));
                let last = at + (rounds - 1) * period;
                rows.push(Shown::Repeat { first: at + period, items: period, rounds: rounds - 2 });
                rows.extend((last..last + period).map(Shown::Item));
                at = last + period;
            }
            None => {
                rows.push(Shown::Item(at));
                at += 1;
            }
        }
    }
    rows
}

/// For each item that sends a message, the last item that says what became of it.
fn ends(chart: &Chart) -> Vec<Option<usize>> {
    let mut sent: HashMap<MessageId, usize> = HashMap::new();
    let mut ends = vec![None; chart.items.len()];
    for (at, item) in chart.items.iter().enumerate() {
        if let Event::Send { message, .. } = &item.event {
            sent.insert(*message, at);
        }
        let of = Fate::of(&item.event).and_then(|(message, _)| sent.get(&message));
        if let Some(from) = of {
            ends[*from] = Some(at);
        }
    }
    ends
}

/// Period and rounds of the repetition at the beginning that hides the most, if it is worth folding and `stays` says of both that what it
/// hides ends within it.
fn best_repetition(shapes: &[String], stays: &dyn Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
    let longest = LONGEST_ROUND.min(shapes.len() / 3);
    let mut best = None;
    for period in 1..=longest {
        let alike = (period..shapes.len()).take_while(|at| shapes[*at] == shapes[at - period]).count();
        let rounds = alike / period + 1;
        let hidden = rounds.saturating_sub(2) * period;
        let is_better = best.is_none_or(|(_, _, most)| hidden > most);
        if rounds >= 4 && hidden >= 6 && is_better && stays(period, rounds) {
            best = Some((period, rounds, hidden));
        }
    }
    best.map(|(period, rounds, _)| (period, rounds))
}

/// A text for each item; equal for items that differ only in numbers.
fn shapes(chart: &Chart) -> Vec<String> {
    let mut sent: HashMap<MessageId, usize> = HashMap::new();
    let mut shapes = Vec::with_capacity(chart.items.len());
    for (index, item) in chart.items.iter().enumerate() {
        let back = |message: &MessageId, sent: &HashMap<MessageId, usize>| sent.get(message).map(|at| index - at);
        let shape = match &item.event {
            Event::Send { from, to, message, label } => {
                sent.insert(*message, index);
                format!("send {from} {to} {}", without_numbers(label))
            }
            Event::Receive { message } => format!("receive {:?}", back(message, &sent)),
            Event::Lose { message } => format!("lose {:?}", back(message, &sent)),
            Event::Ignore { message } => format!("ignore {:?}", back(message, &sent)),
            Event::Damage { message } => format!("damage {:?}", back(message, &sent)),
            Event::CutOff { message } => format!("cut off {:?}", back(message, &sent)),
            Event::Overflow { message } => format!("overflow {:?}", back(message, &sent)),
            Event::Violation { .. } => format!("violation {index}"),
            plain => without_numbers(&format!("{plain:?}")),
        };
        shapes.push(format!("{} {shape}", item.time.is_some()));
    }
    shapes
}

fn without_numbers(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for c in label.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// Keeps two thirds of the rows for the beginning, which the reader needs, and the rest for the end, which the chart is
/// about.
fn cut(rows: Vec<Shown>, limit: usize) -> Vec<Shown> {
    if rows.len() <= limit {
        return rows;
    }
    let head = limit * 2 / 3;
    let tail = rows.len() - (limit - head - 1);
    let first = rows[..head].last().map_or(0, |row| extent(row).1);
    let end = extent(&rows[tail]).0;
    let mut out = rows[..head].to_vec();
    out.push(Shown::Cut { first, items: end - first });
    out.extend_from_slice(&rows[tail..]);
    out
}

/// The items of a row, as a half-open range.
pub(crate) fn extent(row: &Shown) -> (usize, usize) {
    match *row {
        Shown::Item(index) => (index, index + 1),
        Shown::Repeat { first, items, rounds } => (first, first + items * rounds),
        Shown::Cut { first, items } => (first, first + items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    fn rounds(count: u32) -> Chart {
        let mut chart = Chart::new("", Unit::Steps, &["a", "b"]);
        for n in 0..count {
            let message = MessageId(n);
            chart.push(u64::from(n) * 2, Event::Send { from: 0, to: 1, message, label: format!("data {n}") });
            chart.push(u64::from(n) * 2 + 1, Event::Receive { message });
        }
        chart
    }

    #[test]
    fn a_repeated_part_is_shown_twice() {
        let rows = shown(&rounds(100), Limit::default());
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[2], Shown::Repeat { first: 2, items: 2, rounds: 98 });
    }

    #[test]
    fn an_item_unlike_the_others_ends_a_fold_and_nothing_is_lost() {
        let mut chart = rounds(100);
        chart.items[101].event = Event::Lose { message: MessageId(50) };
        let rows = shown(&chart, Limit::default());
        assert!(rows.contains(&Shown::Item(101)));
        let mut next = 0;
        for row in &rows {
            let (first, end) = extent(row);
            assert_eq!(first, next);
            next = end;
        }
        assert_eq!(next, chart.items.len());
    }

    /// Rounds behind a message that is still on its way would begin with its end, and the last with a line from nowhere.
    #[test]
    fn a_round_begins_with_what_is_sent() {
        let mut chart = Chart::new("", Unit::Steps, &["a", "b"]);
        for n in 0..20 {
            let message = MessageId(n);
            let (from, to) = if n == 0 { (1, 0) } else { (0, 1) };
            chart.push(u64::from(n) * 2, Event::Send { from, to, message, label: format!("data {n}") });
            chart.push(u64::from(n) * 2 + 1, Event::CutOff { message });
        }
        let rows = shown(&chart, Limit::default());
        assert_eq!(rows[..2], [Shown::Item(0), Shown::Item(1)]);
        assert_eq!(rows[4], Shown::Repeat { first: 4, items: 2, rounds: 17 });
    }

    /// Their fates stand behind, and are not alike.
    #[test]
    fn messages_that_end_behind_the_rounds_are_not_hidden() {
        let mut chart = Chart::new("", Unit::Steps, &["a", "b"]);
        for n in 0..20 {
            chart.push(1, Event::Send { from: 0, to: 1, message: MessageId(n), label: format!("data {n}") });
        }
        chart.push(2, Event::Damage { message: MessageId(7) });
        assert!(shown(&chart, Limit::default()).contains(&Shown::Item(7)));
        chart.items.pop();
        assert_eq!(shown(&chart, Limit::default()).len(), 3);
    }

    #[test]
    fn what_is_too_long_loses_its_middle() {
        let rows = shown(&rounds(100), Limit { rows: 30, fold_repeats: false });
        assert_eq!(rows.len(), 30);
        assert_eq!(rows[20], Shown::Cut { first: 20, items: 171 });
        assert_eq!(rows[29], Shown::Item(199));
    }
}
