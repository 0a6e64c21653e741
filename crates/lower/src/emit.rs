//! What leaves a layer: messages with their headers, and events between neighbours.
//!
//! Invariant: the coding point of a group is passed exactly once each way, by the layer that [`Info`] names.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Frame, Pass, Register};
use crate::lowering::{KeyPart, Lowering, On, What};

/// A header to be pushed: the variant, and its fields as the layer named them.
pub type Given = Option<(u32, Vec<Vec<r::Value>>)>;

impl<'p> Lowering<'p> {
    pub fn emission(&mut self, f: &mut Frame<'p>, emission: &'p s::Emission, stmt: &'p s::Stmt) {
        use s::Emission as E;
        match emission {
            E::Send { message, fields, to } => {
                let made = message.as_ref().and_then(|message| self.made_first(f, message));
                let fields: Given = fields
                    .as_ref()
                    .map(|fields| (fields.variant, self.as_written(f, &fields.values.iter().collect::<Vec<_>>())));
                let to = to.as_ref().map(|to| (to.ty, self.expr(f, to)));
                let message = match message {
                    Some(message) => made.unwrap_or_else(|| self.one(f, message)),
                    None => f.value(&self.a, r::OpKind::NewMessage { octets: Vec::new() }),
                };
                self.send_down(f, message, fields, to);
            }
            E::Deliver { message, from } => {
                let made = self.made_first(f, message);
                let from = from.as_ref().map(|from| self.expr(f, from));
                let message = made.unwrap_or_else(|| self.one(f, message));
                self.deliver_up(f, message, from);
            }
            E::Open { flow, args } => {
                let values = self.expr(f, flow);
                let outer = f.place.given.clone();
                self.give_by_hand(f, args);
                self.open_by_hand(f, values);
                f.place.given = outer;
            }
            E::Listen { flow } => self.register_by_hand(f, Register::Listen, flow),
            E::Bind { flow } => self.register_by_hand(f, Register::Bind, flow),
            E::Unlisten { flow } => self.register_by_hand(f, Register::Unlisten, flow),
            E::Close => self.event_down(f, "close", What::Close, Vec::new()),
            E::Abort => self.event_down(f, "abort", What::Abort, Vec::new()),
            E::Closed => self.say_closed(f),
            E::Failed { reason } => {
                let reason = self.told_reason(f.inst, &reason.text);
                let reason = f.constant(&self.a, r::Type::Reason, u64::from(reason.0));
                self.fail(f, reason);
            }
            E::FailedAs { reason } => {
                let reason = self.one(f, reason);
                self.fail(f, reason);
            }
            E::FailedFlow { reason, quote, from } => {
                let why = self.one(f, reason);
                let made = self.made_first(f, quote);
                let from = self.expr(f, from);
                let quote = made.unwrap_or_else(|| self.one(f, quote));
                self.failed_up(f, why, quote, from);
            }
            E::Service { service, operation, uses, args } => self.service(f, (*service, *operation), *uses, args, stmt),
            E::Custom { name, down, args } => {
                let args: Vec<r::Value> = args.iter().flat_map(|arg| self.expr(f, arg)).collect();
                self.custom(f, &name.text, *down, args);
            }
        }
    }

    pub fn pass(&mut self, f: &mut Frame<'p>) {
        match f.place.pass.clone() {
            Pass::Nothing => {}
            Pass::Send(local) => {
                let message = f.one(local);
                self.send_down(f, message, None, None);
            }
            Pass::Deliver(local) => {
                let message = f.one(local);
                self.deliver_up(f, message, None);
            }
            Pass::Open => {
                let flow = self.flow_at_hand(f);
                self.open_on(f, flow);
            }
            Pass::Opened => self.say_opened(f),
            Pass::Accepted => self.say_accepted(f),
            Pass::Failed(reason) => self.event_up(f, "failed", What::Failed, vec![reason]),
            Pass::FailedQuoting(why, local) => {
                let quote = f.one(local);
                self.pass_failed(f, why, quote);
            }
            Pass::Close => self.close_on(f, "close", What::Close),
            Pass::Abort => self.close_on(f, "abort", What::Abort),
            Pass::Closed => self.event_up(f, "closed", What::Closed, Vec::new()),
            Pass::Register(registration, pattern) => self.register_on(f, registration, pattern),
            Pass::Custom { name, down, args } => {
                let args = args.iter().flat_map(|local| f.local(*local)).collect();
                self.custom(f, &name, down, args);
            }
        }
    }

