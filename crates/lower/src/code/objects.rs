//! Objects and their cells as the current code sees them; look-up, creation, eviction and end of keyed objects.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::fork::Fork;
use super::writer::{Exits, Writer};
use crate::fault::Fault;

impl<'p> Writer<'_, 'p> {
    /// The object that the code runs for.
    pub fn own_object(&mut self) -> r::Value {
        match self.runs.object {
            Some(object) => object,
            None => self.entity(),
        }
    }

    /// The entity of the current instance: the object that the code runs for, if that is the entity.
    pub fn entity(&mut self) -> r::Value {
        let class = self.info().classes.entity;
        match self.runs.object {
            Some(object) if self.b.type_of(object) == r::Type::Ref(class) => object,
            _ => self.unique(class),
        }
    }

    /// The object of the lower side: the current one, or the session's.
    pub fn lower_object(&mut self) -> Option<r::Value> {
        if self.runs.lower.is_some() {
            return self.runs.lower;
        }
        let cell = self.info().session.as_ref()?.lower?;
        let session = self.runs.session?;
        Some(self.get(session, cell))
    }

    /// The current point: the listener's, or the session's.
    pub fn point_object(&mut self) -> Option<r::Value> {
        if self.runs.point.is_some() {
            return self.runs.point;
        }
        let cell = self.info().point?.shared?.of_session;
        let session = self.runs.session?;
        Some(self.get(session, cell))
    }

    /// The reference to the session below.
    pub fn lower_session(&mut self) -> Option<r::Value> {
        let (object, cell) = self.lower_link()?;
        Some(self.get(object, cell))
    }

    /// The object with a cell that refers to the session below, and the cell.
    pub fn lower_link(&mut self) -> Option<(r::Value, r::CellId)> {
        let info = self.info();
        match &info.lower {
            Some(lower) => Some((self.lower_object()?, lower.below)),
            None => Some((self.runs.session?, info.below()?)),
        }
    }

    /// The same for code that ends the session below, which may not be open yet.
    pub fn ending_link(&mut self) -> Option<(r::Value, r::CellId)> {
        let info = self.info();
        let Some(coming) = info.coming() else { return self.lower_link() };
        let own = if info.lower.is_some() { self.lower_object() } else { self.runs.session };
        own.map(|object| (object, coming)).or_else(|| self.lower_link())
    }

    /// The current view.
    pub fn view(&mut self) -> Option<r::Value> {
        let cell = self.info().view?;
        let entity = self.entity();
        Some(self.get(entity, cell))
    }

    /// Makes the first view, if no event from elsewhere came before the start.
    pub fn begin_view(&mut self) {
        let Some(view) = self.view() else { return };
        let there = self.is_there(view);
        let fork = self.fork(there);
        self.ways(fork, |_, _| {}, |w, _| w.renew_view());
    }

    /// Ends the view with its contents, and begins a new one with initial values. If one reaction has already ended as
    /// many as there is room for, the view stays.
    pub fn renew_view(&mut self) {
        let (Some(class), Some(cell), Some(before)) = (self.info().classes.view, self.info().view, self.view()) else {
            return;
        };
        let entity = self.entity();
        let made = self.make_in(entity, class);
        self.ways(
            made,
            |w, made| {
                let there = w.is_there(before);
                let fork = w.fork(there);
                w.ways(fork, |w, _| drop(w.op(r::OpKind::Release { object: before })), |_, _| {});
                let entity = w.entity();
                w.set(entity, cell, made[0]);
                w.set_late(s::ScopeKind::View, made[0]);
                w.make_rows(made[0]);
            },
            |_, _| {},
        );
    }

    /// Makes the objects that a view has for each rank.
    fn make_rows(&mut self, view: r::Value) {
        let Some(layer) = self.layer(self.inst) else { return };
        for (place, declared) in layer.objects.iter().enumerate().filter(|(_, declared)| declared.rows) {
            let class = s::ObjectId(place as u32);
            let objects = self.info().objects[place];
            let Some(index) = objects.index else { continue };
            let env = self.env.clone();
            let most = self.rounds(&env, &declared.capacity);
            for rank in 0..most {
                let made = self.make_in(view, objects.class);
                self.ways(
                    made,
                    |w, made| {
                        let key = vec![w.constant(r::Type::U(8), u64::from(rank))];
                        w.fill_object(class, made[0], &key);
                        let insert = r::Fallible::Insert { object: view, cell: index, key, values: vec![made[0]] };
                        let entered = w.attempt(insert);
                        w.ways(entered, |_, _| {}, |_, _| {});
                    },
                    |_, _| {},
                );
            }
        }
    }

    /// The object for a rank. Ranks are checked on arrival, so there is one; else it would be that of the first rank.
    pub fn object_of_rank(&mut self, class: s::ObjectId, key: Vec<r::Value>) -> r::Value {
        let (view, _) = self.index_of(class);
        let id = self.info().objects[class.index()].class;
        let found = self.find_keyed(class, key);
        self.either(
            found,
            |_, found| vec![found[0]],
            |w, _| {
                let first = w.attempt(r::Fallible::First { class: id, parent: Some(view) });
                w.either(first, |_, first| vec![first[0]], |w, _| vec![w.value(r::OpKind::Null { class: id })])
            },
        )[0]
    }

    /// The object that contains a member.
    pub fn object(&mut self, state: &'p s::StateRef) -> r::Value {
        if let Some(object) = &state.object {
            return self.one(object);
        }
        let found = match state.scope {
            s::ScopeKind::Entity => Some(self.entity()),
            s::ScopeKind::Session => self.runs.session,
            s::ScopeKind::SessionBelow => self.lower_object(),
            s::ScopeKind::Point => self.point_object(),
            s::ScopeKind::View => self.view(),
            s::ScopeKind::Object(_) => self.runs.keyed.map(|(_, object)| object),
        };
        found.unwrap_or_else(|| {
            let help = "an event of the entity, or of flow traffic, has no session";
            self.error("M0725", "there is no object with this state where this code runs", Some(state.span), help);
            match self.class_on(self.inst, state.scope.into()) {
                Some(class) => self.value(r::OpKind::Null { class }),
                None => self.entity(),
            }
        })
    }

    /// A member with one cell, and its object.
    pub fn state(&mut self, state: &'p s::StateRef) -> (r::Value, r::CellId) {
        let object = self.object(state);
        let cells = self.cells(self.inst, state);
        (object, cells[0])
    }

    /// Writes scalars into cells, in order, each converted to its cell's type.
    pub fn set_cells(&mut self, object: r::Value, cells: &[r::CellId], values: Vec<r::Value>) {
        let class = self.class_of(object);
        for (cell, value) in cells.iter().zip(values) {
            match self.a.cell(class, *cell).kind {
                r::CellKind::Scalar { ty, .. } => {
                    let value = self.cast(value, ty);
                    self.set(object, *cell, value);
                }
                r::CellKind::Array { .. } => {
                    self.op(r::OpKind::SetAll { object, cell: *cell, value });
                }
                _ => self.set(object, *cell, value),
            }
        }
    }

    /// The parts of a member: the contents of its cells, arrays as a whole.
    pub fn get_parts(&mut self, object: r::Value, cells: &[r::CellId]) -> Vec<r::Value> {
        let class = self.class_of(object);
        let get = |cell: &r::CellId| match self.a.cell(class, *cell).kind {
            r::CellKind::Array { .. } => self.value(r::OpKind::GetAll { object, cell: *cell }),
            _ => self.get(object, *cell),
        };
        cells.iter().map(get).collect()
    }

    /// Sets initial values that are not constants.
    pub fn set_late(&mut self, scope: s::ScopeKind, object: r::Value) {
        self.set_late_where(scope, object, |_, _| true);
    }

    /// The same for some of the members.
    pub fn set_late_where(&mut self, scope: s::ScopeKind, object: r::Value, wanted: impl Fn(&s::Layer, u32) -> bool) {
        let Some(layer) = self.layer(self.inst) else { return };
        for (member, init) in
            self.late_values(self.inst, scope).into_iter().filter(|(member, _)| wanted(layer, *member))
        {
            let values = self.expr(init);
            let cells = self.info().members.get(&(scope, member)).cloned().unwrap_or_default();
            self.set_cells(object, &cells, values);
        }
    }

    // -- maps

    /// Looks up a key; the yes branch has the map's values.
    pub fn find(&mut self, object: r::Value, cell: r::CellId, key: Vec<r::Value>) -> Fork {
        let key = self.map_key(key);
        self.attempt(r::Fallible::Find { object, cell, key })
    }

    /// The key in the map's form: if the key is a flow without parts, there is a single key.
    pub fn map_key(&mut self, key: Vec<r::Value>) -> Vec<r::Value> {
        match key.is_empty() {
            true => vec![self.truth(true)],
            false => key,
        }
    }

    /// Removes a key from a map, whether it is there or not.
    pub fn remove(&mut self, object: r::Value, cell: r::CellId, key: Vec<r::Value>) {
        let key = self.map_key(key);
        let removed = self.attempt(r::Fallible::Remove { object, cell, key });
        self.ways(removed, |_, _| {}, |_, _| {});
    }

    /// Whether a key is in a map, as a truth value.
    pub fn is_in(&mut self, object: r::Value, cell: r::CellId, key: Vec<r::Value>) -> r::Value {
        let found = self.find(object, cell, key);
        self.either(found, |w, _| vec![w.truth(true)], |w, _| vec![w.truth(false)])[0]
    }

    // -- new objects

    /// Branches on whether a new object can be made in `parent`.
    pub fn make_in(&mut self, parent: r::Value, class: r::ClassId) -> Fork {
        self.attempt(r::Fallible::New { class, parent: Some(parent) })
    }

    /// The same in the entity.
    pub fn make(&mut self, class: r::ClassId) -> Fork {
        let entity = self.entity();
        self.make_in(entity, class)
    }

    // -- keyed objects

    /// The map from keys to the objects of a class, and its owner: the entity, or the session that owns the objects.
    pub fn index_of(&mut self, class: s::ObjectId) -> (r::Value, r::CellId) {
        let cell = self.info().objects[class.index()].index.expect("declared with the other cells");
        let owner = self.layer(self.inst).map_or(s::ScopeKind::Entity, |layer| layer.objects[class.index()].owner);
        if owner == s::ScopeKind::Entity {
            return (self.entity(), cell);
        }
        if let Some(view) = self.view().filter(|_| owner == s::ScopeKind::View) {
            return (view, cell);
        }
        match self.runs.session {
            Some(session) => (session, cell),
            None => {
                let class = self.info().classes.session;
                let help = match self.inst(self.inst).has_scope(s::ScopeKind::Session) {
                    false => "they are owned by sessions: write `session { }` in this layer, with a layer of sessions below it, or leave `owned by session` out",
                    true => "they are owned by sessions: a layer of sessions must stand below, or leave `owned by session` out",
                };
                if self.live() && self.lowering.without_session.insert(self.inst) {
                    self.error_said("M0725", "there is no session whose objects these are where this code runs", help);
                }
                let nobody = match class {
                    Some(class) => self.value(r::OpKind::Null { class }),
                    None => self.entity(),
                };
                (nobody, cell)
            }
        }
    }

    /// Looks up the object of a key. For a key that is a flow, an object is also found under the flow with any local
    /// address, if its session was opened like that.
    pub fn find_keyed(&mut self, class: s::ObjectId, key: Vec<r::Value>) -> Fork {
        let (owner, index) = self.index_of(class);
        let holds = self.layer(self.inst).is_some_and(|layer| layer.objects[class.index()].holds);
        let components = &self.inst(self.inst).top;
        let open = |at: usize| components[at].address && !components[at].is_remote();
        if !holds || !(0..components.len()).any(open) {
            return self.find(owner, index, key);
        }
        let exact = self.find(owner, index, key.clone());
        let key = self.either(
            exact,
            |_, _| key.clone(),
            |w, _| {
                let any = |(at, value): (usize, &r::Value)| match open(at) {
                    true => w.constant(w.b.type_of(*value), 0),
                    false => *value,
                };
                key.iter().enumerate().map(any).collect()
            },
        );
        self.find(owner, index, key)
    }

    /// Finds the object of a key, or makes one if there is room. If the class evicts, the oldest makes room; else
    /// `otherwise` runs if there is none. Afterwards the local is the object.
    pub fn find_or_new(&mut self, class: s::ObjectId, key: &'p [s::Expr], local: s::LocalId, otherwise: &'p [s::Stmt]) {
        let Some(layer) = self.layer(self.inst) else { return };
        let declared = &layer.objects[class.index()];
        let evicts = declared.evict_oldest && !self.faulty(Fault::NoEviction);
        let (owner, index) = self.index_of(class);
        let key = self.at_border(key);
        let id = self.info().objects[class.index()].class;
        let here = self.locals.clone();
        let mut exits = Exits::default();
        let found = self.find(owner, index, key.clone());
        let known = self.follow(found.yes);
        self.exit(&mut exits, known);
        self.follow(found.no);
        let made = self.make_in(owner, id);
        let object = self.unless(&mut exits, made, |w, _| w.run_block(otherwise))[0];
        self.fill_object(class, object, &key);
        let key = self.map_key(key);
        let insert = |key: &[r::Value]| r::Fallible::Insert {
            object: owner,
            cell: index,
            key: key.to_vec(),
            values: vec![object],
        };
        let entered = self.attempt(insert(&key));
        let mut there = Exits::default();
        self.unless(&mut there, entered, |w, _| {
            if evicts {
                w.evict(id, owner);
                let entered = w.attempt(insert(&key));
                w.ways(entered, |_, _| {}, |_, _| {});
            }
            if declared.owner != s::ScopeKind::Entity && !evicts {
                // The session has no more room, even if the class has.
                w.op(r::OpKind::Release { object });
                w.run_block(otherwise);
                w.exit(&mut exits, Vec::new());
            }
            // The map has as many places as there are objects: never reached.
        });
        self.exit(&mut there, Vec::new());
        self.meet(there);
        self.exit(&mut exits, vec![object]);
        // A block of `or` that does not leave has no object; the checks only let blocks through that leave.
        exits.0.retain(|exit| !exit.results.is_empty());
        exits.0.iter_mut().for_each(|exit| exit.locals.clone_from(&here));
        let found = self.meet(exits);
        match found.is_empty() {
            true => self.end(r::Terminator::Return),
            false => self.set_local(local, found),
        }
    }

    /// Ends the oldest object. It is freed after the reaction, so the class has room for a few more than the map.
    fn evict(&mut self, class: r::ClassId, parent: r::Value) {
        let oldest = self.attempt(r::Fallible::First { class, parent: Some(parent) });
        self.ways(oldest, |w, oldest| w.end_object(oldest[0]), |_, _| {});
    }

    /// Sets the key and initial values of a new object.
    fn fill_object(&mut self, class: s::ObjectId, object: r::Value, key: &[r::Value]) {
        let cells = self.key_cells(self.inst, class);
        self.set_cells(object, &cells, key.to_vec());
        let before = self.runs.keyed.replace((class, object));
        self.set_late(s::ScopeKind::Object(class), object);
        self.runs.keyed = before;
    }

    /// Ends a keyed object, of the entity or of a session.
    pub fn end_object(&mut self, object: r::Value) {
        let class = self.class_of(object);
        if let Some(place) = self.info().objects.iter().position(|objects| objects.class == class) {
            let id = s::ObjectId(place as u32);
            let (owner, index) = self.index_of(id);
            let key = self.get_all(object, &self.key_cells(self.inst, id));
            self.remove(owner, index, key);
        }
        self.op(r::OpKind::Release { object });
    }
}
