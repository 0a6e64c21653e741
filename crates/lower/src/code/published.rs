//! Published values as functions, each made on first use.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::{Flow, Writer};
use crate::constants::Env;
use crate::fault::Fault;
use crate::stack::{Limit, Publisher, Reading};

/// The flow for a value: its type with the side, and its scalars.
type OfFlow = Option<(s::Type, Vec<r::Value>)>;

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

    /// A device's `mtu`, clamped to the range in the stack.
    pub fn device_value(&mut self, param: r::ParamId, name: &str) -> r::Value {
        let value = self.value(r::OpKind::Param { param });
        let Some((least, most)) = self.stack.mtu.filter(|_| name == "mtu") else { return value };
        let most = self.constant(r::Type::U(32), u64::from(most));
        let value = self.binary(r::Binary::Min, value, most);
        let least = self.constant(r::Type::U(32), u64::from(least));
        self.binary(r::Binary::Max, value, least)
    }

    fn read_below(&mut self, below: usize, name: &s::Name, given: OfFlow) -> Vec<r::Value> {
        let session = self.inst(self.inst).uses.sessions
            && !self.runs.opening
            && (self.runs.session.is_some() || self.runs.lower.is_some());
        let entity = self.lowering.info(below).classes.entity;
        match self.reading(below, &name.text) {
            Reading::Entity => {
                let entity = self.unique(entity);
                self.call_published(below, &name.text, Reading::Entity, vec![entity])
            }
            _ if session && given.is_none() => match self.lower_session() {
                Some(lower) => self.call_published(below, &name.text, Reading::Session, vec![lower]),
                None => Vec::new(),
            },
            Reading::Flow => {
                let bottom = match given {
                    Some((s::Type::Flow(s::Side::Above), flow)) => self.bottom_of(&flow),
                    Some((_, flow)) => flow,
                    None => self.published_flow(below),
                };
                let entity = self.unique(entity);
                let flow = self.lift_to(below, &bottom, false);
                self.call_published(below, &name.text, Reading::Flow, [vec![entity], flow].concat())
            }
            Reading::Session => {
                let message = format!("`below.{}` is of a session, and there is none where this runs", name.text);
                self.error("M0725", message, Some(name.span), "read it in a handler of the session");
                vec![self.constant(r::Type::U(32), 0)]
            }
        }
    }

    /// The flow for a value if the code gives none.
    fn published_flow(&mut self, below: usize) -> Vec<r::Value> {
        let at = self.inst(self.inst);
        if !at.several.is_empty() {
            let whole = self.runs.bottom.clone().filter(|_| self.runs.flow.is_none() || at.chooses());
            return match whole {
                Some(bottom) => bottom.get(1..).unwrap_or_default().to_vec(),
                None => self.any_flow(&self.inst(below).top),
            };
        }
        match (&self.runs.bottom, at.shape()) {
            (Some(bottom), _) if self.runs.flow.is_none() => bottom.to_vec(),
            (_, Some(s::Shape::Worker | s::Shape::Multiplexor)) => {
                let top = self.flow_at_hand();
                self.bottom_of(&top)
            }
            _ => self.any_flow(&at.bottom),
        }
    }

    /// The value that an instance publishes.
    pub fn call_published(&mut self, inst: usize, name: &str, reading: Reading, args: Vec<r::Value>) -> Vec<r::Value> {
        if !self.live() {
            let ty = self.published_type(inst, name).unwrap_or(s::Type::UInt(32));
            return self.lowering.border_types(inst, ty).into_iter().map(|ty| self.zero(ty)).collect();
        }
        match self.published(inst, name, reading) {
            Some(function) => self.op(r::OpKind::Call { function, args }),
            None => {
                self.error_here(
                    "M0725",
                    format!("nobody below publishes `{name}`"),
                    "put a layer below that says `publish`",
                );
                vec![self.constant(r::Type::U(32), 0)]
            }
        }
    }

    /// The function for a published value.
    pub fn published(&mut self, inst: usize, name: &str, reading: Reading) -> Option<r::FunctionId> {
        let known = (inst, name.to_owned(), reading);
        if let Some(function) = self.functions.get(&known) {
            return Some(*function);
        }
        let ty = self.published_type(inst, name)?;
        let classes = self.lowering.info(inst).classes;
        let class = match reading {
            Reading::Session => classes.session?,
            Reading::Entity | Reading::Flow => classes.entity,
        };
        let mut params = vec![("o".to_owned(), r::Type::Ref(class))];
        if reading == Reading::Flow {
            params.extend(self.flow_params(&self.inst(inst).top));
        }
        let results = self.lowering.border_types(inst, ty);
        let around = self.around;
        let mut w = Writer::new(self.lowering, around, inst, &params);
        let values = w.params();
        (w.runs.object, w.only_reads) = (Some(values[0]), true);
        match reading {
            Reading::Session => w.runs.session = Some(values[0]),
            Reading::Flow => w.runs.flow = Some(values[1..].into()),
            Reading::Entity => {}
        }
        let values = w.published_value(name, ty);
        w.end(r::Terminator::Yield { values });
        let body = w.finish();
        let name = format!("{}.{name}{}", self.a.class(class).name, if reading == Reading::Flow { "_of" } else { "" });
        self.a.functions.push(r::Function { name, role: r::Role::Published(class), params, results, body });
        let function = r::FunctionId::from(self.a.functions.len() - 1);
        self.functions.insert(known, function);
        Some(function)
    }

    fn name(&self, text: &str) -> s::Name {
        s::Name { text: text.to_owned(), span: self.stack.name.span }
    }

    fn published_value(&mut self, name: &str, ty: s::Type) -> Vec<r::Value> {
        match self.publisher(self.inst, name) {
            Publisher::Device(device) => {
                let param = self.param(&format!("{}.{name}", self.stack.devices[device].text));
                param.map(|param| self.device_value(param, name)).into_iter().collect()
            }
            Publisher::Unlimited => vec![self.constant(r::Type::U(32), u64::from(u32::MAX))],
            Publisher::Own(own) => {
                self.decls = &own.locals;
                self.locals = vec![None; own.locals.len()];
                if let Some(local) = own.flow {
                    let flow = self.flow_at_hand();
                    self.set_local(local, flow.to_vec());
                }
                let values = self.one_at_border(&own.value);
                let types = self.border_types(ty);
                values.into_iter().zip(types).map(|(value, ty)| self.cast(value, ty)).collect()
            }
            Publisher::Limit(Limit { value, ratio, reserve }) => {
                let mut own = self.u32(value);
                if let Some(reserve) = reserve {
                    let kept = self.u32(reserve);
                    let most = self.binary(r::Binary::Max, own, kept);
                    own = self.binary(r::Binary::SubWrap, most, kept);
                }
                let lowers = self.inst(self.inst).lowers().iter().copied();
                let limited: Vec<usize> = lowers.filter(|below| self.is_limited(*below, name)).collect();
                let Some(mut under) = self.least_below(&limited, &self.name(name)) else { return vec![own] };
                if let Some(ratio) = ratio {
                    let many = self.u32(ratio);
                    under = self.binary(r::Binary::Div, under, many);
                }
                vec![self.binary(r::Binary::Min, own, under)]
            }
            Publisher::Below(below) => self.read_below(below, &self.name(name), None),
            Publisher::Least(lowers) => self.least_below(&lowers, &self.name(name)).into_iter().collect(),
            Publisher::Nobody => Vec::new(),
        }
    }

    /// The current credit for the application above; `None` if there is no limit.
    pub fn credit(&mut self, kind: usize) -> Option<r::Value> {
        let name = self.lowering.credit_name(self.inst, kind);
        let below = self.inst(self.inst).below.filter(|below| self.is_limited(*below, name))?;
        self.read_below(below, &self.name(name), None).first().copied()
    }

    /// What the layers below an application publish, for a session or for a flow.
    pub fn value_below(&mut self, name: &s::Name, flow: Option<&Flow>) -> Vec<r::Value> {
        let Some(below) = self.inst(self.inst).below else { return Vec::new() };
        self.read_below(below, name, flow.map(|flow| (s::Type::Flow(s::Side::Below), flow.to_vec())))
    }

    // -- of several layers below

    /// A branch for each layer below, by number; the last one, with `None`, for larger numbers.
    pub fn by_lower(
        &mut self,
        (which, lowers): (r::Value, &[usize]),
        mut each: impl FnMut(&mut Self, Option<usize>) -> Vec<r::Value>,
    ) -> Vec<r::Value> {
        let keys: Vec<Vec<u64>> = (0..lowers.len() as u64).map(|at| vec![at]).collect();
        self.switch(which, &keys, |w, at| each(w, at.map(|at| lowers[at])))
    }

    /// `below[i].name`; 0 beyond the last layer.
    pub fn below_at(&mut self, name: &'p s::Name, flow: Option<&'p s::Expr>, index: &'p s::Expr) -> Vec<r::Value> {
        let lowers = self.inst(self.inst).lowers();
        let given = flow.map(|flow| self.expr(flow));
        let given = given.map(|flow| (s::Type::Flow(s::Side::Below), flow.get(1..).unwrap_or_default().to_vec()));
        if let Some(known) = self.constants(&self.env, index).and_then(|values| values.first().copied()) {
            if let Some(lower) = lowers.get(known as usize) {
                return self.read_below(*lower, name, given);
            }
        }
        let which = self.one(index);
        self.read_one_of(lowers, which, name, given)
    }

    /// `below.name(flow)` if the flow chooses the layer below.
    fn below_of_flow(&mut self, name: &s::Name, flow: Vec<r::Value>) -> Vec<r::Value> {
        let Some((which, rest)) = flow.split_first() else { return Vec::new() };
        let lowers = &self.inst(self.inst).several;
        self.read_one_of(lowers, *which, name, Some((s::Type::Flow(s::Side::Below), rest.to_vec())))
    }

    fn read_one_of(&mut self, lowers: &[usize], which: r::Value, name: &s::Name, given: OfFlow) -> Vec<r::Value> {
        let mut types: Vec<r::Type> = Vec::new();
        self.by_lower((which, lowers), |w, lower| match lower {
            Some(lower) => {
                let values = w.read_below(lower, name, given.clone());
                types = values.iter().map(|value| w.b.type_of(*value)).collect();
                values
            }
            None => types.iter().map(|ty| w.constant(*ty, 0)).collect(),
        })
    }

    /// The smallest of the values of the layers below.
    fn least_below(&mut self, lowers: &[usize], name: &s::Name) -> Option<r::Value> {
        let mut least = None;
        for lower in lowers {
            let Some(value) = self.read_below(*lower, name, None).first().copied() else { continue };
            least = self.and(least, r::Binary::Min, value);
        }
        least
    }

    /// The flow from below; if a router is over several layers, it also says from which.
    pub fn flow_of_way(&mut self, user: usize, flow: Vec<r::Value>) -> Vec<r::Value> {
        let Some(place) = self.inst(user).several.iter().position(|lower| *lower == self.inst) else { return flow };
        let place = if self.faulty(Fault::WayForgotten) { 0 } else { place };
        let which = self.constant(r::Type::U(8), place as u64);
        [vec![which], flow].concat()
    }
}
