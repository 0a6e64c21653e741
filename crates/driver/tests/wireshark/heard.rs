//! A stack that keeps what comes and goes at its devices, what it drops meanwhile, and itself at some moments.

use super::*;

/// A frame that arrived, the reasons of drops at that time, and whether something was lost when an object ended, or
/// still waits.
#[derive(Clone)]
pub(super) struct Came {
    pub(super) frame: Vec<u8>,
    /// The event of its device.
    pub(super) at: (PortId, u32),
    pub(super) dropped: Vec<ReasonId>,
    pub(super) gone: bool,
}

/// A stack before one of its inputs, and the time.
pub(super) type Moment = (Instance, u64);

/// The most moments of a test that are kept.
pub(super) const MOMENTS: usize = 6;

/// A stack that records the frames at its devices, and what it reports about each.
pub(super) struct Heard<'a> {
    pub(super) machine: Instance,
    pub(super) automaton: &'a Automaton,
    pub(super) came: Vec<Came>,
    pub(super) went: Vec<Vec<u8>>,
    pub(super) moments: Vec<Moment>,
}

/// The reasons for which a machine drops during an input, and whether something was lost when an object ended, or
/// waits.
pub(super) fn drops(
    machine: &mut Instance,
    input: impl FnOnce(&mut Instance) -> Outcome,
) -> (Vec<ReasonId>, bool, Outcome) {
    let accounts = machine.accounts();
    let waits = accounts.gone + accounts.held;
    let before: BTreeMap<ReasonId, u64> = accounts.dropped.into_iter().collect();
    let outcome = input(machine);
    let after = machine.accounts();
    let more = after.dropped.iter().filter(|(reason, count)| before.get(reason).copied().unwrap_or(0) < *count);
    (more.map(|(reason, _)| *reason).collect(), after.gone + after.held > waits, outcome)
}

impl Heard<'_> {
    fn of_device(&self, port: PortId, args: &[Datum]) -> Option<Vec<u8>> {
        let is_device = self.automaton.ports[port.index()].kind == PortKind::Device;
        args.iter().filter(|_| is_device).find_map(|arg| match arg {
            Datum::Message(octets) => Some(octets.clone()),
            Datum::Word(_) | Datum::Handle(_) => None,
        })
    }

    fn left(&mut self, outcome: Outcome) -> Outcome {
        let frames: Vec<Vec<u8>> =
            outcome.outputs.iter().filter_map(|output| self.of_device(output.port, &output.args)).collect();
        self.went.extend(frames);
        outcome
    }
}

impl Machine for Heard<'_> {
    fn start(&mut self, now: u64) -> Outcome {
        let outcome = self.machine.start(now);
        self.left(outcome)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let due = self.machine.advance(now);
        if self.moments.len() < MOMENTS {
            self.moments.push((self.machine.clone(), now));
        }
        let (dropped, gone, outcome) = drops(&mut self.machine, |machine| machine.input(now, port, event, args));
        if let Some(frame) = self.of_device(port, args) {
            self.came.push(Came { frame, at: (port, event), dropped, gone });
        }
        let due = self.left(due);
        let outcome = self.left(outcome);
        Outcome {
            outputs: [due.outputs, outcome.outputs].concat(),
            reports: [due.reports, outcome.reports].concat(),
            refused: due.refused || outcome.refused,
        }
    }

    fn advance(&mut self, now: u64) -> Outcome {
        let outcome = self.machine.advance(now);
        self.left(outcome)
    }

    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }

    fn accounts(&self) -> Accounts {
        self.machine.accounts()
    }
}
