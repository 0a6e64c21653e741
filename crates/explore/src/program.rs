//! The automaton with every name resolved: which handler receives an emission, on which channel, and which types hold
//! references.

use std::sync::Arc;

use mokume_reaction::{
    Addressee, Automaton, Body, CellId, CellKind, ClassId, Emission, Fallible, HandlerId, LayerId, OpKind, PortId,
    Trigger, Type,
};

use crate::world::{Random, Unfit, World};

pub(crate) struct Program {
    pub automaton: Arc<Automaton>,
    pub world: World,
    /// Parameter values, by host, then by parameter.
    pub params: Vec<Vec<u64>>,
    pub classes: Vec<ClassInfo>,
    /// By handler, then by procedure ([`Automaton::code`]); within each, by block.
    pub links: Vec<Vec<BlockLinks>>,
    /// The number of the first block, in the same order, for coverage. The last entry is the number of blocks.
    pub first_block: Vec<usize>,
    /// The place of a procedure in that order, by function; `None` for other functions.
    pub procedures: Vec<Option<usize>>,
    pub channels: usize,
    /// Whether some handler asks for packets as they were received.
    pub remembers: bool,
    pub device_input: (PortId, usize),
    pub device_output: (PortId, u32),
    pub send: (PortId, usize),
    pub deliver: (PortId, u32),
    pub credit: Option<(PortId, u32)>,
}

pub(crate) struct ClassInfo {
    pub is_unique: bool,
    pub start: Option<HandlerId>,
    pub settle: Option<HandlerId>,
    pub settle_limit: u32,
    pub expiry: Vec<Option<HandlerId>>,
    pub children: Vec<ClassId>,
    pub cells: Vec<CellKind>,
    pub capacity: usize,
}

#[derive(Default)]
pub(crate) struct BlockLinks {
    /// By operation; only emissions have a link.
    pub emits: Vec<Option<Link>>,
    pub later: Option<HandlerId>,
}

#[derive(Clone, Copy)]
pub(crate) struct Link {
    /// The receiving handler; `None`: the emission goes to a port, or to nothing.
    pub handler: Option<HandlerId>,
    pub channel: usize,
}

impl Program {
    /// Resolves the automaton against a world. `Err` says why they do not fit: an unknown port or event, random
    /// numbers, functions in C without a model, or too many hosts.
    pub fn new(automaton: Arc<Automaton>, world: &World) -> Result<Program, Unfit> {
        let a = &*automaton;
        refuse_outside(a, world.random == Random::Refused)?;
        if world.hosts == 0 || world.hosts > crate::layout::MOST_HOSTS {
            return Err(Unfit(format!("{} hosts: 1 to {} can be explored", world.hosts, crate::layout::MOST_HOSTS)));
        }
        let network = &world.network;
        let application = &world.application;
        let mut first_block = vec![0];
        a.code().for_each(|(_, body)| first_block.push(first_block[first_block.len() - 1] + body.blocks.len()));
        let mut place = a.handlers.len()..;
        Ok(Program {
            params: (0..world.hosts).map(|host| params(a, world, host)).collect(),
            classes: (0..a.classes.len()).map(|class| class_info(a, ClassId::from(class))).collect(),
            links: a.code().map(|(layer, body)| links(a, body, layer)).collect(),
            first_block,
            procedures: a.functions.iter().map(|function| function.procedure().and_then(|_| place.next())).collect(),
            channels: a.layers.len() * (a.layers.len() + a.ports.len()),
            remembers: !a.asked_for().is_empty(),
            device_input: input(a, &network.port, &network.input)?,
            device_output: output(a, &network.port, &network.output)?,
            send: input(a, &application.port, &application.send)?,
            deliver: output(a, &application.port, &application.deliver)?,
            credit: match &application.credit {
                Some((_, event)) => Some(output(a, &application.port, event)?),
                None => None,
            },
            world: world.clone(),
            automaton,
        })
    }

    /// The number of blocks of all handlers and procedures.
    pub fn blocks(&self) -> usize {
        self.first_block[self.first_block.len() - 1]
    }

    /// The bits of a value of the type; 0 for references, messages and reasons, which are not numbers.
    pub fn width(&self, ty: Type) -> u8 {
        ty.width(&self.automaton)
    }

    /// The handler of an input, given by its place in its port.
    pub fn input_handler(&self, (port, event): (PortId, usize)) -> Option<HandlerId> {
        let input = &self.automaton.ports[port.index()].inputs[event];
        self.automaton.handler_of(input.class, &Trigger::Event(input.handler.clone()))
    }
}

