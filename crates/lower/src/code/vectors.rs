//! Bounded vectors as values: the length, then an array for each scalar of the elements ([`crate::parts`]).
//!
//! `within` reports an index that is out of bounds, and turns it into an index beyond all arrays: reads there give
//! zero, and writes have no effect.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::Writer;

/// An index beyond all arrays.
const NOWHERE: u64 = u32::MAX as u64;

impl<'p> Writer<'_, 'p> {
    /// `[a, b]`: the length, and the elements up to it; the remaining fields are zero.
    pub fn packed(&mut self, whole: &'p s::Expr, fields: &'p [s::Expr]) -> Vec<r::Value> {
        if let Some(words) = self.constants(&self.env, whole) {
            return self.known_value(whole.ty, &words);
        }
        let Some((length, elements)) = fields.split_first() else { return Vec::new() };
        let there = self.one_constant(&self.env, length).map_or(elements.len(), |count| count as usize);
        let written: Vec<&s::Expr> = fields.iter().take(1 + there).collect();
        let mut values = self.as_written(&written).into_iter();
        let mut parts = values.next().unwrap_or_default();
        let elements: Vec<Vec<r::Value>> = values.collect();
        for (column, ty) in self.part_types(whole.ty).into_iter().skip(1).enumerate() {
            let column = elements.iter().filter_map(|element| element.get(column).copied()).collect();
            parts.push(self.column(ty, column));
        }
        parts
    }

    /// One array for a scalar or an array in each element.
    fn column(&mut self, ty: r::Type, values: Vec<r::Value>) -> r::Value {
        let item = ty.array().map_or(ty, |(item, _)| item);
        if values.iter().all(|value| self.b.type_of(*value).array().is_none()) {
            let values = values.into_iter().map(|value| self.cast(value, item)).collect();
            return self.value(r::OpKind::Pack { ty, values });
        }
        let mut array = self.zero(ty);
        for (place, value) in values.into_iter().enumerate() {
            let index = self.constant(r::Type::U(32), place as u64);
            array = self.with_element(array, index, value);
        }
        array
    }

    /// `v[i]`
    pub fn pick(&mut self, vector: &'p s::Expr, index: &'p s::Expr) -> Vec<r::Value> {
        let Some(s::Vector { element, .. }) = self.program.vector(vector.ty) else { return Vec::new() };
        if let Some(found) = self.pick_in_state(vector, index) {
            return found;
        }
        let parts = self.expr(vector);
        let index = self.u32(index);
        let index = self.within(index, parts[0]);
        let types = self.part_types(element);
        parts[1..].iter().zip(types).map(|(array, ty)| self.element(*array, index, ty)).collect()
    }

    /// A vector with one change. The operands of the change are evaluated first, as they may change the vector.
    pub fn edited(&mut self, vector: &'p s::Expr, edit: &'p s::Edit) -> Vec<r::Value> {
        let given = self.given_to(edit);
        let mut parts = self.expr(vector);
        let Some(s::Vector { element, .. }) = self.program.vector(vector.ty) else { return parts };
        let change = self.change(parts[0], edit, given, element);
        let index = match change.only {
            Some(only) => {
                let nowhere = self.constant(r::Type::U(32), NOWHERE);
                self.value(r::OpKind::Select { c: only, a: change.index, b: nowhere })
            }
            None => change.index,
        };
        for (array, new) in parts[1..].iter_mut().zip(change.new) {
            *array = self.with_element(*array, index, new);
        }
        parts[0] = change.length;
        parts
    }

    /// The index of an edit, and the new element.
    pub(super) fn given_to(&mut self, edit: &'p s::Edit) -> (Option<r::Value>, Vec<r::Value>) {
        match edit {
            s::Edit::Set { index, value } | s::Edit::PutBack { index, value } => {
                (Some(self.u32(index)), self.expr(value))
            }
            s::Edit::Push(value) => (None, self.expr(value)),
            s::Edit::Pop => (None, Vec::new()),
        }
    }

    /// The effect of an edit on a vector of this length.
    pub(super) fn change(
        &mut self,
        length: r::Value,
        edit: &s::Edit,
        (index, new): (Option<r::Value>, Vec<r::Value>),
        element: s::Type,
    ) -> Change {
        match (edit, index) {
            (s::Edit::Set { .. }, Some(index)) => {
                let index = self.within(index, length);
                Change { index, only: None, new, length }
            }
            // If the old value was read, an index out of bounds has been reported.
            (s::Edit::PutBack { .. }, Some(index)) => {
                let b = self.cast(length, r::Type::U(32));
                let only = Some(self.compare(r::Compare::Lt, index, b));
                Change { index, only, new, length }
            }
            (s::Edit::Pop, _) => {
                let length = self.by_one(length, r::Binary::SubWrap);
                let index = self.cast(length, r::Type::U(32));
                let new = self.part_types(element).into_iter().map(|ty| self.zero(ty)).collect();
                Change { index, only: None, new, length }
            }
            (s::Edit::Push(_) | s::Edit::Set { .. } | s::Edit::PutBack { .. }, _) => {
                let index = self.cast(length, r::Type::U(32));
                let length = self.by_one(length, r::Binary::AddWrap);
                Change { index, only: None, new, length }
            }
        }
    }

    /// The index if it is below the length; else reports it, and gives [`NOWHERE`].
    pub(super) fn within(&mut self, index: r::Value, length: r::Value) -> r::Value {
        let length = self.cast(length, r::Type::U(32));
        self.binary(r::Binary::Within, index, length)
    }

    /// One part of an element: an item, or several for a nested vector.
    pub(super) fn element(&mut self, array: r::Value, index: r::Value, ty: r::Type) -> r::Value {
        match ty.array() {
            None => self.value(r::OpKind::Item { array, index }),
            Some((_, count)) => {
                let index = self.first_item(index, count);
                self.value(r::OpKind::Slice { array, index, ty })
            }
        }
    }

    /// An array with one part of an element replaced.
    pub(super) fn with_element(&mut self, array: r::Value, index: r::Value, new: r::Value) -> r::Value {
        let of = self.b.type_of(array).array();
        match (self.b.type_of(new).array(), of) {
            (Some((_, count)), _) => {
                let index = self.first_item(index, count);
                self.value(r::OpKind::Splice { array, index, with: new })
            }
            (None, of) => {
                let value = of.map_or(new, |(item, _)| self.cast(new, item));
                self.value(r::OpKind::SetItem { array, index, value })
            }
        }
    }

    /// The index of the first item of an element with `count` items. For [`NOWHERE`] it is beyond all arrays, which are
    /// shorter than 2^32 less one element.
    fn first_item(&mut self, index: r::Value, count: u32) -> r::Value {
        let count = self.constant(r::Type::U(32), u64::from(count));
        self.binary(r::Binary::MulWrap, index, count)
    }
}

/// A change of a vector.
pub(super) struct Change {
    pub index: r::Value,
    /// Whether to change anything; `None`: the index decides, as an invalid one is beyond the bound.
    pub only: Option<r::Value>,
    /// The parts of the new element.
    pub new: Vec<r::Value>,
    /// The new length of the vector.
    pub length: r::Value,
}
