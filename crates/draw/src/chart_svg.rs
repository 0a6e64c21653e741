//! A sequence chart as one self-contained SVG.
//!
//! Lines are drawn first and text last, with a white outline, so that text stays readable where messages cross.

use std::collections::{BTreeMap, HashMap};

use crate::chart::Times;
use crate::chart_rows::{groups, hidden_note, is_there, local, rows, side, Fate, Journey, Rows, Side};
use crate::fold::Shown;
use crate::svg::{width, Anchor, Svg, FONT};
use crate::{Chart, Direction, Event, Limit, TimerEvent};

const SIZE: f64 = 12.0;
const LONGEST_LABEL: usize = 72;
const MARGIN: f64 = 18.0;
const STEM: f64 = 34.0;

/// The picture, with at most the limit's rows.
pub fn chart_svg(chart: &Chart, limit: Limit) -> String {
    let rows = rows(chart, limit);
    let plan = Plan::new(chart, &rows);
    let mut svg = Svg::default();
    let mut words = Svg::default();
    draw_frame(chart, &plan, &mut svg);
    for (index, row) in rows.shown.iter().enumerate() {
        draw_row(chart, &plan, index, row, &mut svg, &mut words);
    }
    let mut last = None;
    let crossings = Crossings::new(&rows.journeys);
    for (number, journey) in rows.journeys.iter().enumerate() {
        // A note for several receivers appears once.
        let is_told = journey.sent.visible && last.replace(journey.sent.row) == Some(journey.sent.row);
        let middle = |fate| crossings.x(&plan, journey, (number, fate));
        draw_journey(&plan, journey, &middle, !is_told, &mut svg, &mut words);
    }
    svg.append(words);
    svg.finish((plan.width, plan.height), &chart.title, &style(), MARKERS)
}

/// The positions of everything.
struct Plan {
    times: Times,
    /// The x position of each lifeline.
    x: Vec<f64>,
    /// The y position of each row.
    y: Vec<f64>,
    times_end: f64,
    heads_top: f64,
    heads_width: f64,
    top: f64,
    bottom: f64,
    width: f64,
    height: f64,
}

/// The space before the first lifeline, between adjacent ones, and after the last.
struct Columns {
    left: f64,
    right: f64,
    gaps: Vec<f64>,
}

impl Columns {
    /// Wide enough for the text beside lifelines and on messages between them.
    fn new(chart: &Chart, rows: &Rows, heads_width: f64) -> Columns {
        let count = chart.lifelines.len();
        let (mut left, mut right): (f64, f64) = (heads_width / 2.0, heads_width / 2.0);
        let mut gaps = vec![heads_width.max(130.0) + 40.0; count.saturating_sub(1)];
        for index in rows.shown.iter().filter_map(|row| if let Shown::Item(index) = row { Some(*index) } else { None })
        {
            let event = &chart.items[index].event;
            if let Some((at, text)) = local(event).filter(|(at, _)| is_there(chart, *at)) {
                let room = label_width(&text) + STEM + 20.0;
                match (side(chart, at), at + 1 < count) {
                    (Side::Left, _) => left = left.max(room),
                    (Side::Right, true) => gaps[at] = gaps[at].max(room + 16.0),
                    (Side::Right, false) => right = right.max(room),
                }
            }
            if let Event::Pass { from, to, label: text } | Event::Send { from, to, label: text, .. } = event {
                let (low, high) = (*from.min(to), *from.max(to));
                if high < count && low < high {
                    let share = (label_width(text) + 56.0) / (high - low) as f64;
                    gaps[low..high].iter_mut().for_each(|gap| *gap = gap.max(share));
                }
            }
        }
        Columns { left, right, gaps }
    }
}

/// The width of a drawn label; a long one is cut.
fn label_width(text: &str) -> f64 {
    width(text, SIZE).min(width("M", SIZE) * LONGEST_LABEL as f64)
}

