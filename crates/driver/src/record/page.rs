//! A record as a page: one file that a browser can open offline, with the record inside.
//!
//! Repeated data (layers of packets, ways through handlers, cells) is in tables, to which events refer by number;
//! `runtime/viewer/record.js` reads them.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use base64::prelude::{Engine, BASE64_STANDARD};
use flate2::write::DeflateEncoder;
use flate2::Compression;
use mokume_record::packet::{Field, Layer, Packet};
use mokume_record::steps::{Did, Life};
use mokume_record::{Event, Run, What};
use serde::Serialize;
use serde_json::json;

/// The page without style, script and record.
const PAGE: &str = include_str!("../../../../runtime/viewer/record.html");

const STYLE: &str = include_str!("../../../../runtime/viewer/record.css");

/// In their order in the page.
const SCRIPTS: [&str; 9] = [
    include_str!("../../../../runtime/viewer/inflate.js"),
    include_str!("../../../../runtime/viewer/record.js"),
    include_str!("../../../../runtime/viewer/words.js"),
    include_str!("../../../../runtime/viewer/filter.js"),
    include_str!("../../../../runtime/viewer/list.js"),
    include_str!("../../../../runtime/viewer/packet.js"),
    include_str!("../../../../runtime/viewer/why.js"),
    include_str!("../../../../runtime/viewer/state.js"),
    include_str!("../../../../runtime/viewer/main.js"),
];

/// The page of a run; with a second run, that one is beside it from the first difference on.
pub fn page(run: &Run, against: Option<&Run>) -> String {
    let runs: Vec<String> = [Some(run), against].into_iter().flatten().map(data).collect();
    let difference = against.and_then(|other| {
        let [run, other] = super::comparable(run, other);
        let pair = super::first_difference(&run, &other)?;
        Some(pair.map(|event| event.map(|event| event.id)))
    });
    let record = format!("{{\"runs\":[{}],\"difference\":{}}}", runs.join(",\n"), text(&difference));
    let (kind, record) = match record.len() > PLAIN {
        true => ("text/plain", deflated(&record)),
        // Escaped, so that it cannot end its enclosing element.
        false => ("application/json", record.replace('<', "\\u003c")),
    };
    let page = PAGE.replacen("/* STYLE */", STYLE, 1).replacen("/* SCRIPT */", &SCRIPTS.join("\n"), 1);
    page.replacen("KIND", kind, 1).replacen("RECORD", &record, 1)
}

/// A longer record is deflated, in Base64.
const PLAIN: usize = 1 << 20;

fn deflated(record: &str) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    // Neither can fail, as they write to memory.
    let _ = encoder.write_all(record.as_bytes());
    BASE64_STANDARD.encode(encoder.finish().unwrap_or_default())
}

