//! Points: the state of a listener, shared by the sessions that began at it (docs/language.md, section 4).
//!
//! Invariant: a point lives as long as its listener. If it has state, it lives as long as its last session, too: each
//! session belongs to one point from its beginning, and leaves it once, when it is released.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Exits, Writer};
use crate::stack::{Endpoints, Patterns, PointCells, Register, Registration};

/// The code for the case that there is no room for a point.
pub type Full<'f, 'x, 'p> = Option<&'f mut dyn FnMut(&mut Writer<'x, 'p>)>;

impl<'x, 'p> Writer<'x, 'p> {
    // -- listeners

    /// Runs before `listen`, `bind` and `unlisten`: finds the listener's point, or makes it. The handler continues only
    /// if there is one; other branches leave.
    pub fn enter_point(&mut self, exits: &mut Exits, registration: Registration, pattern: &[r::Value]) {
        let Some(cells) = self.info().point else { return };
        let Some(index) = cells.index.of(registration.endpoints) else { return };
        let found = self.find_in(index, pattern);
        let point = match registration.how {
            // If nothing listens there, there is nothing to remove.
            Register::Unlisten => self.unless(exits, found, |_, _| {}),
            Register::Listen | Register::Bind => self.either(
                found,
                |_, known| known.to_vec(),
                |w, _| {
                    w.take_room(exits, cells.index);
                    let point = w.new_listened(exits, cells);
                    w.put_listener(exits, index, pattern, point);
                    vec![point]
                },
            ),
        };
        self.runs.point = point.first().copied();
    }

    /// A new point for a listener. If more were removed in this reaction than there are spare places, there may be no
    /// room: then the listener is not entered.
    fn new_listened(&mut self, exits: &mut Exits, cells: PointCells) -> r::Value {
        let made = self.make(cells.class);
        let point = self.unless(exits, made, |w, _| {
            w.give_room(cells.index);
            w.count_refused();
        })[0];
        if let Some(shared) = cells.shared {
            self.first_values(point);
            let yes = self.truth(true);
            self.set(point, shared.listening, yes);
        }
        point
    }

    fn first_values(&mut self, point: r::Value) {
        let outer = self.runs.point.replace(point);
        self.set_late(s::ScopeKind::Point, point);
        self.runs.point = outer;
    }

    /// A listener beyond the capacity is not entered.
    fn put_listener(&mut self, exits: &mut Exits, index: r::CellId, key: &[r::Value], point: r::Value) {
        if key.is_empty() {
            return self.put_in(index, key, point);
        }
        let (object, key, values) = (self.entity(), key.to_vec(), vec![point]);
        let entered = self.attempt(r::Fallible::Insert { object, cell: index, key, values });
        let index = self.info().point.map(|cells| cells.index);
        self.unless(exits, entered, |w, _| {
            index.into_iter().for_each(|index| w.give_room(index));
            w.count_refused();
            w.op(r::OpKind::Release { object: point });
        });
    }

    /// After `unlisten`: ends the point; one with state ends with its last session.
    pub fn leave_listener(&mut self, endpoints: Endpoints, pattern: &[r::Value]) {
        let (Some(cells), Some(point)) = (self.info().point, self.runs.point) else { return };
        let Some(index) = cells.index.of(endpoints) else { return };
        self.take_from(index, pattern.to_vec());
        self.give_room(cells.index);
        let Some(shared) = cells.shared else {
            self.op(r::OpKind::Release { object: point });
            return;
        };
        let no = self.truth(false);
        self.set(point, shared.listening, no);
        let left = self.get(point, shared.sessions);
        let last = self.is_zero(left);
        self.when(last, |w| {
            w.op(r::OpKind::Release { object: point });
        });
    }

    // -- sessions

    /// A new point. There are as many as listeners and sessions together, so there is room, and the other branch ends.
    /// `full` runs there if messages are held.
    fn new_point(&mut self, class: r::ClassId, full: Full<'_, 'x, 'p>) -> r::Value {
        let made = self.make(class);
        if let Some(full) = full {
            self.follow(made.no);
            full(self);
            self.end(r::Terminator::Return);
        }
        let point = self.follow(made.yes)[0];
        self.first_values(point);
        point
    }

