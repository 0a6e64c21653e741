//! The entity's maps of objects; a single reference if nothing tells the objects apart.

use mokume_reaction as r;

use crate::code::{Fork, Writer};

impl<'p> Writer<'_, 'p> {
    /// Branches on whether the map has an object for the key.
    pub(super) fn find_in(&mut self, map: r::CellId, key: &[r::Value]) -> Fork {
        let entity = self.entity();
        if !key.is_empty() {
            return self.find(entity, map, key.to_vec());
        }
        let only = self.get(entity, map);
        let there = self.is_there(only);
        let mut fork = self.fork(there);
        fork.yes.given.push(only);
        fork
    }

    /// It has as many places as there are objects, so there is room.
    pub(super) fn put_in(&mut self, map: r::CellId, key: &[r::Value], object: r::Value) {
        let entity = self.entity();
        if key.is_empty() {
            return self.set(entity, map, object);
        }
        let (key, values) = (key.to_vec(), vec![object]);
        let entered = self.attempt(r::Fallible::Insert { object: entity, cell: map, key, values });
        self.ways(entered, |_, _| {}, |_, _| {});
    }

    pub(super) fn take_from(&mut self, map: r::CellId, key: Vec<r::Value>) {
        let entity = self.entity();
        if !key.is_empty() {
            return self.remove(entity, map, key);
        }
        let of = self.class_of(entity);
        if let r::CellKind::Scalar { ty, .. } = self.a.cell(of, map).kind {
            let nobody = self.zero(ty);
            self.set(entity, map, nobody);
        }
    }

    /// Branches on whether a multiplexor has a session of the flow; `None` if it has no sessions.
    pub(super) fn find_session(&mut self, flow: &[r::Value]) -> Option<Fork> {
        let found = self.info().session.as_ref()?.found?;
        Some(self.find_in(found.map, flow))
    }

    pub(super) fn enter_session(&mut self, session: r::Value, flow: &[r::Value]) {
        if let Some(found) = self.info().session.as_ref().and_then(|cells| cells.found) {
            self.put_in(found.map, flow, session);
        }
    }
}
