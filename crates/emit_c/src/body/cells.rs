//! Operations on the cells of objects, and on objects.

use mokume_reaction::*;

use super::arithmetic::of_word;
use super::writer::Writer;
use crate::plan::heads::Beside;
use crate::tree::*;

/// The number of places of an array or of a cell of messages, or the amount of a quota.
pub(super) fn size_of(w: &Writer, object: Value, cell: CellId) -> Expr {
    number(places(w, object, cell))
}

fn places(w: &Writer, object: Value, cell: CellId) -> u32 {
    match w.cell_kind(object, cell) {
        CellKind::Array { size, .. } | CellKind::Messages { size, .. } => *size,
        CellKind::Quota { amount } => *amount,
        CellKind::Scalar { .. } | CellKind::Map { .. } | CellKind::Timer | CellKind::Counter => 0,
    }
}

/// Whether an index is within a cell's places, and the place; no condition if it certainly is.
fn within(w: &mut Writer, object: Value, cell: CellId, index: Value, source: Option<SourceId>) -> (Option<Expr>, Expr) {
    let within = (!w.is_below(index, u64::from(places(w, object, cell))))
        .then(|| acts("mk_within", [core(), w.value(index), size_of(w, object, cell), w.source(source)]));
    let within = match (w.there(object), within) {
        (there, Some(within)) => Some(Expr::also(there, within)),
        (there, None) => there,
    };
    let mut place = None;
    w.assume(object, |w| place = Some(w.cell(object, cell).element(w.value(index))));
    (within, place.unwrap_or(Expr::Number(0)))
}

/// Reports a constant index that is out of bounds. The code names no place, which compilers would warn about.
fn is_outside(w: &mut Writer, (object, cell): (Value, CellId), index: Value, within: &Option<Expr>) -> bool {
    let outside = w.ranges.constant(index).is_some_and(|index| index >= u64::from(places(w, object, cell)));
    if let Some(within) = within.as_ref().filter(|_| outside) {
        w.act(within.clone());
    }
    outside
}

pub(super) fn get_at(w: &mut Writer, object: Value, cell: CellId, index: Value, source: Option<SourceId>) -> Expr {
    let (within, place) = within(w, object, cell, index, source);
    match is_outside(w, (object, cell), index, &within) {
        true => Expr::Number(0),
        false => Expr::only_if(within, place, Expr::Number(0)),
    }
}

pub(super) fn holds(w: &mut Writer, object: Value, cell: CellId, index: Value, source: Option<SourceId>) -> Expr {
    let (within, place) = within(w, object, cell, index, source);
    if is_outside(w, (object, cell), index, &within) {
        return Expr::Bool(false);
    }
    Expr::also(within, place.infix(Infix::Ne, Expr::Number(0)))
}

pub(super) fn set_cell(w: &mut Writer, object: Value, cell: CellId, value: Value) {
    w.guarded(object, |w| {
        w.forget_changed(object, cell, value);
        w.put(object, cell, w.value(value));
    });
}

pub(super) fn set_at(
    w: &mut Writer,
    (object, cell): (Value, CellId),
    (index, value): (Value, Value),
    source: Option<SourceId>,
) {
    w.guarded(object, |w| {
        let (within, place) = within(w, object, cell, index, source);
        if is_outside(w, (object, cell), index, &within) {
            return;
        }
        w.only_if(within, |w| w.push(set(place, w.value(value))));
    });
}

pub(super) fn arm_timer(w: &mut Writer, object: Value, cell: CellId, deadline: Value) {
    w.guarded(object, |w| {
        let (head, timer) = (w.object(object).address(), w.cell(object, cell).address());
        if w.is_path() {
            // Nothing ends on a path: an object that existed at the beginning lives.
            let tick = number(w.plan.automaton.tick.max(1));
            let is_first = acts("mk_timer_arm_by", [wheel(), timer, w.value(deadline), tick]);
            w.only_if(Some(is_first), |w| w.act(acts("mk_note_sooner", [core()])));
        } else {
            w.act(acts("mk_do_arm", [core(), head, timer, w.value(deadline)]));
        }
    });
}

pub(super) fn disarm(w: &mut Writer, object: Value, cell: CellId) {
    w.guarded(object, |w| w.act(acts("mk_timer_stop", [w.cell(object, cell).address()])));
}

pub(super) fn count(w: &mut Writer, object: Value, cell: CellId, amount: Value) {
    w.guarded(object, |w| {
        let counter = (w.class_of(object), cell);
        let index = w.plan.counters.iter().position(|known| *known == counter).unwrap_or(0);
        let place = of_instance("counters").element(number(index as u64));
        w.push(Stmt::Set(place, Some(Infix::Add), w.value(amount)));
    });
}

pub(super) fn give(w: &mut Writer, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
    w.guarded(object, |w| {
        let (left, total) = (w.cell(object, cell).address(), size_of(w, object, cell));
        w.act(acts("mk_do_give", [core(), left, total, w.value(amount), w.source(source)]));
    });
}

pub(super) fn spend(w: &mut Writer, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
    w.guarded(object, |w| {
        let left = w.cell(object, cell).address();
        w.act(acts("mk_do_spend", [core(), left, w.value(amount), w.source(source)]));
    });
}

