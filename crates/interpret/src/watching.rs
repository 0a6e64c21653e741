//! What an observer of handlers is told: moments, and what is to be seen at one.
//!
//! Keeps: what an observer sees it cannot change, and what it is told is a function of the run alone.

use std::sync::{Arc, Mutex};

use mokume_reaction::{Automaton, CellId, ClassId, Handle, HandlerId, ReasonId, Report, SourceId, Type, Unit, Value};

use crate::message::Message;
use crate::record::{Cause, Instant};
use crate::store::CellView;

/// Hears what goes on, before it does.
pub trait Observer: Send {
    /// Something is about to happen, or a report was made. The run goes on when this returns.
    fn see(&mut self, moment: &Moment<'_>);
}

/// An observer that several instances tell.
pub type Observed = Arc<Mutex<dyn Observer>>;

/// What is about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// A handler begins.
    Begins,
    /// A statement, or the rest of one behind a call.
    Statement(SourceId),
    /// A message ends, for a reason.
    Ends(ReasonId),
    /// The reaction has reported something; it goes on.
    Reports(Report),
}

/// A moment of a reaction.
pub struct Moment<'a> {
    pub what: What,
    /// Whose instant it is.
    pub handler: HandlerId,
    pub object: Handle,
    pub cause: Cause,
    /// How many reactions were before this one.
    pub reaction: u64,
    pub now: u64,
    pub(crate) state: &'a dyn State,
    pub(crate) watching: &'a Watching,
}

/// A body that runs, and where it is.
#[derive(Clone, Debug)]
pub struct Frame {
    pub unit: Unit,
    pub source: Option<SourceId>,
    pub(crate) base: usize,
    /// Values that have been set, the last one last.
    pub(crate) set: Vec<Value>,
}

/// What is kept while somebody looks on.
#[derive(Clone)]
pub(crate) struct Watching {
    pub observer: Observed,
    pub instant: (HandlerId, u64, Cause),
    pub frames: Vec<Frame>,
}

impl Watching {
    pub fn new(observer: Observed) -> Watching {
        Watching { observer, instant: (HandlerId(0), 0, Cause::Start), frames: Vec::new() }
    }
}

/// The running state, to be looked at.
pub(crate) trait State {
    fn running(&self) -> &Automaton;
    /// What a value of a body that runs holds, by its place among all.
    fn word_at(&self, place: usize) -> u64;
    /// None of a message that was given away.
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
    /// Of a message, unless it was given away.
    pub message: Option<&'a Message>,
}

impl Moment<'_> {
    /// The automaton that runs.
    pub fn automaton(&self) -> &Automaton {
        self.state.running()
    }

    /// The bodies that run, the handler's own first; empty where it only begins.
    pub fn frames(&self) -> &[Frame] {
        &self.watching.frames
    }

    /// What has a name and was set, in a body that runs; of names that were set twice the last.
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

    /// What an earlier instant was, by its place ([`Cause::Emission`]).
    pub fn instant(&self, place: usize) -> Option<&Instant> {
        self.state.before(place)
    }

    /// The living objects of a class, by age.
    pub fn objects(&self, class: ClassId) -> Vec<Handle> {
        self.state.living(class)
    }

    /// A cell of an object that has not been freed.
    pub fn cell(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>> {
        self.state.content(class, object, cell)
    }
}
