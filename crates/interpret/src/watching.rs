//! The observer of handlers: the moments that it is told of, and what it can inspect at each.
//!
//! Keeps: an observer cannot change what it sees, and what it is told depends on the run alone.

use std::sync::{Arc, Mutex};

use mokume_reaction::{Automaton, CellId, ClassId, Handle, HandlerId, ReasonId, Report, SourceId, Type, Unit, Value};

use crate::message::Message;
use crate::record::{Cause, Instant};
use crate::store::CellView;

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
    /// Values that have been set, the latest last.
    pub(crate) set: Vec<Value>,
}

/// State that is kept while there is an observer.
#[derive(Clone)]
pub(crate) struct Watching {
    pub observer: Observed,
    pub instant: (HandlerId, u64, Cause),
    pub frames: Vec<Frame>,
}

impl Watching {
    /// The state of an observer before the first instant.
    pub fn new(observer: Observed) -> Watching {
        Watching { observer, instant: (HandlerId(0), 0, Cause::Start), frames: Vec::new() }
    }
}

/// The running state, read-only.
pub(crate) trait State {
    fn running(&self) -> &Automaton;
    /// The content of a value of a running body, by its index among all.
    fn word_at(&self, place: usize) -> u64;
    /// `None` for a message that was given away.
    fn held(&self, word: u64) -> Option<&Message>;
    fn before(&self, place: usize) -> Option<&Instant>;
    fn living(&self, class: ClassId) -> Vec<Handle>;
    fn content(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>>;
}

/// A value that has a name in the source.
pub struct Named<'a> {
    pub name: &'a str,
    pub ty: Type,
    pub word: u64,
    /// The message, unless it was given away.
    pub message: Option<&'a Message>,
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

    /// The named values that are set in a running body; of names that were set twice, the latest.
    pub fn named(&self, frame: &Frame) -> Vec<Named<'_>> {
        let body = frame.unit.body(self.state.running());
        let mut found: Vec<Named<'_>> = Vec::new();
        for value in &frame.set {
            let info = &body.values[value.index()];
            let word = self.state.word_at(frame.base + value.index());
            found.retain(|known| known.name != info.name);
            if !info.name.is_empty() {
                let message = (info.ty == Type::Msg).then(|| self.state.held(word)).flatten();
                found.push(Named { name: &info.name, ty: info.ty, word, message });
            }
        }
        found.retain(|known| known.ty != Type::Msg || known.message.is_some());
        found
    }

    /// An earlier instant, by its index ([`Cause::Emission`]).
    pub fn instant(&self, place: usize) -> Option<&Instant> {
        self.state.before(place)
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
