//! A trace through the world: steps that can be replayed, and a sequence chart.

use std::collections::VecDeque;
use std::fmt;

use mokume_draw::{Chart, Direction, Event, MessageId, TimerEvent, Unit};
use mokume_reaction::{Automaton, WireId};
use serde_json::{json, Value};

use crate::layout::{Layout, State};
use crate::locals::{LocalEvent, Locals};
use crate::moves::Move;
use crate::react::{Arg, Happening, Out};
use crate::world::World;

/// A step in a form that another machine can repeat.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// The application of a host sends its next message.
    Send {
        host: usize,
        message: usize,
    },
    /// A timer of a host expires; `number` counts the armed timers, as declared and by age.
    Expire {
        host: usize,
        timer: String,
        number: usize,
    },
    /// A packet arrives; `stays`: the network keeps a copy. `name` is how the stack's wires read it, for people.
    Deliver {
        from: usize,
        to: usize,
        packet: Vec<u8>,
        name: String,
        stays: bool,
    },
    Lose {
        from: usize,
        to: usize,
        packet: Vec<u8>,
        name: String,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = World::host_name;
        match self {
            Step::Send { host, message } => write!(f, "{} sends {}", name(*host), World::message_name(*host, *message)),
            Step::Expire { host, timer, .. } => write!(f, "{}: {timer} expires", name(*host)),
            Step::Deliver { from, to, name: packet, stays, .. } => {
                let stays = if *stays { ", and a copy stays" } else { "" };
                write!(f, "{} -> {}: {packet} arrives{stays}", name(*from), name(*to))
            }
            Step::Lose { from, to, name: packet, .. } => {
                write!(f, "{} -> {}: {packet} is lost", name(*from), name(*to))
            }
        }
    }
}

impl Step {
    /// The step for tools: `step` is its kind, hosts are given by name, and octets of packets in hexadecimal.
    pub fn json(&self) -> Value {
        let name = |host: &usize| World::host_name(*host);
        match self {
            Step::Send { host, message } => json!({ "step": "send", "host": name(host), "message": message }),
            Step::Expire { host, timer, number } => {
                json!({ "step": "expire", "host": name(host), "timer": timer, "number": number })
            }
            Step::Deliver { from, to, packet, stays, .. } => {
                json!({ "step": "deliver", "from": name(from), "to": name(to), "packet": hex(packet), "stays": stays })
            }
            Step::Lose { from, to, packet, .. } => {
                json!({ "step": "lose", "from": name(from), "to": name(to), "packet": hex(packet) })
            }
        }
    }
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

pub(crate) struct Told {
    pub steps: Vec<Step>,
    pub chart: Chart,
}

/// The steps and the chart of a trace; `text` says what it leads to.
pub(crate) fn retell(locals: &mut Locals, layout: &Layout, way: &[(State, Move)], text: &str) -> Told {
    let names: Vec<String> = (0..layout.hosts.len()).map(World::host_name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let title = format!("{}: a shortest way", locals.program.automaton.name);
    let mut teller = Teller {
        chart: Chart::new(title, Unit::Steps, &names),
        under_way: vec![VecDeque::new(); layout.endpoints.len()],
        messages: 0,
        locals,
        layout,
    };
    let mut steps = Vec::new();
    if let Some((first, _)) = way.first() {
        teller.begin(first);
    }
    for (number, (state, step)) in way.iter().enumerate() {
        steps.push(teller.tell(number as u64 + 1, state, *step));
    }
    teller.chart.push(None, Event::Violation { label: text.to_string() });
    Told { steps, chart: teller.chart }
}

struct Teller<'a> {
    chart: Chart,
    /// Packets under way by channel, as numbers and as messages of the chart, oldest first.
    under_way: Vec<VecDeque<(u32, MessageId)>>,
    messages: u32,
    locals: &'a mut Locals,
    layout: &'a Layout,
}

impl Teller<'_> {
    /// Shows the packets that were sent before the first step.
    fn begin(&mut self, first: &State) {
        for channel in 0..self.layout.endpoints.len() {
            for packet in self.locals.channels.content(first.channels[channel]).to_vec() {
                self.put_out(channel, packet, Some(0));
            }
        }
    }

    fn tell(&mut self, time: u64, state: &State, step: Move) -> Step {
        match step {
            Move::Host { host, event } => self.tell_host(time, state, host, event),
            Move::Deliver { channel, place, stays } => {
                let (from, to) = self.layout.endpoints[channel];
                let packet = self.locals.channels.takes(state.channels[channel])[place].packet;
                let message = self.take(channel, packet, stays);
                self.chart.push(time, Event::Receive { message });
                self.react(None, state, to, LocalEvent::Packet(packet));
                Step::Deliver { from, to, packet: self.octets(packet), name: self.name(packet), stays }
            }
            Move::Lose { channel, place } => {
                let (from, to) = self.layout.endpoints[channel];
                let packet = self.locals.channels.takes(state.channels[channel])[place].packet;
                let message = self.take(channel, packet, false);
                self.chart.push(time, Event::Lose { message });
                Step::Lose { from, to, packet: self.octets(packet), name: self.name(packet) }
            }
        }
    }

