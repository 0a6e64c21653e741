//! The beginning of sessions: `open` goes down and `opened` climbs, `accepted` climbs and `attach` goes down.
//!
//! Invariant: a session that could not begin is in no map, and its requester is told.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::point::Full;
use crate::code::{Exits, Pass, Writer};
use crate::fault::Fault;
use crate::stack::{
    decides_opening, may_keep_from_those_above, says_upwards, speaks_down_when_accepted, stays_silent_when_accepted,
    On, Purpose,
};

/// How the layer above learns of a session that begins.
#[derive(Clone, Copy)]
pub enum Beginning {
    /// The layer above asked for the session.
    Opened,
    /// The other end began it.
    Accepted,
}

impl<'x, 'p> Writer<'x, 'p> {
    // -- a new session

    /// Stores what identifies a new session: its user if there are several, and its flow.
    pub fn identify(&mut self, session: r::Value, user: Option<usize>, flow: &[r::Value]) {
        let info = self.info();
        let Some(cells) = &info.session else { return };
        if let Some(user) = user {
            self.note_user(session, user);
        }
        self.set_cells(session, &cells.flow, flow.to_vec());
    }

    /// Stores the user of a session if there are several above.
    fn note_user(&mut self, session: r::Value, user: usize) {
        if let Some(cell) = self.info().session.as_ref().and_then(|cells| cells.user) {
            let place = self.session_tag(self.inst, user).unwrap_or(0);
            let value = self.constant(r::Type::U(8), place as u64);
            self.set(session, cell, value);
        }
    }

    /// Makes the session the current one, with its point, its initial values, and what it was given. `accepted`: the
    /// other end began it, so the session below exists already.
    pub fn begin(&mut self, session: r::Value, flow: Option<&[r::Value]>, accepted: bool) {
        self.begin_with(session, flow, accepted, None, |_| {});
    }

    /// The same, with given values, while messages are held.
    pub fn begin_with(
        &mut self,
        session: r::Value,
        flow: Option<&[r::Value]>,
        accepted: bool,
        full: Full<'_, 'x, 'p>,
        give: impl FnOnce(&mut Self),
    ) {
        self.runs.session = Some(session);
        self.runs.flow = flow.map(Into::into);
        self.join_point(session, flow.filter(|_| accepted), full);
        // Initial values may depend on the given ones.
        let given = |layer: &s::Layer, member| {
            [&layer.given, &layer.listened, &layer.accepted].into_iter().any(|asked| asked.contains(&member))
        };
        self.set_late_where(s::ScopeKind::Session, session, given);
        if let Some(flow) = flow.filter(|_| accepted) {
            self.take_from_listener(session, flow);
        }
        give(self);
        self.set_late_where(s::ScopeKind::Session, session, |layer, member| !given(layer, member));
        self.nothing_to_tell(session, accepted);
    }

    /// Links a session to its session above.
    pub fn set_above(&mut self, session: r::Value, upper: r::Value) {
        let (info, wanted) = (self.info(), self.b.type_of(upper));
        let of = self.class_of(session);
        let fits =
            |cell: &&r::CellId| matches!(self.a.cell(of, **cell).kind, r::CellKind::Scalar { ty, .. } if ty == wanted);
        let above = info.session.as_ref().and_then(|cells| cells.above.iter().find(fits));
        if let Some(cell) = above {
            self.set(session, *cell, upper);
        }
    }

    /// Stores the session below.
    pub fn set_below(&mut self, session: r::Value, lower: r::Value) {
        if let Some(cell) = self.info().below() {
            self.set(session, cell, lower);
        }
        self.note_coming_at(session, lower);
    }

    /// `coming` from below: if the session ends before `opened`, it is known which one to end below.
    pub fn note_coming(&mut self, lower: r::Value) {
        if let Some(object) = self.runs.object {
            self.note_coming_at(object, lower);
        }
    }

    /// The same for a session, or an object of the lower side.
    pub fn note_coming_at(&mut self, object: r::Value, lower: r::Value) {
        if let Some(cell) = self.info().coming() {
            self.set(object, cell, lower);
        }
    }

