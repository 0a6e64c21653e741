//! The event loop: the earliest of arrivals, script inputs and deadlines comes next; ties are in the order in which
//! they were made.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use mokume_base::Random;
use mokume_reaction::{Accounts, Datum, Machine, Outcome, PortId, ReasonId};

use crate::record::{self, Loss};
use crate::recorder::{Ended, Recorder};
use crate::restless::{Calls, DueAgain, Left, Much, Restless, Senders, Why};
use crate::restless::{EVENTS_AT_ONE_TIME, FRAMES_UNDER_WAY, ROUNDS_AT_ONE_TIME};
use crate::weather::{befall, by_chance, ills_of, Lines};
use crate::{Fate, Ill, Medium, Member, Mishap, Record, RecordedEvent, ScriptedInput, Unwatched, Watch};

/// A machine and its name. Ports of media are named by [`Medium::members`].
pub struct Host {
    pub name: String,
    pub machine: Box<dyn Machine>,
    /// By port: the input event of a device's port that takes a frame.
    pub frame_events: Vec<(PortId, u32)>,
    /// Input events whose message the port drops, with each reason: beyond the credit, or too long.
    pub turned_down: Vec<(PortId, u32, ReasonId)>,
}

impl Host {
    /// How many messages of an input event the port itself has dropped.
    fn turned_down(&self, port: PortId, event: u32) -> u64 {
        let of_this = self.turned_down.iter().filter(|(of, input, _)| (*of, *input) == (port, event));
        let reasons: Vec<ReasonId> = of_this.map(|(.., reason)| *reason).collect();
        if reasons.is_empty() {
            return 0;
        }
        let dropped = self.machine.accounts().dropped;
        dropped.iter().filter(|(reason, _)| reasons.contains(reason)).map(|(_, count)| *count).sum()
    }
}

/// From `from` until `until` (nanoseconds), these hosts and the others cannot reach each other: frames sent then are
/// lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    pub hosts: Vec<usize>,
    pub from: u64,
    pub until: u64,
}

impl Partition {
    fn separates(&self, a: usize, b: usize, now: u64) -> bool {
        (self.from..self.until).contains(&now) && self.hosts.contains(&a) != self.hosts.contains(&b)
    }
}

/// A host crashes at a time, and is then silent, or restarts with a new machine.
pub struct Outage {
    pub host: usize,
    pub at: u64,
    /// For a restart: the new machine.
    pub again: Option<Box<dyn Machine>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Coming {
    Outage(usize),
    Arrival { host: usize, port: PortId, number: u64, frame: Vec<u8>, cause: Option<u64>, left: Left },
    Script(usize),
}

/// A network of hosts; [`Simulation::run`] drives it.
pub struct Simulation {
    pub hosts: Vec<Host>,
    pub media: Vec<Medium>,
    script: Vec<ScriptedInput>,
    coming: BinaryHeap<Reverse<(u64, u64, Coming)>>,
    order: u64,
    frames: u64,
    now: u64,
    random: Random,
    records: Vec<Record>,
    recorder: Recorder,
    /// By host, the fates of its messages.
    fates: Vec<Ended>,
    /// By index in the script: the output that triggered it.
    causes: Vec<Option<u64>>,
    keep: Keep,
    restless: Option<Restless>,
    calls: Calls,
    /// What is sent now is sent as a frame, or an input that an output triggered, comes.
    answering: bool,
    /// The present call has brought about another at this time.
    brings: bool,
    /// The inputs that no output triggered.
    scripted: usize,
    /// How many frames are on their way.
    under_way: usize,
    partitions: Vec<Partition>,
    outages: Vec<Outage>,
    /// Hosts that have crashed.
    down: BTreeSet<usize>,
    /// By host, how many inputs came while it was down.
    turned_away: BTreeMap<usize, u64>,
    /// The machines of crashed hosts, ordered by time.
    ended: Vec<(usize, Box<dyn Machine>)>,
    lines: Lines,
    /// Faults of single frames.
    mishaps: BTreeMap<(Member, u64), Vec<(usize, Mishap)>>,
    unfulfilled: Vec<Unfulfilled>,
    /// The random fates of single frames, with their sending times, if recorded.
    noted: Option<Vec<(u64, Mishap)>>,
    /// The times still to come at which the accounts of all hosts are taken, the latest first.
    looks: Vec<u64>,
    taken: BTreeMap<u64, Vec<Accounts>>,
}

/// A mishap that could not be applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfulfilled {
    /// The device has sent fewer frames. `mishap` is the index among those given to [`Simulation::befallen`].
    NoFrame { mishap: usize, sent: u64 },
    /// The frame, sent at this time, is too short to have the bit.
    NoBit { mishap: usize, at: u64, bit: u64, octets: usize },
}

