//! Arrays as values: each is a struct. An array made from another is a copy if the other is still used; otherwise the
//! other is changed in place.
//!
//! It must keep: no place outside an array is read or written, whatever an index is.

use mokume_reaction::*;

use super::writer::Writer;
use crate::tree::*;
use crate::types::{array_type, c_type};

/// The C type of one item, and the number of items.
fn shape(w: &Writer, ty: Type) -> (&'static str, u64) {
    let (item, count) = ty.array().unwrap_or((ty, 0));
    (c_type(w.plan.automaton, item), u64::from(count))
}

fn at(array: Expr, place: Expr) -> Expr {
    array.member("at").element(place)
}

/// Whether an index is below `count`; `None` if it surely is.
fn inside(w: &Writer, index: Value, count: u64) -> Option<Expr> {
    (w.ranges.largest(index) >= count).then(|| w.value(index).infix(Infix::Lt, Expr::Number(count)))
}

/// A variable for the result, with a first value.
fn begin(w: &mut Writer, result: Value, value: Expr) -> Expr {
    let local = w.local_for(result);
    w.push(Stmt::Let(local, value));
    w.alias(result, Expr::Local(local));
    Expr::Local(local)
}

/// The variable for an array that is made from another: the other's own variable, unless that is still used.
fn begin_with(w: &mut Writer, result: Value, array: Value) -> Expr {
    if !w.is_in_place(result) {
        return begin(w, result, w.value(array));
    }
    w.same(result, array);
    w.value(result)
}

pub(super) fn pack(w: &mut Writer, ty: Type, values: &[Value], result: Value) {
    let items = w.values(values);
    let items = if items.is_empty() { vec![Expr::Number(0)] } else { items };
    begin(w, result, Expr::Array(array_type(w.plan.automaton, ty), items));
}

/// An item; zero beyond the end.
pub(super) fn item(w: &Writer, array: Value, index: Value) -> Expr {
    let (_, count) = shape(w, w.type_of(array));
    Expr::only_if(inside(w, index, count), at(w.value(array), w.value(index)), Expr::Number(0))
}

pub(super) fn set_item(w: &mut Writer, array: Value, (index, value): (Value, Value), result: Value) {
    let (_, count) = shape(w, w.type_of(array));
    let changed = begin_with(w, result, array);
    let condition = inside(w, index, count);
    w.only_if(condition, |w| w.push(set(at(changed, w.value(index)), w.value(value))));
}

pub(super) fn slice(w: &mut Writer, array: Value, index: Value, ty: Type, result: Value) {
    let none = Expr::Array(array_type(w.plan.automaton, ty), vec![Expr::Number(0)]);
    let found = begin(w, result, none);
    let from = Slice { array: w.value(array), of: w.type_of(array), index };
    copy(w, from, ty, |part| [found.address(), part]);
}

pub(super) fn splice(w: &mut Writer, array: Value, (index, with): (Value, Value), result: Value) {
    let changed = begin_with(w, result, array);
    let to = Slice { array: changed, of: w.type_of(array), index };
    let source = w.value(with).address();
    copy(w, to, w.type_of(with), |part| [part, source]);
}

/// A part of an array, from an index on.
struct Slice {
    array: Expr,
    of: Type,
    index: Value,
}

/// Copies as many items as both have, starting at the part's index; `ends` gives target and source from the part's
/// address.
fn copy(w: &mut Writer, part: Slice, other: Type, ends: impl FnOnce(Expr) -> [Expr; 2]) {
    let ((item, count), (_, wanted)) = (shape(w, part.of), shape(w, other));
    let condition = inside(w, part.index, count);
    w.only_if(condition, |w| {
        let index = w.value(part.index);
        let left = Expr::Number(count).infix(Infix::Sub, index.clone());
        let enough = w.ranges.largest(part.index).checked_add(wanted).is_some_and(|end| end <= count);
        let fewer = left.clone().infix(Infix::Lt, Expr::Number(wanted));
        let items = if enough { Expr::Number(wanted) } else { conditional(fewer, left, Expr::Number(wanted)) };
        let octets = items.infix(Infix::Mul, Expr::SizeOf(item.into()));
        let [to, from] = ends(at(part.array, index).address());
        w.act(acts("memcpy", [to, from, octets]));
    });
}

/// The operands are variables whose memory contains only the items.
pub(super) fn compare(w: &Writer, op: Compare, a: Value, b: Value) -> Expr {
    let size = Expr::SizeOf(array_type(w.plan.automaton, w.type_of(a)));
    let order = reads("memcmp", [w.value(a).address(), w.value(b).address(), size]);
    order.infix(if op == Compare::Eq { Infix::Eq } else { Infix::Ne }, Expr::Number(0))
}

/// All items of a cell; for an object that does not exist those of the null record, which are zero.
pub(super) fn get_all(w: &mut Writer, object: Value, cell: CellId, result: Value) {
    let local = w.local_for(result);
    let size = Expr::SizeOf(array_type(w.plan.automaton, w.type_of(result)));
    w.push(Stmt::Declare(local));
    let copy = acts("memcpy", [Expr::Local(local).address(), w.cell(object, cell), size.clone()]);
    match w.has_record(object) {
        None => w.act(copy),
        Some(condition) => {
            let then = w.inside(|w| w.act(copy));
            let zero = acts("memset", [Expr::Local(local).address(), Expr::Number(0), size]);
            let otherwise = w.inside(|w| w.act(zero));
            w.push(Stmt::If { condition, then, otherwise });
        }
    }
    w.alias(result, Expr::Local(local));
}

pub(super) fn set_all(w: &mut Writer, object: Value, cell: CellId, value: Value) {
    w.guarded(object, |w| {
        let size = Expr::SizeOf(array_type(w.plan.automaton, w.type_of(value)));
        w.act(acts("memcpy", [w.cell(object, cell), w.value(value).address(), size]));
    });
}
