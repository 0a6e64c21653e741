//! Published values: who says one, what it depends on. A layer that does not publish a name gives that of the layer below.

use mokume_semantics::program as s;

use super::Lowering;
use crate::plan::Kind;

/// How a published value is read: what its function is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reading {
    /// The entity alone says it.
    Entity,
    /// It is of a flow.
    Flow,
    /// It needs the session's state.
    Session,
}

/// Who says the value of a name at an instance.
pub enum Publisher<'p> {
    Device(usize),
    Own(&'p s::Publish),
    /// `limit send`, and the credit below.
    Limit(&'p s::Expr, Option<&'p s::Expr>),
    Below(usize),
    /// Of several layers below the smallest.
    Least(Vec<usize>),
    Unlimited,
    Nobody,
}

/// What may be sent now: messages, octets.
pub const CREDIT: [&str; 2] = ["credit", "credit_octets"];
/// What is the smallest of those below, where a router stands on several and does not say.
const LEAST: [&str; 3] = [CREDIT[0], CREDIT[1], "mtu"];

impl<'p> Lowering<'p> {
    /// Who says the value of a name for those above an instance: itself, or one below.
    pub fn publisher(&self, inst: usize, name: &str) -> Publisher<'p> {
        let at = self.inst(inst);
        let layer = match at.kind {
            Kind::Device(_) if CREDIT.contains(&name) => return Publisher::Unlimited,
            Kind::Device(device) => return Publisher::Device(device),
            Kind::Application => return Publisher::Nobody,
            Kind::Layer(layer) => layer,
        };
        if let Some(own) = layer.publishes.iter().find(|publish| publish.name.text == name) {
            return Publisher::Own(own);
        }
        let limits = [&layer.limit_send, &layer.limit_octets];
        let limit = CREDIT.iter().position(|known| *known == name).and_then(|at| Some((limits[at].as_ref()?, at)));
        match (limit, at.below) {
            (Some((limit, kind)), _) => Publisher::Limit(limit, layer.ratios[kind].as_ref()),
            _ if at.several.len() > 1 && LEAST.contains(&name) => Publisher::Least(at.several.clone()),
            _ if at.several.len() > 1 => Publisher::Nobody,
            (_, Some(below)) => Publisher::Below(below),
            _ => Publisher::Nobody,
        }
    }

    /// Whether anybody from here down limits what may be sent.
    pub fn is_limited(&self, inst: usize, name: &str) -> bool {
        match self.publisher(inst, name) {
            Publisher::Unlimited | Publisher::Nobody | Publisher::Device(_) => false,
            Publisher::Own(_) | Publisher::Limit(..) => true,
            Publisher::Below(below) => self.is_limited(below, name),
            Publisher::Least(lowers) => lowers.iter().any(|lower| self.is_limited(*lower, name)),
        }
    }

    /// What the value at an instance depends on.
    pub fn reading(&self, inst: usize, name: &str) -> Reading {
        match self.publisher(inst, name) {
            Publisher::Device(_) | Publisher::Unlimited | Publisher::Nobody => Reading::Entity,
            Publisher::Own(own) => {
                let base = if own.flow.is_some() { Reading::Flow } else { Reading::Entity };
                base.max(self.expr_reading(inst, &own.value))
            }
            Publisher::Limit(limit, _) => self.expr_reading(inst, limit).max(self.most_reading(inst, name)),
            Publisher::Below(_) | Publisher::Least(_) => self.most_reading(inst, name),
        }
    }

    /// What the values of all layers below depend on.
    fn most_reading(&self, inst: usize, name: &str) -> Reading {
        let lowers = self.inst(inst).lowers();
        lowers.iter().map(|lower| self.reading(*lower, name)).max().unwrap_or(Reading::Entity)
    }

    fn expr_reading(&self, inst: usize, expr: &s::Expr) -> Reading {
        let mut most = Reading::Entity;
        mokume_semantics::visit::walk_expr(expr, &mut |part| match &part.kind {
            s::ExprKind::Below { name, .. } => {
                most = most.max(self.most_reading(inst, &name.text));
            }
            s::ExprKind::FlowPart { .. } => most = most.max(Reading::Flow),
            s::ExprKind::CallOwn { .. } | s::ExprKind::CallOn { .. }
                if self.inst(inst).has_scope(s::ScopeKind::Session) || self.has_points(inst) =>
            {
                most = Reading::Session
            }
            _ => mokume_semantics::visit::expr_states(part, &mut |state| {
                if matches!(state.scope, s::ScopeKind::Session | s::ScopeKind::SessionBelow | s::ScopeKind::Point) {
                    most = Reading::Session;
                }
            }),
        });
        most
    }

    /// The type of a value that those above an instance may read; none where nobody says it.
    pub fn published_type(&self, inst: usize, name: &str) -> Option<s::Type> {
        match self.publisher(inst, name) {
            Publisher::Device(_) if name == "mac" => Some(s::Type::UInt(48)),
            Publisher::Device(_) if name == "mtu" => Some(s::Type::UInt(32)),
            Publisher::Unlimited | Publisher::Limit(..) => Some(s::Type::UInt(32)),
            Publisher::Own(own) => Some(own.ty),
            Publisher::Below(below) => self.published_type(below, name),
            Publisher::Least(lowers) => self.published_type(*lowers.first()?, name),
            Publisher::Device(_) | Publisher::Nobody => None,
        }
    }

    /// Who says a name at an instance, through those that do not; and what that is computed from: the names that are read
    /// of the layers below.
    pub fn said_by(&self, inst: usize, name: &str) -> Vec<(usize, Vec<String>)> {
        let read = |expr: &s::Expr| {
            let mut names = Vec::new();
            mokume_semantics::visit::walk_expr(expr, &mut |part| {
                if let s::ExprKind::Below { name, .. } = &part.kind {
                    names.push(name.text.clone());
                }
            });
            names
        };
        match self.publisher(inst, name) {
            Publisher::Own(own) => vec![(inst, read(&own.value))],
            Publisher::Limit(limit, _) => vec![(inst, [read(limit), vec![name.to_owned()]].concat())],
            Publisher::Below(below) => self.said_by(below, name),
            Publisher::Least(lowers) => lowers.iter().flat_map(|lower| self.said_by(*lower, name)).collect(),
            Publisher::Device(_) | Publisher::Unlimited | Publisher::Nobody => Vec::new(),
        }
    }
}
