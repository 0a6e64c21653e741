//! Bounded vectors in the state: elements are read and written in place, without the other elements.

use std::ops::Range;

use mokume_reaction as r;
use mokume_semantics::program as s;
use mokume_semantics::visit::any_expr;

use super::writer::Writer;
use crate::parts::{has_arrays, part_range, parts};

/// If the assignment changes a vector of the state in one element: the vector, and the change.
pub(super) fn edit_of<'p>(state: &s::StateRef, value: &'p s::Expr) -> Option<(&'p s::Expr, &'p s::Edit)> {
    let s::ExprKind::Edited { vector, edit } = &value.kind else { return None };
    let s::ExprKind::State(of) = &vector.kind else { return None };
    let same = of.scope == state.scope && of.member == state.member && of.object.is_none() && state.object.is_none();
    same.then_some((&**vector, edit))
}

/// Whether evaluating it has no effects: it calls no function.
fn changes_nothing(expr: &s::Expr) -> bool {
    use s::ExprKind as E;
    let calls =
        |part: &s::Expr| matches!(part.kind, E::Call { .. } | E::CallOwn { .. } | E::CallOn { .. } | E::Native { .. });
    !any_expr(expr, calls)
}

impl<'p> Writer<'_, 'p> {
    /// `r.field`
    pub(super) fn record_field(&mut self, whole: &'p s::Expr, record: &'p s::Expr, field: u32) -> Vec<r::Value> {
        let s::Type::Record(id) = record.ty else { return Vec::new() };
        if has_arrays(self.program, record.ty) {
            if let Some((state, range)) = self.in_state(whole) {
                let object = self.object(state);
                let cells = self.cells(self.inst, state);
                return self.get_parts(object, cells.get(range).unwrap_or_default());
            }
        }
        let values = self.expr(record);
        if self.program.vector(record.ty).is_none() {
            let range = part_range(self.program, id, field);
            return values.get(range).unwrap_or_default().to_vec();
        }
        let Some(place) = field.checked_sub(1) else { return values.into_iter().take(1).collect() };
        let index = self.constant(r::Type::U(32), u64::from(place));
        let types = self.part_types(whole.ty);
        values.iter().skip(1).zip(types).map(|(array, ty)| self.element(*array, index, ty)).collect()
    }

    /// If the expression is a member of the state or a part of one: which, and the range of its parts.
    fn in_state(&self, expr: &'p s::Expr) -> Option<(&'p s::StateRef, Range<usize>)> {
        match &expr.kind {
            s::ExprKind::State(state) => Some((state, 0..parts(self.program, expr.ty).len())),
            s::ExprKind::RecordField { record, field } => {
                let s::Type::Record(id) = record.ty else { return None };
                let (state, whole) = self.in_state(record)?;
                let part = match self.program.vector(record.ty) {
                    Some(_) if *field == 0 => 0..1,
                    Some(_) => return None,
                    None => part_range(self.program, id, *field),
                };
                Some((state, whole.start + part.start..whole.start + part.end))
            }
            _ => None,
        }
    }

    /// `v[i]` for a vector in the state.
    pub(super) fn pick_in_state(&mut self, vector: &'p s::Expr, index: &'p s::Expr) -> Option<Vec<r::Value>> {
        let s::Vector { element, bound } = self.program.vector(vector.ty)?;
        let (state, range) = self.in_state(vector).filter(|_| changes_nothing(index))?;
        let object = self.object(state);
        let cells = self.cells(self.inst, state).get(range)?.to_vec();
        let length = self.get(object, *cells.first()?);
        let index = self.u32(index);
        let index = self.within(index, length);
        let place = self.place_in(index, bound, None);
        let types = self.part_types(element);
        let found = cells[1..].iter().zip(types).map(|(cell, ty)| match ty.array() {
            None => {
                let a = self.value(r::OpKind::GetAt { object, cell: *cell, index: place.safe });
                let b = self.zero(ty);
                self.value(r::OpKind::Select { c: place.inside, a, b })
            }
            Some(_) => {
                let array = self.value(r::OpKind::GetAll { object, cell: *cell });
                self.element(array, index, ty)
            }
        });
        Some(found.collect())
    }

    /// `state = state with one change`
    pub(super) fn edit_state(&mut self, state: &'p s::StateRef, vector: &'p s::Expr, edit: &'p s::Edit) {
        let given = self.given_to(edit);
        let Some(s::Vector { element, bound }) = self.program.vector(vector.ty) else { return };
        let object = self.object(state);
        let cells = self.cells(self.inst, state);
        let Some((first, columns)) = cells.split_first() else { return };
        let length = self.get(object, *first);
        let change = self.change(length, edit, given, element);
        let place = self.place_in(change.index, bound, change.only);
        for (cell, new) in columns.iter().zip(change.new) {
            match self.b.type_of(new).array() {
                None => self.set_element(object, *cell, &place, new),
                Some(_) => {
                    let array = self.value(r::OpKind::GetAll { object, cell: *cell });
                    let nowhere = self.constant(r::Type::U(32), u64::from(bound));
                    let index = self.value(r::OpKind::Select { c: place.inside, a: change.index, b: nowhere });
                    let value = self.with_element(array, index, new);
                    self.op(r::OpKind::SetAll { object, cell: *cell, value });
                }
            }
        }
        if change.length != length {
            self.set(object, *first, change.length);
        }
    }

    /// Checks an index against a bound, and against `only` if given.
    fn place_in(&mut self, index: r::Value, bound: u32, only: Option<r::Value>) -> CheckedIndex {
        let b = self.constant(r::Type::U(32), u64::from(bound));
        let inside = only.unwrap_or_else(|| self.compare(r::Compare::Lt, index, b));
        let b = self.constant(r::Type::U(32), 0);
        let safe = self.value(r::OpKind::Select { c: inside, a: index, b });
        CheckedIndex { inside, safe }
    }

    /// Writes one scalar of an element of a vector in the state.
    fn set_element(&mut self, object: r::Value, cell: r::CellId, place: &CheckedIndex, new: r::Value) {
        let index = place.safe;
        let old = self.value(r::OpKind::GetAt { object, cell, index });
        let a = self.cast(new, self.b.type_of(old));
        let value = self.value(r::OpKind::Select { c: place.inside, a, b: old });
        self.op(r::OpKind::SetAt { object, cell, index, value });
    }
}

/// A checked index into the arrays of a vector.
struct CheckedIndex {
    /// Whether the index is valid.
    inside: r::Value,
    /// The index, or 0 if it is not valid.
    safe: r::Value,
}
