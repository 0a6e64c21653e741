//! Sessions end: `close` and its kin, `failed`; and the maps in which they are found until then.
//!
//! Invariant: a session is released once, by the handler that ends it, and is taken out of its maps there.

use mokume_reaction as r;

use crate::fault::Fault;
use crate::frame::{to, Exit, Writer};
use crate::lowering::What;

impl<'p> Writer<'_, 'p> {
    // -- the end

    /// `close`, `abort` as the shape does them: on to the layer below, or the end of a session that has none.
    pub fn close_on(&mut self, event: &str, what: What) {
        if !self.inst(self.inst).is_multiplexor() {
            return self.event_down(event, what, Vec::new());
        }
        let Some(session) = self.place.session else { return };
        self.event_up("closed", What::Closed, Vec::new());
        self.leave_session(session);
    }

    /// `above.closed()`: the session above ends. A multiplexor's own ends with it.
    pub fn say_closed(&mut self) {
        let Some(session) = self.place.session else { return };
        if self.inst(self.inst).is_multiplexor() {
            return self.close_on("close", What::Close);
        }
        self.event_up("closed", What::Closed, Vec::new());
        self.forget_above(session);
    }

    fn forget_above(&mut self, session: r::Value) {
        let of = self.class_of(session);
        for cell in self.info().above.iter() {
            let r::CellKind::Scalar { ty: r::Type::Ref(class), .. } = self.a.cell(of, *cell).kind else { continue };
            let value = self.value(r::OpKind::Null { class });
            self.op(r::OpKind::Set { object: session, cell: *cell, value });
        }
    }

    /// `fail: reason`: told above, aborted below, and the own session ends.
    pub fn fail(&mut self, reason: r::Value) {
        let Some(session) = self.place.session else {
            self.error_here("M0725", "only a session fails", "");
            return;
        };
        self.event_up("failed", What::Failed, vec![reason]);
        if self.inst(self.inst).is_multiplexor() {
            return self.leave_session(session);
        }
        let unsure = std::mem::replace(&mut self.place.unsure_down, true);
        self.event_down("abort", What::Abort, Vec::new());
        self.place.unsure_down = unsure;
        self.release_session(session);
    }

    /// Takes a multiplexor's session out of its map, releases it, and the lower one with the last that shares it.
    pub fn leave_session(&mut self, session: r::Value) {
        let info = self.info();
        if let Some(map) = info.sessions {
            let object = session;
            let key: Vec<r::Value> =
                info.flow.iter().map(|cell| self.value(r::OpKind::Get { object, cell: *cell })).collect();
            let entity = self.entity();
            if !self.faulty(Fault::SessionKept) {
                self.take_from(entity, map, key);
            }
        }
        match (info.of_lower, info.lower_count) {
            (Some(of), Some(count)) => self.leave_lower(session, of, count),
            _ => self.release_session(session),
        }
    }

    fn leave_lower(&mut self, session: r::Value, of: r::CellId, count: r::CellId) {
        let lower = self.value(r::OpKind::Get { object: session, cell: of });
        self.release_session(session);
        let class = self.class_of(lower);
        let null = self.value(r::OpKind::Null { class });
        let has = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: lower, b: null });
        let (yes, no) = self.branch(has, None, "lower", "none");
        let before = self.locals.clone();
        self.select(no);
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(yes);
        self.locals = before;
        let left = self.value(r::OpKind::Get { object: lower, cell: count });
        let one = self.constant(r::Type::U(32), 1);
        let value = self.value(r::OpKind::Binary { op: r::Binary::SubWrap, a: left, b: one });
        self.op(r::OpKind::Set { object: lower, cell: count, value });
        let zero = self.constant(r::Type::U(32), 0);
        let last = self.value(r::OpKind::Compare { op: r::Compare::Eq, a: value, b: zero });
        let (yes, no) = self.branch(last, None, "last", "others");
        self.select(no);
        exits.extend(self.exit(Vec::new()));
        self.select(yes);
        let place = self.place.lower.replace(lower);
        let unsure = std::mem::replace(&mut self.place.unsure_down, true);
        self.event_down("close", What::Close, Vec::new());
        self.place.unsure_down = unsure;
        self.place.lower = place;
        self.release_lower(lower);
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    pub fn release_lower(&mut self, lower: r::Value) {
        let info = self.info();
        if let Some(map) = info.lowers {
            let key: Vec<r::Value> =
                info.lower_flow.iter().map(|cell| self.value(r::OpKind::Get { object: lower, cell: *cell })).collect();
            let entity = self.entity();
            self.take_from(entity, map, key);
        }
        self.op(r::OpKind::Release { object: lower });
    }

    // -- maps of objects, or the only one

    #[allow(clippy::type_complexity)]
    pub fn find_in(
        &mut self,
        entity: r::Value,
        map: r::CellId,
        class: r::ClassId,
        key: &[r::Value],
    ) -> ((r::BlockId, r::Value), r::BlockId) {
        if key.is_empty() {
            let only = self.value(r::OpKind::Get { object: entity, cell: map });
            let null = self.value(r::OpKind::Null { class });
            let there = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: only, b: null });
            let (yes, no) = self.branch(there, None, "found", "absent");
            return ((yes, only), no);
        }
        let (found, absent) =
            (self.b.block("found", &[("found".into(), r::Type::Ref(class))]), self.b.block("absent", &[]));
        self.end(r::Terminator::Try {
            op: r::Fallible::Find { object: entity, cell: map, key: key.to_vec() },
            then: to(found),
            otherwise: to(absent),
        });
        ((found, self.b.params(found)[0]), absent)
    }

    /// As many places as objects: there is room.
    pub fn put_in(&mut self, entity: r::Value, map: r::CellId, key: &[r::Value], object: r::Value) {
        if key.is_empty() {
            self.op(r::OpKind::Set { object: entity, cell: map, value: object });
            return;
        }
        let (entered, never) = (self.b.block("entered", &[]), self.b.block("never", &[]));
        let (then, otherwise) = (to(entered), to(never));
        self.end(r::Terminator::Try {
            op: r::Fallible::Insert { object: entity, cell: map, key: key.to_vec(), values: vec![object] },
            then,
            otherwise,
        });
        self.select(never);
        self.jump(entered, []);
        self.select(entered);
    }

    pub fn take_from(&mut self, entity: r::Value, map: r::CellId, key: Vec<r::Value>) {
        if !key.is_empty() {
            return self.remove(entity, map, key);
        }
        let of = self.class_of(entity);
        if let r::CellKind::Scalar { ty: r::Type::Ref(class), .. } = self.a.cell(of, map).kind {
            let value = self.value(r::OpKind::Null { class });
            self.op(r::OpKind::Set { object: entity, cell: map, value });
        }
    }

    #[allow(clippy::type_complexity)]
    pub fn find_session(&mut self, flow: &[r::Value]) -> ((r::BlockId, r::Value), r::BlockId) {
        let info = self.info();
        let entity = self.entity();
        let class = info.session.unwrap_or(r::ClassId(0));
        self.find_in(entity, info.sessions.unwrap_or(r::CellId(0)), class, flow)
    }

    pub fn enter_session(&mut self, session: r::Value, flow: &[r::Value]) {
        if let Some(map) = self.infos[self.inst].sessions {
            let entity = self.entity();
            self.put_in(entity, map, flow, session);
        }
    }
}
