//! The observer of handlers: the moments that it is told of, and what it can inspect at each.
//!
//! Keeps: an observer cannot change what it sees, and what it is told depends on the run alone.

use std::sync::{Arc, Mutex};

use mokume_reaction::{
    Automaton, BlockId, BoundName, BoundPart, CellId, ClassId, FunctionId, Handle, HandlerId, Names, ReasonId, Report,
    SourceId, Type, Unit, Value,
};

use crate::message::Message;
use crate::record::{Cause, Instant};
use crate::store::{object_of, CellView};

/// Is told of events before they happen.
pub trait Observer: Send {
    /// Something is about to happen, or a report was made. The run continues when this returns.
    fn see(&mut self, moment: &Moment<'_>);
}

/// An observer shared by several instances.
pub type Observed = Arc<Mutex<dyn Observer>>;

/// What is about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A handler begins.
    Begins,
    /// A statement begins, or continues after a call.
    Statement(SourceId),
    /// A message ends for a reason.
    Ends(ReasonId),
    /// So many messages have ended with the object that held them, or for which they were.
    Gone(u64),
    /// The reaction has reported something and continues.
    Reports(Report),
}

/// A moment of a reaction.
pub struct Moment<'a> {
    pub what: What,
    /// The handler of the current instant.
    pub handler: HandlerId,
    pub object: Handle,
    pub cause: Cause,
    /// How many reactions were before this one.
    pub reaction: u64,
    pub now: u64,
    pub(crate) state: &'a dyn State,
    pub(crate) watching: &'a Watching,
}

/// A running body, and its current place.
#[derive(Clone, Debug)]
pub struct Frame {
    pub unit: Unit,
    pub source: Option<SourceId>,
    pub(crate) base: usize,
    /// The operation that is next; behind the last, the terminator.
    pub(crate) at: (BlockId, usize),
    /// The statement that begins there, if it has no operation of its own.
    pub(crate) begun: Option<Arc<Names>>,
    /// By value, whether it has been set.
    pub(crate) set: Vec<bool>,
}

/// State that is kept while there is an observer.
#[derive(Clone)]
pub(crate) struct Watching {
    pub observer: Observed,
    pub instant: (HandlerId, u64, Cause),
    pub frames: Vec<Frame>,
    /// How many messages were gone when the observer was last told.
    pub gone: u64,
}

impl Watching {
    /// The state of an observer before the first instant; so many messages were gone before it.
    pub fn new(observer: Observed, gone: u64) -> Watching {
        Watching { observer, instant: (HandlerId(0), 0, Cause::Start), frames: Vec::new(), gone }
    }
}

/// The running state, read-only.
pub(crate) trait State {
    fn running(&self) -> &Automaton;
    /// The content of a value of a running body, by its index among all.
    fn word_at(&self, place: usize) -> u64;
    /// So many contents, from an index on: those of an array.
    fn words_from(&self, place: usize, count: usize) -> &[u64];
    /// `None` for a message that was given away.
    fn held(&self, word: u64) -> Option<&Message>;
    fn before(&self, place: usize) -> Option<&Instant>;
    fn emitted(&self, output: usize) -> Option<usize>;
    fn living(&self, class: ClassId) -> Vec<Handle>;
    fn content(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>>;
    /// The results of a function that only reads.
    fn told(&self, function: FunctionId, args: &[u64]) -> Vec<u64>;
}

/// A local of the source that has a value.
pub struct Local<'a> {
    /// Its number among all locals of the program.
    pub number: u32,
    /// Its parts, in the order of its type; those of a flow by their names.
    pub parts: Vec<(&'a str, Part<'a>)>,
}

/// A part of a local.
pub enum Part<'a> {
    Word(Type, u64),
    /// The elements of an array.
    Array(Type, &'a [u64]),
    Message(&'a Message),
    /// Nothing uses it, so it was not computed.
    Unused,
}

impl Moment<'_> {
    /// The automaton that runs.
    pub fn automaton(&self) -> &Automaton {
        self.state.running()
    }

    /// The running bodies, the handler's own first; empty if it is only about to begin.
    pub fn frames(&self) -> &[Frame] {
        &self.watching.frames
    }

    /// The pieces of code of a running body, each with its statement and its locals that have values: the innermost first, then those
    /// that call it, as far as they are in the same body. Messages that were given away are left out. None in code that nobody wrote.
    pub fn code<'s>(&'s self, frame: &'s Frame) -> Vec<(Option<SourceId>, Vec<Local<'s>>)> {
        let of_code = |names: &'s Arc<Names>| {
            let all = names.own.iter().filter_map(|name| self.local(frame, name));
            (names.source, all.collect())
        };
        self.pieces(frame).map(of_code).collect()
    }

    /// How many pieces of code a running body is in: the length of [`Self::code`].
    pub fn depth(&self, frame: &Frame) -> usize {
        self.pieces(frame).map(|_| 1).sum()
    }

    /// The names of each piece of code that a running body is in, the innermost first.
    fn pieces<'s>(&'s self, frame: &'s Frame) -> impl Iterator<Item = &'s Arc<Names>> {
        let scopes = &frame.unit.body(self.state.running()).scopes;
        let innermost = frame.begun.as_ref().or_else(|| scopes.at(frame.at));
        std::iter::successors(innermost, |names| names.outer.as_ref())
    }

    fn local<'s>(&'s self, frame: &Frame, name: &'s BoundName) -> Option<Local<'s>> {
        let body = frame.unit.body(self.state.running());
        let of_value = |value: Value| {
            let ty = body.values[value.index()].ty;
            let word = self.state.word_at(frame.base + value.index());
            match (ty, ty.array()) {
                (Type::Msg, _) => self.state.held(word).map(Part::Message),
                _ if !frame.set[value.index()] => Some(Part::Unused),
                (_, Some((of, count))) => Some(Part::Array(of, self.state.words_from(word as usize, count as usize))),
                _ => Some(Part::Word(ty, word)),
            }
        };
        let part = |part: BoundPart| match part {
            BoundPart::Value(value) => of_value(value),
            BoundPart::Constant(ty, word) => Some(Part::Word(ty, word)),
        };
        let parts = name.parts.iter().map(|(name, own)| Some((name.as_str(), part(*own)?)));
        Some(Local { number: name.local, parts: parts.collect::<Option<_>>()? })
    }

    /// The words of a published value now, given its object and its other arguments; `None` if there is no such object, or the function
    /// publishes nothing.
    pub fn published(&self, function: FunctionId, object: Handle, args: &[u64]) -> Option<Vec<u64>> {
        let class = self.automaton().functions.get(function.index())?.published()?;
        let is_there = self.state.living(class).contains(&object);
        let all: Vec<u64> = std::iter::once(object_of(object)).chain(args.iter().copied()).collect();
        is_there.then(|| self.state.told(function, &all))
    }

    /// An earlier instant, by its index ([`Cause::Emission`]).
    pub fn instant(&self, place: usize) -> Option<&Instant> {
        self.state.before(place)
    }

    /// The instant that emitted an output, both by their numbers since the start.
    pub fn of_output(&self, output: usize) -> Option<usize> {
        self.state.emitted(output)
    }

    /// The living objects of a class, by age.
    pub fn objects(&self, class: ClassId) -> Vec<Handle> {
        self.state.living(class)
    }

    /// A cell of an object; `None` if the object was freed.
    pub fn cell(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>> {
        self.state.content(class, object, cell)
    }
}
