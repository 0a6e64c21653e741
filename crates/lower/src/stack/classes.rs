//! The classes of an instance's objects, with the capacities that the stack gives.

use mokume_reaction as r;
use mokume_semantics::program as s;
use mokume_semantics::visit::{walk, Met};

use super::info::KeyedObjects;
use super::{Info, Lowering};
use crate::fault::Fault;
use crate::plan::Kind;
use crate::program::{any_stmt, blocks};

/// Objects of a class that a reaction may evict: the least, and the most if loops make them.
const EVICTED: std::ops::RangeInclusive<u32> = 4..=256;

/// Points that may end in a reaction that also makes new ones: their places are free after it (docs/language.md,
/// section 4).
const LEAVING: u32 = 4;

/// Views of a layer: the current one, and those that a reaction has ended.
const VIEWS: u32 = 4;

impl<'p> Lowering<'p> {
    pub(super) fn classes_of(&mut self, inst: usize) -> Info {
        let at = self.inst(inst);
        let (of, shape) = match at.kind {
            Kind::Device(_) => (String::new(), "device"),
            Kind::Application => (String::new(), "application"),
            Kind::Layer(layer) => (layer.name.text.clone(), shape_name(layer.shape)),
        };
        self.a.layers.push(r::Layer { name: at.name.clone(), of, shape: shape.to_owned() });
        let layer = self.a.layers.len() - 1;
        let source = at.layer().and_then(|layer| self.place(layer.name.span));
        let entity = self.class(layer, "E", 1, None, source);
        let mut info = Info::new(entity);
        let sessions = match at.kind {
            Kind::Application => at.uses.sessions,
            Kind::Device(_) => false,
            Kind::Layer(layer) => at.used.sessions || (layer.shape == s::Shape::Endpoint && at.uses.sessions),
        };
        if sessions {
            let capacity = self.capacity(inst, s::ScopeKind::Session);
            info.classes.session = Some(self.class(layer, "S", capacity, Some(entity), source));
        }
        if at.is_multiplexor() && at.uses.sessions {
            let capacity = self.capacity(inst, s::ScopeKind::SessionBelow);
            info.classes.lower = Some(self.class(layer, "B", capacity, Some(entity), source));
        }
        if let Some(session) = info.classes.session.filter(|_| self.has_points(inst)) {
            // One for each listener, and one for each session that nothing listened for; a few may be ending while
            // others begin.
            let own = match self.shares_points(inst) {
                true => self.a.class(session).capacity,
                false => 0,
            };
            let capacity = self.capacity(inst, s::ScopeKind::Point).saturating_add(own).saturating_add(LEAVING);
            info.classes.point = Some(self.class(layer, "P", capacity, Some(entity), source));
        }
        if at.has_scope(s::ScopeKind::View) {
            info.classes.view = Some(self.class(layer, "V", VIEWS, Some(entity), source));
        }
        for (number, class) in at.layer().map_or(&[][..], |layer| &layer.objects).iter().enumerate() {
            let capacity = self.size(&at.env, &class.capacity, s::Counted::Objects);
            let source = self.place(class.name.span);
            // An evicted object is freed after the reaction: there is room for a few that are made before that.
            let spare = match class.evict_oldest && !self.faulty(Fault::NoEviction) {
                true => self.evicted_at_once(inst, s::ObjectId(number as u32)),
                false => 0,
            };
            let owner = match class.owner {
                s::ScopeKind::Session => info.classes.session,
                s::ScopeKind::View => info.classes.view,
                _ => None,
            };
            let each = owner.map_or(1, |owner| self.a.class(owner).capacity);
            let capacity = (capacity + spare).saturating_mul(each);
            let id = self.class(layer, &class.name.text, capacity, Some(owner.unwrap_or(entity)), source);
            info.objects.push(KeyedObjects { class: id, index: None });
        }
        info
    }

    /// How many objects of a class one reaction may evict: the rounds of the loops around the places where they are
    /// made.
    fn evicted_at_once(&mut self, inst: usize, wanted: s::ObjectId) -> u32 {
        let at = self.inst(inst);
        let makes = |kind: &s::StmtKind| matches!(kind, s::StmtKind::FindOrNew { class, .. } if *class == wanted);
        let mut limits = Vec::new();
        for block in at.layer().into_iter().flat_map(blocks) {
            walk(block, &mut |met| {
                let Met::Stmt(stmt) = met else { return };
                if let s::StmtKind::While { limit, body, .. }
                | s::StmtKind::For { limit, body, .. }
                | s::StmtKind::ForObjects { limit, body, .. } = &stmt.kind
                {
                    limits.extend(any_stmt([body.as_slice()], &makes).then_some(limit));
                }
            });
        }
        let rounds = |limit: &s::Expr| self.one_constant(&at.env, limit).unwrap_or(16);
        let most = limits.into_iter().map(rounds).fold(1, u64::saturating_mul);
        u32::try_from(most).unwrap_or(u32::MAX).clamp(*EVICTED.start(), *EVICTED.end())
    }

    /// A new class. If the name is taken, as by an object called `S` and the sessions' class, it gets a `_` appended.
    fn class(
        &mut self,
        layer: usize,
        name: &str,
        capacity: u32,
        parent: Option<r::ClassId>,
        source: Option<r::SourceId>,
    ) -> r::ClassId {
        let mut name = format!("{}.{name}", self.a.layers[layer].name);
        while self.a.classes.iter().any(|class| class.name == name) {
            name.push('_');
        }
        let layer = layer.into();
        let cells = Vec::new();
        self.a.classes.push(r::Class { name, layer, capacity, parent, cells, settle_limit: None, source });
        r::ClassId::from(self.a.classes.len() - 1)
    }

    pub(super) fn capacity(&mut self, inst: usize, kind: s::ScopeKind) -> u32 {
        let at = self.inst(inst);
        let scope = at.layer().and_then(|layer| layer.scopes.iter().find(|scope| scope.kind == kind));
        match scope.and_then(|scope| scope.capacity.as_ref()) {
            Some(capacity) => self.size(&at.env, capacity, s::Counted::of_scope(kind)),
            None => self.stack.sessions.max(1),
        }
    }
}

fn shape_name(shape: s::Shape) -> &'static str {
    match shape {
        s::Shape::Worker => "worker",
        s::Shape::Multiplexor => "multiplexor",
        s::Shape::Router => "router",
        s::Shape::Endpoint => "endpoint",
    }
}
