//! Listeners: who hears what nobody has a session for. A listener is a pattern over local and remote addresses and keys
//! (docs/language.md, section 6).
//!
//! Invariant: of the patterns that a flow matches the most specific that is registered is found first; those that name
//! nothing of the remote end are in one map, the others in another, which is looked into only after one was registered.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Ends, Exit, Register, Registration, Writer};
use crate::lowering::{Info, Lowering, What};
use crate::plan::{Component, Kind};

/// Of so many layers a listener may leave the local part open.
const MOST_OPEN: usize = 3;

/// What a multiplexor keeps of listeners that name something of the remote end.
#[derive(Clone, Copy, Debug)]
pub struct FromCells {
    pub index: r::CellId,
    /// Whether there ever was one.
    any: r::CellId,
}

/// Maps by patterns: of the local end, and of both.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    pub local: r::CellId,
    pub from: Option<r::CellId>,
    /// Whether there ever was one of both; looked at before the map.
    any: Option<r::CellId>,
    /// What is found.
    value: r::Type,
}

impl Patterns {
    pub fn new(local: r::CellId, from: Option<r::CellId>, value: r::Type) -> Patterns {
        Patterns { local, from, any: None, value }
    }
}

/// Which parts of a flow one step of a search leaves open, by the bits of its number: of the local end's keys, of the
/// remote end, of the local addresses.
struct Parts {
    keys: Vec<(bool, usize)>,
    remote: Vec<bool>,
    addresses: Vec<(bool, usize)>,
}

impl<'p> Lowering<'p> {
    // -- what is kept

    pub fn declare_listeners(&mut self, inst: usize, entity: r::ClassId) -> Listeners {
        let plan = self.plan.clone();
        let at = &plan.insts[inst];
        let unbound = at.users.iter().any(|user| !plan.is_bound(inst, *user));
        let types = |this: &mut Self, components: &[Component]| -> Vec<r::Type> {
            this.flow_params(components).into_iter().map(|(_, ty)| ty).collect()
        };
        let local: Vec<Component> = at.top.iter().filter(|c| !c.is_remote()).cloned().collect();
        if !unbound || local.is_empty() {
            return Listeners::default();
        }
        // Where all who match get a share, each listens for itself.
        let place = (at.layer().is_some_and(|layer| layer.matching != s::Matching::One)).then_some(r::Type::U(8));
        let capacity = self.stack.sessions.max(1);
        let map = |this: &mut Self, name: &str, key: Vec<r::Type>| {
            let key = key.into_iter().chain(place).collect();
            this.cell(entity, name, r::CellKind::Map { key, value: vec![r::Type::U(8)], capacity }, false, None)
        };
        let key = types(self, &local);
        let listeners = map(self, "listeners", key);
        let mut kept = Listeners { local: Some(listeners), ..Listeners::default() };
        if self.may_name_remotes(inst) {
            let key = types(self, &at.top);
            let index = map(self, "listeners_from", key);
            let any = r::CellKind::Scalar { ty: r::Type::Bool, init: 0 };
            kept.from = Some(FromCells { index, any: self.cell(entity, "any_from", any, false, None) });
        }
        kept
    }

    /// Whether anybody above may listen to some remote ends alone.
    pub fn may_name_remotes(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        at.top.iter().any(Component::is_remote) && at.users.iter().any(|user| self.names_remotes(*user))
    }

    fn names_remotes(&self, user: usize) -> bool {
        let at = self.inst(user);
        let Kind::Layer(layer) = at.kind else { return matches!(at.kind, Kind::Application) };
        let named = |kind: &s::StmtKind| match kind {
            s::StmtKind::Emit(
                s::Emission::Listen { flow } | s::Emission::Bind { flow } | s::Emission::Unlisten { flow },
            ) => ends_of(flow) == Ends::Both,
            _ => false,
        };
        let through = matches!(layer.shape, s::Shape::Worker | s::Shape::Multiplexor);
        crate::octets::any_stmt(crate::octets::blocks(layer), &named)
            || (through && at.users.iter().any(|user| self.names_remotes(*user)))
    }

