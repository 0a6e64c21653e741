//! Failures that a quote tells of: from the flow that a layer names, up to the session that the quoted packet was of.
//!
//! A quote is the beginning of a packet that this side sent, as an error of the network brings it back. Invariant: where a
//! layer is told of it, the quote begins with the wire of that layer's bundle; a multiplexor reads its key there, by the
//! places of the fields, for a packet that is cut off has no other decoder (docs/language.md, section 6).

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{Exit, Frame, Pass};
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
    // -- flow traffic

    /// `above.failed(reason, quote) from flow(…)`: to the layer above, or to the sessions of a multiplexor.
    pub fn failed_up(&mut self, f: &mut Frame<'p>, why: r::Value, quote: r::Value, flow: Vec<r::Value>) {
        if self.inst(f.inst).is_multiplexor() {
            return self.failed_session(f, why, quote, flow);
        }
        match self.plan.flow_users(f.inst).first().copied() {
            Some(user) => self.tell_failed(f, user, why, quote, flow),
            None => self.drop(f, quote, "unmatched"),
        }
    }

    fn tell_failed(&mut self, f: &mut Frame<'p>, user: usize, why: r::Value, quote: r::Value, flow: Vec<r::Value>) {
        let flow = self.as_user_sees(user, &flow);
        let flow = self.from_way(f, user, flow);
        let components = self.inst(user).bottom.clone();
        let head = vec![("why".to_owned(), r::Type::Reason), ("quote".to_owned(), r::Type::Msg)];
        let params = [head, self.flow_params(&components)].concat();
        self.event(user, On::Entity, FLOW_EVENT, params, What::FailedFlow);
        let class = self.infos[user].entity();
        self.without_header(f, user, quote, |this, f, quote| {
            let target = f.value(&this.a, r::OpKind::Unique { class });
            let args = [vec![why, quote], flow.clone()].concat();
            f.op(&this.a, r::OpKind::Emit { target, event: FLOW_EVENT.into(), args });
        });
    }

    /// The handler of the event on an entity.
    pub fn make_failed_flow(&mut self, f: &mut Frame<'p>) {
        let params = f.params();
        let (why, quote, flow) = (params[1], params[2], params[3..].to_vec());
        f.place.bottom = Some(flow.clone());
        match self.inst(f.inst).shape() {
            Some(s::Shape::Multiplexor) => self.failed_at_key(f, why, quote, flow),
            Some(s::Shape::Worker) => {
                f.place.flow = Some(flow);
                self.run_failed(f, why, quote);
            }
            Some(s::Shape::Router) if self.inst(f.inst).chooses() => {
                f.place.flow = Some(flow.get(1..).unwrap_or_default().to_vec());
                self.run_failed(f, why, quote);
            }
            _ => self.run_failed(f, why, quote),
        }
    }

    /// The layer's own handler, or on to those above.
    fn run_failed(&mut self, f: &mut Frame<'p>, why: r::Value, quote: r::Value) {
        let handler = self.handler_where(f.inst, |event| matches!(event, s::Event::FailedQuoting { .. }));
        let Some(handler) = handler.filter(|handler| self.fits(f, handler)) else {
            return self.pass_failed(f, why, quote);
        };
        let s::Event::FailedQuoting { reason, message } = &handler.event else { return };
        f.place.pass = Pass::FailedQuoting(why, *message);
        self.run(f, handler, vec![(*reason, vec![why]), (*message, vec![quote])]);
    }

    pub fn pass_failed(&mut self, f: &mut Frame<'p>, why: r::Value, quote: r::Value) {
        let shape = self.inst(f.inst).shape();
        if f.place.session.is_some() && self.inst(f.inst).used.sessions {
            return self.failed_above(f, why, quote);
        }
        match shape {
            Some(s::Shape::Worker) => {
                let flow = self.flow_at_hand(f);
                self.failed_up(f, why, quote, flow);
            }
            Some(s::Shape::Router) if self.inst(f.inst).chooses() => {
                let flow = self.flow_at_hand(f);
                self.failed_up(f, why, quote, flow);
            }
            // Only a router itself knows the addresses of what it sent.
            _ => self.drop(f, quote, "unmatched"),
        }
    }

    // -- multiplexors

    /// The key of a packet that went out is in the quote: its source is ours.
    fn failed_at_key(&mut self, f: &mut Frame<'p>, why: r::Value, quote: r::Value, bottom: Vec<r::Value>) {
        let inst = f.inst;
        let Some(places) = self.quoted_key(inst) else {
            if self.listens_for_quotes(inst) {
                let help = "put the key before every choice and option of the wire, in whole octets";
                let name = self.inst(inst).name.clone();
                let message = format!("the key of `{name}` has no fixed place in a quote");
                self.error("M0743", message, self.inst(inst).span, help);
            }
            return self.drop(f, quote, "unmatched");
        };
        let need = places.iter().map(|(_, place)| place.octet + u32::from(place.width) / 8).max().unwrap_or(0);
        let need = f.constant(&self.a, r::Type::U(32), need.into());
        self.with_octets(f, quote, need, |this, f| {
            let mut fields = Vec::new();
            let mut values = Vec::new();
            for (field, place) in &places {
                values.push(this.load_placed(f, quote, *place, field.ty));
                let own = !this.faulty(Fault::QuoteTurned);
                let key = field.key.map(|(part, at)| (if own { turned(part) } else { part }, at));
                fields.push(HeaderField { key, ..field.clone() });
            }
            let flow = this.flow_from(inst, &bottom, &fields, &values);
            this.failed_session(f, why, quote, flow);
        });
    }

    /// Whether a layer above has something to say to a failure that quotes: the others lose nothing if it finds none of them.
    fn listens_for_quotes(&self, inst: usize) -> bool {
        self.inst(inst).users.iter().any(|user| {
            let own = self.handler_where(*user, |event| matches!(event, s::Event::FailedQuoting { .. }));
            own.is_some() || self.listens_for_quotes(*user)
        })
    }

    /// To the session of the flow, or of the flow at any local address; to the layer that is bound to its key.
    fn failed_session(&mut self, f: &mut Frame<'p>, why: r::Value, quote: r::Value, flow: Vec<r::Value>) {
        let before = f.locals.clone();
        let mut exits: Vec<Exit> = Vec::new();
        f.place.flow = Some(flow.clone());
        if self.infos[f.inst].sessions.is_some() {
            let mut keys = vec![flow.clone()];
            keys.extend(self.at_any_address(f, &flow));
            for key in keys {
                let (found, absent) = self.find_session(f, &key);
                f.select(found.0);
                let outer = f.place.session.replace(found.1);
                self.run_failed(f, why, quote);
                f.place.session = outer;
                exits.extend(f.exit(Vec::new()));
                f.select(absent);
                f.locals = before.clone();
            }
        }
        for user in self.plan.flow_users(f.inst) {
            if !self.plan.is_bound(f.inst, user) {
                continue;
            }
            let Some(equal) = self.equals_bound(f, user, &flow) else {
                self.tell_failed(f, user, why, quote, flow.clone());
                break;
            };
            let (yes, no) = f.branch(equal, None, "bound", "other");
            f.select(yes);
            self.tell_failed(f, user, why, quote, flow.clone());
            exits.extend(f.exit(Vec::new()));
            f.select(no);
            f.locals = before.clone();
        }
        let keyless = self
            .plan
            .flow_users(f.inst)
            .iter()
            .any(|user| self.plan.is_bound(f.inst, *user) && self.inst(*user).bound.is_empty());
        if !keyless {
            self.drop(f, quote, "unmatched");
        }
        exits.extend(f.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[quote])).for_each(|slot| *slot = None);
        }
        f.join("told", exits);
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

    // -- headers of a quote

    /// The quote as a layer above sees it: without the header of the wire below it, if that is another.
    fn without_header(
        &mut self,
        f: &mut Frame<'p>,
        user: usize,
        quote: r::Value,
        then: impl FnOnce(&mut Self, &mut Frame<'p>, r::Value),
    ) {
        let (own, other) = (self.inst(f.inst).group, self.inst(user).group);
        let wire = self.wire_of(f.inst).filter(|_| own != other);
        let Some(wire) = wire else { return then(self, f, quote) };
        let Some(size) = self.header_size(wire) else {
            // How long such a header was is known by decoding it, which a quote is too short for: nothing is left of it.
            let none = f.constant(&self.a, r::Type::U(32), 0);
            let rest = f.value(&self.a, r::OpKind::Trim { message: quote, size: none });
            return then(self, f, rest);
        };
        let fixed = self.fixed_fields(wire, |_, _, _| {}) / 8;
        let least = f.constant(&self.a, r::Type::U(32), u64::from(fixed));
        self.with_octets(f, quote, least, |this, f| {
            let size = this.size_value(f, wire, quote, &size);
            this.with_octets(f, quote, size, |this, f| {
                let rest = f.value(&this.a, r::OpKind::Skip { message: quote, size });
                then(this, f, rest);
            });
        });
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

    fn size_value(&mut self, f: &mut Frame<'p>, wire: r::WireId, quote: r::Value, size: &HeaderSize) -> r::Value {
        let wide = r::Type::U(32);
        match size {
            HeaderSize::Fixed(octets) => f.constant(&self.a, wide, u64::from(*octets)),
            HeaderSize::Counted(place, each) => {
                let count = self.load_bits(f, quote, place);
                let each = f.constant(&self.a, wide, *each);
                f.value(&self.a, r::OpKind::Binary { op: r::Binary::MulWrap, a: count, b: each })
            }
            HeaderSize::Reach(expression) => self.quoted_number(f, wire, quote, expression),
        }
    }

    /// An expression of a wire over the fields of its fixed part.
    fn quoted_number(
        &mut self,
        f: &mut Frame<'p>,
        wire: r::WireId,
        quote: r::Value,
        expression: &r::WireExpression,
    ) -> r::Value {
        use r::WireExpression as E;
        let wide = r::Type::U(32);
        let (op, a, b) = match expression {
            E::Number(value) => return f.constant(&self.a, wide, *value),
            E::Field(index) => {
                let mut place = None;
                self.fixed_fields(wire, |field, bits, endian| {
                    if field.index == *index {
                        place = Some(Place { bits, width: field.width, endian });
                    }
                });
                return match place {
                    Some(place) => self.load_bits(f, quote, &place),
                    None => f.constant(&self.a, wide, 0),
                };
            }
            E::Add(a, b) => (r::Binary::AddWrap, a, b),
            E::Sub(a, b) => (r::Binary::SubWrap, a, b),
            E::Mul(a, b) => (r::Binary::MulWrap, a, b),
            _ => return f.constant(&self.a, wide, 0),
        };
        let a = self.quoted_number(f, wire, quote, a);
        let b = self.quoted_number(f, wire, quote, b);
        f.value(&self.a, r::OpKind::Binary { op, a, b })
    }

    /// A field of whole octets, or of bits within one, as a `u32`.
    fn load_bits(&mut self, f: &mut Frame<'p>, quote: r::Value, place: &Place) -> r::Value {
        let wide = r::Type::U(32);
        let at = f.constant(&self.a, wide, u64::from(place.bits / 8));
        let whole = place.bits % 8 == 0 && place.width % 8 == 0;
        let field = r::OctetField { width: if whole { place.width } else { 8 }, endian: place.endian };
        let value = f.value(&self.a, r::OpKind::Load { field, message: quote, at });
        let value = self.cast(f, value, wide);
        if whole {
            return value;
        }
        let behind = 8u32.saturating_sub(place.bits % 8 + u32::from(place.width));
        let shift = f.constant(&self.a, wide, u64::from(behind));
        let mask = f.constant(&self.a, wide, (1u64 << place.width.min(8)) - 1);
        let low = f.value(&self.a, r::OpKind::Binary { op: r::Binary::Shr, a: value, b: shift });
        f.value(&self.a, r::OpKind::Binary { op: r::Binary::And, a: low, b: mask })
    }

    /// Runs `then` if the quote has so many octets; one that is shorter is dropped.
    fn with_octets(
        &mut self,
        f: &mut Frame<'p>,
        quote: r::Value,
        need: r::Value,
        then: impl FnOnce(&mut Self, &mut Frame<'p>),
    ) {
        let size = f.value(&self.a, r::OpKind::Size { message: quote });
        let enough = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ge, a: size, b: need });
        let (yes, no) = f.branch(enough, None, "enough", "short");
        let before = f.locals.clone();
        f.select(no);
        self.drop(f, quote, "quote_short");
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(yes);
        f.locals = before;
        then(self, f);
        exits.extend(f.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[quote])).for_each(|slot| *slot = None);
        }
        f.join("after", exits);
    }

    // -- sessions

    /// The session above is told; whether it ends is for those above to say.
    fn failed_above(&mut self, f: &mut Frame<'p>, why: r::Value, quote: r::Value) {
        // The sessions of one layer have users of one kind, or the multiplexor knows whose each is.
        let Some(user) = self.plan.session_users(f.inst).first().copied() else {
            return self.drop(f, quote, "unmatched");
        };
        self.without_header(f, user, quote, |this, f, quote| {
            this.event_up(f, SESSION_EVENT, What::FailedQuoting, vec![why, quote]);
        });
    }

    /// The event on a session, or on the object of a lower session.
    pub fn make_failed_quoting(&mut self, f: &mut Frame<'p>, on: On) {
        let params = f.params();
        let (why, quote) = (params[1], params[2]);
        f.place.unsure_up = true;
        f.place.unsure_down = true;
        if on == On::Lower {
            let bottom = self.lower_flow(f, params[0]);
            return self.failed_at_key(f, why, quote, bottom);
        }
        let own = self.handler_where(f.inst, |event| matches!(event, s::Event::FailedQuoting { .. }));
        let endpoint = self.inst(f.inst).shape() == Some(s::Shape::Endpoint);
        if own.is_none() && endpoint {
            return self.end_told(f, quote);
        }
        self.run_failed(f, why, quote);
    }

    /// Nobody above says otherwise: the session ends.
    pub fn end_told(&mut self, f: &mut Frame<'p>, quote: r::Value) {
        self.drop(f, quote, "failed");
        let Some(session) = f.place.session else { return };
        self.event_down(f, "abort", What::Abort, Vec::new());
        if f.live() {
            self.release_session(f, session);
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
