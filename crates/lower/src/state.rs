//! Objects and their cells as the code at hand sees them; keyed objects found, made, evicted and ended.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Frame};
use crate::lowering::Lowering;

impl<'p> Lowering<'p> {
    /// The object that the code runs for.
    pub fn own_object(&mut self, f: &mut Frame<'p>) -> r::Value {
        match f.place.object {
            Some(object) => object,
            None => self.entity(f),
        }
    }

    pub fn entity(&mut self, f: &mut Frame<'p>) -> r::Value {
        let class = self.infos[f.inst].entity();
        match f.place.object {
            Some(object) if f.b.type_of(object) == r::Type::Ref(class) => object,
            _ => f.value(&self.a, r::OpKind::Unique { class }),
        }
    }

    /// The object of the lower side: the one at hand, or the session's.
    pub fn lower_object(&mut self, f: &mut Frame<'p>) -> Option<r::Value> {
        if f.place.lower.is_some() {
            return f.place.lower;
        }
        let cell = self.infos[f.inst].of_lower?;
        let object = f.place.session?;
        Some(f.value(&self.a, r::OpKind::Get { object, cell }))
    }

    /// The object that holds a member.
    pub fn object(&mut self, f: &mut Frame<'p>, state: &'p s::StateRef) -> r::Value {
        if let Some(object) = &state.object {
            return self.one(f, object);
        }
        let found = match state.scope {
            s::ScopeKind::Entity => Some(self.entity(f)),
            s::ScopeKind::Session => f.place.session,
            s::ScopeKind::SessionBelow => self.lower_object(f),
            s::ScopeKind::Point => self.point_object(f),
            s::ScopeKind::Object(_) => f.place.keyed.map(|(_, object)| object),
        };
        found.unwrap_or_else(|| {
            let help = "an event of the entity, or of flow traffic, has no session";
            self.error("M0729", "there is no object with this state where this code runs", Some(state.span), help);
            self.entity(f)
        })
    }

    pub fn cells(&self, inst: usize, state: &s::StateRef) -> Vec<r::CellId> {
        let known = self.infos[inst].members.get(&(state.scope, state.member));
        known.cloned().unwrap_or_default()
    }

    /// A member of one cell, and its object.
    pub fn state(&mut self, f: &mut Frame<'p>, state: &'p s::StateRef) -> (r::Value, r::CellId) {
        let object = self.object(f, state);
        let cell = self.cells(f.inst, state).first().copied().unwrap_or(r::CellId(0));
        (object, cell)
    }

    // -- keyed objects

    /// The map from keys to the objects of a class, and whose it is: the entity's, or the session's that owns them.
    pub fn index_of(&mut self, f: &mut Frame<'p>, class: s::ObjectId) -> (r::Value, r::CellId) {
        let cell = self.infos[f.inst].objects[class.index()].1;
        let owned = self.layer(f.inst).is_some_and(|layer| layer.objects[class.index()].owned);
        if !owned {
            return (self.entity(f), cell);
        }
        match f.place.session {
            Some(session) => (session, cell),
            None => {
                let span = self.inst(f.inst).span;
                let help =
                    "they are owned by sessions: a layer of sessions must stand below, or leave `owned by session` out";
                self.error("M0729", "there is no session whose objects these are where this code runs", span, help);
                (self.entity(f), cell)
            }
        }
    }

    fn key_cells(&self, inst: usize, class: s::ObjectId) -> Vec<r::CellId> {
        let Some(layer) = self.layer(inst) else { return Vec::new() };
        let keys = layer.objects[class.index()].keys.len();
        let scope = s::ScopeKind::Object(class);
        (0..keys)
            .flat_map(|place| self.infos[inst].members.get(&(scope, place as u32)).cloned().unwrap_or_default())
            .collect()
    }