/// Which records a run keeps: all, for charts and captures, with the steps of each call or without; or only reports and
/// their causes, for runs of any length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    Steps,
    All,
    Reports,
}

impl Simulation {
    /// A network whose hosts have not started. The script need not be sorted; inputs of one time keep their order. All
    /// randomness comes from the seed.
    pub fn new(hosts: Vec<Host>, media: Vec<Medium>, script: Vec<ScriptedInput>, seed: u64) -> Self {
        Simulation {
            hosts,
            media,
            script,
            coming: BinaryHeap::new(),
            order: 0,
            frames: 0,
            now: 0,
            random: Random::new(seed),
            records: Vec::new(),
            recorder: Recorder::default(),
            fates: Vec::new(),
            causes: Vec::new(),
            keep: Keep::All,
            restless: None,
            calls: Calls::default(),
            answering: false,
            brings: false,
            scripted: 0,
            under_way: 0,
            partitions: Vec::new(),
            outages: Vec::new(),
            down: BTreeSet::new(),
            turned_away: BTreeMap::new(),
            ended: Vec::new(),
            lines: Lines::default(),
            mishaps: BTreeMap::new(),
            unfulfilled: Vec::new(),
            noted: None,
            looks: Vec::new(),
            taken: BTreeMap::new(),
        }
    }

    /// Keeps fewer records.
    pub fn keeping(self, keep: Keep) -> Self {
        Simulation { keep, ..self }
    }

    /// Adds partitions.
    pub fn parted(self, partitions: Vec<Partition>) -> Self {
        Simulation { partitions, ..self }
    }

    /// Adds crashes and restarts. At equal times they come before inputs, in the order given.
    pub fn failing(self, outages: Vec<Outage>) -> Self {
        Simulation { outages, ..self }
    }

    /// The machines of crashed hosts, ordered by time.
    pub fn ended(&self) -> &[(usize, Box<dyn Machine>)] {
        &self.ended
    }

    /// Adds faults of single frames, in addition to the weather.
    pub fn befallen(self, mishaps: Vec<Mishap>) -> Self {
        let mut by_frame: BTreeMap<(Member, u64), Vec<(usize, Mishap)>> = BTreeMap::new();
        for (place, mishap) in mishaps.into_iter().enumerate() {
            by_frame.entry((mishap.from, mishap.number)).or_default().push((place, mishap));
        }
        Simulation { mishaps: by_frame, ..self }
    }

    /// Records the random fates of frames: [`Simulation::noted`].
    pub fn noting(self) -> Self {
        Simulation { noted: Some(Vec::new()), ..self }
    }

    /// Takes the accounts of all hosts at these times: [`Simulation::accounts_at`].
    pub fn looking(self, mut at: Vec<u64>) -> Self {
        at.sort_unstable_by(|a, b| b.cmp(a));
        Simulation { looks: at, ..self }
    }

    /// The accounts of a host when all that happens at this time has happened, those of its lives together; of a time of
    /// [`Simulation::looking`] that the run has reached.
    pub fn accounts_at(&self, at: u64, host: usize) -> Option<&Accounts> {
        self.taken.get(&at)?.get(host)
    }

    /// The accounts of a host until now, those of its lives together.
    pub fn accounts(&self, host: usize) -> Accounts {
        let mut accounts = self.hosts[host].machine.accounts();
        let before = self.ended.iter().filter(|(of, _)| *of == host);
        before.for_each(|(_, machine)| accounts.add(&machine.accounts()));
        accounts.refused += self.turned_away.get(&host).copied().unwrap_or(0);
        accounts
    }

    /// Takes the accounts of the times that are over when it is `now`.
    fn look(&mut self, now: Option<u64>) {
        while let Some(at) = self.looks.last().copied().filter(|at| now.is_none_or(|now| *at < now)) {
            self.looks.pop();
            let accounts = (0..self.hosts.len()).map(|host| self.accounts(host)).collect();
            self.taken.insert(at, accounts);
        }
    }

