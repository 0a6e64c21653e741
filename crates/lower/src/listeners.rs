//! Listeners: who hears what nobody has a session for. A listener is a pattern over local and remote addresses and keys
//! (docs/language.md, section 6).
//!
//! Invariant: of the patterns that a flow matches the most specific that is registered is found first; those that name
//! nothing of the remote end are in one map, the others in another, which is looked into only after one was registered.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::fault::Fault;
use crate::frame::{to, Ends, Exit, Frame, Register, Registration};
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

/// What a listener may have registered to hear of a flow.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub ends: Ends,
    pub key: Vec<r::Value>,
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

    // -- the order of patterns

    /// The patterns that hear of a flow, the most specific first: with the local keys before with any, then with more of
    /// the remote end, then with the local addresses before at any. Of the remote end the addresses stand or fall
    /// together, and so do the keys; of the local end what one layer made.
    pub fn patterns(&mut self, f: &mut Frame<'p>, flow: &[r::Value], from: bool) -> Vec<Pattern> {
        let components = self.inst(f.inst).top.clone();
        let local = local_makers(&components);
        let remote = remote_makers(&components);
        let keys: usize = (0..local.len()).filter(|bit| !local[*bit].0).map(|bit| 1 << bit).sum();
        let any_remote = (1usize << remote.len()) - 1;
        let mut sets: Vec<(usize, usize)> =
            (0..1usize << local.len()).flat_map(|l| (0..=any_remote).map(move |r| (l, r))).collect();
        let from = from && !self.faulty(Fault::RemoteIgnored);
        sets.retain(|(_, of_remote)| from || *of_remote == any_remote);
        sets.sort_by_key(|(l, r)| {
            let (key, address) = (l & keys, l & !keys);
            (key.count_ones(), key, r.count_ones(), *r, address.count_ones(), address)
        });
        let mut patterns = Vec::new();
        for (of_local, of_remote) in sets {
            let ends = if of_remote == any_remote { Ends::Local } else { Ends::Both };
            let mut key = Vec::new();
            for (at, component) in components.iter().enumerate() {
                let open = match component.is_remote() {
                    true if ends == Ends::Local => continue,
                    true => {
                        remote.iter().position(|address| *address == component.address).map(|bit| of_remote >> bit & 1)
                    }
                    false => {
                        let maker = (component.address, component.owner);
                        local.iter().position(|known| *known == maker).map(|bit| of_local >> bit & 1)
                    }
                };
                let ty = f.b.type_of(flow[at]);
                key.push(if open == Some(1) { f.constant(&self.a, ty, 0) } else { flow[at] });
            }
            patterns.push(Pattern { ends, key });
        }
        if self.faulty(Fault::ListenerOrder) {
            patterns.reverse();
        }
        patterns
    }

    // -- finding them

    /// The most specific listener of a message, if there is one; the code behind is for where there is none.
    pub fn try_listeners(&mut self, f: &mut Frame<'p>, message: r::Value, flow: &[r::Value], exits: &mut Vec<Exit>) {
        let info = self.info(f.inst);
        let Some(cell) = info.listeners else { return };
        let from = info.listeners_from;
        let each = self.layer(f.inst).is_some_and(|layer| layer.matching != s::Matching::One);
        let places = if each { self.listening(f.inst).len() } else { 1 };
        let entity = self.entity(f);
        let found = f.b.block("listener", &[("kind".into(), r::Type::U(8))]);
        let patterns = self.patterns(f, flow, from.is_some());
        for run in patterns.chunk_by(|a, b| a.ends == b.ends) {
            let cells = from.filter(|_| run[0].ends == Ends::Both);
            let behind = cells.map(|cells| {
                let any = f.value(&self.a, r::OpKind::Get { object: entity, cell: cells.any });
                let (look, behind) = f.branch(any, Some(0.1), "look", "local");
                f.select(look);
                behind
            });
            for pattern in run {
                for place in 0..places {
                    let mut key = pattern.key.clone();
                    if each {
                        key.push(f.constant(&self.a, r::Type::U(8), place as u64));
                    }
                    let absent = f.b.block("none", &[]);
                    let cell = cells.map_or(cell, |cells| cells.index);
                    f.end(r::Terminator::Find { object: entity, cell, key, then: to(found), otherwise: to(absent) });
                    f.select(absent);
                }
            }
            if let Some(behind) = behind {
                f.jump(behind, []);
                f.select(behind);
            }
        }
        let Some(nobody) = f.b.current() else { return };
        let locals = f.locals.clone();
        f.select(found);
        let kind = f.b.params(found)[0];
        self.give_listener(f, kind, message, flow, exits);
        f.select(nobody);
        f.locals = locals;
    }

    fn give_listener(
        &mut self,
        f: &mut Frame<'p>,
        kind: r::Value,
        message: r::Value,
        flow: &[r::Value],
        exits: &mut Vec<Exit>,
    ) {
        let all = self.listening(f.inst);
        let blocks: Vec<r::BlockId> = all.iter().map(|_| f.b.block("for", &[])).collect();
        let Some(last) = blocks.last() else { return };
        let cases = blocks[..blocks.len() - 1].iter().enumerate().map(|(at, block)| (at as u64, to(*block))).collect();
        f.end(r::Terminator::Switch { value: kind, cases, default: to(*last) });
        let locals = f.locals.clone();
        for (block, (user, how)) in blocks.into_iter().zip(all) {
            f.select(block);
            f.locals = locals.clone();
            match how {
                Register::Bind => self.deliver_flow(f, user, message, flow.to_vec()),
                _ => self.accept(f, user, message, flow, true),
            }
            exits.extend(f.exit(Vec::new()));
        }
    }

    // -- entering them

    /// Into the map of listeners, or out of it.
    fn enter_listener(&mut self, f: &mut Frame<'p>, user: Option<usize>, registration: Registration, key: &[r::Value]) {
        let info = self.info(f.inst);
        let cell = match registration.ends {
            Ends::Local => info.listeners,
            Ends::Both => info.listeners_from.map(|cells| cells.index),
        };
        let Some(cell) = cell else { return };
        let entity = self.entity(f);
        let all = self.listening(f.inst);
        let each = self.layer(f.inst).is_some_and(|layer| layer.matching != s::Matching::One);
        for (place, (of, how)) in all.iter().enumerate() {
            let number = f.constant(&self.a, r::Type::U(8), place as u64);
            let key = if each { [key.to_vec(), vec![number]].concat() } else { key.to_vec() };
            if registration.how == Register::Unlisten {
                if each && Some(*of) == user || !each && place == 0 {
                    self.remove(f, entity, cell, key);
                }
                continue;
            }
            if Some(*of) != user || *how != registration.how {
                continue;
            }
            if let (Some(cells), Ends::Both) = (info.listeners_from, registration.ends) {
                let value = f.constant(&self.a, r::Type::Bool, 1);
                f.op(&self.a, r::OpKind::Set { object: entity, cell: cells.any, value });
            }
            let (entered, full) = (f.b.block("entered", &[]), f.b.block("full", &[]));
            let (then, otherwise) = (to(entered), to(full));
            f.end(r::Terminator::Insert { object: entity, cell, key, values: vec![number], then, otherwise });
            f.select(full);
            self.count_refused(f);
            f.jump(entered, []);
            f.select(entered);
        }
    }

    pub fn refused_cell(&mut self, info: &mut Info) {
        if info.refused.is_none() {
            info.refused = Some(self.cell(info.entity(), "refused_listeners", r::CellKind::Counter, false, None));
        }
    }

    /// Tools see how many listeners there was no room for.
    pub fn count_refused(&mut self, f: &mut Frame<'p>) {
        if let Some(cell) = self.infos[f.inst].refused {
            let object = self.entity(f);
            let amount = f.constant(&self.a, r::Type::U(32), 1);
            f.op(&self.a, r::OpKind::Count { object, cell, amount });
        }
    }

    /// `listen`, `bind`, `unlisten` on the entity.
    pub fn register_on(&mut self, f: &mut Frame<'p>, registration: Registration, pattern: Vec<r::Value>) {
        let inst = f.inst;
        if self.infos[inst].listeners.is_some() {
            let user = f.place.registering.or_else(|| self.inst(inst).users.first().copied());
            self.enter_listener(f, user, registration, &pattern);
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
        self.register_down(f, registration, bottom);
    }

    /// `below.listen(…)` in code.
    pub fn register_by_hand(&mut self, f: &mut Frame<'p>, how: Register, flow: &'p s::Expr) {
        let values = self.expr(f, flow);
        let bottom = self.inst(f.inst).bottom.clone();
        let ends = ends_of(flow);
        let said = |c: &Component| ends == Ends::Both || !c.is_remote();
        let pattern = values.iter().zip(&bottom).filter(|(_, c)| said(c)).map(|(value, _)| *value).collect();
        self.register_down(f, Registration { how, ends }, pattern);
    }

    /// `listen`, `bind`, `unlisten` for the layer below; only where somebody there cares.
    pub fn register_down(&mut self, f: &mut Frame<'p>, registration: Registration, pattern: Vec<r::Value>) {
        if !self.inst(f.inst).lowers().iter().any(|below| self.cares_for_listeners(*below)) {
            return;
        }
        let tell = |this: &mut Self, f: &mut Frame<'p>, below: usize, pattern: &[r::Value]| {
            this.register_at(f, below, registration, pattern)
        };
        self.for_lower(f, &pattern, tell, |_, _| {});
    }

    fn register_at(&mut self, f: &mut Frame<'p>, below: usize, registration: Registration, pattern: &[r::Value]) {
        let inst = f.inst;
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
        let args = self.lift_to(f, below, pattern, ends == Ends::Local);
        let params = match ends {
            Ends::Local => self.local_params(&components),
            Ends::Both => self.flow_params(&components),
        };
        let users = self.inst(below).users.len();
        let user = (users > 1).then_some(inst);
        let event = self.event_of(&registration.name(), user);
        self.event(below, crate::lowering::On::Entity, &event, params, What::Register(registration, user));
        let class = self.infos[below].entity();
        let target = f.value(&self.a, r::OpKind::Unique { class });
        f.op(&self.a, r::OpKind::Emit { target, event, args });
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

/// Whether it made an address, and who it is: of each layer with a part of the local end, addresses before keys.
fn local_makers(components: &[Component]) -> Vec<(bool, usize)> {
    let local = components.iter().filter(|c| !c.is_remote());
    let mut makers: Vec<(bool, usize)> = local.map(|c| (!c.address, c.owner)).collect();
    makers.sort_unstable();
    makers.dedup();
    makers.truncate(MOST_OPEN);
    makers.into_iter().map(|(key, owner)| (!key, owner)).collect()
}

/// Keys, then addresses: which of the two the remote end has.
fn remote_makers(components: &[Component]) -> Vec<bool> {
    let mut makers: Vec<bool> = components.iter().filter(|c| c.is_remote()).map(|c| c.address).collect();
    makers.sort_unstable();
    makers.dedup();
    makers
}
