//! The hosts of a network that is debugged: the machines of each, which can be looked into while another host runs, and the frames
//! between them with what sent each.
//!
//! Keeps: only machines that stand still are looked into, and nothing of them changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use mokume_interpret::{Instance, Moment, Observed};
use mokume_reaction::{Accounts, Datum, Machine, Outcome, PortId};
use mokume_simulate::Clock;

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

    /// A host crashes, or begins anew.
    pub fn turned(&mut self, host: usize, begins: bool) {
        if let Some(lives) = self.all.get_mut(host) {
            lives.down = (!begins).then_some(lives.clock.shown(self.now));
        }
    }

    /// The time by a host's own clock.
    pub fn shown(&self, host: usize) -> u64 {
        self.all.get(host).map_or(self.now, |lives| lives.clock.shown(self.now))
    }

    fn output(&mut self, host: usize, frame: Option<u64>) {
        let at = self.shown(host);
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

/// What has the hosts of a run, and is told what happens to them.
pub(super) trait Hosting: 'static {
    fn hosts(&mut self) -> &mut Hosts;
    /// A host crashes, or begins anew.
    fn turned(&mut self, host: usize, begins: bool);
}

pub(super) fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // Abandoning a run happens under the lock, and leaves nothing half done.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells what has the hosts what happens in the network.
pub(super) struct Overseeing<'a, E> {
    pub engine: Arc<Mutex<E>>,
    /// The observer of a host.
    pub observed: &'a dyn Fn(usize) -> Observed,
}

impl<E: Hosting> Overseer for Overseeing<'_, E> {
    fn machine(&self, host: usize, mut instance: Instance) -> Box<dyn Machine> {
        instance.watch((self.observed)(host));
        Box::new(Looked { machine: Arc::new(Mutex::new(instance)), host, engine: Arc::clone(&self.engine) })
    }

    fn time(&self, at: u64) {
        lock(&self.engine).hosts().now = at;
    }

    fn turned(&self, host: usize, begins: bool) {
        lock(&self.engine).turned(host, begins);
    }

    fn output(&self, host: usize, frame: Option<u64>) {
        lock(&self.engine).hosts().output(host, frame);
    }

    fn arrives(&self, _: usize, frame: u64) {
        lock(&self.engine).hosts().coming = Some(frame);
    }
}

/// A machine that may be looked into while it stands still.
struct Looked<E> {
    machine: Arc<Mutex<Instance>>,
    host: usize,
    engine: Arc<Mutex<E>>,
}

impl<E: Hosting> Machine for Looked<E> {
    fn start(&mut self, now: u64) -> Outcome {
        lock(&self.engine).hosts().start(self.host, Arc::clone(&self.machine));
        lock(&self.machine).start(now)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let mut machine = lock(&self.machine);
        let before = machine.recording().and_then(|recording| recording.instants.as_ref()).map_or(0, Vec::len);
        lock(&self.engine).hosts().input(self.host, before);
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
