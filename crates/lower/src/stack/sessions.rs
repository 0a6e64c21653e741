//! The cells of shapes for sessions: in a session, in the object of a shared lower side, in a listener's point.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::beginnings::{fails_behind_beginnings, speaks_down_when_accepted};
use super::info::{EndingCells, FoundCells, LowerCells};
use super::{Endpoints, Info, Lowering, Patterns, PointCells, SessionCells, SharedCells};
use crate::plan::{Kind, Part};
use crate::program::{any_expr, any_stmt, blocks};

/// Sessions of a multiplexor that may be beginning at once, besides one for each layer above that gets a copy. Each
/// keeps its first message until the layer above has its session, which happens in the same reaction and before the
/// next one begins.
const BEGINNING: u32 = 4;

impl<'p> Lowering<'p> {
    pub(super) fn session_cells(&mut self, inst: usize, class: r::ClassId, info: &Info) -> SessionCells {
        let at = self.inst(inst);
        let mut cells = SessionCells::new(class);
        cells.above = self.cells_above(inst, class);
        if cells.above.len() > 1 {
            cells.user = Some(self.scalar_cell(class, "user", r::Type::U(8), at.is_multiplexor()));
        }
        if matches!(at.kind, Kind::Application) {
            cells.number = Some(self.scalar_cell(class, "user", r::Type::U(32), true));
            cells.opened = Some(self.scalar_cell(class, "opened", r::Type::Bool, false));
        }
        if let Some(below) = at.below.filter(|_| at.uses.sessions && info.classes.lower.is_none()) {
            if let Some(under) = self.infos[below].classes.session {
                let fixed = self.answers_promptly(below) && !self.gives_up_sessions(inst);
                cells.below = Some(self.scalar_cell(class, "below", r::Type::Ref(under), fixed));
                cells.coming = self.coming_cell(inst, class, under);
            }
        }
        if self.emits(inst, "opened") || self.emits(inst, "accepted") {
            cells.told = Some(self.scalar_cell(class, "told", r::Type::Bool, false));
        }
        let entity = info.classes.entity;
        let next_key =
            self.open_key(inst).map(|(_, bits)| self.scalar_cell(entity, "next_key", r::Type::U(bits), false));
        let says_flow = self.hears_flow(inst) && self.emits(inst, "opened");
        let searched = at.is_multiplexor() || self.plan.tells_users_apart(inst);
        if searched || self.emits(inst, "accepted") || self.names_flows(inst) || says_flow {
            let fixed = at.is_multiplexor() || self.chooser_below(inst).is_none();
            cells.flow = self.cells_of_flow(class, &at.top, fixed);
        }
        if at.is_multiplexor() {
            let arriving = r::CellKind::Quota { amount: BEGINNING + at.users.len() as u32 };
            let arriving = self.cell(entity, "arriving", arriving, false, None);
            let kind = r::CellKind::Messages { size: 1, quota: Some((entity, arriving)) };
            let first = self.cell(class, "first", kind, false, None);
            let (key, capacity) = (self.flow_params(&at.top), self.a.class(class).capacity);
            let map = self.map_to(entity, "sessions", key, class, capacity);
            if self.chooser_below(inst).is_none() {
                self.index_by(entity, map, &cells.flow);
            }
            cells.found = Some(FoundCells { map, first, arriving, next_key });
        }
        if self.layer(inst).is_some_and(|layer| layer.awaits() || speaks_down_when_accepted(layer)) {
            let users = self.plan.session_users(inst);
            for user in &users {
                let above = self.infos[*user].classes.entity;
                let name = self.name_for("begun", *user, users.len());
                let cell = self.scalar_cell(class, &name, r::Type::Ref(above), false);
                cells.begun.push((*user, cell));
            }
        }
        cells.ending = self.ending_cells(inst, class);
        cells
    }

    fn coming_cell(&mut self, inst: usize, class: r::ClassId, under: r::ClassId) -> Option<r::CellId> {
        self.comes_late(inst).then(|| self.scalar_cell(class, "coming", r::Type::Ref(under), false))
    }

    /// Whether `opened` may come long after `open`: a session that ends in between ends the one below, which therefore
    /// tells at once that it exists.
    pub fn comes_late(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        at.below.is_some_and(|below| at.uses.sessions && !self.answers_promptly(below))
    }

    /// The cells for a delayed end: if the layer's sessions settle, or may fail after the code that begins them.
    fn ending_cells(&mut self, inst: usize, class: r::ClassId) -> Option<EndingCells> {
        let settles = |handler: &&s::Handler| {
            matches!(handler.event, s::Event::Settle { .. }) && handler.scope == s::ScopeKind::Session
        };
        let layer = self.layer(inst)?;
        let handler = layer.handlers.iter().find(settles);
        if handler.is_none() && !fails_behind_beginnings(layer) {
            return None;
        }
        let again = |kind: &s::StmtKind| matches!(kind, s::StmtKind::Again);
        let asks = handler.is_some_and(|handler| any_stmt([handler.body.as_slice()], &again));
        let how = self.scalar_cell(class, "ending", r::Type::U(2), false);
        let why = self.scalar_cell(class, "ending_why", r::Type::Reason, false);
        let again = asks.then(|| self.scalar_cell(class, "settles_again", r::Type::Bool, false));
        if handler.is_none() {
            self.a.classes[class.index()].settle_limit = Some(1);
        }
        Some(EndingCells { how, why, again, settles: handler.is_some() })
    }

