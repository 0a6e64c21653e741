//! Flows: the scalars of addresses and keys, at the top of a layer, below it, and as the layer below has them.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::{Flow, Writer};
use crate::constants::Env;
use crate::fault::Fault;
use crate::plan::{Component, Part};
use crate::stack::{HeaderField, KeyPart};

impl<'p> Writer<'_, 'p> {
    // -- in code

    /// `flow.local.port`
    pub fn flow_part(&mut self, flow: &'p s::Expr, remote: bool, field: &s::Name) -> Vec<r::Value> {
        let values = self.expr(flow);
        let places = self.named_places(flow.ty, remote, field);
        if places.is_empty() {
            return vec![self.constant(r::Type::U(32), 0)];
        }
        places.into_iter().filter_map(|at| values.get(at).copied()).collect()
    }

    fn components(&self, ty: s::Type) -> &'p [Component] {
        let side = if ty == s::Type::Flow(s::Side::Above) { s::Side::Above } else { s::Side::Below };
        self.inst(self.inst).flow(side)
    }

    /// The positions of a named part of a flow. If several layers have a part of this name, the highest one counts.
    fn named_places(&mut self, ty: s::Type, remote: bool, name: &s::Name) -> Vec<usize> {
        let components = self.components(ty);
        let behind = format!("{}.", name.text);
        let named = |at: &usize| {
            let c = &components[*at];
            let sided = c.is_remote() == remote || c.side == Part::Both;
            sided && (c.name == name.text || c.name.starts_with(&behind))
        };
        let all: Vec<usize> = (0..components.len()).filter(named).collect();
        let owner = all.last().map(|at| components[*at].owner);
        if owner.is_none() {
            let help = no_such_part(components, remote, &name.text);
            self.error("M0722", format!("the flow here has no part `{}`", name.text), Some(name.span), &help);
        }
        all.into_iter().filter(|at| Some(components[*at].owner) == owner).collect()
    }

    /// `flow(local: …, remote: …)`: parts that are left open are *any*, which is zero.
    pub fn flow(
        &mut self,
        expr: &'p s::Expr,
        local: &'p [(Option<s::Name>, s::Expr)],
        remote: &'p [(Option<s::Name>, s::Expr)],
    ) -> Vec<r::Value> {
        let components = self.components(expr.ty);
        let mut values: Vec<Option<r::Value>> = vec![None; components.len()];
        let parts: Vec<&s::Expr> = local.iter().chain(remote).map(|(_, value)| value).collect();
        let mut computed = self.as_written(&parts).into_iter();
        for (parts, side) in [(local, Part::Local), (remote, Part::Remote)] {
            let mut unnamed = 0;
            for (name, _) in parts {
                let given = computed.next().unwrap_or_default();
                let places = match name {
                    Some(name) => self.named_places(expr.ty, side == Part::Remote, name),
                    None => {
                        let sided = (0..components.len()).filter(|at| components[*at].side == side);
                        let rest = sided.skip(unnamed).take(given.len()).collect();
                        unnamed += given.len();
                        rest
                    }
                };
                for (place, value) in places.into_iter().zip(given) {
                    values[place] = Some(value);
                }
            }
        }
        self.fill_from_hand(expr.ty, &mut values);
        let types = self.flow_params(components);
        let typed = values.into_iter().zip(types);
        typed
            .map(|(value, (_, ty))| match value {
                Some(value) => self.cast(value, ty),
                None => self.constant(ty, 0),
            })
            .collect()
    }

    /// In a router that only chooses, the remaining parts are those of the current flow.
    fn fill_from_hand(&mut self, ty: s::Type, values: &mut [Option<r::Value>]) {
        if ty != s::Type::Flow(s::Side::Below) || !self.inst(self.inst).chooses() {
            return;
        }
        let flow = self.runs.flow.iter().flat_map(|flow| flow.iter());
        for (slot, value) in values.iter_mut().skip(1).zip(flow) {
            slot.get_or_insert(*value);
        }
    }

    /// A hash of a flow. Each scalar is mixed in, and the bits are spread; the constant is that of the golden ratio, as
    /// in Fibonacci hashing.
    pub fn flow_hash(&mut self, flow: &'p s::Expr, secret: &'p s::Expr) -> r::Value {
        let wide = r::Type::U(64);
        let values = self.expr(flow);
        let mut hash = self.one(secret);
        let factor = self.constant(wide, 0x9e37_79b9_7f4a_7c15);
        let shift = self.constant(wide, 32);
        for value in values {
            let value = self.cast(value, wide);
            let mixed = self.binary(r::Binary::Xor, hash, value);
            let spread = self.binary(r::Binary::MulWrap, mixed, factor);
            let high = self.binary(r::Binary::Shr, spread, shift);
            hash = self.binary(r::Binary::Xor, spread, high);
        }
        self.cast(hash, r::Type::U(32))
    }

    // -- the current flow

    /// A flow with all parts *any*.
    pub fn any_flow(&mut self, components: &[Component]) -> Vec<r::Value> {
        let types = self.flow_params(components);
        types.into_iter().map(|(_, ty)| self.constant(ty, 0)).collect()
    }

    /// The current flow of the upper side.
    pub fn flow_at_hand(&mut self) -> Flow {
        if let Some(flow) = &self.runs.flow {
            return flow.clone();
        }
        let info = self.info();
        let components = &self.inst(self.inst).top;
        let cells = info.session.as_ref().map_or(&[][..], |session| &session.flow);
        match self.runs.session {
            Some(session) if !cells.is_empty() => self.get_all(session, cells).into(),
            _ if components.is_empty() => Rc::from([]),
            _ => {
                let help = "an event without a flow cannot send: keep the message, or let a session do it";
                self.error_said("M0727", "there is no flow at hand where this runs", help);
                self.any_flow(components).into()
            }
        }
    }

    /// The current flow of the lower side.
    pub fn bottom_at_hand(&mut self) -> Flow {
        let at = self.inst(self.inst);
        match (at.shape(), &self.runs.bottom) {
            (Some(s::Shape::Worker | s::Shape::Multiplexor), _) if at.bottom.is_empty() => Rc::from([]),
            (Some(s::Shape::Worker | s::Shape::Multiplexor), _) => {
                let top = self.flow_at_hand();
                self.bottom_of(&top).into()
            }
            (_, Some(bottom)) => bottom.clone(),
            (_, None) => self.any_flow(&at.bottom).into(),
        }
    }

    /// The flow that a handler's head names, `from flow`; `bottom` gives that of the layer below.
    pub fn flow_named(
        &mut self,
        handler: &s::Handler,
        local: s::LocalId,
        bottom: impl FnOnce(&mut Self) -> Flow,
    ) -> Vec<r::Value> {
        let shape = self.inst(self.inst).shape();
        let above = handler.locals[local.index()].ty == s::Type::Flow(s::Side::Above);
        let own = above && shape != Some(s::Shape::Endpoint) || shape == Some(s::Shape::Worker);
        let flow = if own { self.flow_at_hand() } else { bottom(self) };
        flow.to_vec()
    }

    /// A multiplexor's flow: the flow from below plus the key in the packet, whose destination is our end.
    pub fn flow_from(&self, bottom: &[r::Value], fields: &[HeaderField], values: &[r::Value]) -> Vec<r::Value> {
        let (mut own_local, mut own_remote) = (0.., 0..);
        let mut rest = bottom.iter();
        let keyed = |part: KeyPart, at: usize| {
            fields.iter().zip(values).find(|(field, _)| field.key == Some((part, at))).map(|(_, value)| *value)
        };
        let mut flow = Vec::new();
        for component in &self.inst(self.inst).top {
            flow.extend(match (component.owner == self.inst, component.is_remote()) {
                (false, _) => rest.next().copied(),
                (true, false) => {
                    let at = own_local.next().unwrap_or(0);
                    keyed(KeyPart::Destination, at).or_else(|| keyed(KeyPart::Both, at))
                }
                (true, true) => own_remote.next().and_then(|at| keyed(KeyPart::Source, at)),
            });
        }
        flow
    }

    /// A flow without the multiplexor's own key.
    pub fn bottom_of(&self, top: &[r::Value]) -> Vec<r::Value> {
        let at = self.inst(self.inst);
        if !at.is_multiplexor() {
            return top.to_vec();
        }
        top.iter().zip(&at.top).filter(|(_, c)| c.owner != self.inst).map(|(value, _)| *value).collect()
    }

    /// A flow below as the layer there has it, with the parts that the stack binds. With `local_only`, only its local
    /// end.
    pub fn lift_to(&mut self, below: usize, bottom: &[r::Value], local_only: bool) -> Vec<r::Value> {
        let bound = &self.inst(self.inst).bound;
        let components = &self.inst(below).top;
        let types = self.flow_params(components);
        let mut rest = bottom.iter();
        let mut flow = Vec::new();
        for (place, component) in components.iter().enumerate() {
            if !component.is_said(!local_only) {
                continue;
            }
            let ty = types[place].1;
            let value = match bound.iter().find(|(at, _)| *at == place) {
                Some((_, constant)) if !self.faulty(Fault::BoundKeyLost) => self.bound_value(constant),
                Some(_) => self.constant(ty, 0),
                None => rest.next().copied().unwrap_or_else(|| self.constant(ty, 0)),
            };
            flow.push(self.cast(value, ty));
        }
        flow
    }

    /// The value that the stack binds a key to.
    pub fn bound_value(&mut self, constant: &'p s::Expr) -> r::Value {
        let values = self.env_expr(constant, &Env::Stack);
        values.first().copied().unwrap_or_else(|| self.truth(false))
    }

    /// A flow without the parts that are bound for this user.
    pub fn as_user_sees(&self, user: usize, top: &[r::Value]) -> Vec<r::Value> {
        let bound = &self.inst(user).bound;
        let free = top.iter().enumerate().filter(|(place, _)| bound.iter().all(|(at, _)| at != place));
        free.map(|(_, value)| *value).collect()
    }
}

/// What a flow has instead of an unknown part, for a report.
fn no_such_part(components: &[Component], remote: bool, name: &str) -> String {
    let said = |c: &Component| match c.side {
        Part::Local => format!("`local.{}`", c.name),
        Part::Remote => format!("`remote.{}`", c.name),
        Part::Both => format!("`{}`", c.name),
    };
    let other = components.iter().find(|c| c.name == name && c.is_remote() != remote);
    if let Some(other) = other {
        let end = if remote { "the other end's" } else { "this end's" };
        return format!("{end} is bound in the stack and the same in every flow; there is {}", said(other));
    }
    let mut all: Vec<String> = components.iter().map(said).collect();
    all.dedup();
    match all.is_empty() {
        true => "the flows here have no parts: those that there are below are bound in the stack".into(),
        false => format!("there is {}", all.join(", ")),
    }
}