    /// The random fates of single frames, with their sending times. In calm weather, with the least delay and these
    /// mishaps, the network would run in the same way.
    pub fn noted(&self) -> &[(u64, Mishap)] {
        self.noted.as_deref().unwrap_or_default()
    }

    /// The mishaps that could not be applied so far.
    pub fn unfulfilled(&self) -> Vec<Unfulfilled> {
        let mut found = self.unfulfilled.clone();
        for ((from, number), mishaps) in &self.mishaps {
            let sent = self.lines.sent(*from);
            if *number > sent {
                found.extend(mishaps.iter().map(|(mishap, _)| Unfulfilled::NoFrame { mishap: *mishap, sent }));
            }
        }
        found
    }

    /// Why the run ended early, at [`Simulation::now`], if it did.
    pub fn restless(&self) -> Option<&Restless> {
        self.restless.as_ref()
    }

    /// Starts all hosts and runs to `until` (nanoseconds), or until nothing is left to do. `progress` is told the time.
    pub fn run(&mut self, until: u64, progress: &mut dyn FnMut(u64)) -> &[Record] {
        self.run_watched(until, &mut Unwatched, progress)
    }

    /// As [`Simulation::run`], with a watcher.
    pub fn run_watched(&mut self, until: u64, watch: &mut dyn Watch, progress: &mut dyn FnMut(u64)) -> &[Record] {
        self.run_to(until, watch, progress);
        self.look(None);
        &self.records
    }

    fn run_to(&mut self, until: u64, watch: &mut dyn Watch, progress: &mut dyn FnMut(u64)) {
        for index in 0..self.outages.len() {
            self.enqueue(self.outages[index].at, Coming::Outage(index));
        }
        self.scripted = self.script.len();
        for index in 0..self.script.len() {
            let at = self.script[index].at;
            self.enqueue(at, Coming::Script(index));
        }
        for host in 0..self.hosts.len() {
            self.trace(host);
            let outcome = self.hosts[host].machine.start(0);
            self.begin(host, RecordedEvent::Started { host });
            self.take_outcome(host, outcome, watch);
            if self.restless.is_some() {
                return;
            }
        }
        let (mut rounds, mut events, mut due) = (0, 0, vec![DueAgain::default(); self.hosts.len()]);
        // The frames that arrive at this time and were sent earlier.
        let mut earlier = Senders::default();
        while let Some(at) = self.next_time().filter(|at| *at <= until) {
            (rounds, events) = if at == self.now { (rounds + 1, events) } else { (0, 0) };
            if rounds == 0 {
                due.fill(DueAgain::default());
                earlier = Senders::default();
            }
            if rounds > ROUNDS_AT_ONE_TIME {
                self.restless = Some(self.calls.events_at_once(at));
                return;
            }
            self.look(Some(at));
            self.now = at;
            progress(at);
            self.run_deadlines(at, &mut due, watch);
            if self.restless.is_some() {
                return;
            }
            while self.coming.peek().is_some_and(|Reverse((due, ..))| *due <= at) {
                let Some(Reverse((_, _, coming))) = self.coming.pop() else { break };
                events += 1;
                if let Coming::Arrival { left, .. } = &coming {
                    self.under_way -= 1;
                    if left.at < at {
                        earlier.add(*left);
                    }
                }
                if events > EVENTS_AT_ONE_TIME {
                    self.restless = Some(self.too_many(events, earlier));
                    return;
                }
                self.carry_out(coming, watch);
                if self.restless.is_some() {
                    return;
                }
            }
        }
        self.now = until.max(self.now);
    }

    /// The records so far, as far as [`Keep`] keeps them.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Nanoseconds since the start: after a run, its end, or where it stopped because it never rests.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// These events at one time are too many, of which these frames were sent earlier.
    fn too_many(&self, events: u32, earlier: Senders) -> Restless {
        if earlier.frames * 2 < events as usize {
            return self.calls.events_at_once(self.now);
        }
        let is_still_to_come = |Reverse((at, _, coming)): &&Reverse<(u64, u64, Coming)>| {
            *at <= self.now && matches!(coming, Coming::Arrival { left, .. } if left.at < self.now)
        };
        let frames = earlier.frames + self.coming.iter().filter(is_still_to_come).count();
        self.senders(earlier).many(true, frames)
    }

