//! What leaves a layer: messages with their headers, and events between neighbours.
//!
//! Invariant: the coding point of a group is passed exactly once each way, by the layer that [`Info`] names.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Pass, Register, Writer};
use crate::lowering::{KeyPart, Lowering, On, What};

/// A header to be pushed: the variant, and its fields as the layer named them.
pub type Given = Option<(u32, Vec<Vec<r::Value>>)>;

impl<'p> Lowering<'p> {
    /// Without the multiplexor's own key.
    pub fn bottom_of(&self, inst: usize, top: &[r::Value]) -> Vec<r::Value> {
        let at = self.inst(inst);
        if !at.is_multiplexor() {
            return top.to_vec();
        }
        top.iter().zip(&at.top).filter(|(_, c)| c.owner != inst).map(|(value, _)| *value).collect()
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
}

impl<'p> Writer<'_, 'p> {
    pub fn emission(&mut self, emission: &'p s::Emission, stmt: &'p s::Stmt) {
        use s::Emission as E;
        match emission {
            E::Send { message, fields, to } => {
                let made = message.as_ref().and_then(|message| self.made_first(message));
                let fields: Given = fields
                    .as_ref()
                    .map(|fields| (fields.variant, self.as_written(&fields.values.iter().collect::<Vec<_>>())));
                let to = to.as_ref().map(|to| (to.ty, self.expr(to)));
                let message = match message {
                    Some(message) => made.unwrap_or_else(|| self.one(message)),
                    None => self.value(r::OpKind::NewMessage { octets: Vec::new() }),
                };
                self.send_down(message, fields, to);
            }
            E::Deliver { message, from } => {
                let made = self.made_first(message);
                let from = from.as_ref().map(|from| self.expr(from));
                let message = made.unwrap_or_else(|| self.one(message));
                self.deliver_up(message, from);
            }
            E::Open { flow, args } => {
                let values = self.expr(flow);
                let outer = self.place.given.clone();
                self.give_by_hand(args);
                self.open_by_hand(values);
                self.place.given = outer;
            }
            E::Listen { flow } => self.register_by_hand(Register::Listen, flow),
            E::Bind { flow } => self.register_by_hand(Register::Bind, flow),
            E::Unlisten { flow } => self.register_by_hand(Register::Unlisten, flow),
            E::Close => self.event_down("close", What::Close, Vec::new()),
            E::Abort => self.event_down("abort", What::Abort, Vec::new()),
            E::Closed => self.say_closed(),
            E::Failed { reason } => {
                let reason = self.told_reason(&reason.text);
                let reason = self.constant(r::Type::Reason, u64::from(reason.0));
                self.fail(reason);
            }
            E::FailedAs { reason } => {
                let reason = self.one(reason);
                self.fail(reason);
            }
            E::FailedFlow { reason, quote, from } => {
                let why = self.one(reason);
                let made = self.made_first(quote);
                let from = self.expr(from);
                let quote = made.unwrap_or_else(|| self.one(quote));
                self.failed_up(why, quote, from);
            }
            E::Service { service, operation, uses, args } => self.service((*service, *operation), *uses, args, stmt),
            E::Custom { name, down, args } => {
                let args: Vec<r::Value> = args.iter().flat_map(|arg| self.expr(arg)).collect();
                self.custom(&name.text, *down, args);
            }
        }
    }

    pub fn pass(&mut self) {
        match self.place.pass.clone() {
            Pass::Nothing => {}
            Pass::Send(local) => {
                let message = self.of_local(local);
                self.send_down(message, None, None);
            }
            Pass::Deliver(local) => {
                let message = self.of_local(local);
                self.deliver_up(message, None);
            }
            Pass::Open => {
                let flow = self.flow_at_hand();
                self.open_on(flow);
            }
            Pass::Opened => self.say_opened(),
            Pass::Accepted => self.say_accepted(),
            Pass::Failed(reason) => self.event_up("failed", What::Failed, vec![reason]),
            Pass::FailedQuoting(why, local) => {
                let quote = self.of_local(local);
                self.pass_failed(why, quote);
            }
            Pass::Close => self.close_on("close", What::Close),
            Pass::Abort => self.close_on("abort", What::Abort),
            Pass::Closed => self.event_up("closed", What::Closed, Vec::new()),
            Pass::Register(registration, pattern) => self.register_on(registration, pattern),
            Pass::Custom { name, down, args } => {
                let args = args.iter().flat_map(|local| self.local(*local)).collect();
                self.custom(&name, down, args);
            }
        }
    }

    pub fn drop(&mut self, message: r::Value, reason: &str) {
        let reason = self.reason(reason);
        self.op(r::OpKind::Drop { message, reason });
    }

    // -- down

