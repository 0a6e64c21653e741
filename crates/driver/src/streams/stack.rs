//! A running stack for streams: inputs at its ports, and the resulting events.

use std::collections::VecDeque;

use mokume_reaction::{Datum, Handle, Machine, Output};
use mokume_script::Written;

use super::ports::{Heard, Say, StreamPort, What};
use crate::compile::Compiled;
use crate::failure::Failure;
use crate::live::{Live, Said, Wait};

/// A stack on its devices, and the events of its stream ports that were not handled yet.
pub struct Stack<'a> {
    pub compiled: &'a Compiled,
    pub machine: Box<dyn Machine>,
    pub live: Live,
    pub ports: Vec<StreamPort>,
    pub told: Told,
}

/// Outputs of a stack besides frames.
#[derive(Default)]
pub struct Told {
    outputs: VecDeque<Output>,
    /// Reports, with their times.
    pub reports: Vec<(u64, String)>,
}

impl Told {
    fn hear(&mut self, at: u64, said: &Said<'_>) {
        match said {
            Said::Output(output) => self.outputs.push_back((*output).clone()),
            Said::Report(what) => self.reports.push((at, (*what).to_string())),
        }
    }
}

impl Stack<'_> {
    /// The notations of its values.
    pub fn written(&self) -> &Written {
        &self.compiled.written
    }

    /// Runs its start handlers.
    pub fn start(&mut self) -> Result<(), Failure> {
        let Stack { machine, live, told, .. } = self;
        live.start(machine.as_mut(), &mut |at, said| told.hear(at, &said))
    }

    /// Waits, at most until `until`, for frames, deadlines and `beside`, and handles them; returns which of `beside`
    /// are ready.
    pub fn round(&mut self, until: Option<u64>, beside: &[Wait]) -> Result<Vec<bool>, Failure> {
        let Stack { machine, live, told, .. } = self;
        let ready = live.round_beside(machine.as_mut(), until, beside, &mut |at, said| told.hear(at, &said))?;
        Ok(ready.unwrap_or_else(|| vec![false; beside.len()]))
    }

    /// Makes an input at a port; returns whether the machine accepted it.
    pub fn say(&mut self, at: usize, say: Say, what: &What<'_>) -> Result<bool, Failure> {
        let port = &self.ports[at];
        let Some(event) = port.input(say) else { return Ok(false) };
        let args = port.arguments(&self.compiled.composed, say, what);
        self.input(at, event, &args)
    }

    fn input(&mut self, at: usize, event: u32, args: &[Datum]) -> Result<bool, Failure> {
        let now = self.live.now();
        let outcome = self.machine.input(now, self.ports[at].port, event, args);
        let told = &mut self.told;
        self.live.take(now, &outcome, &mut |at, said| told.hear(at, &said))?;
        Ok(!outcome.refused)
    }

    /// How many octets a session may send now; unlimited if the port has no credit.
    pub fn credit(&mut self, at: usize, session: Handle) -> Result<usize, Failure> {
        if self.ports[at].input(Say::Credit).is_none() {
            return Ok(usize::MAX);
        }
        let before = self.told.outputs.len();
        self.say(at, Say::Credit, &What { session, ..What::NOTHING })?;
        // The answer comes at once; other events wait to be handled.
        let port = &self.ports[at];
        let answers = |output: &Output| port.credit(&self.compiled.composed, output);
        let found =
            self.told.outputs.iter().enumerate().skip(before).find_map(|(at, output)| Some((at, answers(output)?)));
        let Some((place, octets)) = found else { return Ok(0) };
        self.told.outputs.remove(place);
        Ok(usize::try_from(octets).unwrap_or(usize::MAX))
    }

    /// The next event of a port, and the port's index.
    pub fn hear(&mut self) -> Option<(usize, Heard)> {
        while let Some(output) = self.told.outputs.pop_front() {
            let at = self.ports.iter().position(|port| port.port == output.port);
            let heard = at.and_then(|at| Some((at, self.ports[at].hear(&self.compiled.composed, &output)?)));
            if heard.is_some() {
                return heard;
            }
        }
        None
    }
}
