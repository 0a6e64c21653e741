//! Which wire follows which: the groups of a stack with the keys that it binds, for tools that read packets from
//! outside.

use mokume_reaction as r;

use crate::constants::{fold_one, Env};
use crate::plan::{Inst, Kind};
use crate::stack::{KeyPart, Lowering};

/// What a packet from a device may contain, layer by layer.
#[derive(Clone, Debug, Default)]
pub struct Protocols {
    pub all: Vec<Protocol>,
    /// The protocols directly above a device.
    pub first: Vec<Above>,
}

/// Layers whose headers one wire carries.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The name in the stack.
    pub name: String,
    /// `None` if it has no headers.
    pub wire: Option<r::WireId>,
    /// In the order of the stack: the first whose keys match the packet applies.
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
    pub fields: Vec<String>,
    pub value: u64,
}

impl Lowering<'_> {
    pub(crate) fn protocols(&self) -> Protocols {
        let groups = 0..self.plan.groups.len();
        let all = groups.map(|group| self.protocol(group)).collect();
        let devices = self.plan.insts.iter().filter(|inst| matches!(inst.kind, Kind::Device(_)));
        let first = devices.flat_map(|device| &device.users).map(|user| self.above(*user)).collect::<Vec<_>>().concat();
        Protocols { all, first }
    }

    fn protocol(&self, group: usize) -> Protocol {
        let members = &self.plan.groups[group].members;
        let name = members.first().map_or("", |at| &self.inst(*at).name);
        let wire = members.iter().find_map(|at| self.infos[*at].coding.wire());
        let users = members.first().map_or(&[][..], |top| &self.inst(*top).users);
        let above = users.iter().filter(|user| self.inst(**user).group != Some(group));
        Protocol {
            name: name.split('.').next().unwrap_or_default().to_string(),
            wire,
            above: above.flat_map(|user| self.above(*user)).collect(),
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

    /// The protocols above, with the constants that they are bound to. A layer that only makes sessions has no part of
    /// a packet, so those above it count.
    fn above(&self, user: usize) -> Vec<Above> {
        let inst = self.inst(user);
        let Some(keys) = self.keys(inst) else { return Vec::new() };
        match inst.group {
            Some(to) => vec![Above { keys, to }],
            None => {
                let behind = inst.users.iter().flat_map(|user| self.above(*user));
                behind.map(|above| Above { keys: [keys.clone(), above.keys].concat(), to: above.to }).collect()
            }
        }
    }

    fn keys(&self, inst: &Inst<'_>) -> Option<Vec<Key>> {
        let below = self.inst(inst.below?);
        let mut keys = Vec::new();
        for (at, constant) in &inst.bound {
            let component = below.top.get(*at)?;
            let owner = component.owner;
            let own =
                below.top.iter().filter(|known| known.owner == owner && known.is_remote() == component.is_remote());
            let place = own.take_while(|known| known.name != component.name).count();
            let value = fold_one(self.program, &Env::Stack, constant)?;
            keys.extend(self.key(owner, place, value));
        }
        Some(keys)
    }

    fn key(&self, owner: usize, place: usize, value: u64) -> Option<Key> {
        let info = &self.infos[owner];
        let is_part = |part: &Option<(KeyPart, usize)>| part.is_some_and(|(_, at)| at == place);
        let fields: Vec<String> =
            info.fields.first()?.iter().filter(|field| is_part(&field.key)).map(|field| field.name.clone()).collect();
        (!fields.is_empty()).then_some(Key { header: info.header?, fields, value })
    }
}
