//! Sessions begin and end: `open` goes down and `opened` climbs, `accepted` climbs and `attach` goes down, `close` and its kin.
//!
//! Invariant: a session is released once, by the handler that ends it, and is taken out of its maps there.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::emit::named;
use crate::fault::Fault;
use crate::frame::{to, Exit, Pass, Writer};
use crate::lowering::{On, What};
use crate::octets::any_stmt;

impl<'p> Writer<'_, 'p> {
    // -- a new session

    /// Makes an object in the entity; the blocks with it, and without room.
    pub fn new_object(&mut self, class: r::ClassId) -> (r::BlockId, r::Value, r::BlockId) {
        let entity = self.entity();
        let (made, full) = (self.b.block("made", &[("made".into(), r::Type::Ref(class))]), self.b.block("full", &[]));
        self.end(r::Terminator::Try {
            op: r::Fallible::New { class, parent: Some(entity) },
            then: to(made),
            otherwise: to(full),
        });
        (made, self.b.params(made)[0], full)
    }

    /// What a new session knows from the start.
    fn begin_session(&mut self, session: r::Value, user: Option<usize>, flow: Option<&[r::Value]>) {
        let inst = self.inst;
        let info = self.lowering.info(inst);
        if let (Some(tag), Some(user)) = (info.tag, user) {
            let place = self.session_tag(inst, user).unwrap_or(0);
            let value = self.constant(r::Type::U(8), place as u64);
            self.op(r::OpKind::Set { object: session, cell: tag, value });
        }
        if let Some(flow) = flow {
            self.set_cells(session, &info.flow, flow.to_vec());
        }
        self.place.session = Some(session);
        self.place.flow = flow.map(<[r::Value]>::to_vec);
        self.join_point(session, flow.filter(|_| user.is_none()));
        self.set_late(s::ScopeKind::Session, session);
        // One that the other end began has the session below already.
        self.nothing_to_tell(session, user.is_none() && flow.is_some());
    }

    fn set_above(&mut self, session: r::Value, upper: r::Value) {
        let class = self.b.type_of(upper);
        let info = self.info();
        let of = self.class_of(session);
        let fits =
            |cell: &&r::CellId| matches!(self.a.cell(of, **cell).kind, r::CellKind::Scalar { ty, .. } if ty == class);
        if let Some(cell) = info.above.iter().find(fits) {
            self.op(r::OpKind::Set { object: session, cell: *cell, value: upper });
        }
    }

    fn refuse_open(&mut self, user: usize, upper: r::Value, reason: &str) {
        let reason = self.told_reason(reason);
        let why = self.constant(r::Type::Reason, u64::from(reason.0));
        let on = self.lower_side(user).0;
        self.event(user, on, "failed", vec![("why".into(), r::Type::Reason)], What::Failed);
        self.op(r::OpKind::Emit { target: upper, event: "failed".into(), args: vec![why] });
    }

    // -- open

    /// `open(upper, flow)` on the entity.
    pub fn make_open(&mut self, user: Option<usize>) {
        let inst = self.inst;
        let params = self.params();
        let parts = 2 + self.inst(inst).top.len();
        let (upper, mut flow, given) = (params[1], params[2..parts].to_vec(), params[parts..].to_vec());
        let Some(user) = user.or_else(|| self.plan.session_users(inst).first().copied()) else { return };
        let Some(class) = self.infos[inst].session else { return };
        let mut exits: Vec<Exit> = Vec::new();
        if self.inst(inst).is_multiplexor() {
            exits.extend(self.refuse_anybody(user, upper, &flow));
            self.choose_key(user, &mut flow);
            if let Some(bound) = self.is_taken_by_bound(user, &flow) {
                let (bound, free) = self.branch(bound, None, "bound", "free");
                self.select(bound);
                self.refuse_open(user, upper, "in_use");
                exits.extend(self.exit(Vec::new()));
                self.select(free);
            }
            let (taken, free) = self.find_session(&flow);
            self.select(taken.0);
            self.refuse_open(user, upper, "in_use");
            exits.extend(self.exit(Vec::new()));
            self.select(free);
        }
        let (made, session, full) = self.new_object(class);
        self.select(full);
        self.refuse_open(user, upper, "no_room");
        exits.extend(self.exit(Vec::new()));
        self.select(made);
        self.set_above(session, upper);
        self.begin_session(session, Some(user), Some(&flow));
        self.take_given(session, &given);
        if self.inst(inst).is_multiplexor() {
            self.enter_session(session, &flow);
        }
        self.place.opening = true;
        self.run_open(flow);
        if self.live() {
            self.nothing_to_tell(session, false);
        }
        exits.extend(self.exit(Vec::new()));
        self.join("end", exits);
    }

    /// A session is with somebody: where a part of the remote end is *any*, there is none.
    fn refuse_anybody(&mut self, user: usize, upper: r::Value, flow: &[r::Value]) -> Option<Exit> {
        let components = self.inst(self.inst).top.clone();
        let mut any: Option<r::Value> = None;
        for (value, _) in flow.iter().zip(&components).filter(|(_, c)| c.is_remote()) {
            let zero = self.constant(self.b.type_of(*value), 0);
            let open = self.value(r::OpKind::Compare { op: r::Compare::Eq, a: *value, b: zero });
            any = Some(match any {
                None => open,
                Some(before) => self.value(r::OpKind::Binary { op: r::Binary::Or, a: before, b: open }),
            });
        }
        let (anybody, somebody) = self.branch(any?, Some(0.01), "anybody", "somebody");
        self.select(anybody);
        self.refuse_open(user, upper, "bad_address");
        let refused = self.exit(Vec::new());
        self.select(somebody);
        refused
    }

    fn run_open(&mut self, flow: Vec<r::Value>) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Open { .. }));
        let Some(handler) = handler else { return self.open_on(flow) };
        self.place.pass = Pass::Open;
        let given = match &handler.event {
            s::Event::Open { flow: Some(local) } => vec![(*local, flow.clone())],
            _ => Vec::new(),
        };
        self.run(handler, given);
        // A handler that says nothing of how it goes on only adds to what the shape does.
        if self.live() && !decides_opening(handler) {
            self.open_on(flow);
        }
    }

    /// What the shape does when a session opens: the layer below opens, or it is open already.
    pub fn open_on(&mut self, flow: Vec<r::Value>) {
        let inst = self.inst;
        if !self.inst(inst).is_multiplexor() {
            return self.open_below(flow);
        }
        match self.infos[inst].lower {
            None => self.say_opened(),
            Some(_) => self.join_lower(flow),
        }
    }

    /// `open` for the layer below, by the session (or lower side's object) at hand.
    fn open_below(&mut self, bottom: Vec<r::Value>) {
        let inst = self.inst;
        let Some(below) = self.inst(inst).below else { return };
        let object = match self.infos[inst].lower {
            Some(_) => self.lower_object(),
            None => self.place.session,
        };
        let Some(object) = object else { return };
        let flow = self.lift(&bottom, false);
        let several = self.plan.session_users(below).len() > 1;
        let user = several.then_some(inst);
        let event = self.event_of("open", user);
        let components = self.inst(below).top.clone();
        let given = self.given_below(below);
        let upper = vec![("upper".to_owned(), self.b.type_of(object))];
        let params = [upper, self.flow_params(&components), self.given_params(below)].concat();
        self.event(below, On::Entity, &event, params, What::Open { user });
        let class = self.infos[below].entity();
        let target = self.value(r::OpKind::Unique { class });
        self.op(r::OpKind::Emit { target, event, args: [vec![object], flow, given].concat() });
    }

    /// `below.open(…)` in code: an endpoint makes its session, another layer's is there.
    pub fn open_by_hand(&mut self, flow: Vec<r::Value>) {
        if self.place.session.is_some() {
            return self.open_below(flow);
        }
        let Some(class) = self.infos[self.inst].session else {
            self.error_here("M0725", "only a layer with sessions opens one", "give it a `session` scope");
            return;
        };
        let place = self.place.clone();
        let (made, session, full) = self.new_object(class);
        self.select(full);
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(made);
        self.begin_session(session, None, None);
        self.open_below(flow);
        self.place = place;
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    /// A session of a multiplexor whose lower side has sessions: it shares the one of its flow below, or opens it.
    fn join_lower(&mut self, flow: Vec<r::Value>) {
        let info = self.info();
        let Some(class) = info.lower else { return };
        let Some(session) = self.place.session else { return };
        let bottom = self.bottom_of(self.inst, &flow);
        let entity = self.entity();
        let Some(cell) = info.lowers else { return };
        let (shared, first) = self.find_in(entity, cell, class, &bottom);
        let mut exits: Vec<Exit> = Vec::new();
        self.select(shared.0);
        self.share_lower(session, shared.1);
        exits.extend(self.exit(Vec::new()));
        self.select(first);
        let (made, lower, full) = self.new_object(class);
        self.select(full);
        let reason = self.told_reason("no_room");
        let why = self.constant(r::Type::Reason, u64::from(reason.0));
        self.event_up("failed", What::Failed, vec![why]);
        self.leave_session(session);
        exits.extend(self.exit(Vec::new()));
        self.select(made);
        self.set_cells(lower, &info.lower_flow, bottom.clone());
        self.put_in(entity, cell, &bottom, lower);
        self.count_in(session, lower);
        self.place.lower = Some(lower);
        self.set_late(s::ScopeKind::SessionBelow, lower);
        self.open_below(bottom);
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    fn count_in(&mut self, session: r::Value, lower: r::Value) {
        let info = self.info();
        let (Some(of), Some(cell)) = (info.of_lower, info.lower_count) else { return };
        self.op(r::OpKind::Set { object: session, cell: of, value: lower });
        let count = self.value(r::OpKind::Get { object: lower, cell });
        let one = self.constant(r::Type::U(32), 1);
        let value = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: count, b: one });
        self.op(r::OpKind::Set { object: lower, cell, value });
    }

    /// The lower one is open, or its `opened` will tell all who share it.
    fn share_lower(&mut self, session: r::Value, lower: r::Value) {
        let info = self.info();
        self.count_in(session, lower);
        let Some(cell) = info.lower_below else { return };
        let below = self.value(r::OpKind::Get { object: lower, cell });
        let class = self.class_of(below);
        let null = self.value(r::OpKind::Null { class });
        let open = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: below, b: null });
        let (yes, no) = self.branch(open, None, "open", "opening");
        self.select(yes);
        self.set_opened(session);
        self.say_opened();
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(no);
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    pub fn set_opened(&mut self, session: r::Value) {
        if let Some(cell) = self.infos[self.inst].opened {
            let value = self.constant(r::Type::Bool, 1);
            self.op(r::OpKind::Set { object: session, cell, value });
        }
    }

    pub fn say_opened(&mut self) {
        if let Some(session) = self.place.session {
            self.event_up("opened", What::Opened, vec![session]);
        }
    }

    // -- accepted

    /// Tells a user's entity of a session that the other end began.
    pub fn accepted_for(&mut self, user: usize, session: r::Value, flow: &[r::Value]) {
        let args = [vec![session], self.as_user_sees(user, flow)].concat();
        let components = self.inst(user).bottom.clone();
        let params = [vec![("lower".to_owned(), self.b.type_of(session))], self.flow_params(&components)].concat();
        self.event(user, On::Entity, "accepted", params, What::Accepted);
        let class = self.infos[user].entity();
        let target = self.value(r::OpKind::Unique { class });
        self.op(r::OpKind::Emit { target, event: "accepted".into(), args });
    }

    pub fn say_accepted(&mut self) {
        let (Some(session), Some(user)) = (self.place.session, self.plan.session_users(self.inst).first().copied())
        else {
            return;
        };
        let flow = self.flow_at_hand();
        self.accepted_for(user, session, &flow);
    }

    /// `accepted(lower, flow)` on the entity of a worker or an endpoint.
    pub fn make_accepted(&mut self) {
        let inst = self.inst;
        let params = self.params();
        let (lower, flow) = (params[1], params[2..].to_vec());
        let Some(class) = self.lower_side(inst).1 else { return };
        let (made, object, full) = self.new_object(class);
        self.select(full);
        self.answer_lower(lower, "refuse", What::Refuse, Vec::new());
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(made);
        let info = self.lowering.info(inst);
        if let (Some(cell), Some(_)) = (info.lower_below, info.lower) {
            self.op(r::OpKind::Set { object, cell, value: lower });
            self.set_cells(object, &info.lower_flow, flow.clone());
            let entity = self.entity();
            if let Some(map) = info.lowers {
                self.put_in(entity, map, &flow, object);
            }
            self.place.lower = Some(object);
            self.set_late(s::ScopeKind::SessionBelow, object);
            self.attach_to(lower, object);
        } else {
            if let Some(cell) = info.below {
                self.op(r::OpKind::Set { object, cell, value: lower });
            }
            self.begin_session(object, None, Some(&flow));
            self.place.unsure_up = true;
            self.run_accepted(lower, object, flow);
            if self.live() {
                self.nothing_to_tell(object, true);
            }
        }
        exits.extend(self.exit(Vec::new()));
        self.join("end", exits);
    }

    fn run_accepted(&mut self, lower: r::Value, session: r::Value, flow: Vec<r::Value>) {
        let inst = self.inst;
        let handler = self.handler_where(inst, |event| matches!(event, s::Event::Accepted { .. }));
        let endpoint = self.inst(inst).shape() == Some(s::Shape::Endpoint);
        let delayed = self.emits(inst, "accepted");
        if let Some(handler) = handler {
            self.place.pass = if endpoint { Pass::Nothing } else { Pass::Accepted };
            let given = match &handler.event {
                s::Event::Accepted { flow: Some(local) } => vec![(*local, flow.clone())],
                _ => Vec::new(),
            };
            self.run(handler, given);
        }
        if !self.live() {
            return;
        }
        let decided = handler.is_some_and(decides_opening);
        if !endpoint && !delayed && !decided {
            self.say_accepted();
        }
        // Whoever passes it on attaches when the layer above does; a layer that waits, at once.
        if endpoint || delayed {
            self.attach_to(lower, session);
        }
    }

    pub fn refuse_lower(&mut self, lower: r::Value) {
        self.answer_lower(lower, "refuse", What::Refuse, Vec::new());
    }

    fn answer_lower(&mut self, lower: r::Value, event: &str, what: What, args: Vec<r::Value>) {
        let Some(below) = self.inst(self.inst).below else { return };
        let params = named(&args, self);
        self.event(below, On::Session, event, params, what);
        self.op(r::OpKind::Emit { target: lower, event: event.to_owned(), args });
    }

    pub fn attach_to(&mut self, lower: r::Value, object: r::Value) {
        let inst = self.inst;
        let Some(below) = self.inst(inst).below else { return };
        let user = (self.plan.session_users(below).len() > 1).then_some(inst);
        let event = self.event_of("attach", user);
        self.answer_lower(lower, &event, What::Attach { user }, vec![object]);
    }

    /// `attach(upper)` on the session: the layer above has its half now.
    pub fn make_attach(&mut self) {
        let params = self.params();
        let (session, upper) = (params[0], params[1]);
        self.place.session = Some(session);
        self.set_above(session, upper);
        let info = self.info();
        match info.first {
            Some(cell) => {
                let index = self.constant(r::Type::U(32), 0);
                let (held, none) =
                    (self.b.block("first", &[("first".into(), r::Type::Msg)]), self.b.block("none", &[]));
                self.end(r::Terminator::Try {
                    op: r::Fallible::TakeOut { object: session, cell, index },
                    then: to(held),
                    otherwise: to(none),
                });
                let message = self.b.params(held)[0];
                self.select(held);
                match self.faulty(Fault::FirstMessageLost) {
                    true => self.drop(message, "lost"),
                    false => self.deliver_up(message, None),
                }
                let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
                self.select(none);
                exits.extend(self.exit(Vec::new()));
                self.join("end", exits);
            }
            None if self.emits(self.inst, "accepted") => {}
            None => {
                if let Some(lower) = self.lower_session() {
                    self.attach_to(lower, session);
                }
            }
        }
    }

    pub fn make_refuse(&mut self) {
        let session = self.params()[0];
        self.place.session = Some(session);
        if let Some(cell) = self.infos[self.inst].first {
            let index = self.constant(r::Type::U(32), 0);
            let (held, none) = (self.b.block("first", &[("first".into(), r::Type::Msg)]), self.b.block("none", &[]));
            self.end(r::Terminator::Try {
                op: r::Fallible::TakeOut { object: session, cell, index },
                then: to(held),
                otherwise: to(none),
            });
            let message = self.b.params(held)[0];
            self.select(held);
            self.drop(message, "refused");
            self.jump(none, []);
            self.select(none);
            self.leave_session(session);
        } else {
            self.event_down("refuse", What::Refuse, Vec::new());
            self.release_session(session);
        }
    }
}

/// The handler says itself whether and when the session goes on.
fn decides_opening(handler: &s::Handler) -> bool {
    use s::{Emission as E, StmtKind as S};
    any_stmt([handler.body.as_slice()], &|kind| match kind {
        S::Pass | S::Return { .. } => matches!(kind, S::Pass),
        S::Emit(E::Open { .. } | E::Failed { .. } | E::FailedAs { .. } | E::Closed | E::Close | E::Abort) => true,
        S::Emit(E::Custom { name, down: false, .. }) => matches!(name.text.as_str(), "opened" | "accepted"),
        _ => false,
    })
}
