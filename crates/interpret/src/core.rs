//! The running state: objects, queues, and scratch space for the current reaction.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mokume_reaction::trace::Step;
use mokume_reaction::{CellId, ClassId, Output, ReasonId, Report, SourceId};

use crate::accounts::Totals;
use crate::chance::Chance;
use crate::left::Exits;
use crate::message::Message;
use crate::program::Program;
use crate::record::Recording;
use crate::store::Store;
use crate::watching::Watching;

/// All of an instance that changes. Between two calls, only objects, totals, `now`, queued `later` events and unsettled
/// objects matter; the rest is empty, and kept to reuse its memory.
#[derive(Clone)]
pub struct Core {
    pub store: Store,
    pub totals: Totals,
    pub now: u64,
    /// Events for reactions of their own, in order.
    pub later: VecDeque<Put>,
    /// By handler: the number of its events in `later`.
    pub later_waiting: Vec<u32>,
    /// Dirty objects, the longest dirty first. An entry counts only if the object has been dirty since then.
    pub dirty: VecDeque<Dirty>,
    pub dirty_serial: u64,
    /// Objects that reached their settle limit, for the continuation.
    pub unsettled: Vec<(ClassId, u64)>,
    /// Objects that settled in this reaction.
    pub settled: Vec<(ClassId, u64)>,
    pub ended: Vec<(ClassId, u32)>,
    pub messages: Arena,
    /// Emissions of this reaction; those of one handler are contiguous.
    pub events: Vec<Event>,
    pub args: Vec<u64>,
    pub queues: Vec<VecDeque<u32>>,
    /// Emissions still to be carried out, innermost handler last: the next one, and the end.
    pub frames: Vec<(u32, u32)>,
    /// Values of the current body, and of its callers.
    pub registers: Vec<u64>,
    pub scratch: Vec<u64>,
    /// The object of the current settle instant, if it is one.
    pub settling: Option<(ClassId, u64)>,
    pub again: bool,
    pub outputs: Vec<Output>,
    /// The number of outputs of the current reaction.
    pub put_out: u32,
    pub reports: Vec<(Report, Option<SourceId>)>,
    pub reactions: u64,
    /// How often each path was taken.
    pub paths_taken: Arc<Mutex<Vec<u64>>>,
    /// Where paths are left, if recorded.
    pub exits: Option<Arc<Mutex<Exits>>>,
    pub recording: Option<Box<Recording>>,
    /// The handlers of the current call, if recorded.
    pub steps: Option<Vec<Step>>,
    /// The deadline of the timer whose handler runs next.
    pub due: Option<u64>,
    /// The observer, if there is one.
    pub(crate) watching: Option<Box<Watching>>,
    /// The random choices, if recorded.
    pub(crate) chance: Option<Box<Chance>>,
}

/// An emission on its way.
#[derive(Clone, Debug)]
pub struct Event {
    pub to: Destination,
    pub channel: u32,
    pub args: std::ops::Range<usize>,
    pub delivered: bool,
    /// The emission's place in the recorded instants.
    pub cause: Option<(usize, usize)>,
}

/// The target of an emission.
#[derive(Clone, Copy, Debug)]
pub enum Destination {
    /// `handler` may be [`crate::program::NOBODY`].
    Call {
        handler: u32,
        target: u64,
    },
    /// The object that a cell of `object` refers to when the emission is carried out.
    Linked {
        handler: u32,
        object: u64,
        class: ClassId,
        cell: CellId,
    },
    Out {
        port: u32,
        event: u32,
    },
}

/// An event in the `later` queue, with its arguments (docs/semantics.md, R6).
#[derive(Clone, Debug)]
pub struct Put {
    pub handler: u32,
    pub target: u64,
    pub args: Vec<u64>,
}

/// An object in the queue of dirty objects. The entry counts only while the object's own `dirty` has the same `since`:
/// if the object settled in between, it is stale.
#[derive(Clone, Copy, Debug)]
pub struct Dirty {
    pub class: ClassId,
    pub object: u64,
    pub since: u64,
}

/// Messages held by handlers, events and `later`.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    messages: Vec<Option<Box<Message>>>,
    free: Vec<u64>,
}

impl Arena {
    /// Stores a message, and returns the number that registers hold for it. The number is free again once the message
    /// is taken.
    pub fn put(&mut self, message: Box<Message>) -> u64 {
        match self.free.pop() {
            Some(id) => {
                self.messages[id as usize] = Some(message);
                id
            }
            None => {
                self.messages.push(Some(message));
                self.messages.len() as u64 - 1
            }
        }
    }

    /// Takes a message out. One that was used up is empty: the verifier excludes that.
    pub fn take(&mut self, id: u64) -> Box<Message> {
        let taken = self.messages.get_mut(id as usize).and_then(Option::take);
        debug_assert!(taken.is_some(), "a message is used after it was given away");
        self.free.push(id);
        taken.unwrap_or_default()
    }

