//! What tools may see of a running stack, by name or by id. Nothing here changes it.

use mokume_reaction::{CellId, ClassId, Handle};

use crate::instance::Instance;
use crate::message::Message;
use crate::store::{handle, object_of, Content, Life};

/// What a cell holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CellView<'a> {
    /// A scalar; a reference as its handle would be, `generation << 32 | place`.
    Word(u64),
    Array(&'a [u64]),
    Messages(Vec<Option<&'a Message>>),
    /// Keys and values, by key.
    Map(Vec<(&'a [u64], &'a [u64])>),
    /// The deadline, if the timer is armed.
    Timer(Option<u64>),
    Quota {
        left: u32,
        amount: u32,
    },
    Counter(u64),
}

impl Instance {
    /// The living objects of a class, by age.
    pub fn objects(&self, class: ClassId) -> Vec<Handle> {
        let places = &self.core.store.classes[class.index()].places;
        let mut living: Vec<(u64, Handle)> = places
            .iter()
            .enumerate()
            .filter(|(_, object)| object.life == Life::Living)
            .map(|(place, object)| (object.age, Handle { object: place as u32, generation: object.generation }))
            .collect();
        living.sort_unstable();
        living.into_iter().map(|(_, handle)| handle).collect()
    }

    /// A cell of an object that has not been freed.
    pub fn cell(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>> {
        Some(match self.core.store.cell(class, object_of(object), cell)? {
            Content::Word(word) => CellView::Word(*word),
            Content::Array(words) => CellView::Array(words),
            Content::Messages(places) => CellView::Messages(places.iter().map(Option::as_deref).collect()),
            Content::Map { entries, .. } => {
                CellView::Map(entries.iter().map(|(key, value)| (&key[..], &value[..])).collect())
            }
            Content::Timer(deadline) => CellView::Timer(*deadline),
            Content::Quota { left, amount } => CellView::Quota { left: *left, amount: *amount },
            Content::Counter(total) => CellView::Counter(*total),
        })
    }

    /// The object in whose scope an object was made.
    pub fn parent(&self, class: ClassId, object: Handle) -> Option<Handle> {
        let up = self.program.automaton.class(class).parent?;
        let place = self.core.store.get(class, object_of(object))?.parent;
        Some(handle(self.core.store.object_in(up, place)))
    }

    /// The time of the last reaction.
    pub fn now(&self) -> u64 {
        self.core.now
    }

    /// Messages in nobody's account: 0 between two calls, or a handler leaked one.
    pub fn leaked(&self) -> usize {
        let waiting: usize =
            self.core.later.iter().map(|p| self.program.handlers[p.handler as usize].messages.len()).sum();
        self.core.messages.len() - waiting
    }
}
