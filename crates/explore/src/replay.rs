//! Replays a trace on the reference interpreter, which defines the meaning of a stack. This checks the explorer.
//!
//! Each host has its own machine and clock; a timer expires by moving its host's clock to the deadline. So only the
//! timer with a host's earliest deadline can expire, and handlers must not read the time.

use mokume_interpret::Instance;
use mokume_reaction::{Automaton, Datum, Handle, Machine, Outcome, Output, PortId, Type};

use crate::program;
use crate::trace::Step;
use crate::world::{Unfit, World};

/// Hosts on the interpreter, and the packets between them.
pub struct Replay<'a> {
    automaton: &'a Automaton,
    world: &'a World,
    pub machines: Vec<Instance>,
    clocks: Vec<u64>,
    handles: Vec<Handle>,
    sent: Vec<usize>,
    /// The messages delivered to each host, in order, as octets.
    pub delivered: Vec<Vec<Vec<u8>>>,
    /// The packets that each host sent since the start.
    pub packets: Vec<Vec<Vec<u8>>>,
}

impl<'a> Replay<'a> {
    /// Starts the hosts, and sends the events that the world opens with.
    pub fn new(automaton: &'a Automaton, world: &'a World) -> Result<Self, Unfit> {
        let mut replay = Replay {
            automaton,
            world,
            machines: Vec::new(),
            clocks: vec![0; world.hosts],
            handles: vec![Handle::NULL; world.hosts],
            sent: vec![0; world.hosts],
            delivered: vec![Vec::new(); world.hosts],
            packets: vec![Vec::new(); world.hosts],
        };
        for host in 0..world.hosts {
            replay.machines.push(Instance::new(automaton, &program::params(automaton, world, host), host as u64));
            let outcome = replay.machines[host].start(0);
            replay.note(host, &outcome);
            let opens: Vec<_> = world.application.open.iter().filter(|(whose, _, _)| *whose == host).collect();
            for (_, event, scalars) in opens {
                replay.input(host, &world.application.port, event, &[], scalars)?;
            }
        }
        Ok(replay)
    }

    /// Runs the step; returns the machine's outcome if the step concerned a machine.
    pub fn step(&mut self, step: &Step) -> Result<Option<Outcome>, Unfit> {
        match step {
            Step::Send { host, .. } => {
                let payload = self.world.payload(*host, self.sent[*host]);
                self.sent[*host] += 1;
                let application = &self.world.application;
                self.input(*host, &application.port, &application.send, &payload, &[]).map(Some)
            }
            Step::Expire { host, .. } => {
                let deadline = self.machines[*host].next_deadline();
                let deadline = deadline.ok_or_else(|| Unfit("no timer is armed on the interpreter".to_string()))?;
                self.clocks[*host] = self.clocks[*host].max(deadline);
                let outcome = self.machines[*host].advance(self.clocks[*host]);
                self.note(*host, &outcome);
                Ok(Some(outcome))
            }
            Step::Deliver { to, packet, .. } => {
                let network = &self.world.network;
                self.input(*to, &network.port, &network.input, packet, &[]).map(Some)
            }
            Step::Lose { .. } => Ok(None),
        }
    }

    fn input(
        &mut self,
        host: usize,
        port: &str,
        event: &str,
        octets: &[u8],
        scalars: &[u64],
    ) -> Result<Outcome, Unfit> {
        let (port, event) = program::input(self.automaton, port, event)?;
        let mut scalars = scalars.iter();
        let datum = |(_, ty): &(String, Type)| match ty {
            Type::Msg => Datum::Message(octets.to_vec()),
            Type::Ref(_) => Datum::Handle(self.handles[host]),
            _ => Datum::Word(scalars.next().copied().unwrap_or(0)),
        };
        let args: Vec<Datum> = self.automaton.ports[port.index()].inputs[event].params.iter().map(datum).collect();
        let outcome = self.machines[host].input(self.clocks[host], port, event as u32, &args);
        self.note(host, &outcome);
        Ok(outcome)
    }

    fn note(&mut self, host: usize, outcome: &Outcome) {
        for output in &outcome.outputs {
            let (port, event) = self.names(output);
            let message = output.args.iter().find_map(|datum| match datum {
                Datum::Message(octets) => Some(octets.clone()),
                _ => None,
            });
            let application = &self.world.application;
            if *port == application.port {
                let handle = output.args.iter().find_map(|datum| match datum {
                    Datum::Handle(handle) => Some(*handle),
                    _ => None,
                });
                self.handles[host] = handle.unwrap_or(self.handles[host]);
                if *event == application.deliver {
                    self.delivered[host].extend(message);
                }
            } else if (port, event) == (&self.world.network.port, &self.world.network.output) {
                self.packets[host].extend(message);
            }
        }
    }

    fn names(&self, output: &Output) -> (&'a String, &'a String) {
        let PortId(port) = output.port;
        let port = &self.automaton.ports[port as usize];
        (&port.name, &port.outputs[output.event as usize].event)
    }

    /// Whether the messages that each host received from another are a prefix of those that the other sent.
    pub fn is_in_order(&self) -> bool {
        self.delivered.iter().all(|delivered| {
            let mut next = vec![0; self.world.hosts];
            delivered.iter().all(|octets| match self.world.message_of(octets) {
                Some((from, number)) => {
                    next[from] += 1;
                    number + 1 == next[from] && number < self.sent[from]
                }
                None => false,
            })
        })
    }
}
