//! Sessions end: `close` and its kin, `failed`; and the maps in which they are found until then.
//!
//! Invariant: a session is released once, by the handler that ends it, and is taken out of its maps there.

use mokume_reaction as r;

use crate::fault::Fault;
use crate::frame::{to, Exit, Frame};
use crate::lowering::{Lowering, What};

impl<'p> Lowering<'p> {
    // -- the end

    /// `close`, `abort` as the shape does them: on to the layer below, or the end of a session that has none.
    pub fn close_on(&mut self, f: &mut Frame<'p>, event: &str, what: What) {
        if !self.inst(f.inst).is_multiplexor() {
            return self.event_down(f, event, what, Vec::new());
        }
        let Some(session) = f.place.session else { return };
        self.event_up(f, "closed", What::Closed, Vec::new());
        self.leave_session(f, session);
    }

    /// `above.closed()`: the session above ends. A multiplexor's own ends with it.
    pub fn say_closed(&mut self, f: &mut Frame<'p>) {
        let Some(session) = f.place.session else { return };
        if self.inst(f.inst).is_multiplexor() {
            return self.close_on(f, "close", What::Close);
        }
        self.event_up(f, "closed", What::Closed, Vec::new());
        self.forget_above(f, session);
    }

    fn forget_above(&mut self, f: &mut Frame<'p>, session: r::Value) {
        let of = self.class_of(f, session);
        for cell in self.info(f.inst).above.iter() {
            let r::CellKind::Scalar { ty: r::Type::Ref(class), .. } = self.a.cell(of, *cell).kind else { continue };
            let value = f.value(&self.a, r::OpKind::Null { class });
            f.op(&self.a, r::OpKind::Set { object: session, cell: *cell, value });
        }
    }

    /// `fail: reason`: told above, aborted below, and the own session ends.
    pub fn fail(&mut self, f: &mut Frame<'p>, reason: r::Value) {
        let Some(session) = f.place.session else {
            self.error("M0725", "only a session fails", self.inst(f.inst).span, "");
            return;
        };
        self.event_up(f, "failed", What::Failed, vec![reason]);
        if self.inst(f.inst).is_multiplexor() {
            return self.leave_session(f, session);
        }
        let unsure = std::mem::replace(&mut f.place.unsure_down, true);
        self.event_down(f, "abort", What::Abort, Vec::new());
        f.place.unsure_down = unsure;
        self.release_session(f, session);
    }

    /// Takes a multiplexor's session out of its map, releases it, and the lower one with the last that shares it.
    pub fn leave_session(&mut self, f: &mut Frame<'p>, session: r::Value) {
        let info = self.info(f.inst);
        if let Some(map) = info.sessions {
            let object = session;
            let key: Vec<r::Value> =
                info.flow.iter().map(|cell| f.value(&self.a, r::OpKind::Get { object, cell: *cell })).collect();
            let entity = self.entity(f);
            if !self.faulty(Fault::SessionKept) {
                self.take_from(f, entity, map, key);
            }
        }
        match (info.of_lower, info.lower_count) {
            (Some(of), Some(count)) => self.leave_lower(f, session, of, count),
            _ => self.release_session(f, session),
        }
    }

