//! Sessions begin and end: `open` goes down and `opened` climbs, `accepted` climbs and `attach` goes down, `close` and its kin.
//!
//! Invariant: a session is released once, by the handler that ends it, and is taken out of its maps there.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::emit::named;
use crate::fault::Fault;
use crate::frame::{to, Exit, Frame, Pass};
use crate::lowering::{Lowering, On, What};
use crate::octets::any_stmt;

impl<'p> Lowering<'p> {
    // -- a new session

    /// Makes an object in the entity; the blocks with it, and without room.
    pub fn new_object(&mut self, f: &mut Frame<'p>, class: r::ClassId) -> (r::BlockId, r::Value, r::BlockId) {
        let entity = self.entity(f);
        let (made, full) = (f.b.block("made", &[("made".into(), r::Type::Ref(class))]), f.b.block("full", &[]));
        f.end(r::Terminator::Try {
            op: r::Fallible::New { class, parent: Some(entity) },
            then: to(made),
            otherwise: to(full),
        });
        (made, f.b.params(made)[0], full)
    }

    /// What a new session knows from the start.
    fn begin_session(&mut self, f: &mut Frame<'p>, session: r::Value, user: Option<usize>, flow: Option<&[r::Value]>) {
        let inst = f.inst;
        let info = self.info(inst);
        if let (Some(tag), Some(user)) = (info.tag, user) {
            let place = self.session_tag(inst, user).unwrap_or(0);
            let value = f.constant(&self.a, r::Type::U(8), place as u64);
            f.op(&self.a, r::OpKind::Set { object: session, cell: tag, value });
        }
        if let Some(flow) = flow {
            self.set_cells(f, session, &info.flow, flow.to_vec());
        }
        f.place.session = Some(session);
        f.place.flow = flow.map(<[r::Value]>::to_vec);
        self.join_point(f, session, flow.filter(|_| user.is_none()));
        self.set_late(f, s::ScopeKind::Session, session);
        // One that the other end began has the session below already.
        self.nothing_to_tell(f, session, user.is_none() && flow.is_some());
    }

    fn set_above(&mut self, f: &mut Frame<'p>, session: r::Value, upper: r::Value) {
        let class = f.b.type_of(upper);
        let info = self.info(f.inst);
        let of = self.class_of(f, session);
        let fits =
            |cell: &&r::CellId| matches!(self.a.cell(of, **cell).kind, r::CellKind::Scalar { ty, .. } if ty == class);
        if let Some(cell) = info.above.iter().find(fits) {
            f.op(&self.a, r::OpKind::Set { object: session, cell: *cell, value: upper });
        }
    }

    fn refuse_open(&mut self, f: &mut Frame<'p>, user: usize, upper: r::Value, reason: &str) {
        let reason = self.told_reason(f.inst, reason);
        let why = f.constant(&self.a, r::Type::Reason, u64::from(reason.0));
        let on = self.lower_side(user).0;
        self.event(user, on, "failed", vec![("why".into(), r::Type::Reason)], What::Failed);
        f.op(&self.a, r::OpKind::Emit { target: upper, event: "failed".into(), args: vec![why] });
    }

    // -- open

    /// `open(upper, flow)` on the entity.
    pub fn make_open(&mut self, f: &mut Frame<'p>, user: Option<usize>) {
        let inst = f.inst;
        let params = f.params();
        let parts = 2 + self.inst(inst).top.len();
        let (upper, mut flow, given) = (params[1], params[2..parts].to_vec(), params[parts..].to_vec());
        let Some(user) = user.or_else(|| self.plan.session_users(inst).first().copied()) else { return };
        let Some(class) = self.infos[inst].session else { return };
        let mut exits: Vec<Exit> = Vec::new();
        if self.inst(inst).is_multiplexor() {
            exits.extend(self.refuse_anybody(f, user, upper, &flow));
            self.choose_key(f, user, &mut flow);
            if let Some(bound) = self.is_taken_by_bound(f, user, &flow) {
                let (bound, free) = f.branch(bound, None, "bound", "free");
                f.select(bound);
                self.refuse_open(f, user, upper, "in_use");
                exits.extend(f.exit(Vec::new()));
                f.select(free);
            }
            let (taken, free) = self.find_session(f, &flow);
            f.select(taken.0);
            self.refuse_open(f, user, upper, "in_use");
            exits.extend(f.exit(Vec::new()));
            f.select(free);
        }
        let (made, session, full) = self.new_object(f, class);
        f.select(full);
        self.refuse_open(f, user, upper, "no_room");
        exits.extend(f.exit(Vec::new()));
        f.select(made);
        self.set_above(f, session, upper);
        self.begin_session(f, session, Some(user), Some(&flow));
        self.take_given(f, session, &given);
        if self.inst(inst).is_multiplexor() {
            self.enter_session(f, session, &flow);
        }
        f.place.opening = true;
        self.run_open(f, flow);
        if f.live() {
            self.nothing_to_tell(f, session, false);
        }
        exits.extend(f.exit(Vec::new()));
        f.join("end", exits);
    }