    /// Tells the requester that its session exists, and will be open later.
    fn say_coming(&mut self, user: usize, upper: r::Value, session: r::Value) {
        if self.comes_late(user) {
            let lower = vec![("lower".to_owned(), self.b.type_of(session))];
            self.event(user, self.lower_side(user).0, "coming", lower, Purpose::Coming);
            self.emit(upper, "coming", vec![session]);
        }
    }

    fn refuse_open(&mut self, user: usize, upper: r::Value, reason: &str) {
        let why = self.why(reason);
        let on = self.lower_side(user).0;
        self.event(user, on, "failed", vec![("why".into(), r::Type::Reason)], Purpose::Failed);
        self.emit(upper, "failed", vec![why]);
    }

    // -- open

    /// `open(upper, flow)` on the entity.
    pub fn make_open(&mut self, user: Option<usize>) {
        let at = self.inst(self.inst);
        let params = self.params();
        let (upper, rest) = (params[1], &params[2..]);
        let (mut flow, given) = (rest[..at.top.len()].to_vec(), &rest[at.top.len()..]);
        let Some(user) = user.or_else(|| self.plan.session_users(self.inst).first().copied()) else { return };
        let Some(class) = self.info().classes.session else { return };
        let mut exits = Exits::default();
        if at.is_multiplexor() {
            if let Some(anybody) = self.is_anybody(&flow) {
                let fork = self.fork_likely(anybody, Some(0.01));
                self.on(&mut exits, fork, |w, _| w.refuse_open(user, upper, "bad_address"));
            }
            self.choose_key(user, &mut flow);
            if let Some(bound) = self.is_taken_by_bound(user, &flow) {
                let fork = self.fork(bound);
                self.on(&mut exits, fork, |w, _| w.refuse_open(user, upper, "in_use"));
            }
            if let Some(taken) = self.find_session(&flow) {
                self.on(&mut exits, taken, |w, _| w.refuse_open(user, upper, "in_use"));
            }
        }
        let made = self.make(class);
        let session = self.unless(&mut exits, made, |w, _| w.refuse_open(user, upper, "no_room"))[0];
        self.set_above(session, upper);
        self.identify(session, Some(user), &flow);
        self.begin_with(session, Some(&flow), false, None, |w| w.take_given(session, given));
        self.enter_session(session, &flow);
        self.say_coming(user, upper, session);
        self.runs.opening = true;
        self.run_open(&flow);
        self.nothing_to_tell(session, false);
        self.exit(&mut exits, Vec::new());
        self.meet(exits);
    }

    /// Whether a part of the remote end is *any*: a session needs a definite peer.
    fn is_anybody(&mut self, flow: &[r::Value]) -> Option<r::Value> {
        let components = &self.inst(self.inst).top;
        let mut any = None;
        for (value, _) in flow.iter().zip(components).filter(|(_, c)| c.is_remote()) {
            let open = self.is_zero(*value);
            any = self.and(any, r::Binary::Or, open);
        }
        any
    }

