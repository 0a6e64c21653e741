//! A sequence chart as text, for terminals and test files.
//!
//! A message that arrives in the next row is one arrow; any other message gets a number, shown where it is sent and
//! where it ends.

use crate::chart::Times;
use crate::chart_rows::{arrow, groups, hidden_note, is_there, local, rows, side, Fate, Journey, Rows, Side};
use crate::fold::Shown;
use crate::svg::shorten;
use crate::{Chart, Event, Limit};

const LONGEST_LABEL: usize = 44;

/// The chart as text, with at most the limit's rows.
pub fn chart_text(chart: &Chart, limit: Limit) -> String {
    let rows = rows(chart, limit);
    let sheet = Sheet::new(chart, &rows);
    let mut lines = Vec::new();
    if !chart.title.is_empty() {
        lines.push(one_line(&chart.title));
        lines.push(String::new());
    }
    lines.extend(sheet.heads());
    let numbers = numbers(&rows);
    let mut merged = false;
    for (index, row) in rows.shown.iter().enumerate() {
        if std::mem::take(&mut merged) {
            continue;
        }
        let (line, next_is_drawn) = sheet.row(&rows, &numbers, index, row);
        lines.push(line);
        merged = next_is_drawn;
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

/// A number for each message that does not end in the row after it was sent.
fn numbers(rows: &Rows) -> Vec<Option<usize>> {
    let mut next = 0;
    let number = |journey: &Journey| {
        let alone = rows.journeys.iter().filter(|other| other.sent == journey.sent).count() == 1;
        let straight = alone && journey.sent.visible && journey.fates.len() == 1 && ends_next(journey);
        if straight {
            return None;
        }
        next += 1;
        Some(next)
    };
    rows.journeys.iter().map(number).collect()
}

fn ends_next(journey: &Journey) -> bool {
    journey.fates.first().is_some_and(|(place, _)| place.visible && place.row == journey.sent.row + 1)
}

struct Sheet<'a> {
    chart: &'a Chart,
    shown: Times,
    x: Vec<usize>,
    times: usize,
    width: usize,
}

impl<'a> Sheet<'a> {
    fn new(chart: &'a Chart, rows: &Rows) -> Self {
        let label = |text: &str| text.chars().count().min(LONGEST_LABEL);
        let shown = chart.times();
        let times = shown.all().map(|time| time.chars().count()).max().unwrap_or(0);
        let count = chart.lifelines.len();
        let heads = chart.lifelines.iter().map(|l| label(&l.name)).max().unwrap_or(0);
        let (mut left, mut right) = (heads / 2 + 1, heads / 2 + 1);
        let mut gaps = vec![heads.max(12) + 4; count.saturating_sub(1)];
        for index in rows.shown.iter().filter_map(|row| if let Shown::Item(index) = row { Some(*index) } else { None })
        {
            let event = &chart.items[index].event;
            if let Some((at, text)) = local(event).filter(|(at, _)| is_there(chart, *at)) {
                let room = label(&text) + 5;
                match (side(chart, at), at + 1 < count) {
                    (Side::Left, _) => left = left.max(room),
                    (Side::Right, true) => gaps[at] = gaps[at].max(room),
                    (Side::Right, false) => right = right.max(room),
                }
            }
            if let Event::Pass { from, to, label: text } | Event::Send { from, to, label: text, .. } = event {
                let (low, high) = (*from.min(to), *from.max(to));
                if high < count && low < high {
                    let share = (label(text) + 12).div_ceil(high - low);
                    gaps[low..high].iter_mut().for_each(|gap| *gap = (*gap).max(share));
                }
            }
        }
        let mut x = Vec::new();
        let mut at = times + 2 + left;
        for index in 0..count {
            x.push(at);
            at += gaps.get(index).copied().unwrap_or(0);
        }
        let across = chart.items.iter().filter_map(|item| match &item.event {
            Event::Violation { label } | Event::Note { at: None, label } => Some(label.chars().count().min(100)),
            _ => None,
        });
        let across = times + 8 + across.max().unwrap_or(0);
        let width = (x.last().copied().unwrap_or(times) + right + 2).max(across);
        Sheet { chart, shown, x, times, width }
    }

    fn heads(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !groups(self.chart).is_empty() {
            let mut line = vec![' '; self.width];
            for (name, first, last) in groups(self.chart) {
                put_centred(&mut line, (self.x[first] + self.x[last]) / 2, &shorten(name, LONGEST_LABEL));
            }
            lines.push(finish(line));
        }
        let mut line = vec![' '; self.width];
        for (lifeline, x) in self.chart.lifelines.iter().zip(&self.x) {
            put_centred(&mut line, *x, &shorten(&lifeline.name, LONGEST_LABEL));
        }
        lines.push(finish(line));
        lines
    }

    fn empty_row(&self) -> Vec<char> {
        let mut line = vec![' '; self.width];
        for x in &self.x {
            line[*x] = '│';
        }
        line
    }

    /// The text of a row, and whether it also covers the next row.
    fn row(&self, rows: &Rows, numbers: &[Option<usize>], index: usize, row: &Shown) -> (String, bool) {
        let mut line = self.empty_row();
        if let Some(note) = hidden_note(self.chart, row) {
            self.put_across(&mut line, &note, '·');
            return (finish(line), false);
        }
        let Shown::Item(item) = row else { return (finish(line), false) };
        let item = &self.chart.items[*item];
        if let Some(time) = item.time {
            let time = self.shown.show(time);
            put(&mut line, self.times - time.chars().count().min(self.times), time);
        }
        let mut drew_next = false;
        match &item.event {
            Event::Pass { from, to, label } if is_there(self.chart, *from) && is_there(self.chart, *to) => {
                self.put_arrow(&mut line, *from, *to, label, '▶', '◀');
            }
            Event::Violation { label } => self.put_across(&mut line, label, '!'),
            Event::Note { at: None, label } => self.put_across(&mut line, label, '-'),
            event if event.message().is_some() => {
                drew_next = self.put_journeys(&mut line, rows, numbers, index);
            }
            event => self.put_local(&mut line, event),
        }
        (finish(line), drew_next)
    }

    fn put_journeys(&self, line: &mut [char], rows: &Rows, numbers: &[Option<usize>], row: usize) -> bool {
        for (journey, number) in rows.journeys.iter().zip(numbers) {
            let (from, to) = (journey.from, journey.to);
            if journey.sent.visible && journey.sent.row == row {
                let Some(number) = number else {
                    let fate = journey.fates.first().map_or(Fate::Received, |(_, fate)| *fate);
                    let label = match fate.word() {
                        Some(word) if fate != Fate::Lost => format!("{} ({word})", journey.label),
                        _ => journey.label.to_string(),
                    };
                    match fate {
                        Fate::Received | Fate::Damaged => self.put_arrow(line, from, to, &label, '▶', '◀'),
                        Fate::Ignored => self.put_arrow(line, from, to, &label, '▷', '◁'),
                        Fate::Lost | Fate::CutOff | Fate::Overflown => {
                            self.put_arrow(line, from, to, &label, '✗', '✗');
                        }
                    }
                    return true;
                };
                // Messages to several receivers on one side are one line, with all their numbers.
                let is_right = |journey: &Journey| journey.from <= journey.to;
                let beside = rows
                    .journeys
                    .iter()
                    .zip(numbers)
                    .filter(|(other, _)| other.sent == journey.sent && is_right(other) == is_right(journey));
                let all: Vec<String> =
                    beside.filter_map(|(_, number)| number.map(|number| number.to_string())).collect();
                if all.first() == Some(&number.to_string()) {
                    let is_first = rows.journeys.iter().find(|other| other.sent == journey.sent);
                    let is_first = is_first.is_some_and(|first| std::ptr::eq(first, journey));
                    let label = if is_first { format!("{} ", journey.label) } else { String::new() };
                    self.put_start(line, from, to, &format!("{label}({})", all.join(", ")));
                }
            }
            for (_, fate) in journey.fates.iter().filter(|(place, _)| place.visible && place.row == row) {
                let number = number.map_or(String::new(), |number| format!("({number})"));
                match (fate, fate.word()) {
                    (Fate::Ignored, _) => self.put_end(line, from, to, &number, ('▷', '◁')),
                    (_, Some(word)) if fate.is_loss() => {
                        put_centred(line, (self.x[from] + self.x[to]) / 2, &format!("{number} ✗ {word}"));
                    }
                    (_, Some(word)) => self.put_end(line, from, to, &format!("{number} {word}"), ('▶', '◀')),
                    (_, None) => self.put_end(line, from, to, &number, ('▶', '◀')),
                }
            }
        }
        false
    }

    fn put_arrow(&self, line: &mut [char], from: usize, to: usize, label: &str, right: char, left: char) {
        let (low, high) = (self.x[from].min(self.x[to]), self.x[from].max(self.x[to]));
        if low == high {
            return put(line, low + 1, &format!("↩ {}", shorten(label, LONGEST_LABEL)));
        }
        line[low + 1..high].fill('─');
        if from < to {
            line[high - 1] = right;
        } else {
            line[low + 1] = left;
        }
        put_centred(line, (low + high) / 2, &format!(" {} ", shorten(label, LONGEST_LABEL)));
    }

    fn put_start(&self, line: &mut [char], from: usize, to: usize, label: &str) {
        let label = shorten(label, LONGEST_LABEL);
        if from <= to {
            put(line, self.x[from] + 1, &format!("── {label} ╌"));
        } else {
            let text = format!("╌ {label} ──");
            put(line, self.x[from].saturating_sub(text.chars().count()), &text);
        }
    }

    fn put_end(&self, line: &mut [char], from: usize, to: usize, number: &str, (right, left): (char, char)) {
        if from <= to {
            let text = format!("╌ {number} ─{right}");
            put(line, self.x[to].saturating_sub(text.chars().count()), &text);
        } else {
            put(line, self.x[to] + 1, &format!("{left}─ {number} ╌"));
        }
    }

    fn put_local(&self, line: &mut [char], event: &Event) {
        let Some((at, label)) = local(event).filter(|(at, _)| is_there(self.chart, *at)) else { return };
        let side = side(self.chart, at);
        let sign = match event {
            Event::Call { direction, .. } => arrow(*direction, side),
            Event::Drop { .. } => "✗",
            Event::Timer { .. } => "◷",
            _ => "·",
        };
        let label = shorten(&label, LONGEST_LABEL);
        match side {
            Side::Left => {
                let text = format!("{label} {sign}");
                put(line, self.x[at].saturating_sub(text.chars().count()), &text);
            }
            Side::Right => put(line, self.x[at] + 1, &format!("{sign} {label}")),
        }
    }

    fn put_across(&self, line: &mut [char], text: &str, fill: char) {
        let start = (self.times + 2).min(line.len());
        line[start..].fill(fill);
        let text = shorten(text, (line.len() - start).saturating_sub(4).max(8));
        put_centred(line, (start + line.len()) / 2, &format!(" {text} "));
    }
}

/// Writes a text as far as the line goes; control characters are replaced.
fn put(line: &mut [char], at: usize, text: &str) {
    for (place, c) in line.iter_mut().skip(at).zip(text.chars()) {
        *place = if c.is_control() { '\u{fffd}' } else { c };
    }
}

fn put_centred(line: &mut [char], middle: usize, text: &str) {
    put(line, middle.saturating_sub(text.chars().count() / 2), text);
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn finish(line: Vec<char>) -> String {
    line.into_iter().collect::<String>().trim_end().to_string()
}
