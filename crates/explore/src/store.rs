//! The set of visited states: exact, in the order of discovery, each with its predecessor.
//!
//! A state takes its key, four bytes for its parent, and its share of a table of four-byte places. The order serves as
//! the queue.

use crate::layout::Key;

pub(crate) struct Store<K> {
    pub keys: Vec<K>,
    /// The predecessor by state; for the first state, itself.
    pub parents: Vec<u32>,
    /// A state's number plus one, or 0. The size is a power of two.
    table: Vec<u32>,
    shift: u32,
}

/// States are added in groups, so that the memory accesses to the table overlap.
const AHEAD: usize = 32;

impl<K: Key> Store<K> {
    /// An empty set. States are numbered from 0 in the order in which they are added.
    pub fn new() -> Self {
        Store { keys: Vec::new(), parents: Vec::new(), table: vec![0; 1 << 12], shift: 64 - 12 }
    }

    /// The number of states, which is also the number of the next new one.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The bytes that the set has allocated, including the unused part of its table.
    pub fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<K>() + self.parents.capacity() * 4 + self.table.capacity() * 4
    }

    /// Adds the states that are new.
    pub fn add_all(&mut self, found: &[(K, u32)]) {
        for bunch in found.chunks(AHEAD) {
            self.make_room(bunch.len());
            let mut places = [0usize; AHEAD];
            let mut heads = [0u32; AHEAD];
            let mut keys = [K::default(); AHEAD];
            for (place, (key, _)) in places.iter_mut().zip(bunch) {
                *place = (key.spread() >> self.shift) as usize;
            }
            for (head, place) in heads.iter_mut().zip(&places[..bunch.len()]) {
                *head = self.table[*place];
            }
            for (known, head) in keys.iter_mut().zip(&heads[..bunch.len()]) {
                *known = self.keys.get(head.wrapping_sub(1) as usize).copied().unwrap_or_default();
            }
            for (index, (key, parent)) in bunch.iter().enumerate() {
                // Most states are known, and most of those are at their first place.
                if heads[index] == 0 || keys[index] != *key {
                    self.add(*key, *parent, places[index]);
                }
            }
        }
    }

    #[inline(never)]
    fn add(&mut self, key: K, parent: u32, mut place: usize) {
        loop {
            match self.table[place] {
                0 => break,
                known if self.keys[known as usize - 1] == key => return,
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
        self.keys.push(key);
        self.parents.push(parent);
        self.table[place] = self.keys.len() as u32;
    }

    /// The number of a state; `None` if it was not visited.
    pub fn find(&self, key: K) -> Option<u32> {
        let mut place = (key.spread() >> self.shift) as usize;
        loop {
            match self.table[place] {
                0 => return None,
                known if self.keys[known as usize - 1] == key => return Some(known - 1),
                _ => place = (place + 1) & (self.table.len() - 1),
            }
        }
    }

    /// At most two thirds of the table are used. Lists grow by an eighth, since they take most of the memory.
    fn make_room(&mut self, more: usize) {
        if self.keys.capacity() < self.keys.len() + more {
            let extra = (self.keys.len() / 8).max(1 << 12);
            self.keys.reserve_exact(extra);
            self.parents.reserve_exact(extra);
        }
        if (self.keys.len() + more) * 3 <= self.table.len() * 2 {
            return;
        }
        let bits = self.table.len().trailing_zeros() + 1;
        self.table = Vec::new();
        self.table = vec![0; 1 << bits];
        self.shift = 64 - bits;
        for (number, key) in self.keys.iter().enumerate() {
            let mut place = (key.spread() >> self.shift) as usize;
            while self.table[place] != 0 {
                place = (place + 1) & (self.table.len() - 1);
            }
            self.table[place] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_kept_once_in_order() {
        let mut store = Store::<u64>::new();
        let found: Vec<(u64, u32)> = (0..100_000u64).map(|n| (n % 30_000 * 0x10_0001, n as u32)).collect();
        store.add_all(&found);
        assert_eq!(store.len(), 30_000);
        assert!((0..30_000u64).all(|n| store.find(n * 0x10_0001) == Some(n as u32)));
        assert_eq!(store.find(1), None);
        assert_eq!(store.parents[29_999], 29_999);
    }
}