impl Plan {
    fn new(chart: &Chart, rows: &Rows) -> Plan {
        let times = chart.times();
        let times_end = MARGIN + times.all().map(label_width).fold(0.0, f64::max);
        let heads_width = chart.lifelines.iter().map(|l| width(&l.name, SIZE + 1.0) + 28.0).fold(72.0, f64::max);
        let Columns { left, right, gaps } = Columns::new(chart, rows, heads_width);
        let mut x = Vec::new();
        let mut at = times_end + 16.0 + left;
        for index in 0..chart.lifelines.len() {
            x.push(at);
            at += gaps.get(index).copied().unwrap_or(0.0);
        }
        let grouped = if groups(chart).is_empty() { 0.0 } else { 26.0 };
        let heads_top = MARGIN + if chart.title.is_empty() { 0.0 } else { 30.0 } + grouped;
        let top = heads_top + 32.0;
        let (y, bottom) = row_places(chart, rows, top + 6.0);
        let end = x.last().copied().unwrap_or(times_end) + right + MARGIN;
        let title_width = width(&chart.title, 15.0) + 2.0 * MARGIN;
        Plan {
            x,
            times,
            y,
            times_end,
            heads_top,
            heads_width,
            top,
            bottom,
            width: end.max(title_width),
            height: bottom + 44.0,
        }
    }
}

/// How far a line that does not arrive is drawn.
const LOST_AT: f64 = 0.62;

/// Where lines cross rows that hide one of their ends, as shares of the way. Lines side by side cross side by side: the
/// message that left first, or arrives first, is the farthest.
struct Crossings(HashMap<(usize, usize), f64>);

impl Crossings {
    fn new(journeys: &[Journey]) -> Crossings {
        let mut beside: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, journey) in journeys.iter().enumerate() {
            for (at, (place, fate)) in journey.fates.iter().enumerate() {
                let reach = if fate.is_loss() { LOST_AT } else { 1.0 };
                let (hidden, seen) = match (journey.sent.visible, place.visible) {
                    (true, false) => (place.row, journey.sent.row),
                    (false, true) => (journey.sent.row, place.row),
                    _ => continue,
                };
                let way = (journey.from, journey.to, hidden, journey.sent.visible);
                beside.entry(way).or_default().push((seen, (number, at), reach));
            }
        }
        let mut shares = HashMap::new();
        for lines in beside.values_mut() {
            lines.sort_by_key(|(seen, line, _)| (*seen, *line));
            let count = lines.len();
            for (before, (_, line, reach)) in lines.iter().enumerate() {
                shares.insert(*line, reach * (count - before) as f64 / (count + 1) as f64);
            }
        }
        Crossings(shares)
    }

    fn x(&self, plan: &Plan, journey: &Journey, line: (usize, usize)) -> f64 {
        let share = self.0.get(&line).copied().unwrap_or(0.5);
        plan.x[journey.from] + (plan.x[journey.to] - plan.x[journey.from]) * share
    }
}

/// The y positions of rows; items of one reaction are closer together.
fn row_places(chart: &Chart, rows: &Rows, top: f64) -> (Vec<f64>, f64) {
    let mut at = top;
    let mut y = Vec::new();
    for row in &rows.shown {
        at += match row {
            Shown::Item(index) if matches!(chart.items[*index].event, Event::Violation { .. }) => 36.0,
            Shown::Item(index) if chart.items[*index].time.is_none() => 20.0,
            Shown::Item(_) => 31.0,
            Shown::Repeat { .. } | Shown::Cut { .. } => 36.0,
        };
        y.push(at);
    }
    (y, at + 26.0)
}

