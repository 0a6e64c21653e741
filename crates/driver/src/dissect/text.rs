//! Dissected packets for people.

use std::ops::Range;

use super::capture::{date, Packet};
use super::{Dissection, Field, Layer};

/// What is highlighted if colour is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ink {
    Plain,
    Coloured,
}

impl Ink {
    pub(crate) fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Ink::Plain => text.to_string(),
            Ink::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// Several lines: the packet, its layers with their fields, and undecoded octets in hexadecimal, shortened if long.
pub fn packet(packet: &Packet, dissection: &Dissection, ink: Ink) -> String {
    let summary = match dissection.summary() {
        summary if summary.is_empty() => summary,
        summary => format!(": {summary}"),
    };
    let mut lines = vec![ink.wrap("1", &head(packet)) + &summary];
    for layer in &dissection.layers {
        self::layer(layer, &packet.octets, ink, &mut lines);
    }
    let rest = &dissection.rest;
    if !rest.is_empty() {
        let octets = &packet.octets[rest.clone()];
        let why = if dissection.is_part { ", a part" } else { "" };
        lines.push(format!("  not decoded{why}: {} from {}", counted(rest.len()), rest.start));
        lines.extend(
            octets.chunks(16).take(LINES).enumerate().map(|(line, octets)| hex(rest.start + 16 * line, octets)),
        );
        if rest.len() > 16 * LINES {
            lines.push(format!("    … {} more", counted(rest.len() - 16 * LINES)));
        }
    }
    lines.join("\n")
}

/// The most lines of undecoded octets.
const LINES: usize = 4;

fn counted(octets: usize) -> String {
    format!("{octets} octet{}", if octets == 1 { "" } else { "s" })
}

fn head(packet: &Packet) -> String {
    let at = packet.at.map_or(String::new(), |at| format!(", {} UTC", date(at)));
    let missing = (packet.length as usize).saturating_sub(packet.octets.len());
    let cut = if missing > 0 { format!(", {} of them not captured", counted(missing)) } else { String::new() };
    format!("packet {}: {}{cut}{at}", packet.number, counted(packet.length as usize))
}

fn layer(layer: &Layer, packet: &[u8], ink: Ink, lines: &mut Vec<String>) {
    let octets = match layer.octets.is_empty() {
        true => "no octets".to_string(),
        false => format!("octets {} to {}", layer.octets.start, layer.octets.end),
    };
    let by = if layer.wire.is_empty() { String::new() } else { format!(" by {}", layer.wire) };
    let alternatives = match layer.alternatives.as_slice() {
        [] => String::new(),
        names => format!(": {}", names.join(", ")),
    };
    lines.push(ink.wrap("36", &format!("  {}{by}, {octets}{alternatives}", layer.name)));
    let widest = layer.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
    for field in &layer.fields {
        lines.push(self::field(field, widest));
    }
    if let Some((off, octets)) = taken_off(layer).and_then(|off| Some((off.start, packet.get(off)?))) {
        lines.push(format!("    taken off: {} from {off}", counted(octets.len())));
        lines.extend(octets.chunks(16).take(1).map(|octets| hex(off, octets)));
    }
    let only = layer.condition();
    if let Some(refused) = &layer.refused {
        let (octet, bit) = (refused.bit / 8, refused.bit % 8);
        let bit = if bit == 0 { String::new() } else { format!(", bit {bit}") };
        lines.push(ink.wrap("31", &format!("    malformed at octet {octet}{bit}: {}{only}", refused.reason)));
    }
    if !layer.dropped.is_empty() {
        let reason = |dropped: &super::Dropped| {
            let place = dropped.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
            format!("{}{place}", dropped.reason)
        };
        let reasons: Vec<String> = layer.dropped.iter().map(reason).collect();
        lines.push(ink.wrap("31", &format!("    dropped in any state: {}{only}", reasons.join(", or "))));
    }
    if layer.cut {
        lines.push("    cut by the capture".to_string());
    }
    if let Some(wrong) = &layer.wrong_sum {
        let (octet, field, right) = (wrong.bit / 8, &wrong.field, wrong.right);
        let text =
            format!("    refused at octet {octet}: `{field}` is not the checksum of what is there, {right:#06x}{only}");
        lines.push(ink.wrap("31", &text));
    }
    if !layer.padding.is_empty() {
        lines.push(format!("    padding: {} from {}", counted(layer.padding.len()), layer.padding.start));
    }
}

/// The octets behind a layer's fields that it took off the message before it gave it up.
fn taken_off(layer: &Layer) -> Option<Range<usize>> {
    let ends = layer.fields.iter().map(|field| (field.bit + usize::from(field.width)).div_ceil(8));
    let off = ends.max()?..layer.octets.end;
    (!off.is_empty() && layer.padding.is_empty() && layer.refused.is_none() && !layer.cut).then_some(off)
}

fn field(field: &Field, widest: usize) -> String {
    let (octet, bit) = (field.bit / 8, field.bit % 8);
    let place = if bit == 0 { format!("{octet}") } else { format!("{octet}.{bit}") };
    let unread = if field.unread { "  (not read)" } else { "" };
    format!("  {place:>6}  {:widest$}  u{:<2}  {}{unread}", field.name, field.width, value(field))
}

/// The value in its type's notation; else the number, also in hexadecimal.
fn value(field: &Field) -> String {
    let value = field.value;
    match (&field.written, field.width) {
        (Some(written), _) if field.is_choice => format!("{value} = {written}"),
        (Some(written), _) => written.clone(),
        (None, 1..=4) => format!("{value}"),
        (None, width) => format!("{value} = {value:#0digits$x}", digits = usize::from(width).div_ceil(4) + 2),
    }
}

fn hex(at: usize, octets: &[u8]) -> String {
    let digits: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    let text = |octet: &u8| if (0x20..0x7f).contains(octet) { *octet as char } else { '.' };
    let letters: String = octets.iter().map(text).collect();
    format!("  {at:>6}  {:<47}  {letters}", digits.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_octet_bit_and_reason() {
        let field = |name: &str, bit, width, value| Field { name: name.into(), bit, width, value, ..Field::default() };
        let layer = Layer {
            name: "ip".into(),
            wire: "W".into(),
            octets: 2..4,
            fields: vec![field("version", 16, 4, 4), field("to", 20, 12, 7)],
            refused: Some(super::super::Refused { reason: "W.to".into(), bit: 20 }),
            ..Layer::default()
        };
        let seen = packet(
            &Packet { number: 3, at: None, length: 9, link: 1, octets: vec![0x41; 6] },
            &Dissection { layers: vec![layer], rest: 4..6, ..Dissection::default() },
            Ink::Plain,
        );
        let wanted = "packet 3: 9 octets, 3 octets of them not captured\n  ip by W, octets 2 to 4\n       2  version  u4   4\n     2.4  to       u12  7 = 0x007\n    malformed at octet 2, bit 4: W.to\n  not decoded: 2 octets from 4\n       4  41 41                                            AA";
        assert_eq!(seen, wanted);
    }
}
