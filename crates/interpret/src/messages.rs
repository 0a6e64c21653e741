//! Operations on messages. One that changes a message gives it back as its first result.

use mokume_reaction::{AttributeId, HeaderId, OctetField, Op, Report, SourceId, Value, VariantId, WireId};
use mokume_wire::HeaderValue;

use crate::core::Core;
use crate::eval::Activation;
use crate::message::{number, Message};

impl Core {
    /// The message that a value holds; see [`crate::core::Arena::get`] for one that was used up.
    pub fn message(&self, at: Activation, message: Value) -> &Message {
        self.messages.get(self.get(at, message))
    }

    /// The number in a field at an offset, in octets from the start; beyond the end it is 0, and `bounds` is reported
    /// (docs/semantics.md, F6).
    pub fn load(
        &mut self,
        at: Activation,
        message: Value,
        offset: Value,
        field: OctetField,
        source: Option<SourceId>,
    ) -> u64 {
        let octets = usize::from(field.width / 8);
        let found = self.message(at, message).field(self.get(at, offset), octets).map(|o| number(o, field.endian));
        if found.is_none() {
            self.report(Report::Bounds, source);
        }
        found.unwrap_or(0)
    }

    /// Writes a field at an offset, in octets from the start; beyond the end nothing is written, and `bounds` is
    /// reported (docs/semantics.md, F6).
    pub fn store_field(
        &mut self,
        at: Activation,
        op: &Op,
        message: Value,
        (offset, field): (Value, OctetField),
        value: Value,
    ) {
        let (offset, value) = (self.get(at, offset), self.get(at, value));
        let octets = usize::from(field.width / 8);
        let stored = self.change(at, op, message).store(offset, octets, field.endian, value);
        self.report_if(!stored, op);
    }

    /// Puts octets in front of the message's (docs/semantics.md, F8).
    pub fn front(&mut self, at: Activation, op: &Op, message: Value, front: &[u8]) {
        let octets = &mut self.change(at, op, message).octets;
        octets.splice(..0, front.iter().copied());
    }

    /// Puts a header on top; the octets stay until a wire encodes it (docs/semantics.md, F8).
    pub fn push(&mut self, at: Activation, op: &Op, message: Value, of: (HeaderId, VariantId), fields: &[Value]) {
        let fields = fields.iter().map(|field| self.get(at, *field)).collect();
        let header = HeaderValue { header: of.0, variant: of.1, fields };
        self.change(at, op, message).headers.push(header);
    }

    /// Takes the top header off; its fields are the results behind the message. Another header than `of` on top is a
    /// fault of the form, found in debug builds; fields that it lacks are 0.
    pub fn pop(&mut self, at: Activation, op: &Op, message: Value, of: (HeaderId, VariantId)) {
        let popped = self.change(at, op, message).headers.pop();
        debug_assert!(
            popped.as_ref().is_none_or(|top| (top.header, top.variant) == of),
            "the header taken off is not the one on top"
        );
        let fields = popped.map_or(Vec::new(), |top| top.fields);
        for (place, result) in op.results.iter().enumerate().skip(1) {
            self.set(at, *result, fields.get(place - 1).copied().unwrap_or(0));
        }
    }

    /// The wire has met the message as it is.
    pub fn meet(&mut self, at: Activation, op: &Op, message: Value, wire: WireId) {
        let message = self.change(at, op, message);
        let packet = message.octets.clone();
        message.note_met(wire, &packet);
    }

    /// Turns the headers on top that the wire carries into octets in front (docs/semantics.md, W1); a field that was
    /// cut is reported as `narrow`.
    pub fn encode(&mut self, at: Activation, op: &Op, message: Value, wire: WireId) {
        let message = self.change(at, op, message);
        if encode(&at.program.automaton, wire, message) {
            self.report(Report::Narrow, op.source);
        }
    }

    /// Calls a function in C; without functions it gives 0 and leaves the message as it is. A function that is given
    /// a message may make it longer by `grows` octets, and no more.
    pub fn native(
        &mut self,
        at: Activation,
        op: &Op,
        (symbol, grows): (&str, u32),
        args: &[Value],
        message: Option<Value>,
    ) {
        let args: Vec<u64> = args.iter().map(|arg| self.get(at, *arg)).collect();
        let natives = at.program.natives.clone();
        let call =
            |octets: Option<(&mut Vec<u8>, u32)>| natives.map_or(0, |natives| natives.call(symbol, &args, octets));
        let result = match message {
            Some(message) => {
                let octets = &mut self.change(at, op, message).octets;
                let room = octets.len() + room_to_grow(octets.len()).min(grows as usize);
                call(Some((octets, room as u32)))
            }
            None => call(None),
        };
        if let Some(place) = op.results.get(usize::from(message.is_some())) {
            self.set(at, *place, result & at.program.mask(at.ty(*place)));
        }
    }

