//! A multiplexor finds whom a message is for: the session, the layer bound in the stack, the listener, or nobody.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::{to, Exit, Frame};
use crate::lowering::{Lowering, What};

impl<'p> Lowering<'p> {
    /// In the order of docs, section 6.
    pub fn demultiplex_one(&mut self, f: &mut Frame<'p>, message: r::Value, flow: Vec<r::Value>) {
        let mut exits = Vec::new();
        f.place.flow = Some(flow.clone());
        let before = f.locals.clone();
        if self.infos[f.inst].sessions.is_some() {
            self.try_sessions(f, message, &flow, &mut exits);
            f.locals = before.clone();
        }
        self.try_bound(f, message, &flow, &mut exits);
        if f.live() {
            f.locals = before.clone();
            self.try_listeners(f, message, &flow, &mut exits);
        }
        if f.live() {
            f.locals = before;
            self.unmatched(f, message, &flow);
        }
        exits.extend(f.exit(Vec::new()));
        for exit in &mut exits {
            exit.locals.iter_mut().filter(|slot| slot.as_deref() == Some(&[message])).for_each(|slot| *slot = None);
        }
        f.join("end", exits);
    }

    /// The session of this flow; then the one opened for this peer at any local address.
    fn try_sessions(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let mut keys = vec![flow.to_vec()];
        keys.extend(self.at_any_address(f, flow));
        for key in keys {
            let (found, absent) = self.find_session(f, &key);
            f.select(found.0);
            let locals = f.locals.clone();
            let outer = f.place.session.replace(found.1);
            self.event_up(f, "deliver", What::Deliver, vec![message]);
            f.place.session = outer;
            exits.extend(f.exit(Vec::new()));
            f.select(absent);
            f.locals = locals;
        }
    }

    /// The flow with its local addresses left open, if it has any.
    pub fn at_any_address(&mut self, f: &mut Frame<'p>, flow: &[r::Value]) -> Option<Vec<r::Value>> {
        let components = self.inst(f.inst).top.clone();
        let open = |at: usize| components[at].address && !components[at].is_remote();
        if !(0..components.len()).any(open) {
            return None;
        }
        let any = |(at, value): (usize, &r::Value)| match open(at) {
            true => {
                let ty = f.b.type_of(*value);
                f.constant(&self.a, ty, 0)
            }
            false => *value,
        };
        Some(flow.iter().enumerate().map(any).collect())
    }

    // -- bound in the stack

    fn try_bound(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let inst = f.inst;
        let plan = self.plan.clone();
        let bound: Vec<usize> =
            plan.insts[inst].users.iter().copied().filter(|user| plan.is_bound(inst, *user)).collect();
        if let Some(user) = bound.iter().find(|user| plan.insts[**user].bound.is_empty()) {
            // Without a key all that comes is for the one above.
            self.give_to(f, *user, message, flow);
            exits.extend(f.exit(Vec::new()));
            return;
        }
        if self.switch_bound(f, message, flow, &bound, exits) {
            return;
        }
        for user in bound {
            let equal = self.equals_bound(f, user, flow);
            let Some(equal) = equal else { continue };
            let (yes, no) = f.branch(equal, None, "bound", "other");
            f.select(yes);
            let locals = f.locals.clone();
            self.give_to(f, user, message, flow);
            exits.extend(f.exit(Vec::new()));
            f.select(no);
            f.locals = locals;
        }
    }

    /// One key field and constants: one switch.
    fn switch_bound(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        flow: &[r::Value],
        bound: &[usize],
        exits: &mut Vec<Exit>,
    ) -> bool {
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
        let blocks: Vec<r::BlockId> = keys.iter().map(|_| f.b.block("bound", &[])).collect();
        let other = f.b.block("other", &[]);
        let mut cases: Vec<(u64, r::Target)> = Vec::new();
        for ((_, value, _), block) in keys.iter().zip(&blocks) {
            if !cases.iter().any(|(known, _)| known == value) {
                cases.push((*value, to(*block)));
            }
        }
        let locals = f.locals.clone();
        f.end(r::Terminator::Switch { value: flow[keys[0].0], cases, default: to(other) });
        for ((_, _, user), block) in keys.iter().zip(blocks) {
            f.select(block);
            f.locals = locals.clone();
            self.give_to(f, *user, message, flow);
            exits.extend(f.exit(Vec::new()));
        }
        f.select(other);
        f.locals = locals;
        true
    }

