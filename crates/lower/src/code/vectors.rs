//! Bounded vectors as values: the length, then the scalars of each element.
//!
//! An element is chosen by comparing the index with each number there is: few, as types say. Keeps: elements behind the
//! length are zero, so an index that is out of bounds reads zero, and vectors are equal where all scalars are.

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::writer::Writer;

impl<'p> Writer<'_, 'p> {
    /// `v[i]`
    pub fn pick(&mut self, vector: &'p s::Expr, index: &'p s::Expr) -> Vec<r::Value> {
        let values = self.expr(vector);
        let index = self.u32(index);
        let index = self.within(index, &values);
        let Some(s::Vector { bound, .. }) = self.program.vector(vector.ty) else { return Vec::new() };
        let width = (values.len() - 1) / bound as usize;
        let places: Vec<r::Value> = (0..bound).map(|place| self.is_at(index, place)).collect();
        let mut found = Vec::new();
        for column in 0..width {
            let ty = self.b.type_of(values[1 + column]);
            let mut value = self.constant(ty, 0);
            for (place, c) in places.iter().enumerate() {
                value = self.value(r::OpKind::Select { c: *c, a: values[1 + place * width + column], b: value });
            }
            found.push(value);
        }
        found
    }

    /// A vector with one change. What it is changed with is computed first: that may change it, too.
    pub fn edited(&mut self, vector: &'p s::Expr, edit: &'p s::Edit) -> Vec<r::Value> {
        let (index, new) = match edit {
            s::Edit::Set { index, value } | s::Edit::PutBack { index, value } => {
                (Some(self.u32(index)), self.expr(value))
            }
            s::Edit::Push(value) => (None, self.expr(value)),
            s::Edit::Pop => (None, Vec::new()),
        };
        let mut values = self.expr(vector);
        let Some(s::Vector { bound, .. }) = self.program.vector(vector.ty) else { return values };
        let length = values[0];
        match edit {
            s::Edit::Set { .. } | s::Edit::PutBack { .. } => {
                let Some(index) = index else { return values };
                // Where the old value was read an index out of bounds has been reported.
                let place = if matches!(edit, s::Edit::Set { .. }) {
                    (self.within(index, &values), None)
                } else {
                    let b = self.cast(length, r::Type::U(32));
                    (index, Some(self.compare(r::Compare::Lt, index, b)))
                };
                self.write(&mut values, bound, place, &new);
            }
            s::Edit::Push(_) => {
                let last = self.cast(length, r::Type::U(32));
                self.write(&mut values, bound, (last, None), &new);
                values[0] = self.counted(length, r::Binary::AddWrap);
            }
            s::Edit::Pop => {
                let shorter = self.counted(length, r::Binary::SubWrap);
                let last = self.cast(shorter, r::Type::U(32));
                let width = (values.len() - 1) / bound as usize;
                let types: Vec<r::Type> = values[1..=width].iter().map(|value| self.b.type_of(*value)).collect();
                let zeros: Vec<r::Value> = types.into_iter().map(|ty| self.constant(ty, 0)).collect();
                self.write(&mut values, bound, (last, None), &zeros);
                values[0] = shorter;
            }
        }
        values
    }

    /// The index, if it is below the length; else it is reported, and no element's number.
    fn within(&mut self, index: r::Value, values: &[r::Value]) -> r::Value {
        let length = self.cast(values[0], r::Type::U(32));
        self.binary(r::Binary::Within, index, length)
    }

    fn is_at(&mut self, index: r::Value, place: u32) -> r::Value {
        let b = self.constant(r::Type::U(32), u64::from(place));
        self.compare(r::Compare::Eq, index, b)
    }

    /// The element at an index, if there is one, and `only` is not false, takes new scalars.
    fn write(
        &mut self,
        values: &mut [r::Value],
        bound: u32,
        (index, only): (r::Value, Option<r::Value>),
        new: &[r::Value],
    ) {
        for place in 0..bound {
            let mut c = self.is_at(index, place);
            if let Some(only) = only {
                c = self.binary(r::Binary::And, c, only);
            }
            for (column, a) in new.iter().enumerate() {
                let slot = &mut values[1 + place as usize * new.len() + column];
                let of = self.b.type_of(*slot);
                let a = self.cast(*a, of);
                *slot = self.value(r::OpKind::Select { c, a, b: *slot });
            }
        }
    }

    fn counted(&mut self, length: r::Value, op: r::Binary) -> r::Value {
        let ty = self.b.type_of(length);
        let b = self.constant(ty, 1);
        self.value(r::OpKind::Binary { op, a: length, b })
    }
}