fn text(value: &impl Serialize) -> String {
    // Our data has no maps with keys other than text, the only thing that could fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// A table of values that occur repeatedly, each once.
#[derive(Default)]
struct Table {
    places: HashMap<String, usize>,
    all: Vec<String>,
}

impl Table {
    fn place(&mut self, value: &impl Serialize) -> usize {
        let text = text(value);
        match self.places.get(&text) {
            Some(place) => *place,
            None => {
                self.all.push(text.clone());
                self.places.insert(text, self.all.len() - 1);
                self.all.len() - 1
            }
        }
    }

    fn array(&self) -> String {
        format!("[{}]", self.all.join(",\n"))
    }
}

#[derive(Default)]
struct Tables {
    layers: Table,
    /// By wire, alternative and field: the notations of values that are not shown as numbers.
    written: BTreeMap<String, BTreeMap<String, String>>,
    ways: Table,
    objects: Table,
    cells: Table,
    /// By frame: its octets as they were sent.
    sent: HashMap<u64, Vec<u8>>,
}

/// The data of a run for the page.
fn data(run: &Run) -> String {
    let mut tables = Tables::default();
    let events: Vec<String> = run.events.iter().map(|event| tables.event(event)).collect();
    format!(
        "{{\"head\":{},\n\"sources\":{},\n\"layers\":{},\n\"written\":{},\n\"ways\":{},\n\"objects\":{},\n\"cells\":{},\n\"events\":[{}]}}",
        run.head.line(),
        text(&run.sources),
        tables.layers.array(),
        text(&tables.written),
        tables.ways.array(),
        tables.objects.array(),
        tables.cells.array(),
        events.join(",\n")
    )
}

impl Tables {
    fn event(&mut self, event: &Event) -> String {
        let mut plain = event.clone();
        let octets: Vec<u8> = match &event.what {
            What::Sends { frame, octets, .. } => {
                self.sent.insert(*frame, octets.clone());
                octets.clone()
            }
            What::Receives { octets: Some(octets), .. } => octets.clone(),
            What::Receives { frame, packet: Some(_), .. } => self.sent.get(frame).cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
        let packet = match &mut plain.what {
            What::Sends { packet, .. } | What::Receives { packet, .. } => packet.take(),
            _ => None,
        };
        let did = plain.did.take();
        let mut line = plain.line();
        // Removes the closing brace of the object.
        line.pop();
        if let Some(packet) = packet {
            let packet = self.packet(&packet, &octets);
            line += &format!(",\"packet\":{packet}");
        }
        if let Some(did) = did {
            let did = self.did(&did);
            line += &format!(",\"did\":{did}");
        }
        line + "}"
    }

    fn packet(&mut self, packet: &Packet, octets: &[u8]) -> serde_json::Value {
        let layers: Vec<[usize; 2]> =
            packet.layers.iter().map(|layer| [self.layer(layer, octets), layer.octet]).collect();
        let rest = &packet.not_decoded;
        json!({ "layers": layers, "rest": [rest.octet, rest.octets, u8::from(rest.part)] })
    }

    /// The layer without its position; it contains a value only if that differs from the octets'.
    fn layer(&mut self, layer: &Layer, octets: &[u8]) -> usize {
        let fields: Vec<_> = layer.fields.iter().map(|field| self.field(layer, field, octets)).collect();
        let relative = |octet: usize| octet.saturating_sub(layer.octet);
        let malformed = layer.malformed.as_ref().map(|wrong| json!([wrong.reason, relative(wrong.octet), wrong.bit]));
        let sum = layer.wrong_sum.as_ref().map(|wrong| json!([wrong.field, relative(wrong.octet), wrong.right]));
        let layer = json!({
            "name": layer.name,
            "wire": layer.wire,
            "may_be_for_another": layer.may_be_for_another,
            "alternatives": layer.alternatives,
            "octets": layer.octets,
            "fields": fields,
            "malformed": malformed,
            "dropped": layer.dropped,
            "cut": layer.cut,
            "wrong_sum": sum,
            "padding": layer.padding,
        });
        self.layers.place(&layer)
    }

    fn field(&mut self, layer: &Layer, field: &Field, octets: &[u8]) -> serde_json::Value {
        let key = format!("{} {} {}", layer.wire, field.alternative.as_deref().unwrap_or(""), field.name);
        if let Some(written) = &field.written {
            self.written.entry(key.clone()).or_default().insert(field.value.to_string(), written.clone());
        }
        let bit = (field.octet.saturating_sub(layer.octet)) * 8 + field.bit;
        let order = order(field, octets);
        let value = order.is_empty().then(|| field.value.to_string());
        json!([field.name, field.alternative, bit, field.bits, order, field.read, key, value])
    }

    fn did(&mut self, did: &Did) -> serde_json::Value {
        let steps: Vec<_> = did
            .steps
            .iter()
            .map(|step| {
                let ran: Vec<_> = step.ran.iter().map(|lines| json!([lines.file, lines.lines])).collect();
                json!([step.layer, step.on, ran])
            })
            .collect();
        let changes: Vec<_> = did
            .changes
            .iter()
            .map(|change| {
                let object = json!([change.layer, change.class, change.object, change.generation]);
                let life = match change.life {
                    Life::Begins => 1,
                    Life::GoesOn => 0,
                    Life::Ends => -1,
                };
                let cells: Vec<_> = change
                    .cells
                    .iter()
                    .map(|cell| json!([self.cells.place(&json!([cell.name, cell.kind, cell.at])), cell.from, cell.to]))
                    .collect();
                json!([self.objects.place(&object), life, cells])
            })
            .collect();
        let mut found = json!({ "way": self.ways.place(&steps) });
        if !changes.is_empty() {
            found["changes"] = json!(changes);
        }
        if !did.rings.is_empty() {
            found["rings"] = json!(did.rings);
        }
        found
    }
}

/// The byte order of a field: `b`, the highest first, or `l`; empty if the octets are not the value.
fn order(field: &Field, octets: &[u8]) -> &'static str {
    let (first, width) = (field.octet * 8 + field.bit, usize::from(field.bits));
    let bit = |at: usize| octets.get(at / 8).map_or(0, |octet| u64::from(octet >> (7 - at % 8) & 1));
    let big = (first..first + width).fold(0, |value: u64, at| value << 1 | bit(at));
    if big == field.value {
        return "b";
    }
    let is_whole = first % 8 == 0 && width % 8 == 0;
    let little = octets.iter().skip(field.octet).take(width / 8).rev();
    let little = little.fold(0, |value: u64, octet| value << 8 | u64::from(*octet));
    if is_whole && little == field.value {
        "l"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_says_does_not_end_its_element() {
        let head = r#"{"record":1,"kind":"test","name":"</script><b>","place":null,"seed":0,"backend":"c","link":147,"hosts":[],"media":[]}"#;
        let run = mokume_record::read(head).unwrap().remove(0);
        let page = page(&run, None);
        let data = page.split(r#"id="record">"#).nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["runs"][0]["head"]["name"], "</script><b>");
        for part in ["/* STYLE */", "/* SCRIPT */", "RECORD"] {
            assert_eq!(PAGE.matches(part).count(), 1);
            assert!(!page.contains(part));
        }
        // Nothing fetches the name of a format, or the origin of a library.
        let without =
            page.replace("http://www.w3.org/2000/svg", "").replace("(https://github.com/101arrowz/fflate,", "");
        assert!(!without.contains("http://") && !without.contains("https://"));
    }
}
