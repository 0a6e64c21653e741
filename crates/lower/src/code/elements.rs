//! Elements of arrays. An array of elements with several parts is several cells: an index beyond the end is reported
//! once, with the first cell.

use mokume_reaction as r;
use mokume_semantics::codes::BEYOND_THE_END;
use mokume_semantics::program as s;
use mokume_semantics::visit::any_expr;

use super::writer::Writer;
use crate::constants::{fold_index, Index};

impl<'p> Writer<'_, 'p> {
    /// `array[index]`, part by part; zeros beyond the end.
    pub(super) fn array_element(&mut self, array: &'p s::StateRef, index: &'p s::Expr) -> Vec<r::Value> {
        let object = self.object(array);
        let cells = self.cells(self.inst, array);
        let Some((first, others)) = cells.split_first() else { return Vec::new() };
        self.has_place(object, *first, index);
        let index = self.one(index);
        let mut values = vec![self.value(r::OpKind::GetAt { object, cell: *first, index })];
        if !others.is_empty() {
            let (inside, safe) = self.place_in_array(object, *first, index);
            values.extend(others.iter().map(|cell| {
                let a = self.value(r::OpKind::GetAt { object, cell: *cell, index: safe });
                let b = self.zero(self.b.type_of(a));
                self.value(r::OpKind::Select { c: inside, a, b })
            }));
        }
        values
    }

    /// `array[index] = value`; has no effect beyond the end. If the value reads at the same index, that read has
    /// already reported it.
    pub(super) fn assign_element(&mut self, array: &'p s::StateRef, index: &'p s::Expr, value: &'p s::Expr) {
        let is_read = reads_at(value, index);
        let known = index;
        let index = self.one(index);
        let values = self.one_at_border(value);
        let object = self.object(array);
        let class = self.class_of(object);
        let cells = self.cells(self.inst, array);
        let Some(first) = cells.first() else { return };
        self.has_place(object, *first, known);
        let guarded = if is_read { 0 } else { 1 };
        let place = (cells.len() > guarded).then(|| self.place_in_array(object, *first, index));
        for (at, (cell, value)) in cells.iter().copied().zip(values).enumerate() {
            let value = match self.a.cell(class, cell).kind {
                r::CellKind::Array { ty, .. } => self.cast(value, ty),
                _ => value,
            };
            match place.filter(|_| at >= guarded) {
                None => self.op(r::OpKind::SetAt { object, cell, index, value }),
                Some((inside, index)) => {
                    let b = self.value(r::OpKind::GetAt { object, cell, index });
                    let value = self.value(r::OpKind::Select { c: inside, a: value, b });
                    self.op(r::OpKind::SetAt { object, cell, index, value })
                }
            };
        }
    }

    /// Reports a constant index beyond the end of an array, or of places for messages, whose size the stack gives, unless the
    /// code never runs in this stack.
    pub(super) fn has_place(&mut self, object: r::Value, cell: r::CellId, index: &s::Expr) {
        if self.facts.never {
            return;
        }
        let class = self.class_of(object);
        let (front, what, size) = match self.a.cell(class, cell).kind {
            r::CellKind::Array { size, .. } => ("the array has", "elements", size),
            r::CellKind::Messages { size, .. } => ("there are places for", "messages", size),
            _ => return,
        };
        let known = fold_index(self.program, &self.env, index).or_else(|| self.facts.bound_in_front(index.span));
        let this = match known {
            Some(Index::Number(at)) if at >= u64::from(size) => format!("this is number {at}"),
            Some(Index::Nowhere) => "the number of this overflows".to_string(),
            Some(Index::Number(_)) | None => return,
        };
        let message = format!("{front} {size} {what} here, and {this}");
        let help =
            "the first is `[0]`; make it larger in the stack, or ask before: `if` with a parameter is decided there";
        self.error(BEYOND_THE_END.0, message, Some(index.span), help);
    }

    /// Whether the array has this index; and the index, or 0 if not.
    fn place_in_array(&mut self, object: r::Value, cell: r::CellId, index: r::Value) -> (r::Value, r::Value) {
        let class = self.class_of(object);
        let size = match self.a.cell(class, cell).kind {
            r::CellKind::Array { size, .. } => size,
            _ => 0,
        };
        let index = match self.b.type_of(index) {
            r::Type::U(64) => index,
            _ => self.cast(index, r::Type::U(64)),
        };
        let b = self.constant(r::Type::U(64), u64::from(size));
        let inside = self.compare(r::Compare::Lt, index, b);
        let b = self.constant(r::Type::U(64), 0);
        let safe = self.value(r::OpKind::Select { c: inside, a: index, b });
        (inside, self.cast(safe, r::Type::U(32)))
    }
}

/// Whether a value reads an element at the index that is written: `a[i].left += 1`, and the unchanged parts in
/// `a[i].left = 1`.
fn reads_at(value: &s::Expr, index: &s::Expr) -> bool {
    any_expr(value, |part| matches!(&part.kind, s::ExprKind::Element { index: read, .. } if read.span == index.span))
}
