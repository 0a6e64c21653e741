//! Ports of a stack with streams of octets, and their events.
//!
//! Such a port is recognised by its events: those of sessions, and those of a vocabulary by which each direction ends
//! by itself (`shut`, `finished`). The stack defines the parts of a flow.

use mokume_reaction::{Automaton, Datum, Handle, Output, PortId, PortInput, PortKind, Type};
use mokume_script::{PortEvent, Written};

/// Inputs of a stream's port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Say {
    Open,
    Listen,
    Unlisten,
    Send,
    Shut,
    Close,
    Abort,
    GrantDelivers,
    Credit,
}

impl Say {
    const ALL: [Say; 9] = [
        Say::Open,
        Say::Listen,
        Say::Unlisten,
        Say::Send,
        Say::Shut,
        Say::Close,
        Say::Abort,
        Say::GrantDelivers,
        Say::Credit,
    ];

    fn event(self) -> &'static str {
        match self {
            Say::Open => "open",
            Say::Listen => "listen",
            Say::Unlisten => "unlisten",
            Say::Send => "send",
            Say::Shut => "shut",
            Say::Close => "close",
            Say::Abort => "abort",
            Say::GrantDelivers => "grant_delivers",
            Say::Credit => CREDIT,
        }
    }

    /// Whether the input is optional: without it a stream takes octets, or gives them, as fast as they come.
    fn is_spared(self) -> bool {
        matches!(self, Say::GrantDelivers | Say::Credit)
    }
}

/// Outputs of a stream's port. Sessions are as the application sees them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Heard {
    Opened {
        user: u64,
        session: Handle,
    },
    Failed {
        user: u64,
        reason: String,
    },
    /// With the parts of its flow, by name.
    Accepted {
        session: Handle,
        flow: Vec<(String, u64)>,
    },
    Deliver {
        session: Handle,
        octets: Vec<u8>,
    },
    Finished {
        session: Handle,
    },
    Closed {
        session: Handle,
    },
    Broken {
        session: Handle,
        reason: String,
    },
}

/// The input that asks for credit, and the output that answers (docs/language.md, section 15).
const CREDIT: &str = "credit";

const HEARD: [&str; 7] = ["opened", "failed", "accepted", "deliver", "finished", "closed", "failed_session"];

/// A port with streams.
pub struct StreamPort {
    pub port: PortId,
    /// By [`Say`], if the port has the input.
    inputs: Vec<Option<u32>>,
}

/// One end of a flow: its parts by name, as the port's events have them.
pub type Parts = Vec<(String, u64)>;

/// The ports of a stack with streams.
pub fn all(automaton: &Automaton) -> Vec<StreamPort> {
    let mut found = Vec::new();
    for (index, port) in automaton.ports.iter().enumerate() {
        let says = |event: &str| port.outputs.iter().any(|output| output.event == event);
        let input = |say: Say| port.inputs.iter().position(|input| input.event == say.event());
        let takes = |say: &Say| say.is_spared() || input(*say).is_some();
        if port.kind == PortKind::Application && HEARD.iter().all(|event| says(event)) && Say::ALL.iter().all(takes) {
            let inputs = Say::ALL.iter().map(|say| input(*say).map(|at| at as u32)).collect();
            found.push(StreamPort { port: PortId::from(index), inputs });
        }
    }
    found
}

impl StreamPort {
    /// The number of an input, if the port has it.
    pub fn input(&self, say: Say) -> Option<u32> {
        Say::ALL.iter().position(|known| *known == say).and_then(|at| self.inputs[at])
    }

