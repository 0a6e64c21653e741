//! A multiplexor finds whom a message is for: the session, the layer bound in the stack, the listener, or nobody.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Exit, Frame, Register};
use crate::lowering::{Lowering, What};

/// Of so many layers a listener may leave the part open.
const MOST_OPEN: usize = 3;

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

    // -- listeners

    /// Who may listen, and how; the number in the map is the place here.
    pub fn listening(&self, inst: usize) -> Vec<(usize, Register)> {
        let mut all = Vec::new();
        for user in &self.inst(inst).users {
            if self.plan.is_bound(inst, *user) {
                continue;
            }
            let uses = self.inst(*user).uses;
            all.extend(uses.flow.then_some((*user, Register::Bind)));
            all.extend(uses.sessions.then_some((*user, Register::Listen)));
        }
        all
    }

    /// The local end of a flow, and what listens for more than that, the most specific first: of each layer that made a
    /// part of it, addresses before keys, that part may be *any*.
    pub fn local_patterns(&mut self, f: &mut Frame<'p>, flow: &[r::Value]) -> Vec<Vec<r::Value>> {
        let components = self.inst(f.inst).top.clone();
        let local: Vec<usize> = (0..components.len()).filter(|at| !components[*at].is_remote()).collect();
        let mut makers: Vec<(bool, usize)> =
            local.iter().map(|at| (!components[*at].address, components[*at].owner)).collect();
        makers.sort_unstable();
        makers.dedup();
        makers.truncate(MOST_OPEN);
        let mut opened: Vec<usize> = (0..1usize << makers.len()).collect();
        opened.sort_by_key(|set| (set.count_ones(), *set));
        let mut patterns = Vec::new();
        for set in opened {
            let open = |at: usize| {
                makers.iter().enumerate().any(|(bit, (_, owner))| set >> bit & 1 == 1 && components[at].owner == *owner)
            };
            let mut pattern = Vec::new();
            for at in &local {
                let ty = f.b.type_of(flow[*at]);
                pattern.push(if open(*at) { f.constant(&self.a, ty, 0) } else { flow[*at] });
            }
            patterns.push(pattern);
        }
        patterns
    }

    fn try_listeners(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let Some(cell) = self.infos[f.inst].listeners else { return };
        let mut keys = self.local_patterns(f, flow);
        if self.faulty(Fault::ListenerOrder) {
            keys.reverse();
        }
        if self.layer(f.inst).is_some_and(|layer| layer.matching != s::Matching::One) {
            return self.try_each_listener(f, message, flow, (keys, cell), exits);
        }
        let entity = self.entity(f);
        for key in keys {
            let (found, absent) = (f.b.block("listener", &[("kind".into(), r::Type::U(8))]), f.b.block("none", &[]));
            let locals = f.locals.clone();
            f.end(r::Terminator::Find { object: entity, cell, key, then: to(found), otherwise: to(absent) });
            let kind = f.b.params(found)[0];
            f.select(found);
            self.give_listener(f, kind, message, flow, exits);
            f.select(absent);
            f.locals = locals;
        }
    }

    /// Where each listens for itself, the first of them in the order of the stack.
    fn try_each_listener(
        &mut self,
        f: &mut Frame<'p>,
        message: r::Value,
        flow: &[r::Value],
        (keys, cell): (Vec<Vec<r::Value>>, r::CellId),
        exits: &mut Vec<Exit>,
    ) {
        let entity = self.entity(f);
        let all = self.listening(f.inst);
        for key in keys {
            for (place, (user, how)) in all.iter().enumerate() {
                let number = f.constant(&self.a, r::Type::U(8), place as u64);
                let key = [key.clone(), vec![number]].concat();
                let found = f.b.block("listener", &[("kind".into(), r::Type::U(8))]);
                let absent = f.b.block("none", &[]);
                let locals = f.locals.clone();
                f.end(r::Terminator::Find { object: entity, cell, key, then: to(found), otherwise: to(absent) });
                f.select(found);
                match how {
                    Register::Bind => self.deliver_flow(f, *user, message, flow.to_vec()),
                    _ => self.accept(f, *user, message, flow, true),
                }
                exits.extend(f.exit(Vec::new()));
                f.select(absent);
                f.locals = locals;
            }
        }
    }

    fn give_listener(
        &mut self,
        f: &mut Frame<'p>,
        kind: r::Value,
        message: r::Value,
        flow: &[r::Value],
        exits: &mut Vec<Exit>,
    ) {
        let all = self.listening(f.inst);
        let blocks: Vec<r::BlockId> = all.iter().map(|_| f.b.block("for", &[])).collect();
        let Some(last) = blocks.last() else { return };
        let cases = blocks[..blocks.len() - 1].iter().enumerate().map(|(at, block)| (at as u64, to(*block))).collect();
        f.end(r::Terminator::Switch { value: kind, cases, default: to(*last) });
        let locals = f.locals.clone();
        for (block, (user, how)) in blocks.into_iter().zip(all) {
            f.select(block);
            f.locals = locals.clone();
            match how {
                Register::Bind => self.deliver_flow(f, user, message, flow.to_vec()),
                _ => self.accept(f, user, message, flow, true),
            }
            exits.extend(f.exit(Vec::new()));
        }
    }

    /// Into the map of listeners, or out of it.
    fn enter_listener(
        &mut self,
        f: &mut Frame<'p>,
        (entity, cell): (r::Value, r::CellId),
        user: Option<usize>,
        register: Register,
        local: &[r::Value],
    ) {
        let all = self.listening(f.inst);
        let each = self.layer(f.inst).is_some_and(|layer| layer.matching != s::Matching::One);
        for (place, (of, how)) in all.iter().enumerate() {
            let number = f.constant(&self.a, r::Type::U(8), place as u64);
            let key = if each { [local.to_vec(), vec![number]].concat() } else { local.to_vec() };
            if register == Register::Unlisten {
                if each && Some(*of) == user || !each && place == 0 {
                    self.remove(f, entity, cell, key);
                }
                continue;
            }
            if Some(*of) != user || *how != register {
                continue;
            }
            let (entered, full) = (f.b.block("entered", &[]), f.b.block("full", &[]));
            let (then, otherwise) = (to(entered), to(full));
            f.end(r::Terminator::Insert { object: entity, cell, key, values: vec![number], then, otherwise });
            f.select(full);
            f.jump(entered, []);
            f.select(entered);
        }
    }

    /// `listen`, `bind`, `unlisten` on the entity.
    pub fn register_on(&mut self, f: &mut Frame<'p>, register: Register, local: Vec<r::Value>) {
        let inst = f.inst;
        let registered = f.place.registering;
        if let Some(cell) = self.infos[inst].listeners {
            let entity = self.entity(f);
            let user = registered.or_else(|| self.inst(inst).users.first().copied());
            self.enter_listener(f, (entity, cell), user, register, &local);
            if register == Register::Unlisten {
                return;
            }
        }
        let bottom = match self.inst(inst).is_multiplexor() {
            true => {
                let mine: Vec<bool> =
                    self.inst(inst).top.iter().filter(|c| !c.is_remote()).map(|c| c.owner == inst).collect();
                local.into_iter().zip(mine).filter(|(_, mine)| !mine).map(|(value, _)| value).collect()
            }
            false => local,
        };
        self.register_down(f, register, bottom);
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
        let entity = self.entity(f);
        let capacity = self.a.classes[class.index()].capacity;
        let first = f.b.block("first", &[("first".into(), r::Type::Ref(class))]);
        let done = f.b.block("done", &[]);
        f.end(r::Terminator::First { class, parent: Some(entity), then: to(first), otherwise: to(done) });
        let start = f.b.params(first)[0];
        f.select(first);
        let head = f.b.block("loop", &[("at".into(), r::Type::Ref(class))]);
        f.b.set_bound(head, capacity + 1);
        f.jump(head, vec![start]);
        f.select(head);
        let at = f.b.params(head)[0];
        let next = f.b.block("next", &[("next".into(), r::Type::Ref(class))]);
        let last = f.b.block("last", &[]);
        f.end(r::Terminator::Next { object: at, then: to(next), otherwise: to(last) });
        f.select(last);
        let null = f.value(&self.a, r::OpKind::Null { class });
        f.jump(next, vec![null]);
        f.select(next);
        let following = f.b.params(next)[0];
        let shares = f.value(&self.a, r::OpKind::Get { object: at, cell: of });
        let mut mine = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Eq, a: shares, b: lower });
        if what == What::Opened {
            let told = f.value(&self.a, r::OpKind::Get { object: at, cell: opened });
            let waits = f.value(&self.a, r::OpKind::Not { a: told });
            mine = f.value(&self.a, r::OpKind::Binary { op: r::Binary::And, a: mine, b: waits });
        }
        let (yes, no) = f.branch(mine, None, "mine", "other");
        f.select(yes);
        f.place.session = Some(at);
        if what == What::Opened {
            self.set_opened(f, at);
            self.say_opened(f);
        } else {
            self.event_up(f, event, what, args);
            self.forget_session(f, at);
        }
        f.place.session = None;
        f.jump(no, []);
        f.select(no);
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
