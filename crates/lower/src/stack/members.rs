//! The members that layers declare, as cells.

use mokume_reaction as r;
use mokume_semantics::first_values;
use mokume_semantics::program::{self as s, Counted};

use super::{joined, Lowering, On};
use crate::parts::places;

impl<'p> Lowering<'p> {
    pub(super) fn declare_members(&mut self, inst: usize) {
        let Some(layer) = self.layer(inst) else { return };
        for scope in &layer.scopes {
            if matches!(scope.kind, s::ScopeKind::Object(_)) {
                continue;
            }
            if let Some(class) = self.class_on(inst, On::from(scope.kind)) {
                self.declare_scope(inst, scope.kind, class, &scope.members);
            }
        }
        for (place, object) in layer.objects.iter().enumerate() {
            let class = self.infos[inst].objects[place].class;
            self.declare_scope(inst, s::ScopeKind::Object(s::ObjectId(place as u32)), class, &object.members);
        }
    }

    fn declare_scope(&mut self, inst: usize, scope: s::ScopeKind, class: r::ClassId, members: &'p [s::Member]) {
        for (place, member) in members.iter().enumerate() {
            let at = (scope, place as u32);
            if !self.infos[inst].members.contains_key(&at) {
                self.declare_at(inst, class, member, at);
            }
        }
    }

    fn declare_at(&mut self, inst: usize, class: r::ClassId, member: &'p s::Member, at: (s::ScopeKind, u32)) {
        let source = self.place(member.name.span);
        let cells = self.declare_member(inst, class, member, source, at);
        self.change(inst, |info| {
            info.members.insert(at, cells);
        });
    }

    fn declare_member(
        &mut self,
        inst: usize,
        class: r::ClassId,
        member: &'p s::Member,
        source: Option<r::SourceId>,
        at: (s::ScopeKind, u32),
    ) -> Vec<r::CellId> {
        let env = &self.inst(inst).env;
        // Names of a container's contents have dots.
        let name = &member.name.text.replace('.', "_");
        let kind = match &member.kind {
            s::MemberKind::Var { ty, init, constant } => {
                return self.declare_var(inst, class, (name, *ty, init, *constant), source, at)
            }
            s::MemberKind::Array { ty, size, .. } => {
                let size = self.size(env, size, Counted::Elements);
                let parts = self.border(inst, *ty);
                let kind = |ty| r::CellKind::Array { ty, size, init: 0 };
                return parts
                    .into_iter()
                    .map(|(rest, ty)| self.cell(class, &joined(name, &rest), kind(ty), false, source))
                    .collect();
            }
            s::MemberKind::Container(_) => return Vec::new(),
            s::MemberKind::Timer => r::CellKind::Timer,
            s::MemberKind::Quota { amount } => r::CellKind::Quota { amount: self.size(env, amount, Counted::Units) },
            s::MemberKind::Counter => return vec![self.counter_cell(inst, class, &member.name.text, source)],
            s::MemberKind::Map { key, value, capacity } => {
                let key = self.key_types(inst, key.iter().copied());
                let value = value.iter().flat_map(|ty| self.border_types(inst, *ty)).collect();
                r::CellKind::Map { key, value, capacity: self.size(env, capacity, Counted::Entries), by: Vec::new() }
            }
            s::MemberKind::Messages { size, quota } => {
                let size = self.size(env, size, Counted::Messages);
                let quota = quota.as_ref().and_then(|quota| self.quota_cell(inst, quota));
                r::CellKind::Messages { size, quota }
            }
        };
        vec![self.cell(class, name, kind, false, source)]
    }

    /// The layer counts what a part counts: under the plain name, in one counter with all of this name.
    fn counter_cell(&mut self, inst: usize, class: r::ClassId, name: &str, source: Option<r::SourceId>) -> r::CellId {
        let parts = self.layer(inst).map_or(&[][..], |layer| &layer.parts);
        let own = |part: &s::Part| name.strip_prefix(&part.called)?.strip_prefix('.');
        let plain = parts.iter().find_map(own).unwrap_or(name).replace('.', "_");
        let mut cells = self.a.classes[class.index()].cells.iter();
        let known = cells.position(|cell| cell.name == plain && matches!(cell.kind, r::CellKind::Counter));
        match known.filter(|_| !parts.is_empty()) {
            Some(at) => r::CellId::from(at),
            None => self.cell(class, &plain, r::CellKind::Counter, false, source),
        }
    }

