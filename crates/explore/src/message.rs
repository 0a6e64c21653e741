//! Messages: as values in a reaction, and as numbers everywhere else.

use std::collections::HashMap;

use mokume_reaction::{Automaton, WireId};
use mokume_wire::HeaderValue;

/// Headers (the top one last), octets, attributes, and the packets it came in.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Message {
    pub headers: Vec<HeaderValue>,
    pub octets: Vec<u8>,
    pub attributes: Vec<u64>,
    pub met: Vec<(WireId, Vec<u8>)>,
}

impl Message {
    /// A message that no wire has met and that has no headers; its attributes are as declared (docs/semantics.md,
    /// F7).
    pub fn new(automaton: &Automaton, octets: Vec<u8>) -> Self {
        let attributes = automaton.attributes.iter().map(|attribute| attribute.default).collect();
        Message { octets, attributes, ..Message::default() }
    }

    /// `size` octets from an offset on; `None` where the message ends before.
    pub fn field(&self, at: u64, size: usize) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.octets.get(at..at.checked_add(size)?)
    }
}

/// Equal things, one number.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    items: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { items: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    /// The number of an item, a new one if no equal item is there. Numbers count from 0 without gaps, and stay.
    pub fn number(&mut self, item: T) -> u32 {
        if let Some(number) = self.numbers.get(&item) {
            return *number;
        }
        let number = self.items.len() as u32;
        self.items.push(item.clone());
        self.numbers.insert(item, number);
        number
    }

    /// What has the number. Panics at one that [`Table::number`] of this table has not given.
    pub fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    /// How many different items have a number: the next new one gets this.
    pub fn len(&self) -> usize {
        self.items.len()
    }
}
