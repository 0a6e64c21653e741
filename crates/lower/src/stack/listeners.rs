//! Who may listen, for what, and what is stored for it (docs/language.md, section 6).

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::info::PassedCells;
use super::{Endpoints, Lowering, Patterns, Register};
use crate::plan::{Component, Kind};
use crate::program::{any_stmt, blocks};

impl<'p> Lowering<'p> {
    pub(super) fn listener_cells(&mut self, inst: usize) -> Option<Patterns> {
        let at = self.inst(inst);
        let unbound = at.users.iter().any(|user| !self.plan.is_bound(inst, *user));
        if !unbound || at.top.iter().all(Component::is_remote) {
            return None;
        }
        let local = self.listener_map(inst, "listeners", Endpoints::Local);
        let from = self.may_name_remotes(inst).then(|| self.listener_map(inst, "listeners_from", Endpoints::Both));
        let entity = self.infos[inst].classes.entity;
        let any = from.map(|_| self.scalar_cell(entity, "any_from", r::Type::Bool, false));
        let room = from.map(|_| {
            let listeners = self.listeners_at(inst);
            self.room_for_patterns(entity, "listeners_room", listeners)
        });
        Some(Patterns { local, from, any, room })
    }

    /// The cells for the listeners that a multiplexor passes on.
    pub(super) fn passed_cells(&mut self, inst: usize) -> Option<PassedCells> {
        let at = self.inst(inst);
        let keyed = at.is_multiplexor() && at.top.iter().any(|component| component.owner == inst);
        if !at.below.is_some_and(|below| keyed && self.cares_for_listeners(below)) {
            return None;
        }
        let bound = at.users.iter().any(|user| self.plan.is_bound(inst, *user));
        let counts = self.passed_maps(inst, ("passed", Vec::new(), r::Type::U(32)));
        let bound = bound.then(|| self.passed_maps(inst, ("passed_bound", vec![r::Type::U(8)], r::Type::U(8))));
        Some(PassedCells { counts, bound })
    }

    /// Maps by patterns below, with some further keys in front.
    fn passed_maps(&mut self, inst: usize, (name, front, value): (&str, Vec<r::Type>, r::Type)) -> Patterns {
        let (bottom, entity) = (&self.inst(inst).bottom, self.infos[inst].classes.entity);
        let capacity = self.listeners_at(inst).saturating_add(self.stack.sessions);
        let map = |this: &mut Self, name: &str, endpoints| {
            let key = [front.clone(), r::types(&this.pattern_params(bottom, endpoints))].concat();
            // If there is nothing in a pattern below, there is a single pattern.
            let key = if key.is_empty() { vec![r::Type::Bool] } else { key };
            let kind = r::CellKind::Map { key, value: vec![value], capacity, by: Vec::new() };
            this.cell(entity, name, kind, false, None)
        };
        let local = map(self, name, Endpoints::Local);
        let from = bottom.iter().any(Component::is_remote) && self.may_name_remotes(inst);
        let from = from.then(|| map(self, &format!("{name}_from"), Endpoints::Both));
        Patterns { local, from, any: None, room: None }
    }

    /// A quota of as many patterns as listeners, whichever of the two maps they are in.
    pub(super) fn room_for_patterns(&mut self, entity: r::ClassId, name: &str, listeners: u32) -> r::CellId {
        self.cell(entity, name, r::CellKind::Quota { amount: listeners }, false, None)
    }

    /// The capacity for listeners of an instance with a map of listeners.
    fn listeners_at(&mut self, inst: usize) -> u32 {
        let sessions = self.stack.sessions.max(1);
        self.listeners_above(inst).map_or(sessions, |listeners| listeners.clamp(1, sessions))
    }

