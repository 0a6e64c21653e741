//! Arrays as values. Each is a list of words in the frame of its body.

use mokume_reaction::{CellId, Compare, Type, Value};

use crate::host::Content;
use crate::operate::Frame;
use crate::react::Reaction;

/// The number of items in an array of this type.
fn count(ty: Type) -> usize {
    ty.array().map_or(0, |(_, count)| count as usize)
}

fn place(index: u64) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// The values in order, filled up with zeros.
pub fn pack(frame: &Frame, ty: Type, values: &[Value]) -> Vec<u64> {
    let mut items = frame.all(values);
    items.resize(count(ty), 0);
    items
}

/// An item; 0 beyond the end.
pub fn item(items: &[u64], index: u64) -> u64 {
    items.get(place(index)).copied().unwrap_or(0)
}

/// The items, overwritten by `with` from `index` on; values beyond the end are ignored.
pub fn splice(items: &[u64], index: u64, with: &[u64]) -> Vec<u64> {
    let mut changed = items.to_vec();
    changed.iter_mut().skip(place(index)).zip(with).for_each(|(item, new)| *item = *new);
    changed
}

/// A slice of the items as long as the type `ty`, from `index` on; zeros beyond the end.
pub fn slice(items: &[u64], index: u64, ty: Type) -> Vec<u64> {
    let there = items.iter().skip(place(index)).copied();
    there.chain(std::iter::repeat(0)).take(count(ty)).collect()
}

/// Whether two arrays are equal, or differ, according to `op`.
pub fn compare(op: Compare, a: &[u64], b: &[u64]) -> bool {
    (a == b) == (op == Compare::Eq)
}

impl Reaction<'_> {
    /// All items of a cell; zeros if the object was freed.
    pub fn get_all(&mut self, frame: &Frame, object: Value, cell: CellId, ty: Type) -> Vec<u64> {
        match self.content(frame, object, cell) {
            Some(Content::Array(words)) => words.clone(),
            _ => vec![0; count(ty)],
        }
    }

    /// Writes all items of a cell; does nothing if the object was freed.
    pub fn set_all(&mut self, frame: &Frame, object: Value, cell: CellId, items: &[u64]) {
        if let Some(Content::Array(words)) = self.content(frame, object, cell) {
            words.copy_from_slice(items);
        }
    }
}