    /// The senders of all frames on their way, and of others.
    fn senders(&self, mut senders: Senders) -> Senders {
        for Reverse((_, _, coming)) in &self.coming {
            if let Coming::Arrival { left, .. } = coming {
                senders.add(*left);
            }
        }
        senders
    }

    fn next_time(&self) -> Option<u64> {
        let coming = self.coming.peek().map(|Reverse((at, ..))| *at);
        let running = self.hosts.iter().enumerate().filter(|(host, _)| !self.down.contains(host));
        let deadline = running.filter_map(|(_, host)| host.machine.next_deadline()).min();
        let next = match (coming, deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        next.map(|at| at.max(self.now))
    }

    fn enqueue(&mut self, at: u64, coming: Coming) {
        self.order += 1;
        self.brings |= at <= self.now;
        self.under_way += usize::from(matches!(coming, Coming::Arrival { .. }));
        self.coming.push(Reverse((at, self.order, coming)));
    }

    /// Calls the hosts that are due; `due` are, by host, the calls at this time after which it was due again.
    fn run_deadlines(&mut self, at: u64, due: &mut [DueAgain], watch: &mut dyn Watch) {
        if self.call_those_due(at, due, watch) {
            // Who is due a second time is told from who comes to rest.
            if !due.iter().any(DueAgain::is_often) {
                self.call_those_due(at, due, watch);
            }
            self.restless = Some(self.calls.due_at_once(due));
        }
    }

    /// Calls each of them once. Returns whether some are due again too often, or too much is done by then.
    fn call_those_due(&mut self, at: u64, due: &mut [DueAgain], watch: &mut dyn Watch) -> bool {
        let (mut is_for_ever, has_ended) = (false, self.restless.is_some());
        for (host, due) in due.iter_mut().enumerate() {
            if self.down.contains(&host) || self.hosts[host].machine.next_deadline().is_none_or(|due| due > at) {
                continue;
            }
            let outcome = self.hosts[host].machine.advance(at);
            self.called(host, Why::Due);
            let is_hurried = self.restless.is_some();
            self.begin(host, RecordedEvent::Woken { host });
            let effects = self.take_outcome(host, outcome, watch);
            if self.hosts[host].machine.next_deadline().is_some_and(|due| due <= at) {
                due.add(effects);
                self.calls.brings(host, at);
                is_for_ever |= due.is_too_much() || self.restless.is_some() && !is_hurried;
            }
            // Of what is for ever, the others take their turn, so that all are told.
            if self.restless.is_some() && !is_for_ever && !has_ended {
                break;
            }
        }
        is_for_ever
    }

    /// Notes a call of a host, and detects too many in a short time.
    fn called(&mut self, host: usize, why: Why) {
        self.answering = matches!(why, Why::Frame(_));
        self.calls.note(host, why);
        let hurries = self.calls.hurries(host, why, self.now);
        self.hurried(host, hurries);
    }

    /// The run ends early if a host hurries, unless it ends already.
    fn hurried(&mut self, host: usize, hurries: Option<(Much, u64)>) {
        if let Some((much, within)) = hurries.filter(|_| self.restless.is_none()) {
            let by = self.calls.hurried_by(host, &self.senders(Senders::default()));
            self.restless = Some(Restless::Hurried { host, much, within, by });
        }
    }

    fn carry_out(&mut self, coming: Coming, watch: &mut dyn Watch) {
        match coming {
            Coming::Outage(index) => self.turn(index, watch),
            Coming::Arrival { host, number, cause, .. } if self.down.contains(&host) => {
                self.call(cause, RecordedEvent::Unheard { host, number });
            }
            Coming::Script(index) if self.down.contains(&self.script[index].host) => {
                let ScriptedInput { host, port, event, .. } = self.script[index];
                let args = watch.arguments(self.now, index, &self.script[index]).unwrap_or_default();
                let cause = self.causes.get(index).copied().flatten();
                *self.turned_away.entry(host).or_insert(0) += 1;
                self.call(cause, RecordedEvent::Input { host, port, event, args, refused: true });
            }
            Coming::Arrival { host, port, number, frame, cause, .. } => {
                let Some((_, event)) = self.hosts[host].frame_events.iter().find(|(of, _)| *of == port).copied() else {
                    return;
                };
                let args = [Datum::Message(frame.clone())];
                watch.arrives(host, number);
                let outcome = self.hosts[host].machine.input(self.now, port, event, &args);
                self.called(host, Why::Frame(number));
                self.call(cause, RecordedEvent::Arrived { host, port, number, frame, refused: outcome.refused });
                self.take_outcome(host, outcome, watch);
            }
            Coming::Script(index) => {
                let Some(args) = watch.arguments(self.now, index, &self.script[index]) else { return };
                let ScriptedInput { host, port, event, .. } = self.script[index];
                self.calls.note(host, Why::Input);
                self.answering = index >= self.scripted;
                let before = self.hosts[host].turned_down(port, event);
                let outcome = self.hosts[host].machine.input(self.now, port, event, &args);
                // A message that the port has dropped did not come in.
                if !outcome.refused && self.hosts[host].turned_down(port, event) == before {
                    watch.input(self.now, host, port, event, &args);
                }
                let cause = self.causes.get(index).copied().flatten();
                self.call(cause, RecordedEvent::Input { host, port, event, args, refused: outcome.refused });
                self.take_outcome(host, outcome, watch);
            }
        }
    }

    /// A host crashes or restarts.
    fn turn(&mut self, index: usize, watch: &mut dyn Watch) {
        let Outage { host, again, .. } = &mut self.outages[index];
        let (host, again) = (*host, again.take());
        watch.turned(host, again.is_some());
        let Some(machine) = again else {
            self.down.insert(host);
            return self.call(None, RecordedEvent::Crashed { host });
        };
        self.down.remove(&host);
        let before = std::mem::replace(&mut self.hosts[host].machine, machine);
        self.ended.push((host, before));
        if let Some(fates) = self.fates.get_mut(host) {
            *fates = Ended::default();
        }
        self.trace(host);
        self.answering = false;
        let outcome = self.hosts[host].machine.start(self.now);
        self.call(None, RecordedEvent::Restarted { host });
        self.take_outcome(host, outcome, watch);
    }

    /// Returns how much the host sent, put out and reported. Of frames, those that are too many do not leave.
    fn take_outcome(&mut self, host: usize, outcome: Outcome, watch: &mut dyn Watch) -> usize {
        let effects = outcome.outputs.len() + outcome.reports.len();
        for (report, place) in outcome.reports {
            self.record(RecordedEvent::Reported { host, report, place });
        }
        self.note_ended(host);
        self.brings = false;
        for output in outcome.outputs {
            if self.under_way > FRAMES_UNDER_WAY {
                break;
            }
            // The watcher also gets frames as they leave; their consequences come after them.
            let inputs = watch.output(self.now, host, &output);
            let medium = self.media.iter().position(|medium| medium.members.contains(&(host, output.port)));
            let is_frame = medium.is_some() && matches!(output.args[..], [Datum::Message(_)]);
            watch.left(host, is_frame.then_some(self.frames + 1));
            let cause = match (medium, output.args.as_slice()) {
                (Some(medium), [Datum::Message(frame)]) => self.send(host, output.port, medium, frame.clone()),
                _ => {
                    let (port, event) = (output.port, output.event);
                    self.record(RecordedEvent::Output { host, port, event, args: output.args })
                }
            };
            for input in inputs {
                self.enqueue(input.at.max(self.now), Coming::Script(self.script.len()));
                self.causes.resize(self.script.len(), None);
                self.causes.push(cause);
                self.script.push(input);
            }
        }
        if self.brings {
            self.calls.brings(host, self.now);
        }
        let hurries = self.calls.does(host, effects, self.now);
        self.hurried(host, hurries);
        effects
    }

    /// Returns the number of its record, if it is kept.
    fn send(&mut self, host: usize, port: PortId, medium: usize, frame: Vec<u8>) -> Option<u64> {
        self.frames += 1;
        let number = self.frames;
        let from = (host, port);
        let nth = self.lines.number(from);
        let weather = self.media[medium].weather.at(self.now);
        let gone = self.lines.leave(&weather, from, frame.len(), self.now);
        let others: Vec<_> = self.media[medium].members.iter().copied().filter(|member| *member != from).collect();
        let (mut fates, mut coming) = (Vec::new(), Vec::new());
        self.look_for_bits((from, nth), frame.len());
        for to in others {
            // The weather is drawn anyway, so that neither a partition nor a full queue changes the fates of other
            // frames.
            let burst = self.lines.bursts.entry((from, to)).or_default();
            let mut copies = by_chance(&weather, frame.len(), burst, &mut self.random);
            if let Some(noted) = &mut self.noted {
                let mishap = |what| (self.now, Mishap { from, number: nth, to: Some(to), what });
                noted.extend(ills_of(&copies).into_iter().map(mishap));
            }
            let of_this = self.mishaps.get(&(from, nth)).into_iter().flatten();
            let is_meant = |(_, mishap): &&(usize, Mishap)| mishap.to.is_none_or(|heard| heard == to);
            of_this.filter(is_meant).for_each(|(_, mishap)| befall(&mut copies, &mishap.what));
            let parted = self.partitions.iter().any(|cut| cut.separates(host, to.0, self.now));
            let left = match gone {
                _ if parted => Err(Loss::Partition),
                None => Err(Loss::Queue),
                Some(_) if copies.is_empty() => Err(Loss::Weather),
                Some(left) => Ok(left),
            };
            let left = match left {
                Ok(left) => left,
                Err(loss) => {
                    fates.push((to, Fate::Lost(loss)));
                    continue;
                }
            };
            let at = |late: u64| left.saturating_add(weather.delay.0).saturating_add(late);
            coming.extend(copies.iter().map(|copy| (at(copy.late), to, copy.of(&frame))));
            let copies = copies.into_iter().map(|copy| record::Coming { at: at(copy.late), turned: copy.turned });
            fates.push((to, Fate::Arrives(copies.collect())));
        }
        let cause = self.record(RecordedEvent::Sent { host, port, medium, number, frame, fates });
        let left = Left { host, at: self.now, answers: self.answering };
        if !coming.is_empty() {
            self.calls.answers(host);
        }
        for (at, (host, port), frame) in coming {
            self.enqueue(at, Coming::Arrival { host, port, number, frame, cause, left });
        }
        if self.under_way > FRAMES_UNDER_WAY && self.restless.is_none() {
            self.restless = Some(self.senders(Senders::default()).many(false, self.under_way));
        }
        cause
    }

    /// Notes bits to flip that a frame of this size does not have.
    fn look_for_bits(&mut self, frame: (Member, u64), octets: usize) {
        let at = self.now;
        for (mishap, Mishap { what, .. }) in self.mishaps.get(&frame).into_iter().flatten() {
            for ill in what {
                let Ill::Turned(bit) = *ill else { continue };
                if bit / 8 >= octets as u64 {
                    self.unfulfilled.push(Unfulfilled::NoBit { mishap: *mishap, at, bit, octets });
                }
            }
        }
    }

    /// A frame or an input reaches a host; what follows is caused by it.
    fn call(&mut self, cause: Option<u64>, what: RecordedEvent) {
        let did = self.hosts[what.host()].machine.traced();
        self.recorder.begin(cause, what, did);
        if self.keep != Keep::Reports {
            self.recorder.keep_call(self.now, &mut |record| self.records.push(record));
        }
    }

    /// A host was called without an outside event: recorded if it did something.
    fn begin(&mut self, host: usize, what: RecordedEvent) {
        let did = self.hosts[host].machine.traced();
        self.recorder.begin(None, what, did);
        if self.keep != Keep::Reports {
            self.recorder.keep_if_it_did(self.now, &mut |record| self.records.push(record));
        }
    }

    /// A machine whose steps are kept records them from its start.
    fn trace(&mut self, host: usize) {
        if self.keep == Keep::Steps {
            self.hosts[host].machine.trace();
        }
    }

    /// What the host's layers did with messages that have ended.
    fn note_ended(&mut self, host: usize) {
        if self.keep == Keep::Reports {
            return;
        }
        self.fates.resize_with(self.hosts.len(), Ended::default);
        for what in self.fates[host].since(host, self.hosts[host].machine.accounts()) {
            self.record(what);
        }
    }

    /// Returns the number of the record, if it is kept.
    fn record(&mut self, what: RecordedEvent) -> Option<u64> {
        let is_kept = self.keep != Keep::Reports || matches!(what, RecordedEvent::Reported { .. });
        is_kept.then(|| self.recorder.note(self.now, what, &mut |record| self.records.push(record)))
    }
}
