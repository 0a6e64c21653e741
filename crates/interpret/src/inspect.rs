//! What tools may read of a running stack, by name or by id. Nothing here changes it.

use mokume_reaction::{CellId, ClassId, Handle};

use crate::instance::Instance;
use crate::store::{handle, object_of, CellView, Content, Life, Store};

/// The living objects of a class, by age.
pub fn objects(store: &Store, class: ClassId) -> Vec<Handle> {
    let places = &store.classes[class.index()].places;
    let mut living: Vec<(u64, Handle)> = places
        .iter()
        .enumerate()
        .filter(|(_, object)| object.life == Life::Living)
        .map(|(place, object)| (object.age, Handle { object: place as u32, generation: object.generation }))
        .collect();
    living.sort_unstable();
    living.into_iter().map(|(_, handle)| handle).collect()
}

/// A cell of an object; `None` if the object was freed.
pub fn cell(store: &Store, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>> {
    Some(match store.cell(class, object_of(object), cell)? {
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

impl Instance {
    /// The living objects of a class, by age.
    pub fn objects(&self, class: ClassId) -> Vec<Handle> {
        objects(&self.core.store, class)
    }

    /// A cell of an object; `None` if the object was freed.
    pub fn cell(&self, class: ClassId, object: Handle, cell: CellId) -> Option<CellView<'_>> {
        self::cell(&self.core.store, class, object, cell)
    }

    /// The parent of an object.
    pub fn parent(&self, class: ClassId, object: Handle) -> Option<Handle> {
        let up = self.program.automaton.class(class).parent?;
        let place = self.core.store.get(class, object_of(object))?.parent;
        Some(handle(self.core.store.object_in(up, place)))
    }

    /// The time of the last reaction.
    pub fn now(&self) -> u64 {
        self.core.now
    }

    /// The number of messages without origin or fate: 0 between two calls, unless a handler leaked one.
    pub fn leaked(&self) -> usize {
        let waiting: usize =
            self.core.later.iter().map(|p| self.program.handlers[p.handler as usize].messages.len()).sum();
        self.core.messages.len() - waiting
    }
}