    /// Joins a new session to its listener's point, or to its own if nothing listened for it.
    pub(super) fn join_point(&mut self, session: r::Value, begun_at: Option<&[r::Value]>, full: Full<'_, 'x, 'p>) {
        let Some((cells, shared)) = self.info().point.and_then(|cells| Some((cells, cells.shared?))) else { return };
        let mut points = Exits::default();
        if let Some(flow) = begun_at {
            let found = self.search(flow, cells.index, &[Vec::new()]);
            let known = self.follow(found.yes);
            self.exit(&mut points, known);
            self.follow(found.no);
        }
        let own = self.new_point(cells.class, full);
        self.exit(&mut points, vec![own]);
        let Some(point) = self.meet(points).first().copied() else { return };
        self.set(session, shared.of_session, point);
        self.bump(point, shared.sessions, r::Binary::AddWrap);
    }

    /// Takes the values that were given at the session's listener; those for layers below are passed on when it opens
    /// them.
    pub(super) fn take_from_listener(&mut self, session: r::Value, flow: &[r::Value]) {
        let info = self.info();
        let Some(cells) = info.point.filter(|_| !info.listened.is_empty()) else { return };
        let all = match cells.shared {
            Some(shared) => {
                let point = self.get(session, shared.of_session);
                self.kept_at(point)
            }
            None => {
                let found = self.search(flow, cells.index, &[Vec::new()]);
                self.either(found, |w, point| w.kept_at(point[0]), |w, _| w.kept_at_none())
            }
        };
        let mut all = all.into_iter();
        for (given, kept) in &info.listened {
            let values: Vec<r::Value> = all.by_ref().take(kept.len()).collect();
            if given.inst == self.inst {
                let cells = info.members.get(&(s::ScopeKind::Session, given.member));
                let values = self.gather(given.ty, values);
                self.set_cells(session, cells.map_or(&[][..], |cells| cells), values);
            } else {
                self.hand_on(given, values);
            }
        }
    }

    /// All values that a point keeps for its sessions.
    fn kept_at(&mut self, point: r::Value) -> Vec<r::Value> {
        let info = self.info();
        let cells = info.listened.iter().flat_map(|(_, cells)| cells);
        cells.map(|cell| self.get(point, *cell)).collect()
    }

    /// The same if nothing listens: the defaults.
    fn kept_at_none(&mut self) -> Vec<r::Value> {
        let info = self.info();
        let defaults: Vec<_> = info.listened.iter().flat_map(|(given, _)| self.given_default(given)).collect();
        defaults.into_iter().map(|(ty, value)| self.constant(ty, value)).collect()
    }

    /// Releases a session, and takes it off its point.
    pub fn release_session(&mut self, session: r::Value) {
        if let Some(shared) = self.info().point.and_then(|cells| cells.shared) {
            let point = self.get(session, shared.of_session);
            let left = self.bump(point, shared.sessions, r::Binary::SubWrap);
            let listening = self.get(point, shared.listening);
            let last = self.is_zero(left);
            let not = self.value(r::OpKind::Not { a: listening });
            let over = self.binary(r::Binary::And, last, not);
            self.when(over, |w| {
                w.op(r::OpKind::Release { object: point });
            });
        }
        self.not_offered(session);
        self.op(r::OpKind::Release { object: session });
    }

    /// A session that `accept` began fails before some users above were told of it: they are not told any more.
    pub(super) fn not_offered(&mut self, session: r::Value) {
        for (user, cell) in self.offered() {
            let class = self.lowering.info(user).classes.entity;
            let nobody = self.value(r::OpKind::Null { class });
            self.set(session, cell, nobody);
        }
    }

    /// Notes which users above may be told of the session, until it fails.
    pub fn note_offered(&mut self, session: r::Value) {
        for (user, cell) in self.offered() {
            let above = self.unique(self.lowering.info(user).classes.entity);
            self.set(session, cell, above);
        }
    }

    /// The cells in which a session that `accept` began notes the entities above that may be told of it.
    fn offered(&self) -> Vec<(usize, r::CellId)> {
        self.info().session.as_ref().map_or(Vec::new(), |cells| cells.begun.clone())
    }

    /// The same for one of these entities.
    pub(super) fn offered_to(&self, user: usize) -> Option<r::CellId> {
        self.offered().into_iter().find_map(|(of, cell)| (of == user).then_some(cell))
    }
}

impl Patterns {
    /// The map of the patterns with these endpoints.
    pub fn of(self, endpoints: Endpoints) -> Option<r::CellId> {
        match endpoints {
            Endpoints::Local => Some(self.local),
            Endpoints::Both => self.from,
        }
    }
}
