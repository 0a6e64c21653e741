//! A stack as a tree of layer instances: bundles taken apart, flows made of scalars, modes and wires decided.
//!
//! Invariant: instances stand in order from the devices up, so `below < index`; nothing here makes an operation.

use mokume_base::{Code, Diagnostic, Span};
use mokume_semantics::program::*;

use crate::fold::{scalars, Env};
use crate::octets;

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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Local,
    Remote,
    /// The same at both ends; counted among the local ones.
    Both,
}

impl Component {
    pub fn is_remote(&self) -> bool {
        self.side == Part::Remote
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

pub struct Plan<'p> {
    pub insts: Vec<Inst<'p>>,
    pub groups: Vec<Group>,
}

impl<'p> Inst<'p> {
    pub fn layer(&self) -> Option<&'p Layer> {
        match self.kind {
            Kind::Layer(layer) => Some(layer),
            _ => None,
        }
    }

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

    pub fn is_multiplexor(&self) -> bool {
        self.shape() == Some(Shape::Multiplexor)
    }

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

pub struct Planner<'p, 'd> {
    pub program: &'p Program,
    pub stack: &'p Stack,
    pub supplied: &'p Supplied,
    pub diagnostics: &'d mut Vec<Diagnostic>,
    pub plan: Plan<'p>,
    /// Parts of each instance of the stack, top to bottom; of families one member behind the other.
    pub parts: Vec<Vec<usize>>,
}

/// A layer of a bundle that was taken apart.
pub struct Piece<'p> {
    pub layer: &'p Layer,
    pub env: Env<'p>,
    pub group: usize,
    pub name: String,
}

/// Where the next layer stands: on what, and what is bound there.
pub type Under<'p> = (usize, Vec<(usize, &'p Expr)>);

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