    fn run_open(&mut self, flow: &[r::Value]) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Open { .. }));
        let Some(handler) = handler else { return self.open_on(flow) };
        self.runs.pass = Pass::Open;
        let given = match &handler.event {
            s::Event::Open { flow: Some(local) } => vec![(*local, flow.to_vec())],
            _ => Vec::new(),
        };
        // A handler that does not decide how the session continues only adds to the default: that comes first, so that
        // what the handler sends reaches the session below.
        if !decides_opening(handler) {
            self.open_on(flow);
        }
        self.run(handler, given);
    }

    /// The default when a session opens: the layer below opens, or it is open already.
    pub fn open_on(&mut self, flow: &[r::Value]) {
        if !self.inst(self.inst).is_multiplexor() {
            return self.open_below(flow);
        }
        match self.info().lower {
            None => self.say_opened(),
            Some(_) => self.join_lower(flow),
        }
    }

    /// Opens the layer below for the current session (or lower side's object).
    fn open_below(&mut self, bottom: &[r::Value]) {
        let Some(below) = self.inst(self.inst).below else { return };
        let object = match self.info().lower {
            Some(_) => self.lower_object(),
            None => self.runs.session,
        };
        let Some(object) = object else { return };
        let flow = self.lift_to(below, bottom, false);
        let user = (self.plan.session_users(below).len() > 1).then_some(self.inst);
        let event = self.event_of("open", user);
        let upper = vec![("upper".to_owned(), self.b.type_of(object))];
        let asked = self.given_at(below);
        let given = self.given_below(&asked);
        let params = [upper, self.flow_params(&self.inst(below).top), self.given_params(&asked)].concat();
        let args = [vec![object], flow, given].concat();
        self.tell_entity_of(below, (&event, params), Purpose::Open { user }, args);
        self.begun = true;
    }

    /// `below.open(…)` in code: an endpoint makes its session; other layers have one already.
    pub fn open_by_hand(&mut self, flow: &[r::Value]) {
        if self.runs.session.is_some() && self.inst(self.inst).shape() != Some(s::Shape::Endpoint) {
            return self.open_below(flow);
        }
        let Some(class) = self.info().classes.session else {
            self.error_said("M0725", "only a layer with sessions opens one", "give it a `session` scope");
            return;
        };
        let made = self.make(class);
        let open = |w: &mut Self, made: &[r::Value]| {
            w.begin(made[0], None, false);
            w.open_below(flow);
        };
        self.ways(made, open, |w, _| w.count_unopened());
    }

    /// An endpoint that is full opens nothing, and has no session that could be told: counted for tools.
    fn count_unopened(&mut self) {
        if let Some(cell) = self.info().refused_sessions {
            let (object, amount) = (self.entity(), self.constant(r::Type::U(32), 1));
            self.op(r::OpKind::Count { object, cell, amount });
        }
    }

    // -- a shared lower side

    /// A session of a multiplexor whose lower side has sessions: shares the one of its flow below, or opens it.
    fn join_lower(&mut self, flow: &[r::Value]) {
        let info = self.info();
        let (Some(cells), Some(session)) = (&info.lower, self.runs.session) else { return };
        let bottom = self.bottom_of(flow);
        let shared = self.find_in(cells.map, &bottom);
        self.ways(
            shared,
            |w, lower| w.share_lower(session, lower[0]),
            |w, _| {
                let made = w.make(cells.class);
                let open = |w: &mut Self, made: &[r::Value]| {
                    let lower = made[0];
                    w.set_cells(lower, &cells.flow, bottom.clone());
                    w.put_in(cells.map, &bottom, lower);
                    w.count_in(session, lower);
                    w.runs.lower = Some(lower);
                    w.set_late(s::ScopeKind::SessionBelow, lower);
                    w.open_below(&bottom);
                };
                w.ways(made, open, |w, _| {
                    let why = w.why("no_room");
                    w.event_up("failed", Purpose::Failed, vec![why]);
                    w.leave_session(session);
                });
            },
        );
    }

    /// Counts one more session that shares the object of a lower side.
    pub(super) fn count_in(&mut self, session: r::Value, lower: r::Value) {
        let info = self.info();
        let (Some(cells), Some(of)) = (&info.lower, info.session.as_ref().and_then(|cells| cells.lower)) else {
            return;
        };
        self.set(session, of, lower);
        self.bump(lower, cells.count, r::Binary::AddWrap);
    }

    /// The lower session is open, or its `opened` will tell all that share it.
    fn share_lower(&mut self, session: r::Value, lower: r::Value) {
        self.count_in(session, lower);
        let Some(cell) = self.info().lower.as_ref().map(|cells| cells.below) else { return };
        let below = self.get(lower, cell);
        let open = self.is_there(below);
        self.when(open, |w| {
            w.set_opened(session);
            w.say_opened();
        });
    }

    /// Stores that the session's user was told that it is open, if anything reads that.
    pub fn set_opened(&mut self, session: r::Value) {
        if let Some(cell) = self.info().session.as_ref().and_then(|cells| cells.opened) {
            let yes = self.truth(true);
            self.set(session, cell, yes);
        }
    }

    /// Tells the layer above that its session is open; an application also gets the flow, through the workers between.
    pub fn say_opened(&mut self) {
        let Some(session) = self.runs.session else { return };
        self.note_told(session);
        let users = self.plan.session_users(self.inst);
        let told: Vec<bool> = users.iter().map(|user| self.hears_flow(*user)).collect();
        if !told.contains(&true) {
            return self.event_up("opened", Purpose::Opened, vec![session]);
        }
        let flow = self.flow_at_hand();
        let mut all = Vec::new();
        for (user, told) in users.iter().zip(told) {
            let rest = if told { self.as_user_sees(*user, &flow) } else { Vec::new() };
            all.push([vec![session], rest].concat());
        }
        self.event_up_each("opened", Purpose::Opened, &all);
    }

    /// `opened` or `accepted` from the layer's code: only the first in a session's life counts, `opened` for a session
    /// that the layer above asked for, `accepted` for others. All others tell no layer, and are counted.
    pub fn tell_once(&mut self, what: Beginning) {
        let info = self.info();
        let cells = info.session.as_ref().and_then(|cells| Some((cells.told?, &cells.above)));
        let (Some((told, above)), Some(session)) = (cells, self.runs.session) else { return self.tell(what) };
        let before = self.get(session, told);
        let mut asked = None;
        for cell in above {
            let above = self.get(session, *cell);
            let there = self.is_there(above);
            asked = self.and(asked, r::Binary::Or, there);
        }
        let Some(asked) = asked else { return self.tell(what) };
        let wrong = match what {
            Beginning::Opened => self.value(r::OpKind::Not { a: asked }),
            Beginning::Accepted => asked,
        };
        let refused = self.binary(r::Binary::Or, before, wrong);
        let fork = self.fork_likely(refused, Some(0.01));
        let again = |w: &mut Self, _: &[r::Value]| {
            if let Some(cell) = info.told_twice {
                let (object, amount) = (w.entity(), w.constant(r::Type::U(32), 1));
                w.op(r::OpKind::Count { object, cell, amount });
            }
        };
        self.ways(fork, again, |w, _| w.tell(what));
    }

    /// Stores that the layer above was told of the session, by the layer's code or by its shape.
    pub(super) fn note_told(&mut self, session: r::Value) {
        if let Some(told) = self.info().session.as_ref().and_then(|cells| cells.told) {
            let yes = self.truth(true);
            self.set(session, told, yes);
        }
    }

    fn tell(&mut self, what: Beginning) {
        match what {
            Beginning::Opened => self.say_opened(),
            Beginning::Accepted => self.say_accepted(),
        }
    }

    // -- accepted

    /// Tells a user's entity of a session that the other end began.
    pub(super) fn accepted_for(&mut self, user: usize, session: r::Value, flow: &[r::Value]) {
        let args = [vec![session], self.as_user_sees(user, flow)].concat();
        let lower = vec![("lower".to_owned(), self.b.type_of(session))];
        let params = [lower, self.flow_params(&self.inst(user).bottom)].concat();
        match self.offered_to(user) {
            // The layers below may refuse it before this is carried out: then there is nothing to tell.
            Some(cell) => {
                self.event(user, On::Entity, "accepted", params, Purpose::Accepted);
                self.op(r::OpKind::EmitBy { object: session, cell, event: "accepted".to_owned(), args });
            }
            None => self.tell_entity_of(user, ("accepted", params), Purpose::Accepted, args),
        }
    }

    /// Tells the entity of the layer above of the current session, with its flow.
    pub fn say_accepted(&mut self) {
        let users = self.plan.session_users(self.inst);
        let (Some(session), false) = (self.runs.session, users.is_empty()) else { return };
        self.note_told(session);
        let flow = self.flow_at_hand();
        match users[..] {
            [user] => self.accepted_for(user, session, &flow),
            _ => self.accepted_for_listener(session, &flow),
        }
        self.begun = true;
    }

    /// The same if several layers are above a worker: tells the one that listened for the flow. If none does any more,
    /// the session is refused.
    fn accepted_for_listener(&mut self, session: r::Value, flow: &[r::Value]) {
        let Some(patterns) = self.info().listeners else { return };
        let listening = self.listening(self.inst);
        let found = self.search(flow, patterns, &[Vec::new()]);
        let tell = |w: &mut Self, which: &[r::Value]| {
            w.among(which[0], listening.len(), |w, at| {
                let (user, _) = listening[at];
                w.note_user(session, user);
                w.accepted_for(user, session, flow);
            });
        };
        self.ways(found, tell, |w, _| {
            w.event_down("refuse", Purpose::Refuse, Vec::new());
            w.release_session(session);
        });
    }

    /// `accepted(lower, flow)` on the entity of a worker or an endpoint.
    pub fn make_accepted(&mut self) {
        let params = self.params();
        let (lower, flow) = (params[1], &params[2..]);
        let info = self.info();
        let Some(class) = self.lower_side(self.inst).1 else { return };
        let made = self.make(class);
        let begin = |w: &mut Self, made: &[r::Value]| match &info.lower {
            Some(cells) => {
                let object = made[0];
                w.set(object, cells.below, lower);
                w.note_coming_at(object, lower);
                w.set_cells(object, &cells.flow, flow.to_vec());
                w.put_in(cells.map, flow, object);
                w.runs.lower = Some(object);
                w.set_late(s::ScopeKind::SessionBelow, object);
                w.attach_to(lower, object);
            }
            None => {
                let session = made[0];
                w.set_below(session, lower);
                w.identify(session, None, flow);
                w.begin(session, Some(flow), true);
                w.claim(lower, session);
                w.run_accepted(lower, session, flow);
                w.nothing_to_tell(session, true);
                w.touch(session);
            }
        };
        self.ways(made, begin, |w, _| w.refuse_lower(lower));
    }

    /// If this layer, or one above, may end the session or send down while it is told of it, the effects below must
    /// reach this session, so it is claimed first. A session that has ended is not offered any more.
    fn claim(&mut self, lower: r::Value, session: r::Value) {
        let (Some(layer), Some(below)) = (self.layer(self.inst), self.inst(self.inst).below) else { return };
        if speaks_down_when_accepted(layer) {
            self.note_offered(session);
        }
        if self.may_end_as_accepted(self.inst) {
            let event = self.event_of("claim", self.attached_as(below));
            self.answer(below, lower, (&event, Purpose::Claim), vec![session]);
        }
    }

    /// The number of this layer among the users of a layer below.
    fn attached_as(&self, below: usize) -> Option<usize> {
        (self.plan.session_users(below).len() > 1).then_some(self.inst)
    }

    /// If the layer's sessions settle: an instant of the entity that changed this one counts as its event.
    pub fn touch(&mut self, session: r::Value) {
        if self.info().session.as_ref().and_then(|cells| cells.ending).is_some_and(|ends| ends.settles) {
            self.op(r::OpKind::Again { object: session });
        }
    }

    fn run_accepted(&mut self, lower: r::Value, session: r::Value, flow: &[r::Value]) {
        self.run_begun(flow);
        // A layer that passes it on attaches when the layer above does; one that waits, or does neither, attaches at
        // once.
        if self.inst(self.inst).shape() == Some(s::Shape::Endpoint) || self.emits(self.inst, "accepted") {
            self.attach_to(lower, session);
        } else if self.layer(self.inst).is_some_and(stays_silent_when_accepted) {
            match self.has_failed(session) {
                Some(failed) => {
                    let fork = self.fork_likely(failed, Some(0.01));
                    self.ways(fork, |_, _| {}, |w, _| w.attach_to(lower, session));
                }
                None => self.attach_to(lower, session),
            }
        }
    }

    /// After the end of a session below, when those above are told or when it settles: if it lives on for a while, it
    /// gets the message that began it.
    pub(super) fn let_go(&mut self, lower: Option<r::Value>) {
        let begun = |layer: &&s::Layer| layer.shape == s::Shape::Worker && !layer.awaits();
        let layer = self.layer(self.inst).filter(begun);
        if !layer.is_some_and(may_keep_from_those_above) || self.emits(self.inst, "accepted") {
            return;
        }
        if let (Some(session), Some(lower)) = (self.runs.session, lower) {
            self.attach_to(lower, session);
        }
    }

    /// Runs the layer's handler of `accepted` for the current session; tells the layer above, unless the layer's code
    /// does that.
    pub fn run_begun(&mut self, flow: &[r::Value]) {
        let handler = self.handler_where(self.inst, |event| matches!(event, s::Event::Accepted { .. }));
        let endpoint = self.inst(self.inst).shape() == Some(s::Shape::Endpoint);
        let told = !endpoint && !self.emits(self.inst, "accepted") && !handler.is_some_and(decides_opening);
        // What the handler emits upwards must reach the session above.
        let first = told && handler.is_some_and(says_upwards);
        if first {
            self.say_accepted();
        }
        if let Some(handler) = handler {
            self.runs.pass = if endpoint { Pass::Nothing } else { Pass::Accepted };
            let given = match &handler.event {
                s::Event::Accepted { flow: Some(local) } => vec![(*local, flow.to_vec())],
                _ => Vec::new(),
            };
            self.run(handler, given);
        }
        if told && !first {
            self.say_accepted();
        }
    }

    /// Tells the layer below that the session it offered is refused.
    pub fn refuse_lower(&mut self, lower: r::Value) {
        if let Some(below) = self.inst(self.inst).below {
            self.answer(below, lower, ("refuse", Purpose::Refuse), Vec::new());
        }
    }

    /// Gives the session below the object that is now over it.
    pub fn attach_to(&mut self, lower: r::Value, object: r::Value) {
        let Some(below) = self.inst(self.inst).below else { return };
        let event = self.event_of("attach", self.attached_as(below));
        self.answer(below, lower, (&event, Purpose::Attach), vec![object]);
    }

    /// `attach(upper)` on the session: the layer above has made its session.
    pub fn make_attach(&mut self) {
        let params = self.params();
        let (session, upper) = (params[0], params[1]);
        self.set_above(session, upper);
        if self.inst(self.inst).is_multiplexor() {
            return self.with_first(session, |w, message| match w.faulty(Fault::FirstMessageLost) {
                true => w.drop(message, "lost"),
                // It was decoded before it was kept.
                false => w.hand_up(message, None),
            });
        }
        // A layer whose code emits `accepted` has attached before.
        if !self.emits(self.inst, "accepted") {
            if let Some(lower) = self.lower_session() {
                self.attach_to(lower, session);
            }
        }
    }

    /// `refuse` on the session: no layer above wants it.
    pub fn make_refuse(&mut self) {
        let session = self.params()[0];
        if self.inst(self.inst).is_multiplexor() {
            self.with_first(session, |w, message| w.drop(message, "refused"));
            self.leave_session(session);
        } else {
            self.event_down("refuse", Purpose::Refuse, Vec::new());
            self.release_session(session);
        }
    }

    /// Runs code on the message that began a multiplexor's session, if there is one.
    fn with_first(&mut self, session: r::Value, then: impl FnOnce(&mut Self, r::Value)) {
        let Some(found) = self.info().session.as_ref().and_then(|cells| cells.found) else { return };
        let (cell, index) = (found.first, self.constant(r::Type::U(32), 0));
        let held = self.attempt(r::Fallible::TakeOut { object: session, cell, index });
        let taken = |w: &mut Self, message: &[r::Value]| {
            let (object, amount) = (w.entity(), w.constant(r::Type::U(32), 1));
            w.op(r::OpKind::Give { object, cell: found.arriving, amount });
            then(w, message[0]);
        };
        self.ways(held, taken, |_, _| {});
    }
}