    /// Who may listen, and how; the number in the map is the place here.
    pub fn listening(&self, inst: usize) -> Vec<(usize, Register)> {
        let mut all = Vec::new();
        for user in &self.inst(inst).users {
            if self.plan.is_bound(inst, *user) {
                continue;
            }
            let uses = self.inst(*user).uses;
            all.extend(uses.flow.then_some((*user, Register::Bind)));
            all.extend(uses.sessions.then_some((*user, Register::Listen)));
        }
        all
    }

    /// The planted fault turns the order.
    fn least_first(&self, sets: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..sets).collect();
        if self.faulty(Fault::ListenerOrder) {
            order.reverse();
        }
        order
    }

    /// What of a flow may be left open: of so many layers the local end, of the remote end keys and addresses.
    fn pattern_parts(&self, inst: usize) -> Parts {
        let components = &self.inst(inst).top;
        let mut local: Vec<(bool, usize)> =
            components.iter().filter(|c| !c.is_remote()).map(|c| (c.address, c.owner)).collect();
        local.sort_unstable_by_key(|(address, owner)| (!address, *owner));
        local.dedup();
        local.truncate(MOST_OPEN);
        let (addresses, keys) = local.into_iter().partition(|(address, _)| *address);
        let mut remote: Vec<bool> = components.iter().filter(|c| c.is_remote()).map(|c| c.address).collect();
        remote.sort_unstable();
        remote.dedup();
        Parts { keys, remote, addresses }
    }

    /// Of each component, which bit of a step leaves it open.
    fn bits_of(&self, inst: usize, parts: &Parts, keys: usize) -> Vec<Bit> {
        let place = |known: &[(bool, usize)], c: &Component| known.iter().position(|k| *k == (c.address, c.owner));
        let bit = |c: &Component| {
            if c.is_remote() {
                let at = parts.remote.iter().position(|address| *address == c.address);
                return at.map_or(Bit::Named, |at| Bit::Step(parts.addresses.len() + at));
            }
            match (place(&parts.keys, c), place(&parts.addresses, c)) {
                (Some(at), _) if keys >> at & 1 == 1 => Bit::Open,
                (_, Some(at)) => Bit::Step(at),
                _ => Bit::Named,
            }
        };
        self.inst(inst).top.iter().map(bit).collect()
    }

    /// Of each component, whether it is left open, and whether it is of the remote end.
    fn opened(&self, inst: usize, parts: &Parts, (keys, addresses): (usize, usize)) -> Vec<(bool, bool)> {
        let is_open = |bit: Bit| match bit {
            Bit::Named => false,
            Bit::Open => true,
            Bit::Step(at) => addresses >> at & 1 == 1,
        };
        let bits = self.bits_of(inst, parts, keys).into_iter();
        bits.zip(&self.inst(inst).top).map(|(bit, c)| (is_open(bit), c.is_remote())).collect()
    }

    /// The maps of a multiplexor's listeners.
    pub fn listener_maps(&self, inst: usize) -> Option<Patterns> {
        let info = &self.infos[inst];
        let from = info.listeners_from;
        let (index, any) = (from.map(|cells| cells.index), from.map(|cells| cells.any));
        Some(Patterns { local: info.listeners?, from: index, any, value: r::Type::U(8) })
    }

    pub fn refused_cell(&mut self, info: &mut Info) {
        if info.refused.is_none() {
            info.refused = Some(self.cell(info.entity(), "refused_listeners", r::CellKind::Counter, false, None));
        }
    }

    pub fn cares_for_listeners(&self, inst: usize) -> bool {
        let at = self.inst(inst);
        let Some(layer) = at.layer() else { return false };
        let handles = layer.handlers.iter().any(|handler| {
            matches!(handler.event, s::Event::Listen { .. } | s::Event::Bind { .. } | s::Event::Unlisten { .. })
        });
        let through = matches!(layer.shape, s::Shape::Worker | s::Shape::Multiplexor);
        handles
            || self.infos[inst].listeners.is_some()
            || (through && at.lowers().iter().any(|below| self.cares_for_listeners(*below)))
    }
}

