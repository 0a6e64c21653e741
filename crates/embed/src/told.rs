//! What programs in other languages read as JSON: a stack's ports and events, and the accounts of its messages. Also
//! the line between two stacks.

use mokume_base::{Form, RealWorld};
use mokume_driver::weather::{self, Way};
use mokume_driver::Failure;
use mokume_reaction::border::{self, Border};
use mokume_reaction::{Accounts, Automaton, PortKind, ReasonId, Type};
use mokume_script::{PortEvent, Written};
use serde_json::{json, Map, Value};

/// One direction of a line, described as a network's link: `loss 2 % delay 5 ms .. 20 ms`. With empty text, frames
/// arrive at once.
///
/// # Errors
/// The text is not a valid description.
pub fn line(words: &str, seed: u64) -> Result<Way, Failure> {
    let weather = match words.trim() {
        "" => weather::Weather::default(),
        words => weather::read(words, &RealWorld)?,
    };
    Ok(Way::new(weather, seed))
}

/// The stack's name, its parameters, and its ports with their inputs and outputs.
pub(crate) fn interface(automaton: &Automaton, written: &Written) -> Value {
    let told = |event: PortEvent<'_>, left_out: usize| {
        let params = parameters(automaton, written, event);
        json!({ "event": event.name, "takes": params, "defaults": left_out })
    };
    let ports = automaton.ports.iter().enumerate().map(|(at, port)| {
        let kind = match port.kind {
            PortKind::Device => "device",
            PortKind::Application => "application",
        };
        let inputs = port.inputs.iter().map(|input| told(PortEvent::input(at.into(), input), input.defaults.len()));
        let outputs = port.outputs.iter().map(|output| told(PortEvent::output(at.into(), output), 0));
        json!({
            "name": port.name, "kind": kind,
            "inputs": inputs.collect::<Vec<_>>(), "outputs": outputs.collect::<Vec<_>>(),
        })
    });
    let params: Vec<&str> = automaton.params.iter().map(|param| param.name.as_str()).collect();
    let reasons: Vec<&str> = automaton.reasons.iter().map(|reason| reason.name.as_str()).collect();
    json!({ "name": automaton.name, "parameters": params, "reasons": reasons, "ports": ports.collect::<Vec<_>>() })
}

/// The arguments of an event. Their names differ; the second of a name has `_2` behind it, as in generated C.
fn parameters(automaton: &Automaton, written: &Written, event: PortEvent<'_>) -> Vec<Value> {
    let params = event.params;
    let borders = border::borders_of(automaton, params);
    let times = written.groups(event).into_iter().filter(|group| group.form == Some(&Form::Time));
    let times: Vec<usize> = times.map(|group| group.first).collect();
    let mut names: Vec<String> = Vec::new();
    let mut told = Vec::new();
    for (at, (name, ty)) in params.iter().enumerate() {
        let plain = border::plain_name(name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let own = std::iter::once(plain.clone()).chain(numbered).find(|own| !names.contains(own)).unwrap_or_default();
        let mut one = parameter(&own, *ty, automaton);
        names.push(own);
        if times.contains(&at) {
            one["is"] = json!("time");
        }
        if let Type::Enum(id) = ty {
            let known = &automaton.enums[id.index()];
            one["enum"] = json!(known.name);
            one["names"] = known.names.iter().map(|(name, number)| (name.clone(), json!(number))).collect();
        }
        // What may be left out of a value is not looked at.
        if let Some(Border { values: Some(values), .. }) = borders.get(at).filter(|border| border.there.is_empty()) {
            match ty {
                Type::Enum(_) => one["open"] = json!(false),
                Type::Reason => {}
                _ => one["most"] = json!(values.last().map(|range| *range.end())),
            }
        }
        told.push(one);
    }
    told
}

fn parameter(name: &str, ty: Type, automaton: &Automaton) -> Value {
    match ty {
        Type::Msg => json!({ "name": name, "kind": "message" }),
        Type::Ref(_) => json!({ "name": name, "kind": "session" }),
        Type::Reason => json!({ "name": name, "kind": "reason" }),
        Type::Bool => json!({ "name": name, "kind": "number", "bits": 1, "is": "truth" }),
        number => json!({ "name": name, "kind": "number", "bits": number.width(automaton) }),
    }
}

/// What became of an instance's messages, with the names of reasons and counters.
pub(crate) fn accounts(automaton: &Automaton, accounts: &Accounts) -> Value {
    let by_reason = |counts: &[(ReasonId, u64)]| -> Map<String, Value> {
        counts.iter().map(|(id, count)| (automaton.reasons[id.index()].name.clone(), json!(count))).collect()
    };
    json!({
        "received": accounts.received, "delivered": accounts.delivered, "dropped": by_reason(&accounts.dropped),
        "consumed": by_reason(&accounts.consumed), "gone": accounts.gone, "merged": accounts.merged, "held": accounts.held,
        "refused": accounts.refused, "counters": accounts.counters.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
    })
}
