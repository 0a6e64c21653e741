//! The hosts of a network that is debugged: the machines of each, which can be looked into while another host runs, and the frames
//! between them with what sent each.
//!
//! Keeps: only machines that stand still are looked into, and nothing of them changes.

use std::sync::{Arc, Mutex, TryLockError};

use mokume_interpret::{Instance, Moment};
use mokume_reaction::{Accounts, Datum, Machine, Outcome, PortId};
use mokume_simulate::Clock;

use super::{lock, Engine, Host};
use crate::sim::Overseer;

/// All hosts of a run, and its frames.
#[derive(Default)]
pub(super) struct Hosts {
    all: Vec<Lives>,
    /// By number, from 1.
    frames: Vec<Sent>,
    /// The frame that comes next.
    coming: Option<u64>,
    /// The network's time.
    now: u64,
}

/// The lives of one host, the current one last.
#[derive(Default)]
struct Lives {
    all: Vec<Life>,
    clock: Clock,
    /// Since when it is down, in the network's time.
    down: Option<u64>,
}

/// A machine, from its start to its crash.
struct Life {
    machine: Arc<Mutex<Instance>>,
    outputs: usize,
    /// Of each input, how many instants were before it; of a frame, its number.
    inputs: Vec<(usize, Option<u64>)>,
}

/// A frame: the output of a host's life that it was, and when.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub host: usize,
    pub life: usize,
    pub output: usize,
    pub at: u64,
}

impl Hosts {
    /// Hosts with these clocks, none of which has started.
    pub fn new(clocks: &[Clock]) -> Hosts {
        let all = clocks.iter().map(|clock| Lives { clock: *clock, ..Lives::default() }).collect();
        Hosts { all, ..Hosts::default() }
    }

    /// Forgets a run: another begins.
    pub fn begin(&mut self) {
        let clocks: Vec<Clock> = self.all.iter().map(|lives| lives.clock).collect();
        *self = Hosts::new(&clocks);
    }

    /// Since when a host is down, in the network's time.
    pub fn down(&self, host: usize) -> Option<u64> {
        self.all.get(host)?.down
    }

    /// The number of the current life of a host; `None` before the first.
    pub fn life(&self, host: usize) -> Option<usize> {
        self.all.get(host)?.all.len().checked_sub(1)
    }

    /// Looks into a life of a host that does not run at the moment.
    pub fn look<T>(&self, host: usize, life: usize, does: impl FnOnce(&Moment<'_>) -> T) -> Option<T> {
        let lives = self.all.get(host)?;
        let machine = match lives.all.get(life)?.machine.try_lock() {
            Ok(machine) => machine,
            Err(TryLockError::Poisoned(left)) => left.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        machine.look(lives.clock.shown(self.now), does)
    }

    /// The frame that an input brought: that of the last one before the instant of this number began.
    pub fn brought(&self, host: usize, life: usize, instant: usize) -> Option<(u64, Sent)> {
        let inputs = &self.all.get(host)?.all.get(life)?.inputs;
        let (_, frame) = inputs.iter().rev().find(|(before, _)| *before <= instant)?;
        let number = (*frame)?;
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        Some((number, *self.frames.get(place)?))
    }

    pub fn time(&mut self, at: u64) {
        self.now = at;
    }

    /// A host crashes, or begins anew.
    pub fn turned(&mut self, host: usize, begins: bool) {
        if let Some(lives) = self.all.get_mut(host) {
            lives.down = (!begins).then_some(self.now);
        }
    }

    /// The network's time.
    pub fn now(&self) -> u64 {
        self.now
    }

    fn output(&mut self, host: usize, frame: Option<u64>) {
        let at = self.now;
        let Some(lives) = self.all.get_mut(host) else { return };
        let life = lives.all.len().saturating_sub(1);
        let Some(current) = lives.all.last_mut() else { return };
        current.outputs += 1;
        // Frames leave in the order of their numbers.
        self.frames.extend(frame.map(|_| Sent { host, life, output: current.outputs - 1, at }));
    }

    fn start(&mut self, host: usize, machine: Arc<Mutex<Instance>>) {
        if let Some(lives) = self.all.get_mut(host) {
            lives.all.push(Life { machine, outputs: 0, inputs: Vec::new() });
        }
    }

    fn input(&mut self, host: usize, before: usize) {
        let frame = self.coming.take();
        if let Some(life) = self.all.get_mut(host).and_then(|lives| lives.all.last_mut()) {
            life.inputs.push((before, frame));
        }
    }
}

/// Tells the engine what happens in the network.
pub(super) struct Overseeing(pub Arc<Mutex<Engine>>);

impl Overseer for Overseeing {
    fn machine(&self, host: usize, mut instance: Instance) -> Box<dyn Machine> {
        instance.watch(Arc::new(Mutex::new(Host { number: host, engine: Arc::clone(&self.0) })));
        Box::new(Looked { machine: Arc::new(Mutex::new(instance)), host, engine: Arc::clone(&self.0) })
    }

    fn time(&self, at: u64) {
        lock(&self.0).hosts.time(at);
    }

    fn turned(&self, host: usize, begins: bool) {
        lock(&self.0).turned_over(host, begins);
    }

    fn output(&self, host: usize, frame: Option<u64>) {
        lock(&self.0).hosts.output(host, frame);
    }

    fn arrives(&self, _: usize, frame: u64) {
        lock(&self.0).hosts.coming = Some(frame);
    }
}

/// A machine that the engine may look into while it stands still.
struct Looked {
    machine: Arc<Mutex<Instance>>,
    host: usize,
    engine: Arc<Mutex<Engine>>,
}

impl Machine for Looked {
    fn start(&mut self, now: u64) -> Outcome {
        lock(&self.engine).hosts.start(self.host, Arc::clone(&self.machine));
        lock(&self.machine).start(now)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let mut machine = lock(&self.machine);
        let before = machine.recording().and_then(|recording| recording.instants.as_ref()).map_or(0, Vec::len);
        lock(&self.engine).hosts.input(self.host, before);
        machine.input(now, port, event, args)
    }

    fn advance(&mut self, now: u64) -> Outcome {
        lock(&self.machine).advance(now)
    }

    fn next_deadline(&self) -> Option<u64> {
        lock(&self.machine).next_deadline()
    }

    fn accounts(&self) -> Accounts {
        lock(&self.machine).accounts()
    }

    fn exhausted(&self) -> u64 {
        lock(&self.machine).exhausted()
    }

    fn reactions(&self) -> u64 {
        lock(&self.machine).reactions()
    }
}