    fn cells_above(&mut self, inst: usize, class: r::ClassId) -> Vec<r::CellId> {
        let fixed = !self.gives_up_sessions(inst) && !self.emits(inst, "accepted");
        let users = self.plan.session_users(inst);
        let mut cells = Vec::new();
        for user in &users {
            let Some(above) = self.lower_side(*user).1 else { continue };
            let name = self.name_for("above", *user, users.len());
            cells.push(self.scalar_cell(class, &name, r::Type::Ref(above), fixed));
        }
        cells
    }

    /// The name of a cell for one of the layers above; suffixed only if there are several.
    fn name_for(&self, what: &str, user: usize, users: usize) -> String {
        match users {
            1 => what.to_owned(),
            _ => format!("{what}_{}", self.inst(user).name.replace('.', "_")),
        }
    }

    pub(super) fn lower_cells(&mut self, inst: usize, class: r::ClassId) -> Option<LowerCells> {
        let at = self.inst(inst);
        let under = self.infos[at.below?].classes.session?;
        let below = self.scalar_cell(class, "below", r::Type::Ref(under), false);
        let coming = self.coming_cell(inst, class, under);
        let count = self.scalar_cell(class, "sessions", r::Type::U(32), false);
        let flow = self.flow_cells(class, &at.bottom);
        let (key, capacity) = (self.flow_params(&at.bottom), self.a.class(class).capacity);
        let entity = self.infos[inst].classes.entity;
        let map = self.map_to(entity, "lowers", key, class, capacity);
        if self.chooser_below(inst).is_none() {
            self.index_by(entity, map, &flow);
        }
        Some(LowerCells { class, below, coming, count, flow, map })
    }

    pub(super) fn point_cells(&mut self, inst: usize, (class, session): (r::ClassId, r::ClassId)) -> PointCells {
        let (top, entity) = (&self.inst(inst).top, self.infos[inst].classes.entity);
        let listeners = self.capacity(inst, s::ScopeKind::Point);
        let shared = self.shares_points(inst).then(|| SharedCells {
            sessions: self.scalar_cell(class, "sessions", r::Type::U(32), false),
            listening: self.scalar_cell(class, "listening", r::Type::Bool, false),
            of_session: self.scalar_cell(session, "point", r::Type::Ref(class), true),
        });
        let map = |this: &mut Self, name: &str, endpoints| {
            let key = this.pattern_params(top, endpoints);
            this.map_to(entity, name, key, class, listeners)
        };
        let local = map(self, "points", Endpoints::Local);
        let from = self.may_name_remotes(inst).then(|| map(self, "points_from", Endpoints::Both));
        let room = from.map(|_| self.room_for_patterns(entity, "points_room", listeners));
        let index = Patterns { local, from, any: None, room };
        PointCells { class, index, shared }
    }

    /// The index of a multiplexor's own local key in its flow, and its bits; for a key that is one number and not
    /// symmetric.
    pub fn open_key(&self, inst: usize) -> Option<(usize, u8)> {
        let at = self.inst(inst);
        let own = |place: &usize| at.top[*place].owner == inst && at.top[*place].side == Part::Local;
        let mut places = (0..at.top.len()).filter(own);
        match (places.next(), places.next()) {
            (Some(place), None) if at.is_multiplexor() => match at.top[place].ty {
                s::Type::UInt(bits) => Some((place, bits)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether `opened` carries the flow, whose local part a multiplexor may have chosen: to applications, to the
    /// workers on the way, and to layers whose code uses flows.
    pub fn hears_flow(&self, inst: usize) -> bool {
        match self.inst(inst).kind {
            Kind::Application => true,
            Kind::Layer(layer) if layer.shape == s::Shape::Worker => {
                self.names_flows(inst) || self.plan.session_users(inst).iter().any(|user| self.hears_flow(*user))
            }
            Kind::Layer(_) | Kind::Device(_) => false,
        }
    }

    /// The multiplexor below workers that chooses a key if a session leaves it open; `None` if there is none.
    pub fn chooser_below(&self, inst: usize) -> Option<usize> {
        let mut at = inst;
        loop {
            at = self.inst(at).below.filter(|_| self.inst(at).uses.sessions)?;
            if self.inst(at).is_multiplexor() {
                return self.open_key(at).map(|_| at);
            }
        }
    }

    /// Whether it is a worker whose code uses flows.
    fn names_flows(&self, inst: usize) -> bool {
        let Some(layer) = self.layer(inst).filter(|layer| layer.shape == s::Shape::Worker) else { return false };
        let flow = |local: &s::Local| matches!(local.ty, s::Type::Flow(_));
        let here = any_expr(blocks(layer), &|kind| matches!(kind, s::ExprKind::FlowHere));
        here || layer.handlers.iter().any(|handler| handler.locals.iter().any(flow))
    }
}
