//! The next-state function, compiled on demand: a table from (a host's state, an event) to its next state and packets.
//!
//! A host has far fewer states than the world, and a reaction depends on its host alone. So each reaction runs once,
//! however many states of the world it occurs in, and the search itself only looks up. Exact: hosts and packets are
//! numbered by their content, never by a hash.

use std::collections::HashMap;

use mokume_reaction::{ClassId, Type};

use crate::channels::Channels;
use crate::host::{Host, Tables, ENDED, NULL};
use crate::outcome::Property;
use crate::program::Program;
use crate::react::{react, Arg, Effect, Input, Out};
use crate::world::{Timers, Unfit};

/// The result of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub to: u32,
    /// The number of packets sent. If 1, `out` is the packet's number; if more, their place in [`Locals::outs`].
    pub count: u32,
    pub out: u32,
    /// A place in [`Locals::faults`], plus one; 0: no fault.
    pub fault: u32,
}

const UNKNOWN: Transition = Transition { to: u32::MAX, count: 0, out: 0, fault: 0 };

/// The events of a host, numbered: its send, its armed timers in order, then packets by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LocalEvent {
    Send,
    Expire(u32),
    Packet(u32),
}

pub(crate) struct Info {
    pub timers: u32,
    pub may_send: bool,
    pub is_done: bool,
    row: Vec<Transition>,
}

/// Something forbidden, found in one reaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub property: Property,
    pub text: String,
}

pub(crate) struct Locals {
    pub program: Program,
    pub tables: Tables,
    pub channels: Channels,
    pub duplicates: bool,
    pub loses: bool,
    pub is_patient: bool,
    pub covered: Vec<bool>,
    pub info: Vec<Info>,
    pub outs: Vec<u32>,
    pub faults: Vec<Fault>,
    packed: Vec<Box<[u64]>>,
    numbers: HashMap<Box<[u64]>, u32>,
}

/// The hosts after their start, and the packets that they sent meanwhile.
pub(crate) struct Beginning {
    pub hosts: Vec<u32>,
    pub packets: Vec<Vec<u32>>,
}