    /// The message of a number. One that was used up is empty; a debug build panics then, as the verifier should
    /// exclude it.
    pub fn get(&self, id: u64) -> &Message {
        static NOTHING: Message =
            Message { headers: Vec::new(), octets: Vec::new(), attributes: Vec::new(), met: Vec::new() };
        let found = self.messages.get(id as usize).and_then(Option::as_deref);
        debug_assert!(found.is_some(), "a message is used after it was given away");
        found.unwrap_or(&NOTHING)
    }

    /// As [`Arena::get`], mutable; one that was used up becomes an empty message again.
    pub fn get_mut(&mut self, id: u64) -> &mut Message {
        let place = id as usize;
        if self.messages.len() <= place {
            self.messages.resize(place + 1, None);
        }
        self.messages[place].get_or_insert_default()
    }

    /// As [`Arena::get`]; `None` if it was used up.
    pub fn seen(&self, id: u64) -> Option<&Message> {
        self.messages.get(id as usize).and_then(Option::as_deref)
    }

    /// The number of messages that are held.
    pub fn len(&self) -> usize {
        self.messages.len() - self.free.len()
    }
}

impl Core {
    /// The state before the start, with a queue for each channel. The seed is that of docs/semantics.md, D2.
    pub fn new(program: &Program, seed: u64) -> Self {
        let automaton = &program.automaton;
        let retired = automaton.classes.iter().map(|class| vec![0; class.cells.len()]).collect();
        let zeros = vec![0; automaton.reasons.len()];
        let totals = Totals { dropped: zeros.clone(), consumed: zeros, retired, ..Totals::default() };
        Core {
            later_waiting: vec![0; automaton.handlers.len()],
            queues: vec![VecDeque::new(); program.channels()],
            paths_taken: Arc::new(Mutex::new(vec![0; automaton.paths.len()])),
            ..Core::resting(Store::new(automaton, seed), totals)
        }
    }

    /// A copy that nobody observes and that records nothing, to compute what objects say now.
    pub fn aside(&self) -> Core {
        Core {
            now: self.now,
            dirty_serial: self.dirty_serial,
            reactions: self.reactions,
            ..Core::resting(self.store.clone(), self.totals.clone())
        }
    }

    /// These objects, with nothing under way, and without places for what is put off.
    fn resting(store: Store, totals: Totals) -> Core {
        Core {
            store,
            totals,
            now: 0,
            later: VecDeque::new(),
            later_waiting: Vec::new(),
            dirty: VecDeque::new(),
            dirty_serial: 0,
            unsettled: Vec::new(),
            settled: Vec::new(),
            ended: Vec::new(),
            messages: Arena::default(),
            events: Vec::new(),
            args: Vec::new(),
            queues: Vec::new(),
            frames: Vec::new(),
            registers: Vec::new(),
            scratch: Vec::new(),
            settling: None,
            again: false,
            outputs: Vec::new(),
            put_out: 0,
            reports: Vec::new(),
            reactions: 0,
            paths_taken: Arc::new(Mutex::new(Vec::new())),
            exits: None,
            recording: None,
            steps: None,
            due: None,
            watching: None,
            chance: None,
        }
    }

    /// Notes a report of the current reaction; it leaves with the outputs (docs/semantics.md, A11).
    pub fn report(&mut self, report: Report, source: Option<SourceId>) {
        self.reports.push((report, source));
    }

    /// Ends a message as gone: its receiver does not exist.
    pub fn gone(&mut self, message: u64) {
        self.messages.take(message);
        self.totals.gone += 1;
        self.totals.used_up += 1;
    }

    /// Drops a message for a reason (docs/semantics.md, F3).
    pub fn drop_message(&mut self, message: u64, reason: ReasonId) {
        self.messages.take(message);
        self.totals.used_up += 1;
        if let Some(total) = self.totals.dropped.get_mut(reason.index()) {
            *total += 1;
        }
    }

    /// Consumes a message for a reason (docs/semantics.md, F3).
    pub fn consume(&mut self, message: u64, reason: ReasonId) {
        self.messages.take(message);
        self.totals.used_up += 1;
        if let Some(total) = self.totals.consumed.get_mut(reason.index()) {
            *total += 1;
        }
    }

    /// Marks an object dirty: it settles after those that are dirty now.
    pub fn make_dirty(&mut self, class: ClassId, object: u64) {
        let since = self.dirty_serial;
        let Some(found) = self.store.get_mut(class, object) else { return };
        if found.dirty.is_none() {
            found.dirty = Some(since);
            self.dirty_serial += 1;
            self.dirty.push_back(Dirty { class, object, since });
        }
    }

    /// Ends the messages among the arguments of an event without a handler.
    pub fn discard(&mut self, program: &Program, handler: u32, args: &[u64]) {
        let Some(info) = program.handlers.get(handler as usize) else { return };
        for place in &info.messages {
            self.gone(args[usize::from(*place)]);
        }
    }
}