    pub fn drop(&mut self, f: &mut Frame<'p>, message: r::Value, reason: &str) {
        let reason = self.reason(f.inst, reason);
        f.op(&self.a, r::OpKind::Drop { message, reason });
    }

    // -- down

    /// Pushes the own header, encodes below it if that is the coding point, and hands it to the layer below.
    pub fn send_down(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        fields: Given,
        to: Option<(s::Type, Vec<r::Value>)>,
    ) {
        let inst = f.inst;
        let top = match &to {
            Some((s::Type::Flow(s::Side::Above), flow)) => Some(flow.clone()),
            _ => None,
        };
        let mut message = self.push_header(f, message, fields, top.as_deref());
        if let Some(wire) = self.infos[inst].codes_below {
            message = f.value(&self.a, r::OpKind::Encode { message, wire });
        }
        if self.inst(inst).uses.sessions && (f.place.session.is_some() || f.place.lower.is_some()) {
            self.tell_lower_session(f, "send", What::Send, vec![message]);
            return;
        }
        if !self.inst(inst).uses.flow {
            self.error(
                "M0725",
                "a message goes down, but there is no session that it goes to",
                self.inst(inst).span,
                "open one",
            );
            return;
        }
        let bottom = match (to, top) {
            (Some(_), Some(top)) => self.bottom_of(inst, &top),
            (Some((_, flow)), None) => flow,
            (None, _) => self.bottom_at_hand(f),
        };
        self.send_flow(f, message, bottom);
    }

