//! Declarations before any handler is made: parameters, classes, cells of shapes and members, links.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::Lowering;
use crate::constants::{fold, scalars, Env};
use crate::program::{any_stmt, blocks};

/// docs/language.md, section 10: a device's default largest message (an Ethernet frame's header and payload).
pub const DEVICE_MTU: u64 = 1514;

impl<'p> Lowering<'p> {
    /// Declares parameters and classes. Headers and wires come next, then [`Self::declare_cells`].
    pub fn declare_classes(&mut self) {
        self.declare_params();
        for inst in 0..self.plan.insts.len() {
            let info = self.classes_of(inst);
            self.infos.push(Rc::new(info));
        }
    }

    /// Declares cells and links.
    pub fn declare_cells(&mut self) {
        for inst in 0..self.plan.insts.len() {
            self.declare_shape_cells(inst);
            self.declare_members(inst);
            self.index_objects(inst);
        }
        for inst in 0..self.plan.insts.len() {
            if let Some(passed) = self.passed_cells(inst) {
                self.change(inst, |info| info.passed = Some(passed));
            }
        }
        for inst in 0..self.plan.insts.len() {
            for below in self.inst(inst).lowers() {
                self.declare_link(inst, *below);
            }
        }
    }

    fn declare_params(&mut self) {
        for param in &self.stack.params {
            let default = param.default.as_ref().and_then(|value| fold(self.program, &Env::Stack, value));
            for (at, (rest, ty)) in scalars(self.program, param.ty).into_iter().enumerate() {
                let ty = self.plain(ty);
                let default = default.as_ref().and_then(|values| values.get(at).copied());
                self.a.params.push(r::Param { name: format!("{}{rest}", param.name.text), ty, default });
            }
        }
        for device in &self.stack.devices {
            let name = &device.text;
            self.a.params.push(r::Param { name: format!("{name}.mac"), ty: r::Type::U(48), default: None });
            self.a.params.push(r::Param { name: format!("{name}.mtu"), ty: r::Type::U(32), default: Some(DEVICE_MTU) });
        }
    }

    /// Declares the cells of the shape.
    fn declare_shape_cells(&mut self, inst: usize) {
        let at = self.inst(inst);
        let mut info = (*self.infos[inst]).clone();
        info.session = info.classes.session.map(|class| self.session_cells(inst, class, &info));
        info.lower = info.classes.lower.and_then(|class| self.lower_cells(inst, class));
        if let (Some(session), Some(lower)) = (&mut info.session, &info.lower) {
            let reference = r::Type::Ref(lower.class);
            session.lower = Some(self.scalar_cell(session.class, "lower", reference, true));
            session.opened = Some(self.scalar_cell(session.class, "opened", r::Type::Bool, false));
        }
        info.point = info.classes.point.zip(info.classes.session).map(|classes| self.point_cells(inst, classes));
        if let Some(point) = &info.point {
            info.listened = self.listened_cells(inst, point.class);
        }
        if let Some(view) = info.classes.view {
            info.view = Some(self.scalar_cell(info.classes.entity, "view", r::Type::Ref(view), false));
        }
        if at.is_multiplexor() || self.plan.tells_users_apart(inst) {
            info.listeners = self.listener_cells(inst);
        }
        if info.listeners.is_some() || info.point.is_some() {
            let entity = info.classes.entity;
            info.refused = Some(self.cell(entity, "refused_listeners", r::CellKind::Counter, false, None));
        }
        if info.session.as_ref().is_some_and(|cells| cells.told.is_some()) {
            let entity = info.classes.entity;
            info.told_twice = Some(self.cell(entity, "told_twice", r::CellKind::Counter, false, None));
        }
        if self.opens_sessions(inst) {
            let entity = info.classes.entity;
            info.refused_sessions = Some(self.cell(entity, "refused_sessions", r::CellKind::Counter, false, None));
        }
        for (place, class) in at.layer().map_or(&[][..], |layer| &layer.objects).iter().enumerate() {
            let id = info.objects[place].class;
            let key = self.key_types(inst, class.keys.iter().map(|field| field.ty));
            let capacity = self.size(&at.env, &class.capacity, s::Counted::Objects);
            let kind = r::CellKind::Map { key, value: vec![r::Type::Ref(id)], capacity, by: Vec::new() };
            let owner = match class.owner {
                s::ScopeKind::Session => info.classes.session,
                s::ScopeKind::View => info.classes.view,
                _ => None,
            };
            let owner = owner.unwrap_or(info.classes.entity);
            let index = self.cell(owner, &format!("of_{}", class.name.text), kind, false, None);
            info.objects[place].index = Some(index);
        }
        self.infos[inst] = Rc::new(info);
    }

    /// Whether code of an endpoint makes its sessions: there is no layer above to tell if there is no room.
    fn opens_sessions(&self, inst: usize) -> bool {
        let opens = |kind: &s::StmtKind| matches!(kind, s::StmtKind::Emit(s::Emission::Open { .. }));
        self.layer(inst).is_some_and(|layer| layer.shape == s::Shape::Endpoint && any_stmt(blocks(layer), &opens))
    }

    /// Makes the entity's objects findable by their own keys.
    fn index_objects(&mut self, inst: usize) {
        let Some(layer) = self.layer(inst) else { return };
        for place in (0..layer.objects.len()).filter(|place| layer.objects[*place].owner == s::ScopeKind::Entity) {
            let cells = self.key_cells(inst, s::ObjectId(place as u32));
            if let Some(index) = self.infos[inst].objects[place].index {
                self.index_by(self.infos[inst].classes.entity, index, &cells);
            }
        }
    }

    // -- links

    fn declare_link(&mut self, inst: usize, below: usize) {
        let (upper, lower) = (self.info(inst), self.info(below));
        if !self.inst(inst).uses.sessions {
            // Flow traffic goes between the entities, which need no cells to find each other.
            let (above, below) = ((upper.classes.entity, None), (lower.classes.entity, None));
            self.a.links.push(r::Link { above, below, kind: r::LinkKind::ManyToOne });
            return;
        }
        let (class, down) = match &upper.lower {
            Some(lower) => (Some(lower.class), Some(lower.below)),
            None => (upper.classes.session, upper.below()),
        };
        let (Some(class), Some(under)) = (class, &lower.session) else { return };
        let (up, kind) = match under.above[..] {
            [only] => (Some(only), r::LinkKind::OneToOne),
            _ => (None, r::LinkKind::ManyToOne),
        };
        self.a.links.push(r::Link { above: (class, down), below: (under.class, up), kind });
    }
}
