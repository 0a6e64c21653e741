//! A stack as a tree of layer instances: bundles taken apart, flows made of scalars, modes and wires decided.
//!
//! Invariant: instances stand in order from the devices up, so `below < index`; nothing here makes an operation.

mod family;
mod planner;
mod users;

use mokume_base::{Diagnostic, Span};
use mokume_semantics::program::*;

use crate::constants::Env;
use crate::program;

pub use planner::{Piece, Planner, Under};

/// One scalar of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    pub name: String,
    pub side: Part,
    pub ty: Type,
    /// An address of a router, not a key.
    pub address: bool,
    /// The instance that made it.
    pub owner: usize,
}

/// Whose end of a flow a component belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Local,
    Remote,
    /// The same at both ends; counted among the local ones.
    Both,
}

impl Component {
    /// Whether it is of the remote end alone.
    pub fn is_remote(&self) -> bool {
        self.side == Part::Remote
    }

    /// Whether a pattern of one end, or of both, has it.
    pub fn is_said(&self, both: bool) -> bool {
        both || !self.is_remote()
    }

    /// `local.host`, and the plain name if it is the same at both ends.
    pub fn full_name(&self) -> String {
        match self.side {
            Part::Local => format!("local.{}", self.name),
            Part::Remote => format!("remote.{}", self.name),
            Part::Both => self.name.clone(),
        }
    }
}

/// What a layer offers above, or uses below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    pub flow: bool,
    pub sessions: bool,
}

/// What an instance is an instance of.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'p> {
    /// By index among the stack's devices.
    Device(usize),
    Layer(&'p Layer),
    Application,
}

/// A layer instance.
#[derive(Clone, Debug)]
pub struct Inst<'p> {
    pub name: String,
    pub kind: Kind<'p>,
    pub env: Env<'p>,
    /// Of a router over several layers the first.
    pub below: Option<usize>,
    /// Of a router over several layers all of them.
    pub several: Vec<usize>,
    /// Of a member of a family: the same layer over the first of the layers below, which way it is, and of how many.
    pub family: Option<Member>,
    /// Components of the flow at the top of `below` that are constant for this instance.
    pub bound: Vec<(usize, &'p Expr)>,
    /// Instances above.
    pub users: Vec<usize>,
    pub top: Vec<Component>,
    /// The flow below, without what is bound.
    pub bottom: Vec<Component>,
    pub offers: Modes,
    /// Of the layer below.
    pub uses: Modes,
    /// By the layers above.
    pub used: Modes,
    pub group: Option<usize>,
    /// The instance that serves each of the layer's `uses`.
    pub servers: Vec<Option<usize>>,
    pub span: Option<Span>,
}

/// A layer's instance for one of the layers below a router.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Itself, if it is the first.
    pub first: usize,
    pub place: usize,
    pub of: usize,
}

/// Layers whose headers one wire carries, top to bottom; of a family the first members.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub wire: Option<WireId>,
    /// Without a wire, they are laid out together: `encoded compressed`.
    pub compressed: bool,
    pub members: Vec<usize>,
}

/// All instances, those below first, and which of them have their headers in one wire.
pub struct Plan<'p> {
    pub insts: Vec<Inst<'p>>,
    pub groups: Vec<Group>,
}

impl<'p> Inst<'p> {
    /// The definition; none of devices and applications.
    pub fn layer(&self) -> Option<&'p Layer> {
        match self.kind {
            Kind::Layer(layer) => Some(layer),
            _ => None,
        }
    }

    /// The layer's shape; none of devices and applications.
    pub fn shape(&self) -> Option<Shape> {
        self.layer().map(|layer| layer.shape)
    }

    /// What it stands on.
    pub fn lowers(&self) -> &[usize] {
        match self.several.is_empty() {
            true => self.below.as_slice(),
            false => &self.several,
        }
    }

    /// A router that chooses among several below, for flows that it lets pass.
    pub fn chooses(&self) -> bool {
        self.layer().is_some_and(|layer| layer.several.is_some() && layer.address.is_empty())
    }

    /// The components of a flow as the layer's code has it in hand.
    pub fn flow(&self, side: Side) -> &[Component] {
        match side {
            Side::Above if self.shape() != Some(Shape::Endpoint) => &self.top,
            Side::Above | Side::Below => &self.bottom,
        }
    }

    /// Whether what those above listen for goes on down through it.
    pub fn passes_listeners(&self) -> bool {
        matches!(self.shape(), Some(Shape::Worker | Shape::Multiplexor))
    }

    /// Whether it is a layer that tells sessions apart by a key.
    pub fn is_multiplexor(&self) -> bool {
        self.shape() == Some(Shape::Multiplexor)
    }

    /// Whether the layer declares state or handlers for objects of that kind.
    pub fn has_scope(&self, kind: ScopeKind) -> bool {
        self.layer().is_some_and(|layer| layer.scopes.iter().any(|scope| scope.kind == kind))
    }
}

