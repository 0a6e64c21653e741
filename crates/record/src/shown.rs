//! Events as lines for people.

use crate::{Arg, Copy, Ended, Event, Loss, Lost, Run, Value, What};

/// The first octets, as text if they are text, else in hexadecimal.
pub fn text_of(octets: &[u8]) -> String {
    front_of(octets, 24)
}

/// The same with at most `most` octets; says if there are more.
pub fn front_of(octets: &[u8], most: usize) -> String {
    let more = if octets.len() > most { "…" } else { "" };
    let shown = &octets[..octets.len().min(most)];
    match as_text(shown).filter(|text| !text.is_empty()) {
        Some(text) => format!("\"{text}{more}\""),
        None => format!("x\"{}{more}\"", crate::octets::text(shown)),
    }
}

/// Octets as text, with `\n`, `\r` and `\t`, if they are mostly plain characters.
fn as_text(octets: &[u8]) -> Option<String> {
    let is_plain = |octet: &u8| (0x20..0x7f).contains(octet);
    let is_blank = |octet: &u8| b"\n\r\t".contains(octet);
    let escapes = octets.iter().filter(|octet| is_blank(octet)).count();
    let is_text = octets.iter().all(|octet| is_plain(octet) || is_blank(octet)) && escapes * 3 <= octets.len();
    let text = String::from_utf8_lossy(octets).replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    is_text.then_some(text)
}

/// `session 3`; `session 3 (2nd)` is the next one in its place.
pub fn session(object: u32, generation: u32) -> String {
    let place = u64::from(generation) + 1;
    let ending = match (place % 10, place % 100) {
        (2, of) if of != 12 => "nd",
        (3, of) if of != 13 => "rd",
        (1, of) if of != 11 => "st",
        _ => "th",
    };
    match generation {
        0 => format!("session {object}"),
        _ => format!("session {object} ({place}{ending})"),
    }
}

/// `(1, "hello", session 3, 10.0.0.1)`: the arguments of a port's event.
pub fn arguments(args: &[Arg]) -> String {
    let text = |arg: &Arg| match &arg.value {
        Value::Number { written, .. } => written.clone(),
        Value::Session { object, generation } => session(*object, *generation),
        Value::NoSession => "null".to_string(),
        Value::Message { octets } => text_of(octets),
    };
    format!("({})", args.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// A receiver of a frame, whether the frame reaches it or not.
pub struct Receiver<'a> {
    pub name: &'a str,
    /// The copies on their way; empty if it is lost.
    pub copies: Vec<&'a Copy>,
    pub lost: Option<Loss>,
}

impl Run {
    /// The receivers of a frame, in the order of the hosts.
    pub fn receivers<'a>(&'a self, copies: &'a [Copy], lost: &'a [Lost]) -> Vec<Receiver<'a>> {
        let of = |name: &'a str| {
            let copies: Vec<&Copy> = copies.iter().filter(|copy| copy.to == name).collect();
            let lost = lost.iter().find(|lost| lost.to == name).map(|lost| lost.by);
            (!copies.is_empty() || lost.is_some()).then_some(Receiver { name, copies, lost })
        };
        self.head.hosts.iter().filter_map(|host| of(&host.name)).collect()
    }

    /// The event as a line; `None` for events that only connect others: starts, timers, consumed messages, the end.
    pub fn line(&self, event: &Event) -> Option<String> {
        let refused = |refused: &bool| if *refused { " REFUSED" } else { "" };
        Some(match &event.what {
            What::Starts | What::Wakes | What::Consumes(_) | What::Ends { .. } => return None,
            What::Input { port, name, args, refused: no } => {
                format!("<- {port}.{name}{}{}", arguments(args), refused(no))
            }
            What::Output { port, name, args } => format!("-> {port}.{name}{}", arguments(args)),
            What::Sends { frame, medium, about, octets, copies, lost, .. } => {
                let to: Vec<String> = self.receivers(copies, lost).iter().map(fate).collect();
                let to = if to.is_empty() { String::new() } else { format!(" ({})", to.join(", ")) };
                let about = if about.is_empty() { String::new() } else { format!(": {about}") };
                format!("sends #{frame} on {medium}: {} octets{to}{about}", octets.len())
            }
            What::Receives { frame, about, octets, refused: no, .. } => {
                let octets = octets.as_ref().filter(|_| about.is_some());
                let octets = octets.map_or(String::new(), |octets| format!(": {} octets", octets.len()));
                let about = about.as_ref().filter(|about| !about.is_empty());
                let about = about.map_or(String::new(), |about| format!(": {about}"));
                format!("receives #{frame}{octets}{about}{}", refused(no))
            }
            What::Drops(ended) => format!("drops {}", dropped(ended)),
            What::Gone { count } => format!("loses {count} with the session or object they were for"),
            What::Misses { frame } => format!("has crashed, and does not hear #{frame}"),
            What::Crashes => "CRASHES".to_string(),
            What::Restarts => "BEGINS AGAIN".to_string(),
            What::Reports { report, place } => format!("REPORT {report} at {place}"),
        })
    }
}

fn fate(receiver: &Receiver<'_>) -> String {
    let Receiver { name, copies, lost } = receiver;
    let turned = copies.iter().filter(|copy| !copy.turned.is_empty()).count();
    let turned = if turned == 0 { String::new() } else { format!(", {turned} with bits turned") };
    match lost {
        Some(Loss::Weather) => format!("{name} lost"),
        Some(Loss::Partition) => format!("{name} lost by a partition"),
        Some(Loss::Queue) => format!("{name} lost by a full queue"),
        None => format!("{name} ×{}{turned}", copies.len()),
    }
}

/// `sum.Checksum16.damaged at plant.mok:31`
fn dropped(ended: &Ended) -> String {
    let times = if ended.count == 1 { String::new() } else { format!(" ×{}", ended.count) };
    let place = match ended.places.as_slice() {
        [one] => format!(" at {one}"),
        _ => String::new(),
    };
    format!("{}{times}{place}", ended.reason)
}
