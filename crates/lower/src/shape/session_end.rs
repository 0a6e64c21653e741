//! Sessions end: `close` and its kin, `failed`; and the maps in which they are found until then.
//!
//! Invariant: a session is released once, by the handler that ends it, and is taken out of its maps there.

use mokume_reaction as r;

use crate::code::Writer;
use crate::fault::Fault;
use crate::stack::Purpose;

impl<'p> Writer<'_, 'p> {
    /// `close`, `abort` as the shape does them: on to the layer below, or the end of a session that has none.
    pub fn close_on(&mut self, event: &str, purpose: Purpose) {
        if !self.inst(self.inst).is_multiplexor() {
            return self.event_down(event, purpose, Vec::new());
        }
        let Some(session) = self.runs.session else { return };
        self.event_up("closed", Purpose::Closed, Vec::new());
        self.leave_session(session);
    }

    /// `above.closed()`: the session above ends. A multiplexor's own ends with it.
    pub fn say_closed(&mut self) {
        let Some(session) = self.runs.session else { return };
        if self.inst(self.inst).is_multiplexor() {
            return self.close_on("close", Purpose::Close);
        }
        self.event_up("closed", Purpose::Closed, Vec::new());
        if self.begun {
            // It is found when the event is carried out, and ends then.
            return;
        }
        // There is none above any more.
        let (info, of) = (self.info(), self.class_of(session));
        for cell in info.session.iter().flat_map(|cells| &cells.above) {
            if let r::CellKind::Scalar { ty, .. } = self.a.cell(of, *cell).kind {
                let nobody = self.zero(ty);
                self.set(session, *cell, nobody);
            }
        }
    }

    /// `fail: reason`: told above, aborted below, and the own session ends.
    pub fn fail(&mut self, reason: r::Value) {
        let Some(session) = self.runs.session else {
            self.error_here("M0725", "only a session fails", "");
            return;
        };
        self.event_up("failed", Purpose::Failed, vec![reason]);
        if self.inst(self.inst).is_multiplexor() {
            return self.leave_session(session);
        }
        self.event_down("abort", Purpose::Abort, Vec::new());
        self.release_session(session);
    }

    /// Takes a multiplexor's session out of its map, releases it, and the lower one with the last that shares it.
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
            w.when(last, |w| {
                w.runs.lower = Some(lower);
                w.event_down("close", Purpose::Close, Vec::new());
                w.release_lower(lower);
            });
        });
    }

    /// Out of the map and released; the lower one ends by itself.
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

    /// Takes the lower side's object out of its map, and ends it. Who stands below is not told.
    pub fn release_lower(&mut self, lower: r::Value) {
        if let Some(cells) = &self.info().lower {
            let key = self.get_all(lower, &cells.flow);
            self.take_from(cells.map, key);
        }
        self.op(r::OpKind::Release { object: lower });
    }
}
