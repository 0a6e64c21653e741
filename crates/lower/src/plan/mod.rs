//! A stack as a tree of layer instances: bundles expanded, flows made of scalars, modes and wires decided.
//!
//! Invariant: instances are in order from the devices up, so `below < index`; nothing here makes an operation.

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
    /// Whether it is an address of a router, not a key.
    pub address: bool,
    /// The instance that added it.
    pub owner: usize,
}

/// The end of a flow that a component belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Local,
    Remote,
    /// The same at both ends; listed among the local ones.
    Both,
}

impl Component {
    /// Whether it belongs only to the remote end.
    pub fn is_remote(&self) -> bool {
        self.side == Part::Remote
    }

    /// Whether a pattern of the local end, or of both, includes it.
    pub fn is_said(&self, both: bool) -> bool {
        both || !self.is_remote()
    }

    /// `local.host`, or the plain name if it is the same at both ends.
    pub fn full_name(&self) -> String {
        match self.side {
            Part::Local => format!("local.{}", self.name),
            Part::Remote => format!("remote.{}", self.name),
            Part::Both => self.name.clone(),
        }
    }
}

/// What a layer offers to those above, or uses from below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modes {
    pub flow: bool,
    pub sessions: bool,
}

/// The kind of an instance.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'p> {
    /// A device, by its index in the stack.
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
    /// The instance below; for a router over several the first.
    pub below: Option<usize>,
    /// For a router over several layers all of them.
    pub several: Vec<usize>,
    /// For a member of a family: the first member, its own number, and how many there are.
    pub family: Option<Member>,
    /// Components of the flow at the top of `below` that have constant values for this instance.
    pub bound: Vec<(usize, &'p Expr)>,
    /// The instances directly above.
    pub users: Vec<usize>,
    pub top: Vec<Component>,
    /// The flow below, without bound components.
    pub bottom: Vec<Component>,
    pub offers: Modes,
    /// What it uses from the layer below.
    pub uses: Modes,
    /// What the layers above use.
    pub used: Modes,
    pub group: Option<usize>,
    /// The server for each of the layer's `uses`.
    pub servers: Vec<Option<usize>>,
    pub span: Option<Span>,
}

/// A layer's instance for one of the layers below a router.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The first member; the instance itself, if it is the first.
    pub first: usize,
    pub place: usize,
    pub of: usize,
}

/// Layers whose headers one wire carries, top to bottom; for families the first members.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub wire: Option<WireId>,
    /// Without a wire: the headers have one compressed layout, `encoded compressed`.
    pub compressed: bool,
    pub members: Vec<usize>,
}

/// All instances, those below first, and which of them share a wire.
pub struct Plan<'p> {
    pub insts: Vec<Inst<'p>>,
    pub groups: Vec<Group>,
}

impl<'p> Inst<'p> {
    /// The definition; `None` for devices and applications.
    pub fn layer(&self) -> Option<&'p Layer> {
        match self.kind {
            Kind::Layer(layer) => Some(layer),
            _ => None,
        }
    }

    /// The layer's shape; `None` for devices and applications.
    pub fn shape(&self) -> Option<Shape> {
        self.layer().map(|layer| layer.shape)
    }

    /// The instances that it is over.
    pub fn lowers(&self) -> &[usize] {
        match self.several.is_empty() {
            true => self.below.as_slice(),
            false => &self.several,
        }
    }

    /// Whether it is a router that only chooses among several layers below, and passes flows.
    pub fn chooses(&self) -> bool {
        self.layer().is_some_and(|layer| layer.several.is_some() && layer.address.is_empty())
    }

    /// The components of a flow in the layer's code.
    pub fn flow(&self, side: Side) -> &[Component] {
        match side {
            Side::Above if self.shape() != Some(Shape::Endpoint) => &self.top,
            Side::Above | Side::Below => &self.bottom,
        }
    }

    /// Whether it passes on to the layer below what those above listen for.
    pub fn passes_listeners(&self) -> bool {
        matches!(self.shape(), Some(Shape::Worker | Shape::Multiplexor))
    }

    /// Whether it is a layer that tells sessions apart by a key.
    pub fn is_multiplexor(&self) -> bool {
        self.shape() == Some(Shape::Multiplexor)
    }

    /// Whether the layer has state or handlers for objects of that kind.
    pub fn has_scope(&self, kind: ScopeKind) -> bool {
        self.layer().is_some_and(|layer| layer.has_scope(kind))
    }
}

/// Supplied layers: a multiplexor without a key, which turns flow traffic into sessions if no other layer does; and a
/// worker, which stands for a way of a router over several if two ways lead to keys of one multiplexor.
pub fn supplied(span: Span) -> Supplied {
    let bare = |name: &str, shape| Layer::bare(Name { text: name.into(), span }, String::new(), shape, Vec::new());
    Supplied { sessions: bare("Sessions", Shape::Multiplexor), edge: bare("Edge", Shape::Worker) }
}

/// Layers that the planner adds between those of the stack.
pub struct Supplied {
    pub sessions: Layer,
    pub edge: Layer,
}

/// Plans a stack. `None`, with diagnostics, if its layers do not fit.
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
    /// The users above that use sessions.
    pub fn session_users(&self, inst: usize) -> Vec<usize> {
        self.insts[inst].users.iter().copied().filter(|user| self.insts[*user].uses.sessions).collect()
    }

    /// The users above that use flow traffic.
    pub fn flow_users(&self, inst: usize) -> Vec<usize> {
        self.insts[inst].users.iter().copied().filter(|user| self.insts[*user].uses.flow).collect()
    }

    /// Whether several layers are over a worker; it then tells its sessions apart by the user that opened them or
    /// listened.
    pub fn tells_users_apart(&self, inst: usize) -> bool {
        !self.insts[inst].is_multiplexor() && self.session_users(inst).len() > 1
    }

    /// Whether a user is bound to a key (or to a whole multiplexor without one).
    pub fn is_bound(&self, lower: usize, user: usize) -> bool {
        let keyless = self.insts[lower].is_multiplexor() && !self.insts[lower].top.iter().any(|c| c.owner == lower);
        keyless || !self.insts[user].bound.is_empty()
    }

    /// The barrier: the highest layer of a group that reads octets with headers of its group in them. The coding point
    /// is directly above it.
    pub fn barrier(&self, group: usize) -> Option<usize> {
        let group = &self.groups[group];
        let layer = |at: &usize| self.insts[*at].layer().filter(|layer| layer.barrier);
        group.members.iter().enumerate().find_map(|(place, at)| {
            let barrier = layer(at)?;
            let headers_above = group.members[..place].iter().any(|at| has_header(&self.insts[*at]));
            // If no layer of the group is above it, it reads only octets anyway, and a native record is enough for its
            // own header, unless the wire's other fields are needed.
            let by_record = group.wire.is_none() || barrier.shape == Shape::Endpoint || program::changes_size(barrier);
            (headers_above || !by_record).then_some(*at)
        })
    }
}

/// Whether the instance pushes a header: its own record, or a key.
pub fn has_header(inst: &Inst) -> bool {
    inst.layer()
        .is_some_and(|layer| layer.header.is_some() || layer.key.as_ref().is_some_and(|key| !key.fields.is_empty()))
}
