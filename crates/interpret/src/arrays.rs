//! Arrays as values. Each has words of its own behind the registers of its body as long as the body runs; its register
//! holds their place. So the memory of a body is known before it runs, whatever its loops do.

use std::ops::Range;

use mokume_reaction::{Body, CellId, Compare, Target, Value};

use crate::core::Core;
use crate::eval::Activation;
use crate::store::Content;

/// The places of a body's arrays, behind its registers.
#[derive(Default)]
pub struct Arrays {
    places: Vec<(Value, usize)>,
    /// The total words of all arrays.
    words: usize,
}

impl Arrays {
    /// The places of a body's arrays.
    pub fn of(body: &Body) -> Arrays {
        let mut arrays = Arrays::default();
        for (value, info) in body.values.iter().enumerate() {
            if let Some((_, count)) = info.ty.array() {
                arrays.places.push((Value(value as u32), body.values.len() + arrays.words));
                arrays.words += count as usize;
            }
        }
        arrays
    }

    /// Whether the body has no arrays.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl Core {
    /// Allocates registers for a body, behind those of its callers; returns where they begin.
    pub fn make_registers(&mut self, body: &Body, arrays: &Arrays) -> usize {
        let base = self.registers.len();
        self.registers.resize(base + body.values.len() + arrays.words, 0);
        for (value, place) in &arrays.places {
            self.registers[base + value.index()] = (base + place) as u64;
        }
        base
    }

    /// The words of an array.
    fn words_at(&self, at: Activation, array: Value) -> Range<usize> {
        let start = self.get(at, array) as usize;
        let count = at.ty(array).array().map_or(0, |(_, count)| count as usize);
        start..start + count
    }

    fn words_of(&self, at: Activation, array: Value) -> &[u64] {
        &self.registers[self.words_at(at, array)]
    }

    /// Copies an array to another, as far as both go; returns the place of the copy.
    fn copy_array(&mut self, at: Activation, from: Value, to: Value) -> Range<usize> {
        let (from, to) = (self.words_at(at, from), self.words_at(at, to));
        let count = from.len().min(to.len());
        self.registers.copy_within(from.start..from.start + count, to.start);
        to
    }

    /// Makes an array of these values; further items are zero.
    pub fn pack(&mut self, at: Activation, values: &[Value], result: Value) {
        let to = self.words_at(at, result);
        self.registers[to.clone()].fill(0);
        for (place, value) in to.zip(values) {
            self.registers[place] = self.get(at, *value);
        }
    }

    /// An item; zero beyond the end.
    pub fn item(&self, at: Activation, array: Value, index: Value) -> u64 {
        let index = self.get(at, index);
        usize::try_from(index).ok().and_then(|index| self.words_of(at, array).get(index)).copied().unwrap_or(0)
    }

    /// A copy with another item; unchanged if the index is beyond the end.
    pub fn set_item(&mut self, at: Activation, array: Value, (index, value): (Value, Value), result: Value) {
        let (index, value) = (self.get(at, index), self.get(at, value));
        let to = self.copy_array(at, array, result);
        if index < to.len() as u64 {
            self.registers[to.start + index as usize] = value;
        }
    }

    /// A part of an array from an index on; zeros beyond the end.
    pub fn slice(&mut self, at: Activation, array: Value, index: Value, result: Value) {
        let (from, to) = (self.words_at(at, array), self.words_at(at, result));
        let first = self.get(at, index).min(from.len() as u64) as usize;
        let there = to.len().min(from.len() - first);
        self.registers.copy_within(from.start + first..from.start + first + there, to.start);
        self.registers[to.start + there..to.end].fill(0);
    }

    /// A copy in which `with` replaces the items from an index on; values beyond the end are ignored.
    pub fn splice(&mut self, at: Activation, array: Value, (index, with): (Value, Value), result: Value) {
        let index = self.get(at, index);
        let to = self.copy_array(at, array, result);
        let with = self.words_at(at, with);
        let first = index.min(to.len() as u64) as usize;
        let there = with.len().min(to.len() - first);
        self.registers.copy_within(with.start..with.start + there, to.start + first);
    }

    /// Copies one of two arrays into the result.
    pub fn choose_array(&mut self, at: Activation, from: Value, result: Value) {
        self.copy_array(at, from, result);
    }

    /// Whether two arrays are equal, or differ, according to `op`.
    pub fn compare_arrays(&self, at: Activation, op: Compare, a: Value, b: Value) -> bool {
        let same = self.words_of(at, a) == self.words_of(at, b);
        same == (op == Compare::Eq)
    }

    /// All items of a cell; zeros if the object does not exist.
    pub fn get_all(&mut self, at: Activation, object: Value, cell: CellId, result: Value) {
        let to = self.words_at(at, result);
        let found = self.store.cell(at.class(object), self.get(at, object), cell);
        match found {
            Some(Content::Array(words)) => self.registers[to].copy_from_slice(words),
            _ => self.registers[to].fill(0),
        }
    }

    /// Writes all items of a cell; does nothing if the object does not exist.
    pub fn set_all(&mut self, at: Activation, object: Value, cell: CellId, value: Value) {
        let from = self.words_at(at, value);
        let (class, object) = (at.class(object), self.get(at, object));
        if let Some(Content::Array(words)) = self.store.cell_mut(class, object, cell) {
            words.copy_from_slice(&self.registers[from]);
        }
    }

    /// As [`Core::enter`], for a body with arrays: all words are copied at once, and each parameter keeps its place.
    pub fn enter_with_arrays(&mut self, at: Activation, to: &Target) {
        let params = &at.body.blocks[to.block.index()].params;
        let first = params.len() - to.args.len();
        let is_array = |value: &Value| at.ty(*value).array().is_some();
        let moved: Vec<u64> =
            to.args.iter().filter(|arg| is_array(arg)).flat_map(|arg| self.words_of(at, *arg)).copied().collect();
        for (param, word) in params.iter().zip(&self.scratch) {
            if !is_array(param) {
                self.registers[at.base + param.index()] = *word;
            }
        }
        let mut rest = moved.as_slice();
        for param in params[first..].iter().filter(|param| is_array(param)) {
            let place = self.words_at(at, *param);
            let (words, behind) = rest.split_at(place.len());
            self.registers[place].copy_from_slice(words);
            rest = behind;
        }
    }
}