    fn quota_cell(&mut self, inst: usize, quota: &s::StateRef) -> Option<(r::ClassId, r::CellId)> {
        let class = self.class_on(inst, On::from(quota.scope))?;
        let at = quota.place();
        if !self.infos[inst].members.contains_key(&at) {
            // A quota that is declared later has its cell by now.
            let member = self.layer(inst)?.members(quota.scope)?.get(quota.member as usize)?;
            self.declare_at(inst, class, member, at);
        }
        Some((class, self.cells(inst, quota).first().copied()?))
    }

    fn declare_var(
        &mut self,
        inst: usize,
        class: r::ClassId,
        (name, ty, init, fixed): (&str, s::Type, &'p Option<s::Expr>, bool),
        source: Option<r::SourceId>,
        at: (s::ScopeKind, u32),
    ) -> Vec<r::CellId> {
        let values = init.as_ref().and_then(|value| self.constants(&self.inst(inst).env, value));
        if init.is_some() && values.is_none() {
            self.change(inst, |info| info.late.push(at));
        }
        let places = places(self.program, ty);
        let inits = |part: usize| {
            let own = places.iter().enumerate().filter(move |(_, (of, _))| *of == part);
            own.map(|(at, _)| values.as_ref().and_then(|values| values.get(at).copied()).unwrap_or(0))
                .collect::<Vec<u64>>()
        };
        let (mut cells, mut alike) = (Vec::new(), true);
        for (part, (rest, ty)) in self.parts_in_code(inst, ty).into_iter().enumerate() {
            let inits = inits(part);
            let init = inits.first().copied().unwrap_or(0);
            let kind = match ty.array() {
                Some((ty, size)) => {
                    alike &= inits.iter().all(|other| *other == init);
                    r::CellKind::Array { ty, size, init }
                }
                None => r::CellKind::Scalar { ty, init },
            };
            cells.push(self.cell(class, &joined(name, &rest), kind, fixed, source));
        }
        if !alike {
            // An array's items start equal: others are set when the object is made.
            self.change(inst, |info| info.late.push(at));
        }
        cells
    }

    /// The types of a map's key; a flow without parts here counts as a single key (`map_key`).
    pub(super) fn key_types(&mut self, inst: usize, key: impl Iterator<Item = s::Type>) -> Vec<r::Type> {
        let types: Vec<r::Type> = key.flat_map(|ty| self.border_types(inst, ty)).collect();
        match types.is_empty() {
            true => vec![r::Type::Bool],
            false => types,
        }
    }

    /// The cells of a member.
    pub fn cells(&self, inst: usize, state: &s::StateRef) -> Vec<r::CellId> {
        self.infos[inst].members.get(&state.place()).cloned().unwrap_or_default()
    }

    /// The cells of a keyed object's key.
    pub fn key_cells(&self, inst: usize, class: s::ObjectId) -> Vec<r::CellId> {
        let keys = self.layer(inst).map_or(0, |layer| layer.objects[class.index()].keys.len());
        let members = &self.infos[inst].members;
        let of = |place| members.get(&(s::ScopeKind::Object(class), place)).cloned().unwrap_or_default();
        (0..keys as u32).flat_map(of).collect()
    }

    /// Members whose initial value must be set when the object is made, each after those that it depends on.
    pub fn late_values(&self, inst: usize, scope: s::ScopeKind) -> Vec<(u32, &'p s::Expr)> {
        let Some(layer) = self.layer(inst) else { return Vec::new() };
        let members: &'p [s::Member] = match scope {
            s::ScopeKind::Object(id) => &layer.objects[id.index()].members,
            kind => layer.scopes.iter().find(|scope| scope.kind == kind).map_or(&[], |scope| &scope.members),
        };
        let late = &self.infos[inst].late;
        let order = first_values::order(layer, scope).into_iter().filter(|place| late.contains(&(scope, *place)));
        order
            .filter_map(|place| match &members.get(place as usize)?.kind {
                s::MemberKind::Var { init: Some(init), .. } => Some((place, init)),
                _ => None,
            })
            .collect()
    }
}
