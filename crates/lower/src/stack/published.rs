//! Published values: who publishes one, and what it depends on. A layer that does not publish a name passes on that of
//! the layer below.

use mokume_semantics::program as s;

use super::Lowering;
use crate::plan::Kind;

/// How a published value is read: the arguments of its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reading {
    /// It depends on the entity only.
    Entity,
    /// It depends on a flow.
    Flow,
    /// It depends on the session's state.
    Session,
}

/// Who publishes a value at an instance.
pub enum Publisher<'p> {
    Device(usize),
    Own(&'p s::Publish),
    /// `limit send`, combined with the credit below.
    Limit(Limit<'p>),
    Below(usize),
    /// The smallest value of several layers below.
    Least(Vec<usize>),
    Unlimited,
    Nobody,
}

/// A layer's limit.
#[derive(Clone, Copy)]
pub struct Limit<'p> {
    pub value: &'p s::Expr,
    /// How many of the layer's own messages one from above may become.
    pub ratio: Option<&'p s::Expr>,
    /// How much of it is reserved; subtracted for applications.
    pub reserve: Option<&'p s::Expr>,
}

/// The current credit: messages, octets.
pub const CREDIT: [&str; 2] = ["credit", "credit_octets"];
/// The same for an application, if a layer below has a reserve.
pub const SPARE: [&str; 2] = ["spare_credit", "spare_credit_octets"];
/// The names for which a router over several passes on the smallest value below, if it does not publish them.
const LEAST: [&str; 5] = [CREDIT[0], CREDIT[1], SPARE[0], SPARE[1], "mtu"];

impl<'p> Lowering<'p> {
    /// Who publishes a name for those above an instance: itself, or one below.
    pub fn publisher(&self, inst: usize, name: &str) -> Publisher<'p> {
        let at = self.inst(inst);
        let plain = SPARE.iter().position(|known| *known == name).map_or(name, |at| CREDIT[at]);
        let layer = match at.kind {
            Kind::Device(_) if CREDIT.contains(&plain) => return Publisher::Unlimited,
            Kind::Device(device) => return Publisher::Device(device),
            Kind::Application => return Publisher::Nobody,
            Kind::Layer(layer) => layer,
        };
        if let Some(own) = layer.publishes.iter().find(|publish| publish.name.text == plain) {
            return Publisher::Own(own);
        }
        let limits = [&layer.limit_send, &layer.limit_octets];
        let limit = CREDIT.iter().position(|known| *known == plain).and_then(|at| Some((limits[at].as_ref()?, at)));
        match (limit, at.below) {
            (Some((value, kind)), _) => {
                let reserve = layer.reserves[kind].as_ref().filter(|_| plain != name);
                Publisher::Limit(Limit { value, ratio: layer.ratios[kind].as_ref(), reserve })
            }
            _ if at.several.len() > 1 && LEAST.contains(&name) => Publisher::Least(at.several.clone()),
            _ if at.several.len() > 1 => Publisher::Nobody,
            (_, Some(below)) => Publisher::Below(below),
            _ => Publisher::Nobody,
        }
    }

    /// Whether a layer from here down limits what may be sent.
    pub fn is_limited(&self, inst: usize, name: &str) -> bool {
        match self.publisher(inst, name) {
            Publisher::Unlimited | Publisher::Nobody | Publisher::Device(_) => false,
            Publisher::Own(_) | Publisher::Limit(..) => true,
            Publisher::Below(below) => self.is_limited(below, name),
            Publisher::Least(lowers) => lowers.iter().any(|lower| self.is_limited(*lower, name)),
        }
    }

    /// The name of an application's credit, which excludes reserves.
    pub fn credit_name(&self, inst: usize, kind: usize) -> &'static str {
        let mut open = self.inst(inst).lowers().to_vec();
        while let Some(at) = open.pop() {
            if self.layer(at).is_some_and(|layer| layer.reserves[kind].is_some()) {
                return SPARE[kind];
            }
            open.extend(self.inst(at).lowers());
        }
        CREDIT[kind]
    }

    /// What the value at an instance depends on.
    pub fn reading(&self, inst: usize, name: &str) -> Reading {
        match self.publisher(inst, name) {
            Publisher::Device(_) | Publisher::Unlimited | Publisher::Nobody => Reading::Entity,
            Publisher::Own(own) => {
                let base = if own.flow.is_some() { Reading::Flow } else { Reading::Entity };
                base.max(self.expr_reading(inst, &own.value))
            }
            Publisher::Limit(limit) => self.expr_reading(inst, limit.value).max(self.most_reading(inst, name)),
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

    /// The type of a value that those above an instance may read; `None` if no layer publishes it.
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

    /// The publishers of a name at an instance, past layers that do not publish it; and for each the names of values
    /// below that it reads.
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
            Publisher::Limit(limit) => vec![(inst, [read(limit.value), vec![name.to_owned()]].concat())],
            Publisher::Below(below) => self.said_by(below, name),
            Publisher::Least(lowers) => lowers.iter().flat_map(|lower| self.said_by(*lower, name)).collect(),
            Publisher::Device(_) | Publisher::Unlimited | Publisher::Nobody => Vec::new(),
        }
    }
}
