//! Arrays as values: one term for each item. An index that is not constant becomes a choice among all items.

use mokume_reaction::{Compare, Type, Value as Id};

use super::way::Way;
use super::{sort_of, Reader, Value};
use crate::term::{Sort, Term};

impl Reader<'_> {
    /// The zero of an item's type.
    fn zero_of(&mut self, item: Type) -> Result<Term, String> {
        match (item, sort_of(self.automaton, item)) {
            (Type::Reason, _) => Err("an array of reasons".into()),
            (_, Sort::Bits(width)) => Ok(self.terms.number(0, width)),
            (..) => Ok(self.terms.truth(false)),
        }
    }

    fn zeros(&mut self, ty: Type) -> Result<Vec<Term>, String> {
        let (item, count) = ty.array().ok_or("no array")?;
        let zero = self.zero_of(item)?;
        Ok(vec![zero; count as usize])
    }

    /// Whether an index equals a place.
    fn is_place(&mut self, index: Term, place: usize) -> Term {
        let width = self.terms.width(index);
        if width < 64 && place as u64 >> width != 0 {
            return self.terms.truth(false);
        }
        let place = self.terms.number(place as u64, width);
        self.terms.equal(index, place)
    }

    pub(super) fn pack(&mut self, ty: Type, values: &[Id], way: &Way) -> Result<Vec<Term>, String> {
        let mut items = self.zeros(ty)?;
        for (item, value) in items.iter_mut().zip(values) {
            *item = way.bits(*value)?;
        }
        Ok(items)
    }

    /// An item; zero beyond the end.
    pub(super) fn item(&mut self, ty: Type, items: &[Term], index: Term) -> Result<Term, String> {
        let mut found = self.zero_of(ty)?;
        for (place, item) in items.iter().enumerate().rev() {
            let here = self.is_place(index, place);
            found = self.terms.choose(here, *item, found);
        }
        Ok(found)
    }

    /// The items with `with` from the index on; values beyond the end are left out.
    pub(super) fn splice(&mut self, items: &[Term], index: Term, with: &[Term]) -> Vec<Term> {
        let mut changed = items.to_vec();
        for first in 0..items.len() {
            let here = self.is_place(index, first);
            for (item, new) in changed[first..].iter_mut().zip(with) {
                *item = self.terms.choose(here, *new, *item);
            }
        }
        changed
    }

    /// The items from the index on, as many as the type has; zeros beyond the end.
    pub(super) fn slice(&mut self, items: &[Term], index: Term, ty: Type) -> Result<Vec<Term>, String> {
        let mut found = self.zeros(ty)?;
        for first in 0..items.len() {
            let here = self.is_place(index, first);
            for (item, known) in found.iter_mut().zip(&items[first..]) {
                *item = self.terms.choose(here, *known, *item);
            }
        }
        Ok(found)
    }

    /// A choice between two numbers, or between two arrays of equal length.
    pub(super) fn choose(&mut self, condition: Term, a: Value, b: Value) -> Result<Value, String> {
        match (a, b) {
            (Value::Bits(a), Value::Bits(b)) => Ok(Value::Bits(self.terms.choose(condition, a, b))),
            (Value::Array(a), Value::Array(b)) => {
                let pairs = a.into_iter().zip(b);
                Ok(Value::Array(pairs.map(|(a, b)| self.terms.choose(condition, a, b)).collect()))
            }
            _ => Err("a choice of what is no number".into()),
        }
    }

    pub(super) fn same_array(&mut self, op: Compare, a: &[Term], b: &[Term]) -> Term {
        let same: Vec<Term> = a.iter().zip(b).map(|(a, b)| self.terms.equal(*a, *b)).collect();
        let same = self.terms.all(&same);
        if op == Compare::Eq {
            same
        } else {
            self.terms.not(same)
        }
    }
}

impl Way {
    pub(super) fn array(&self, id: Id) -> Result<Vec<Term>, String> {
        match self.value(id)? {
            Value::Array(items) => Ok(items),
            _ => Err("an array where there is none".into()),
        }
    }
}
