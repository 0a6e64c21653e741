//! Messages: values within a reaction, numbers everywhere else.

use std::collections::HashMap;

use mokume_reaction::{Automaton, WireId};
use mokume_wire::HeaderValue;

/// A message: headers (the top one last), octets, attributes, and the packets it came in.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Message {
    pub headers: Vec<HeaderValue>,
    pub octets: Vec<u8>,
    pub attributes: Vec<u64>,
    pub met: Vec<(WireId, Vec<u8>)>,
}

impl Message {
    /// A message that no wire has met, without headers; its attributes are as declared (docs/semantics.md, F7).
    pub fn new(automaton: &Automaton, octets: Vec<u8>) -> Self {
        let attributes = automaton.attributes.iter().map(|attribute| attribute.default).collect();
        Message { octets, attributes, ..Message::default() }
    }

    /// `size` octets from an offset on; `None` if the message ends before.
    pub fn field(&self, at: u64, size: usize) -> Option<&[u8]> {
        let at = usize::try_from(at).ok()?;
        self.octets.get(at..at.checked_add(size)?)
    }
}

/// A table that gives equal things the same number.
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
    /// The number of an item; a new one if no equal item is there. Numbers count from 0 without gaps and never change.
    pub fn number(&mut self, item: T) -> u32 {
        if let Some(number) = self.numbers.get(&item) {
            return *number;
        }
        let number = self.items.len() as u32;
        self.items.push(item.clone());
        self.numbers.insert(item, number);
        number
    }

    /// The item with this number. Panics if [`Table::number`] has not returned it.
    pub fn get(&self, number: u32) -> &T {
        &self.items[number as usize]
    }

    /// The number of different items, which is also the next new number.
    pub fn len(&self) -> usize {
        self.items.len()
    }
}
