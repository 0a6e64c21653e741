//! One host of a network without the others: its settings, and the inputs of its applications.

use mokume_reaction::{Automaton, Datum, Output};
use mokume_simulate::{ScriptedInput, Watch};

use super::watch::Watcher;
use super::{host_parameters, Prepared};
use crate::compile::Compiled;
use crate::failure::Failure;

/// The active applications of a host.
#[derive(Clone)]
pub struct Applications<'a> {
    watcher: Watcher<'a>,
    host: usize,
}

impl<'a> Prepared<'a> {
    /// The host of this name, or the only one.
    pub fn host_named(&self, name: Option<&str>) -> Result<usize, Failure> {
        let hosts = &self.network.hosts;
        let names = || hosts.iter().map(|host| host.name.text.as_str()).collect::<Vec<_>>().join(", ");
        match name {
            Some(name) => hosts.iter().position(|host| host.name.text == name).ok_or_else(|| {
                Failure::of_use(format!("the network has no host `{name}`"), format!("there are: {}", names()))
            }),
            None if hosts.len() == 1 => Ok(0),
            None => Err(Failure::of_use(
                "the network has several hosts",
                format!("say at which the capture was taken: `--host NAME` with NAME of {}", names()),
            )),
        }
    }

    /// The stack of a host, and the values of its parameters.
    pub fn alone(&self, host: usize) -> Result<(&'a Compiled, Vec<u64>), Failure> {
        let of = &self.network.hosts[host];
        let name = &of.name.text;
        let has_clock = self.network.clocks.iter().any(|clock| clock.host as usize == host);
        let has_outage = self.network.outages.iter().any(|outage| outage.host as usize == host);
        if has_clock || has_outage {
            let what = if has_clock { "a clock of its own" } else { "a crash" };
            let help = "follow a host without one, or its stack alone: `--stack` in place of `--network` and `--host`";
            return Err(Failure::of_use(format!("host `{name}` has {what}, which is not followed"), help));
        }
        let compiled = self.stack(of.stack);
        Ok((compiled, host_parameters(compiled, &of.settings, host)?))
    }

    /// How many inputs of a host wait for outputs of others, and so never come if it runs alone.
    pub fn waits_for_others(&self, host: usize) -> usize {
        let waits =
            |when: &&mokume_semantics::program::When| when.host as usize == host && when.output.host as usize != host;
        self.network.whens.iter().filter(waits).count()
    }

    /// The applications of a host. `automata` are those of all hosts.
    pub fn applications<'s>(&'s self, automata: &'s [&'s Automaton], host: usize) -> Applications<'s> {
        Applications { watcher: Watcher::new(&self.events, self.network, automata), host }
    }

    /// The inputs of a host at their times, each with its index in the network's script.
    pub fn inputs(&self, host: usize) -> Vec<(usize, ScriptedInput)> {
        self.events.script().into_iter().enumerate().filter(|(_, input)| input.host == host).collect()
    }
}

impl Applications<'_> {
    /// Handles an output; returns the inputs of the same host that it triggers.
    pub fn hear(&mut self, at: u64, output: &Output) -> Vec<ScriptedInput> {
        let mut inputs = self.watcher.output(at, self.host, output);
        inputs.retain(|input| input.host == self.host);
        inputs
    }

    /// The arguments of an input of the script, when its time has come.
    pub fn given(&mut self, at: u64, place: usize, input: &ScriptedInput) -> Option<Vec<Datum>> {
        self.watcher.arguments(at, place, input)
    }
}
