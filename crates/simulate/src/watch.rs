//! Watchers, which observe a running network and may add inputs.

use mokume_reaction::{Datum, Output, PortId};

/// An input at a time. [`Watch::arguments`] gives its arguments when the time has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptedInput {
    pub at: u64,
    pub host: usize,
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Datum>,
}

/// Observes the outputs of applications and the frames of devices. Its answers are part of the run: they must depend
/// only on what it has observed.
pub trait Watch {
    /// An output of an application's port, or a frame that a device sends, whatever its fate. Returns the inputs that
    /// it triggers; one whose time has passed comes at once.
    fn output(&mut self, at: u64, host: usize, output: &Output) -> Vec<ScriptedInput>;

    /// An input that a host has accepted.
    fn input(&mut self, _at: u64, _host: usize, _port: PortId, _event: u32, _args: &[Datum]) {}

    /// The next of a host's outputs is on its way; of a frame, with its number.
    fn left(&mut self, _host: usize, _frame: Option<u64>) {}

    /// A frame is about to come to a host that runs.
    fn arrives(&mut self, _host: usize, _frame: u64) {}

    /// A host crashes, or restarts (`begins`).
    fn turned(&mut self, _host: usize, _begins: bool) {}

    /// The arguments of the script's input of this index, when its time has come; `None`: it is skipped.
    fn arguments(&mut self, at: u64, index: usize, input: &ScriptedInput) -> Option<Vec<Datum>>;
}

/// No watcher.
pub struct Unwatched;

impl Watch for Unwatched {
    fn output(&mut self, _: u64, _: usize, _: &Output) -> Vec<ScriptedInput> {
        Vec::new()
    }

    fn arguments(&mut self, _: u64, _: usize, input: &ScriptedInput) -> Option<Vec<Datum>> {
        Some(input.args.clone())
    }
}
