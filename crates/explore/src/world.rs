//! The closed world that is explored: the hosts, the network between them, their applications, and the rule for time.
//!
//! A verdict holds in its world only. So a world can be described in one line, and every result carries it.

use std::fmt;

use mokume_reaction::{Automaton, PortKind, Type};

/// N hosts of one automaton over a network, with an application on each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct World {
    pub hosts: usize,
    /// Parameters of the stack, by name: of all hosts, and of single hosts. A parameter without a value has its
    /// default, or 0.
    pub params: Vec<(String, u64)>,
    pub params_of: Vec<Vec<(String, u64)>>,
    pub network: Network,
    pub application: Application,
    pub timers: Timers,
    pub random: Random,
}

/// The network. A packet that a host sends goes to every other host, each on its own channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Network {
    /// The device port, its input and its output, by name.
    pub port: String,
    pub input: String,
    pub output: String,
    /// The most packets on the way from one host to another. A further packet is lost if packets may be lost; otherwise
    /// the world is too small, which is reported.
    pub capacity: usize,
    pub loses: bool,
    pub duplicates: bool,
    pub reorders: bool,
}

/// The application. It sends messages, each as soon as it may or later, and receives whatever comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Application {
    pub port: String,
    /// Inputs that happen once on each host, before all others: the event and its scalars. Later inputs use the handle
    /// that an output of the port brings.
    pub open: Vec<(usize, String, Vec<u64>)>,
    pub send: String,
    pub deliver: String,
    /// The number of messages that each host sends.
    pub messages: Vec<usize>,
    /// The sends allowed at first, and the output that allows one more; `None`: all are allowed from the start.
    pub credit: Option<(usize, String)>,
}

/// When an armed timer may expire. The time itself always reads 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timers {
    /// At any time.
    Free,
    /// Only when no packet is under way, which is what time-outs assume.
    Patient,
}

/// The value of a random number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Random {
    /// A stack that samples random numbers is not explored.
    Refused,
    /// The number of the host plus one: different for each host, and always the same. Runs in which two samples of one
    /// host differ, or those of two hosts agree, are not explored.
    OfHost,
}

/// Why an automaton does not fit a world, or cannot be explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit(pub String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl World {
    /// Two hosts, channels of two packets that may be lost and duplicated, and one message from each. The ports are
    /// taken from the automaton, if it leaves no choice.
    pub fn of(automaton: &Automaton) -> Result<World, Unfit> {
        let has_message = |params: &[(String, Type)]| params.iter().any(|(_, ty)| *ty == Type::Msg);
        let port = |kind: PortKind, what: &str| {
            let found: Vec<_> = automaton.ports.iter().filter(|port| port.kind == kind).collect();
            match found[..] {
                [port] => Ok(port),
                _ => Err(Unfit(format!("the stack has {} {what} ports; name the one to use", found.len()))),
            }
        };
        let (device, application) = (port(PortKind::Device, "device")?, port(PortKind::Application, "application")?);
        let one = |names: Vec<&String>, what: &str| match names[..] {
            [name] => Ok(name.clone()),
            _ => Err(Unfit(format!("{} events could be the one to {what}; name it", names.len()))),
        };
        let inputs = |port: &mokume_reaction::Port, what| {
            one(port.inputs.iter().filter(|input| has_message(&input.params)).map(|input| &input.event).collect(), what)
        };
        let outputs = |port: &mokume_reaction::Port, what| {
            one(port.outputs.iter().filter(|output| has_message(&output.params)).map(|o| &o.event).collect(), what)
        };
        Ok(World {
            hosts: 2,
            params: Vec::new(),
            params_of: Vec::new(),
            network: Network {
                port: device.name.clone(),
                input: inputs(device, "take a packet")?,
                output: outputs(device, "put a packet out")?,
                capacity: 2,
                loses: true,
                duplicates: true,
                reorders: false,
            },
            application: Application {
                port: application.name.clone(),
                open: Vec::new(),
                send: inputs(application, "send")?,
                deliver: outputs(application, "deliver")?,
                messages: vec![1; 2],
                credit: None,
            },
            timers: Timers::Free,
            random: Random::Refused,
        })
    }

    /// The number of messages that a host sends.
    pub fn messages_of(&self, host: usize) -> usize {
        self.application.messages.get(host).copied().unwrap_or(0)
    }

    /// A host's name: `a`, `b`, …
    pub fn host_name(host: usize) -> String {
        match u8::try_from(host) {
            Ok(small @ 0..=25) => char::from(b'a' + small).to_string(),
            _ => format!("h{host}"),
        }
    }

    /// The octets of a message; different for each, so that they identify it.
    pub fn payload(&self, host: usize, number: usize) -> Vec<u8> {
        vec![0x4d, host as u8, (number >> 8) as u8, number as u8]
    }

    /// The host and number of the message with these octets; `None` if it is none.
    pub fn message_of(&self, payload: &[u8]) -> Option<(usize, usize)> {
        match *payload {
            [0x4d, host, high, low] => {
                let (host, number) = (usize::from(host), usize::from(high) << 8 | usize::from(low));
                (host < self.hosts && number < self.messages_of(host)).then_some((host, number))
            }
            _ => None,
        }
    }

    /// A host's message in steps and charts: `A0` is the first that host `A` sends.
    pub fn message_name(host: usize, number: usize) -> String {
        format!("{}{number}", World::host_name(host))
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let network = &self.network;
        let mut may = Vec::new();
        for (does, what) in [(network.loses, "lose"), (network.duplicates, "duplicate"), (network.reorders, "reorder")]
        {
            if does {
                may.push(what);
            }
        }
        let may = if may.is_empty() { "keep them in order".to_string() } else { format!("may {}", may.join(", ")) };
        let sends: Vec<String> = (0..self.hosts).map(|host| self.messages_of(host).to_string()).collect();
        let timers = match self.timers {
            Timers::Free => "may expire whenever armed",
            Timers::Patient => "expire when no packet is under way",
        };
        let random = match self.random {
            Random::Refused => "",
            Random::OfHost => "; random numbers are one for each host",
        };
        write!(
            f,
            "{} hosts; channels of {} packets, which {may}; sends {}; timers {timers}; the time reads 0{random}",
            self.hosts,
            network.capacity,
            sends.join(" + "),
        )
    }
}