    fn tell_host(&mut self, time: u64, state: &State, host: usize, event: LocalEvent) -> Step {
        let before = self.locals.host(state.hosts[host]);
        let step = match event {
            LocalEvent::Expire(number) => {
                let (class, _, cell) = before.armed()[number as usize];
                let timer = self.locals.program.automaton.classes[class].cells[cell].name.clone();
                let label = timer.clone();
                self.chart.push(time, Event::Timer { at: host, what: TimerEvent::Fired, label });
                Step::Expire { host, timer, number: number as usize }
            }
            _ => {
                let message = before.application.sent as usize;
                let label = format!("send {}", World::message_name(host, message));
                self.chart.push(time, Event::Call { at: host, direction: Direction::In, label });
                Step::Send { host, message }
            }
        };
        self.react(None, state, host, event);
        step
    }

    /// Repeats the reaction to see what happens in it.
    fn react(&mut self, time: Option<u64>, state: &State, host: usize, event: LocalEvent) {
        let before = self.locals.host(state.hosts[host]);
        let input = self.locals.input(&before, event);
        let (_, effect, _) = self.locals.step(before, &input);
        for happening in effect.happenings {
            match happening {
                Happening::Out(out) => self.tell_out(time, host, &out),
                Happening::Dropped(label) => self.chart.push(time, Event::Drop { at: host, label }),
                Happening::Armed(label) => {
                    self.chart.push(time, Event::Timer { at: host, what: TimerEvent::Armed, label });
                }
                Happening::Stopped(label) => {
                    self.chart.push(time, Event::Timer { at: host, what: TimerEvent::Stopped, label });
                }
            }
        }
    }

    fn tell_out(&mut self, time: Option<u64>, host: usize, out: &Out) {
        let program = &self.locals.program;
        if (out.port, out.event) == program.device_output {
            for arg in &out.args {
                if let Arg::Message(octets) = arg {
                    let packet = self.locals.tables.packets.number(octets.clone());
                    for channel in self.layout.away[host].clone() {
                        self.put_out(channel, packet, time);
                    }
                }
            }
            return;
        }
        let name = &program.automaton.ports[out.port.index()].outputs[out.event as usize].event;
        let payload = out.args.iter().find_map(|arg| match arg {
            Arg::Message(octets) => Some(payload_name(&program.world, octets)),
            _ => None,
        });
        let label = payload.map_or(name.clone(), |payload| format!("{name} {payload}"));
        self.chart.push(time, Event::Call { at: host, direction: Direction::Out, label });
    }

    fn put_out(&mut self, channel: usize, packet: u32, time: Option<u64>) {
        let (from, to) = self.layout.endpoints[channel];
        let message = MessageId(self.messages);
        self.messages += 1;
        let label = self.name(packet);
        self.chart.push(time, Event::Send { from, to, message, label });
        if self.under_way[channel].len() < self.locals.program.world.network.capacity {
            self.under_way[channel].push_back((packet, message));
        } else {
            self.chart.push(None, Event::Lose { message });
        }
    }

    /// The oldest of these packets.
    fn take(&mut self, channel: usize, packet: u32, stays: bool) -> MessageId {
        let place = self.under_way[channel].iter().position(|(other, _)| *other == packet).unwrap_or(0);
        let message = self.under_way[channel].get(place).map_or(MessageId(u32::MAX), |(_, message)| *message);
        if !stays {
            self.under_way[channel].remove(place);
        }
        message
    }

    fn name(&self, packet: u32) -> String {
        packet_name(&self.locals.program.automaton, &self.locals.program.world, &self.octets(packet))
    }

    fn octets(&self, packet: u32) -> Vec<u8> {
        self.locals.tables.packets.get(packet).clone()
    }
}

/// A packet as the first fitting wire reads it: `Data seq=0 a0`.
fn packet_name(automaton: &Automaton, world: &World, octets: &[u8]) -> String {
    for wire in (0..automaton.wires.len()).map(WireId::from) {
        let Ok(decoded) = mokume_wire::decode(automaton, wire, octets) else { continue };
        let mut words = Vec::new();
        for found in &decoded.headers {
            let header = &automaton.headers[found.header.index()];
            let variant = &header.variants[found.variant.index()];
            let short = header.name.rsplit('.').next().unwrap_or("");
            words.push(if variant.name.is_empty() { short } else { &variant.name }.to_string());
            let fields = variant.fields.iter().zip(&found.fields);
            words.extend(fields.map(|((name, _), value)| format!("{name}={value}")));
        }
        let payload = &octets[decoded.payload];
        if !payload.is_empty() {
            words.push(payload_name(world, payload));
        }
        return words.join(" ");
    }
    hex(octets)
}

fn payload_name(world: &World, octets: &[u8]) -> String {
    match world.message_of(octets) {
        Some((host, number)) => World::message_name(host, number),
        None => hex(octets),
    }
}