    /// Flow traffic goes up as it is; a layer of sessions gets a new one.
    fn give_to(&mut self, f: &mut Frame<'p>, user: usize, message: r::Value, flow: &[r::Value]) {
        match self.inst(user).uses.flow {
            true => self.deliver_flow(f, user, message, flow.to_vec()),
            false => self.accept(f, user, message, flow, true),
        }
    }

    // -- a session that the other end begins

    /// Makes the session, keeps the message that began it, and tells the layer above; its answer is `attach` or `refuse`.
    ///
    /// `checks`: a message that the layer above would refuse is dropped, and that is the end of the handler.
    pub fn accept(&mut self, f: &mut Frame<'p>, user: usize, message: r::Value, flow: &[r::Value], checks: bool) {
        let info = self.info(f.inst);
        let (Some(class), Some(first)) = (info.session, info.first) else {
            return self.drop(f, message, "unmatched");
        };
        // What the layer above would refuse begins no session.
        let user_info = self.info(user);
        let message = match user_info.vets.or(user_info.codes_below).filter(|_| checks) {
            Some(wire) => self.checked(f, message, wire, true),
            None => message,
        };
        let (made, session, full) = self.new_object(f, class);
        f.select(full);
        self.drop(f, message, "no_room");
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(made);
        if let (Some(tag), Some(place)) = (info.tag, self.session_tag(f.inst, user)) {
            let value = f.constant(&self.a, r::Type::U(8), place as u64);
            f.op(&self.a, r::OpKind::Set { object: session, cell: tag, value });
        }
        self.set_cells(f, session, &info.flow, flow.to_vec());
        let index = f.constant(&self.a, r::Type::U(32), 0);
        f.op(&self.a, r::OpKind::Keep { object: session, cell: first, index, message });
        let outer = f.place.session.replace(session);
        self.join_point(f, session, Some(flow));
        self.set_late(f, s::ScopeKind::Session, session);
        f.place.flow = Some(flow.to_vec());
        self.nothing_to_tell(f, session, true);
        f.place.session = outer;
        self.enter_session(f, session, flow);
        if let (Some(of), Some(count), Some(lower)) = (info.of_lower, info.lower_count, f.place.lower) {
            f.op(&self.a, r::OpKind::Set { object: session, cell: of, value: lower });
            let before = f.value(&self.a, r::OpKind::Get { object: lower, cell: count });
            let one = f.constant(&self.a, r::Type::U(32), 1);
            let value = f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: before, b: one });
            f.op(&self.a, r::OpKind::Set { object: lower, cell: count, value });
            self.set_opened(f, session);
        }
        self.accepted_for(f, user, session, flow);
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    /// `accept msg` in `unmatched`: for the layer above that uses sessions.
    pub fn accept_unmatched(&mut self, f: &mut Frame<'p>, message: r::Value, stmt: &s::Stmt) {
        let users = self.plan.session_users(f.inst);
        let flow = self.flow_at_hand(f);
        match users.as_slice() {
            [user] => self.accept(f, *user, message, &flow, true),
            _ => {
                let help = "one layer above, with sessions, can be meant";
                self.error("M0724", "it is not clear for whom this accepts", Some(stmt.span), help);
                self.drop(f, message, "unmatched");
            }
        }
    }

    pub fn unmatched(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value]) {
        let handler = self.handler_where(f.inst, |event| matches!(event, s::Event::Unmatched { .. }));
        let Some(handler) = handler else { return self.drop(f, message, "unmatched") };
        let s::Event::Unmatched { message: local, flow: named } = &handler.event else { return };
        let mut given = vec![(*local, vec![message])];
        given.extend(named.map(|local| (local, flow.to_vec())));
        self.run(f, handler, given);
    }

    // -- the lower side's object

    /// `opened`, `failed`, `closed` of a lower session: for all that share it.
    pub fn for_sharers(&mut self, f: &mut Frame<'p>, lower: r::Value, event: &str, what: What) {
        let info = self.info(f.inst);
        let (Some(class), Some(of), Some(opened)) = (info.session, info.of_lower, info.opened) else { return };
        let args: Vec<r::Value> = f.params()[1..].to_vec();
        self.each_session(f, class, |this, f, at| {
            let shares = f.value(&this.a, r::OpKind::Get { object: at, cell: of });
            let mut mine = f.value(&this.a, r::OpKind::Compare { op: r::Compare::Eq, a: shares, b: lower });
            if what == What::Opened {
                let told = f.value(&this.a, r::OpKind::Get { object: at, cell: opened });
                let waits = f.value(&this.a, r::OpKind::Not { a: told });
                mine = f.value(&this.a, r::OpKind::Binary { op: r::Binary::And, a: mine, b: waits });
            }
            let (yes, no) = f.branch(mine, None, "mine", "other");
            f.select(yes);
            f.place.session = Some(at);
            match what {
                What::Opened => {
                    this.set_opened(f, at);
                    this.say_opened(f);
                }
                What::Changed { .. } => {
                    f.place.unsure_up = true;
                    this.event_up(f, event, what.clone(), args.clone());
                }
                _ => {
                    this.event_up(f, event, what.clone(), args.clone());
                    this.forget_session(f, at);
                }
            }
            f.place.session = None;
            f.jump(no, []);
            f.select(no);
        });
    }

    /// Does something for each session of the instance; it may release the one at hand.
    pub fn each_session(
        &mut self,
        f: &mut Frame<'p>,
        class: r::ClassId,
        each: impl FnOnce(&mut Self, &mut Frame<'p>, r::Value),
    ) {
        let entity = self.entity(f);
        let capacity = self.a.classes[class.index()].capacity;
        let first = f.b.block("first", &[("first".into(), r::Type::Ref(class))]);
        let done = f.b.block("done", &[]);
        f.end(r::Terminator::Try {
            op: r::Fallible::First { class, parent: Some(entity) },
            then: to(first),
            otherwise: to(done),
        });
        let start = f.b.params(first)[0];
        f.select(first);
        let head = f.b.block("loop", &[("at".into(), r::Type::Ref(class))]);
        f.b.set_bound(head, capacity + 1);
        f.jump(head, vec![start]);
        f.select(head);
        let at = f.b.params(head)[0];
        let next = f.b.block("next", &[("next".into(), r::Type::Ref(class))]);
        let last = f.b.block("last", &[]);
        f.end(r::Terminator::Try { op: r::Fallible::Next { object: at }, then: to(next), otherwise: to(last) });
        f.select(last);
        let null = f.value(&self.a, r::OpKind::Null { class });
        f.jump(next, vec![null]);
        f.select(next);
        let following = f.b.params(next)[0];
        each(self, f, at);
        let null = f.value(&self.a, r::OpKind::Null { class });
        let more = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: following, b: null });
        f.end(r::Terminator::Branch {
            condition: more,
            then: r::Target { block: head, args: vec![following] },
            otherwise: to(done),
            likely: None,
        });
        f.select(done);
    }

    /// Out of the map and released; the lower one ends by itself.
    fn forget_session(&mut self, f: &mut Frame<'p>, session: r::Value) {
        let info = self.info(f.inst);
        if let Some(map) = info.sessions {
            let get = |cell: &r::CellId| f.value(&self.a, r::OpKind::Get { object: session, cell: *cell });
            let key: Vec<r::Value> = info.flow.iter().map(get).collect();
            let entity = self.entity(f);
            self.take_from(f, entity, map, key);
        }
        self.release_session(f, session);
    }

    /// `deliver` for the object of a lower session: its flow is known.
    pub fn lower_flow(&mut self, f: &mut Frame<'p>, lower: r::Value) -> Vec<r::Value> {
        let info = self.info(f.inst);
        info.lower_flow.iter().map(|cell| f.value(&self.a, r::OpKind::Get { object: lower, cell: *cell })).collect()
    }
}