    /// A session is with somebody: where a part of the remote end is *any*, there is none.
    fn refuse_anybody(&mut self, f: &mut Frame<'p>, user: usize, upper: r::Value, flow: &[r::Value]) -> Option<Exit> {
        let components = self.inst(f.inst).top.clone();
        let mut any: Option<r::Value> = None;
        for (value, _) in flow.iter().zip(&components).filter(|(_, c)| c.is_remote()) {
            let zero = f.constant(&self.a, f.b.type_of(*value), 0);
            let open = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Eq, a: *value, b: zero });
            any = Some(match any {
                None => open,
                Some(before) => f.value(&self.a, r::OpKind::Binary { op: r::Binary::Or, a: before, b: open }),
            });
        }
        let (anybody, somebody) = f.branch(any?, Some(0.01), "anybody", "somebody");
        f.select(anybody);
        self.refuse_open(f, user, upper, "bad_address");
        let refused = f.exit(Vec::new());
        f.select(somebody);
        refused
    }

    fn run_open(&mut self, f: &mut Frame<'p>, flow: Vec<r::Value>) {
        let handler = self.handler_where(f.inst, |event| matches!(event, s::Event::Open { .. }));
        let Some(handler) = handler else { return self.open_on(f, flow) };
        f.place.pass = Pass::Open;
        let given = match &handler.event {
            s::Event::Open { flow: Some(local) } => vec![(*local, flow.clone())],
            _ => Vec::new(),
        };
        self.run(f, handler, given);
        // A handler that says nothing of how it goes on only adds to what the shape does.
        if f.live() && !decides_opening(handler) {
            self.open_on(f, flow);
        }
    }

    /// What the shape does when a session opens: the layer below opens, or it is open already.
    pub fn open_on(&mut self, f: &mut Frame<'p>, flow: Vec<r::Value>) {
        let inst = f.inst;
        if !self.inst(inst).is_multiplexor() {
            return self.open_below(f, flow);
        }
        match self.infos[inst].lower {
            None => self.say_opened(f),
            Some(_) => self.join_lower(f, flow),
        }
    }

    /// `open` for the layer below, by the session (or lower side's object) at hand.
    fn open_below(&mut self, f: &mut Frame<'p>, bottom: Vec<r::Value>) {
        let inst = f.inst;
        let Some(below) = self.inst(inst).below else { return };
        let object = match self.infos[inst].lower {
            Some(_) => self.lower_object(f),
            None => f.place.session,
        };
        let Some(object) = object else { return };
        let flow = self.lift(f, &bottom, false);
        let several = self.plan.session_users(below).len() > 1;
        let user = several.then_some(inst);
        let event = self.event_of("open", user);
        let components = self.inst(below).top.clone();
        let given = self.given_below(f, below);
        let upper = vec![("upper".to_owned(), f.b.type_of(object))];
        let params = [upper, self.flow_params(&components), self.given_params(below)].concat();
        self.event(below, On::Entity, &event, params, What::Open { user });
        let class = self.infos[below].entity();
        let target = f.value(&self.a, r::OpKind::Unique { class });
        f.op(&self.a, r::OpKind::Emit { target, event, args: [vec![object], flow, given].concat() });
    }

    /// `below.open(…)` in code: an endpoint makes its session, another layer's is there.
    pub fn open_by_hand(&mut self, f: &mut Frame<'p>, flow: Vec<r::Value>) {
        if f.place.session.is_some() {
            return self.open_below(f, flow);
        }
        let Some(class) = self.infos[f.inst].session else {
            self.error(
                "M0725",
                "only a layer with sessions opens one",
                self.inst(f.inst).span,
                "give it a `session` scope",
            );
            return;
        };
        let place = f.place.clone();
        let (made, session, full) = self.new_object(f, class);
        f.select(full);
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(made);
        self.begin_session(f, session, None, None);
        self.open_below(f, flow);
        f.place = place;
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    /// A session of a multiplexor whose lower side has sessions: it shares the one of its flow below, or opens it.
    fn join_lower(&mut self, f: &mut Frame<'p>, flow: Vec<r::Value>) {
        let info = self.info(f.inst);
        let Some(class) = info.lower else { return };
        let Some(session) = f.place.session else { return };
        let bottom = self.bottom_of(f.inst, &flow);
        let entity = self.entity(f);
        let Some(cell) = info.lowers else { return };
        let (shared, first) = self.find_in(f, entity, cell, class, &bottom);
        let mut exits: Vec<Exit> = Vec::new();
        f.select(shared.0);
        self.share_lower(f, session, shared.1);
        exits.extend(f.exit(Vec::new()));
        f.select(first);
        let (made, lower, full) = self.new_object(f, class);
        f.select(full);
        let reason = self.told_reason(f.inst, "no_room");
        let why = f.constant(&self.a, r::Type::Reason, u64::from(reason.0));
        self.event_up(f, "failed", What::Failed, vec![why]);
        self.leave_session(f, session);
        exits.extend(f.exit(Vec::new()));
        f.select(made);
        self.set_cells(f, lower, &info.lower_flow, bottom.clone());
        self.put_in(f, entity, cell, &bottom, lower);
        self.count_in(f, session, lower);
        f.place.lower = Some(lower);
        self.set_late(f, s::ScopeKind::SessionBelow, lower);
        self.open_below(f, bottom);
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    fn count_in(&mut self, f: &mut Frame<'p>, session: r::Value, lower: r::Value) {
        let info = self.info(f.inst);
        let (Some(of), Some(cell)) = (info.of_lower, info.lower_count) else { return };
        f.op(&self.a, r::OpKind::Set { object: session, cell: of, value: lower });
        let count = f.value(&self.a, r::OpKind::Get { object: lower, cell });
        let one = f.constant(&self.a, r::Type::U(32), 1);
        let value = f.value(&self.a, r::OpKind::Binary { op: r::Binary::AddWrap, a: count, b: one });
        f.op(&self.a, r::OpKind::Set { object: lower, cell, value });
    }

    /// The lower one is open, or its `opened` will tell all who share it.
    fn share_lower(&mut self, f: &mut Frame<'p>, session: r::Value, lower: r::Value) {
        let info = self.info(f.inst);
        self.count_in(f, session, lower);
        let Some(cell) = info.lower_below else { return };
        let below = f.value(&self.a, r::OpKind::Get { object: lower, cell });
        let class = self.class_of(f, below);
        let null = f.value(&self.a, r::OpKind::Null { class });
        let open = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: below, b: null });
        let (yes, no) = f.branch(open, None, "open", "opening");
        f.select(yes);
        self.set_opened(f, session);
        self.say_opened(f);
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(no);
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    pub fn set_opened(&mut self, f: &mut Frame<'p>, session: r::Value) {
        if let Some(cell) = self.infos[f.inst].opened {
            let value = f.constant(&self.a, r::Type::Bool, 1);
            f.op(&self.a, r::OpKind::Set { object: session, cell, value });
        }
    }

    pub fn say_opened(&mut self, f: &mut Frame<'p>) {
        if let Some(session) = f.place.session {
            self.event_up(f, "opened", What::Opened, vec![session]);
        }
    }

    // -- accepted

    /// Tells a user's entity of a session that the other end began.
    pub fn accepted_for(&mut self, f: &mut Frame<'p>, user: usize, session: r::Value, flow: &[r::Value]) {
        let args = [vec![session], self.as_user_sees(user, flow)].concat();
        let components = self.inst(user).bottom.clone();
        let params = [vec![("lower".to_owned(), f.b.type_of(session))], self.flow_params(&components)].concat();
        self.event(user, On::Entity, "accepted", params, What::Accepted);
        let class = self.infos[user].entity();
        let target = f.value(&self.a, r::OpKind::Unique { class });
        f.op(&self.a, r::OpKind::Emit { target, event: "accepted".into(), args });
    }

    pub fn say_accepted(&mut self, f: &mut Frame<'p>) {
        let (Some(session), Some(user)) = (f.place.session, self.plan.session_users(f.inst).first().copied()) else {
            return;
        };
        let flow = self.flow_at_hand(f);
        self.accepted_for(f, user, session, &flow);
    }

    /// `accepted(lower, flow)` on the entity of a worker or an endpoint.
    pub fn make_accepted(&mut self, f: &mut Frame<'p>) {
        let inst = f.inst;
        let params = f.params();
        let (lower, flow) = (params[1], params[2..].to_vec());
        let Some(class) = self.lower_side(inst).1 else { return };
        let (made, object, full) = self.new_object(f, class);
        f.select(full);
        self.answer_lower(f, lower, "refuse", What::Refuse, Vec::new());
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(made);
        let info = self.info(inst);
        if let (Some(cell), Some(_)) = (info.lower_below, info.lower) {
            f.op(&self.a, r::OpKind::Set { object, cell, value: lower });
            self.set_cells(f, object, &info.lower_flow, flow.clone());
            let entity = self.entity(f);
            if let Some(map) = info.lowers {
                self.put_in(f, entity, map, &flow, object);
            }
            f.place.lower = Some(object);
            self.set_late(f, s::ScopeKind::SessionBelow, object);
            self.attach_to(f, lower, object);
        } else {
            if let Some(cell) = info.below {
                f.op(&self.a, r::OpKind::Set { object, cell, value: lower });
            }
            self.begin_session(f, object, None, Some(&flow));
            f.place.unsure_up = true;
            self.run_accepted(f, lower, object, flow);
            if f.live() {
                self.nothing_to_tell(f, object, true);
            }
        }
        exits.extend(f.exit(Vec::new()));
        f.join("end", exits);
    }

    fn run_accepted(&mut self, f: &mut Frame<'p>, lower: r::Value, session: r::Value, flow: Vec<r::Value>) {
        let inst = f.inst;
        let handler = self.handler_where(inst, |event| matches!(event, s::Event::Accepted { .. }));
        let endpoint = self.inst(inst).shape() == Some(s::Shape::Endpoint);
        let delayed = self.emits(inst, "accepted");
        if let Some(handler) = handler {
            f.place.pass = if endpoint { Pass::Nothing } else { Pass::Accepted };
            let given = match &handler.event {
                s::Event::Accepted { flow: Some(local) } => vec![(*local, flow.clone())],
                _ => Vec::new(),
            };
            self.run(f, handler, given);
        }
        if !f.live() {
            return;
        }
        let decided = handler.is_some_and(decides_opening);
        if !endpoint && !delayed && !decided {
            self.say_accepted(f);
        }
        // Whoever passes it on attaches when the layer above does; a layer that waits, at once.
        if endpoint || delayed {
            self.attach_to(f, lower, session);
        }
    }

    pub fn refuse_lower(&mut self, f: &mut Frame<'p>, lower: r::Value) {
        self.answer_lower(f, lower, "refuse", What::Refuse, Vec::new());
    }

    fn answer_lower(&mut self, f: &mut Frame<'p>, lower: r::Value, event: &str, what: What, args: Vec<r::Value>) {
        let Some(below) = self.inst(f.inst).below else { return };
        let params = named(&args, f);
        self.event(below, On::Session, event, params, what);
        f.op(&self.a, r::OpKind::Emit { target: lower, event: event.to_owned(), args });
    }

    pub fn attach_to(&mut self, f: &mut Frame<'p>, lower: r::Value, object: r::Value) {
        let inst = f.inst;
        let Some(below) = self.inst(inst).below else { return };
        let user = (self.plan.session_users(below).len() > 1).then_some(inst);
        let event = self.event_of("attach", user);
        self.answer_lower(f, lower, &event, What::Attach { user }, vec![object]);
    }

    /// `attach(upper)` on the session: the layer above has its half now.
    pub fn make_attach(&mut self, f: &mut Frame<'p>) {
        let params = f.params();
        let (session, upper) = (params[0], params[1]);
        f.place.session = Some(session);
        self.set_above(f, session, upper);
        let info = self.info(f.inst);
        match info.first {
            Some(cell) => {
                let index = f.constant(&self.a, r::Type::U(32), 0);
                let (held, none) = (f.b.block("first", &[("first".into(), r::Type::Msg)]), f.b.block("none", &[]));
                f.end(r::Terminator::Try {
                    op: r::Fallible::TakeOut { object: session, cell, index },
                    then: to(held),
                    otherwise: to(none),
                });
                let message = f.b.params(held)[0];
                f.select(held);
                match self.faulty(Fault::FirstMessageLost) {
                    true => self.drop(f, message, "lost"),
                    false => self.deliver_up(f, message, None),
                }
                let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
                f.select(none);
                exits.extend(f.exit(Vec::new()));
                f.join("end", exits);
            }
            None if self.emits(f.inst, "accepted") => {}
            None => {
                if let Some(lower) = self.lower_session(f) {
                    self.attach_to(f, lower, session);
                }
            }
        }
    }

    pub fn make_refuse(&mut self, f: &mut Frame<'p>) {
        let session = f.params()[0];
        f.place.session = Some(session);
        if let Some(cell) = self.infos[f.inst].first {
            let index = f.constant(&self.a, r::Type::U(32), 0);
            let (held, none) = (f.b.block("first", &[("first".into(), r::Type::Msg)]), f.b.block("none", &[]));
            f.end(r::Terminator::Try {
                op: r::Fallible::TakeOut { object: session, cell, index },
                then: to(held),
                otherwise: to(none),
            });
            let message = f.b.params(held)[0];
            f.select(held);
            self.drop(f, message, "refused");
            f.jump(none, []);
            f.select(none);
            self.leave_session(f, session);
        } else {
            self.event_down(f, "refuse", What::Refuse, Vec::new());
            self.release_session(f, session);
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
