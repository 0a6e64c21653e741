//! Failures that a quote tells of: from the flow that a layer names, up to the session that the quoted packet was of.
//!
//! A quote is the beginning of a packet that this side sent, as an error of the network brings it back. Invariant: where a
//! layer is told of it, the quote begins with the wire of that layer's bundle; a multiplexor reads its key there, by the
//! places of the fields, for a packet that is cut off has no other decoder (docs/language.md, section 6).

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{Exit, Pass, Writer};
use crate::lowering::{HeaderField, KeyPart, Lowering, On, PlacedField, What};

/// A field in the fixed part of a wire.
struct Place {
    bits: u32,
    width: u8,
    endian: r::Endian,
}

/// How the size of a header is known from its octets.
enum HeaderSize {
    Fixed(u32),
    /// So many octets each.
    Counted(Place, u64),
    /// As the wire says how far it reaches.
    Reach(r::WireExpression),
}

impl<'p> Lowering<'p> {
    /// Whether a layer above has something to say to a failure that quotes: the others lose nothing if it finds none of them.
    fn listens_for_quotes(&self, inst: usize) -> bool {
        self.inst(inst).users.iter().any(|user| {
            let own = self.handler_where(*user, |event| matches!(event, s::Event::FailedQuoting { .. }));
            own.is_some() || self.listens_for_quotes(*user)
        })
    }

    /// Where the fields of a multiplexor's key stand in the wire of its bundle.
    fn quoted_key(&self, inst: usize) -> Option<Vec<(HeaderField, PlacedField)>> {
        let info = &self.infos[inst];
        let fields: Vec<HeaderField> = info.fields.first()?.clone();
        let header = info.header?;
        let wire = self.wire_of(inst);
        let mut all = Vec::new();
        for (at, field) in fields.iter().enumerate().filter(|(_, field)| field.key.is_some()) {
            let placed = info.placed.as_ref().and_then(|places| places.get(at).copied().flatten());
            let place = match placed {
                Some(place) => place,
                None => self.place_in(wire?, header, at as u32)?,
            };
            all.push((field.clone(), place));
        }
        (!all.is_empty()).then_some(all)
    }

    fn place_in(&self, wire: r::WireId, header: r::HeaderId, field: u32) -> Option<PlacedField> {
        let mut found = None;
        self.fixed_fields(wire, |known, bits, endian| {
            let r::FieldValue::Header { header: of, field: at, times, plus, .. } = &known.value else { return };
            let whole = bits % 8 == 0 && matches!(known.width, 8 | 16 | 24 | 32 | 48 | 64);
            if *of == header && *at == field && whole {
                let (times, plus) = (*times, *plus);
                found = Some(PlacedField { octet: bits / 8, width: known.width, endian, times, plus });
            }
        });
        found
    }

    /// The fields of a wire before its first part that may be another or none; the bits of all of them.
    fn fixed_fields(&self, wire: r::WireId, mut each: impl FnMut(&r::WireField, u32, r::Endian)) -> u32 {
        let wire = &self.a.wires[wire.index()];
        let mut bits = 0;
        for item in &wire.items {
            let r::WireItem::Field(field) = item else { break };
            each(field, bits, field.endian);
            bits += u32::from(field.width);
        }
        bits
    }

    /// The wire that carries the headers of an instance's group.
    fn wire_of(&self, inst: usize) -> Option<r::WireId> {
        let members = &self.plan.groups[self.inst(inst).group?].members;
        members.iter().find_map(|at| self.infos[*at].codes_above.or(self.infos[*at].codes_below))
    }

    fn header_size(&self, wire: r::WireId) -> Option<HeaderSize> {
        let mut counted = None;
        let bits = self.fixed_fields(wire, |field, bits, endian| {
            let r::FieldValue::Computed { expression, .. } = &field.value else { return };
            let each = match expression {
                r::WireExpression::HeaderSize => Some(1),
                r::WireExpression::Div(size, by) => match (&**size, &**by) {
                    (r::WireExpression::HeaderSize, r::WireExpression::Number(by)) => Some(*by),
                    _ => None,
                },
                _ => None,
            };
            counted = each.map(|each| (Place { bits, width: field.width, endian }, each)).or(counted.take());
        });
        let items = &self.a.wires[wire.index()].items;
        let reach = items.iter().find_map(|item| match item {
            r::WireItem::Reach(expression) => Some(expression.clone()),
            _ => None,
        });
        let plain = items.iter().all(|item| matches!(item, r::WireItem::Field(_)));
        match (plain, counted, reach) {
            (_, Some((place, each)), _) => Some(HeaderSize::Counted(place, each)),
            (true, ..) => Some(HeaderSize::Fixed(bits / 8)),
            (_, None, Some(expression)) => Some(HeaderSize::Reach(expression)),
            _ => None,
        }
    }
}