    /// Keeps the first `size` octets; where there are fewer, all, and `bounds` is reported (docs/semantics.md, F6).
    pub fn trim(&mut self, at: Activation, op: &Op, message: Value, size: Value) {
        let size = self.get(at, size);
        let octets = &mut self.change(at, op, message).octets;
        let beyond = size > octets.len() as u64;
        octets.truncate(size as usize);
        self.report_if(beyond, op);
    }

    /// Takes `size` octets off the front; where there are fewer, all, and `bounds` is reported (docs/semantics.md,
    /// F6).
    pub fn skip(&mut self, at: Activation, op: &Op, message: Value, size: Value) {
        let size = self.get(at, size);
        let octets = &mut self.change(at, op, message).octets;
        let beyond = size > octets.len() as u64;
        octets.drain(..(size as usize).min(octets.len()));
        self.report_if(beyond, op);
    }

    /// Cuts the message at an octet; the rest is the second result, a new message. Behind the end it is empty, and
    /// `bounds` is reported (docs/semantics.md, F6 to F8).
    pub fn split(&mut self, at: Activation, op: &Op, message: Value, place: Value) {
        let place = self.get(at, place);
        let message = self.change(at, op, message);
        let beyond = place > message.octets.len() as u64;
        let rest = message.split_off((place as usize).min(message.octets.len()));
        self.make(at, op, 1, rest);
        self.report_if(beyond, op);
    }

    /// Puts the octets of the second message behind the first one's. The second is used up, and counts as merged
    /// (docs/semantics.md, F2, F7 and F11).
    pub fn join(&mut self, at: Activation, op: &Op, first: Value, second: Value) {
        let second = self.messages.take(self.get(at, second));
        self.totals.merged += 1;
        self.totals.used_up += 1;
        let octets = &mut self.change(at, op, first).octets;
        let fits = room_to_grow(octets.len()).min(second.octets.len());
        octets.extend_from_slice(&second.octets[..fits]);
        self.report_if(fits < second.octets.len(), op);
    }

    /// Sets an attribute of the message, as a number that has the width of its type already.
    pub fn set_attribute(&mut self, at: Activation, op: &Op, message: Value, attribute: AttributeId, value: Value) {
        let value = self.get(at, value);
        if let Some(place) = self.change(at, op, message).attributes.get_mut(attribute.index()) {
            *place = value;
        }
    }

    /// The message that an operation changes; it is the operation's first result.
    fn change(&mut self, at: Activation, op: &Op, message: Value) -> &mut Message {
        let id = self.get(at, message);
        self.set(at, op.results[0], id);
        self.messages.get_mut(id)
    }

    /// Counts a message as made inside (docs/semantics.md, F2), and puts it into one of the operation's results.
    pub fn make(&mut self, at: Activation, op: &Op, result: usize, message: Message) {
        self.totals.make();
        let id = self.messages.put(Box::new(message));
        self.set(at, op.results[result], id);
    }

    fn report_if(&mut self, beyond: bool, op: &Op) {
        if beyond {
            self.report(Report::Bounds, op.source);
        }
    }
}

/// By how many octets a layer may make a message of so many longer (docs/semantics.md, F11).
fn room_to_grow(octets: usize) -> usize {
    (mokume_reaction::LONGEST_MESSAGE as usize).saturating_sub(octets)
}

/// The wire's headers become octets; whether a field was too narrow.
fn encode(automaton: &mokume_reaction::Automaton, wire: mokume_reaction::WireId, message: &mut Message) -> bool {
    let carried = &automaton.wires[wire.index()].headers;
    let on_top = message.headers.iter().rev().take(carried.len()).take_while(|top| carried.contains(&top.header));
    let first = message.headers.len() - on_top.count();
    // What a layer in the middle of the wire sends of its own has no headers of the layers above it.
    let in_order = message.headers[first..].iter().rev().zip(carried).all(|(top, wanted)| top.header == *wanted);
    debug_assert!(in_order, "the headers on top are not those of the wire");
    let headers = message.headers.split_off(first);
    let encoded = mokume_wire::encode(automaton, wire, &headers, &message.octets);
    message.octets = encoded.octets;
    encoded.narrow
}
