//! A message from below: checked or decoded, its own header taken off, and handled by its variant.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::{to, Pass, Writer};
use crate::lowering::{HeaderField, KeyPart, Lowering, PlacedField};

impl<'p> Lowering<'p> {
    /// Whether a layer above of the same wire looks at octets.
    fn is_under_barrier(&self, inst: usize) -> bool {
        let Some(group) = self.inst(inst).group else { return false };
        let columns = self.plan.columns(group);
        let Some(column) = columns.iter().find(|column| column.contains(&inst)) else { return false };
        let above = column.iter().take_while(|at| **at != inst);
        above.into_iter().any(|at| self.layer(*at).is_some_and(|layer| layer.barrier))
    }

    /// A multiplexor's flow: what came from below, with our end as the destination of the packet.
    pub fn flow_from(
        &self,
        inst: usize,
        bottom: &[r::Value],
        fields: &[HeaderField],
        values: &[r::Value],
    ) -> Vec<r::Value> {
        let (mut own_local, mut own_remote) = (0, 0);
        let mut rest = bottom.iter();
        let keyed = |part: KeyPart, at: usize| {
            fields.iter().zip(values).find(|(field, _)| field.key == Some((part, at))).map(|(_, value)| *value)
        };
        let mut flow = Vec::new();
        for component in &self.inst(inst).top {
            let value = match (component.owner == inst, component.is_remote()) {
                (false, _) => rest.next().copied(),
                (true, false) => {
                    own_local += 1;
                    keyed(KeyPart::Destination, own_local - 1).or_else(|| keyed(KeyPart::Both, own_local - 1))
                }
                (true, true) => {
                    own_remote += 1;
                    keyed(KeyPart::Source, own_remote - 1)
                }
            };
            flow.extend(value);
        }
        flow
    }

    fn deliver_handler(&self, inst: usize, variant: u32) -> Option<&'p s::Handler> {
        let exact = |event: &s::Event| matches!(event, s::Event::Deliver { variant: Some(of), .. } if *of == variant);
        let any = |event: &s::Event| matches!(event, s::Event::Deliver { variant: None, .. });
        self.handler_where(inst, exact).or_else(|| self.handler_where(inst, any))
    }
}

