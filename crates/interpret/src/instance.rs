//! One running stack, as a [`Machine`] like all back ends.

use std::sync::{Arc, Mutex};

use mokume_reaction::border;
use mokume_reaction::profile::{Going, Profile};
use mokume_reaction::trace::Trace;
use mokume_reaction::{
    Accounts, Automaton, CellKind, Datum, Machine, Natives, Outcome, PortId, PortKind, SourceId, Type,
};

use crate::accounts::Ledger;
use crate::chance::{Choice, Chosen};
use crate::core::Core;
use crate::left::Exits;
use crate::message::Message;
use crate::program::{Program, NOBODY};
use crate::record::{lock, Cause, Coverage, Recording, Ways};
use crate::store::{object_of, Content, Life};
use crate::trace;
use crate::watching::{Observed, Watching};

/// The most reactions in one call; further calls continue a stack that never comes to rest.
pub const REACTIONS_PER_CALL: u32 = 1 << 16;

/// A running stack. A clone is independent; two are equal if their objects and queues are.
#[derive(Clone)]
pub struct Instance {
    pub(crate) program: Arc<Program>,
    pub(crate) core: Core,
    /// Our frames that wait in devices' queues: they hold buffers of the pool.
    waiting: u32,
}

impl PartialEq for Instance {
    fn eq(&self, other: &Self) -> bool {
        let later = |core: &Core| -> Vec<(u32, u64, Vec<u64>)> {
            core.later.iter().map(|put| (put.handler, put.target, put.args.clone())).collect()
        };
        self.core.store == other.core.store
            && self.core.unsettled == other.core.unsettled
            && later(&self.core) == later(&other.core)
    }
}

/// The ways that reactions of a composed automaton take in some runs. `drive` gets the run's number, an instance, and one that is
/// watched: that of `open`, the same automaton without procedures (`mokume_analyse::laid_open`).
pub fn ways_of(
    composed: &Automaton,
    open: &Automaton,
    runs: u64,
    mut drive: impl FnMut(u64, (&mut Instance, &mut Instance)),
) -> Profile {
    let profile = Arc::new(Mutex::new(Profile::default()));
    for run in 0..runs {
        let mut watched = Instance::new(open, &[], run);
        watched.record_ways(Arc::clone(&profile));
        drive(run, (&mut Instance::new(composed, &[], run), &mut watched));
    }
    let mut seen = lock(&profile);
    std::mem::take(&mut *seen)
}

impl Instance {
    /// A stack with these parameters, by [`mokume_reaction::ParamId`]; missing ones have their defaults, or 0.
    pub fn new(automaton: &Automaton, params: &[u64], seed: u64) -> Self {
        Self::shared(Arc::new(automaton.clone()), params, seed)
    }

    /// As [`Instance::new`], without copying the automaton.
    pub fn shared(automaton: Arc<Automaton>, params: &[u64], seed: u64) -> Self {
        let program = Arc::new(Program::new(automaton, params));
        let core = Core::new(&program, seed);
        Instance { program, core, waiting: 0 }
    }

    /// Adds functions in C, before the start.
    pub fn with_natives(mut self, natives: Option<Arc<dyn Natives>>) -> Self {
        if let Some(program) = Arc::get_mut(&mut self.program) {
            program.natives = natives;
        }
        self
    }

    /// Enables the automaton's paths, before the start, to compare them with the handlers.
    pub fn with_paths(mut self) -> Self {
        if let Some(program) = Arc::get_mut(&mut self.program) {
            program.take_paths();
        }
        self
    }

    /// How often each path was taken, in their order.
    pub fn paths_taken(&self) -> Vec<u64> {
        lock(&self.core.paths_taken).clone()
    }

    /// Enables the automaton's paths, before the start, and adds how often each was taken to these counts, one for each
    /// path.
    pub fn with_paths_counted(mut self, taken: Arc<Mutex<Vec<u64>>>) -> Self {
        self.core.paths_taken = taken;
        self.with_paths()
    }