pub(crate) fn mask(width: u8) -> u64 {
    match width {
        0 | 64.. => u64::MAX,
        bits => (1 << bits) - 1,
    }
}

/// Refuses functions in C, which cannot be explored, and random numbers unless the world defines them.
fn refuse_outside(automaton: &Automaton, samples: bool) -> Result<(), Unfit> {
    for op in automaton.code().flat_map(|(_, body)| body.ops()) {
        if samples && matches!(op.kind, OpKind::Sample { .. }) {
            return Err(Unfit("the stack draws random numbers; say what they are".to_string()));
        }
        if let OpKind::Native { symbol, .. } = &op.kind {
            let text = format!("the stack calls `{symbol}`, which is C; lower it with models");
            return Err(Unfit(text));
        }
    }
    Ok(())
}

fn port_named(automaton: &Automaton, name: &str) -> Result<PortId, Unfit> {
    automaton.port_named(name).ok_or_else(|| Unfit(format!("the stack has no port `{name}`")))
}

pub(crate) fn input(automaton: &Automaton, port: &str, event: &str) -> Result<(PortId, usize), Unfit> {
    let id = port_named(automaton, port)?;
    let found = automaton.ports[id.index()].inputs.iter().position(|input| input.event == event);
    found.map(|event| (id, event)).ok_or_else(|| Unfit(format!("the port `{port}` has no input `{event}`")))
}

fn output(automaton: &Automaton, port: &str, event: &str) -> Result<(PortId, u32), Unfit> {
    let id = port_named(automaton, port)?;
    let found = automaton.ports[id.index()].outputs.iter().position(|output| output.event == event);
    found.map(|event| (id, event as u32)).ok_or_else(|| Unfit(format!("the port `{port}` has no output `{event}`")))
}

pub(crate) fn params(automaton: &Automaton, world: &World, host: usize) -> Vec<u64> {
    let own = world.params_of.get(host).map_or(&[][..], |params| params);
    let named = |name: &str| own.iter().chain(&world.params).find(|(known, _)| known == name).map(|(_, value)| *value);
    let value = |param: &mokume_reaction::Param| {
        named(&param.name).or(param.default).unwrap_or(0) & mask(param.ty.width(automaton))
    };
    automaton.params.iter().map(value).collect()
}

fn class_info(automaton: &Automaton, id: ClassId) -> ClassInfo {
    let class = automaton.class(id);
    let expiry = |cell: usize| automaton.handler_of(id, &Trigger::Expiry(CellId::from(cell)));
    let is_child = |place: &usize| automaton.classes[*place].parent == Some(id);
    ClassInfo {
        is_unique: automaton.is_unique(id),
        start: automaton.handler_of(id, &Trigger::Start),
        settle: automaton.handler_of(id, &Trigger::Settle),
        settle_limit: class.settle_limit.unwrap_or(1).max(1),
        expiry: (0..class.cells.len()).map(expiry).collect(),
        children: (0..automaton.classes.len()).filter(is_child).map(ClassId::from).collect(),
        cells: class.cells.iter().map(|cell| cell.kind.clone()).collect(),
        capacity: class.capacity as usize,
    }
}

fn links(automaton: &Automaton, body: &Body, from: LayerId) -> Vec<BlockLinks> {
    let class_of = |target: Addressee| automaton.class_for(body, target);
    let resolve = |target: Addressee, event: &str| {
        class_of(target).and_then(|class| automaton.handler_of(class, &Trigger::Event(event.to_string())))
    };
    let receivers = automaton.layers.len() + automaton.ports.len();
    let from = from.index() * receivers;
    let link = |op: &mokume_reaction::Op| match op.kind.emission()? {
        Emission::Event { target, event, .. } => {
            let layer = class_of(target).map_or(0, |class| automaton.class(class).layer.index());
            Some(Link { handler: resolve(target, event), channel: from + layer })
        }
        Emission::Output { port, .. } => {
            Some(Link { handler: None, channel: from + automaton.layers.len() + port.index() })
        }
    };
    let later = |op: &Fallible| match op.emission()? {
        Emission::Event { target, event, .. } => resolve(target, event),
        Emission::Output { .. } => None,
    };
    let block = |block: &mokume_reaction::Block| BlockLinks {
        emits: block.ops.iter().map(link).collect(),
        later: block.terminator.attempt().and_then(later),
    };
    body.blocks.iter().map(block).collect()
}
