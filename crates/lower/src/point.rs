//! Points: the state of a listener, shared by the sessions that began at it (docs/language.md, section 4).
//!
//! Invariant: a point lives as long as its listener, or a session that is of it; each session is of one point from the
//! moment it is made, and gives it up once, where it is released.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::frame::{to, Ends, Exit, Register, Registration, Writer};
use crate::listeners::Patterns;
use crate::lowering::{Info, Lowering};

/// What a layer with a `point` scope keeps.
#[derive(Clone, Copy, Debug)]
pub struct PointCells {
    pub class: r::ClassId,
    /// How many sessions are of it.
    sessions: r::CellId,
    listening: r::CellId,
    /// The entity's points, by the local part of the flow.
    index: r::CellId,
    /// Of listeners that name something of the remote end, by the whole pattern.
    index_from: Option<r::CellId>,
    /// The session's.
    of_session: r::CellId,
}

impl PointCells {
    fn index_of(&self, ends: Ends) -> Option<r::CellId> {
        match ends {
            Ends::Local => Some(self.index),
            Ends::Both => self.index_from,
        }
    }
}

impl<'p> Lowering<'p> {
    /// A layer of sessions that says what its listeners know.
    pub fn has_points(&self, inst: usize) -> bool {
        self.inst(inst).has_scope(s::ScopeKind::Point)
    }

    pub fn declare_point_cells(&mut self, inst: usize, class: r::ClassId, listeners: u32, info: &mut Info) {
        let Some(session) = info.session else { return };
        let top = self.inst(inst).top.clone();
        let key: Vec<r::Type> = self.local_params(&top).into_iter().map(|(_, ty)| ty).collect();
        let scalar = |ty| r::CellKind::Scalar { ty, init: 0 };
        let sessions = self.cell(class, "sessions", scalar(r::Type::U(32)), false, None);
        let listening = self.cell(class, "listening", scalar(r::Type::Bool), false, None);
        let of_session = self.cell(session, "point", scalar(r::Type::Ref(class)), true, None);
        let index = self.map_to(info.entity(), "points", key, class, listeners);
        let index_from = self.may_name_remotes(inst).then(|| {
            let key: Vec<r::Type> = self.flow_params(&top).into_iter().map(|(_, ty)| ty).collect();
            self.map_to(info.entity(), "points_from", key, class, listeners)
        });
        self.refused_cell(info);
        info.point = Some(PointCells { class, sessions, listening, index, index_from, of_session });
    }
}

