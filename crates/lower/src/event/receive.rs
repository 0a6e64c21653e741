//! A message from below: validated or decoded, its own header popped, and handled by variant.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Exits, Flow, Pass, Writer};
use crate::stack::{HeaderField, Lowering, PlacedField};

/// A message after its own header was popped.
struct Received<'x> {
    message: r::Value,
    variant: usize,
    /// The header's fields, and their values.
    fields: &'x [HeaderField],
    values: &'x [r::Value],
}

impl<'p> Lowering<'p> {
    /// Whether a layer above in the same wire reads octets.
    fn is_under_barrier(&self, inst: usize) -> bool {
        let Some(group) = self.inst(inst).group else { return false };
        let columns = self.plan.columns(group);
        let Some(column) = columns.iter().find(|column| column.contains(&inst)) else { return false };
        let mut above = column.iter().take_while(|at| **at != inst);
        above.any(|at| self.layer(*at).is_some_and(|layer| layer.barrier))
    }

    fn deliver_handler(&self, inst: usize, variant: usize) -> Option<&'p s::Handler> {
        let exact =
            |event: &s::Event| matches!(event, s::Event::Deliver { variant: Some(of), .. } if *of as usize == variant);
        let any = |event: &s::Event| matches!(event, s::Event::Deliver { variant: None, .. });
        self.handler_where(inst, exact).or_else(|| self.handler_where(inst, any))
    }

    fn arrives_handler(&self, inst: usize, variant: usize) -> Option<&'p s::Handler> {
        let exact =
            |event: &s::Event| matches!(event, s::Event::Arrives { variant: Some(of), .. } if *of as usize == variant);
        let any = |event: &s::Event| matches!(event, s::Event::Arrives { variant: None, .. });
        self.handler_where(inst, exact).or_else(|| self.handler_where(inst, any))
    }

    /// The layer's own variant of its header.
    fn variant(&self, inst: usize, variant: usize) -> Option<&'p s::Variant> {
        self.layer(inst)?.header.as_ref()?.variants.get(variant)
    }
}

