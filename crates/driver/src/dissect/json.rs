//! Dissected packets for scripts: one JSON object a packet.

use mokume_record::packet::{Dropped, Field, Layer, Malformed, NotDecoded, WrongSum};
use serde_json::{json, Value};

use super::capture::{date, Packet};
use super::{Dissection, Verdict};

/// The version of the form. It changes whenever a reader of the previous version would misread something.
const VERSION: u32 = 2;

/// The JSON Schema of the objects.
pub const SCHEMA: &str = include_str!("../../../../schemas/dissect-2.json");

/// A packet as JSON. Times are text (UTC); `octets` is the length on the line, `captured` how many of them the capture
/// has.
pub fn packet(packet: &Packet, dissection: &Dissection) -> Value {
    let verdict = dissection.verdict();
    let mokume_record::packet::Packet { layers, not_decoded } = of_packet(dissection);
    json!({
        "dissect": VERSION,
        "packet": packet.number,
        "time": packet.at.map(date),
        "octets": packet.length,
        "captured": packet.octets.len(),
        "summary": dissection.summary(),
        "refused": verdict == Verdict::Refused,
        "may_be_refused": verdict == Verdict::MayBeRefused,
        "layers": layers,
        "not_decoded": not_decoded,
    })
}

/// What the wires read in a packet.
pub fn of_packet(dissection: &Dissection) -> mokume_record::packet::Packet {
    let layers = dissection.layers.iter().map(layer).collect();
    let rest = &dissection.rest;
    let not_decoded = NotDecoded { octet: rest.start, octets: rest.len(), part: dissection.is_part };
    mokume_record::packet::Packet { layers, not_decoded }
}

fn layer(layer: &super::Layer) -> Layer {
    let field = |field: &super::Field| Field {
        name: field.name.clone(),
        alternative: field.alternative.clone(),
        octet: field.bit / 8,
        bit: field.bit % 8,
        bits: field.width,
        value: field.value,
        written: field.written.clone(),
        read: !field.unread,
    };
    let malformed = |refused: &super::Refused| Malformed {
        reason: refused.reason.clone(),
        octet: refused.bit / 8,
        bit: refused.bit % 8,
    };
    let dropped = |dropped: &super::Dropped| Dropped { reason: dropped.reason.clone(), place: dropped.place.clone() };
    let wrong_sum =
        |wrong: &super::WrongSum| WrongSum { field: wrong.field.clone(), octet: wrong.bit / 8, right: wrong.right };
    Layer {
        name: layer.name.clone(),
        wire: layer.wire.clone(),
        may_be_for_another: layer.may_be_for_another,
        alternatives: layer.alternatives.clone(),
        octet: layer.octets.start,
        octets: layer.octets.len(),
        fields: layer.fields.iter().map(field).collect(),
        malformed: layer.refused.as_ref().map(malformed),
        dropped: layer.dropped.iter().map(dropped).collect(),
        cut: layer.cut,
        wrong_sum: layer.wrong_sum.as_ref().map(wrong_sum),
        padding: layer.padding.len(),
    }
}
