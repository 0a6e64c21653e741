//! Operations on messages. A message is a value: each change makes a new message.

use mokume_reaction::{AttributeId, HeaderId, OctetField, Report, Value, VariantId, WireId, LONGEST_MESSAGE};
use mokume_wire::HeaderValue;

use crate::message::Message;
use crate::operate::Frame;
use crate::react::Reaction;
use crate::words::{number, store};

impl Reaction<'_> {
    /// The message that a value stands for. Only for values of type `msg`; the verifier ensures that.
    pub fn message(&self, frame: &Frame, message: Value) -> &Message {
        &self.messages[frame.get(message) as usize]
    }

    /// The number in a field of the packet, at an offset in octets from its start. Beyond the end it is 0, and `bounds`
    /// is reported (docs/semantics.md, F6).
    pub fn load(&mut self, frame: &Frame, message: Value, at: u64, field: OctetField) -> u64 {
        let octets = usize::from(field.width / 8);
        let value = self.message(frame, message).field(at, octets).map(|found| number(found, field.endian));
        self.report_if(value.is_none(), Report::Bounds);
        value.unwrap_or(0)
    }

    /// A new message with the number in the field. Beyond the end it is the old message, and `bounds` is reported
    /// (docs/semantics.md, F6). The offset counts octets from the start.
    pub fn store(&mut self, frame: &Frame, message: Value, (at, field): (u64, OctetField), value: u64) -> u64 {
        let mut changed = self.message(frame, message).clone();
        let is_stored = store(&mut changed, at, usize::from(field.width / 8), field.endian, value);
        self.report_if(!is_stored, Report::Bounds);
        self.hand(changed)
    }

    /// A new message with these octets in front.
    pub fn front(&mut self, frame: &Frame, message: Value, front: &[u8]) -> u64 {
        let mut changed = self.message(frame, message).clone();
        changed.octets.splice(..0, front.iter().copied());
        self.hand(changed)
    }

    /// A new message with one more header on top. Its octets stay the same until a wire encodes it (docs/semantics.md,
    /// F8).
    pub fn push(&mut self, frame: &Frame, message: Value, of: (HeaderId, VariantId), fields: &[Value]) -> u64 {
        let mut changed = self.message(frame, message).clone();
        changed.headers.push(HeaderValue { header: of.0, variant: of.1, fields: frame.all(fields) });
        self.hand(changed)
    }

    /// Removes the top header, whatever it is. The first result becomes the message, the others the header's fields.
    /// Without a header the fields are 0 (docs/semantics.md, F8).
    pub fn pop(&mut self, frame: &mut Frame, message: Value, results: &[Value]) {
        let mut changed = self.message(frame, message).clone();
        let fields = changed.headers.pop().map_or(Vec::new(), |top| top.fields);
        let changed = self.hand(changed);
        for (result, value) in results.iter().zip(std::iter::once(changed).chain(fields).chain(std::iter::repeat(0))) {
            frame.registers[result.index()] = value;
        }
    }

    /// The fields of the top header if it is this one, else `None`.
    pub fn peek(&self, frame: &Frame, message: Value, of: (HeaderId, VariantId)) -> Option<Vec<u64>> {
        let top = self.message(frame, message).headers.last()?;
        ((top.header, top.variant) == of).then(|| top.fields.clone())
    }

    /// A new message in which the top headers that the wire carries are octets in front (docs/semantics.md, W1). A
    /// value that does not fit its field is truncated, and `narrow` is reported.
    pub fn encode_message(&mut self, frame: &Frame, message: Value, wire: WireId) -> u64 {
        let mut changed = self.message(frame, message).clone();
        self.encode(&mut changed, wire);
        self.hand(changed)
    }

    fn encode(&mut self, message: &mut Message, wire: WireId) {
        let automaton = &self.program.automaton;
        let carried = &automaton.wires[wire.index()].headers;
        let on_top = message.headers.iter().rev().take(carried.len()).take_while(|top| carried.contains(&top.header));
        let headers = message.headers.split_off(message.headers.len() - on_top.count());
        let encoded = mokume_wire::encode(automaton, wire, &headers, &message.octets);
        message.octets = encoded.octets;
        self.report_if(encoded.narrow, Report::Narrow);
    }

    /// The first `size` octets; if there are fewer, all of them, and `bounds` is reported (docs/semantics.md, F6).
    pub fn trim(&mut self, frame: &Frame, message: Value, size: u64) -> u64 {
        let mut changed = self.message(frame, message).clone();
        let within = self.within(&changed, size);
        changed.octets.truncate(within);
        self.hand(changed)
    }

    /// All but the first `size` octets; if there are fewer, nothing, and `bounds` is reported (docs/semantics.md, F6).
    pub fn skip(&mut self, frame: &Frame, message: Value, size: u64) -> u64 {
        let mut changed = self.message(frame, message).clone();
        let within = self.within(&changed, size);
        changed.octets.drain(..within);
        self.hand(changed)
    }

    /// Splits a message; the second part begins at octet `at`. The first part keeps the headers, both keep the
    /// attributes (docs/semantics.md, F7 and F8). Beyond the end, the second part is empty, and `bounds` is reported.
    pub fn split(&mut self, frame: &mut Frame, message: Value, at: u64, results: &[Value]) {
        let mut first = self.message(frame, message).clone();
        let within = self.within(&first, at);
        let octets = first.octets.split_off(within);
        let rest = Message { headers: Vec::new(), octets, ..first.clone() };
        let parts = [self.hand(first), self.hand(rest)];
        for (result, part) in results.iter().zip(parts) {
            frame.registers[result.index()] = part;
        }
    }

    /// Limits a size to the message's; a larger one is reported.
    fn within(&mut self, message: &Message, size: u64) -> usize {
        let whole = message.octets.len() as u64;
        self.report_if(size > whole, Report::Bounds);
        size.min(whole) as usize
    }

    /// The octets of both messages, with headers and attributes of the first (docs/semantics.md, F7 and F8). Octets
    /// beyond the longest message are cut off, and `bounds` is reported (F11).
    pub fn join(&mut self, frame: &Frame, first: Value, second: Value) -> u64 {
        let mut joined = self.message(frame, first).clone();
        let more = &self.message(frame, second).octets;
        let fits = (LONGEST_MESSAGE as usize).saturating_sub(joined.octets.len()).min(more.len());
        joined.octets.extend_from_slice(&more[..fits]);
        let beyond = fits < more.len();
        self.report_if(beyond, Report::Bounds);
        self.hand(joined)
    }

    /// The packet as the wire met it, as a new message. It is empty if the message met no wire, or if no operation of
    /// the program asks for it, since then packets are not remembered (docs/semantics.md, F9).
    pub fn received(&mut self, frame: &Frame, message: Value, wire: WireId) -> u64 {
        let met = self.message(frame, message).met.iter().find(|(known, _)| *known == wire);
        let packet = met.map(|(_, packet)| packet.clone());
        self.hand(Message::new(&self.program.automaton, packet.unwrap_or_default()))
    }

    /// A new message with the same content that the wire has met.
    pub fn meet(&mut self, frame: &Frame, message: Value, wire: WireId) -> u64 {
        let mut changed = self.message(frame, message).clone();
        if self.program.remembers {
            changed.met.retain(|(known, _)| *known != wire);
            changed.met.push((wire, changed.octets.clone()));
        }
        self.hand(changed)
    }

    /// A new message with the attribute; octets and headers are those of the old one.
    pub fn set_attribute(&mut self, frame: &Frame, message: Value, attribute: AttributeId, value: u64) -> u64 {
        let mut changed = self.message(frame, message).clone();
        if let Some(place) = changed.attributes.get_mut(attribute.index()) {
            *place = value;
        }
        self.hand(changed)
    }
}