impl<'p> Writer<'_, 'p> {
    // -- up

    /// A message from below: checked or decoded, its own header taken off, and handled by its variant.
    pub fn receive(&mut self, message: r::Value, bottom: Vec<r::Value>) {
        let info = self.info();
        let mut message = message;
        let wires = [(info.vets, true), (info.codes_below, false)];
        for (wire, vets) in wires {
            let Some(wire) = wire else { continue };
            message = self.checked(message, wire, vets);
        }
        self.take_header(message, bottom);
    }

    /// Decodes, or vets; what is refused is dropped for the wire's reason, and that is the end.
    pub fn checked(&mut self, message: r::Value, wire: r::WireId, vets: bool) -> r::Value {
        let label = if vets { "vetted" } else { "decoded" };
        let good = self.b.block(label, &[("msg".into(), r::Type::Msg)]);
        let bad = self.b.block("refused", &[("msg".into(), r::Type::Msg), ("why".into(), r::Type::Reason)]);
        self.end(match vets {
            true => r::Terminator::Try { op: r::Fallible::Vet { message, wire }, then: to(good), otherwise: to(bad) },
            false => {
                r::Terminator::Try { op: r::Fallible::Decode { message, wire }, then: to(good), otherwise: to(bad) }
            }
        });
        let (refused, why) = (self.b.params(bad)[0], self.b.params(bad)[1]);
        self.select(bad);
        self.op(r::OpKind::DropFor { message: refused, reason: why });
        self.end(r::Terminator::Return);
        self.select(good);
        self.b.params(good)[0]
    }

    fn take_header(&mut self, message: r::Value, bottom: Vec<r::Value>) {
        let info = self.info();
        let Some(header) = info.header else { return self.delivered(message, 0, &[], Vec::new(), bottom) };
        if let Some(places) = &info.placed {
            let mut values = Vec::new();
            let mut message = message;
            for (place, field) in places.iter().zip(&info.fields[0]) {
                values.push(match place {
                    Some(place) => self.load_placed(message, *place, field.ty),
                    None => self.constant(field.ty, 0),
                });
            }
            if self.is_under_barrier(self.inst) {
                // A header that is taken off is not there: barriers above see the octets that they saw on the way down.
                for place in places.iter().flatten() {
                    let at = self.constant(r::Type::U(32), u64::from(place.octet));
                    let value = self.constant(r::Type::U(place.width), 0);
                    message = self.value(r::OpKind::Store { field: place.field(), message, at, value });
                }
            }
            return self.delivered(message, 0, &info.fields[0], values, bottom);
        }
        if let [fields] = info.fields.as_slice() {
            let results = self.op(r::OpKind::Pop { message, header, variant: r::VariantId(0) });
            for (value, field) in results[1..].iter().zip(fields) {
                self.b.set_name(*value, field.name.clone());
            }
            let mut message = results[0];
            for (value, field) in results[1..].iter().zip(fields) {
                if let Some(attribute) = field.kept {
                    message = self.value(r::OpKind::SetAttribute { message, attribute, value: *value });
                }
            }
            return self.delivered(message, 0, fields, results[1..].to_vec(), bottom);
        }
        let mut cases = Vec::new();
        let mut blocks = Vec::new();
        for (at, fields) in info.fields.iter().enumerate() {
            let mut params = vec![("msg".to_owned(), r::Type::Msg)];
            params.extend(fields.iter().map(|field| (field.name.clone(), field.ty)));
            let block = self.b.block(self.a.headers[header.index()].variants[at].name.to_lowercase(), &params);
            cases.push((r::VariantId::from(at), to(block)));
            blocks.push(block);
        }
        self.end(r::Terminator::Match { message, header, cases });
        let place = self.place.clone();
        for (at, block) in blocks.into_iter().enumerate() {
            self.select(block);
            self.place = place.clone();
            self.locals = Vec::new();
            let values = self.b.params(block).to_vec();
            self.delivered(values[0], at as u32, &info.fields[at], values[1..].to_vec(), bottom.clone());
            self.end(r::Terminator::Return);
        }
    }

    pub fn load_placed(&mut self, message: r::Value, place: PlacedField, ty: r::Type) -> r::Value {
        let at = self.constant(r::Type::U(32), u64::from(place.octet));
        let raw = r::Type::U(place.width);
        let mut value = self.value(r::OpKind::Load { field: place.field(), message, at });
        if place.plus != 0 {
            let plus = self.constant(raw, place.plus);
            value = self.value(r::OpKind::Binary { op: r::Binary::SubWrap, a: value, b: plus });
        }
        if place.times != 1 {
            let times = self.constant(raw, place.times);
            value = self.value(r::OpKind::Binary { op: r::Binary::Div, a: value, b: times });
        }
        self.cast(value, ty)
    }

    /// A message with its own header off: `values` are the header's fields.
    fn delivered(
        &mut self,
        message: r::Value,
        variant: u32,
        fields: &[HeaderField],
        values: Vec<r::Value>,
        bottom: Vec<r::Value>,
    ) {
        let inst = self.inst;
        let shape = self.inst(inst).shape();
        match shape {
            Some(s::Shape::Worker) if self.place.session.is_none() => self.place.flow = Some(bottom.clone()),
            Some(s::Shape::Multiplexor) => self.place.flow = Some(self.flow_from(inst, &bottom, fields, &values)),
            Some(s::Shape::Router) if self.inst(inst).chooses() => {
                self.place.flow = Some(bottom.get(1..).unwrap_or_default().to_vec());
            }
            _ => {}
        }
        self.place.bottom = Some(bottom.clone());
        let Some(handler) = self.deliver_handler(inst, variant).filter(|handler| self.fits(handler)) else {
            return self.deliver_plainly(message, variant);
        };
        let s::Event::Deliver { message: local, fields: named, flow, .. } = &handler.event else { return };
        let mut given = Vec::new();
        for (field, local) in named {
            let own = fields.iter().zip(&values).filter(|(known, _)| known.own == Some(*field));
            let mut scalars: Vec<r::Value> = own.map(|(_, value)| *value).collect();
            if scalars.is_empty() {
                // A multiplexor's key stands in its header without being a field of its own record.
                scalars.extend(values.get(*field as usize));
            }
            given.push((*local, scalars));
        }
        if let Some(local) = flow {
            let above = handler.locals[local.index()].ty == s::Type::Flow(s::Side::Above);
            let own = above && shape != Some(s::Shape::Endpoint) || shape == Some(s::Shape::Worker);
            let flow = if own { self.flow_at_hand() } else { bottom };
            given.push((*local, flow));
        }
        match local {
            Some(local) => {
                self.place.pass = Pass::Deliver(*local);
                given.push((*local, vec![message]));
            }
            None => {
                let name = self
                    .layer(inst)
                    .and_then(|layer| layer.header.as_ref())
                    .map(|header| header.variants[variant as usize].name.text.clone());
                let reason = self.reason(&name.unwrap_or_else(|| "Header".into()));
                self.op(r::OpKind::Consume { message, reason });
            }
        }
        self.run(handler, given);
    }

    /// What a layer that has no handler for it does with a message from below.
    fn deliver_plainly(&mut self, message: r::Value, variant: u32) {
        let layer = self.layer(self.inst);
        let header = layer.and_then(|layer| layer.header.as_ref());
        let known = header.and_then(|header| header.variants.get(variant as usize));
        let one_of_many = header.is_some_and(|header| header.variants.len() > 1);
        let alone = known.is_some_and(|variant| !variant.with_message) && one_of_many;
        let ends = matches!(self.inst(self.inst).shape(), Some(s::Shape::Endpoint | s::Shape::Router))
            && !self.inst(self.inst).chooses();
        if one_of_many || alone || ends {
            return self.drop(message, "unexpected");
        }
        self.deliver_up(message, None);
    }
}