fn draw_frame(chart: &Chart, plan: &Plan, svg: &mut Svg) {
    svg.text((MARGIN, MARGIN + 14.0), Anchor::Start, "title", &chart.title);
    for (name, first, last) in groups(chart) {
        let (left, right) = (plan.x[first] - plan.heads_width / 2.0 - 8.0, plan.x[last] + plan.heads_width / 2.0 + 8.0);
        let top = plan.heads_top - 24.0;
        svg.rect((left, top), (right - left, plan.bottom + 30.0 - top), 8.0, "group");
        svg.text(((left + right) / 2.0, top + 16.0), Anchor::Middle, "group-name", name);
    }
    for (lifeline, x) in chart.lifelines.iter().zip(&plan.x) {
        svg.line((*x, plan.top - 4.0), (*x, plan.bottom), "life");
        for top in [plan.heads_top, plan.bottom] {
            svg.rect((x - plan.heads_width / 2.0, top), (plan.heads_width, 28.0), 6.0, "head");
            svg.text((*x, top + 18.5), Anchor::Middle, "head-name", &lifeline.name);
        }
    }
}

fn draw_row(chart: &Chart, plan: &Plan, index: usize, row: &Shown, svg: &mut Svg, words: &mut Svg) {
    let y = plan.y[index];
    let across = (plan.times_end + 8.0, plan.width - MARGIN);
    if let Some(note) = hidden_note(chart, row) {
        svg.rect((across.0, y - 13.0), (across.1 - across.0, 26.0), 4.0, "fold");
        return words.text(((across.0 + across.1) / 2.0, y + 4.0), Anchor::Middle, "fold-note", &note);
    }
    let Shown::Item(item) = row else { return };
    let item = &chart.items[*item];
    if let Some(time) = item.time {
        words.text((plan.times_end, y + 4.0), Anchor::End, "time", plan.times.show(time));
    }
    match &item.event {
        Event::Pass { from, to, label } if is_there(chart, *from) && is_there(chart, *to) => {
            draw_line(plan, (*from, y), (*to, y), "pass", svg);
            words.short_text(
                ((plan.x[*from] + plan.x[*to]) / 2.0, y - 5.0),
                Anchor::Middle,
                "word",
                label,
                LONGEST_LABEL,
            );
        }
        Event::Violation { label } => draw_across(across, y, label, "violation", svg, words),
        Event::Note { at: None, label } => draw_across(across, y, label, "note", svg, words),
        event => draw_local(chart, plan, event, y, svg, words),
    }
}

fn draw_across((left, right): (f64, f64), y: f64, label: &str, class: &str, svg: &mut Svg, words: &mut Svg) {
    svg.rect((left, y - 13.0), (right - left, 26.0), 4.0, class);
    let limit = ((right - left) / width("M", SIZE)) as usize;
    words.short_text(((left + right) / 2.0, y + 4.0), Anchor::Middle, &format!("{class}-word"), label, limit);
}

fn draw_line(plan: &Plan, (from, y1): (usize, f64), (to, y2): (usize, f64), class: &str, svg: &mut Svg) {
    let (x1, x2) = (plan.x[from], plan.x[to]);
    if from == to {
        let far = x1 + 46.0;
        let end = y2.max(y1 + 12.0);
        return svg
            .path(&format!("M{x1:.1} {y1:.1} C{far:.1} {y1:.1} {far:.1} {end:.1} {:.1} {end:.1}", x1 + 2.0), class);
    }
    svg.line((x1, y1), (x2 - (x2 - x1).signum() * 1.5, y2), class);
}

