//! A multiplexor finds whom a message is for: the session, the layer bound in the stack, the listener, or nobody.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::{to, Exit, Writer};
use crate::lowering::What;

impl<'p> Writer<'_, 'p> {
    /// In the order of docs, section 6.
    pub fn demultiplex_one(&mut self, message: r::Value, flow: Vec<r::Value>) {
        let mut exits = Vec::new();
        self.place.flow = Some(flow.clone());
        let before = self.locals.clone();
        if self.infos[self.inst].sessions.is_some() {
            self.try_sessions(message, &flow, &mut exits);
            self.locals = before.clone();
        }
        self.try_bound(message, &flow, &mut exits);
        if self.live() {
            self.locals = before.clone();
            self.try_listeners(message, &flow, &mut exits);
        }
        if self.live() {
            self.locals = before;
            self.unmatched(message, &flow);
        }
        exits.extend(self.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[message])).for_each(|slot| *slot = None);
        }
        self.join("end", exits);
    }

    /// The session of this flow; then the one opened for this peer at any local address.
    fn try_sessions(&mut self, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let mut keys = vec![flow.to_vec()];
        keys.extend(self.at_any_address(flow));
        for key in keys {
            let (found, absent) = self.find_session(&key);
            self.select(found.0);
            let locals = self.locals.clone();
            let outer = self.place.session.replace(found.1);
            self.event_up("deliver", What::Deliver, vec![message]);
            self.place.session = outer;
            exits.extend(self.exit(Vec::new()));
            self.select(absent);
            self.locals = locals;
        }
    }

    /// The flow with its local addresses left open, if it has any.
    pub fn at_any_address(&mut self, flow: &[r::Value]) -> Option<Vec<r::Value>> {
        let components = self.inst(self.inst).top.clone();
        let open = |at: usize| components[at].address && !components[at].is_remote();
        if !(0..components.len()).any(open) {
            return None;
        }
        let any = |(at, value): (usize, &r::Value)| match open(at) {
            true => {
                let ty = self.b.type_of(*value);
                self.constant(ty, 0)
            }
            false => *value,
        };
        Some(flow.iter().enumerate().map(any).collect())
    }

    // -- bound in the stack

    fn try_bound(&mut self, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let inst = self.inst;
        let plan = self.plan.clone();
        let bound: Vec<usize> =
            plan.insts[inst].users.iter().copied().filter(|user| plan.is_bound(inst, *user)).collect();
        if let Some(user) = bound.iter().find(|user| plan.insts[**user].bound.is_empty()) {
            // Without a key all that comes is for the one above.
            self.give_to(*user, message, flow);
            exits.extend(self.exit(Vec::new()));
            return;
        }
        if self.switch_bound(message, flow, &bound, exits) {
            return;
        }
        for user in bound {
            let equal = self.equals_bound(user, flow);
            let Some(equal) = equal else { continue };
            let (yes, no) = self.branch(equal, None, "bound", "other");
            self.select(yes);
            let locals = self.locals.clone();
            self.give_to(user, message, flow);
            exits.extend(self.exit(Vec::new()));
            self.select(no);
            self.locals = locals;
        }
    }

    /// One key field and constants: one switch.
    fn switch_bound(&mut self, message: r::Value, flow: &[r::Value], bound: &[usize], exits: &mut Vec<Exit>) -> bool {
        let plan = self.plan.clone();
        let mut keys = Vec::new();
        for user in bound {
            let [(at, constant)] = plan.insts[*user].bound.as_slice() else { return false };
            let Some(value) = self.one_constant(&crate::fold::Env::Stack, constant) else { return false };
            keys.push((*at, value, *user));
        }
        if keys.len() < 2 || keys.iter().any(|(at, ..)| *at != keys[0].0) {
            return false;
        }
        let blocks: Vec<r::BlockId> = keys.iter().map(|_| self.b.block("bound", &[])).collect();
        let other = self.b.block("other", &[]);
        let mut cases: Vec<(u64, r::Target)> = Vec::new();
        for ((_, value, _), block) in keys.iter().zip(&blocks) {
            if !cases.iter().any(|(known, _)| known == value) {
                cases.push((*value, to(*block)));
            }
        }
        let locals = self.locals.clone();
        self.end(r::Terminator::Switch { value: flow[keys[0].0], cases, default: to(other) });
        for ((_, _, user), block) in keys.iter().zip(blocks) {
            self.select(block);
            self.locals = locals.clone();
            self.give_to(*user, message, flow);
            exits.extend(self.exit(Vec::new()));
        }
        self.select(other);
        self.locals = locals;
        true
    }

    /// Flow traffic goes up as it is; a layer of sessions gets a new one.
    fn give_to(&mut self, user: usize, message: r::Value, flow: &[r::Value]) {
        match self.inst(user).uses.flow {
            true => self.deliver_flow(user, message, flow.to_vec()),
            false => self.accept(user, message, flow, true),
        }
    }

    // -- a session that the other end begins

    /// Makes the session, keeps the message that began it, and tells the layer above; its answer is `attach` or `refuse`.
    ///
    /// `checks`: a message that the layer above would refuse is dropped, and that is the end of the handler.
    pub fn accept(&mut self, user: usize, message: r::Value, flow: &[r::Value], checks: bool) {
        let info = self.info();
        let (Some(class), Some(first)) = (info.session, info.first) else {
            return self.drop(message, "unmatched");
        };
        // What the layer above would refuse begins no session.
        let user_info = self.lowering.info(user);
        let message = match user_info.vets.or(user_info.codes_below).filter(|_| checks) {
            Some(wire) => self.checked(message, wire, true),
            None => message,
        };
        let (made, session, full) = self.new_object(class);
        self.select(full);
        self.drop(message, "no_room");
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(made);
        if let (Some(tag), Some(place)) = (info.tag, self.session_tag(self.inst, user)) {
            let value = self.constant(r::Type::U(8), place as u64);
            self.op(r::OpKind::Set { object: session, cell: tag, value });
        }
        self.set_cells(session, &info.flow, flow.to_vec());
        let index = self.constant(r::Type::U(32), 0);
        self.op(r::OpKind::Keep { object: session, cell: first, index, message });
        let outer = self.place.session.replace(session);
        self.join_point(session, Some(flow));
        self.set_late(s::ScopeKind::Session, session);
        self.place.flow = Some(flow.to_vec());
        self.nothing_to_tell(session, true);
        self.place.session = outer;
        self.enter_session(session, flow);
        if let (Some(of), Some(count), Some(lower)) = (info.of_lower, info.lower_count, self.place.lower) {
            self.op(r::OpKind::Set { object: session, cell: of, value: lower });
            let before = self.value(r::OpKind::Get { object: lower, cell: count });
            let one = self.constant(r::Type::U(32), 1);
            let value = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: before, b: one });
            self.op(r::OpKind::Set { object: lower, cell: count, value });
            self.set_opened(session);
        }
        self.accepted_for(user, session, flow);
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    /// `accept msg` in `unmatched`: for the layer above that uses sessions.
    pub fn accept_unmatched(&mut self, message: r::Value, stmt: &s::Stmt) {
        let users = self.plan.session_users(self.inst);
        let flow = self.flow_at_hand();
        match users.as_slice() {
            [user] => self.accept(*user, message, &flow, true),
            _ => {
                let help = "one layer above, with sessions, can be meant";
                self.error("M0724", "it is not clear for whom this accepts", Some(stmt.span), help);
                self.drop(message, "unmatched");
            }
        }
    }

    pub fn unmatched(&mut self, message: r::Value, flow: &[r::Value]) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Unmatched { .. }));
        let Some(handler) = handler else { return self.drop(message, "unmatched") };
        let s::Event::Unmatched { message: local, flow: named } = &handler.event else { return };
        let mut given = vec![(*local, vec![message])];
        given.extend(named.map(|local| (local, flow.to_vec())));
        self.run(handler, given);
    }

    // -- the lower side's object

    /// `opened`, `failed`, `closed` of a lower session: for all that share it.
    pub fn for_sharers(&mut self, lower: r::Value, event: &str, what: What) {
        let info = self.info();
        let (Some(class), Some(of), Some(opened)) = (info.session, info.of_lower, info.opened) else { return };
        let args: Vec<r::Value> = self.params()[1..].to_vec();
        self.each_session(class, |this, at| {
            let shares = this.value(r::OpKind::Get { object: at, cell: of });
            let mut mine = this.value(r::OpKind::Compare { op: r::Compare::Eq, a: shares, b: lower });
            if what == What::Opened {
                let told = this.value(r::OpKind::Get { object: at, cell: opened });
                let waits = this.value(r::OpKind::Not { a: told });
                mine = this.value(r::OpKind::Binary { op: r::Binary::And, a: mine, b: waits });
            }
            let (yes, no) = this.branch(mine, None, "mine", "other");
            this.select(yes);
            this.place.session = Some(at);
            match what {
                What::Opened => {
                    this.set_opened(at);
                    this.say_opened();
                }
                What::Changed { .. } => {
                    this.place.unsure_up = true;
                    this.event_up(event, what.clone(), args.clone());
                }
                _ => {
                    this.event_up(event, what.clone(), args.clone());
                    this.forget_session(at);
                }
            }
            this.place.session = None;
            this.jump(no, []);
            this.select(no);
        });
    }

    /// Does something for each session of the instance; it may release the one at hand.
    pub fn each_session(&mut self, class: r::ClassId, each: impl FnOnce(&mut Self, r::Value)) {
        let entity = self.entity();
        let capacity = self.a.classes[class.index()].capacity;
        let first = self.b.block("first", &[("first".into(), r::Type::Ref(class))]);
        let done = self.b.block("done", &[]);
        self.end(r::Terminator::Try {
            op: r::Fallible::First { class, parent: Some(entity) },
            then: to(first),
            otherwise: to(done),
        });
        let start = self.b.params(first)[0];
        self.select(first);
        let head = self.b.block("loop", &[("at".into(), r::Type::Ref(class))]);
        self.b.set_bound(head, capacity + 1);
        self.jump(head, vec![start]);
        self.select(head);
        let at = self.b.params(head)[0];
        let next = self.b.block("next", &[("next".into(), r::Type::Ref(class))]);
        let last = self.b.block("last", &[]);
        self.end(r::Terminator::Try { op: r::Fallible::Next { object: at }, then: to(next), otherwise: to(last) });
        self.select(last);
        let null = self.value(r::OpKind::Null { class });
        self.jump(next, vec![null]);
        self.select(next);
        let following = self.b.params(next)[0];
        each(self, at);
        let null = self.value(r::OpKind::Null { class });
        let more = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: following, b: null });
        self.end(r::Terminator::Branch {
            condition: more,
            then: r::Target { block: head, args: vec![following] },
            otherwise: to(done),
            likely: None,
        });
        self.select(done);
    }

    /// Out of the map and released; the lower one ends by itself.
    fn forget_session(&mut self, session: r::Value) {
        let info = self.info();
        if let Some(map) = info.sessions {
            let get = |cell: &r::CellId| self.value(r::OpKind::Get { object: session, cell: *cell });
            let key: Vec<r::Value> = info.flow.iter().map(get).collect();
            let entity = self.entity();
            self.take_from(entity, map, key);
        }
        self.release_session(session);
    }

    /// `deliver` for the object of a lower session: its flow is known.
    pub fn lower_flow(&mut self, lower: r::Value) -> Vec<r::Value> {
        let info = self.info();
        info.lower_flow.iter().map(|cell| self.value(r::OpKind::Get { object: lower, cell: *cell })).collect()
    }
}
