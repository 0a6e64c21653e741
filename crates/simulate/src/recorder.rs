//! Records what happens: numbers, causes, and the fates of messages, which only a machine's accounts tell.
//!
//! Invariant: records depend only on the machines' answers; recording does not change a run.

use mokume_reaction::trace::Trace;
use mokume_reaction::{Accounts, Datum, Machine, Outcome, PortId, ReasonId};

use crate::record::Ending;
use crate::{Record, RecordedEvent};

/// Receives each record when it is made.
pub type Sink<'a> = Box<dyn FnMut(Record) + 'a>;

/// Numbers records, and knows their causes.
#[derive(Default)]
pub(crate) struct Recorder {
    last: u64,
    cause: Option<u64>,
    /// A record to keep only if something follows from it.
    pending: Option<Pending>,
}

struct Pending {
    cause: Option<u64>,
    what: RecordedEvent,
    did: Option<Box<Trace>>,
}

impl Recorder {
    /// Begins a call of a machine, and what it did: records until the next call are caused by it, and it by `cause`.
    pub fn begin(&mut self, cause: Option<u64>, what: RecordedEvent, did: Option<Trace>) {
        self.cause = None;
        let did = did.filter(|did| !did.steps.is_empty() || !did.changes.is_empty()).map(Box::new);
        self.pending = Some(Pending { cause, what, did });
    }

    /// Keeps the record of the call if it did something.
    pub fn keep_if_it_did(&mut self, at: u64, sink: &mut dyn FnMut(Record)) {
        if self.pending.as_ref().is_some_and(|pending| pending.did.is_some()) {
            self.keep_call(at, sink);
        }
    }

    /// Keeps the record of the call in any case.
    pub fn keep_call(&mut self, at: u64, sink: &mut dyn FnMut(Record)) {
        if let Some(Pending { cause, what, did }) = self.pending.take() {
            self.cause = Some(self.write(at, cause, (what, did), sink));
        }
    }

    /// Records a consequence of the call; returns its number.
    pub fn note(&mut self, at: u64, what: RecordedEvent, sink: &mut dyn FnMut(Record)) -> u64 {
        self.keep_call(at, sink);
        self.write(at, self.cause, (what, None), sink)
    }

    fn write(
        &mut self,
        at: u64,
        cause: Option<u64>,
        (what, did): (RecordedEvent, Option<Box<Trace>>),
        sink: &mut dyn FnMut(Record),
    ) -> u64 {
        self.last += 1;
        sink(Record { id: self.last, cause, at, what, did });
        self.last
    }
}

/// The fates of a machine's messages at the last look.
#[derive(Default)]
pub(crate) struct Ended {
    dropped: Vec<(ReasonId, u64)>,
    consumed: Vec<(ReasonId, u64)>,
    gone: u64,
}

impl Ended {
    /// The fates since then.
    pub fn since(&mut self, host: usize, accounts: Accounts) -> Vec<RecordedEvent> {
        let mut found = Vec::new();
        for (how, before, now) in [
            (Ending::Dropped, &mut self.dropped, accounts.dropped),
            (Ending::Consumed, &mut self.consumed, accounts.consumed),
        ] {
            let was =
                |reason: ReasonId| before.iter().find(|(known, _)| *known == reason).map_or(0, |(_, count)| *count);
            let more = now.iter().filter(|(reason, count)| *count > was(*reason));
            found.extend(more.map(|(reason, count)| RecordedEvent::Ended {
                host,
                how,
                reason: *reason,
                count: count - was(*reason),
            }));
            *before = now;
        }
        if accounts.gone > self.gone {
            found.push(RecordedEvent::Gone { host, count: accounts.gone - self.gone });
        }
        self.gone = accounts.gone;
        found
    }
}

/// A machine on its own devices, recorded: frames have the number of their packet in a capture.
pub struct Recorded<'a, M> {
    machine: M,
    /// The device ports, in the order of media.
    devices: Vec<PortId>,
    frames: u64,
    recorder: Recorder,
    ended: Ended,
    /// The time of the last record.
    at: u64,
    sink: Sink<'a>,
}