impl<'p> Writer<'_, 'p> {
    // -- flow traffic

    /// `above.failed(reason, quote) from flow(…)`: to the layer above, or to the sessions of a multiplexor.
    pub fn failed_up(&mut self, why: r::Value, quote: r::Value, flow: Vec<r::Value>) {
        if self.inst(self.inst).is_multiplexor() {
            return self.failed_session(why, quote, flow);
        }
        match self.plan.flow_users(self.inst).first().copied() {
            Some(user) => self.tell_failed(user, why, quote, flow),
            None => self.drop(quote, "unmatched"),
        }
    }

    fn tell_failed(&mut self, user: usize, why: r::Value, quote: r::Value, flow: Vec<r::Value>) {
        let flow = self.as_user_sees(user, &flow);
        let flow = self.from_way(user, flow);
        let components = self.inst(user).bottom.clone();
        let head = vec![("why".to_owned(), r::Type::Reason), ("quote".to_owned(), r::Type::Msg)];
        let params = [head, self.flow_params(&components)].concat();
        self.event(user, On::Entity, FLOW_EVENT, params, What::FailedFlow);
        let class = self.infos[user].entity();
        self.without_header(user, quote, |this, quote| {
            let target = this.value(r::OpKind::Unique { class });
            let args = [vec![why, quote], flow.clone()].concat();
            this.op(r::OpKind::Emit { target, event: FLOW_EVENT.into(), args });
        });
    }

    /// The handler of the event on an entity.
    pub fn make_failed_flow(&mut self) {
        let params = self.params();
        let (why, quote, flow) = (params[1], params[2], params[3..].to_vec());
        self.place.bottom = Some(flow.clone());
        match self.inst(self.inst).shape() {
            Some(s::Shape::Multiplexor) => self.failed_at_key(why, quote, flow),
            Some(s::Shape::Worker) => {
                self.place.flow = Some(flow);
                self.run_failed(why, quote);
            }
            Some(s::Shape::Router) if self.inst(self.inst).chooses() => {
                self.place.flow = Some(flow.get(1..).unwrap_or_default().to_vec());
                self.run_failed(why, quote);
            }
            _ => self.run_failed(why, quote),
        }
    }

    /// The layer's own handler, or on to those above.
    fn run_failed(&mut self, why: r::Value, quote: r::Value) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::FailedQuoting { .. }));
        let Some(handler) = handler.filter(|handler| self.fits(handler)) else {
            return self.pass_failed(why, quote);
        };
        let s::Event::FailedQuoting { reason, message } = &handler.event else { return };
        self.place.pass = Pass::FailedQuoting(why, *message);
        self.run(handler, vec![(*reason, vec![why]), (*message, vec![quote])]);
    }

    pub fn pass_failed(&mut self, why: r::Value, quote: r::Value) {
        let shape = self.inst(self.inst).shape();
        if self.place.session.is_some() && self.inst(self.inst).used.sessions {
            return self.failed_above(why, quote);
        }
        match shape {
            Some(s::Shape::Worker) => {
                let flow = self.flow_at_hand();
                self.failed_up(why, quote, flow);
            }
            Some(s::Shape::Router) if self.inst(self.inst).chooses() => {
                let flow = self.flow_at_hand();
                self.failed_up(why, quote, flow);
            }
            // Only a router itself knows the addresses of what it sent.
            _ => self.drop(quote, "unmatched"),
        }
    }

    // -- multiplexors

    /// The key of a packet that went out is in the quote: its source is ours.
    fn failed_at_key(&mut self, why: r::Value, quote: r::Value, bottom: Vec<r::Value>) {
        let inst = self.inst;
        let Some(places) = self.quoted_key(inst) else {
            if self.listens_for_quotes(inst) {
                let help = "put the key before every choice and option of the wire, in whole octets";
                let name = self.inst(inst).name.clone();
                let message = format!("the key of `{name}` has no fixed place in a quote");
                self.error_here("M0743", message, help);
            }
            return self.drop(quote, "unmatched");
        };
        let need = places.iter().map(|(_, place)| place.octet + u32::from(place.width) / 8).max().unwrap_or(0);
        let need = self.constant(r::Type::U(32), need.into());
        self.with_octets(quote, need, |this| {
            let mut fields = Vec::new();
            let mut values = Vec::new();
            for (field, place) in &places {
                values.push(this.load_placed(quote, *place, field.ty));
                let own = !this.faulty(Fault::QuoteTurned);
                let key = field.key.map(|(part, at)| (if own { turned(part) } else { part }, at));
                fields.push(HeaderField { key, ..field.clone() });
            }
            let flow = this.flow_from(inst, &bottom, &fields, &values);
            this.failed_session(why, quote, flow);
        });
    }

    /// To the session of the flow, or of the flow at any local address; to the layer that is bound to its key.
    fn failed_session(&mut self, why: r::Value, quote: r::Value, flow: Vec<r::Value>) {
        let before = self.locals.clone();
        let mut exits: Vec<Exit> = Vec::new();
        self.place.flow = Some(flow.clone());
        if self.infos[self.inst].sessions.is_some() {
            let mut keys = vec![flow.clone()];
            keys.extend(self.at_any_address(&flow));
            for key in keys {
                let (found, absent) = self.find_session(&key);
                self.select(found.0);
                let outer = self.place.session.replace(found.1);
                self.run_failed(why, quote);
                self.place.session = outer;
                exits.extend(self.exit(Vec::new()));
                self.select(absent);
                self.locals = before.clone();
            }
        }
        for user in self.plan.flow_users(self.inst) {
            if !self.plan.is_bound(self.inst, user) {
                continue;
            }
            let Some(equal) = self.equals_bound(user, &flow) else {
                self.tell_failed(user, why, quote, flow.clone());
                break;
            };
            let (yes, no) = self.branch(equal, None, "bound", "other");
            self.select(yes);
            self.tell_failed(user, why, quote, flow.clone());
            exits.extend(self.exit(Vec::new()));
            self.select(no);
            self.locals = before.clone();
        }
        let keyless = self
            .plan
            .flow_users(self.inst)
            .iter()
            .any(|user| self.plan.is_bound(self.inst, *user) && self.inst(*user).bound.is_empty());
        if !keyless {
            self.drop(quote, "unmatched");
        }
        exits.extend(self.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[quote])).for_each(|slot| *slot = None);
        }
        self.join("told", exits);
    }

    // -- headers of a quote

    /// The quote as a layer above sees it: without the header of the wire below it, if that is another.
    fn without_header(&mut self, user: usize, quote: r::Value, then: impl FnOnce(&mut Self, r::Value)) {
        let (own, other) = (self.inst(self.inst).group, self.inst(user).group);
        let wire = self.wire_of(self.inst).filter(|_| own != other);
        let Some(wire) = wire else { return then(self, quote) };
        let Some(size) = self.header_size(wire) else {
            // How long such a header was is known by decoding it, which a quote is too short for: nothing is left of it.
            let none = self.constant(r::Type::U(32), 0);
            let rest = self.value(r::OpKind::Trim { message: quote, size: none });
            return then(self, rest);
        };
        let fixed = self.fixed_fields(wire, |_, _, _| {}) / 8;
        let least = self.constant(r::Type::U(32), u64::from(fixed));
        self.with_octets(quote, least, |this| {
            let size = this.size_value(wire, quote, &size);
            this.with_octets(quote, size, |this| {
                let rest = this.value(r::OpKind::Skip { message: quote, size });
                then(this, rest);
            });
        });
    }

    fn size_value(&mut self, wire: r::WireId, quote: r::Value, size: &HeaderSize) -> r::Value {
        let wide = r::Type::U(32);
        match size {
            HeaderSize::Fixed(octets) => self.constant(wide, u64::from(*octets)),
            HeaderSize::Counted(place, each) => {
                let count = self.load_bits(quote, place);
                let each = self.constant(wide, *each);
                self.value(r::OpKind::Binary { op: r::Binary::MulWrap, a: count, b: each })
            }
            HeaderSize::Reach(expression) => self.quoted_number(wire, quote, expression),
        }
    }

    /// An expression of a wire over the fields of its fixed part.
    fn quoted_number(&mut self, wire: r::WireId, quote: r::Value, expression: &r::WireExpression) -> r::Value {
        use r::WireExpression as E;
        let wide = r::Type::U(32);
        let (op, a, b) = match expression {
            E::Number(value) => return self.constant(wide, *value),
            E::Field(index) => {
                let mut place = None;
                self.fixed_fields(wire, |field, bits, endian| {
                    if field.index == *index {
                        place = Some(Place { bits, width: field.width, endian });
                    }
                });
                return match place {
                    Some(place) => self.load_bits(quote, &place),
                    None => self.constant(wide, 0),
                };
            }
            E::Add(a, b) => (r::Binary::AddWrap, a, b),
            E::Sub(a, b) => (r::Binary::SubWrap, a, b),
            E::Mul(a, b) => (r::Binary::MulWrap, a, b),
            _ => return self.constant(wide, 0),
        };
        let a = self.quoted_number(wire, quote, a);
        let b = self.quoted_number(wire, quote, b);
        self.value(r::OpKind::Binary { op, a, b })
    }

    /// A field of whole octets, or of bits within one, as a `u32`.
    fn load_bits(&mut self, quote: r::Value, place: &Place) -> r::Value {
        let wide = r::Type::U(32);
        let at = self.constant(wide, u64::from(place.bits / 8));
        let whole = place.bits % 8 == 0 && place.width % 8 == 0;
        let field = r::OctetField { width: if whole { place.width } else { 8 }, endian: place.endian };
        let value = self.value(r::OpKind::Load { field, message: quote, at });
        let value = self.cast(value, wide);
        if whole {
            return value;
        }
        let behind = 8u32.saturating_sub(place.bits % 8 + u32::from(place.width));
        let shift = self.constant(wide, u64::from(behind));
        let mask = self.constant(wide, (1u64 << place.width.min(8)) - 1);
        let low = self.value(r::OpKind::Binary { op: r::Binary::Shr, a: value, b: shift });
        self.value(r::OpKind::Binary { op: r::Binary::And, a: low, b: mask })
    }

    /// Runs `then` if the quote has so many octets; one that is shorter is dropped.
    fn with_octets(&mut self, quote: r::Value, need: r::Value, then: impl FnOnce(&mut Self)) {
        let size = self.value(r::OpKind::Size { message: quote });
        let enough = self.value(r::OpKind::Compare { op: r::Compare::Ge, a: size, b: need });
        let (yes, no) = self.branch(enough, None, "enough", "short");
        let before = self.locals.clone();
        self.select(no);
        self.drop(quote, "quote_short");
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(yes);
        self.locals = before;
        then(self);
        exits.extend(self.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[quote])).for_each(|slot| *slot = None);
        }
        self.join("after", exits);
    }

    // -- sessions

    /// The session above is told; whether it ends is for those above to say.
    fn failed_above(&mut self, why: r::Value, quote: r::Value) {
        // The sessions of one layer have users of one kind, or the multiplexor knows whose each is.
        let Some(user) = self.plan.session_users(self.inst).first().copied() else {
            return self.drop(quote, "unmatched");
        };
        self.without_header(user, quote, |this, quote| {
            this.event_up(SESSION_EVENT, What::FailedQuoting, vec![why, quote]);
        });
    }

    /// The event on a session, or on the object of a lower session.
    pub fn make_failed_quoting(&mut self, on: On) {
        let params = self.params();
        let (why, quote) = (params[1], params[2]);
        self.place.unsure_up = true;
        self.place.unsure_down = true;
        if on == On::Lower {
            let bottom = self.lower_flow(params[0]);
            return self.failed_at_key(why, quote, bottom);
        }
        let own = self.handler_where(self.inst, |event| matches!(event, s::Event::FailedQuoting { .. }));
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        if own.is_none() && endpoint {
            return self.end_told(quote);
        }
        self.run_failed(why, quote);
    }

    /// Nobody above says otherwise: the session ends.
    pub fn end_told(&mut self, quote: r::Value) {
        self.drop(quote, "failed");
        let Some(session) = self.place.session else { return };
        self.event_down("abort", What::Abort, Vec::new());
        if self.live() {
            self.release_session(session);
        }
    }
}

const FLOW_EVENT: &str = "failed_flow";
const SESSION_EVENT: &str = "failed_quoting";

fn turned(part: KeyPart) -> KeyPart {
    match part {
        KeyPart::Source => KeyPart::Destination,
        KeyPart::Destination => KeyPart::Source,
        KeyPart::Both => KeyPart::Both,
    }
}