    /// Records how often each path reaches its end, and where it is left.
    pub fn with_exits(mut self, exits: Arc<Mutex<Exits>>) -> Self {
        self.core.exits = Some(exits);
        self
    }

    /// A second stack with the same automaton and parameters, not started. Cheap: resolved data is shared.
    pub fn sibling(&self, seed: u64) -> Self {
        Instance { program: self.program.clone(), core: Core::new(&self.program, seed), waiting: 0 }
    }

    /// A planted fault, for tests of tests: one queue for all channels, first in, first out.
    #[doc(hidden)]
    pub fn with_one_queue(automaton: &Automaton, params: &[u64], seed: u64) -> Self {
        let mut program = Program::new(Arc::new(automaton.clone()), params);
        program.merge_channels();
        let core = Core::new(&program, seed);
        Instance { program: Arc::new(program), core, waiting: 0 }
    }

    /// The automaton that runs, composed or not.
    pub fn automaton(&self) -> &Automaton {
        &self.program.automaton
    }

    /// Sets how many frames of this stack wait in devices. They hold buffers, so the machine may refuse calls
    /// (docs/semantics.md, M4).
    pub fn set_waiting(&mut self, frames: u32) {
        self.waiting = frames;
    }

    /// Both sides of the message account, which are equal between two calls.
    pub fn ledger(&self) -> Ledger {
        self.core.totals.ledger()
    }

    /// The most messages that a reaction has held at once so far, beyond those at its beginning. It is at most what
    /// composing computed (docs/semantics.md, M3).
    pub fn most_held(&self) -> u64 {
        self.core.totals.most
    }

    /// Adds an observer from here on.
    pub fn watch(&mut self, observer: Observed) {
        // The cause of an instant refers to recorded instants.
        self.record(false, true);
        let gone = self.core.totals.gone;
        self.core.watching = Some(Box::new(Watching::new(observer, gone)));
    }

    /// Records random choices from here on; call it before the start.
    pub fn note_chance(&mut self) {
        self.core.chance = Some(Box::default());
    }

    /// The choices so far, in order; a pseudorandom number only the first time. Empty before [`Instance::note_chance`].
    pub fn chosen(&self) -> &[Chosen] {
        self.core.chance.as_ref().map_or(&[], |chance| &chance.made)
    }

    /// Sets the result of a future choice.
    pub fn tell_chance(&mut self, choice: Choice, value: u64) {
        if let Some(chance) = &mut self.core.chance {
            chance.told.insert(choice, value);
        }
    }

    /// Starts to count branches, and to record instants.
    pub fn record(&mut self, coverage: bool, instants: bool) {
        let edges = vec![0; self.program.edges as usize];
        let handlers = vec![0; self.program.automaton.handlers.len()];
        let coverage = coverage.then_some(Coverage { edges, handlers });
        let instants = instants.then(Vec::new);
        self.core.recording = Some(Box::new(Recording { coverage, instants, ..Recording::default() }));
    }

    /// Starts to add the ways of its reactions to a profile, and records nothing else. The automaton must have no
    /// procedures (`mokume_analyse::flat`).
    pub fn record_ways(&mut self, profile: Arc<Mutex<Profile>>) {
        let ways = Some(Ways { going: Going::default(), profile });
        self.core.recording = Some(Box::new(Recording { ways, ..Recording::default() }));
    }

    /// The recording so far; `None` before [`Instance::record`].
    pub fn recording(&self) -> Option<&Recording> {
        self.core.recording.as_deref()
    }

    /// Takes what was recorded since the last call; recording continues.
    pub fn take_recording(&mut self) -> Option<Recording> {
        let taken = self.core.recording.take().map(|recording| *recording)?;
        self.record(taken.coverage.is_some(), taken.instants.is_some());
        Some(taken)
    }