impl<'p> Writer<'_, 'p> {
    /// Receives a message; a rejected one is dropped for the wire's reason.
    pub fn receive(&mut self, message: r::Value, bottom: &Flow) {
        let (info, mut exits) = (self.info(), Exits::default());
        let mut message = message;
        if let Some(wire) = info.coding.validated {
            message = self.read(&mut exits, r::Fallible::Validate { message, wire });
        }
        if let Some(wire) = info.coding.below {
            message = self.read(&mut exits, r::Fallible::Decode { message, wire });
        }
        self.take_header(message, bottom);
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    fn take_header(&mut self, message: r::Value, bottom: &Flow) {
        let info = self.info();
        let Some(header) = info.header else {
            return self.delivered(Received { message, variant: 0, fields: &[], values: &[] }, bottom);
        };
        if let Some(places) = &info.coding.placed {
            let (message, values) = self.take_placed(message, places, &info.fields[0]);
            return self.delivered(Received { message, variant: 0, fields: &info.fields[0], values: &values }, bottom);
        }
        if let [fields] = info.fields.as_slice() {
            let (message, values) = self.pop(message, header, fields);
            return self.delivered(Received { message, variant: 0, fields, values: &values }, bottom);
        }
        self.variants(message, header, |w, variant, given| {
            let (message, values) = (given[0], &given[1..]);
            w.delivered(Received { message, variant, fields: &info.fields[variant], values }, bottom);
        });
    }

    /// Reads the fields of a header whose octets stay in the packet.
    fn take_placed(
        &mut self,
        message: r::Value,
        places: &[Option<PlacedField>],
        fields: &[HeaderField],
    ) -> (r::Value, Vec<r::Value>) {
        let (mut message, mut values) = (message, Vec::new());
        for (place, field) in places.iter().zip(fields) {
            values.push(match place {
                Some(place) => self.load_placed(message, *place, field.ty),
                None => self.constant(field.ty, 0),
            });
        }
        if self.is_under_barrier(self.inst) {
            // A popped header must not be visible: barriers above see the octets that they saw on the way down.
            for place in places.iter().flatten() {
                let at = self.constant(r::Type::U(32), u64::from(place.octet));
                let value = self.constant(r::Type::U(place.width), 0);
                message = self.value(r::OpKind::Store { field: place.field(), message, at, value });
            }
        }
        (message, values)
    }

    fn pop(&mut self, message: r::Value, header: r::HeaderId, fields: &[HeaderField]) -> (r::Value, Vec<r::Value>) {
        let results = self.op(r::OpKind::Pop { message, header, variant: r::VariantId(0) });
        let (mut message, values) = (results[0], results[1..].to_vec());
        for (value, field) in values.iter().zip(fields) {
            self.b.set_name(*value, field.name.clone());
        }
        for (value, field) in values.iter().zip(fields) {
            if let Some(attribute) = field.kept {
                message = self.value(r::OpKind::SetAttribute { message, attribute, value: *value });
            }
        }
        (message, values)
    }

    fn delivered(&mut self, received: Received, bottom: &Flow) {
        let at = self.inst(self.inst);
        match at.shape() {
            Some(s::Shape::Worker) if self.runs.session.is_none() => self.runs.flow = Some(bottom.clone()),
            Some(s::Shape::Multiplexor) => {
                self.runs.flow = Some(self.flow_from(bottom, received.fields, received.values).into());
            }
            _ if at.chooses() => self.runs.flow = Some(bottom.get(1..).unwrap_or_default().into()),
            Some(s::Shape::Worker | s::Shape::Router | s::Shape::Endpoint) | None => {}
        }
        self.runs.bottom = Some(bottom.clone());
        if self.runs.session.is_none() && self.layer(self.inst).is_some_and(s::Layer::awaits) {
            return self.arrived(received, bottom);
        }
        let handler = self.deliver_handler(self.inst, received.variant);
        let fits = handler.is_some_and(|handler| self.fits(handler));
        if let Some(handler) = handler.filter(|_| !fits && at.shape() == Some(s::Shape::Multiplexor)) {
            let text = "this would run for a session, and a multiplexor finds the session behind it";
            let help = "put a worker above the multiplexor, whose `on deliver` runs for each session; or leave the scope `session` out";
            self.error("M0725", text, Some(handler.span), help);
        }
        match handler.filter(|_| fits) {
            Some(handler) => self.run_deliver(handler, received, bottom),
            None => self.deliver_plainly(received.message),
        }
    }

    /// A message without a session.
    fn arrived(&mut self, received: Received, bottom: &Flow) {
        match self.arrives_handler(self.inst, received.variant) {
            Some(handler) => {
                self.runs.arrived = Some((received.variant, received.values.into()));
                self.run_deliver(handler, received, bottom);
                self.runs.arrived = None;
            }
            None => self.drop(received.message, "unexpected"),
        }
    }

    /// `accept(…)`: delivers the arrived message to the current session.
    pub(super) fn deliver_arrived(&mut self, message: r::Value) {
        let Some((variant, values)) = self.runs.arrived.take() else { return };
        let info = self.info();
        let fields = info.fields.get(variant).map_or(&[][..], |fields| fields);
        let received = Received { message, variant, fields, values: &values };
        let bottom = self.bottom_at_hand();
        let handler = self.deliver_handler(self.inst, variant).filter(|handler| self.fits(handler));
        match handler {
            Some(handler) => self.run_deliver(handler, received, &bottom),
            None => self.deliver_plainly(message),
        }
        self.runs.arrived = Some((variant, values));
    }

    fn run_deliver(&mut self, handler: &'p s::Handler, received: Received, bottom: &Flow) {
        let (s::Event::Deliver { message: local, fields: named, flow, .. }
        | s::Event::Arrives { message: local, fields: named, flow, .. }) = &handler.event
        else {
            return;
        };
        let Received { message, variant, fields, values } = received;
        // The head of this alternative's handler.
        let (around, place) = (self.b.pause(), self.place(handler.span));
        let handlers = self.layer(self.inst).map_or(&[][..], |layer| &layer.handlers);
        let of_several = handlers.iter().filter(|other| matches!(other.event, s::Event::Deliver { .. })).count() > 1;
        match of_several {
            true => self.statement_begins(place),
            false => self.source(place),
        }
        let mut given = Vec::new();
        for (field, local) in named {
            let own = fields.iter().zip(values).filter(|(known, _)| known.own == Some(*field));
            let mut scalars: Vec<r::Value> = own.map(|(_, value)| *value).collect();
            if scalars.is_empty() {
                // A multiplexor's key is in its header, but is not a field of its own record.
                scalars.extend(values.get(*field as usize));
            }
            given.push((*local, self.gather(handler.locals[local.index()].ty, scalars)));
        }
        if let Some(local) = flow {
            given.push((*local, self.flow_named(handler, *local, |_| bottom.clone())));
        }
        match local {
            Some(local) => {
                self.runs.pass = Pass::Deliver(*local);
                given.push((*local, vec![message]));
            }
            None => {
                let name = self.variant(self.inst, variant).map_or("Header", |variant| &variant.name.text);
                let reason = self.reason(name);
                self.op(r::OpKind::Consume { message, reason });
            }
        }
        self.run(handler, given);
        self.b.resume(around);
    }

    /// The default for a message from below that the layer does not handle.
    fn deliver_plainly(&mut self, message: r::Value) {
        let at = self.inst(self.inst);
        let header = self.layer(self.inst).and_then(|layer| layer.header.as_ref());
        let one_of_many = header.is_some_and(|header| header.variants.len() > 1);
        let is_edge = matches!(at.shape(), Some(s::Shape::Endpoint | s::Shape::Router)) && !at.chooses();
        match one_of_many || is_edge {
            true => self.drop(message, "unexpected"),
            false => self.deliver_up(message, None),
        }
    }
}