    /// Pushes the own header, encodes below it if that is the coding point, and hands it to the layer below.
    pub fn send_down(&mut self, message: r::Value, fields: Given, to: Option<(s::Type, Vec<r::Value>)>) {
        let inst = self.inst;
        let top = match &to {
            Some((s::Type::Flow(s::Side::Above), flow)) => Some(flow.clone()),
            _ => None,
        };
        let mut message = self.push_header(message, fields, top.as_deref());
        if let Some(wire) = self.infos[inst].codes_below {
            message = self.value(r::OpKind::Encode { message, wire });
        }
        if self.inst(inst).uses.sessions && (self.place.session.is_some() || self.place.lower.is_some()) {
            self.tell_lower_session("send", What::Send, vec![message]);
            return;
        }
        if !self.inst(inst).uses.flow {
            self.error_here("M0725", "a message goes down, but there is no session that it goes to", "open one");
            return;
        }
        let bottom = match (to, top) {
            (Some(_), Some(top)) => self.bottom_of(inst, &top),
            (Some((_, flow)), None) => flow,
            (None, _) => self.bottom_at_hand(),
        };
        self.send_flow(message, bottom);
    }

    /// The header's fields as values: keys from the flow, the others as given.
    fn push_header(&mut self, message: r::Value, fields: Given, top: Option<&[r::Value]>) -> r::Value {
        let info = self.info();
        let Some(header) = info.header else { return message };
        let (variant, given) = fields.unwrap_or((0, Vec::new()));
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
            let value = value.unwrap_or_else(|| self.constant(field.ty, 0));
            values.push(self.cast(value, field.ty));
        }
        match &info.placed {
            None => {
                let variant = r::VariantId(variant);
                self.value(r::OpKind::Push { message, header, variant, fields: values })
            }
            Some(places) => {
                let mut message = message;
                for (place, value) in places.iter().zip(values) {
                    let Some(place) = place else { continue };
                    message = self.store_placed(message, *place, value);
                }
                message
            }
        }
    }

    fn store_placed(&mut self, message: r::Value, place: crate::lowering::PlacedField, value: r::Value) -> r::Value {
        let ty = r::Type::U(place.width);
        let mut value = self.cast(value, ty);
        if place.times != 1 {
            let times = self.constant(ty, place.times);
            value = self.value(r::OpKind::Binary { op: r::Binary::Mul, a: value, b: times });
        }
        if place.plus != 0 {
            let plus = self.constant(ty, place.plus);
            value = self.value(r::OpKind::Binary { op: r::Binary::Add, a: value, b: plus });
        }
        let at = self.constant(r::Type::U(32), u64::from(place.octet));
        self.value(r::OpKind::Store { field: place.field(), message, at, value })
    }

    fn key_values(&mut self, top: Option<&[r::Value]>) -> Keys {
        let inst = self.inst;
        if !self.inst(inst).is_multiplexor() {
            return Keys::default();
        }
        let components = self.inst(inst).top.clone();
        if !components.iter().any(|c| c.owner == inst) {
            return Keys::default();
        }
        let flow = match top {
            Some(flow) => flow.to_vec(),
            None => self.flow_at_hand(),
        };
        let own = |remote: bool| {
            let mine = components.iter().enumerate().filter(|(_, c)| c.owner == inst && c.is_remote() == remote);
            mine.filter_map(|(at, _)| flow.get(at).copied()).collect()
        };
        Keys { local: own(false), remote: own(true) }
    }

    /// The flow of the upper side that the code runs for.
    pub fn flow_at_hand(&mut self) -> Vec<r::Value> {
        if let Some(flow) = &self.place.flow {
            return flow.clone();
        }
        let info = self.info();
        let components = self.inst(self.inst).top.clone();
        match self.place.session {
            Some(object) if !info.flow.is_empty() => {
                info.flow.iter().map(|cell| self.value(r::OpKind::Get { object, cell: *cell })).collect()
            }
            _ if components.is_empty() => Vec::new(),
            _ => {
                let help = "an event without a flow cannot send: keep the message, or let a session do it";
                self.error_here("M0727", "there is no flow at hand where this runs", help);
                let types = self.flow_params(&components);
                types.into_iter().map(|(_, ty)| self.constant(ty, 0)).collect()
            }
        }
    }

    pub fn bottom_at_hand(&mut self) -> Vec<r::Value> {
        match self.inst(self.inst).shape() {
            Some(s::Shape::Worker | s::Shape::Multiplexor) => {
                let inst = self.inst;
                if self.inst(inst).bottom.is_empty() {
                    return Vec::new();
                }
                let top = self.flow_at_hand();
                self.bottom_of(inst, &top)
            }
            _ => {
                if let Some(bottom) = &self.place.bottom {
                    return bottom.clone();
                }
                let components = self.inst(self.inst).bottom.clone();
                let types = self.flow_params(&components);
                types.into_iter().map(|(_, ty)| self.constant(ty, 0)).collect()
            }
        }
    }

    /// The flow as the layer below has it: what the stack binds is put in.
    pub fn lift(&mut self, bottom: &[r::Value], local_only: bool) -> Vec<r::Value> {
        match self.inst(self.inst).below {
            Some(below) => self.lift_to(below, bottom, local_only),
            None => Vec::new(),
        }
    }

    pub fn lift_to(&mut self, below: usize, bottom: &[r::Value], local_only: bool) -> Vec<r::Value> {
        let bound = self.inst(self.inst).bound.clone();
        let components = self.inst(below).top.clone();
        let types = self.flow_params(&components);
        let mut rest = bottom.iter();
        let mut flow = Vec::new();
        for (place, component) in components.iter().enumerate() {
            if local_only && component.is_remote() {
                continue;
            }
            let value = match bound.iter().find(|(at, _)| *at == place) {
                Some((_, constant)) if !self.faulty(Fault::BoundKeyLost) => self.bound_value(constant),
                Some(_) => self.constant(types[place].1, 0),
                None => rest.next().copied().unwrap_or_else(|| self.constant(types[place].1, 0)),
            };
            flow.push(self.cast(value, types[place].1));
        }
        flow
    }

    pub fn bound_value(&mut self, constant: &'p s::Expr) -> r::Value {
        let values = self.env_expr(constant, &crate::fold::Env::Stack);
        values.first().copied().unwrap_or_else(|| self.constant(r::Type::Bool, 0))
    }

    pub fn send_flow(&mut self, message: r::Value, bottom: Vec<r::Value>) {
        let none = |this: &mut Self| {
            let reason = this.no_way(this.inst);
            this.drop(message, &reason);
        };
        self.for_lower(&bottom, |this, below, bottom| this.send_flow_to(below, message, bottom), none);
    }

    fn send_flow_to(&mut self, below: usize, message: r::Value, bottom: &[r::Value]) {
        let flow = self.lift_to(below, bottom, false);
        let components = self.inst(below).top.clone();
        let params = [vec![("msg".to_owned(), r::Type::Msg)], self.flow_params(&components)].concat();
        self.event(below, On::Entity, "send", params, What::FlowSend);
        let class = self.infos[below].entity();
        let target = self.value(r::OpKind::Unique { class });
        let args = [vec![message], flow].concat();
        self.op(r::OpKind::Emit { target, event: "send".into(), args });
    }

    /// An event for the session below.
    pub fn tell_lower_session(&mut self, event: &str, what: What, args: Vec<r::Value>) {
        let inst = self.inst;
        let Some(below) = self.inst(inst).below else { return };
        let params: Vec<(String, r::Type)> = named(&args, self);
        self.event(below, On::Session, event, params, what);
        let Some(target) = self.lower_session() else { return };
        let unsure = self.place.unsure_down || self.place.opening;
        self.emit_unless_null(target, event, args, unsure);
    }

    /// The reference to the session below.
    pub fn lower_session(&mut self) -> Option<r::Value> {
        let info = self.info();
        let (object, cell) = match info.lower_below {
            Some(cell) => (self.lower_object()?, cell),
            None => (self.place.session?, info.below?),
        };
        Some(self.value(r::OpKind::Get { object, cell }))
    }

    pub fn emit_unless_null(&mut self, target: r::Value, event: &str, args: Vec<r::Value>, unsure: bool) {
        let emit = r::OpKind::Emit { target, event: event.to_owned(), args: args.clone() };
        if !unsure {
            self.op(emit);
            return;
        }
        let class = self.class_of(target);
        let null = self.value(r::OpKind::Null { class });
        let there = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: target, b: null });
        let (yes, no) = self.branch(there, None, "there", "nobody");
        let before = self.locals.clone();
        self.select(yes);
        self.op(emit);
        let mut exits: Vec<_> = self.exit(Vec::new()).into_iter().collect();
        self.select(no);
        self.locals = before;
        for arg in args {
            if self.b.type_of(arg) == r::Type::Msg {
                self.drop(arg, "gone");
            }
        }
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    /// An event without a message for the session below; of flow traffic there is none.
    pub fn event_down(&mut self, event: &str, what: What, args: Vec<r::Value>) {
        if self.inst(self.inst).uses.sessions {
            self.tell_lower_session(event, what, args);
        }
    }

    // -- up

    /// Decodes above the layer if that is the coding point, and hands the message to whom it is for.
    pub fn deliver_up(&mut self, message: r::Value, from: Option<Vec<r::Value>>) {
        let Some(wire) = self.infos[self.inst].codes_above else {
            self.hand_up(message, from);
            return;
        };
        let before = self.locals.clone();
        let (good, bad) = self.decode(message, wire);
        self.select(bad.0);
        self.op(r::OpKind::DropFor { message: bad.1, reason: bad.2 });
        let mut exits: Vec<_> = self.exit(Vec::new()).into_iter().collect();
        self.select(good.0);
        self.locals = before;
        self.forget(message);
        self.hand_up(good.1, from);
        exits.extend(self.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[message])).for_each(|slot| *slot = None);
        }
        self.join("after", exits);
    }

    #[allow(clippy::type_complexity)]
    pub fn decode(
        &mut self,
        message: r::Value,
        wire: r::WireId,
    ) -> ((r::BlockId, r::Value), (r::BlockId, r::Value, r::Value)) {
        let good = self.b.block("decoded", &[("msg".into(), r::Type::Msg)]);
        let bad = self.b.block("refused", &[("msg".into(), r::Type::Msg), ("why".into(), r::Type::Reason)]);
        self.end(r::Terminator::Try { op: r::Fallible::Decode { message, wire }, then: to(good), otherwise: to(bad) });
        let (ok, no) = (self.b.params(good)[0], self.b.params(bad).to_vec());
        ((good, ok), (bad, no[0], no[1]))
    }

    fn hand_up(&mut self, message: r::Value, from: Option<Vec<r::Value>>) {
        let inst = self.inst;
        if self.place.session.is_some() && self.inst(inst).used.sessions {
            self.event_up("deliver", What::Deliver, vec![message]);
            return;
        }
        let flow = match from {
            Some(flow) => flow,
            None => self.flow_at_hand(),
        };
        if self.inst(inst).is_multiplexor() {
            self.demultiplex(message, flow);
            return;
        }
        match self.plan.flow_users(inst).first().copied() {
            Some(user) => self.deliver_flow(user, message, flow),
            None => self.drop(message, "unexpected"),
        }
    }

    pub fn deliver_flow(&mut self, user: usize, message: r::Value, top: Vec<r::Value>) {
        let flow = self.as_user_sees(user, &top);
        let flow = self.from_way(user, flow);
        let components = self.inst(user).bottom.clone();
        let params = [vec![("msg".to_owned(), r::Type::Msg)], self.flow_params(&components)].concat();
        let flow = self.permuted(flow, &params[1..]);
        self.event(user, On::Entity, "deliver", params, What::FlowDeliver);
        let class = self.infos[user].entity();
        let target = self.value(r::OpKind::Unique { class });
        let args = [vec![message], flow].concat();
        self.op(r::OpKind::Emit { target, event: "deliver".into(), args });
    }

    /// An event for the session above; which of several users it is, the session knows.
    pub fn event_up(&mut self, event: &str, what: What, args: Vec<r::Value>) {
        let inst = self.inst;
        let Some(session) = self.place.session else { return };
        let info = self.lowering.info(inst);
        let users = self.plan.session_users(inst);
        let params = named(&args, self);
        for user in &users {
            let on = self.lower_side(*user).0;
            self.event(*user, on, event, params.clone(), what.clone());
        }
        let unsure = self.place.unsure_up || self.gives_up_sessions(inst) || self.emits(inst, "accepted");
        if let [cell] = info.above.as_slice() {
            let target = self.value(r::OpKind::Get { object: session, cell: *cell });
            self.emit_unless_null(target, event, args, unsure);
            return;
        }
        let Some(tag) = info.tag else { return };
        let value = self.value(r::OpKind::Get { object: session, cell: tag });
        let blocks: Vec<r::BlockId> = info.above.iter().map(|_| self.b.block("user", &[])).collect();
        let last = blocks.len() - 1;
        let cases = blocks[..last].iter().enumerate().map(|(at, block)| (at as u64, to(*block))).collect();
        self.end(r::Terminator::Switch { value, cases, default: to(blocks[last]) });
        let before = self.locals.clone();
        let mut exits = Vec::new();
        for (block, cell) in blocks.into_iter().zip(&info.above) {
            self.select(block);
            self.locals = before.clone();
            let target = self.value(r::OpKind::Get { object: session, cell: *cell });
            self.emit_unless_null(target, event, args.clone(), unsure);
            exits.extend(self.exit(Vec::new()));
        }
        self.join("after", exits);
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
pub fn named(args: &[r::Value], w: &Writer<'_, '_>) -> Vec<(String, r::Type)> {
    let name = |at: usize, ty: r::Type| match ty {
        r::Type::Msg => "msg".to_owned(),
        r::Type::Reason => "why".to_owned(),
        _ => format!("a{at}"),
    };
    args.iter().enumerate().map(|(at, value)| (name(at, w.b.type_of(*value)), w.b.type_of(*value))).collect()
}