    /// Runs everything due before an outside event at `now`; returns how many of the reactions `left` remain.
    fn catch_up(&mut self, now: u64, mut left: u32) -> u32 {
        loop {
            left = self.settle_down(left);
            if left == 0 || !self.run_timer(now) {
                return left;
            }
            left -= 1;
        }
    }

    /// Runs continuations and `later` events until none is left.
    fn settle_down(&mut self, mut left: u32) -> u32 {
        while left > 0 && self.run_pending() {
            left -= 1;
        }
        left
    }

    fn run_pending(&mut self) -> bool {
        let (program, core) = (&*self.program, &mut self.core);
        if !core.unsettled.is_empty() {
            core.continue_settling(program);
        } else if let Some(put) = core.later.pop_front() {
            core.later_waiting[put.handler as usize] -= 1;
            core.totals.held -= program.handlers[put.handler as usize].messages.len() as u64;
            core.react(program, put.handler, put.target, &put.args, Cause::Later);
        } else {
            return false;
        }
        true
    }

    fn run_timer(&mut self, now: u64) -> bool {
        let (program, core) = (&*self.program, &mut self.core);
        let Some((deadline, handler, object)) = core.take_timer(program, now) else { return false };
        core.now = core.now.max(deadline);
        core.due = Some(deadline);
        core.react(program, handler, object, &[], Cause::Expiry);
        true
    }

    fn outcome(&mut self, refused: bool) -> Outcome {
        let reports = std::mem::take(&mut self.core.reports);
        let reports = reports.into_iter().map(|(report, source)| (report, self.place(source))).collect();
        Outcome { outputs: std::mem::take(&mut self.core.outputs), reports, refused }
    }

    /// `file:line`, or an empty text.
    fn place(&self, source: Option<SourceId>) -> String {
        let source = source.and_then(|id| self.program.automaton.sources.get(id.index()));
        source.map_or(String::new(), |source| format!("{}:{}", source.file, source.line))
    }

    /// Whether the pool has room for a reaction (only if composed: without composition the peak is unknown).
    fn has_room(&self) -> bool {
        let automaton = &self.program.automaton;
        let Some(composition) = &automaton.composition else { return true };
        let used = self.core.totals.held + u64::from(self.waiting);
        automaton.pool == 0 || used + u64::from(composition.peak) <= u64::from(automaton.pool)
    }

    /// Handler, object and arguments of an input; `None` if it makes no sense or its object has ended.
    fn admit(&mut self, port: PortId, event: u32, args: &[Datum]) -> Option<(u32, u64, Vec<u64>)> {
        let program = self.program.clone();
        let definition = program.automaton.ports.get(port.index())?;
        let input = definition.inputs.get(event as usize)?;
        let handler = program.inputs[port.index()][event as usize];
        if handler == NOBODY || args.len() != input.params.len() || !self.has_room() {
            return None;
        }
        let fits = |(datum, (_, ty)): (&Datum, &(String, Type))| match (datum, ty) {
            (Datum::Message(_), Type::Msg) => true,
            (Datum::Handle(handle), Type::Ref(class)) => {
                object_of(*handle) == crate::store::NULL || self.core.store.is_living(*class, object_of(*handle))
            }
            (Datum::Word(_), ty) => !matches!(ty, Type::Msg | Type::Ref(_)),
            _ => false,
        };
        if !args.iter().zip(&input.params).all(fits) {
            return None;
        }
        let mut admitted = Vec::new();
        let borders = &program.borders[port.index()][event as usize];
        if !borders.is_empty() {
            let mut words: Vec<u64> =
                args.iter().zip(&input.params).map(|(datum, (_, ty))| program.number(datum, *ty)).collect();
            border::admit(borders, &mut words).ok()?;
            let admit = |(datum, word): (&Datum, u64)| match datum {
                Datum::Word(_) => Datum::Word(word),
                other => other.clone(),
            };
            admitted.extend(args.iter().zip(words).map(admit));
        }
        let args = if admitted.is_empty() { args } else { &admitted };
        let unique = program.classes[input.class.index()].unique;
        let (object, args, params) = match (unique, args.split_first()) {
            (true, _) => (self.core.store.object_in(input.class, 0), args, &input.params[..]),
            (false, Some((Datum::Handle(target), rest))) => (object_of(*target), rest, &input.params[1..]),
            _ => return None,
        };
        if !self.core.store.is_living(input.class, object) {
            return None;
        }
        let is_device = definition.kind == PortKind::Device;
        let words = args.iter().zip(params).map(|(datum, (_, ty))| self.word(datum, *ty, is_device)).collect();
        Some((handler, object, words))
    }