    fn listener_map(&mut self, inst: usize, name: &str, endpoints: Endpoints) -> r::CellId {
        let mut key = r::types(&self.pattern_params(&self.inst(inst).top, endpoints));
        // If all matches get a copy, each user listens for itself.
        key.extend(self.shares(inst).then_some(r::Type::U(8)));
        let capacity = self.listeners_at(inst);
        let kind = r::CellKind::Map { key, value: vec![r::Type::U(8)], capacity, by: Vec::new() };
        self.cell(self.infos[inst].classes.entity, name, kind, false, None)
    }

    /// The most listeners, if a layer with points is between this one and each user: listeners beyond its capacity do
    /// not get here, and what it removes is removed here, too.
    fn listeners_above(&mut self, inst: usize) -> Option<u32> {
        let unbound = |user: &usize| !self.plan.is_bound(inst, *user);
        let users: Vec<usize> = self.inst(inst).users.iter().copied().filter(unbound).collect();
        users.into_iter().try_fold(0, |sum: u32, user| Some(sum.saturating_add(self.listeners_through(user)?)))
    }

    /// How many listeners a layer passes to the one below.
    fn listeners_through(&mut self, inst: usize) -> Option<u32> {
        let layer = self.layer(inst).filter(|layer| layer.shape == s::Shape::Worker)?;
        let listens = |kind: &s::StmtKind| {
            let by_hand = |emission: &s::Emission| {
                matches!(emission, s::Emission::Listen { .. } | s::Emission::Bind { .. } | s::Emission::Unlisten { .. })
            };
            matches!(kind, s::StmtKind::Emit(emission) if by_hand(emission))
        };
        let keeps = |handler: &s::Handler| matches!(handler.event, s::Event::Unlisten { .. });
        if any_stmt(blocks(layer), &listens) || layer.handlers.iter().any(keeps) {
            return None;
        }
        match self.infos[inst].classes.point {
            Some(_) => Some(self.capacity(inst, s::ScopeKind::Point)),
            None => self.listeners_above(inst),
        }
    }

    /// Whether all matches may get a copy of a message, instead of one the message itself.
    pub fn shares(&self, inst: usize) -> bool {
        self.layer(inst).is_some_and(|layer| layer.matching != s::Matching::One)
    }

    /// Whether a user above may listen for certain remote ends only.
    pub fn may_name_remotes(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        at.top.iter().any(Component::is_remote) && at.users.iter().any(|user| self.names_remotes(*user))
    }

    fn names_remotes(&self, user: usize) -> bool {
        let at = self.inst(user);
        let Kind::Layer(layer) = at.kind else { return matches!(at.kind, Kind::Application) };
        let named = |kind: &s::StmtKind| match kind {
            s::StmtKind::Emit(
                s::Emission::Listen { flow, .. } | s::Emission::Bind { flow } | s::Emission::Unlisten { flow },
            ) => Endpoints::of(flow) == Endpoints::Both,
            _ => false,
        };
        any_stmt(blocks(layer), &named)
            || (at.passes_listeners() && at.users.iter().any(|user| self.names_remotes(*user)))
    }

    /// Who may listen, and how; the map has indices into this list.
    pub fn listening(&self, inst: usize) -> Vec<(usize, Register)> {
        let mut all = Vec::new();
        for user in self.inst(inst).users.iter().filter(|user| !self.plan.is_bound(inst, **user)) {
            let uses = self.inst(*user).uses;
            all.extend(uses.flow.then_some((*user, Register::Bind)));
            all.extend(uses.sessions.then_some((*user, Register::Listen)));
        }
        all
    }

    /// Whether a layer from here down uses what is listened for.
    pub fn cares_for_listeners(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        let Some(layer) = at.layer() else { return false };
        let handles = layer.handlers.iter().any(|handler| {
            matches!(handler.event, s::Event::Listen { .. } | s::Event::Bind { .. } | s::Event::Unlisten { .. })
        });
        handles
            || self.infos[inst].point.is_some()
            || !layer.listened.is_empty()
            || self.infos[inst].listeners.is_some()
            || (at.passes_listeners() && at.lowers().iter().any(|below| self.cares_for_listeners(*below)))
    }
}
