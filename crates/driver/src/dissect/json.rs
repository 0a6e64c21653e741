//! A dissected packet for scripts: one object a packet.

use serde_json::{json, Value};

use super::capture::{date, Packet};
use super::{Dissection, Layer};

/// Of the form. It changes whenever a reader of the one before would read something wrong.
const VERSION: u32 = 1;

/// What the objects may be, as JSON Schema.
pub const SCHEMA: &str = include_str!("../../../../schemas/dissect-1.json");

/// Times are text (UTC); `octets` is the length on the line, `captured` how many of them the capture has.
pub fn packet(packet: &Packet, dissection: &Dissection) -> Value {
    let layers: Vec<Value> = dissection.layers.iter().map(layer).collect();
    let rest = &dissection.rest;
    let is_refused = dissection.layers.iter().any(Layer::is_refused);
    json!({
        "dissect": VERSION,
        "packet": packet.number,
        "time": packet.at.map(date),
        "octets": packet.length,
        "captured": packet.octets.len(),
        "summary": dissection.summary(),
        "refused": is_refused,
        "layers": layers,
        "not_decoded": { "octet": rest.start, "octets": rest.len(), "part": dissection.is_part },
    })
}

/// What scripts that know 53 bits of a number alone would read wrong is text.
fn number(value: u64) -> Value {
    if value < 1 << 53 {
        json!(value)
    } else {
        json!(value.to_string())
    }
}

fn layer(layer: &Layer) -> Value {
    let fields: Vec<Value> = layer
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name,
                "alternative": field.alternative,
                "octet": field.bit / 8,
                "bit": field.bit % 8,
                "bits": field.width,
                "value": number(field.value),
                "written": field.written,
                "read": !field.unread,
            })
        })
        .collect();
    let refused = layer
        .refused
        .as_ref()
        .map(|refused| json!({ "reason": refused.reason, "octet": refused.bit / 8, "bit": refused.bit % 8 }));
    let wrong_sum = layer
        .wrong_sum
        .as_ref()
        .map(|wrong| json!({ "field": wrong.field, "octet": wrong.bit / 8, "right": wrong.right }));
    let dropped: Vec<Value> =
        layer.dropped.iter().map(|dropped| json!({ "reason": dropped.reason, "place": dropped.place })).collect();
    json!({
        "name": layer.name,
        "wire": layer.wire,
        "alternatives": layer.alternatives,
        "octet": layer.octets.start,
        "octets": layer.octets.len(),
        "fields": fields,
        "malformed": refused,
        "dropped": dropped,
        "cut": layer.cut,
        "wrong_sum": wrong_sum,
        "padding": layer.padding.len(),
    })
}