/// An event that stays at one lifeline: its symbol on the line, its text on the outer side.
fn draw_local(chart: &Chart, plan: &Plan, event: &Event, y: f64, svg: &mut Svg, words: &mut Svg) {
    let Some((at, label)) = local(event).filter(|(at, _)| is_there(chart, *at)) else { return };
    let x = plan.x[at];
    let (out, anchor) = match side(chart, at) {
        Side::Left => (-1.0, Anchor::End),
        Side::Right => (1.0, Anchor::Start),
    };
    let mut start = x + out * 14.0;
    let class = match event {
        Event::Call { direction, .. } => {
            let far = x + out * STEM;
            match direction {
                Direction::In => svg.line((far, y), (x - out * -1.5, y), "call"),
                Direction::Out => svg.line((x, y), (far, y), "call"),
            }
            start = x + out * (STEM + 6.0);
            "call-word"
        }
        Event::Drop { .. } => {
            svg.cross((x, y), 5.0, "cross");
            "bad-word"
        }
        Event::Timer { what, .. } => {
            let class = if *what == TimerEvent::Fired { "clock fired" } else { "clock" };
            svg.circle((x, y), 7.0, class);
            svg.path(&format!("M{x:.1} {:.1} V{y:.1} H{:.1}", y - 4.5, x + 3.5), "hands");
            if *what == TimerEvent::Stopped {
                svg.line((x - 7.0, y + 7.0), (x + 7.0, y - 7.0), "hands");
            }
            "timer-word"
        }
        _ => {
            svg.circle((x, y), 3.0, "dot");
            "note-word"
        }
    };
    words.short_text((start, y + 4.0), anchor, class, &label, LONGEST_LABEL);
}

/// `middle` says where the line to a fate crosses a row that hides one of its ends.
fn draw_journey(
    plan: &Plan,
    journey: &Journey,
    middle: &dyn Fn(usize) -> f64,
    is_said: bool,
    svg: &mut Svg,
    words: &mut Svg,
) {
    let forward = (plan.x[journey.to] - plan.x[journey.from]).signum();
    let top = plan.y[journey.sent.row];
    for (number, (place, fate)) in journey.fates.iter().enumerate() {
        if !journey.sent.visible && !place.visible {
            continue;
        }
        let class = match fate {
            Fate::Ignored => "ignored",
            Fate::Damaged => "damaged",
            _ if number == 0 => "message",
            _ => "message again",
        };
        let y = plan.y[place.row];
        let from = (if journey.sent.visible { plan.x[journey.from] } else { middle(number) }, top);
        if !place.visible {
            svg.line(from, (middle(number), y), "hidden");
        } else if fate.is_loss() {
            draw_loss(plan, journey, (from, y), *fate, svg, words);
        } else {
            match journey.sent.visible {
                true => draw_line(plan, (journey.from, top), (journey.to, y), class, svg),
                false => svg.line(from, (plan.x[journey.to] - forward * 1.5, y), class),
            }
            if let Some(word) = fate.word() {
                let at = (plan.x[journey.to] - forward * 12.0, y + 13.0);
                words.text(at, ends_anchor(-forward), "bad-word", word);
            }
        }
    }
    if journey.sent.visible {
        if journey.fates.is_empty() {
            let far = (plan.x[journey.from] + (plan.x[journey.to] - plan.x[journey.from]) * 0.55, top + 10.0);
            svg.line((plan.x[journey.from], top), far, "hidden");
            svg.circle(far, 2.5, "open");
        }
        if is_said {
            let at = (plan.x[journey.from] + forward * 10.0, top - 4.0);
            words.short_text(at, ends_anchor(forward), "word", journey.label, LONGEST_LABEL);
        }
    }
}

/// A message that does not arrive: its line, a symbol for the cause, and a word.
fn draw_loss(plan: &Plan, journey: &Journey, (from, y): ((f64, f64), f64), fate: Fate, svg: &mut Svg, words: &mut Svg) {
    let forward = (plan.x[journey.to] - plan.x[journey.from]).signum();
    let x = plan.x[journey.from] + (plan.x[journey.to] - plan.x[journey.from]) * LOST_AT;
    svg.line(from, (x, y), "lost");
    match fate {
        Fate::CutOff => {
            svg.line((x, y - 7.0), (x, y + 7.0), "cross");
            svg.line((x + forward * 4.0, y - 7.0), (x + forward * 4.0, y + 7.0), "cross");
        }
        Fate::Overflown => svg.rect((x - 5.0, y - 5.0), (10.0, 10.0), 0.0, "full"),
        _ => svg.cross((x, y), 5.0, "cross"),
    }
    let word = fate.word().unwrap_or_default();
    words.text((x + forward * 12.0, y + 4.0), ends_anchor(forward), "bad-word", word);
}

