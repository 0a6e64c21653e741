//! An overseer of a run on the interpreter: it has the hosts' machines, and is told what the network does between their calls.

use mokume_interpret::Instance;
use mokume_reaction::{Datum, Machine, Output, PortId};
use mokume_simulate::{ScriptedInput, Watch};

/// Has the machines of a run, and is told what happens to hosts and frames. It changes nothing.
pub trait Overseer {
    /// The machine of a host's life, not started. Those of restarts are made before the run begins.
    fn machine(&self, host: usize, instance: Instance) -> Box<dyn Machine>;
    /// It is this time in the network.
    fn time(&self, at: u64);
    /// A host crashes, or begins anew.
    fn turned(&self, host: usize, begins: bool);
    /// The next output of a host's machine; of a frame, its number.
    fn output(&self, host: usize, frame: Option<u64>);
    /// A frame comes to a host next.
    fn arrives(&self, host: usize, frame: u64);
}

/// A watcher beside which an overseer is told.
pub(super) struct Overseen<'a, W> {
    pub watcher: &'a mut W,
    pub overseer: Option<&'a dyn Overseer>,
}

impl<W: Watch> Watch for Overseen<'_, W> {
    fn output(&mut self, at: u64, host: usize, output: &Output) -> Vec<ScriptedInput> {
        self.watcher.output(at, host, output)
    }

    fn input(&mut self, at: u64, host: usize, port: PortId, event: u32, args: &[Datum]) {
        self.watcher.input(at, host, port, event, args);
    }

    fn left(&mut self, host: usize, frame: Option<u64>) {
        self.overseer.iter().for_each(|overseer| overseer.output(host, frame));
        self.watcher.left(host, frame);
    }

    fn arrives(&mut self, host: usize, frame: u64) {
        self.overseer.iter().for_each(|overseer| overseer.arrives(host, frame));
        self.watcher.arrives(host, frame);
    }

    fn turned(&mut self, host: usize, begins: bool) {
        self.overseer.iter().for_each(|overseer| overseer.turned(host, begins));
        self.watcher.turned(host, begins);
    }

    fn arguments(&mut self, at: u64, index: usize, input: &ScriptedInput) -> Option<Vec<Datum>> {
        self.watcher.arguments(at, index, input)
    }
}