impl<'p> Writer<'_, 'p> {
    /// The point of the code at hand: the listener's, or the session's.
    pub fn point_object(&mut self) -> Option<r::Value> {
        if self.place.point.is_some() {
            return self.place.point;
        }
        let cell = self.infos[self.inst].point?.of_session;
        let object = self.place.session?;
        Some(self.value(r::OpKind::Get { object, cell }))
    }

    // -- listeners

    /// Before what `listen`, `bind` and `unlisten` do: the listener's point, made if it is not there.
    pub fn enter_point(&mut self, registration: Registration, pattern: &[r::Value]) {
        let Some(cells) = self.infos[self.inst].point else { return };
        let Some(index) = cells.index_of(registration.ends) else { return };
        let entity = self.entity();
        let (found, absent) = self.find_in(entity, index, cells.class, pattern);
        let known = found.1;
        self.select(found.0);
        let mut exits: Vec<Exit> = self.exit(vec![known]).into_iter().collect();
        self.select(absent);
        if registration.how == Register::Unlisten {
            // Nobody listened: there is nothing to take back.
            self.end(r::Terminator::Return);
        } else if let Some(point) = self.new_point(cells) {
            let yes = self.constant(r::Type::Bool, 1);
            self.op(r::OpKind::Set { object: point, cell: cells.listening, value: yes });
            self.put_listener(index, pattern, point);
            exits.extend(self.exit(vec![point]));
        }
        self.place.point = self.join("point", exits).and_then(|values| values.first().copied());
    }

    /// A listener beyond the capacity is not entered.
    fn put_listener(&mut self, index: r::CellId, key: &[r::Value], point: r::Value) {
        let entity = self.entity();
        if key.is_empty() {
            return self.put_in(entity, index, key, point);
        }
        let (entered, full) = (self.b.block("entered", &[]), self.b.block("full", &[]));
        self.end(r::Terminator::Try {
            op: r::Fallible::Insert { object: entity, cell: index, key: key.to_vec(), values: vec![point] },
            then: to(entered),
            otherwise: to(full),
        });
        self.select(full);
        self.count_refused();
        self.op(r::OpKind::Release { object: point });
        self.end(r::Terminator::Return);
        self.select(entered);
    }

    /// After `unlisten`: the point ends when the last of its sessions has.
    pub fn leave_listener(&mut self, ends: Ends, pattern: &[r::Value]) {
        let (Some(cells), Some(point)) = (self.infos[self.inst].point, self.place.point) else { return };
        let Some(index) = cells.index_of(ends) else { return };
        let entity = self.entity();
        self.take_from(entity, index, pattern.to_vec());
        let no = self.constant(r::Type::Bool, 0);
        self.op(r::OpKind::Set { object: point, cell: cells.listening, value: no });
        let left = self.value(r::OpKind::Get { object: point, cell: cells.sessions });
        self.end_if(point, left, None);
    }

    /// Releases a point without sessions, if it does not listen.
    fn end_if(&mut self, point: r::Value, left: r::Value, listening: Option<r::Value>) {
        let zero = self.constant(r::Type::U(32), 0);
        let mut last = self.value(r::OpKind::Compare { op: r::Compare::Eq, a: left, b: zero });
        if let Some(listening) = listening {
            let not = self.value(r::OpKind::Not { a: listening });
            last = self.value(r::OpKind::Binary { op: r::Binary::And, a: last, b: not });
        }
        let (yes, no) = self.branch(last, None, "last", "kept");
        let before = self.locals.clone();
        self.select(yes);
        self.op(r::OpKind::Release { object: point });
        let mut exits: Vec<Exit> = self.exit(Vec::new()).into_iter().collect();
        self.select(no);
        self.locals = before;
        exits.extend(self.exit(Vec::new()));
        self.join("after", exits);
    }

    // -- sessions

    fn new_point(&mut self, cells: PointCells) -> Option<r::Value> {
        // As many as listeners and sessions together: there is room.
        let (made, point, never) = self.new_object(cells.class);
        self.select(never);
        self.end(r::Terminator::Return);
        self.select(made);
        let outer = self.place.point.replace(point);
        self.set_late(s::ScopeKind::Point, point);
        self.place.point = outer;
        Some(point)
    }

    /// A new session becomes one of its listener's point; of one to itself where nobody listened for it.
    ///
    /// Keeps: to be called while no message is at hand that somebody must give away.
    pub fn join_point(&mut self, session: r::Value, begun_at: Option<&[r::Value]>) {
        let Some(cells) = self.infos[self.inst].point else { return };
        let mut exits: Vec<Exit> = Vec::new();
        if let Some(flow) = begun_at {
            let maps = Patterns::new(cells.index, cells.index_from, r::Type::Ref(cells.class));
            let found = self.search(flow, maps, &[Vec::new()]);
            let Some(absent) = self.b.current() else { return };
            self.select(found);
            let point = self.b.params(found)[0];
            exits.extend(self.exit(vec![point]));
            self.select(absent);
        }
        if let Some(point) = self.new_point(cells) {
            exits.extend(self.exit(vec![point]));
        }
        let Some(point) = self.join("point", exits).and_then(|values| values.first().copied()) else { return };
        self.op(r::OpKind::Set { object: session, cell: cells.of_session, value: point });
        let count = self.value(r::OpKind::Get { object: point, cell: cells.sessions });
        let one = self.constant(r::Type::U(32), 1);
        let value = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: count, b: one });
        self.op(r::OpKind::Set { object: point, cell: cells.sessions, value });
    }

    /// The end of a session: its point has one less.
    pub fn release_session(&mut self, session: r::Value) {
        if let Some(cells) = self.infos[self.inst].point {
            let get = |object, cell| r::OpKind::Get { object, cell };
            let point = self.value(get(session, cells.of_session));
            let count = self.value(get(point, cells.sessions));
            let one = self.constant(r::Type::U(32), 1);
            let left = self.value(r::OpKind::Binary { op: r::Binary::SubWrap, a: count, b: one });
            self.op(r::OpKind::Set { object: point, cell: cells.sessions, value: left });
            let listening = self.value(get(point, cells.listening));
            self.end_if(point, left, Some(listening));
        }
        self.op(r::OpKind::Release { object: session });
    }
}
