//! A multiplexor finds the receiver of a message: the session, the layer bound in the stack, the listener, or none
//! (docs/language.md, section 6).

use mokume_reaction as r;
use mokume_semantics::program as s;
use mokume_semantics::visit::{walk, Met};

use crate::code::{Exits, Flow, Writer};
use crate::constants::Env;
use crate::stack::Purpose;

impl<'p> Writer<'_, 'p> {
    /// In the order of the page: the first that matches gets the message.
    pub(super) fn demultiplex_one(&mut self, message: r::Value, flow: &Flow) {
        let mut exits = Exits::default();
        self.runs.flow = Some(flow.clone());
        for key in self.session_keys(flow) {
            if let Some(session) = self.find_session(&key) {
                self.on(&mut exits, session, |w, session| {
                    w.runs.session = Some(session[0]);
                    w.event_up("deliver", Purpose::Deliver, vec![message]);
                });
            }
        }
        self.try_bound(message, flow, &mut exits);
        match self.claimant() {
            Some(user) => self.deliver_flow(user, message, flow),
            None => {
                self.try_listeners(message, flow, &mut exits);
                self.unmatched(message, flow);
            }
        }
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// The keys by which a flow's session may be found: the flow; then, if it has local addresses, the flow with these
    /// open, for a session that was opened for this peer at any local address.
    pub(super) fn session_keys(&mut self, flow: &Flow) -> Vec<Flow> {
        let has_sessions = self.info().session.is_some();
        let components = &self.inst(self.inst).top;
        let open = |at: usize| components[at].address && !components[at].is_remote();
        if !has_sessions || !(0..components.len()).any(open) {
            return if has_sessions { vec![flow.clone()] } else { Vec::new() };
        }
        let mut any = Vec::new();
        for (at, value) in flow.iter().enumerate() {
            any.push(if open(at) { self.constant(self.b.type_of(*value), 0) } else { *value });
        }
        vec![flow.clone(), any.into()]
    }

    /// The layer above, not bound to a key, that gets unmatched messages: it, or one over it, has `on arrives`.
    fn claimant(&mut self) -> Option<usize> {
        let users = self.inst(self.inst).users.iter().copied();
        let all: Vec<usize> =
            users.filter(|user| self.inst(*user).bound.is_empty() && self.leads_to_arrives(*user)).collect();
        if let [_, second, ..] = all[..] {
            let span = self.inst(second).span;
            let help = "bind all but one of them to keys: `over ports[port: 80]`";
            self.error("M0767", "two layers here would have what arrives for nobody", span, help);
        }
        all.first().copied()
    }

    fn leads_to_arrives(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        let Some(layer) = self.layer(inst).filter(|layer| layer.shape == s::Shape::Worker) else { return false };
        layer.awaits() || at.used.flow && at.users.iter().any(|user| self.leads_to_arrives(*user))
    }

    // -- bound in the stack

    fn try_bound(&mut self, message: r::Value, flow: &Flow, exits: &mut Exits) {
        let bound = self.bound_users();
        if let Some(user) = bound.iter().find(|user| self.inst(**user).bound.is_empty()) {
            // Without a key, everything is for the one layer above.
            self.give_to(*user, message, flow);
            return self.exit(exits, Vec::new());
        }
        if let Some((place, keys)) = self.one_key_of(&bound) {
            self.switch(flow[place], &keys, |w, at| {
                if let Some(at) = at {
                    w.give_to(bound[at], message, flow);
                    w.exit(exits, Vec::new());
                }
                Vec::new()
            });
            return;
        }
        for user in bound {
            if let Some(equal) = self.equals_bound(user, flow) {
                let fork = self.fork(equal);
                self.on(exits, fork, |w, _| w.give_to(user, message, flow));
            }
        }
    }

    /// The layers above that the stack binds to keys.
    pub(super) fn bound_users(&self) -> Vec<usize> {
        let users = self.inst(self.inst).users.iter().copied();
        users.filter(|user| self.plan.is_bound(self.inst, *user)).collect()
    }

    /// If constants of one field of the flow tell the users apart: the field's index, and each user's value.
    fn one_key_of(&self, users: &[usize]) -> Option<(usize, Vec<Vec<u64>>)> {
        let mut keys = Vec::new();
        for user in users {
            let [(at, constant)] = self.inst(*user).bound.as_slice() else { return None };
            keys.push((*at, vec![self.one_constant(&Env::Stack, constant)?]));
        }
        let place = keys.first()?.0;
        let one = keys.len() > 1 && keys.iter().all(|(at, _)| *at == place);
        one.then(|| (place, keys.into_iter().map(|(_, key)| key).collect()))
    }

    /// Whether a flow has the key that a user is bound to; `None` if it is bound to no key.
    pub(super) fn equals_bound(&mut self, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        let mut equal = None;
        for (at, constant) in &self.inst(user).bound {
            let wanted = self.bound_value(constant);
            let wanted = self.cast(wanted, self.b.type_of(flow[*at]));
            let one = self.compare(r::Compare::Eq, flow[*at], wanted);
            equal = self.and(equal, r::Binary::And, one);
        }
        equal
    }

    /// Whether the key that a user wants is bound to another layer in the stack.
    pub(super) fn is_taken_by_bound(&mut self, user: usize, flow: &[r::Value]) -> Option<r::Value> {
        if !self.inst(user).bound.is_empty() {
            return None;
        }
        let mut taken = None;
        for other in &self.inst(self.inst).users {
            if let Some(one) = self.equals_bound(*other, flow) {
                taken = self.and(taken, r::Binary::Or, one);
            }
        }
        taken
    }

    /// Flow traffic goes up unchanged; for a layer with sessions a new one begins.
    fn give_to(&mut self, user: usize, message: r::Value, flow: &Flow) {
        match self.inst(user).uses.flow {
            true => self.deliver_flow(user, message, flow),
            false => self.accept_for(user, message, flow, true),
        }
    }

    // -- a session that the other end begins

    /// Makes the session, keeps the message that began it, and tells the layer above, which answers with `attach` or
    /// `refuse`.
    ///
    /// `checks`: the message is for this layer alone; one that the layer above would refuse is dropped, and begins no
    /// session. If none begins, the lower session may be useless.
    pub(super) fn accept_for(&mut self, user: usize, message: r::Value, flow: &Flow, checks: bool) {
        let info = self.info();
        let Some((class, found)) = info.session.as_ref().and_then(|cells| Some((cells.class, cells.found?))) else {
            return self.drop(message, "unmatched");
        };
        let mut exits = Exits::default();
        let above = &self.lowering.info(user).coding;
        let message = match above.validated.or(above.below).filter(|_| checks) {
            Some(wire) => {
                let read = self.attempt(r::Fallible::Validate { message, wire });
                let refuse = |w: &mut Self, refused: &[r::Value]| {
                    w.op(r::OpKind::DropFor { message: refused[0], reason: refused[1] });
                    w.leave_unused_lower();
                };
                self.unless(&mut exits, read, refuse)[0]
            }
            None => message,
        };
        let full = |w: &mut Self| {
            w.drop(message, "no_room");
            if checks {
                w.leave_unused_lower();
            }
        };
        let (object, cell, amount) = (self.entity(), found.arriving, self.constant(r::Type::U(32), 1));
        let taken = self.attempt(r::Fallible::Take { object, cell, amount });
        self.unless(&mut exits, taken, |w, _| full(w));
        let made = self.make(class);
        let session = self.unless(&mut exits, made, |w, _| {
            w.op(r::OpKind::Give { object, cell, amount });
            full(w);
        })[0];
        self.identify(session, Some(user), flow);
        let index = self.constant(r::Type::U(32), 0);
        self.op(r::OpKind::Keep { object: session, cell: found.first, index, message });
        let outer = self.runs.session;
        self.begin(session, Some(flow), true);
        self.runs.session = outer;
        self.enter_session(session, flow);
        if let Some(lower) = self.runs.lower.filter(|_| info.lower.is_some()) {
            self.count_in(session, lower);
            self.set_opened(session);
        }
        self.accepted_for(user, session, flow);
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// `accept msg` in `unmatched`: a session for the layer above that uses sessions.
    pub fn accept_unmatched(&mut self, message: r::Value, stmt: &s::Stmt) {
        let users = self.plan.session_users(self.inst);
        let flow = self.flow_at_hand();
        match users.as_slice() {
            [user] => self.accept_for(*user, message, &flow, true),
            _ => {
                let help = "one layer above, with sessions, can be meant";
                self.error("M0724", "it is not clear for whom this accepts", Some(stmt.span), help);
                self.drop(message, "unmatched");
            }
        }
    }

    pub(super) fn unmatched(&mut self, message: r::Value, flow: &Flow) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Unmatched { .. }));
        let Some(handler) = handler else {
            self.drop(message, "unmatched");
            return self.leave_unused_lower();
        };
        let s::Event::Unmatched { message: local, flow: named } = &handler.event else { return };
        self.refuse_bare_replies(handler, *local);
        let mut given = vec![(*local, vec![message])];
        given.extend(named.map(|local| (local, flow.to_vec())));
        self.run(handler, given);
        self.forget(message);
    }

    /// Ends a lower session that the other end began, and whose message had no receiver or began no session, unless
    /// another session shares it.
    fn leave_unused_lower(&mut self) {
        let info = self.info();
        let (Some(cells), Some(lower)) = (&info.lower, self.runs.lower) else { return };
        let count = self.get(lower, cells.count);
        let unused = self.is_zero(count);
        let fork = self.fork_likely(unused, Some(0.1));
        self.ways(fork, |w, _| w.close_lower(lower), |_, _| {});
    }

    /// Reports a reply from a bundle whose wire has fields of the layers above: in a new message, no layer sets these.
    fn refuse_bare_replies(&mut self, handler: &s::Handler, came: s::LocalId) {
        if !self.has_records_above(self.inst) {
            return;
        }
        let mut bare = Vec::new();
        walk(&handler.body, &mut |met| {
            let Met::Stmt(stmt) = met else { return };
            let s::StmtKind::Emit(s::Emission::Send { message: Some(message), to: None, .. }) = &stmt.kind else {
                return;
            };
            if !matches!(message.kind, s::ExprKind::Give(local) if local == came) {
                bare.push(stmt.span);
            }
        });
        for span in bare {
            let text = "the packets of this bundle carry fields of the layers above, and nobody says them here";
            let help = "let the layer above answer, in `on arrives`, or reply with the message that came";
            self.error("M0766", text, Some(span), help);
        }
    }

    // -- the lower side's object

    /// `opened`, `failed`, `closed` of a lower session: passed to all that share it.
    pub fn for_sharers(&mut self, lower: r::Value, event: &str, purpose: Purpose) {
        let info = self.info();
        let Some(cells) = &info.session else { return };
        let (Some(of), Some(opened)) = (cells.lower, cells.opened) else { return };
        let args: Vec<r::Value> = self.params()[1..].to_vec();
        self.each_of(cells.class, |w, at| {
            let shares = w.get(at, of);
            let mut mine = w.compare(r::Compare::Eq, shares, lower);
            if purpose == Purpose::Opened {
                let told = w.get(at, opened);
                let waits = w.value(r::OpKind::Not { a: told });
                mine = w.binary(r::Binary::And, mine, waits);
            }
            w.when(mine, |w| {
                w.runs.session = Some(at);
                w.tell_sharer(at, (event, purpose), args);
            });
        });
    }

    fn tell_sharer(&mut self, session: r::Value, (event, purpose): (&str, Purpose), args: Vec<r::Value>) {
        match purpose {
            Purpose::Opened => {
                self.set_opened(session);
                self.say_opened();
            }
            Purpose::Changed { .. } | Purpose::Custom { .. } => self.event_up(event, purpose, args),
            _ => {
                self.event_up(event, purpose, args);
                self.forget_session(session);
            }
        }
    }

    /// `deliver` on the object of a lower session, whose flow is known.
    pub fn lower_flow(&mut self, lower: r::Value) -> Vec<r::Value> {
        match &self.info().lower {
            Some(cells) => self.get_all(lower, &cells.flow),
            None => Vec::new(),
        }
    }
}
