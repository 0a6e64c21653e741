//! The results for a followed capture, for scripts: an object for each packet, and one for the whole.

use serde_json::{json, Value};

use super::alike::Unlike;
use super::noted::{Ended, How};
use super::said::{Fate, Likeness, Report, Seen, What};

/// The version of the form. It changes whenever a reader of the previous version would misread something.
const VERSION: u32 = 1;

/// The JSON Schema of the objects.
pub const SCHEMA: &str = include_str!("../../../../schemas/follow-1.json");

/// A packet. Times are nanoseconds since the stack's start.
pub fn packet(seen: &Seen) -> Value {
    let mut object = json!({ "follow": VERSION, "packet": seen.packet, "at": seen.at, "about": seen.about });
    let more = match &seen.what {
        What::Came(came) => json!({
            "way": "came",
            "fate": match came.fate {
                Fate::Taken => "taken",
                Fate::Kept => "waits",
                Fate::NotForIt => "not_for_it",
                Fate::Dropped => "dropped",
                Fate::Refused => "refused",
            },
            "ended": came.ended.iter().map(ended).collect::<Vec<_>>(),
            "gone": came.gone,
            "waits_in": came.kept,
            "outputs": came.outputs,
            "answers": came.answers,
            "reports": came.reports,
        }),
        What::Sent(sent) => {
            let (how, before) = match sent.how {
                Likeness::Same => ("same", None),
                Likeness::Early => ("out_of_order", None),
                Likeness::Alike => ("differs", None),
                Likeness::Again(before) => ("again", Some(before)),
                Likeness::Unlike => ("unlike", None),
            };
            let against = sent.against.as_ref();
            json!({
                "way": "sent",
                "how": how,
                "again": before,
                "stack_at": against.map(|(at, _)| at),
                "differs": against.map_or_else(Vec::new, |(_, unlike)| unlike.iter().map(self::unlike).collect()),
                "learned": sent.learned,
            })
        }
        What::Cut => json!({ "way": "cut" }),
    };
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

fn ended(ended: &Ended) -> Value {
    json!({
        "how": match ended.how { How::Dropped => "dropped", How::Consumed => "consumed" },
        "reason": ended.reason,
        "layer": ended.layer,
        "on": ended.on,
        "place": ended.place,
        "state": ended.state,
    })
}

fn unlike(unlike: &Unlike) -> Value {
    json!({ "field": unlike.field, "here": unlike.here, "stack": unlike.stack })
}

/// The results for the whole capture.
pub fn end(report: &Report, host: &str) -> Value {
    let missing = report.missing.iter().map(|(at, about)| json!({ "at": at, "about": about }));
    json!({
        "follow": VERSION,
        "host": host,
        "packets": report.seen.len(),
        "amiss": report.is_amiss(),
        "missing": missing.collect::<Vec<_>>(),
        "left_out": report.waiting,
        "apart_from": report.apart_from,
    })
}