impl<'p> Writer<'_, 'p> {
    // -- finding them

    /// Looks for the patterns that hear of a flow, the most specific first: with the local keys before with any, then with
    /// more of the remote end, then with the local addresses before at any. Of the remote end the addresses stand or fall
    /// together, and so do the keys; of the local end what one layer made.
    ///
    /// The code behind is for where there is none; the answer is the block that has what was found. Of each pattern the
    /// `suffixes` are tried in their order.
    pub fn search(&mut self, flow: &[r::Value], maps: Patterns, suffixes: &[Vec<r::Value>]) -> r::BlockId {
        let parts = self.pattern_parts(self.inst);
        let found = self.b.block("listener", &[("found".into(), maps.value)]);
        let from = maps.from.filter(|_| !self.faulty(Fault::RemoteIgnored));
        for keys in 0..1usize << parts.keys.len() {
            if let Some(cell) = from {
                self.search_from((flow, &parts, keys), (cell, maps.any), (suffixes, found));
            }
            for addresses in self.least_first(1 << parts.addresses.len()) {
                let mut key = Vec::new();
                for (at, (open, remote)) in self.opened(self.inst, &parts, (keys, addresses)).into_iter().enumerate() {
                    if !remote {
                        let ty = self.b.type_of(flow[at]);
                        key.push(if open { self.constant(ty, 0) } else { flow[at] });
                    }
                }
                self.try_keys(maps.local, &key, suffixes, found);
            }
        }
        found
    }

    /// The patterns of both ends with these local keys, in a loop: few have any.
    fn search_from(
        &mut self,
        (flow, parts, keys): (&[r::Value], &Parts, usize),
        (cell, any): (r::CellId, Option<r::CellId>),
        (suffixes, found): (&[Vec<r::Value>], r::BlockId),
    ) {
        let behind = self.b.block("local", &[]);
        if let Some(any) = any {
            let object = self.entity();
            let any = self.value(r::OpKind::Get { object, cell: any });
            let look = self.b.block("look", &[]);
            self.end(r::Terminator::Branch {
                condition: any,
                then: to(look),
                otherwise: to(behind),
                likely: Some(0.1),
            });
            self.select(look);
        }
        let bits = parts.addresses.len();
        let steps = ((1u64 << parts.remote.len()) - 1) << bits;
        let word = r::Type::U(8);
        let head = self.b.block("pattern", &[("step".into(), word)]);
        self.b.set_bound(head, steps as u32 + 1);
        let zero = self.constant(word, 0);
        self.jump(head, vec![zero]);
        self.select(head);
        let step = self.b.params(head)[0];
        let mut key = Vec::new();
        for (at, bit) in self.bits_of(self.inst, parts, keys).into_iter().enumerate() {
            let none = self.constant(self.b.type_of(flow[at]), 0);
            key.push(match bit {
                Bit::Named => flow[at],
                Bit::Open => none,
                Bit::Step(bit) => {
                    let mask = self.constant(word, 1 << bit);
                    let masked = self.value(r::OpKind::Binary { op: r::Binary::And, a: step, b: mask });
                    let c = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: masked, b: zero });
                    self.value(r::OpKind::Select { c, a: none, b: flow[at] })
                }
            });
        }
        self.try_keys(cell, &key, suffixes, found);
        let one = self.constant(word, 1);
        let next = self.value(r::OpKind::Binary { op: r::Binary::AddWrap, a: step, b: one });
        let end = self.constant(word, steps);
        let more = self.value(r::OpKind::Compare { op: r::Compare::Lt, a: next, b: end });
        let again = r::Target { block: head, args: vec![next] };
        self.end(r::Terminator::Branch { condition: more, then: again, otherwise: to(behind), likely: None });
        self.select(behind);
    }

    fn try_keys(&mut self, cell: r::CellId, key: &[r::Value], suffixes: &[Vec<r::Value>], found: r::BlockId) {
        let object = self.entity();
        for suffix in suffixes {
            let key = [key, suffix].concat();
            let absent = self.b.block("none", &[]);
            if key.is_empty() {
                // Nothing tells them apart: there is one place.
                let only = self.value(r::OpKind::Get { object, cell });
                let class = self.class_of(only);
                let null = self.value(r::OpKind::Null { class });
                let there = self.value(r::OpKind::Compare { op: r::Compare::Ne, a: only, b: null });
                let then = r::Target { block: found, args: vec![only] };
                self.end(r::Terminator::Branch { condition: there, then, otherwise: to(absent), likely: None });
            } else {
                self.end(r::Terminator::Try {
                    op: r::Fallible::Find { object, cell, key },
                    then: to(found),
                    otherwise: to(absent),
                });
            }
            self.select(absent);
        }
    }

    /// The most specific listener of a message, if there is one; the code behind is for where there is none.
    pub fn try_listeners(&mut self, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let Some(maps) = self.listener_maps(self.inst) else { return };
        let each = self.layer(self.inst).is_some_and(|layer| layer.matching != s::Matching::One);
        let places: Vec<Vec<r::Value>> = match each {
            true => (0..self.listening(self.inst).len())
                .map(|place| vec![self.constant(r::Type::U(8), place as u64)])
                .collect(),
            false => vec![Vec::new()],
        };
        let found = self.search(flow, maps, &places);
        let Some(nobody) = self.b.current() else { return };
        let locals = self.locals.clone();
        self.select(found);
        let kind = self.b.params(found)[0];
        self.give_listener(kind, message, flow, exits);
        self.select(nobody);
        self.locals = locals;
    }

    fn give_listener(&mut self, kind: r::Value, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let all = self.listening(self.inst);
        let blocks: Vec<r::BlockId> = all.iter().map(|_| self.b.block("for", &[])).collect();
        let Some(last) = blocks.last() else { return };
        let cases = blocks[..blocks.len() - 1].iter().enumerate().map(|(at, block)| (at as u64, to(*block))).collect();
        self.end(r::Terminator::Switch { value: kind, cases, default: to(*last) });
        let locals = self.locals.clone();
        for (block, (user, how)) in blocks.into_iter().zip(all) {
            self.select(block);
            self.locals = locals.clone();
            match how {
                Register::Bind => self.deliver_flow(user, message, flow.to_vec()),
                _ => self.accept(user, message, flow, true),
            }
            exits.extend(self.exit(Vec::new()));
        }
    }

    // -- entering them

    /// Into the map of listeners, or out of it.
    fn enter_listener(&mut self, user: Option<usize>, registration: Registration, key: &[r::Value]) {
        let info = self.info();
        let cell = match registration.ends {
            Ends::Local => info.listeners,
            Ends::Both => info.listeners_from.map(|cells| cells.index),
        };
        let Some(cell) = cell else { return };
        let entity = self.entity();
        let all = self.listening(self.inst);
        let each = self.layer(self.inst).is_some_and(|layer| layer.matching != s::Matching::One);
        for (place, (of, how)) in all.iter().enumerate() {
            let number = self.constant(r::Type::U(8), place as u64);
            let key = if each { [key.to_vec(), vec![number]].concat() } else { key.to_vec() };
            if registration.how == Register::Unlisten {
                if each && Some(*of) == user || !each && place == 0 {
                    self.remove(entity, cell, key);
                }
                continue;
            }
            if Some(*of) != user || *how != registration.how {
                continue;
            }
            if let (Some(cells), Ends::Both) = (info.listeners_from, registration.ends) {
                let value = self.constant(r::Type::Bool, 1);
                self.op(r::OpKind::Set { object: entity, cell: cells.any, value });
            }
            let (entered, full) = (self.b.block("entered", &[]), self.b.block("full", &[]));
            let (then, otherwise) = (to(entered), to(full));
            self.end(r::Terminator::Try {
                op: r::Fallible::Insert { object: entity, cell, key, values: vec![number] },
                then,
                otherwise,
            });
            self.select(full);
            self.count_refused();
            self.jump(entered, []);
            self.select(entered);
        }
    }

    /// Tools see how many listeners there was no room for.
    pub fn count_refused(&mut self) {
        if let Some(cell) = self.infos[self.inst].refused {
            let object = self.entity();
            let amount = self.constant(r::Type::U(32), 1);
            self.op(r::OpKind::Count { object, cell, amount });
        }
    }

    /// `listen`, `bind`, `unlisten` on the entity.
    pub fn register_on(&mut self, registration: Registration, pattern: Vec<r::Value>) {
        let inst = self.inst;
        // What listens above a router has its addresses; those below are not known by them.
        if self.inst(inst).shape() == Some(s::Shape::Router) {
            return;
        }
        if self.infos[inst].listeners.is_some() {
            let user = self.place.registering.or_else(|| self.inst(inst).users.first().copied());
            self.enter_listener(user, registration, &pattern);
            if registration.how == Register::Unlisten {
                return;
            }
        }
        let bottom = match self.inst(inst).is_multiplexor() {
            true => {
                let top = self.inst(inst).top.iter();
                let said = top.filter(|c| registration.ends == Ends::Both || !c.is_remote());
                let mine: Vec<bool> = said.map(|c| c.owner == inst).collect();
                pattern.into_iter().zip(mine).filter(|(_, mine)| !mine).map(|(value, _)| value).collect()
            }
            false => pattern,
        };
        self.register_down(registration, bottom);
    }

    /// `below.listen(…)` in code.
    pub fn register_by_hand(&mut self, how: Register, flow: &'p s::Expr) {
        let values = self.expr(flow);
        let bottom = self.inst(self.inst).bottom.clone();
        let ends = ends_of(flow);
        let said = |c: &Component| ends == Ends::Both || !c.is_remote();
        let pattern = values.iter().zip(&bottom).filter(|(_, c)| said(c)).map(|(value, _)| *value).collect();
        self.register_down(Registration { how, ends }, pattern);
    }

    /// `listen`, `bind`, `unlisten` for the layer below; only where somebody there cares.
    pub fn register_down(&mut self, registration: Registration, pattern: Vec<r::Value>) {
        if !self.inst(self.inst).lowers().iter().any(|below| self.cares_for_listeners(*below)) {
            return;
        }
        let tell = |this: &mut Self, below: usize, pattern: &[r::Value]| this.register_at(below, registration, pattern);
        self.for_lower(&pattern, tell, |_| {});
    }

    fn register_at(&mut self, below: usize, registration: Registration, pattern: &[r::Value]) {
        let inst = self.inst;
        if !self.cares_for_listeners(below) {
            return;
        }
        let how = match registration.how {
            Register::Unlisten => Register::Unlisten,
            how if self.inst(inst).uses.flow && (how == Register::Bind || !self.inst(inst).uses.sessions) => {
                Register::Bind
            }
            _ => Register::Listen,
        };
        let components = self.inst(below).top.clone();
        let ends = if components.iter().any(Component::is_remote) { registration.ends } else { Ends::Local };
        let registration = Registration { how, ends };
        let args = self.lift_to(below, pattern, ends == Ends::Local);
        let params = match ends {
            Ends::Local => self.local_params(&components),
            Ends::Both => self.flow_params(&components),
        };
        let users = self.inst(below).users.len();
        let user = (users > 1).then_some(inst);
        let event = self.event_of(&registration.name(), user);
        self.event(below, crate::lowering::On::Entity, &event, params, What::Register(registration, user));
        let class = self.infos[below].entity();
        let target = self.value(r::OpKind::Unique { class });
        self.op(r::OpKind::Emit { target, event, args });
    }
}

/// The cells of listeners.
#[derive(Default)]
pub struct Listeners {
    pub local: Option<r::CellId>,
    pub from: Option<FromCells>,
}

/// A pattern that is written out names the ends that it says; any other flow is a pattern of both.
fn ends_of(flow: &s::Expr) -> Ends {
    match &flow.kind {
        s::ExprKind::Flow { remote, .. } if remote.is_empty() => Ends::Local,
        _ => Ends::Both,
    }
}

/// When a component of a pattern is left open: never, always here, or with a bit of the step.
#[derive(Clone, Copy)]
enum Bit {
    Named,
    Open,
    Step(usize),
}
