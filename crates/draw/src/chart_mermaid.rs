//! A sequence chart as Mermaid text. Mermaid has no slanted lines: a message that crosses others is an arrow where it
//! arrives, and a note where it was sent.

use crate::chart_rows::{hidden_note, is_there, local, rows, Fate, Rows};
use crate::fold::Shown;
use crate::{Chart, Event, Limit};

/// The chart as one `sequenceDiagram` with at most the limit's rows; a note stands for what is left out.
pub fn chart_mermaid(chart: &Chart, limit: Limit) -> String {
    let rows = rows(chart, limit);
    let mut lines = vec!["sequenceDiagram".to_string()];
    for (index, lifeline) in chart.lifelines.iter().enumerate() {
        lines.push(format!("    participant l{index} as {}", word(&lifeline.name)));
    }
    let last = chart.lifelines.len().saturating_sub(1);
    for (index, row) in rows.shown.iter().enumerate() {
        let text = match row {
            Shown::Item(item) => item_line(chart, &rows, index, &chart.items[*item].event, last),
            hidden => vec![format!("Note over l0,l{last}: {}", word(&hidden_note(chart, hidden).unwrap_or_default()))],
        };
        lines.extend(text.into_iter().map(|line| format!("    {line}")));
    }
    lines.join("\n") + "\n"
}

fn item_line(chart: &Chart, rows: &Rows, row: usize, event: &Event, last: usize) -> Vec<String> {
    match event {
        Event::Pass { from, to, label } if is_there(chart, *from) && is_there(chart, *to) => {
            vec![format!("l{from}->>l{to}: {}", word(label))]
        }
        Event::Violation { label } | Event::Note { at: None, label } => {
            vec![format!("Note over l0,l{last}: {}", word(label))]
        }
        event if event.message().is_some() => journey_lines(rows, row),
        event => match local(event).filter(|(at, _)| is_there(chart, *at)) {
            Some((at, label)) => vec![format!("Note over l{at}: {}", word(&label))],
            None => Vec::new(),
        },
    }
}

fn journey_lines(rows: &Rows, row: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for journey in &rows.journeys {
        let (from, to, label) = (journey.from, journey.to, word(journey.label));
        let straight =
            journey.fates.first().is_some_and(|(place, _)| place.visible && place.row == journey.sent.row + 1);
        if journey.sent.visible && journey.sent.row == row && !straight {
            let note = format!("Note over l{from}: {label} sets out");
            // A note for several receivers appears once.
            if lines.last() != Some(&note) {
                lines.push(note);
            }
        }
        for (_, fate) in journey.fates.iter().filter(|(place, _)| place.visible && place.row == row) {
            lines.push(match (fate, fate.word()) {
                (Fate::Ignored, _) => format!("l{from}-->>l{to}: {label}"),
                (_, Some(what)) if fate.is_loss() => format!("l{from}-xl{to}: {label} ({what})"),
                (_, Some(what)) => format!("l{from}->>l{to}: {label} ({what})"),
                (_, None) => format!("l{from}->>l{to}: {label}"),
            });
        }
    }
    lines
}

/// Escapes Mermaid's special characters as entity codes.
fn word(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '#' | ';' | ':' | '<' | '>' | '&' | '"' => out.push_str(&format!("#{};", c as u32)),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
