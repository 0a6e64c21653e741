//! Published values become functions. A layer that does not publish a name gives that of the layer below.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fold::Env;
use crate::frame::Writer;
use crate::lowering::Lowering;
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
pub(crate) enum Publisher<'p> {
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
    pub(crate) fn publisher(&self, inst: usize, name: &str) -> Publisher<'p> {
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

    /// The function of a published value, made when it is first asked for.
    fn published(&mut self, inst: usize, name: &str, reading: Reading) -> Option<r::FunctionId> {
        let known = (inst, name.to_owned(), reading);
        if let Some(function) = self.functions.get(&known) {
            return Some(*function);
        }
        let ty = self.published_type(inst, name)?;
        let info = self.info(inst);
        let class = match reading {
            Reading::Session => info.session?,
            _ => info.entity(),
        };
        let mut params = vec![("o".to_owned(), r::Type::Ref(class))];
        if reading == Reading::Flow {
            let components = self.inst(inst).top.clone();
            params.extend(self.flow_params(&components));
        }
        let results: Vec<r::Type> = self.flat(inst, ty).into_iter().map(|(_, ty)| ty).collect();
        let env = self.inst(inst).env.clone();
        let mut w = Writer::new(self, inst, env, &params);
        let values = w.params();
        w.place.object = Some(values[0]);
        match reading {
            Reading::Session => w.place.session = Some(values[0]),
            Reading::Flow => w.place.flow = Some(values[1..].to_vec()),
            Reading::Entity => {}
        }
        let answer = w.published_value(inst, name, ty);
        w.end(r::Terminator::Yield { values: answer });
        let body = w.b.finish();
        let name = format!("{}.{name}{}", self.a.class(class).name, if reading == Reading::Flow { "_of" } else { "" });
        self.a.functions.push(r::Function { name, published: Some(class), params, results, body });
        let function = r::FunctionId::from(self.a.functions.len() - 1);
        self.functions.insert(known, function);
        Some(function)
    }

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

    fn name(&self, text: &str) -> s::Name {
        s::Name { text: text.to_owned(), span: self.stack.name.span }
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

impl<'p> Writer<'_, 'p> {
    /// `below.name` in code.
    pub fn below(&mut self, name: &s::Name, flow: Option<&'p s::Expr>) -> Vec<r::Value> {
        if let Some(param) = self.param(&name.text).filter(|_| matches!(self.env, Env::Stack)) {
            return vec![self.device_value(param, name.text.rsplit('.').next().unwrap_or_default())];
        }
        let Some(below) = self.inst(self.inst).below else { return Vec::new() };
        let given = flow.map(|flow| (flow.ty, self.expr(flow)));
        match given {
            Some((_, flow)) if !self.inst(self.inst).several.is_empty() => self.below_of_flow(name, flow),
            given => self.read_below(below, name, given),
        }
    }

    /// A device's `mtu` counts within what the stack says of it.
    fn device_value(&mut self, param: r::ParamId, name: &str) -> r::Value {
        let a = self.value(r::OpKind::Param { param });
        let Some((least, most)) = self.stack.mtu.filter(|_| name == "mtu") else { return a };
        let b = self.constant(r::Type::U(32), u64::from(most));
        let a = self.value(r::OpKind::Binary { op: r::Binary::Min, a, b });
        let b = self.constant(r::Type::U(32), u64::from(least));
        self.value(r::OpKind::Binary { op: r::Binary::Max, a, b })
    }

    pub fn read_below(
        &mut self,
        below: usize,
        name: &s::Name,
        given: Option<(s::Type, Vec<r::Value>)>,
    ) -> Vec<r::Value> {
        let session = self.inst(self.inst).uses.sessions
            && self.place.opening_is_over()
            && (self.place.session.is_some() || self.place.lower.is_some());
        match self.reading(below, &name.text) {
            Reading::Entity => {
                let class = self.infos[below].entity();
                let entity = self.value(r::OpKind::Unique { class });
                self.call_published(below, &name.text, Reading::Entity, vec![entity])
            }
            _ if session && given.is_none() => match self.lower_session() {
                Some(lower) => self.call_published(below, &name.text, Reading::Session, vec![lower]),
                None => Vec::new(),
            },
            Reading::Flow => {
                let bottom = match given {
                    Some((s::Type::Flow(s::Side::Above), flow)) => self.bottom_of(self.inst, &flow),
                    Some((_, flow)) => flow,
                    None => self.published_flow(below),
                };
                let class = self.infos[below].entity();
                let entity = self.value(r::OpKind::Unique { class });
                let flow = self.lift_to(below, &bottom, false);
                self.call_published(below, &name.text, Reading::Flow, [vec![entity], flow].concat())
            }
            Reading::Session => {
                let message = format!("`below.{}` is of a session, and there is none where this runs", name.text);
                self.error("M0725", message, Some(name.span), "read it in a handler of the session");
                let ty = r::Type::U(32);
                vec![self.constant(ty, 0)]
            }
        }
    }

    fn published_flow(&mut self, below: usize) -> Vec<r::Value> {
        if !self.inst(self.inst).several.is_empty() {
            let whole =
                self.place.bottom.clone().filter(|_| self.place.flow.is_none() || self.inst(self.inst).chooses());
            let top = self.inst(below).top.clone();
            let types = self.flow_params(&top);
            return match whole {
                Some(bottom) => bottom.get(1..).unwrap_or_default().to_vec(),
                None => types.into_iter().map(|(_, ty)| self.constant(ty, 0)).collect(),
            };
        }
        match &self.place.bottom {
            Some(bottom) if self.place.flow.is_none() => bottom.clone(),
            _ if matches!(self.inst(self.inst).shape(), Some(s::Shape::Worker | s::Shape::Multiplexor)) => {
                let inst = self.inst;
                let top = self.flow_at_hand();
                self.bottom_of(inst, &top)
            }
            _ => {
                let components = self.inst(self.inst).bottom.clone();
                let types = self.flow_params(&components);
                types.into_iter().map(|(_, ty)| self.constant(ty, 0)).collect()
            }
        }
    }

    pub fn call_published(&mut self, inst: usize, name: &str, reading: Reading, args: Vec<r::Value>) -> Vec<r::Value> {
        match self.published(inst, name, reading) {
            Some(function) => self.op(r::OpKind::Call { function, args }),
            None => {
                self.error_here("M0725", format!("nobody below publishes `{name}`"), "");
                vec![self.constant(r::Type::U(32), 0)]
            }
        }
    }

    fn published_value(&mut self, inst: usize, name: &str, ty: s::Type) -> Vec<r::Value> {
        match self.publisher(inst, name) {
            Publisher::Device(device) => {
                let device = &self.stack.devices[device].text;
                match self.param(&format!("{device}.{name}")) {
                    Some(param) => vec![self.device_value(param, name)],
                    None => Vec::new(),
                }
            }
            Publisher::Unlimited => vec![self.constant(r::Type::U(32), u64::from(u32::MAX))],
            Publisher::Own(own) => {
                self.decls = &own.locals;
                self.locals = vec![None; own.locals.len()];
                if let Some(local) = own.flow {
                    let flow = self.flow_at_hand();
                    self.set_local(local, flow);
                }
                let values = self.expr(&own.value);
                let types: Vec<r::Type> = self.lowering.flat(inst, ty).into_iter().map(|(_, ty)| ty).collect();
                values.into_iter().zip(types).map(|(value, ty)| self.cast(value, ty)).collect()
            }
            Publisher::Limit(limit, ratio) => {
                let own = self.u32(limit);
                let lowers = self.inst(inst).lowers().to_vec();
                let limited: Vec<usize> = lowers.into_iter().filter(|below| self.is_limited(*below, name)).collect();
                let name = self.name(name);
                match self.least_below(&limited, &name).first() {
                    Some(under) => {
                        let mut under = *under;
                        if let Some(ratio) = ratio {
                            let many = self.u32(ratio);
                            under = self.value(r::OpKind::Binary { op: r::Binary::Div, a: under, b: many });
                        }
                        vec![self.value(r::OpKind::Binary { op: r::Binary::Min, a: own, b: under })]
                    }
                    None => vec![own],
                }
            }
            Publisher::Below(below) => {
                let name = self.name(name);
                self.read_below(below, &name, None)
            }
            Publisher::Least(lowers) => {
                let name = self.name(name);
                self.least_below(&lowers, &name)
            }
            Publisher::Nobody => Vec::new(),
        }
    }

    /// What may be sent now, for the application above; `None` where nobody limits it.
    pub fn credit(&mut self, name: &str) -> Option<r::Value> {
        let below = self.inst(self.inst).below.filter(|below| self.is_limited(*below, name))?;
        let name = self.name(name);
        self.read_below(below, &name, None).first().copied()
    }
}