    fn word(&mut self, datum: &Datum, ty: Type, is_device: bool) -> u64 {
        match datum {
            Datum::Word(_) => self.program.number(datum, ty),
            Datum::Handle(handle) => object_of(*handle),
            Datum::Message(octets) => {
                self.core.totals.entered += 1;
                self.core.totals.received += u64::from(is_device);
                self.core.messages.put(Box::new(Message::new(&self.program.automaton, octets.clone())))
            }
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let mut counters = Vec::new();
        for (id, class) in self.program.automaton.classes.iter().enumerate() {
            for (place, cell) in class.cells.iter().enumerate().filter(|(_, cell)| cell.kind == CellKind::Counter) {
                let places = &self.core.store.classes[id].places;
                let living = places.iter().filter(|object| object.life != Life::Free).map(|o| match o.cells[place] {
                    Content::Counter(total) => total,
                    _ => 0,
                });
                let total = living.fold(self.core.totals.retired[id][place], u64::wrapping_add);
                counters.push((format!("{}.{}", class.name, cell.name), total));
            }
        }
        counters
    }
}

impl Machine for Instance {
    fn start(&mut self, now: u64) -> Outcome {
        self.core.now = now;
        let mut left = REACTIONS_PER_CALL;
        for class in 0..self.program.classes.len() {
            let handler = self.program.classes[class].start;
            if handler != NOBODY {
                let object = self.core.store.object_in(class.into(), 0);
                self.core.react(&self.program, handler, object, &[], Cause::Start);
                left = self.settle_down(left);
            }
        }
        self.outcome(false)
    }

    fn input(&mut self, now: u64, port: PortId, event: u32, args: &[Datum]) -> Outcome {
        let left = self.catch_up(now, REACTIONS_PER_CALL);
        self.core.now = self.core.now.max(now);
        let Some((handler, object, args)) = self.admit(port, event, args) else {
            self.core.totals.refused += 1;
            return self.outcome(true);
        };
        self.core.react(&self.program, handler, object, &args, Cause::Input(port));
        // Timers that this reaction set for now or earlier wait for the next call: the event came first.
        self.settle_down(left.max(1));
        self.outcome(false)
    }

    fn advance(&mut self, now: u64) -> Outcome {
        let left = self.catch_up(now, REACTIONS_PER_CALL);
        if left > 0 {
            self.core.now = self.core.now.max(now);
        }
        self.outcome(false)
    }

    fn next_deadline(&self) -> Option<u64> {
        if !self.core.unsettled.is_empty() || !self.core.later.is_empty() {
            return Some(self.core.now);
        }
        self.core.store.timers.first().map(|armed| armed.deadline)
    }

    fn accounts(&self) -> Accounts {
        self.core.totals.accounts(self.counters())
    }

    fn reactions(&self) -> u64 {
        self.core.reactions
    }

    fn trace(&mut self) {
        trace::begin(&mut self.core.store);
        self.core.steps = Some(Vec::new());
    }

    fn traced(&mut self) -> Option<Trace> {
        let steps = std::mem::take(self.core.steps.as_mut()?);
        let changes = trace::take(&self.program.automaton, &mut self.core.store);
        Some(Trace { steps, changes })
    }
}
