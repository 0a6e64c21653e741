//! Operations on messages. One that changes a message has it as its first result.

use mokume_reaction::{AttributeId, HeaderId, OctetField, Op, Report, SourceId, Value, VariantId, WireId};
use mokume_wire::HeaderValue;

use crate::core::Core;
use crate::eval::Activation;
use crate::message::{number, Message};

impl Core {
    /// The message of a value; see [`crate::core::Arena::get`] for one that was used up.
    pub fn message(&self, at: Activation, message: Value) -> &Message {
        self.messages.get(self.get(at, message))
    }

    /// Reads a number at an offset in octets; beyond the end gives 0, and reports `bounds` (docs/semantics.md, F6).
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

    /// Writes a number at an offset in octets; beyond the end writes nothing, and reports `bounds` (docs/semantics.md,
    /// F6).
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

    /// Pushes a header; the octets stay until a wire encodes it (docs/semantics.md, F8).
    pub fn push(&mut self, at: Activation, op: &Op, message: Value, of: (HeaderId, VariantId), fields: &[Value]) {
        let fields = fields.iter().map(|field| self.get(at, *field)).collect();
        let header = HeaderValue { header: of.0, variant: of.1, fields };
        self.change(at, op, message).headers.push(header);
    }

    /// Pops the top header; its fields are the results after the message. If another header than `of` is on top, the
    /// form is faulty: debug builds panic; missing fields are 0.
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

    /// Marks the message as received by the wire.
    pub fn meet(&mut self, at: Activation, op: &Op, message: Value, wire: WireId) {
        let message = self.change(at, op, message);
        let packet = message.octets.clone();
        message.note_met(wire, &packet);
    }

    /// Turns the top headers that the wire carries into octets in front (docs/semantics.md, W1); reports `narrow` if a
    /// field was cut.
    pub fn encode(&mut self, at: Activation, op: &Op, message: Value, wire: WireId) {
        let message = self.change(at, op, message);
        if encode(&at.program.automaton, wire, message) {
            self.report(Report::Narrow, op.source);
        }
    }

    /// Calls a function in C; if there are none, gives 0 and leaves the message as it is. A function may make its
    /// message longer by at most `grows` octets.
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

    /// Keeps the first `size` octets; if there are fewer, keeps all and reports `bounds` (docs/semantics.md, F6).
    pub fn trim(&mut self, at: Activation, op: &Op, message: Value, size: Value) {
        let size = self.get(at, size);
        let octets = &mut self.change(at, op, message).octets;
        let beyond = size > octets.len() as u64;
        octets.truncate(size as usize);
        self.report_if(beyond, op);
    }

    /// Removes `size` octets from the front; if there are fewer, removes all and reports `bounds` (docs/semantics.md,
    /// F6).
    pub fn skip(&mut self, at: Activation, op: &Op, message: Value, size: Value) {
        let size = self.get(at, size);
        let octets = &mut self.change(at, op, message).octets;
        let beyond = size > octets.len() as u64;
        octets.drain(..(size as usize).min(octets.len()));
        self.report_if(beyond, op);
    }

    /// Splits the message at an octet; the rest is the second result, a new message. Beyond the end the rest is empty,
    /// and `bounds` is reported (docs/semantics.md, F6 to F8).
    pub fn split(&mut self, at: Activation, op: &Op, message: Value, place: Value) {
        let place = self.get(at, place);
        let message = self.change(at, op, message);
        let beyond = place > message.octets.len() as u64;
        let rest = message.split_off((place as usize).min(message.octets.len()));
        self.make(at, op, 1, rest);
        self.report_if(beyond, op);
    }

    /// Appends the octets of the second message to the first. The second is used up, and counts as merged
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

    /// Sets an attribute of the message to a number, which has the width of its type already.
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

    /// Counts a message as made inside (docs/semantics.md, F2), and stores it as one of the operation's results.
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

/// The most octets by which a layer may make a message of this size longer (docs/semantics.md, F11).
fn room_to_grow(octets: usize) -> usize {
    (mokume_reaction::LONGEST_MESSAGE as usize).saturating_sub(octets)
}

/// Turns the wire's headers into octets; returns whether a value did not fit its field.
fn encode(automaton: &mokume_reaction::Automaton, wire: mokume_reaction::WireId, message: &mut Message) -> bool {
    let carried = &automaton.wires[wire.index()].headers;
    let on_top = message.headers.iter().rev().take(carried.len()).take_while(|top| carried.contains(&top.header));
    let first = message.headers.len() - on_top.count();
    // A message that a layer in the middle of the wire sends itself has no headers of the layers above.
    let in_order = message.headers[first..].iter().rev().zip(carried).all(|(top, wanted)| top.header == *wanted);
    debug_assert!(in_order, "the headers on top are not those of the wire");
    let headers = message.headers.split_off(first);
    let encoded = mokume_wire::encode(automaton, wire, &headers, &message.octets);
    message.octets = encoded.octets;
    encoded.narrow
}
