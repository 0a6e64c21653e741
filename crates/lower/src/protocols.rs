//! Which wire follows which: the groups of a stack with the keys that it binds, for tools that read packets from
//! outside.

use mokume_reaction as r;
use mokume_semantics::constants::eval_where;
use mokume_semantics::program::{Emission, Event, Expr, ExprKind, Layer, LocalId, Name, Stmt, StmtKind, WireId};
use mokume_semantics::visit::{walk_layer, Met};

use crate::constants::{fold_one, Env};
use crate::plan::{Inst, Kind, Part};
use crate::program::any_stmt;
use crate::stack::{KeyPart, Lowering};

/// What a packet from a device may contain, layer by layer.
#[derive(Clone, Debug, Default)]
pub struct Protocols {
    pub all: Vec<Protocol>,
    /// In the order of the stack.
    pub devices: Vec<Device>,
}

/// A device of the stack.
#[derive(Clone, Debug)]
pub struct Device {
    /// The name in the stack.
    pub name: String,
    /// The protocols directly above it, as in [`Protocol::above`].
    pub above: Vec<Above>,
}

/// Layers whose headers one wire carries.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The name in the stack.
    pub name: String,
    /// `None` if it has no headers.
    pub wire: Option<r::WireId>,
    /// The wire of the text, if it is encoded by one.
    pub text: Option<WireId>,
    /// In the order of the stack, those without keys last: the first whose keys match the packet applies.
    pub above: Vec<Above>,
    /// All its layers, and those of them that are over another protocol or a device, by their names in the automaton.
    pub layers: Vec<String>,
    pub lowest: Vec<String>,
}

/// The protocol to read next, as an index into [`Protocols::all`], if all keys match the packet.
#[derive(Clone, Debug)]
pub struct Above {
    pub keys: Vec<Key>,
    pub to: usize,
}

/// A constant that a header field must have, at either end.
#[derive(Clone, Debug)]
pub struct Key {
    pub header: r::HeaderId,
    /// The first is the one that decides at who receives the packet.
    pub fields: Vec<String>,
    pub value: u64,
}