    fn described<'a>(&self, automaton: &'a Automaton, say: Say) -> Option<&'a PortInput> {
        automaton.ports[self.port.index()].inputs.get(self.input(say)? as usize)
    }

    /// The arguments of an input, by name; a part of the flow that is not among `parts` is any.
    pub fn arguments(&self, automaton: &Automaton, say: Say, what: &What<'_>) -> Vec<Datum> {
        self.described(automaton, say).map_or_else(Vec::new, |input| arguments(input, what))
    }

    /// Reads one end of a flow, each value in the stack's notation. Leading values may be left out: those are any.
    pub fn read(&self, automaton: &Automaton, written: &Written, side: Side, texts: &[String]) -> Option<Parts> {
        let values = self.values(automaton, written, side);
        let skipped = values.len().checked_sub(texts.len())?;
        if side == Side::Remote && skipped > 0 {
            return None;
        }
        let mut parts = Parts::new();
        for (value, text) in values[skipped..].iter().zip(texts) {
            parts.extend(value.names.iter().cloned().zip(value.read(text)?));
        }
        Some(parts)
    }

    /// An example of an end of a flow, for messages.
    pub fn example(&self, automaton: &Automaton, written: &Written, side: Side) -> String {
        let values = self.values(automaton, written, side);
        values.iter().map(Value::example).collect::<Vec<_>>().join(" ")
    }

    /// The remote end of a flow, for people.
    pub fn shown(&self, automaton: &Automaton, written: &Written, flow: &Parts) -> String {
        let word = |name: &String| flow.iter().find(|(part, _)| part == name).map_or(0, |(_, word)| *word);
        let show = |value: &Value| {
            let words: Vec<u64> = value.names.iter().map(word).collect();
            let plain = || words.first().copied().unwrap_or(0).to_string();
            value.form.as_ref().map_or_else(plain, |form| form.write(&words))
        };
        self.values(automaton, written, Side::Remote).iter().map(show).collect::<Vec<_>>().join(" ")
    }

    fn values(&self, automaton: &Automaton, written: &Written, side: Side) -> Vec<Value> {
        let Some(open) = self.described(automaton, Say::Open) else { return Vec::new() };
        let params = &open.params;
        let of_side = |name: &str| name.starts_with(side.prefix());
        let groups = written.groups(PortEvent::input(self.port, open)).into_iter();
        let groups = groups.filter(|group| of_side(&params[group.first].0));
        groups
            .map(|group| {
                let places = &params[group.first..group.first + group.count];
                let names = places.iter().map(|(name, _)| name.clone()).collect();
                let form = group.form.cloned();
                Value { names, form, width: places.first().map_or(0, |(_, ty)| u32::from(ty.width(automaton))) }
            })
            .collect()
    }

    /// The octets of credit in an output, if it is the answer to [`Say::Credit`].
    pub fn credit(&self, automaton: &Automaton, output: &Output) -> Option<u64> {
        let described = automaton.ports[self.port.index()].outputs.get(output.event as usize)?;
        if output.port != self.port || described.event != CREDIT {
            return None;
        }
        let said = words(&described.params, &output.args);
        let word = |name: &str| said.iter().find(|(known, _)| known == name).map(|(_, word)| *word);
        Some(if word("messages") == Some(0) { 0 } else { word("octets").unwrap_or(u64::MAX) })
    }

    /// The event of an output; `None` if it is not one of a stream.
    pub fn hear(&self, automaton: &Automaton, output: &Output) -> Option<Heard> {
        let described = automaton.ports[self.port.index()].outputs.get(output.event as usize)?;
        let named = |name: &str| {
            let at = described.params.iter().position(|(param, _)| param == name)?;
            output.args.get(at)
        };
        let word = |name: &str| match named(name) {
            Some(Datum::Word(word)) => *word,
            Some(Datum::Handle(_) | Datum::Message(_)) | None => 0,
        };
        let session = match named("session") {
            Some(Datum::Handle(handle)) => *handle,
            Some(Datum::Word(_) | Datum::Message(_)) | None => Handle::NULL,
        };
        let reason = || {
            let of_type = described.params.iter().position(|(_, ty)| *ty == Type::Reason);
            let word = of_type.and_then(|at| output.args.get(at));
            match word {
                Some(Datum::Word(word)) => reason_name(automaton, *word),
                Some(Datum::Handle(_) | Datum::Message(_)) | None => "no reason".to_string(),
            }
        };
        Some(match described.event.as_str() {
            "opened" => Heard::Opened { user: word("user"), session },
            "failed" => Heard::Failed { user: word("user"), reason: reason() },
            "accepted" => Heard::Accepted { session, flow: words(&described.params, &output.args) },
            "deliver" => Heard::Deliver { session, octets: octets(&output.args) },
            "finished" => Heard::Finished { session },
            "closed" => Heard::Closed { session },
            "failed_session" => Heard::Broken { session, reason: reason() },
            _ => return None,
        })
    }
}