impl<'p> Planner<'p, '_> {
    fn build(&mut self) -> Option<()> {
        for (index, name) in self.stack.devices.iter().enumerate() {
            let offers = Modes { flow: true, sessions: false };
            self.add(name.text.clone(), Kind::Device(index), Env::Stack, None, Some(name.span), offers);
        }
        for index in self.order()? {
            self.instance(index)?;
        }
        for export in &self.stack.exports {
            let of = self.stack.instances.iter().position(|instance| instance.name.text == export.text)?;
            let top = *self.parts[of].first()?;
            let below = Some((top, Vec::new()));
            self.add(
                format!("{}.application", export.text),
                Kind::Application,
                Env::Stack,
                below,
                Some(export.span),
                Modes::default(),
            );
        }
        self.spread_modes();
        self.check_users()?;
        self.find_servers();
        Some(())
    }

    /// Instances with those below them first.
    fn order(&mut self) -> Option<Vec<usize>> {
        let mut order = Vec::new();
        for index in 0..self.stack.instances.len() {
            self.below_first(index, &mut Vec::new(), &mut order)?;
        }
        Some(order)
    }

    fn below_first(&mut self, index: usize, path: &mut Vec<usize>, order: &mut Vec<usize>) -> Option<()> {
        if order.contains(&index) {
            return Some(());
        }
        let instance = &self.stack.instances[index];
        if path.contains(&index) {
            let message = format!("`{}` stands over itself", instance.name.text);
            self.error("M0721", message, instance.name.span, "part of a circle");
            return None;
        }
        path.push(index);
        for under in &instance.unders {
            if let Over::Instance(below) = under.over {
                self.below_first(below as usize, path, order)?;
            }
        }
        path.pop();
        order.push(index);
        Some(())
    }

    fn instance(&mut self, index: usize) -> Option<()> {
        let instance = &self.stack.instances[index];
        let mut pieces = Vec::new();
        let alone = matches!(instance.of.of, Definition::Layer(_));
        self.take_apart(&instance.of, &Env::Stack, &instance.name.text, alone, None, &mut pieces);
        self.part_compressed(&mut pieces);
        let mut unders: Vec<Under<'p>> = Vec::new();
        for under in &instance.unders {
            unders.push(match under.over {
                Over::Device(device) => (device as usize, Vec::new()),
                Over::Instance(lower) => {
                    let top = *self.parts[lower as usize].first()?;
                    (top, self.bound(top, &under.bound)?)
                }
            });
        }
        if let Some(router) = pieces.iter().rposition(|piece| piece.layer.several.is_some()) {
            let family = pieces.split_off(router + 1);
            let router = pieces.pop()?;
            let top = self.over_several(index, router, family, unders)?;
            unders = vec![(top, Vec::new())];
        }
        let mut under = unders.into_iter().next()?;
        for piece in pieces.into_iter().rev() {
            let at = self.piece(index, piece, under);
            self.parts[index].insert(0, at);
            under = (at, Vec::new());
        }
        Some(())
    }

    /// One layer of a bundle, with what makes sessions for it below it where that is missing.
    pub fn piece(&mut self, index: usize, piece: Piece<'p>, under: Under<'p>) -> usize {
        let span = self.stack.instances[index].name.span;
        let mut under = under;
        if self.wants_sessions(piece.layer, under.0) && !self.plan.insts[under.0].offers.sessions {
            let name = format!("{}.sessions", piece.name);
            let sessions = &self.supplied.sessions;
            under = (self.add_layer(name, sessions, Env::Stack, under, span), Vec::new());
        }
        let at = self.add_layer(piece.name, piece.layer, piece.env, under, span);
        self.plan.insts[at].group = Some(piece.group);
        let members = &mut self.plan.groups[piece.group].members;
        members.insert(0, at);
        at
    }

    pub fn wants_sessions(&self, layer: &Layer, below: usize) -> bool {
        let has = |kind| layer.scopes.iter().any(|scope| scope.kind == kind);
        match layer.shape {
            Shape::Worker | Shape::Endpoint => has(ScopeKind::Session) || has(ScopeKind::Point),
            Shape::Router => false,
            Shape::Multiplexor => has(ScopeKind::SessionBelow) || !self.plan.insts[below].offers.flow,
        }
    }

    fn take_apart(
        &mut self,
        used: &'p Use,
        env: &Env<'p>,
        name: &str,
        alone: bool,
        group: Option<usize>,
        out: &mut Vec<Piece<'p>>,
    ) {
        let inner = Env::used(&used.args, env);
        match used.of {
            Definition::Layer(id) => {
                let layer = &self.program.layers[id.index()];
                let group = group.unwrap_or_else(|| self.new_group(Group::default()));
                let wanted = if alone { name.to_owned() } else { format!("{name}.{}", layer.name.text) };
                let taken = |name: &str| {
                    out.iter().any(|piece: &Piece| piece.name == name)
                        || self.plan.insts.iter().any(|inst| inst.name == name)
                };
                let name = (1..)
                    .map(|n| if n == 1 { wanted.clone() } else { format!("{wanted}{n}") })
                    .find(|name| !taken(name));
                out.push(Piece { layer, env: inner, group, name: name.unwrap_or(wanted) });
            }
            Definition::Bundle(id) => {
                let bundle = &self.program.bundles[id.index()];
                let group = match (bundle.wire, bundle.compressed) {
                    (None, false) => group,
                    (wire, compressed) => Some(self.new_group(Group { wire, compressed, members: Vec::new() })),
                };
                for part in &bundle.parts {
                    self.take_apart(part, &inner, name, false, group, out);
                }
            }
        }
    }

    fn new_group(&mut self, group: Group) -> usize {
        self.plan.groups.push(group);
        self.plan.groups.len() - 1
    }

    /// Headers are laid out together as far as they are encoded together: a layer that looks at octets begins anew, and so
    /// does what stands below a bundle with a wire of its own.
    fn part_compressed(&mut self, pieces: &mut [Piece]) {
        let mut run: Option<(usize, usize)> = None;
        for piece in pieces {
            let of = piece.group;
            if !self.plan.groups[of].compressed {
                run = None;
                continue;
            }
            let known = run.filter(|(from, _)| *from == of && !piece.layer.barrier).map(|(_, group)| group);
            let fresh = Group { compressed: true, ..Group::default() };
            piece.group = known.unwrap_or_else(|| self.new_group(fresh));
            run = Some((of, piece.group));
        }
    }

    /// `over x[key: constant]`: which components of the flow at the top of `lower` are meant.
    fn bound(&mut self, lower: usize, names: &'p [(Name, Expr)]) -> Option<Vec<(usize, &'p Expr)>> {
        let mut bound = Vec::new();
        for (name, value) in names {
            let top = &self.plan.insts[lower].top;
            let wanted = |c: &Component| c.owner == lower && !c.is_remote() && c.name == name.text;
            let Some(at) = top.iter().rposition(wanted) else {
                let message = format!("`{}` is no key of the layer below", name.text);
                self.error("M0722", message, name.span, "not a key there");
                return None;
            };
            bound.push((at, value));
        }
        Some(bound)
    }

    pub fn add_layer(&mut self, name: String, layer: &'p Layer, env: Env<'p>, below: Under<'p>, span: Span) -> usize {
        let under = self.plan.insts[below.0].offers;
        let offers = match layer.shape {
            Shape::Router => Modes { flow: true, sessions: false },
            Shape::Endpoint => Modes::default(),
            Shape::Multiplexor if self.wants_sessions(layer, below.0) => Modes { flow: false, sessions: true },
            Shape::Multiplexor => Modes { flow: true, sessions: true },
            Shape::Worker if self.wants_sessions(layer, below.0) => Modes { flow: false, sessions: true },
            Shape::Worker => under,
        };
        self.add(name, Kind::Layer(layer), env, Some(below), Some(span), offers)
    }

    pub fn add(
        &mut self,
        name: String,
        kind: Kind<'p>,
        env: Env<'p>,
        below: Option<Under<'p>>,
        span: Option<Span>,
        offers: Modes,
    ) -> usize {
        let index = self.plan.insts.len();
        let bottom = below.as_ref().map_or(Vec::new(), |(lower, bound)| {
            let whole = self.plan.insts[*lower].top.iter().enumerate();
            whole.filter(|(at, _)| bound.iter().all(|(gone, _)| gone != at)).map(|(_, c)| c.clone()).collect()
        });
        let top = self.top_flow(index, kind, &bottom);
        let (below, bound) = below.unzip();
        if let Some(lower) = below {
            self.plan.insts[lower].users.push(index);
        }
        let bound = bound.unwrap_or_default();
        self.plan.insts.push(Inst {
            name,
            kind,
            env,
            below,
            several: Vec::new(),
            family: None,
            bound,
            users: Vec::new(),
            top,
            bottom,
            offers,
            uses: Modes::default(),
            used: Modes::default(),
            group: None,
            servers: Vec::new(),
            span,
        });
        index
    }

    /// Local parts, then remote parts, lower layers first.
    pub fn top_flow(&self, owner: usize, kind: Kind<'p>, bottom: &[Component]) -> Vec<Component> {
        let Kind::Layer(layer) = kind else { return bottom.to_vec() };
        let make = |fields: &[Field], side, address| -> Vec<Component> {
            let of = |field: &Field| {
                let parts = scalars(self.program, field.ty).into_iter();
                parts
                    .map(|(rest, ty)| Component {
                        name: format!("{}{rest}", field.name.text),
                        side,
                        ty,
                        address,
                        owner,
                    })
                    .collect::<Vec<_>>()
            };
            fields.iter().flat_map(of).collect()
        };
        match layer.shape {
            Shape::Worker => bottom.to_vec(),
            Shape::Endpoint => Vec::new(),
            // It only chooses: all but that passes.
            Shape::Router if layer.address.is_empty() => bottom.get(1..).unwrap_or_default().to_vec(),
            Shape::Router => {
                [make(&layer.address, Part::Local, true), make(&layer.address, Part::Remote, true)].concat()
            }
            Shape::Multiplexor => {
                let Some(key) = &layer.key else { return bottom.to_vec() };
                let (local, remote): (Vec<_>, Vec<_>) = bottom.iter().cloned().partition(|c| !c.is_remote());
                match key.symmetric {
                    true => [local, make(&key.fields, Part::Both, false), remote].concat(),
                    false => {
                        let (own_local, own_remote) =
                            (make(&key.fields, Part::Local, false), make(&key.fields, Part::Remote, false));
                        [local, own_local, remote, own_remote].concat()
                    }
                }
            }
        }
    }

    /// From the top down: who uses what.
    fn spread_modes(&mut self) {
        for index in (0..self.plan.insts.len()).rev() {
            let inst = &self.plan.insts[index];
            let Some(below) = inst.below else { continue };
            let under = self.plan.insts[below].offers;
            let flow = Modes { flow: true, sessions: false };
            let sessions = Modes { flow: false, sessions: true };
            let uses = match inst.kind {
                Kind::Application => under,
                Kind::Device(_) => Modes::default(),
                Kind::Layer(layer) if self.wants_sessions(layer, below) => sessions,
                Kind::Layer(layer) if layer.shape == Shape::Worker => inst.used,
                Kind::Layer(_) => flow,
            };
            self.plan.insts[index].uses = uses;
            for lower in self.plan.insts[index].lowers().to_vec() {
                let used = &mut self.plan.insts[lower].used;
                used.flow |= uses.flow;
                used.sessions |= uses.sessions;
            }
        }
    }

    fn check_users(&mut self) -> Option<()> {
        let mut sound = true;
        for inst in &self.plan.insts {
            let (Some(span), name) = (inst.span, &inst.name) else { continue };
            let ends = matches!(inst.kind, Kind::Application) || inst.shape() == Some(Shape::Endpoint);
            let problem = if !ends && inst.users.is_empty() {
                Some(("M0723", format!("nothing stands above `{name}`"), "export it, or put a layer over it"))
            } else if inst.users.len() > 1 && !inst.is_multiplexor() {
                Some((
                    "M0724",
                    format!("several layers stand above `{name}`, which is no multiplexor"),
                    "put a multiplexor between",
                ))
            } else if (inst.used.flow && !inst.offers.flow) || (inst.used.sessions && !inst.offers.sessions) {
                Some((
                    "M0725",
                    format!("`{name}` does not offer what the layer above uses"),
                    "put a multiplexor between",
                ))
            } else {
                None
            };
            if let Some((code, message, help)) = problem {
                let diagnostic = Diagnostic::error(Code(code), message).at(span, "this instance").help(help);
                self.diagnostics.push(diagnostic);
                sound = false;
            }
        }
        sound.then_some(())
    }

    fn find_servers(&mut self) {
        for (index, instance) in self.stack.instances.iter().enumerate() {
            let named = instance
                .with
                .iter()
                .filter_map(|name| self.stack.instances.iter().position(|other| other.name.text == name.text));
            let candidates: Vec<usize> = named.chain([index]).flat_map(|at| self.parts[at].clone()).collect();
            for part in self.parts[index].clone() {
                let Some(layer) = self.plan.insts[part].layer() else { continue };
                let serves = |service: &ServiceId| {
                    let plan = &self.plan;
                    let serving =
                        |at: &&usize| plan.insts[**at].layer().is_some_and(|layer| layer.serves.contains(service));
                    // As many as there are members of a family: each has its own.
                    let all: Vec<usize> = candidates.iter().filter(serving).copied().collect();
                    match plan.insts[part].family {
                        Some(member) if all.len() == member.of => all.get(member.place).copied(),
                        _ => all.first().copied(),
                    }
                };
                let servers: Vec<Option<usize>> = layer.uses.iter().map(|(service, _)| serves(service)).collect();
                if let Some(missing) = servers.iter().position(Option::is_none) {
                    let message =
                        format!("nobody serves `{}` for `{}`", layer.uses[missing].1.text, instance.name.text);
                    let diagnostic = Diagnostic::error(Code("M0726"), message)
                        .at(instance.name.span, "uses a service")
                        .help("name the layer that serves it: `with …`");
                    self.diagnostics.push(diagnostic);
                }
                self.plan.insts[part].servers = servers;
            }
        }
    }

    pub fn error(&mut self, code: &'static str, message: String, span: Span, text: &str) {
        self.diagnostics.push(Diagnostic::error(Code(code), message).at(span, text));
    }
}

impl Plan<'_> {
    /// Those above that use sessions, or flow traffic.
    pub fn session_users(&self, inst: usize) -> Vec<usize> {
        self.insts[inst].users.iter().copied().filter(|user| self.insts[*user].uses.sessions).collect()
    }

    pub fn flow_users(&self, inst: usize) -> Vec<usize> {
        self.insts[inst].users.iter().copied().filter(|user| self.insts[*user].uses.flow).collect()
    }

    /// Whether a user is bound to a key (or to the whole of a multiplexor without one).
    pub fn is_bound(&self, lower: usize, user: usize) -> bool {
        let keyless = !self.insts[lower].top.iter().any(|c| c.owner == lower);
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
            let by_record = group.wire.is_none() || barrier.shape == Shape::Endpoint || octets::changes_size(barrier);
            (headers_above || !by_record).then_some(*at)
        })
    }
}

pub fn has_header(inst: &Inst) -> bool {
    inst.layer()
        .is_some_and(|layer| layer.header.is_some() || layer.key.as_ref().is_some_and(|key| !key.fields.is_empty()))
}