    fn leave_lower(&mut self, f: &mut Frame<'p>, session: r::Value, of: r::CellId, count: r::CellId) {
        let lower = f.value(&self.a, r::OpKind::Get { object: session, cell: of });
        self.release_session(f, session);
        let class = self.class_of(f, lower);
        let null = f.value(&self.a, r::OpKind::Null { class });
        let has = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: lower, b: null });
        let (yes, no) = f.branch(has, None, "lower", "none");
        let before = f.locals.clone();
        f.select(no);
        let mut exits: Vec<Exit> = f.exit(Vec::new()).into_iter().collect();
        f.select(yes);
        f.locals = before;
        let left = f.value(&self.a, r::OpKind::Get { object: lower, cell: count });
        let one = f.constant(&self.a, r::Type::U(32), 1);
        let value = f.value(&self.a, r::OpKind::Binary { op: r::Binary::SubWrap, a: left, b: one });
        f.op(&self.a, r::OpKind::Set { object: lower, cell: count, value });
        let zero = f.constant(&self.a, r::Type::U(32), 0);
        let last = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Eq, a: value, b: zero });
        let (yes, no) = f.branch(last, None, "last", "others");
        f.select(no);
        exits.extend(f.exit(Vec::new()));
        f.select(yes);
        let place = f.place.lower.replace(lower);
        let unsure = std::mem::replace(&mut f.place.unsure_down, true);
        self.event_down(f, "close", What::Close, Vec::new());
        f.place.unsure_down = unsure;
        f.place.lower = place;
        self.release_lower(f, lower);
        exits.extend(f.exit(Vec::new()));
        f.join("after", exits);
    }

    pub fn release_lower(&mut self, f: &mut Frame<'p>, lower: r::Value) {
        let info = self.info(f.inst);
        if let Some(map) = info.lowers {
            let key: Vec<r::Value> = info
                .lower_flow
                .iter()
                .map(|cell| f.value(&self.a, r::OpKind::Get { object: lower, cell: *cell }))
                .collect();
            let entity = self.entity(f);
            self.take_from(f, entity, map, key);
        }
        f.op(&self.a, r::OpKind::Release { object: lower });
    }

    // -- maps of objects, or the only one

    #[allow(clippy::type_complexity)]
    pub fn find_in(
        &mut self,
        f: &mut Frame<'p>,
        entity: r::Value,
        map: r::CellId,
        class: r::ClassId,
        key: &[r::Value],
    ) -> ((r::BlockId, r::Value), r::BlockId) {
        if key.is_empty() {
            let only = f.value(&self.a, r::OpKind::Get { object: entity, cell: map });
            let null = f.value(&self.a, r::OpKind::Null { class });
            let there = f.value(&self.a, r::OpKind::Compare { op: r::Compare::Ne, a: only, b: null });
            let (yes, no) = f.branch(there, None, "found", "absent");
            return ((yes, only), no);
        }
        let (found, absent) = (f.b.block("found", &[("found".into(), r::Type::Ref(class))]), f.b.block("absent", &[]));
        f.end(r::Terminator::Try {
            op: r::Fallible::Find { object: entity, cell: map, key: key.to_vec() },
            then: to(found),
            otherwise: to(absent),
        });
        ((found, f.b.params(found)[0]), absent)
    }

    /// As many places as objects: there is room.
    pub fn put_in(&mut self, f: &mut Frame<'p>, entity: r::Value, map: r::CellId, key: &[r::Value], object: r::Value) {
        if key.is_empty() {
            f.op(&self.a, r::OpKind::Set { object: entity, cell: map, value: object });
            return;
        }
        let (entered, never) = (f.b.block("entered", &[]), f.b.block("never", &[]));
        let (then, otherwise) = (to(entered), to(never));
        f.end(r::Terminator::Try {
            op: r::Fallible::Insert { object: entity, cell: map, key: key.to_vec(), values: vec![object] },
            then,
            otherwise,
        });
        f.select(never);
        f.jump(entered, []);
        f.select(entered);
    }

    pub fn take_from(&mut self, f: &mut Frame<'p>, entity: r::Value, map: r::CellId, key: Vec<r::Value>) {
        if !key.is_empty() {
            return self.remove(f, entity, map, key);
        }
        let of = self.class_of(f, entity);
        if let r::CellKind::Scalar { ty: r::Type::Ref(class), .. } = self.a.cell(of, map).kind {
            let value = f.value(&self.a, r::OpKind::Null { class });
            f.op(&self.a, r::OpKind::Set { object: entity, cell: map, value });
        }
    }

    #[allow(clippy::type_complexity)]
    pub fn find_session(&mut self, f: &mut Frame<'p>, flow: &[r::Value]) -> ((r::BlockId, r::Value), r::BlockId) {
        let info = self.info(f.inst);
        let entity = self.entity(f);
        let class = info.session.unwrap_or(r::ClassId(0));
        self.find_in(f, entity, info.sessions.unwrap_or(r::CellId(0)), class, flow)
    }

    pub fn enter_session(&mut self, f: &mut Frame<'p>, session: r::Value, flow: &[r::Value]) {
        if let Some(map) = self.infos[f.inst].sessions {
            let entity = self.entity(f);
            self.put_in(f, entity, map, flow, session);
        }
    }
}
