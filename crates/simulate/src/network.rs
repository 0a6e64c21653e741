//! The event loop: the earliest of arrivals, script inputs and deadlines is next; ties in the order they were made.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mokume_base::Random;
use mokume_reaction::{Datum, Handle, Machine, Outcome, PortId};

use crate::{Fate, Record, RecordedEvent};

/// A machine and its name. Ports of media are named by [`Medium::members`].
pub struct Host {
    pub name: String,
    pub machine: Box<dyn Machine>,
    /// The input event of a device's port that takes a frame, by port.
    pub frame_events: Vec<(PortId, u32)>,
    /// Handles that outputs have bound, for scripts that name them: the n-th handle that an output of this host showed.
    pub seen_handles: Vec<Handle>,
}

/// What happens to frames. Rates are in millionths, times in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Weather {
    pub loss: u32,
    pub duplicate: u32,
    /// A reordered copy takes up to twice the longest delay more.
    pub reorder: u32,
    pub corrupt: u32,
    pub delay: (u64, u64),
}

/// A shared medium: what one member sends comes to all others.
pub struct Medium {
    pub name: String,
    pub members: Vec<(usize, PortId)>,
    pub weather: Weather,
}

/// From `from` until `until` (nanoseconds), these hosts and the others do not hear each other: what is sent then is lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    pub hosts: Vec<usize>,
    pub from: u64,
    pub until: u64,
}

impl Partition {
    fn separates(&self, a: usize, b: usize, now: u64) -> bool {
        (self.from..self.until).contains(&now) && self.hosts.contains(&a) != self.hosts.contains(&b)
    }
}

/// An input at a time; a `Handle` whose object is `SEEN` names the host's n-th seen handle by its generation field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptedInput {
    pub at: u64,
    pub host: usize,
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Datum>,
}

impl ScriptedInput {
    /// `Handle { object: SEEN, generation: n }` in an argument stands for the n-th handle that the host has shown.
    pub const SEEN: u32 = u32::MAX - 1;
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Coming {
    Arrival { host: usize, port: PortId, number: u64, frame: Vec<u8> },
    Script(usize),
}

/// A network of hosts; [`Simulation::run`] drives it.
pub struct Simulation {
    pub hosts: Vec<Host>,
    pub media: Vec<Medium>,
    script: Vec<ScriptedInput>,
    coming: BinaryHeap<Reverse<(u64, u64, Coming)>>,
    order: u64,
    frames: u64,
    now: u64,
    random: Random,
    records: Vec<Record>,
    keep: Keep,
    restless: bool,
    partitions: Vec<Partition>,
}

/// Which records a run keeps: all, for charts and captures, or reports alone, for runs of any length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    All,
    Reports,
}

/// Rounds of the loop at one time, after which a network is said never to rest.
const ROUNDS_AT_ONE_TIME: u32 = 256;

impl Simulation {
    /// A network whose hosts have not started. The script need not be in order of time; inputs of one time keep the
    /// order given. Everything random comes from the seed.
    pub fn new(hosts: Vec<Host>, media: Vec<Medium>, script: Vec<ScriptedInput>, seed: u64) -> Self {
        Simulation {
            hosts,
            media,
            script,
            coming: BinaryHeap::new(),
            order: 0,
            frames: 0,
            now: 0,
            random: Random::new(seed),
            records: Vec::new(),
            keep: Keep::All,
            restless: false,
            partitions: Vec::new(),
        }
    }

    /// The same, with fewer records.
    pub fn keeping(self, keep: Keep) -> Self {
        Simulation { keep, ..self }
    }

    /// The same, with hosts that do not hear each other for a while.
    pub fn parted(self, partitions: Vec<Partition>) -> Self {
        Simulation { partitions, ..self }
    }

    /// The run ended early, at [`Simulation::now`]: some host was due again at once, for ever.
    pub fn is_restless(&self) -> bool {
        self.restless
    }

    /// Starts all hosts and runs to `until` (nanoseconds), or until nothing is left to do. `progress` hears the time.
    pub fn run(&mut self, until: u64, progress: &mut dyn FnMut(u64)) -> &[Record] {
        for index in 0..self.script.len() {
            let at = self.script[index].at;
            self.enqueue(at, Coming::Script(index));
        }
        for host in 0..self.hosts.len() {
            let outcome = self.hosts[host].machine.start(0);
            self.take_outcome(host, outcome);
        }
        let mut rounds = 0;
        while let Some(at) = self.next_time().filter(|at| *at <= until) {
            rounds = if at == self.now { rounds + 1 } else { 0 };
            if rounds > ROUNDS_AT_ONE_TIME {
                self.restless = true;
                return &self.records;
            }
            self.now = at;
            progress(at);
            self.run_deadlines(at);
            while self.coming.peek().is_some_and(|Reverse((due, ..))| *due <= at) {
                let Some(Reverse((_, _, coming))) = self.coming.pop() else { break };
                self.carry_out(coming);
            }
        }
        self.now = until.max(self.now);
        &self.records
    }

    /// What has happened so far, as far as [`Keep`] keeps it.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Nanoseconds since the start: after a run its end, or where it stopped because it never rests.
    pub fn now(&self) -> u64 {
        self.now
    }