/// Values for inputs; each input takes those that it has parameters for.
#[derive(Clone, Copy)]
pub struct What<'a> {
    pub user: u64,
    pub session: Handle,
    pub octets: &'a [u8],
    pub granted: (u64, u64),
    pub parts: &'a [(String, u64)],
}

impl What<'_> {
    /// No values.
    pub const NOTHING: What<'static> =
        What { user: 0, session: Handle::NULL, octets: &[], granted: (0, 0), parts: &[] };
}

/// An end of a flow, from the application's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Local,
    Remote,
}

impl Side {
    fn prefix(self) -> &'static str {
        match self {
            Side::Local => "local_",
            Side::Remote => "remote_",
        }
    }
}

/// One value of an end: an address, a number.
struct Value {
    names: Vec<String>,
    form: Option<mokume_base::Form>,
    width: u32,
}

impl Value {
    fn read(&self, text: &str) -> Option<Vec<u64>> {
        let written = self.form.as_ref().and_then(|form| form.read(text));
        let number = || {
            let number: u64 = text.parse().ok()?;
            (self.names.len() == 1 && (self.width >= 64 || number >> self.width == 0)).then(|| vec![number])
        };
        match &self.form {
            Some(_) => written,
            None => number(),
        }
    }

    fn example(&self) -> String {
        self.form.as_ref().map_or_else(|| "80".to_string(), mokume_base::Form::example)
    }
}

/// The arguments of an input. Values of `from open` that are not given have their defaults; parts of a flow are any.
fn arguments(input: &PortInput, what: &What<'_>) -> Vec<Datum> {
    let said = |name: &str| what.parts.iter().find(|(part, _)| part == name).map(|(_, word)| *word);
    let argument = |(at, (name, ty)): (usize, &(String, Type))| match (ty, name.as_str()) {
        (Type::Ref(_), _) => Datum::Handle(what.session),
        (Type::Msg, _) => Datum::Message(what.octets.to_vec()),
        (_, "user") => Datum::Word(what.user),
        (_, "messages") => Datum::Word(what.granted.0),
        (_, "octets") => Datum::Word(what.granted.1),
        _ => Datum::Word(said(name).or_else(|| input.default_of(at)).unwrap_or(0)),
    };
    input.params.iter().enumerate().map(argument).collect()
}

fn reason_name(automaton: &Automaton, word: u64) -> String {
    let known = usize::try_from(word).ok().and_then(|at| automaton.reasons.get(at));
    let name = known.map_or("no reason", |known| known.name.as_str());
    name.rsplit('.').next().unwrap_or(name).replace('_', " ")
}

fn words(params: &[(String, Type)], args: &[Datum]) -> Parts {
    let word = |((name, _), arg): (&(String, Type), &Datum)| match arg {
        Datum::Word(word) => Some((name.clone(), *word)),
        Datum::Handle(_) | Datum::Message(_) => None,
    };
    params.iter().zip(args).filter_map(word).collect()
}

fn octets(args: &[Datum]) -> Vec<u8> {
    let message = args.iter().find_map(|arg| match arg {
        Datum::Message(octets) => Some(octets.clone()),
        Datum::Word(_) | Datum::Handle(_) => None,
    });
    message.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mokume_reaction::ClassId;

    use super::*;

    /// A value of `from open` with a default, which `connect` does not give.
    #[test]
    fn what_is_left_out_has_its_default_and_a_part_of_the_flow_is_any() {
        let param = |name: &str, ty: Type| (name.to_string(), ty);
        let input = PortInput {
            event: "open".to_string(),
            params: vec![
                param("user", Type::U(32)),
                param("local_port", Type::U(16)),
                param("remote_port", Type::U(16)),
                param("nagle", Type::Bool),
                param("patience", Type::U(64)),
            ],
            class: ClassId(0),
            handler: "open".to_string(),
            defaults: vec![1, 300],
        };
        let parts = vec![("remote_port".to_string(), 80), ("patience".to_string(), 9)];
        let what = What { user: 7, parts: &parts, ..What::NOTHING };
        let words: Vec<Datum> = [7, 0, 80, 1, 9].into_iter().map(Datum::Word).collect();
        assert_eq!(arguments(&input, &what), words);
    }
}