impl Locals {
    /// Tables for a program, without hosts. The first fault is a full channel.
    pub fn new(program: Program) -> Self {
        let blocks = program.blocks();
        Locals {
            channels: Channels::new(program.world.network.capacity, program.world.network.reorders),
            duplicates: program.world.network.duplicates,
            loses: program.world.network.loses,
            is_patient: program.world.timers == Timers::Patient,
            program,
            tables: Tables::default(),
            covered: vec![false; blocks],
            info: Vec::new(),
            outs: Vec::new(),
            // The first fault is `moves::NO_ROOM`.
            faults: vec![Fault {
                property: Property::Room,
                text: "a packet is put out, and its channel is full".to_string(),
            }],
            packed: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The approximate size in bytes of what the hosts' numbers stand for.
    pub fn bytes(&self) -> usize {
        let packed: usize = self.packed.iter().map(|words| words.len() * 16 + 64).sum();
        let row = |info: &Info| info.row.capacity() * size_of::<Transition>() + size_of::<Info>();
        let rows: usize = self.info.iter().map(row).sum();
        packed + rows + self.outs.capacity() * 4 + self.channels.bytes()
    }

    /// Starts every host, without a network between them. `Err` if the world's start names an event that the stack does
    /// not have, or if a fault occurs there: then exploring the world is pointless.
    pub fn begin(&mut self) -> Result<Beginning, Unfit> {
        let mut beginning = Beginning { hosts: Vec::new(), packets: Vec::new() };
        for number in 0..self.program.world.hosts {
            let mut host = Host::new(&self.program, number);
            let mut packets = Vec::new();
            for input in inputs_at_start(&self.program, number)? {
                let input = input(&host);
                let (next, effect, fault) = self.step(host, &input);
                if let Some(fault) = fault {
                    return Err(Unfit(format!("at the start: {}", fault.text)));
                }
                packets.extend(self.packets_of(&effect));
                host = next;
            }
            beginning.hosts.push(self.number_of(&host));
            beginning.packets.push(packets);
        }
        Ok(beginning)
    }

    /// The host with this number. Panics if there is none.
    pub fn host(&self, number: u32) -> Host {
        Host::unpack(&self.program, &self.packed[number as usize])
    }

    /// The table's entry; computed at the first look-up.
    #[inline]
    pub fn transition(&mut self, local: u32, event: LocalEvent) -> Transition {
        let info = &self.info[local as usize];
        let place = match event {
            LocalEvent::Send => 0,
            LocalEvent::Expire(timer) => 1 + timer,
            LocalEvent::Packet(packet) => 1 + info.timers + packet,
        } as usize;
        match info.row.get(place) {
            Some(known) if known.to != UNKNOWN.to => *known,
            _ => self.compile(local, event, place),
        }
    }

    fn compile(&mut self, local: u32, event: LocalEvent, place: usize) -> Transition {
        let host = self.host(local);
        let input = self.input(&host, event);
        let (next, effect, fault) = self.step(host, &input);
        let packets = self.packets_of(&effect);
        let (count, mut out) = (packets.len() as u32, self.outs.len() as u32);
        match packets[..] {
            [only] => out = only,
            _ => self.outs.extend(packets),
        }
        let fault = fault.map_or(0, |fault| {
            self.faults.push(fault);
            self.faults.len() as u32
        });
        let to = self.number_of(&next);
        let transition = Transition { to, count, out, fault };
        let row = &mut self.info[local as usize].row;
        if row.len() <= place {
            row.resize(place + 1, UNKNOWN);
        }
        row[place] = transition;
        transition
    }

    /// The event as the host sees it.
    pub fn input(&self, host: &Host, event: LocalEvent) -> Input {
        match event {
            LocalEvent::Send => send(&self.program, host),
            LocalEvent::Expire(timer) => {
                let (class, place, cell) = host.armed()[timer as usize];
                Input::Expiry(class, place, cell)
            }
            LocalEvent::Packet(packet) => packet_input(&self.program, self.tables.packets.get(packet).clone()),
        }
    }

    /// Runs a reaction, and the application's response to it.
    pub fn step(&mut self, host: Host, input: &Input) -> (Host, Effect, Option<Fault>) {
        step(&self.program, &mut self.tables, &mut self.covered, host, input)
    }

    fn packets_of(&mut self, effect: &Effect) -> Vec<u32> {
        packets_of(&self.program, effect).into_iter().map(|packet| self.tables.packets.number(packet)).collect()
    }

    fn number_of(&mut self, host: &Host) -> u32 {
        let packed = host.pack(&self.program);
        if let Some(number) = self.numbers.get(&packed) {
            return *number;
        }
        let number = self.packed.len() as u32;
        self.info.push(Info {
            timers: host.armed().len() as u32,
            may_send: may_send(&self.program, host),
            is_done: host.is_done(&self.program),
            row: Vec::new(),
        });
        self.packed.push(packed.clone());
        self.numbers.insert(packed, number);
        number
    }
}

/// Runs a reaction, and the application's response to it.
pub(crate) fn step(
    program: &Program,
    tables: &mut Tables,
    covered: &mut Vec<bool>,
    mut host: Host,
    input: &Input,
) -> (Host, Effect, Option<Fault>) {
    if is_send(program, input) {
        host.application.sent += 1;
        host.application.credit -= 1;
    }
    let (mut host, effect) = react(program, tables, covered, host, input);
    let mut fault = effect.diverges.then(|| Fault {
        property: Property::Rest,
        text: format!("a reaction of {} does not end", crate::World::host_name(host.number)),
    });
    if let Some(report) = effect.reports.first() {
        let text = format!("{} reports {report}", crate::World::host_name(host.number));
        fault = fault.or(Some(Fault { property: Property::Reports, text }));
    }
    for out in effect.outs.iter().filter(|out| out.port == program.send.0) {
        fault = fault.or(receive(program, &mut host, out));
    }
    (host, effect, fault)
}

fn is_send(program: &Program, input: &Input) -> bool {
    matches!(input, Input::Port { port, event, .. } if (*port, *event) == program.send)
}

/// The application takes an output: a message, in order or not, or more credit.
fn receive(program: &Program, host: &mut Host, out: &Out) -> Option<Fault> {
    if program.credit == Some((out.port, out.event)) {
        host.application.credit += 1;
        return None;
    }
    if program.deliver != (out.port, out.event) {
        return None;
    }
    let payload = out.args.iter().find_map(|arg| match arg {
        Arg::Message(octets) => Some(octets),
        _ => None,
    })?;
    let me = crate::World::host_name(host.number);
    let text = match program.world.message_of(payload) {
        None => format!("{me} is given a message that nobody sent"),
        Some((from, number)) => {
            let expected = host.application.received[from];
            if number as u64 == expected {
                host.application.received[from] += 1;
                return None;
            }
            let name = crate::World::message_name(from, number);
            match expected {
                0 => format!("{me} is given {name} first"),
                _ => {
                    let last = crate::World::message_name(from, expected as usize - 1);
                    format!("{me} is given {name} after {last}")
                }
            }
        }
    };
    Some(Fault { property: Property::Order, text: format!("{text}: not a prefix of what was sent") })
}

pub(crate) fn packets_of(program: &Program, effect: &Effect) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for out in effect.outs.iter().filter(|out| (out.port, out.event) == program.device_output) {
        for arg in &out.args {
            if let Arg::Message(octets) = arg {
                packets.push(octets.clone());
            }
        }
    }
    packets
}

pub(crate) fn may_send(program: &Program, host: &Host) -> bool {
    let client = &host.application;
    let input = &program.automaton.ports[program.send.0.index()].inputs[program.send.1];
    let has_object = program.classes[input.class.index()].is_unique
        || client.handle.is_some_and(|(class, object)| class == input.class && object != NULL && object != ENDED);
    has_object && client.credit > 0 && client.sent < program.world.messages_of(host.number) as u64
}

pub(crate) fn send(program: &Program, host: &Host) -> Input {
    let (port, event) = program.send;
    let payload = program.world.payload(host.number, host.application.sent as usize);
    let args = arguments(program, port.index(), event, host, &payload, &[]);
    Input::Port { port, event, args }
}

pub(crate) fn packet_input(program: &Program, packet: Vec<u8>) -> Input {
    let (port, event) = program.device_input;
    let params = &program.automaton.ports[port.index()].inputs[event].params;
    let arg = |(_, ty): &(String, Type)| if *ty == Type::Msg { Arg::Message(packet.clone()) } else { Arg::Word(0) };
    Input::Port { port, event, args: params.iter().map(arg).collect() }
}

/// Arguments of an input: the payload for messages, the application's handle for references, else the given scalars, or
/// 0.
fn arguments(program: &Program, port: usize, event: usize, host: &Host, payload: &[u8], scalars: &[u64]) -> Vec<Arg> {
    let input = &program.automaton.ports[port].inputs[event];
    let mut scalars = scalars.iter();
    let mut args = Vec::new();
    for (_, ty) in &input.params {
        args.push(match ty {
            Type::Msg => Arg::Message(payload.to_vec()),
            Type::Ref(class) => Arg::Object(handle(host, *class)),
            _ => Arg::Word(scalars.next().copied().unwrap_or(0)),
        });
    }
    args
}

fn handle(host: &Host, class: ClassId) -> u64 {
    host.application.handle.filter(|(known, _)| *known == class).map_or(NULL, |(_, object)| object)
}

type LateInput<'a> = Box<dyn Fn(&Host) -> Input + 'a>;

/// The start, then the events that the world opens with. Their handles are known only when their turn comes.
fn inputs_at_start(program: &Program, number: usize) -> Result<Vec<LateInput<'static>>, Unfit> {
    let mut inputs: Vec<LateInput<'static>> = vec![Box::new(|_| Input::Start)];
    let application = &program.world.application;
    for (_, event, scalars) in application.open.iter().filter(|(host, _, _)| *host == number) {
        let (port, event) = crate::program::input(&program.automaton, &application.port, event)?;
        let params = program.automaton.ports[port.index()].inputs[event].params.clone();
        let scalars = scalars.clone();
        inputs.push(Box::new(move |host| {
            let mut scalars = scalars.iter();
            let arg = |(_, ty): &(String, Type)| match ty {
                Type::Msg => Arg::Message(Vec::new()),
                Type::Ref(class) => Arg::Object(handle(host, *class)),
                _ => Arg::Word(scalars.next().copied().unwrap_or(0)),
            };
            Input::Port { port, event, args: params.iter().map(arg).collect() }
        }));
    }
    Ok(inputs)
}