fn ends_anchor(forward: f64) -> Anchor {
    if forward < 0.0 {
        Anchor::End
    } else {
        Anchor::Start
    }
}

const MARKERS: &str = "<marker id='arrow' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' \
    markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0.8 L10 5 L0 9.2 z' fill='#1d4ed8'/></marker>\
    <marker id='arrow-call' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='7' markerHeight='7' \
    markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0.8 L10 5 L0 9.2 z' fill='#15803d'/></marker>\
    <marker id='arrow-ignored' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' \
    markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0.8 L10 5 L0 9.2 z' fill='#cbd5e1'/></marker>\
    <marker id='arrow-damaged' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' \
    markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0.8 L10 5 L0 9.2 z' fill='#dc2626'/></marker>";

fn style() -> String {
    format!(
        "text {{ font-family: {FONT}; font-size: {SIZE}px; fill: #1f2937; }}\n\
         .title {{ font-size: 15px; font-weight: 600; }}\n\
         .time {{ fill: #94a3b8; font-size: 11px; }}\n\
         .life {{ stroke: #cbd5e1; stroke-width: 1.5; }}\n\
         .head {{ fill: #1e293b; }}\n\
         .head-name {{ fill: #ffffff; font-size: 13px; font-weight: 600; }}\n\
         .group {{ fill: #f8fafc; stroke: #e2e8f0; }}\n\
         .group-name {{ fill: #64748b; font-weight: 600; }}\n\
         .message, .pass {{ stroke: #1d4ed8; stroke-width: 1.5; fill: none; marker-end: url(#arrow); }}\n\
         .again {{ stroke-dasharray: 7 3; }}\n\
         .ignored {{ stroke: #cbd5e1; stroke-width: 1.5; fill: none; marker-end: url(#arrow-ignored); }}\n\
         .damaged {{ stroke: #dc2626; stroke-width: 1.5; fill: none; marker-end: url(#arrow-damaged); }}\n\
         .full {{ fill: #ffffff; stroke: #dc2626; stroke-width: 2.2; }}\n\
         .lost {{ stroke: #1d4ed8; stroke-width: 1.5; stroke-dasharray: 4 4; }}\n\
         .hidden {{ stroke: #93a8d8; stroke-width: 1.2; stroke-dasharray: 2 4; }}\n\
         .open {{ fill: #ffffff; stroke: #93a8d8; stroke-width: 1.2; }}\n\
         .call {{ stroke: #15803d; stroke-width: 1.5; marker-end: url(#arrow-call); }}\n\
         .cross {{ stroke: #dc2626; stroke-width: 2.2; stroke-linecap: round; }}\n\
         .clock {{ fill: #ffffff; stroke: #b45309; stroke-width: 1.5; }}\n\
         .fired {{ fill: #fde68a; }}\n\
         .hands {{ fill: none; stroke: #b45309; stroke-width: 1.3; }}\n\
         .dot {{ fill: #64748b; }}\n\
         .fold {{ fill: #f1f5f9; }}\n\
         .fold-note {{ fill: #64748b; font-style: italic; paint-order: stroke; stroke: #f1f5f9; stroke-width: 6px; stroke-linejoin: round; }}\n\
         .note {{ fill: #f1f5f9; stroke: #e2e8f0; }}\n\
         .violation {{ fill: #fef2f2; stroke: #dc2626; }}\n\
         .violation-word {{ fill: #b91c1c; font-weight: 600; }}\n\
         .word, .call-word, .bad-word, .timer-word, .note-word {{ paint-order: stroke; stroke: #ffffff; stroke-width: 3.5px; stroke-linejoin: round; }}\n\
         .call-word {{ fill: #15803d; }}\n\
         .bad-word {{ fill: #dc2626; }}\n\
         .timer-word {{ fill: #b45309; }}\n\
         .note-word {{ fill: #64748b; }}\n"
    )
}