/// What makes sessions of flow traffic where nobody else does, a multiplexor without a key; and what tells the ways of a
/// router over several apart where they lead to keys of one multiplexor.
pub fn supplied(span: Span) -> Supplied {
    let bare = |name: &str, shape| Layer::bare(Name { text: name.into(), span }, String::new(), shape, Vec::new());
    Supplied { sessions: bare("Sessions", Shape::Multiplexor), edge: bare("Edge", Shape::Worker) }
}

/// Layers that the planner puts between those of the stack.
pub struct Supplied {
    pub sessions: Layer,
    pub edge: Layer,
}

/// Stands the layers of a stack one on another. None, and the reasons among the diagnostics, where they do not fit.
pub fn plan<'p>(
    program: &'p Program,
    stack: &'p Stack,
    supplied: &'p Supplied,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Plan<'p>> {
    let plan = Plan { insts: Vec::new(), groups: Vec::new() };
    let parts = vec![Vec::new(); stack.instances.len()];
    let mut planner = Planner { program, stack, supplied, diagnostics, plan, parts };
    planner.build()?;
    Some(planner.plan)
}

impl Plan<'_> {
    /// Those above that use sessions, or flow traffic.
    pub fn session_users(&self, inst: usize) -> Vec<usize> {
        self.insts[inst].users.iter().copied().filter(|user| self.insts[*user].uses.sessions).collect()
    }

    /// Those above that use flow traffic.
    pub fn flow_users(&self, inst: usize) -> Vec<usize> {
        self.insts[inst].users.iter().copied().filter(|user| self.insts[*user].uses.flow).collect()
    }

    /// Whether several layers stand on a worker, which tells its sessions apart by whom they began with: who opened, or listened.
    pub fn tells_users_apart(&self, inst: usize) -> bool {
        !self.insts[inst].is_multiplexor() && self.session_users(inst).len() > 1
    }

    /// Whether a user is bound to a key (or to the whole of a multiplexor without one).
    pub fn is_bound(&self, lower: usize, user: usize) -> bool {
        let keyless = self.insts[lower].is_multiplexor() && !self.insts[lower].top.iter().any(|c| c.owner == lower);
        keyless || !self.insts[user].bound.is_empty()
    }

    /// The highest layer of a group that sees octets with headers of its group in them: above it is the coding point.
    pub fn barrier(&self, group: usize) -> Option<usize> {
        let group = &self.groups[group];
        let layer = |at: &usize| self.insts[*at].layer().filter(|layer| layer.barrier);
        group.members.iter().enumerate().find_map(|(place, at)| {
            let barrier = layer(at)?;
            let headers_above = group.members[..place].iter().any(|at| has_header(&self.insts[*at]));
            // With nothing of the group above it, all that it sees is octets already; a header record of its own will
            // do, unless the wire's other fields are to be seen.
            let by_record = group.wire.is_none() || barrier.shape == Shape::Endpoint || program::changes_size(barrier);
            (headers_above || !by_record).then_some(*at)
        })
    }
}

/// Whether the instance puts a header onto messages: a record of its own, or a key.
pub fn has_header(inst: &Inst) -> bool {
    inst.layer()
        .is_some_and(|layer| layer.header.is_some() || layer.key.as_ref().is_some_and(|key| !key.fields.is_empty()))
}

/// Whether messages without a session come to the layer, which begins its sessions itself.
pub fn awaits(layer: &Layer) -> bool {
    layer.handlers.iter().any(|handler| matches!(handler.event, Event::Arrives { .. }))
}
