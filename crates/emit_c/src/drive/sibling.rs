//! A second instance at the other end of the devices: it answers as a peer does, over a network that loses and repeats.

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use mokume_base::Random;
use mokume_reaction::*;

use super::source::Source;
use super::step::{act, Step, BUSY};

/// The most frames on their way.
const MAIL: usize = 16;

/// The sibling. One that never rests sends nothing more after [`BUSY`] reactions: each call of it would take as long as
/// a sequence.
pub(super) struct Sibling<R> {
    machine: R,
    /// Frames for the machines that are compared.
    mail: VecDeque<(PortId, u32, Vec<Datum>)>,
    handles: HashMap<ClassId, Vec<Handle>>,
}

impl<R: Machine> Sibling<R> {
    /// A sibling on a new machine, which it starts.
    pub fn new(machine: R, automaton: &Automaton, random: &mut Random) -> Sibling<R> {
        let mut sibling = Sibling { machine, mail: VecDeque::new(), handles: HashMap::default() };
        let started = sibling.machine.start(0);
        sibling.post(automaton, &started, random);
        sibling
    }

    /// Passes the machines' outputs to the sibling, and queues its answers. Sometimes the sibling acts by itself.
    pub fn hear(&mut self, now: u64, outcome: &Outcome, source: &mut Source<'_>) {
        if self.machine.reactions() > BUSY {
            return;
        }
        let automaton = source.automaton;
        for (port, event, args) in frames(automaton, outcome) {
            if !source.random.percent(10) {
                let answer = self.machine.input(now, port, event, &args);
                self.post(automaton, &answer, &mut source.random);
            }
        }
        let step = match source.random.place(6) {
            0 => {
                std::mem::swap(&mut source.handles, &mut self.handles);
                let step = source.input();
                std::mem::swap(&mut source.handles, &mut self.handles);
                step
            }
            1..=2 => Step::Advance { now },
            _ => return,
        };
        let outcome = act(&mut self.machine, &step);
        self.post(automaton, &outcome, &mut source.random);
        std::mem::swap(&mut source.handles, &mut self.handles);
        source.learn(&outcome);
        std::mem::swap(&mut source.handles, &mut self.handles);
    }

    fn post(&mut self, automaton: &Automaton, outcome: &Outcome, random: &mut Random) {
        for frame in frames(automaton, outcome).into_iter().take(MAIL - self.mail.len().min(MAIL)) {
            match random.place(20) {
                0 => {}
                1 => self.mail.extend([frame.clone(), frame]),
                2 => self.mail.push_front(frame),
                _ => self.mail.push_back(frame),
            }
        }
    }

    /// The next frame, if it arrives now.
    pub fn deliver(&mut self, now: u64, random: &mut Random) -> Option<Step> {
        if !random.percent(50) {
            return None;
        }
        let (port, event, args) = self.mail.pop_front()?;
        Some(Step::Input { now, port, event, args })
    }
}

/// Outputs of devices, as inputs at the other end.
fn frames(automaton: &Automaton, outcome: &Outcome) -> Vec<(PortId, u32, Vec<Datum>)> {
    let matched = outcome.outputs.iter().filter_map(|output| {
        let port = &automaton.ports[output.port.index()];
        let sent = &port.outputs[output.event as usize];
        let types = |params: &[(String, Type)]| params.iter().map(|(_, ty)| *ty).collect::<Vec<_>>();
        let heard = port.inputs.iter().position(|input| types(&input.params) == types(&sent.params))?;
        (port.kind == PortKind::Device).then(|| (output.port, heard as u32, output.args.clone()))
    });
    matched.collect()
}