impl Lowering<'_> {
    pub(crate) fn protocols(&self) -> Protocols {
        let groups = 0..self.plan.groups.len();
        let all = groups.map(|group| self.protocol(group)).collect();
        let devices = self.plan.insts.iter().filter(|inst| matches!(inst.kind, Kind::Device(_)));
        let device = |inst: &Inst| Device { name: inst.name.clone(), above: self.above_all(&inst.users) };
        Protocols { all, devices: devices.map(device).collect() }
    }

    fn protocol(&self, group: usize) -> Protocol {
        let members = &self.plan.groups[group].members;
        let name = members.first().map_or("", |at| &self.inst(*at).name);
        let wire = members.iter().find_map(|at| self.infos[*at].coding.wire());
        let users = members.first().map_or(&[][..], |top| &self.inst(*top).users);
        let outer: Vec<usize> = users.iter().copied().filter(|user| self.inst(*user).group != Some(group)).collect();
        Protocol {
            name: name.split('.').next().unwrap_or_default().to_string(),
            wire,
            text: self.plan.groups[group].wire,
            above: self.above_all(&outer),
            layers: self.layers_of(group, |_| true),
            lowest: self.layers_of(group, |inst| {
                let belows = inst.below.iter().chain(&inst.several);
                belows.clone().any(|below| self.group_of(self.inst(*below)) != Some(group))
            }),
        }
    }

    /// A layer that only makes sessions belongs to the group that it makes them for.
    fn group_of(&self, inst: &Inst<'_>) -> Option<usize> {
        let users = || inst.users.iter().find_map(|user| self.inst(*user).group);
        inst.group.or_else(|| matches!(inst.kind, Kind::Layer(_)).then(users)?)
    }

    /// Of a family, all members.
    fn layers_of(&self, group: usize, is_one: impl Fn(&Inst<'_>) -> bool) -> Vec<String> {
        let all = self.plan.insts.iter().filter(|inst| self.group_of(inst) == Some(group) && is_one(inst));
        all.map(|inst| inst.name.clone()).collect()
    }

    /// The protocols above these layers, those that others must match first.
    fn above_all(&self, users: &[usize]) -> Vec<Above> {
        let started: Vec<Option<Started>> = users.iter().map(|user| self.started(self.inst(*user))).collect();
        // Of what several layers bind when they start, the state decides.
        let times = |keys: &Vec<Key>| {
            let all = started.iter().flatten().flat_map(|started| &started.keys);
            all.filter(|other| meet(keys, other)).count()
        };
        let mut above = Vec::new();
        for (user, started) in users.iter().zip(&started) {
            match started.as_ref().filter(|started| started.keys.iter().all(|keys| times(keys) == 1)) {
                Some(started) => {
                    above.extend(started.keys.iter().flat_map(|keys| self.above(*user, keys)));
                    if !started.is_all {
                        above.extend(self.above(*user, &[]));
                    }
                }
                None => above.extend(self.above(*user, &[])),
            }
        }
        above.sort_by_key(|above| above.keys.is_empty());
        above
    }

    /// The protocols above, with the constants that they are bound to, by the stack and when they start. A layer that
    /// only makes sessions has no part of a packet, so those above it count.
    fn above(&self, user: usize, started: &[Key]) -> Vec<Above> {
        let inst = self.inst(user);
        let Some(mut keys) = self.keys(inst) else { return Vec::new() };
        keys.extend(started.iter().cloned());
        match inst.group {
            Some(to) => vec![Above { keys, to }],
            None => {
                let behind = self.above_all(&inst.users).into_iter();
                behind.map(|above| Above { keys: [keys.clone(), above.keys].concat(), to: above.to }).collect()
            }
        }
    }

    fn keys(&self, inst: &Inst<'_>) -> Option<Vec<Key>> {
        let below = self.inst(inst.below?);
        let mut keys = Vec::new();
        for (at, constant) in &inst.bound {
            let value = fold_one(self.program, &Env::Stack, constant)?;
            keys.extend(self.key_at(below, *at, value));
        }
        Some(keys)
    }

    /// The key of a component of the flow at the top of a layer.
    fn key_at(&self, below: &Inst<'_>, at: usize, value: u64) -> Option<Key> {
        let component = below.top.get(at)?;
        let owner = component.owner;
        let own = below.top.iter().filter(|known| known.owner == owner && known.is_remote() == component.is_remote());
        let place = own.take_while(|known| known.name != component.name).count();
        self.key(owner, place, component.is_remote(), value)
    }

    /// What a layer binds when it starts, before anything can stop it, as far as that is constant; `None` if there is no
    /// such thing.
    fn started(&self, inst: &Inst<'_>) -> Option<Started> {
        let Kind::Layer(layer) = inst.kind else { return None };
        if !inst.bound.is_empty() {
            return None;
        }
        let start = layer.handlers.iter().find(|handler| matches!(handler.event, Event::Start))?;
        let mut started = Started { keys: Vec::new(), is_all: false };
        let mut read = 0;
        let binds = |kind: &StmtKind| matches!(kind, StmtKind::Emit(Emission::Bind { .. }));
        let leaves = |kind: &StmtKind| matches!(kind, StmtKind::Return { .. });
        for statement in &start.body {
            if let Some(keys) = self.bound_by(inst, statement) {
                started.keys.extend(keys);
                read += 1;
            } else if any_stmt([std::slice::from_ref(statement)], &|kind| binds(kind) || leaves(kind)) {
                break;
            }
        }
        let (all, is_undone) = registrations(layer);
        started.is_all = read == all;
        Some(started).filter(|started| !started.keys.is_empty() && !is_undone)
    }

    /// The keys of `below.bind(…)`, or of a loop that counts and binds nothing else; `None` of any other statement, and
    /// where something is not constant.
    fn bound_by(&self, inst: &Inst<'_>, statement: &Stmt) -> Option<Vec<Vec<Key>>> {
        /// A loop that binds more is not read.
        const MOST: u64 = 256;
        match &statement.kind {
            StmtKind::Emit(Emission::Bind { flow }) => Some(vec![self.pattern(inst, flow, None)?]),
            StmtKind::For { local, from, to, limit, body } => {
                let [Stmt { kind: StmtKind::Emit(Emission::Bind { flow }), .. }] = body.as_slice() else { return None };
                let number = |expr: &Expr| fold_one(self.program, &inst.env, expr);
                let (from, to, limit) = (number(from)?, number(to)?, number(limit)?);
                let rounds = to.saturating_sub(from);
                (rounds <= limit.min(MOST)).then_some(())?;
                (from..to).map(|count| self.pattern(inst, flow, Some((*local, count)))).collect()
            }
            _ => None,
        }
    }

    /// The keys of a pattern of flows that has nothing but constant keys.
    fn pattern(&self, inst: &Inst<'_>, flow: &Expr, counter: Option<(LocalId, u64)>) -> Option<Vec<Key>> {
        let ExprKind::Flow { local, remote, .. } = &flow.kind else { return None };
        let below = self.inst(inst.below?);
        let ends = [(local, Part::Local), (remote, Part::Remote)];
        let parts = ends.into_iter().flat_map(|(parts, side)| parts.iter().map(move |part| (part, side)));
        let mut keys = Vec::new();
        for ((name, value), side) in parts {
            let is_it = |name: &Option<Name>, known: &crate::plan::Component| {
                let is_side = known.is_remote() == (side == Part::Remote);
                is_side && name.as_ref().is_none_or(|name| name.text == known.name)
            };
            let mut fitting = below.top.iter().enumerate().filter(|(_, known)| is_it(name, known));
            let ((at, component), None) = (fitting.next()?, fitting.next()) else { return None };
            let value = match counter {
                Some(counter) => eval_where(self.program, &inst.env, counter, value).ok()?.scalar()?,
                None => fold_one(self.program, &inst.env, value)?,
            };
            // 0 is any.
            (!component.address && value != 0).then_some(())?;
            keys.push(self.key_at(below, at, value)?);
        }
        (!keys.is_empty()).then_some(keys)
    }

    fn key(&self, owner: usize, place: usize, is_remote: bool, value: u64) -> Option<Key> {
        let info = &self.infos[owner];
        let decides = if is_remote { KeyPart::Source } else { KeyPart::Destination };
        let parts = info.fields.first()?.iter().filter_map(|field| Some((field.key?, &field.name)));
        let mut found: Vec<(bool, &String)> = parts
            .filter(|((_, at), _)| *at == place)
            .map(|((part, _), name)| (part != decides && part != KeyPart::Both, name))
            .collect();
        found.sort_by_key(|(is_others, _)| *is_others);
        let fields: Vec<String> = found.into_iter().map(|(_, name)| name.clone()).collect();
        (!fields.is_empty()).then_some(Key { header: info.header?, fields, value })
    }
}

/// What a layer binds when it starts.
struct Started {
    /// For each `bind` its keys.
    keys: Vec<Vec<Key>>,
    /// Whether the layer registers for nothing else.
    is_all: bool,
}

/// Whether some packet can match both.
fn meet(one: &[Key], other: &[Key]) -> bool {
    let differ = |a: &Key, b: &Key| (a.header, &a.fields) == (b.header, &b.fields) && a.value != b.value;
    !one.iter().any(|a| other.iter().any(|b| differ(a, b)))
}

/// How many statements of a layer register for something, and whether some take it back.
fn registrations(layer: &Layer) -> (usize, bool) {
    let (mut all, mut is_undone) = (0, false);
    walk_layer(layer, &mut |met| {
        let Met::Stmt(Stmt { kind: StmtKind::Emit(emission), .. }) = met else { return };
        all += usize::from(matches!(emission, Emission::Bind { .. } | Emission::Listen { .. } | Emission::Open { .. }));
        is_undone |= matches!(emission, Emission::Unlisten { .. });
    });
    (all, is_undone)
}
