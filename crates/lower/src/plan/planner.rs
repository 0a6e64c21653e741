//! Expands the bundles of a stack, and makes instances of their layers, those below first.

use mokume_base::{Code, Diagnostic, Span};
use mokume_semantics::program::*;

use super::{Component, Group, Inst, Kind, Modes, Part, Plan, Supplied};
use crate::constants::{scalars, Env};

/// The plan so far. Faults go to the diagnostics.
pub struct Planner<'p, 'd> {
    pub program: &'p Program,
    pub stack: &'p Stack,
    pub supplied: &'p Supplied,
    pub diagnostics: &'d mut Vec<Diagnostic>,
    pub plan: Plan<'p>,
    /// Instances of each line of the stack, top to bottom; members of families are consecutive.
    pub parts: Vec<Vec<usize>>,
}

/// A layer of an expanded bundle.
pub struct Piece<'p> {
    pub layer: &'p Layer,
    pub env: Env<'p>,
    pub group: usize,
    pub name: String,
}

/// What the next layer is over, and what is bound there.
pub type Under<'p> = (usize, Vec<(usize, &'p Expr)>);

impl<'p> Planner<'p, '_> {
    pub(super) fn build(&mut self) -> Option<()> {
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

    /// The lines of the stack, those below first.
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

    /// Adds one layer of a bundle; if it needs sessions and the layer below has none, also a supplied layer for these.
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

    /// Whether a layer over `below` has an object for each session, and so uses sessions of the one below.
    pub fn wants_sessions(&self, layer: &Layer, below: usize) -> bool {
        let is_multiplexor = layer.shape == Shape::Multiplexor;
        layer.wants_sessions() || is_multiplexor && !self.plan.insts[below].offers.flow
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

    /// Sets which headers share a compressed layout: those that are encoded together. A barrier begins a new one, and
    /// so does what is below a bundle with its own wire.
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

    /// `over x[key: constant]`: the components of the flow at the top of `lower` that are bound.
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

    /// Adds an instance of a layer over others; returns its number.
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

    /// Adds any instance over others; returns its number. The instances below get it as a user; its group and its
    /// servers are found later.
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

    /// The flow at the top: local parts, then remote parts, lower layers first.
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
            // It only chooses: everything else passes.
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

    /// Reports an error at a place of the program, with a short text there.
    pub fn error(&mut self, code: &'static str, message: String, span: Span, text: &str) {
        self.diagnostics.push(Diagnostic::error(Code(code), message).at(span, text));
    }
}
