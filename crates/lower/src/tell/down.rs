//! Messages on the way down: the header, the coding point, and the receiver.
//!
//! Invariant: a message passes the coding point of a group exactly once each way, in the layer that `Coding` names.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Flow, Writer};
use crate::fault::Fault;
use crate::plan::Part;
use crate::stack::{KeyPart, PlacedField, Purpose};

/// A header to push: the variant, and its fields as the layer gives them.
pub type Fields = Option<(u32, Vec<Vec<r::Value>>)>;

impl<'p> Writer<'_, 'p> {
    /// Pushes the own header, encodes below it at the coding point, and passes the message to the layer below.
    pub fn send_down(&mut self, message: r::Value, fields: Fields, to: Option<(s::Type, Vec<r::Value>)>) {
        let at = self.inst(self.inst);
        let top = to.as_ref().filter(|(ty, _)| *ty == s::Type::Flow(s::Side::Above)).map(|(_, flow)| flow.as_slice());
        self.has_its_headers(message);
        let mut message = self.push_header(message, fields, top);
        if let Some(wire) = self.info().coding.below {
            message = self.value(r::OpKind::Encode { message, wire });
        }
        if at.uses.sessions && (self.runs.session.is_some() || self.runs.lower.is_some()) {
            if self.runs.opening && !self.begun {
                let text = "this is sent before the session below is open, and reaches nobody";
                self.error_here("M0765", text, "say `pass` or `below.open(…)` in front of it");
            }
            return self.event_down("send", Purpose::Send, vec![message]);
        }
        if !at.uses.flow {
            return self.no_session();
        }
        let bottom = match (top, &to) {
            (Some(top), _) => self.bottom_of(top).into(),
            (None, Some((_, flow))) => flow.as_slice().into(),
            (None, None) => {
                self.says_to_whom();
                self.bottom_at_hand()
            }
        };
        self.send_flow(message, &bottom);
    }

    /// Reports a send without a flow in a layer with addresses or keys, if there is no current flow of the layer below.
    fn says_to_whom(&mut self) {
        if !self.has_no_flow() {
            return;
        }
        let at = self.inst(self.inst);
        let remote = at.bottom.iter().filter(|part| part.is_remote()).map(|part| format!("remote.{}: …", part.name));
        let both = at.bottom.iter().filter(|part| part.side == Part::Both).map(|part| format!("{}: …", part.name));
        let parts: Vec<String> = remote.chain(both).collect();
        let help = format!(
            "write `below.send(msg) to flow({})`; `to flow()` is one of which nothing is said",
            parts.join(", ")
        );
        let place = self.at.or(at.span);
        self.error("M0727", "a message goes down, and it is not said to whom: no flow is at hand here", place, &help);
    }

    /// Reports an event of a vocabulary that a layer below would send on to nobody.
    pub fn tells_to_whom(&mut self, name: &str) {
        if self.has_no_flow() {
            let place = self.at.or(self.inst(self.inst).span);
            let text = format!("`{name}` goes down, and it is not said to whom: no flow is at hand here");
            let help = "an event goes along the flow of the message that is handled: say it in `on deliver`; elsewhere send a message, \
                        `below.send(message()) to flow(…)`, with a header that says what the event says";
            self.error("M0727", text, place, help);
        }
    }

    /// Whether this is a layer with flows below, and none of them is the current one.
    fn has_no_flow(&self) -> bool {
        let at = self.inst(self.inst);
        let is_said = self.runs.bottom.is_some() || at.bottom.is_empty() || !at.several.is_empty();
        !is_said && matches!(at.shape(), Some(s::Shape::Endpoint | s::Shape::Router))
    }

    /// Reports a send without a current session.
    fn no_session(&mut self) {
        let text = "a message goes down, but there is no session that it goes to: this runs for the entity";
        let help = match self.inst(self.inst).shape() {
            Some(s::Shape::Endpoint) => "open one: `below.open(…)`, and send in a handler of its session",
            _ => "send in a handler of a session: of `send`, `deliver`, `opened`, or of a timer that is declared in `session { … }`",
        };
        let place = self.at.or(self.inst(self.inst).span);
        self.error("M0725", text, place, help);
    }

    /// The values of the header's fields: keys from the flow, the others as given.
    fn push_header(&mut self, message: r::Value, fields: Fields, top: Option<&[r::Value]>) -> r::Value {
        let info = self.info();
        let Some(header) = info.header else { return message };
        let is_refused = fields.is_none() && self.goes_as_the_first();
        let (variant, given) = fields.unwrap_or_else(|| (self.of_what_passes(), Vec::new()));
        let keys = self.key_values(top);
        let mut values = Vec::new();
        let mut taken: Vec<usize> = vec![0; given.len()];
        for field in &info.fields[variant as usize] {
            let value = match (field.key, field.own) {
                (Some((part, place)), _) => keys.get(part, place, self.faulty(Fault::KeysSwapped)),
                (None, Some(own)) => given.get(own as usize).and_then(|scalars| {
                    let place = &mut taken[own as usize];
                    *place += 1;
                    scalars.get(*place - 1).copied()
                }),
                (None, None) => field.kept.map(|attribute| self.value(r::OpKind::GetAttribute { message, attribute })),
            };
            let value = match (value, field.own) {
                (None, Some(own)) if !is_refused => self.zero_of_field(variant, own, field.ty),
                (value, _) => value.unwrap_or_else(|| self.constant(field.ty, 0)),
            };
            values.push(self.cast(value, field.ty));
        }
        match &info.coding.placed {
            None => {
                let variant = r::VariantId(variant);
                self.value(r::OpKind::Push { message, header, variant, fields: values })
            }
            Some(places) => {
                let placed = places.iter().zip(values).filter_map(|(place, value)| Some(((*place)?, value)));
                placed.fold(message, |message, (place, value)| self.store_placed(message, place, value))
            }
        }
    }

    fn store_placed(&mut self, message: r::Value, place: PlacedField, value: r::Value) -> r::Value {
        let ty = r::Type::U(place.width);
        let mut value = self.cast(value, ty);
        if place.times != 1 {
            let times = self.constant(ty, place.times);
            value = self.binary(r::Binary::Mul, value, times);
        }
        if place.plus != 0 {
            let plus = self.constant(ty, place.plus);
            value = self.binary(r::Binary::Add, value, plus);
        }
        let at = self.constant(r::Type::U(32), u64::from(place.octet));
        self.value(r::OpKind::Store { field: place.field(), message, at, value })
    }

    /// Reads the same field from a message from below.
    pub fn load_placed(&mut self, message: r::Value, place: PlacedField, ty: r::Type) -> r::Value {
        let at = self.constant(r::Type::U(32), u64::from(place.octet));
        let raw = r::Type::U(place.width);
        let mut value = self.value(r::OpKind::Load { field: place.field(), message, at });
        if place.plus != 0 {
            let plus = self.constant(raw, place.plus);
            value = self.binary(r::Binary::SubWrap, value, plus);
        }
        if place.times != 1 {
            let times = self.constant(raw, place.times);
            value = self.binary(r::Binary::Div, value, times);
        }
        self.cast(value, ty)
    }

    /// The multiplexor's own parts of a flow.
    fn key_values(&mut self, top: Option<&[r::Value]>) -> Keys {
        let at = self.inst(self.inst);
        if !at.is_multiplexor() || !at.top.iter().any(|c| c.owner == self.inst) {
            return Keys::default();
        }
        let flow: Flow = match top {
            Some(flow) => flow.into(),
            None => self.flow_at_hand(),
        };
        let own = |remote: bool| {
            let mine = at.top.iter().zip(flow.iter()).filter(|(c, _)| c.owner == self.inst && c.is_remote() == remote);
            mine.map(|(_, value)| *value).collect()
        };
        Keys { local: own(false), remote: own(true) }
    }

    /// Sends flow traffic; if a router is over several, to the layer below that the flow names.
    pub fn send_flow(&mut self, message: r::Value, bottom: &[r::Value]) {
        self.for_lower(bottom, |w, lower| match lower {
            Some((below, bottom)) => w.send_flow_to(below, message, bottom),
            None => {
                let which = w.layer(w.inst).and_then(|layer| layer.several.as_ref());
                let reason = format!("no_{}", which.map_or("way", |which| &which.text));
                w.drop(message, &reason);
            }
        });
    }

    fn send_flow_to(&mut self, below: usize, message: r::Value, bottom: &[r::Value]) {
        let flow = self.lift_to(below, bottom, false);
        let msg = vec![("msg".to_owned(), r::Type::Msg)];
        let params = [msg, self.flow_params(&self.inst(below).top)].concat();
        let args = [vec![message], flow].concat();
        self.tell_entity_of(below, ("send", params), Purpose::FlowSend, args);
    }

    /// Runs `each` for the layer below that the first of `bottom` names, with the rest of `bottom`; if there is only
    /// one layer, for that. Runs it with `None` for numbers that name no layer.
    pub fn for_lower(&mut self, bottom: &[r::Value], mut each: impl FnMut(&mut Self, Option<(usize, &[r::Value])>)) {
        let at = self.inst(self.inst);
        if at.several.is_empty() {
            if let Some(below) = at.below {
                each(self, Some((below, bottom)));
            }
            return;
        }
        let Some((which, rest)) = bottom.split_first() else { return };
        self.by_lower((*which, &at.several), |w, lower| {
            each(w, lower.map(|lower| (lower, rest)));
            Vec::new()
        });
    }
}

#[derive(Default)]
struct Keys {
    local: Vec<r::Value>,
    remote: Vec<r::Value>,
}

impl Keys {
    fn get(&self, part: KeyPart, place: usize, swapped: bool) -> Option<r::Value> {
        match if swapped { part.turned() } else { part } {
            KeyPart::Source | KeyPart::Both => self.local.get(place).copied(),
            KeyPart::Destination => self.remote.get(place).copied(),
        }
    }
}