    pub fn find_or_new(
        &mut self,
        f: &mut Frame<'p>,
        class: s::ObjectId,
        key: &'p [s::Expr],
        local: s::LocalId,
        otherwise: &'p [s::Stmt],
    ) {
        let Some(layer) = self.layer(f.inst) else { return };
        let evicts = layer.objects[class.index()].evict_oldest && !self.faulty(Fault::NoEviction);
        let owned = layer.objects[class.index()].owned;
        let (entity, index) = self.index_of(f, class);
        let key: Vec<r::Value> = key.iter().flat_map(|part| self.expr(f, part)).collect();
        let id = self.infos[f.inst].objects[class.index()].0;
        let made = |name: &str| vec![(name.to_owned(), r::Type::Ref(id))];
        let (found, absent) = (f.b.block("found", &made("found")), f.b.block("absent", &[]));
        f.end(r::Terminator::Try {
            op: r::Fallible::Find { object: entity, cell: index, key: key.clone() },
            then: to(found),
            otherwise: to(absent),
        });
        let here = f.locals.clone();
        let mut exits = Vec::new();
        f.select(found);
        let value = f.b.params(found)[0];
        exits.extend(f.exit(vec![value]));
        f.select(absent);
        let (fresh, full) = (f.b.block("fresh", &made("fresh")), f.b.block("full", &[]));
        let (then, otherwise_to) = (to(fresh), to(full));
        f.end(r::Terminator::Try {
            op: r::Fallible::New { class: id, parent: Some(entity) },
            then,
            otherwise: otherwise_to,
        });
        f.select(full);
        self.block(f, otherwise);
        exits.extend(f.exit(Vec::new()));
        f.select(fresh);
        f.locals = here.clone();
        let value = f.b.params(fresh)[0];
        self.fill_object(f, class, value, &key);
        let (entered, crowded) = (f.b.block("entered", &[]), f.b.block("crowded", &[]));
        let insert = |then, otherwise| r::Terminator::Try {
            op: r::Fallible::Insert { object: entity, cell: index, key: key.clone(), values: vec![value] },
            then: to(then),
            otherwise: to(otherwise),
        };
        f.end(insert(entered, crowded));
        f.select(crowded);
        if evicts {
            self.evict(f, id, entity);
            let never = f.b.block("never", &[]);
            f.end(insert(entered, never));
            f.select(never);
        }
        if owned && !evicts {
            // The session has no more room, though others have.
            f.op(&self.a, r::OpKind::Release { object: value });
            self.block(f, otherwise);
            exits.extend(f.exit(Vec::new()));
        }
        // As many places as objects: not reached.
        f.jump(entered, []);
        f.select(entered);
        exits.extend(f.exit(vec![value]));
        // A block of `or` that goes on has no object; the checks let only those through that leave.
        exits.retain(|exit| !exit.results.is_empty());
        for exit in &mut exits {
            exit.locals = here.clone();
        }
        match f.join("object", exits) {
            Some(values) => f.set_local(local, vec![values[0]]),
            None => f.end(r::Terminator::Return),
        }
    }

    /// Ends the oldest. What has ended is freed after the reaction: the class has room for some more than the map.
    fn evict(&mut self, f: &mut Frame<'p>, class: r::ClassId, entity: r::Value) {
        let (oldest, none) = (f.b.block("oldest", &[("oldest".into(), r::Type::Ref(class))]), f.b.block("none", &[]));
        f.end(r::Terminator::Try {
            op: r::Fallible::First { class, parent: Some(entity) },
            then: to(oldest),
            otherwise: to(none),
        });
        f.select(oldest);
        let value = f.b.params(oldest)[0];
        self.end_object(f, value);
        f.jump(none, []);
        f.select(none);
    }

    /// Key and first values of a new object.
    fn fill_object(&mut self, f: &mut Frame<'p>, class: s::ObjectId, object: r::Value, key: &[r::Value]) {
        let cells = self.key_cells(f.inst, class);
        self.set_cells(f, object, &cells, key.to_vec());
        let before = f.place.keyed.replace((class, object));
        self.set_late(f, s::ScopeKind::Object(class), object);
        f.place.keyed = before;
    }

    /// First values that are not constants.
    pub fn set_late(&mut self, f: &mut Frame<'p>, scope: s::ScopeKind, object: r::Value) {
        for (member, init) in self.late_values(f.inst, scope) {
            let values = self.expr(f, init);
            let cells = self.infos[f.inst].members.get(&(scope, member)).cloned().unwrap_or_default();
            self.set_cells(f, object, &cells, values);
        }
    }

    /// Ends a keyed object, or a session's.
    pub fn end_object(&mut self, f: &mut Frame<'p>, object: r::Value) {
        let class = self.class_of(f, object);
        let place = self.infos[f.inst].objects.iter().position(|(id, _)| *id == class);
        if let Some(place) = place {
            let id = s::ObjectId(place as u32);
            let (entity, index) = self.index_of(f, id);
            let cells = self.key_cells(f.inst, id);
            let key = cells.into_iter().map(|cell| f.value(&self.a, r::OpKind::Get { object, cell })).collect();
            self.remove(f, entity, index, key);
        }
        f.op(&self.a, r::OpKind::Release { object });
    }
}