    /// The header's fields as values: keys from the flow, the others as given.
    fn push_header(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        fields: Given,
        top: Option<&[r::Value]>,
    ) -> r::Value {
        let info = self.info(f.inst);
        let Some(header) = info.header else { return message };
        let (variant, given) = fields.unwrap_or((0, Vec::new()));
        let keys = self.key_values(f, top);
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
                (None, None) => {
                    field.kept.map(|attribute| f.value(&self.a, r::OpKind::GetAttribute { message, attribute }))
                }
            };
            let value = value.unwrap_or_else(|| f.constant(&self.a, field.ty, 0));
            values.push(self.cast(f, value, field.ty));
        }
        match &info.placed {
            None => {
                let variant = r::VariantId(variant);
                f.value(&self.a, r::OpKind::Push { message, header, variant, fields: values })
            }
            Some(places) => {
                let mut message = message;
                for (place, value) in places.iter().zip(values) {
                    let Some(place) = place else { continue };
                    message = self.store_placed(f, message, *place, value);
                }
                message
            }
        }
    }

    fn store_placed(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        place: crate::lowering::PlacedField,
        value: r::Value,
    ) -> r::Value {
        let ty = r::Type::U(place.width);
        let mut value = self.cast(f, value, ty);
        if place.times != 1 {
            let times = f.constant(&self.a, ty, place.times);
            value = f.value(&self.a, r::OpKind::Binary { op: r::Binary::Mul, a: value, b: times });
        }
        if place.plus != 0 {
            let plus = f.constant(&self.a, ty, place.plus);
            value = f.value(&self.a, r::OpKind::Binary { op: r::Binary::Add, a: value, b: plus });
        }
        let at = f.constant(&self.a, r::Type::U(32), u64::from(place.octet));
        f.value(&self.a, r::OpKind::Store { field: place.field(), message, at, value })
    }

    fn key_values(&mut self, f: &mut Frame<'p>, top: Option<&[r::Value]>) -> Keys {
        let inst = f.inst;
        if !self.inst(inst).is_multiplexor() {
            return Keys::default();
        }
        let components = self.inst(inst).top.clone();
        if !components.iter().any(|c| c.owner == inst) {
            return Keys::default();
        }
        let flow = match top {
            Some(flow) => flow.to_vec(),
            None => self.flow_at_hand(f),
        };
        let own = |remote: bool| {
            let mine = components.iter().enumerate().filter(|(_, c)| c.owner == inst && c.is_remote() == remote);
            mine.filter_map(|(at, _)| flow.get(at).copied()).collect()
        };
        Keys { local: own(false), remote: own(true) }
    }

    /// The flow of the upper side that the code runs for.
    pub fn flow_at_hand(&mut self, f: &mut Frame<'p>) -> Vec<r::Value> {
        if let Some(flow) = &f.place.flow {
            return flow.clone();
        }
        let info = self.info(f.inst);
        let components = self.inst(f.inst).top.clone();
        match f.place.session {
            Some(object) if !info.flow.is_empty() => {
                info.flow.iter().map(|cell| f.value(&self.a, r::OpKind::Get { object, cell: *cell })).collect()
            }
            _ if components.is_empty() => Vec::new(),
            _ => {
                let help = "an event without a flow cannot send: keep the message, or let a session do it";
                self.error("M0727", "there is no flow at hand where this runs", self.inst(f.inst).span, help);
                let types = self.flow_params(&components);
                types.into_iter().map(|(_, ty)| f.constant(&self.a, ty, 0)).collect()
            }
        }
    }

    /// Without the multiplexor's own key.
    pub fn bottom_of(&self, inst: usize, top: &[r::Value]) -> Vec<r::Value> {
        let at = self.inst(inst);
        if !at.is_multiplexor() {
            return top.to_vec();
        }
        top.iter().zip(&at.top).filter(|(_, c)| c.owner != inst).map(|(value, _)| *value).collect()
    }

    pub fn bottom_at_hand(&mut self, f: &mut Frame<'p>) -> Vec<r::Value> {
        match self.inst(f.inst).shape() {
            Some(s::Shape::Worker | s::Shape::Multiplexor) => {
                let inst = f.inst;
                if self.inst(inst).bottom.is_empty() {
                    return Vec::new();
                }
                let top = self.flow_at_hand(f);
                self.bottom_of(inst, &top)
            }
            _ => {
                if let Some(bottom) = &f.place.bottom {
                    return bottom.clone();
                }
                let components = self.inst(f.inst).bottom.clone();
                let types = self.flow_params(&components);
                types.into_iter().map(|(_, ty)| f.constant(&self.a, ty, 0)).collect()
            }
        }
    }

    /// The flow as the layer below has it: what the stack binds is put in.
    pub fn lift(&mut self, f: &mut Frame<'p>, bottom: &[r::Value], local_only: bool) -> Vec<r::Value> {
        match self.inst(f.inst).below {
            Some(below) => self.lift_to(f, below, bottom, local_only),
            None => Vec::new(),
        }
    }

    pub fn lift_to(&mut self, f: &mut Frame<'p>, below: usize, bottom: &[r::Value], local_only: bool) -> Vec<r::Value> {
        let bound = self.inst(f.inst).bound.clone();
        let components = self.inst(below).top.clone();
        let types = self.flow_params(&components);
        let mut rest = bottom.iter();
        let mut flow = Vec::new();
        for (place, component) in components.iter().enumerate() {
            if local_only && component.is_remote() {
                continue;
            }
            let value = match bound.iter().find(|(at, _)| *at == place) {
                Some((_, constant)) if !self.faulty(Fault::BoundKeyLost) => self.bound_value(f, constant),
                Some(_) => f.constant(&self.a, types[place].1, 0),
                None => rest.next().copied().unwrap_or_else(|| f.constant(&self.a, types[place].1, 0)),
            };
            flow.push(self.cast(f, value, types[place].1));
        }
        flow
    }

    pub fn bound_value(&mut self, f: &mut Frame<'p>, constant: &'p s::Expr) -> r::Value {
        let values = self.env_expr(f, constant, &crate::fold::Env::Stack);
        values.first().copied().unwrap_or_else(|| f.constant(&self.a, r::Type::Bool, 0))
    }

    pub fn send_flow(&mut self, f: &mut Frame<'p>, message: r::Value, bottom: Vec<r::Value>) {
        let none = |this: &mut Self, f: &mut Frame<'p>| {
            let reason = this.no_way(f.inst);
            this.drop(f, message, &reason);
        };
        self.for_lower(f, &bottom, |this, f, below, bottom| this.send_flow_to(f, below, message, bottom), none);
    }

    fn send_flow_to(&mut self, f: &mut Frame<'p>, below: usize, message: r::Value, bottom: &[r::Value]) {
        let flow = self.lift_to(f, below, bottom, false);
        let components = self.inst(below).top.clone();
        let params = [vec![("msg".to_owned(), r::Type::Msg)], self.flow_params(&components)].concat();
        self.event(below, On::Entity, "send", params, What::FlowSend);
        let class = self.infos[below].entity();
        let target = f.value(&self.a, r::OpKind::Unique { class });
        let args = [vec![message], flow].concat();
        f.op(&self.a, r::OpKind::Emit { target, event: "send".into(), args });
    }

    /// An event for the session below.
    pub fn tell_lower_session(&mut self, f: &mut Frame<'p>, event: &str, what: What, args: Vec<r::Value>) {
        let inst = f.inst;
        let Some(below) = self.inst(inst).below else { return };
        let params: Vec<(String, r::Type)> = named(&args, f);
        self.event(below, On::Session, event, params, what);
        let Some(target) = self.lower_session(f) else { return };
        let unsure = f.place.unsure_down || f.place.opening;
        self.emit_unless_null(f, target, event, args, unsure);
    }

    /// The reference to the session below.
    pub fn lower_session(&mut self, f: &mut Frame<'p>) -> Option<r::Value> {
        let info = self.info(f.inst);
        let (object, cell) = match info.lower_below {
            Some(cell) => (self.lower_object(f)?, cell),
            None => (f.place.session?, info.below?),
        };
        Some(f.value(&self.a, r::OpKind::Get { object, cell }))
    }

    pub fn emit_unless_null(
        &mut self,
        f: &mut Frame<'p>,
        target: r::Value,
        event: &str,
        args: Vec<r::Value>,
        unsure: bool,
    ) {
        let emit = r::OpKind::Emit { target, event: event.to_owned(), args: args.clone() };
        if !unsure {
            f.op(&self.a, emit);
            return;
        }
        let class = self.class_of(f, target);
        let null = f.value(&self.a, r::OpKind::Null { class });
        let there = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: target, b: null });
        let (yes, no) = f.branch(there, None, "there", "nobody");
        let before = f.locals.clone();
        f.select(yes);
        f.op(&self.a, emit);
        let mut exits: Vec<_> = f.exit(Vec::new()).into_iter().collect();
        f.select(no);
        f.locals = before;
        for arg in args {
            if f.b.type_of(arg) == r::Type::Msg {
                self.drop(f, arg, "gone");
            }
        }
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    /// An event without a message for the session below; of flow traffic there is none.
    pub fn event_down(&mut self, f: &mut Frame<'p>, event: &str, what: What, args: Vec<r::Value>) {
        if self.inst(f.inst).uses.sessions {
            self.tell_lower_session(f, event, what, args);
        }
    }

    // -- up

    /// Decodes above the layer if that is the coding point, and hands the message to whom it is for.
    pub fn deliver_up(&mut self, f: &mut Frame<'p>, message: r::Value, from: Option<Vec<r::Value>>) {
        let Some(wire) = self.infos[f.inst].codes_above else {
            self.hand_up(f, message, from);
            return;
        };
        let before = f.locals.clone();
        let (good, bad) = self.decode(f, message, wire);
        f.select(bad.0);
        f.op(&self.a, r::OpKind::DropFor { message: bad.1, reason: bad.2 });
        let mut exits: Vec<_> = f.exit(Vec::new()).into_iter().collect();
        f.select(good.0);
        f.locals = before;
        f.forget(message);
        self.hand_up(f, good.1, from);
        exits.extend(f.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[message])).for_each(|slot| *slot = None);
        }
        f.join("after", exits);
    }

    #[allow(clippy::type_complexity)]
    pub fn decode(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        wire: r::WireId,
    ) -> ((r::BlockId, r::Value), (r::BlockId, r::Value, r::Value)) {
        let good = f.b.block("decoded", &[("msg".into(), r::Type::Msg)]);
        let bad = f.b.block("refused", &[("msg".into(), r::Type::Msg), ("why".into(), r::Type::Reason)]);
        f.end(r::Terminator::Try { op: r::Fallible::Decode { message, wire }, then: to(good), otherwise: to(bad) });
        let (ok, no) = (f.b.params(good)[0], f.b.params(bad).to_vec());
        ((good, ok), (bad, no[0], no[1]))
    }

    fn hand_up(&mut self, f: &mut Frame<'p>, message: r::Value, from: Option<Vec<r::Value>>) {
        let inst = f.inst;
        if f.place.session.is_some() && self.inst(inst).used.sessions {
            self.event_up(f, "deliver", What::Deliver, vec![message]);
            return;
        }
        let flow = match from {
            Some(flow) => flow,
            None => self.flow_at_hand(f),
        };
        if self.inst(inst).is_multiplexor() {
            self.demultiplex(f, message, flow);
            return;
        }
        match self.plan.flow_users(inst).first().copied() {
            Some(user) => self.deliver_flow(f, user, message, flow),
            None => self.drop(f, message, "unexpected"),
        }
    }

    pub fn deliver_flow(&mut self, f: &mut Frame<'p>, user: usize, message: r::Value, top: Vec<r::Value>) {
        let flow = self.as_user_sees(user, &top);
        let flow = self.from_way(f, user, flow);
        let components = self.inst(user).bottom.clone();
        let params = [vec![("msg".to_owned(), r::Type::Msg)], self.flow_params(&components)].concat();
        let flow = self.permuted(flow, &params[1..]);
        self.event(user, On::Entity, "deliver", params, What::FlowDeliver);
        let class = self.infos[user].entity();
        let target = f.value(&self.a, r::OpKind::Unique { class });
        let args = [vec![message], flow].concat();
        f.op(&self.a, r::OpKind::Emit { target, event: "deliver".into(), args });
    }

    /// Only for the planted fault: two parts of one type change places.
    fn permuted(&self, mut flow: Vec<r::Value>, params: &[(String, r::Type)]) -> Vec<r::Value> {
        if self.faulty(Fault::FlowPermuted) {
            let pair = (1..flow.len()).find(|at| params[*at].1 == params[0].1);
            if let Some(other) = pair {
                flow.swap(0, other);
            }
        }
        flow
    }

    /// The flow without what is bound for this user.
    pub fn as_user_sees(&self, user: usize, top: &[r::Value]) -> Vec<r::Value> {
        let bound = &self.inst(user).bound;
        let free = top.iter().enumerate().filter(|(place, _)| bound.iter().all(|(at, _)| at != place));
        free.map(|(_, value)| *value).collect()
    }

    /// An event for the session above; which of several users it is, the session knows.
    pub fn event_up(&mut self, f: &mut Frame<'p>, event: &str, what: What, args: Vec<r::Value>) {
        let inst = f.inst;
        let Some(session) = f.place.session else { return };
        let info = self.info(inst);
        let users = self.plan.session_users(inst);
        let params = named(&args, f);
        for user in &users {
            let on = self.lower_side(*user).0;
            self.event(*user, on, event, params.clone(), what.clone());
        }
        let unsure = f.place.unsure_up || self.gives_up_sessions(inst) || self.emits(inst, "accepted");
        if let [cell] = info.above.as_slice() {
            let target = f.value(&self.a, r::OpKind::Get { object: session, cell: *cell });
            self.emit_unless_null(f, target, event, args, unsure);
            return;
        }
        let Some(tag) = info.tag else { return };
        let value = f.value(&self.a, r::OpKind::Get { object: session, cell: tag });
        let blocks: Vec<r::BlockId> = info.above.iter().map(|_| f.b.block("user", &[])).collect();
        let last = blocks.len() - 1;
        let cases = blocks[..last].iter().enumerate().map(|(at, block)| (at as u64, to(*block))).collect();
        f.end(r::Terminator::Switch { value, cases, default: to(blocks[last]) });
        let before = f.locals.clone();
        let mut exits = Vec::new();
        for (block, cell) in blocks.into_iter().zip(&info.above) {
            f.select(block);
            f.locals = before.clone();
            let target = f.value(&self.a, r::OpKind::Get { object: session, cell: *cell });
            self.emit_unless_null(f, target, event, args.clone(), unsure);
            exits.extend(f.exit(Vec::new()));
        }
        f.join("after", exits);
    }
}

#[derive(Default)]
struct Keys {
    local: Vec<r::Value>,
    remote: Vec<r::Value>,
}

impl Keys {
    fn get(&self, part: KeyPart, place: usize, swapped: bool) -> Option<r::Value> {
        let part = match (part, swapped) {
            (KeyPart::Source, true) => KeyPart::Destination,
            (KeyPart::Destination, true) => KeyPart::Source,
            (part, _) => part,
        };
        match part {
            KeyPart::Source | KeyPart::Both => self.local.get(place).copied(),
            KeyPart::Destination => self.remote.get(place).copied(),
        }
    }
}

/// Parameters for the arguments of an event that has no declaration.
pub fn named(args: &[r::Value], f: &Frame<'_>) -> Vec<(String, r::Type)> {
    let name = |at: usize, ty: r::Type| match ty {
        r::Type::Msg => "msg".to_owned(),
        r::Type::Reason => "why".to_owned(),
        _ => format!("a{at}"),
    };
    args.iter().enumerate().map(|(at, value)| (name(at, f.b.type_of(*value)), f.b.type_of(*value))).collect()
}