impl<'a, M: Machine> Recorded<'a, M> {
    /// `devices` are the ports whose messages are frames.
    pub fn new(machine: M, devices: Vec<PortId>, sink: Sink<'a>) -> Self {
        Recorded { machine, devices, frames: 0, recorder: Recorder::default(), ended: Ended::default(), at: 0, sink }
    }

    /// The number of the last record, 0 if there is none, and the time of the machine's last call.
    pub fn last(&self) -> (u64, u64) {
        (self.recorder.last, self.at)
    }

    fn medium(&self, port: PortId) -> Option<usize> {
        self.devices.iter().position(|device| *device == port)
    }

    /// Records the outcome of a call; `is_shown`: the call is recorded even if nothing followed.
    fn answered(&mut self, now: u64, outcome: Outcome, is_shown: bool) -> Outcome {
        self.at = now;
        match is_shown {
            true => self.recorder.keep_call(now, &mut self.sink),
            false => self.recorder.keep_if_it_did(now, &mut self.sink),
        }
        for (report, place) in &outcome.reports {
            let what = RecordedEvent::Reported { host: 0, report: *report, place: place.clone() };
            self.recorder.note(now, what, &mut self.sink);
        }
        for what in self.ended.since(0, self.machine.accounts()) {
            self.recorder.note(now, what, &mut self.sink);
        }
        for output in &outcome.outputs {
            let (host, port, event) = (0, output.port, output.event);
            let what = match (self.medium(port), output.args.as_slice()) {
                (Some(medium), [Datum::Message(frame)]) => {
                    self.frames += 1;
                    let (number, frame, fates) = (self.frames, frame.clone(), Vec::new());
                    RecordedEvent::Sent { host, port, medium, number, frame, fates }
                }
                _ => RecordedEvent::Output { host, port, event, args: output.args.clone() },
            };
            self.recorder.note(now, what, &mut self.sink);
        }
        outcome
    }
}

impl<M: Machine> Machine for Recorded<'_, M> {
    fn start(&mut self, now: u64) -> Outcome {
        let outcome = self.machine.start(now);
        self.recorder.begin(None, RecordedEvent::Started { host: 0 }, self.machine.traced());
        self.answered(now, outcome, false)
    }

    /// Work due before the event is a call of its own, as the machine does it first anyway (docs/semantics.md, T3).
    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let is_due = self.machine.next_deadline().is_some_and(|due| due <= now);
        let due = if is_due { self.advance(now) } else { Outcome::default() };
        let outcome = self.machine.input(now, port, event, args);
        let (host, refused) = (0, outcome.refused);
        let what = match (self.medium(port), args) {
            (Some(_), [Datum::Message(frame)]) => {
                self.frames += 1;
                RecordedEvent::Arrived { host, port, number: self.frames, frame: frame.clone(), refused }
            }
            _ => RecordedEvent::Input { host, port, event, args: args.to_vec(), refused },
        };
        self.recorder.begin(None, what, self.machine.traced());
        let outcome = self.answered(now, outcome, true);
        Outcome {
            outputs: [due.outputs, outcome.outputs].concat(),
            reports: [due.reports, outcome.reports].concat(),
            refused: outcome.refused,
        }
    }

    fn advance(&mut self, now: u64) -> Outcome {
        let outcome = self.machine.advance(now);
        self.recorder.begin(None, RecordedEvent::Woken { host: 0 }, self.machine.traced());
        self.answered(now, outcome, false)
    }

    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }

    fn accounts(&self) -> Accounts {
        self.machine.accounts()
    }

    fn exhausted(&self) -> u64 {
        self.machine.exhausted()
    }

    fn reactions(&self) -> u64 {
        self.machine.reactions()
    }

    fn trace(&mut self) {
        self.machine.trace();
    }
}
