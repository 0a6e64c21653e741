//! The end of sessions: `close` and the like, `failed`; and the maps in which they are found until then.
//!
//! Invariant: a session is released once, by the handler that ends it, which removes it from its maps.

use mokume_reaction as r;

use crate::code::Writer;
use crate::fault::Fault;
use crate::stack::{EndingCells, Purpose};

/// How a session that settles asks to end.
#[derive(Clone, Copy)]
pub enum Ending {
    Close = 1,
    Abort = 2,
    Failure = 3,
}

/// `close` or `abort`: the event for the session below, and the purpose of its handler there.
fn below(ending: Ending) -> (&'static str, Purpose) {
    match ending {
        Ending::Close => ("close", Purpose::Close),
        Ending::Abort | Ending::Failure => ("abort", Purpose::Abort),
    }
}

impl<'p> Writer<'_, 'p> {
    // -- the end of a session that settles

    /// If the current session settles, and this is its instant or it begins in it: notes how it is to end, which
    /// happens after its next settling. The first request counts. `false`: it must end at once.
    fn put_off(&mut self, ending: Ending, why: Option<r::Value>) -> bool {
        let info = self.info();
        let (Some(session), Some(object)) = (self.runs.session, self.runs.object) else { return false };
        let Some(ends) = info.session.as_ref().and_then(|cells| cells.ending) else { return false };
        let own = self.b.type_of(object) == self.b.type_of(session);
        let begins = self.b.type_of(object) == r::Type::Ref(info.classes.entity);
        // A failure after the beginning of a session above or below waits until those exist and can be told.
        let waits = ends.settles || matches!(ending, Ending::Failure) && (begins || self.begun);
        if self.runs.over || !waits || !(own || begins) {
            return false;
        }
        if begins {
            // The change to it in this instant is not an event of its own.
            self.op(r::OpKind::Again { object: session });
            self.not_offered(session);
        }
        let known = self.get(session, ends.how);
        let first = self.is_zero(known);
        self.when(first, |w| {
            let how = w.constant(r::Type::U(2), ending as u64);
            w.set(session, ends.how, how);
            if let Some(why) = why {
                w.set(session, ends.why, why);
            }
        });
        true
    }

    /// After the code of a session's settling: ends it as requested, unless it settles again.
    pub fn end_after_settling(&mut self) {
        let info = self.info();
        let Some((session, ends)) = self.runs.session.zip(info.session.as_ref().and_then(|cells| cells.ending)) else {
            return;
        };
        let how = self.get(session, ends.how);
        let zero = self.is_zero(how);
        let mut ending = self.value(r::OpKind::Not { a: zero });
        if let Some(cell) = ends.again {
            let again = self.get(session, cell);
            let no = self.truth(false);
            self.set(session, cell, no);
            let over = self.value(r::OpKind::Not { a: again });
            ending = self.binary(r::Binary::And, ending, over);
        }
        let fork = self.fork_likely(ending, Some(0.01));
        self.ways(fork, |w, _| w.end_as_asked(session, how, ends), |_, _| {});
    }

    /// Whether the session has asked to end as a failure; `None` if no session of the layer waits for its end.
    pub fn has_failed(&mut self, session: r::Value) -> Option<r::Value> {
        let ends = self.info().session.as_ref().and_then(|cells| cells.ending)?;
        let (how, failed) = (self.get(session, ends.how), self.constant(r::Type::U(2), Ending::Failure as u64));
        Some(self.compare(r::Compare::Eq, how, failed))
    }

    fn end_as_asked(&mut self, session: r::Value, how: r::Value, ends: EndingCells) {
        let none = self.constant(r::Type::U(2), 0);
        self.set(session, ends.how, none);
        let asked = [Ending::Close, Ending::Abort];
        let lower = self.lower_session();
        let kinds = asked.map(|ending| vec![ending as u64]);
        self.switch(how, &kinds, |w, at| {
            match at {
                Some(at) => w.close_now(asked[at]),
                None => {
                    let why = w.get(session, ends.why);
                    w.fail_now(session, why);
                }
            }
            Vec::new()
        });
        self.let_go(lower);
    }

    /// `again`: it settles once more before it ends.
    pub fn note_again(&mut self) {
        let info = self.info();
        let again = info.session.as_ref().and_then(|cells| cells.ending?.again);
        if let (Some(cell), Some(session)) = (again, self.runs.session) {
            let yes = self.truth(true);
            self.set(session, cell, yes);
        }
    }

    /// `below.close()`, `below.abort()` in code.
    pub fn close_by_hand(&mut self, ending: Ending) {
        if self.runs.lower.is_none() {
            self.has_session("this ends nothing");
        }
        if !self.put_off(ending, None) {
            self.tell_no_more();
            self.end_below(ending);
        }
    }

    /// A session that this code has ended is not begun by it: `opened` and `accepted` behind the end tell nobody.
    fn tell_no_more(&mut self) {
        if let Some(session) = self.runs.session {
            self.note_told(session);
        }
    }

    fn end_below(&mut self, ending: Ending) {
        let (event, purpose) = below(ending);
        let lower = if self.is_being_accepted() { self.lower_session() } else { None };
        self.event_down(event, purpose, Vec::new());
        self.let_go(lower);
    }

    /// Whether this is code of a worker's entity that is told of a session which the other end began, and the session
    /// below exists.
    fn is_being_accepted(&self) -> bool {
        let entity = r::Type::Ref(self.info().classes.entity);
        !self.runs.opening && self.runs.object.is_some_and(|object| self.b.type_of(object) == entity)
    }

    // -- ends

    /// The default of `close` and `abort`: passed to the layer below, or the end of a session that has none.
    pub fn close_on(&mut self, ending: Ending) {
        if !self.put_off(ending, None) {
            self.close_now(ending);
        }
    }

    fn close_now(&mut self, ending: Ending) {
        if !self.inst(self.inst).is_multiplexor() {
            return self.end_below(ending);
        }
        let Some(session) = self.runs.session else { return };
        self.event_up("closed", Purpose::Closed, Vec::new());
        self.leave_session(session);
    }

    /// Warns of an emission that needs a session where there is none.
    pub(crate) fn has_session(&mut self, what: &str) {
        // A worker without a scope `session` runs for the sessions that are below it, too.
        let at = self.inst(self.inst);
        if self.runs.session.is_none() && !at.uses.sessions && !at.used.sessions {
            let help = "emit it in a handler of the scope `session`, of a layer whose flows have sessions";
            // The same layer may have sessions in another stack.
            let text = format!("in `{}` {what}: there is no session where this code runs", self.stack.name.text);
            self.warn("M0725", &text, self.at, help);
        }
    }

    /// `above.closed()`: the session above ends. A multiplexor's own session ends with it.
    pub fn say_closed(&mut self) {
        self.has_session("`closed` tells nobody");
        let Some(session) = self.runs.session else { return };
        if self.inst(self.inst).is_multiplexor() {
            return self.close_now(Ending::Close);
        }
        self.event_up("closed", Purpose::Closed, Vec::new());
        if self.begun {
            // It is found when the event is carried out, and ends then.
            return;
        }
        // There is no session above any more.
        let (info, of) = (self.info(), self.class_of(session));
        for cell in info.session.iter().flat_map(|cells| &cells.above) {
            if let r::CellKind::Scalar { ty, .. } = self.a.cell(of, *cell).kind {
                let nobody = self.zero(ty);
                self.set(session, *cell, nobody);
            }
        }
    }

    /// `fail: reason`: tells the layer above, aborts below, and ends the own session.
    pub fn fail(&mut self, reason: r::Value) {
        let Some(session) = self.runs.session else {
            let help = "give the layer a `session` scope, or put it over layers with sessions; what is lost is dropped: `drop msg: reason`";
            self.error_said("M0725", "only a session fails, and here is flow traffic", help);
            return;
        };
        if !self.put_off(Ending::Failure, Some(reason)) {
            self.tell_no_more();
            self.fail_now(session, reason);
        }
    }

    fn fail_now(&mut self, session: r::Value, reason: r::Value) {
        self.event_up("failed", Purpose::Failed, vec![reason]);
        if self.inst(self.inst).is_multiplexor() {
            return self.leave_session(session);
        }
        self.end_below(Ending::Failure);
        self.release_session(session);
    }

    /// Removes a multiplexor's session from its map and releases it; the lower session ends with the last one that
    /// shares it.
    pub fn leave_session(&mut self, session: r::Value) {
        if !self.faulty(Fault::SessionKept) {
            self.take_session_out(session);
        }
        let info = self.info();
        let (Some(cells), Some(of)) = (&info.lower, info.session.as_ref().and_then(|cells| cells.lower)) else {
            return self.release_session(session);
        };
        let lower = self.get(session, of);
        self.release_session(session);
        let has = self.is_there(lower);
        self.when(has, |w| {
            let left = w.bump(lower, cells.count, r::Binary::SubWrap);
            let last = w.is_zero(left);
            w.when(last, |w| w.close_lower(lower));
        });
    }

    /// No session shares the lower one any more: it closes.
    pub(super) fn close_lower(&mut self, lower: r::Value) {
        self.runs.lower = Some(lower);
        self.event_down("close", Purpose::Close, Vec::new());
        self.release_lower(lower);
    }

    /// Removes it from the map and releases it; the lower one ends by itself.
    pub(super) fn forget_session(&mut self, session: r::Value) {
        self.take_session_out(session);
        self.release_session(session);
    }

    fn take_session_out(&mut self, session: r::Value) {
        let info = self.info();
        if let Some((found, cells)) = info.session.as_ref().and_then(|cells| Some((cells.found?, cells))) {
            let key = self.get_all(session, &cells.flow);
            self.take_from(found.map, key);
        }
    }

    /// Removes the lower side's object from its map, and ends it. The layer below is not told.
    pub fn release_lower(&mut self, lower: r::Value) {
        if let Some(cells) = &self.info().lower {
            let key = self.get_all(lower, &cells.flow);
            self.take_from(cells.map, key);
        }
        self.op(r::OpKind::Release { object: lower });
    }
}
