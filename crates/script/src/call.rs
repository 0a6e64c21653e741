//! The events of a network: inputs with resolved names, outputs compared with patterns.

use mokume_reaction::{Automaton, Datum, Handle, Output, PortId, Type};

use crate::likeness::Likeness;
use crate::names::Names;
use crate::octets::{same, show_beside};
use crate::packets;
use crate::script::{Arg, Call};
use crate::written::{PortEvent, Written};

/// How many octets of a message a log shows.
const FRONT: usize = 24;

impl Call {
    /// The arguments of an input, with names replaced by what they are bound to; an error says why there are none.
    pub fn data(&self, automaton: &Automaton, names: &Names) -> Result<Vec<Datum>, String> {
        self.args.iter().map(|arg| datum(automaton, names, arg)).collect()
    }

    /// Whether an output is at the same port but another event.
    pub fn is_beside(&self, output: &Output) -> bool {
        self.port == output.port && self.event != output.event
    }

    /// How near an output is to the pattern; `None` for another event or port.
    pub fn likeness(&self, automaton: &Automaton, names: &Names, output: &Output) -> Option<Likeness> {
        if (self.port, self.event) != (output.port, output.event) {
            return None;
        }
        let signature = automaton.ports[output.port.index()].outputs.get(output.event as usize)?;
        let mut found = Likeness::default();
        for ((arg, datum), (_, ty)) in self.args.iter().zip(&output.args).zip(&signature.params) {
            found.args += usize::from(packets::meets(automaton, &mut names.clone(), arg, datum, ty.width(automaton)));
            match (arg, datum) {
                (Arg::Packet(packet), Datum::Message(came)) => {
                    found.add(packets::likeness(automaton, names, packet, came));
                }
                (Arg::Octets(wanted), Datum::Message(came)) => found.octets += same(wanted, came),
                _ => {}
            }
        }
        Some(found)
    }

    /// Whether an input matches the pattern; then stores what the pattern binds, else nothing.
    pub fn meets_input(
        &self,
        automaton: &Automaton,
        names: &mut Names,
        (port, event): (PortId, u32),
        args: &[Datum],
    ) -> bool {
        let inputs = &automaton.ports[self.port.index()].inputs;
        let Some(signature) = inputs.get(event as usize) else { return false };
        (self.port, self.event) == (port, event) && self.fits(automaton, names, args, &signature.params)
    }

    /// Whether an output matches the pattern; then stores what the pattern binds, else nothing.
    pub fn meets(&self, automaton: &Automaton, names: &mut Names, output: &Output) -> bool {
        let Some(signature) = automaton.ports[output.port.index()].outputs.get(output.event as usize) else {
            return false;
        };
        (self.port, self.event) == (output.port, output.event)
            && self.fits(automaton, names, &output.args, &signature.params)
    }

    /// An output of this event in the notation of the pattern, with what differs from it. `None` if the pattern has neither packets by
    /// their fields nor octets of which the front alone would not show what differs. `datum` gives the text of all else.
    pub fn shown_like(
        &self,
        stack: (&Automaton, &Written, &Names),
        output: &Output,
        datum: &dyn Fn(&Datum) -> String,
    ) -> Option<String> {
        let is_told = |(arg, datum): (&Arg, &Datum)| match (arg, datum) {
            (Arg::Packet(_), _) => true,
            (Arg::Octets(wanted), Datum::Message(came)) => came.len().max(wanted.len()) > FRONT && wanted != came,
            _ => false,
        };
        self.args.iter().zip(&output.args).any(is_told).then(|| shown(stack, &self.args, output, datum))
    }

    fn fits(&self, automaton: &Automaton, names: &mut Names, data: &[Datum], params: &[(String, Type)]) -> bool {
        if self.args.len() != data.len() {
            return false;
        }
        let before = names.clone();
        let mut args = self.args.iter().zip(data).zip(params);
        let is_met =
            args.all(|((arg, datum), (_, ty))| packets::meets(automaton, names, arg, datum, ty.width(automaton)));
        if !is_met {
            *names = before;
        }
        is_met
    }
}

/// An output; packets and octets in the notation of the arguments that are expected, with what differs.
pub(crate) fn shown(
    (automaton, written, names): (&Automaton, &Written, &Names),
    like: &[Arg],
    output: &Output,
    datum: &dyn Fn(&Datum) -> String,
) -> String {
    let port = &automaton.ports[output.port.index()];
    let signature = port.outputs.get(output.event as usize);
    let event = signature.map_or("?", |signature| &signature.event);
    let word = |at: usize| match output.args[at] {
        Datum::Word(word) => Some(word),
        Datum::Handle(_) | Datum::Message(_) => None,
    };
    let other = |at: usize| match (like.get(at), &output.args[at]) {
        (Some(Arg::Packet(packet)), Datum::Message(octets)) => {
            packets::show_actual(automaton, written, names, packet, octets)
        }
        (Some(Arg::Octets(wanted)), Datum::Message(octets)) => show_beside(wanted, octets, 0),
        (_, other) => datum(other),
    };
    let args = match signature.filter(|signature| signature.params.len() == output.args.len()) {
        Some(signature) => written.arguments(automaton, PortEvent::output(output.port, signature), &word, &other),
        None => output.args.iter().map(datum).collect(),
    };
    format!("{}.{event}({})", port.name, args.join(", "))
}

/// The value of an input's argument; an error says why there is none.
pub fn datum(automaton: &Automaton, names: &Names, arg: &Arg) -> Result<Datum, String> {
    match arg {
        Arg::Word(value) => Ok(Datum::Word(*value)),
        Arg::Octets(octets) => Ok(Datum::Message(octets.clone())),
        Arg::Null => Ok(Datum::Handle(Handle::NULL)),
        Arg::Name(name) => names.get(name).cloned().ok_or(format!("nothing was remembered as `{name}`")),
        Arg::Sum { name, .. } => {
            names.word(arg).map(Datum::Word).ok_or(format!("no number was remembered as `{name}`"))
        }
        Arg::Packet(packet) => packets::write(automaton, names, packet).map(Datum::Message),
        Arg::Bind(_) | Arg::Any | Arg::OneOf(_) => {
            Err("an input needs a value: `?name` and `_` are for outputs".to_string())
        }
    }
}