    fn next_time(&self) -> Option<u64> {
        let coming = self.coming.peek().map(|Reverse((at, ..))| *at);
        let deadline = self.hosts.iter().filter_map(|host| host.machine.next_deadline()).min();
        let next = match (coming, deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        next.map(|at| at.max(self.now))
    }

    fn enqueue(&mut self, at: u64, coming: Coming) {
        self.order += 1;
        self.coming.push(Reverse((at, self.order, coming)));
    }

    fn run_deadlines(&mut self, at: u64) {
        for host in 0..self.hosts.len() {
            if self.hosts[host].machine.next_deadline().is_some_and(|due| due <= at) {
                let outcome = self.hosts[host].machine.advance(at);
                self.take_outcome(host, outcome);
            }
        }
    }

    fn carry_out(&mut self, coming: Coming) {
        match coming {
            Coming::Arrival { host, port, number, frame } => {
                let Some((_, event)) = self.hosts[host].frame_events.iter().find(|(of, _)| *of == port).copied() else {
                    return;
                };
                let args = [Datum::Message(frame.clone())];
                let outcome = self.hosts[host].machine.input(self.now, port, event, &args);
                self.record(RecordedEvent::Arrived { host, port, number, frame, refused: outcome.refused });
                self.take_outcome(host, outcome);
            }
            Coming::Script(index) => {
                let ScriptedInput { host, port, event, args, .. } = self.script[index].clone();
                let args: Vec<Datum> = args.into_iter().map(|arg| self.resolve(host, arg)).collect();
                let outcome = self.hosts[host].machine.input(self.now, port, event, &args);
                self.record(RecordedEvent::Input { host, port, event, args, refused: outcome.refused });
                self.take_outcome(host, outcome);
            }
        }
    }

    fn resolve(&self, host: usize, arg: Datum) -> Datum {
        match arg {
            Datum::Handle(Handle { object: ScriptedInput::SEEN, generation }) => {
                let seen = self.hosts[host].seen_handles.get(generation as usize);
                Datum::Handle(seen.copied().unwrap_or(Handle::NULL))
            }
            other => other,
        }
    }

    fn take_outcome(&mut self, host: usize, outcome: Outcome) {
        for (report, place) in outcome.reports {
            self.record(RecordedEvent::Reported { host, report, place });
        }
        for output in outcome.outputs {
            let medium = self.media.iter().position(|medium| medium.members.contains(&(host, output.port)));
            match (medium, output.args.as_slice()) {
                (Some(medium), [Datum::Message(frame)]) => self.send(host, output.port, medium, frame.clone()),
                _ => {
                    for arg in &output.args {
                        if let Datum::Handle(handle) = arg {
                            let seen = &mut self.hosts[host].seen_handles;
                            if !seen.contains(handle) {
                                seen.push(*handle);
                            }
                        }
                    }
                    self.record(RecordedEvent::Output {
                        host,
                        port: output.port,
                        event: output.event,
                        args: output.args,
                    });
                }
            }
        }
    }

    fn send(&mut self, host: usize, port: PortId, medium: usize, frame: Vec<u8>) {
        let number = self.frames;
        self.frames += 1;
        let weather = self.media[medium].weather;
        let others: Vec<_> =
            self.media[medium].members.iter().copied().filter(|member| *member != (host, port)).collect();
        let mut fates = Vec::new();
        for (other, other_port) in others {
            let parted = self.partitions.iter().any(|cut| cut.separates(host, other, self.now));
            // The weather is asked for all the same: a partition does not change what becomes of other frames.
            let mut fate = self.weather_for(weather);
            if let Fate::Arrives(times) = &fate {
                for at in times.clone() {
                    let frame = self.corrupted(weather, &frame);
                    if !parted {
                        self.enqueue(at, Coming::Arrival { host: other, port: other_port, number, frame });
                    }
                }
            }
            if parted {
                fate = Fate::Lost;
            }
            fates.push((other, fate));
        }
        self.record(RecordedEvent::Sent { host, port, medium, number, frame, fates });
    }

    fn weather_for(&mut self, weather: Weather) -> Fate {
        if self.random.millionths(weather.loss) {
            return Fate::Lost;
        }
        let copies = 1 + usize::from(self.random.millionths(weather.duplicate));
        let times = (0..copies).map(|_| self.now.saturating_add(self.delay(weather))).collect();
        Fate::Arrives(times)
    }

    fn delay(&mut self, weather: Weather) -> u64 {
        let (low, high) = weather.delay;
        let delay = self.random.between(low, high);
        let later =
            if self.random.millionths(weather.reorder) { self.random.between(high, high.saturating_mul(3)) } else { 0 };
        delay.saturating_add(later)
    }

    fn corrupted(&mut self, weather: Weather, frame: &[u8]) -> Vec<u8> {
        let mut frame = frame.to_vec();
        if !frame.is_empty() && self.random.millionths(weather.corrupt) {
            let at = self.random.place(frame.len());
            frame[at] ^= 1 << self.random.below(8);
        }
        frame
    }

    fn record(&mut self, what: RecordedEvent) {
        if self.keep == Keep::All || matches!(what, RecordedEvent::Reported { .. }) {
            self.records.push(Record { at: self.now, what });
        }
    }
}
