//! Objects and their cells as the code at hand sees them; keyed objects found, made, evicted and ended.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Writer};
use crate::lowering::Lowering;

impl<'p> Lowering<'p> {
    pub fn cells(&self, inst: usize, state: &s::StateRef) -> Vec<r::CellId> {
        let known = self.infos[inst].members.get(&(state.scope, state.member));
        known.cloned().unwrap_or_default()
    }

    fn key_cells(&self, inst: usize, class: s::ObjectId) -> Vec<r::CellId> {
        let Some(layer) = self.layer(inst) else { return Vec::new() };
        let keys = layer.objects[class.index()].keys.len();
        let scope = s::ScopeKind::Object(class);
        (0..keys)
            .flat_map(|place| self.infos[inst].members.get(&(scope, place as u32)).cloned().unwrap_or_default())
            .collect()
    }
}

impl<'p> Writer<'_, 'p> {
    /// The object that the code runs for.
    pub fn own_object(&mut self) -> r::Value {
        match self.place.object {
            Some(object) => object,
            None => self.entity(),
        }
    }

    pub fn entity(&mut self) -> r::Value {
        let class = self.infos[self.inst].entity();
        match self.place.object {
            Some(object) if self.b.type_of(object) == r::Type::Ref(class) => object,
            _ => self.value(r::OpKind::Unique { class }),
        }
    }

    /// The object of the lower side: the one at hand, or the session's.
    pub fn lower_object(&mut self) -> Option<r::Value> {
        if self.place.lower.is_some() {
            return self.place.lower;
        }
        let cell = self.infos[self.inst].of_lower?;
        let object = self.place.session?;
        Some(self.value(r::OpKind::Get { object, cell }))
    }

    /// The object that holds a member.
    pub fn object(&mut self, state: &'p s::StateRef) -> r::Value {
        if let Some(object) = &state.object {
            return self.one(object);
        }
        let found = match state.scope {
            s::ScopeKind::Entity => Some(self.entity()),
            s::ScopeKind::Session => self.place.session,
            s::ScopeKind::SessionBelow => self.lower_object(),
            s::ScopeKind::Point => self.point_object(),
            s::ScopeKind::Object(_) => self.place.keyed.map(|(_, object)| object),
        };
        found.unwrap_or_else(|| {
            let help = "an event of the entity, or of flow traffic, has no session";
            self.error("M0729", "there is no object with this state where this code runs", Some(state.span), help);
            self.entity()
        })
    }

    /// A member of one cell, and its object.
    pub fn state(&mut self, state: &'p s::StateRef) -> (r::Value, r::CellId) {
        let object = self.object(state);
        let cell = self.cells(self.inst, state).first().copied().unwrap_or(r::CellId(0));
        (object, cell)
    }

    // -- keyed objects

    /// The map from keys to the objects of a class, and whose it is: the entity's, or the session's that owns them.
    pub fn index_of(&mut self, class: s::ObjectId) -> (r::Value, r::CellId) {
        let cell = self.infos[self.inst].objects[class.index()].1;
        let owned = self.layer(self.inst).is_some_and(|layer| layer.objects[class.index()].owned);
        if !owned {
            return (self.entity(), cell);
        }
        match self.place.session {
            Some(session) => (session, cell),
            None => {
                let span = self.inst(self.inst).span;
                let help =
                    "they are owned by sessions: a layer of sessions must stand below, or leave `owned by session` out";
                self.error("M0729", "there is no session whose objects these are where this code runs", span, help);
                (self.entity(), cell)
            }
        }
    }

    pub fn find_or_new(&mut self, class: s::ObjectId, key: &'p [s::Expr], local: s::LocalId, otherwise: &'p [s::Stmt]) {
        let Some(layer) = self.layer(self.inst) else { return };
        let evicts = layer.objects[class.index()].evict_oldest && !self.faulty(Fault::NoEviction);
        let owned = layer.objects[class.index()].owned;
        let (entity, index) = self.index_of(class);
        let key: Vec<r::Value> = key.iter().flat_map(|part| self.expr(part)).collect();
        let id = self.infos[self.inst].objects[class.index()].0;
        let made = |name: &str| vec![(name.to_owned(), r::Type::Ref(id))];
        let (found, absent) = (self.b.block("found", &made("found")), self.b.block("absent", &[]));
        self.end(r::Terminator::Try {
            op: r::Fallible::Find { object: entity, cell: index, key: key.clone() },
            then: to(found),
            otherwise: to(absent),
        });
        let here = self.locals.clone();
        let mut exits = Vec::new();
        self.select(found);
        let value = self.b.params(found)[0];
        exits.extend(self.exit(vec![value]));
        self.select(absent);
        let (fresh, full) = (self.b.block("fresh", &made("fresh")), self.b.block("full", &[]));
        let (then, otherwise_to) = (to(fresh), to(full));
        self.end(r::Terminator::Try {
            op: r::Fallible::New { class: id, parent: Some(entity) },
            then,
            otherwise: otherwise_to,
        });
        self.select(full);
        self.block(otherwise);
        exits.extend(self.exit(Vec::new()));
        self.select(fresh);
        self.locals = here.clone();
        let value = self.b.params(fresh)[0];
        self.fill_object(class, value, &key);
        let (entered, crowded) = (self.b.block("entered", &[]), self.b.block("crowded", &[]));
        let insert = |then, otherwise| r::Terminator::Try {
            op: r::Fallible::Insert { object: entity, cell: index, key: key.clone(), values: vec![value] },
            then: to(then),
            otherwise: to(otherwise),
        };
        self.end(insert(entered, crowded));
        self.select(crowded);
        if evicts {
            self.evict(id, entity);
            let never = self.b.block("never", &[]);
            self.end(insert(entered, never));
            self.select(never);
        }
        if owned && !evicts {
            // The session has no more room, though others have.
            self.op(r::OpKind::Release { object: value });
            self.block(otherwise);
            exits.extend(self.exit(Vec::new()));
        }
        // As many places as objects: not reached.
        self.jump(entered, []);
        self.select(entered);
        exits.extend(self.exit(vec![value]));
        // A block of `or` that goes on has no object; the checks let only those through that leave.
        exits.retain(|exit| !exit.results.is_empty());
        for exit in &mut exits {
            exit.locals = here.clone();
        }
        match self.join("object", exits) {
            Some(values) => self.set_local(local, vec![values[0]]),
            None => self.end(r::Terminator::Return),
        }
    }

    /// Ends the oldest. What has ended is freed after the reaction: the class has room for some more than the map.
    fn evict(&mut self, class: r::ClassId, entity: r::Value) {
        let (oldest, none) =
            (self.b.block("oldest", &[("oldest".into(), r::Type::Ref(class))]), self.b.block("none", &[]));
        self.end(r::Terminator::Try {
            op: r::Fallible::First { class, parent: Some(entity) },
            then: to(oldest),
            otherwise: to(none),
        });
        self.select(oldest);
        let value = self.b.params(oldest)[0];
        self.end_object(value);
        self.jump(none, []);
        self.select(none);
    }

    /// Key and first values of a new object.
    fn fill_object(&mut self, class: s::ObjectId, object: r::Value, key: &[r::Value]) {
        let cells = self.key_cells(self.inst, class);
        self.set_cells(object, &cells, key.to_vec());
        let before = self.place.keyed.replace((class, object));
        self.set_late(s::ScopeKind::Object(class), object);
        self.place.keyed = before;
    }

    /// First values that are not constants.
    pub fn set_late(&mut self, scope: s::ScopeKind, object: r::Value) {
        for (member, init) in self.late_values(self.inst, scope) {
            let values = self.expr(init);
            let cells = self.infos[self.inst].members.get(&(scope, member)).cloned().unwrap_or_default();
            self.set_cells(object, &cells, values);
        }
    }

    /// Ends a keyed object, or a session's.
    pub fn end_object(&mut self, object: r::Value) {
        let class = self.class_of(object);
        let place = self.infos[self.inst].objects.iter().position(|(id, _)| *id == class);
        if let Some(place) = place {
            let id = s::ObjectId(place as u32);
            let (entity, index) = self.index_of(id);
            let cells = self.key_cells(self.inst, id);
            let key = cells.into_iter().map(|cell| self.value(r::OpKind::Get { object, cell })).collect();
            self.remove(entity, index, key);
        }
        self.op(r::OpKind::Release { object });
    }
}
