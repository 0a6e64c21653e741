//! The results for a followed capture, for people.

use super::alike::Unlike;
use super::noted::{Ended, How};
use super::said::{Came, Fate, Likeness, Report, Seen, Sent, What};
use crate::debug::time;
use crate::dissect::text::Ink;

/// A packet: its line, and its result.
pub fn packet(seen: &Seen, ink: Ink) -> String {
    let (way, said) = match &seen.what {
        What::Came(came) => ("came", self::came(came)),
        What::Sent(sent) => ("sent", self::sent(sent)),
        What::Cut => ("cut", vec!["not whole in the capture: the stack is not given it".to_string()]),
    };
    let head = format!("packet {}, {}, {way}", seen.packet, time(seen.at));
    let about = if seen.about.is_empty() { String::new() } else { format!(": {}", seen.about) };
    let is_amiss = matches!(&seen.what, What::Came(came) if matches!(came.fate, Fate::Dropped | Fate::Refused));
    let mut lines = vec![ink.wrap("1", &head) + &about];
    for (number, line) in said.into_iter().enumerate() {
        let line = format!("  {line}");
        lines.push(if is_amiss && number == 0 { ink.wrap("31", &line) } else { line });
    }
    lines.join("\n")
}

fn came(came: &Came) -> Vec<String> {
    let mut lines = Vec::new();
    match came.fate {
        Fate::Refused => lines.push("refused: the stack had no room for it".to_string()),
        Fate::NotForIt => lines.push(format!("not for this host: {}", reasons(came))),
        Fate::Dropped | Fate::Kept | Fate::Taken => {}
    }
    if came.fate != Fate::NotForIt {
        lines.extend(came.ended.iter().map(ended));
    }
    if came.gone > 0 {
        let messages = counted(came.gone, "message");
        lines.push(format!(
            "lost with the session or object that {} for: {messages}",
            if came.gone == 1 { "it was" } else { "they were" }
        ));
    }
    if !came.kept.is_empty() {
        lines.push(format!("waits in {}", came.kept.join(", ")));
    }
    lines.extend(came.outputs.iter().map(|output| format!("gives {output}")));
    if came.answers > 0 {
        lines.push(format!("the stack sends {}", counted(came.answers as u64, "frame")));
    }
    lines.extend(came.reports.iter().map(|report| format!("reports {report}")));
    if lines.is_empty() {
        lines.push("taken".to_string());
    }
    lines
}

fn reasons(came: &Came) -> String {
    let mut all: Vec<String> = came.ended.iter().map(|ended| format!("{}{}", ended.reason, place(ended))).collect();
    all.dedup();
    all.join(", ")
}

/// `dropped: sure.Sure.stale, by `sure` on deliver (x.mok:12), phase = Open`
fn ended(ended: &Ended) -> String {
    let how = match ended.how {
        How::Dropped => "dropped",
        How::Consumed => "consumed",
    };
    let Ended { reason, layer, on, state, .. } = ended;
    let state = if state.is_empty() { String::new() } else { format!(", {}", state.join(", ")) };
    format!("{how}: {reason}, by `{layer}` on {on}{}{state}", place(ended))
}

fn place(ended: &Ended) -> String {
    ended.place.as_ref().map_or(String::new(), |place| format!(" ({place})"))
}

fn sent(sent: &Sent) -> Vec<String> {
    let mut lines = match (&sent.how, &sent.against) {
        (Likeness::Same, _) => vec!["as the stack sends it".to_string()],
        (Likeness::Early, _) => vec!["as the stack sends it, which sends another one before: out of order".to_string()],
        (Likeness::Alike, Some((at, unlike))) => {
            let mut lines = vec![format!("the stack sends one at {} that differs:", time(*at))];
            lines.extend(unlike.iter().map(self::unlike));
            lines
        }
        (Likeness::Again(before), _) => vec![format!("packet {before} again: the stack sends it once")],
        (_, Some((at, unlike))) => {
            let mut lines = vec![
                "the stack does not send it here; what it knows stays as it is".to_string(),
                format!("the nearest that it sends, at {}, differs:", time(*at)),
            ];
            lines.extend(unlike.iter().map(self::unlike));
            lines
        }
        (_, None) => vec!["the stack sends nothing here; what it knows stays as it is".to_string()],
    };
    if !sent.learned.is_empty() {
        lines.push(format!("what it had drawn at random is taken from here: {}", sent.learned.join(", ")));
    }
    lines
}

fn unlike(unlike: &Unlike) -> String {
    let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_string());
    format!("  {}: {} here, {} of the stack", unlike.field, said(&unlike.here), said(&unlike.stack))
}

/// The most missing frames that are listed.
const MISSING: usize = 10;

/// The results for the whole capture.
pub fn end(report: &Report, host: &str) -> String {
    let count = |is: &dyn Fn(&What) -> bool| report.seen.iter().filter(|seen| is(&seen.what)).count();
    let of = |fate: Fate| count(&|what| matches!(what, What::Came(came) if came.fate == fate));
    let how = |is: &dyn Fn(&Likeness) -> bool| count(&|what| matches!(what, What::Sent(sent) if is(&sent.how)));
    let (came, sent) = (count(&|what| matches!(what, What::Came(_))), count(&|what| matches!(what, What::Sent(_))));
    let listed = |all: [(usize, &str); 5]| {
        let some: Vec<String> =
            all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if some.is_empty() {
            String::new()
        } else {
            format!(" ({})", some.join(", "))
        }
    };
    let came_as = listed([
        (of(Fate::Taken), "taken"),
        (of(Fate::Kept), "waiting"),
        (of(Fate::NotForIt), "not for it"),
        (of(Fate::Dropped), "dropped"),
        (of(Fate::Refused), "refused"),
    ]);
    let sent_as = listed([
        (how(&|how| *how == Likeness::Same), "as the stack sends them"),
        (how(&|how| *how == Likeness::Early), "out of order"),
        (how(&|how| *how == Likeness::Alike), "that differ"),
        (how(&|how| matches!(how, Likeness::Again(_))), "again"),
        (how(&|how| *how == Likeness::Unlike), "that the stack does not send"),
    ]);
    let cut = count(&|what| *what == What::Cut);
    let cut = if cut == 0 { String::new() } else { format!(", {cut} not whole") };
    let packets = counted(report.seen.len() as u64, "packet");
    let mut lines = vec![format!("{packets} at `{host}`: {came} came{came_as}, {sent} sent{sent_as}{cut}")];
    if !report.missing.is_empty() {
        lines.push(format!("not in the capture: {} of the stack's", counted(report.missing.len() as u64, "frame")));
        lines.extend(report.missing.iter().take(MISSING).map(|(at, about)| format!("  {}: {about}", time(*at))));
        if report.missing.len() > MISSING {
            lines.push(format!("  … {} more", report.missing.len() - MISSING));
        }
    }
    if came > 0 && of(Fate::NotForIt) == came {
        lines.push("nothing that came was for this host: are its settings those of the host?".to_string());
    }
    if let Some(packet) = report.clock_from {
        lines.push(format!("packet {packet} sets the stack's clock, and differs from what the stack sends then: if the host had run for longer, its times are others"));
    }
    if let Some(packet) = report.apart_from {
        lines.push(format!("from packet {packet} on the host's state is not the stack's: what is said of later packets is what the stack does"));
    }
    if report.waiting > 0 {
        let inputs = counted(report.waiting as u64, "input");
        lines.push(format!("left out: {inputs} of the network's, for what other hosts put out"));
    }
    lines.join("\n")
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
