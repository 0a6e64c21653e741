//! A dissected packet for scripts: one object a packet.

use serde_json::{json, Value};

use super::capture::{date, Packet};
use super::{Dissection, Layer};

/// Times are text (UTC); `octets` is the length on the line, `captured` how many of them the capture has.
pub fn packet(packet: &Packet, dissection: &Dissection) -> Value {
    let layers: Vec<Value> = dissection.layers.iter().map(layer).collect();
    let rest = &dissection.rest;
    json!({
        "packet": packet.number,
        "time": packet.at.map(date),
        "octets": packet.length,
        "captured": packet.octets.len(),
        "layers": layers,
        "not_decoded": { "octet": rest.start, "octets": rest.len(), "part": dissection.is_part },
    })
}

fn layer(layer: &Layer) -> Value {
    let fields: Vec<Value> = layer
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name,
                "octet": field.bit / 8,
                "bit": field.bit % 8,
                "bits": field.width,
                "value": field.value,
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
    json!({
        "name": layer.name,
        "wire": layer.wire,
        "octet": layer.octets.start,
        "octets": layer.octets.len(),
        "fields": fields,
        "malformed": refused,
        "cut": layer.cut,
        "wrong_sum": wrong_sum,
        "padding": layer.padding.len(),
    })
}
