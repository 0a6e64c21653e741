//! Parameters, classes and their cells, headers, links: all that stands before any handler is made.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::fold::{fold, fold_one, scalars, Env};
use crate::lowering::{inst_none, Info, Lowering};
use crate::octets::{any_stmt, blocks};
use crate::plan::Kind;

impl<'p> Lowering<'p> {
    pub fn declare(&mut self) {
        self.declare_params();
        for inst in 0..self.plan.insts.len() {
            let info = self.declare_classes(inst);
            self.infos.push(Rc::new(info));
        }
        for inst in 0..self.plan.insts.len() {
            self.declare_headers(inst);
        }
        self.declare_wires();
        for inst in 0..self.plan.insts.len() {
            self.declare_shape_cells(inst);
            self.declare_members(inst);
        }
        for inst in 0..self.plan.insts.len() {
            self.declare_links(inst);
        }
    }

    /// Changes what is known of an instance.
    pub fn change(&mut self, inst: usize, f: impl FnOnce(&mut Info)) {
        f(Rc::make_mut(&mut self.infos[inst]));
    }

    fn declare_params(&mut self) {
        for param in &self.stack.params {
            let default = param.default.as_ref().and_then(|value| fold(self.program, &Env::Stack, value));
            for (at, (rest, ty)) in scalars(self.program, param.ty).into_iter().enumerate() {
                let ty = self.scalar(inst_none(), ty);
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

    pub fn param(&self, name: &str) -> Option<r::ParamId> {
        self.a.params.iter().position(|param| param.name == name).map(r::ParamId::from)
    }

    // -- classes

    fn declare_classes(&mut self, inst: usize) -> Info {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let (of, shape) = match at.kind {
            Kind::Device(_) => (String::new(), "device"),
            Kind::Application => (String::new(), "application"),
            Kind::Layer(layer) => (layer.name.text.clone(), shape_name(layer.shape)),
        };
        self.a.layers.push(r::Layer { name: at.name.clone(), of, shape: shape.to_owned() });
        let layer = self.a.layers.len() - 1;
        let source = at.layer().and_then(|layer| self.place(layer.name.span));
        let entity = self.class(layer, "E", 1, None, source);
        let mut info = Info { entity: entity.index(), ..Info::default() };
        let sessions = match at.kind {
            Kind::Application => at.uses.sessions,
            Kind::Device(_) => false,
            Kind::Layer(layer) => at.used.sessions || (layer.shape == s::Shape::Endpoint && at.uses.sessions),
        };
        if sessions {
            let capacity = self.capacity(inst, s::ScopeKind::Session);
            info.session = Some(self.class(layer, "S", capacity, Some(entity), source));
        }
        if at.is_multiplexor() && at.uses.sessions {
            let capacity = self.capacity(inst, s::ScopeKind::SessionBelow);
            info.lower = Some(self.class(layer, "B", capacity, Some(entity), source));
        }
        if let Some(session) = info.session.filter(|_| at.has_scope(s::ScopeKind::Point)) {
            // A listener's each, and one to itself for each session that nobody listened for.
            let capacity = self.capacity(inst, s::ScopeKind::Point) + self.a.class(session).capacity;
            info.point_class = Some(self.class(layer, "P", capacity, Some(entity), source));
        }
        for class in at.layer().map_or(&[][..], |layer| &layer.objects) {
            let capacity = self.size(&at.env, &class.capacity);
            let source = self.place(class.name.span);
            // The evicted one is freed after the reaction: there is room for a few that come before that.
            let spare =
                if class.evict_oldest && !self.faulty(Fault::NoEviction) { capacity.min(EVICTED_AT_ONCE) } else { 0 };
            let sessions = info.session.filter(|_| class.owned);
            let each = sessions.map_or(1, |session| self.a.class(session).capacity);
            let capacity = (capacity + spare).saturating_mul(each);
            let id = self.class(layer, &class.name.text, capacity, Some(sessions.unwrap_or(entity)), source);
            info.objects.push((id, r::CellId(0)));
        }
        info
    }

    fn class(
        &mut self,
        layer: usize,
        name: &str,
        capacity: u32,
        parent: Option<r::ClassId>,
        source: Option<r::SourceId>,
    ) -> r::ClassId {
        let name = format!("{}.{name}", self.a.layers[layer].name);
        let cells = Vec::new();
        self.a.classes.push(r::Class {
            name,
            layer: layer.into(),
            capacity,
            parent,
            cells,
            settle_limit: None,
            source,
        });
        r::ClassId::from(self.a.classes.len() - 1)
    }

    fn capacity(&mut self, inst: usize, kind: s::ScopeKind) -> u32 {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let scope = at.layer().and_then(|layer| layer.scopes.iter().find(|scope| scope.kind == kind));
        match scope.and_then(|scope| scope.capacity.as_ref()) {
            Some(capacity) => self.size(&at.env, capacity),
            None => self.stack.sessions.max(1),
        }
    }

    // -- cells

    pub fn cell(
        &mut self,
        class: r::ClassId,
        name: &str,
        kind: r::CellKind,
        fixed: bool,
        source: Option<r::SourceId>,
    ) -> r::CellId {
        let cells = &mut self.a.classes[class.index()].cells;
        let taken = |name: &str| cells.iter().any(|cell| cell.name == name);
        let mut unique = name.to_owned();
        while taken(&unique) {
            unique.push('_');
        }
        cells.push(r::Cell { name: unique, kind, fixed, source });
        r::CellId::from(cells.len() - 1)
    }

    fn scalar_cell(&mut self, class: r::ClassId, name: &str, ty: r::Type, fixed: bool) -> r::CellId {
        self.cell(class, name, r::CellKind::Scalar { ty, init: 0 }, fixed, None)
    }

    /// What the shape keeps.
    fn declare_shape_cells(&mut self, inst: usize) {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let mut info = (*self.infos[inst]).clone();
        if let Some(session) = info.session {
            self.declare_session_cells(inst, session, &mut info);
        }
        if let Some(lower) = info.lower {
            self.declare_lower_cells(inst, lower, &mut info);
        }
        if let Some(point) = info.point_class {
            let listeners = self.capacity(inst, s::ScopeKind::Point);
            self.declare_point_cells(inst, point, listeners, &mut info);
        }
        if at.is_multiplexor() {
            let kept = self.declare_listeners(inst, info.entity());
            (info.listeners, info.listeners_from) = (kept.local, kept.from);
            if info.listeners.is_some() {
                self.refused_cell(&mut info);
            }
        }
        for (place, class) in at.layer().map_or(&[][..], |layer| &layer.objects).iter().enumerate() {
            let id = info.objects[place].0;
            let mut key = Vec::new();
            for field in &class.keys {
                key.extend(self.flat(inst, field.ty).into_iter().map(|(_, ty)| ty));
            }
            let capacity = self.size(&at.env, &class.capacity);
            let kind = r::CellKind::Map { key, value: vec![r::Type::Ref(id)], capacity };
            let owner = info.session.filter(|_| class.owned).unwrap_or(info.entity());
            info.objects[place].1 = self.cell(owner, &format!("of_{}", class.name.text), kind, false, None);
        }
        *Rc::make_mut(&mut self.infos[inst]) = info;
    }

    fn declare_session_cells(&mut self, inst: usize, session: r::ClassId, info: &mut Info) {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let users = plan.session_users(inst);
        let fixed_above = !self.gives_up_sessions(inst) && !self.emits(inst, "accepted");
        for user in &users {
            let Some(class) = self.lower_side(*user).1 else { continue };
            let name = if users.len() > 1 {
                format!("above_{}", plan.insts[*user].name.replace('.', "_"))
            } else {
                "above".into()
            };
            let cell = self.scalar_cell(session, &name, r::Type::Ref(class), fixed_above);
            info.above.push(cell);
        }
        if users.len() > 1 {
            info.tag = Some(self.scalar_cell(session, "user", r::Type::U(8), true));
        }
        if matches!(at.kind, Kind::Application) {
            info.user = Some(self.scalar_cell(session, "user", r::Type::U(32), true));
            info.opened = Some(self.scalar_cell(session, "opened", r::Type::Bool, false));
        }
        if let (Some(below), true) = (at.below, at.uses.sessions && info.lower.is_none()) {
            if let Some(class) = self.infos[below].session {
                let fixed = self.answers_promptly(below) && !self.gives_up_sessions(inst);
                info.below = Some(self.scalar_cell(session, "below", r::Type::Ref(class), fixed));
            }
        }
        if let Some((_, bits)) = self.open_key(inst) {
            info.next_key = Some(self.scalar_cell(info.entity(), "next_key", r::Type::U(bits), false));
        }
        if at.is_multiplexor() || self.emits(inst, "accepted") || self.names_flows(inst) {
            for (name, ty) in self.flow_params(&at.top) {
                let cell = self.scalar_cell(session, &format!("flow_{name}"), ty, true);
                info.flow.push(cell);
            }
        }
        if at.is_multiplexor() {
            let entity = info.entity();
            let key: Vec<r::Type> = self.flow_params(&at.top).into_iter().map(|(_, ty)| ty).collect();
            let capacity = self.a.classes[session.index()].capacity;
            info.first = Some(self.cell(session, "first", r::CellKind::Messages { size: 1, quota: None }, false, None));
            info.sessions = Some(self.map_to(entity, "sessions", key, session, capacity));
        }
        if let Some(lower) = info.lower {
            info.of_lower = Some(self.scalar_cell(session, "lower", r::Type::Ref(lower), true));
            info.opened = Some(self.scalar_cell(session, "opened", r::Type::Bool, false));
        }
    }

    fn declare_lower_cells(&mut self, inst: usize, lower: r::ClassId, info: &mut Info) {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        if let Some(class) = at.below.and_then(|below| self.infos[below].session) {
            info.lower_below = Some(self.scalar_cell(lower, "below", r::Type::Ref(class), false));
        }
        info.lower_count = Some(self.scalar_cell(lower, "sessions", r::Type::U(32), false));
        for (name, ty) in self.flow_params(&at.bottom) {
            let cell = self.scalar_cell(lower, &format!("flow_{name}"), ty, true);
            info.lower_flow.push(cell);
        }
        let key: Vec<r::Type> = self.flow_params(&at.bottom).into_iter().map(|(_, ty)| ty).collect();
        let capacity = self.a.classes[lower.index()].capacity;
        info.lowers = Some(self.map_to(info.entity(), "lowers", key, lower, capacity));
    }

    /// A map from keys to objects; where there is nothing to tell them apart, the only one's reference.
    pub fn map_to(
        &mut self,
        entity: r::ClassId,
        name: &str,
        key: Vec<r::Type>,
        class: r::ClassId,
        capacity: u32,
    ) -> r::CellId {
        let value = r::Type::Ref(class);
        let kind = match key.is_empty() {
            true => r::CellKind::Scalar { ty: value, init: 0 },
            false => r::CellKind::Map { key, value: vec![value], capacity },
        };
        self.cell(entity, name, kind, false, None)
    }

    /// A worker whose code has flows in hand.
    fn names_flows(&self, inst: usize) -> bool {
        let Some(layer) = self.layer(inst).filter(|layer| layer.shape == s::Shape::Worker) else { return false };
        let flow = |local: &s::Local| matches!(local.ty, s::Type::Flow(_));
        layer.handlers.iter().any(|handler| handler.locals.iter().any(flow))
    }

    /// The layer ends the session above while its own lives on, or opens sessions itself.
    pub fn gives_up_sessions(&self, inst: usize) -> bool {
        use s::{Emission, StmtKind};
        let Some(layer) = self.layer(inst) else { return false };
        any_stmt(blocks(layer), &|kind| matches!(kind, StmtKind::Emit(Emission::Closed | Emission::Failed { .. })))
    }

    /// The layer says an event that its shape says otherwise.
    pub fn emits(&self, inst: usize, event: &str) -> bool {
        use s::{Emission, StmtKind};
        let Some(layer) = self.layer(inst) else { return false };
        let wanted = |kind: &StmtKind| matches!(kind, StmtKind::Emit(Emission::Custom { name, down: false, .. }) if name.text == event);
        any_stmt(blocks(layer), &wanted)
    }

    // -- members

    fn declare_members(&mut self, inst: usize) {
        let Some(layer) = self.layer(inst) else { return };
        for scope in &layer.scopes {
            let class = match scope.kind {
                s::ScopeKind::Entity => Some(self.infos[inst].entity()),
                s::ScopeKind::Session => self.infos[inst].session,
                s::ScopeKind::SessionBelow => self.infos[inst].lower,
                s::ScopeKind::Point => self.infos[inst].point_class,
                s::ScopeKind::Object(_) => None,
            };
            if let Some(class) = class {
                self.declare_scope(inst, scope.kind, class, &scope.members);
            }
        }
        for (place, object) in layer.objects.iter().enumerate() {
            let class = self.infos[inst].objects[place].0;
            let kind = s::ScopeKind::Object(s::ObjectId(place as u32));
            self.declare_scope(inst, kind, class, &object.members);
        }
    }

    fn declare_scope(&mut self, inst: usize, scope: s::ScopeKind, class: r::ClassId, members: &'p [s::Member]) {
        for (place, member) in members.iter().enumerate() {
            let source = self.place(member.name.span);
            let cells = self.declare_member(inst, class, member, source, (scope, place as u32));
            self.change(inst, |info| {
                info.members.insert((scope, place as u32), cells);
            });
        }
    }

    fn declare_member(
        &mut self,
        inst: usize,
        class: r::ClassId,
        member: &'p s::Member,
        source: Option<r::SourceId>,
        at: (s::ScopeKind, u32),
    ) -> Vec<r::CellId> {
        let env = self.inst(inst).env.clone();
        // Parts of containers have points in their names.
        let name = &member.name.text.replace('.', "_");
        let kind = match &member.kind {
            s::MemberKind::Var { ty, init, constant } => {
                return self.declare_var(inst, class, (name, *ty, init, *constant), source, at)
            }
            s::MemberKind::Array { ty, size, .. } => {
                let size = self.size(&env, size);
                let parts = self.flat(inst, *ty);
                let kind = |ty| r::CellKind::Array { ty, size, init: 0 };
                return parts
                    .into_iter()
                    .map(|(rest, ty)| self.cell(class, &joined(name, &rest), kind(ty), false, source))
                    .collect();
            }
            s::MemberKind::Container(_) => return Vec::new(),
            s::MemberKind::Timer => r::CellKind::Timer,
            s::MemberKind::Quota { amount } => r::CellKind::Quota { amount: self.size(&env, amount) },
            s::MemberKind::Counter => r::CellKind::Counter,
            s::MemberKind::Map { key, value, capacity } => {
                let mut types = |parts: &[s::Type]| -> Vec<r::Type> {
                    parts.iter().flat_map(|ty| self.flat(inst, *ty)).map(|(_, ty)| ty).collect()
                };
                let (key, value) = (types(key), types(value));
                r::CellKind::Map { key, value, capacity: self.size(&env, capacity) }
            }
            s::MemberKind::Messages { size, quota } => {
                let size = self.size(&env, size);
                let quota = quota.as_ref().and_then(|quota| self.quota_cell(inst, quota));
                r::CellKind::Messages { size, quota }
            }
        };
        vec![self.cell(class, name, kind, false, source)]
    }

    fn quota_cell(&mut self, inst: usize, quota: &s::StateRef) -> Option<(r::ClassId, r::CellId)> {
        let info = &self.infos[inst];
        let class = match quota.scope {
            s::ScopeKind::Entity => Some(info.entity()),
            s::ScopeKind::Session => info.session,
            s::ScopeKind::SessionBelow => info.lower,
            s::ScopeKind::Object(id) => info.objects.get(id.index()).map(|(class, _)| *class),
            s::ScopeKind::Point => info.point_class,
        }?;
        match info.members.get(&(quota.scope, quota.member)).and_then(|cells| cells.first()) {
            Some(cell) => Some((class, *cell)),
            // Not declared yet: members stand in order, and each takes one cell behind the shape's.
            None => {
                self.error(
                    "M0729",
                    "the quota must be declared before what takes `from` it",
                    Some(quota.span),
                    "move it up",
                );
                None
            }
        }
    }

    fn declare_var(
        &mut self,
        inst: usize,
        class: r::ClassId,
        (name, ty, init, fixed): (&str, s::Type, &'p Option<s::Expr>, bool),
        source: Option<r::SourceId>,
        at: (s::ScopeKind, u32),
    ) -> Vec<r::CellId> {
        let env = self.inst(inst).env.clone();
        let values = init.as_ref().and_then(|value| self.constants(&env, value));
        if init.is_some() && values.is_none() {
            self.change(inst, |info| info.late.push(at));
        }
        let mut cells = Vec::new();
        for (place, (rest, ty)) in self.flat(inst, ty).into_iter().enumerate() {
            let init = values.as_ref().and_then(|values| values.get(place).copied()).unwrap_or(0);
            let kind = r::CellKind::Scalar { ty, init };
            cells.push(self.cell(class, &joined(name, &rest), kind, fixed, source));
        }
        cells
    }

    // -- links

    fn declare_links(&mut self, inst: usize) {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        for below in at.lowers() {
            self.declare_link(inst, *below);
        }
    }

    fn declare_link(&mut self, inst: usize, below: usize) {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let upper = self.infos[inst].clone();
        let lower = self.infos[below].clone();
        if !at.uses.sessions {
            // Flow traffic goes between the entities, which need no cells to know each other.
            let (above, below) = ((upper.entity(), None), (lower.entity(), None));
            self.a.links.push(r::Link { above, below, kind: r::LinkKind::ManyToOne });
            return;
        }
        let (class, down) = match upper.lower {
            Some(class) => (Some(class), upper.lower_below),
            None => (upper.session, upper.below),
        };
        let (Some(class), Some(under)) = (class, lower.session) else { return };
        let alone = lower.above.len() == 1;
        let (up, kind) = match alone {
            true => (lower.above.first().copied(), r::LinkKind::OneToOne),
            false => (None, r::LinkKind::ManyToOne),
        };
        self.a.links.push(r::Link { above: (class, down), below: (under, up), kind });
    }

    /// Whether a member's first value must be set when the object is made.
    pub fn late_values(&self, inst: usize, scope: s::ScopeKind) -> Vec<(u32, &'p s::Expr)> {
        let Some(layer) = self.layer(inst) else { return Vec::new() };
        let info = &self.infos[inst];
        let members: &'p [s::Member] = match scope {
            s::ScopeKind::Object(id) => &layer.objects[id.index()].members,
            kind => layer.scopes.iter().find(|scope| scope.kind == kind).map_or(&[], |scope| &scope.members),
        };
        let late = info.late.iter().filter(|(of, _)| *of == scope);
        late.filter_map(|(_, place)| match &members[*place as usize].kind {
            s::MemberKind::Var { init: Some(init), .. } => Some((*place, init)),
            _ => None,
        })
        .collect()
    }

    pub fn one_constant(&self, env: &Env, expr: &s::Expr) -> Option<u64> {
        fold_one(self.program, env, expr)
    }
}

/// Objects that one reaction may evict, by class.
const EVICTED_AT_ONCE: u32 = 4;

/// Docs, section 10: a device's largest message when nobody says otherwise (an Ethernet frame's header and text).
pub const DEVICE_MTU: u64 = 1514;

pub fn joined(name: &str, rest: &str) -> String {
    format!("{name}{}", rest.replace('.', "_"))
}

fn shape_name(shape: s::Shape) -> &'static str {
    match shape {
        s::Shape::Worker => "worker",
        s::Shape::Multiplexor => "multiplexor",
        s::Shape::Router => "router",
        s::Shape::Endpoint => "endpoint",
    }
}
