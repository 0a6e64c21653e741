//! Who looks on while a network runs, and may take part.

use mokume_reaction::{Datum, Output, PortId};

/// An input at a time. Its arguments are what [`Watch::arguments`] says when the time has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptedInput {
    pub at: u64,
    pub host: usize,
    pub port: PortId,
    pub event: u32,
    pub args: Vec<Datum>,
}

/// Hears what applications hear, and what devices send. What it answers is part of the run: it must be a function of what it has heard.
pub trait Watch {
    /// An output of an application's port, or a frame that a device sends, whatever becomes of it. Answers with the inputs that it brings about; one whose time is over comes at once.
    fn output(&mut self, at: u64, host: usize, output: &Output) -> Vec<ScriptedInput>;

    /// An input that a host has taken.
    fn input(&mut self, _at: u64, _host: usize, _port: PortId, _event: u32, _args: &[Datum]) {}

    /// A host crashes, or begins anew (`begins`).
    fn turned(&mut self, _host: usize, _begins: bool) {}

    /// The arguments of the script's input of this index, now that its time has come; `None`: it is left out.
    fn arguments(&mut self, at: u64, index: usize, input: &ScriptedInput) -> Option<Vec<Datum>>;
}

/// Nobody.
pub struct Unwatched;

impl Watch for Unwatched {
    fn output(&mut self, _: u64, _: usize, _: &Output) -> Vec<ScriptedInput> {
        Vec::new()
    }

    fn arguments(&mut self, _: u64, _: usize, input: &ScriptedInput) -> Option<Vec<Datum>> {
        Some(input.args.clone())
    }
}