/// Takes units that are there, or gives back some that were taken, of a quota of an object that exists.
pub(super) fn change(w: &mut Writer, (object, cell): (Value, CellId), how: Infix, amount: Value) {
    w.guarded(object, |w| {
        let (left, amount) = (w.cell(object, cell), w.value(amount));
        w.push(Stmt::Set(left, Some(how), amount));
    });
}

/// Puts a message into a place of an object that exists; the place is there, and is empty.
pub(super) fn keep_in_empty(w: &mut Writer, (object, cell): (Value, CellId), (index, message): (Value, Value)) {
    let place = w.cell(object, cell).element(w.value(index)).address();
    w.act(acts("mk_do_keep_in", [core(), place, w.value(message)]));
}

/// The message of a place of an object that exists; the place is there, and has one.
pub(super) fn take_there(w: &mut Writer, (object, cell): (Value, CellId), index: Value) -> Expr {
    let place = w.cell(object, cell).element(w.value(index)).address();
    w.temporary("held", "mk_message *", acts("mk_do_take_there", [core(), place]))
}

/// A message for a place of an object that does not exist is gone.
pub(super) fn keep(
    w: &mut Writer,
    (object, cell): (Value, CellId),
    (index, message): (Value, Value),
    source: Option<SourceId>,
) {
    let put = |w: &mut Writer| {
        let (places, size) = (w.cell(object, cell), size_of(w, object, cell));
        let (index, message) = (w.value(index), w.value(message));
        w.act(acts("mk_do_keep", [core(), places, size, index, message, w.source(source)]));
    };
    let Some(condition) = w.there(object) else { return put(w) };
    let then = w.inside(|w| w.assume(object, put));
    let otherwise = w.inside(|w| w.act(acts("mk_gone", [core(), w.value(message)])));
    w.push(Stmt::If { condition, then, otherwise });
}

/// The message in a place that holds one. An object that does not exist has a message without octets.
pub(super) fn take_held(
    w: &mut Writer,
    (object, cell): (Value, CellId),
    index: Value,
    source: Option<SourceId>,
) -> Expr {
    let there = w.there(object);
    let mut held = None;
    w.assume(object, |w| {
        let (places, size) = (w.cell(object, cell), size_of(w, object, cell));
        held = Some(acts("mk_do_take_held", [core(), places, size, w.value(index), w.source(source)]));
    });
    let none = acts("mk_message_new", [pool(), of_instance("core").member("front"), Expr::Number(0)]);
    let held = held.unwrap_or_else(|| none.clone());
    w.temporary("held", "mk_message *", Expr::only_if(there, held, none))
}

pub(super) fn consume_held(
    w: &mut Writer,
    (object, cell): (Value, CellId),
    index: Value,
    reason: ReasonId,
    source: Option<SourceId>,
) {
    w.guarded(object, |w| {
        let (places, size) = (w.cell(object, cell), size_of(w, object, cell));
        let (index, reason) = (w.value(index), w.plan.reason(reason));
        w.act(acts("mk_do_consume_held", [core(), places, size, index, reason, w.source(source)]));
    });
}

pub(super) fn release(w: &mut Writer, object: Value) {
    let class = w.class_of(object);
    if w.plan.mortal.contains(&class) {
        w.act(acts("mk_release", [core(), w.plan.class_at(class), w.value(object)]));
    }
}

pub(super) fn again(w: &mut Writer, object: Value) {
    w.guarded(object, |w| {
        let own = w.handler().is_some_and(|id| w.plan.automaton.handler(id).trigger == Trigger::Settle)
            && object == w.body.blocks[0].params[0];
        if w.plan.heads.has(w.class_of(object), Beside::Settling) {
            let settling = w.beside(object, Beside::Settling).address();
            w.act(match own {
                true => acts("mk_again", [settling]),
                false => acts("mk_ask_again", [core(), w.object(object).address(), settling]),
            });
        }
    });
}

/// A random number from the object's stream; 0 if the object does not exist.
pub(super) fn sample(w: &mut Writer, object: Value, ty: Type, result: Value) {
    let class = w.class_of(object);
    let place = if w.plan.is_sole(class) { Expr::Number(0) } else { computes("mk_number", [w.value(object)]) };
    let sampled = acts("mk_sample", [w.plan.beside(class, Beside::Streams).element(place).address()]);
    let sampled = Expr::only_if(w.there(object), sampled, Expr::Number(0));
    w.assign(result, of_word(w, sampled, ty));
}

pub(super) fn unique(w: &mut Writer, class: ClassId, result: Value) {
    if !w.plan.is_sole(class) {
        return w.assign(result, reads("mk_self", [w.plan.class_at(class), Expr::Number(0)]));
    }
    w.alias(result, word("MK_SOLE"));
    w.set_known(result);
}

pub(super) fn parent(w: &mut Writer, object: Value, result: Value) {
    let Some(parent) = w.plan.automaton.class(w.class_of(object)).parent else { return };
    let known = w.is_known(object);
    if known && w.plan.is_sole(parent) {
        w.alias(result, word("MK_SOLE"));
        return w.set_known(result);
    }
    if w.plan.is_sole(parent) {
        return w.assign(result, Expr::only_if(w.there(object), word("MK_SOLE"), word("MK_NULL")));
    }
    let number = w.beside(object, Beside::Kin).member("parent");
    w.assign(result, reads("mk_self", [w.plan.class_at(parent), number]));
    if known {
        w.set_known(result);
    }
}
