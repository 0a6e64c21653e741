//! Operations that may refuse: the condition under which they succeed, and the results on either way.

use mokume_analyse::Flow;
use mokume_reaction::*;

use super::operation::place_for;
use super::writer::Writer;
use super::{emissions, maps, paths};
use crate::tree::*;
use crate::{kept, memos};

/// An operation that may refuse, as a branch.
#[derive(Default)]
pub(super) struct Attempt {
    /// Whether it succeeded; `None`: it never does.
    pub condition: Option<Expr>,
    /// Code that runs first if it succeeded.
    pub first: Lines,
    pub results: Vec<Expr>,
    pub refused: Vec<Expr>,
    /// Whether the first result is a handle of an existing object.
    pub is_known: bool,
    /// Set if the results keep their values wherever they are used; for objects that surely exist, their records.
    pub stay: Option<Vec<Option<Expr>>>,
}

/// Translates an operation that may refuse. The first result has the name and type of `result`, the parameter that
/// receives it.
pub(super) fn attempt(w: &mut Writer, op: &Fallible, result: Option<Value>) -> Attempt {
    match op {
        Fallible::Decode { message, wire } => decode(w, "decode", *message, *wire),
        Fallible::Validate { message, wire } => decode(w, "validate", *message, *wire),
        // Only paths have this operation.
        Fallible::Peek { message, header, variant } => {
            let (condition, results) = paths::peek(w, *message, *header, *variant);
            Attempt { condition: Some(condition), results, ..Attempt::default() }
        }
        Fallible::Find { object, cell, key } => {
            if let Some(index) = maps::index(w, *object, *cell) {
                let find = match w.is_path() {
                    true => maps::find_here(&index, w, (*object, *cell), key),
                    false => maps::call("find", &index, w, None, key),
                };
                return found(w, *object, find, result);
            }
            let (entry, results) = maps::find(w, (*object, *cell), key);
            Attempt { condition: Some(is_there(&entry)), results, ..Attempt::default() }
        }
        Fallible::Insert { object, cell, key, values } => {
            w.forget(*object, *cell);
            if let Some(index) = maps::index(w, *object, *cell) {
                let entered = maps::call("insert", &index, w, values.first().copied(), key);
                return Attempt { condition: Some(Expr::also(w.there(*object), entered)), ..Attempt::default() };
            }
            let entry = maps::insert(w, (*object, *cell), key);
            let first = w.inside(|w| maps::put_values(w, (*object, *cell), &entry, values));
            Attempt { condition: Some(is_there(&entry)), first, ..Attempt::default() }
        }
        Fallible::Remove { object, cell, key } => {
            w.forget(*object, *cell);
            if let Some(index) = maps::index(w, *object, *cell) {
                return found(w, *object, maps::call("remove", &index, w, None, key), result);
            }
            let (removed, results) = maps::remove(w, (*object, *cell), key);
            Attempt { condition: Some(removed), results, ..Attempt::default() }
        }
        Fallible::New { class, parent } => {
            let new = format!("new_{}", w.plan.names.classes[class.index()]);
            let parent = parent.map_or(word("MK_NULL"), |parent| w.value(parent));
            object(w, acts(new, [instance(), parent]), result)
        }
        Fallible::First { class, parent } => {
            let at = w.plan.class_at(*class);
            let parent = parent.map_or(Expr::Number(0), |parent| w.place(parent));
            object(w, reads("mk_self", [at.clone(), reads("mk_oldest", [at, parent])]), result)
        }
        Fallible::Next { object: before } => {
            let (at, place) = (w.plan.class_at(w.class_of(*before)), w.place(*before));
            object(w, reads("mk_self", [at.clone(), reads("mk_younger", [at, place])]), result)
        }
        Fallible::Take { object, cell, amount } => {
            let taken = acts("mk_do_take", [w.cell(*object, *cell).address(), w.value(*amount)]);
            Attempt { condition: Some(Expr::also(w.there(*object), taken)), ..Attempt::default() }
        }
        Fallible::TakeOut { object, cell, index } => held(w, "mk_do_take_out", (*object, *cell, *index), result),
        Fallible::ShareHeld { object, cell, index } => held(w, "mk_do_share_held", (*object, *cell, *index), result),
        Fallible::TryRun { procedure, args } => try_run(w, *procedure, args),
        Fallible::Recall { memo, args } => recall(w, *memo, args),
        Fallible::Later { target, event, args } => later(w, *target, event, args),
    }
}

/// An object of a map that finds it by its own cells; such a map only has existing objects.
fn found(w: &mut Writer, map: Value, found: Expr, result: Option<Value>) -> Attempt {
    let found = Expr::only_if(w.there(map), found, word("MK_NULL"));
    object(w, found, result)
}

/// A procedure that says whether it succeeded; its results, and what it gives back, are returned through pointers.
fn try_run(w: &mut Writer, procedure: FunctionId, args: &[Value]) -> Attempt {
    let function = &w.plan.automaton.functions[procedure.index()];
    let places = |w: &mut Writer, types: &[Type], name: &str| -> Vec<Expr> {
        types.iter().map(|ty| place_for(w, name.to_string(), *ty)).collect()
    };
    let (results, refused) = (places(w, &function.results, "given"), places(w, function.refused(), "back"));
    let mut list: Vec<Expr> = [instance()].into_iter().chain(w.values(args)).collect();
    list.extend(results.iter().chain(&refused).map(|place| place.clone().address()));
    let done = acts(w.plan.names.functions[procedure.index()].clone(), list);
    let condition = w.temporary("done", "bool", done);
    Attempt { condition: Some(condition), results, refused, ..Attempt::default() }
}

/// A memo, which says whether it holds. It is kept beside its object, or once in the instance.
fn recall(w: &mut Writer, memo: FunctionId, args: &[Value]) -> Attempt {
    let function = &w.plan.automaton.functions[memo.index()];
    let name = memos::name(w.plan, memo);
    let by_numbers = w.plan.families.iter().position(|family| family.memos.contains(&memo));
    let kept = match (by_numbers, args.first()) {
        (Some(table), _) => kept_by(w, table, args).arrow(name.clone()),
        (None, Some(own)) => w.record_of(*own).member(name.clone()),
        (None, None) => of_instance(name.clone()),
    };
    let kept = w.temporary("memo", format!("struct {name} *"), kept.address());
    if w.is_path() {
        let now = of_instance("memos");
        paths::apart_if(w, kept.clone().arrow("memos").infix(Infix::Ne, now));
    }
    let mut list: Vec<Expr> = [instance()].into_iter().chain(w.values(args)).collect();
    list.push(kept.clone());
    let condition = Expr::Expect(true, Box::new(acts(format!("recall_{name}"), list)));
    let results = (0..function.results.len()).map(|place| kept.clone().arrow(format!("v{place}"))).collect();
    let there = memos::there(w.plan.automaton, function)
        .into_iter()
        .enumerate()
        .map(|(place, there)| there.then(|| kept.clone().arrow(format!("at_{place}"))));
    Attempt { condition: Some(condition), results, stay: Some(there.collect()), ..Attempt::default() }
}

/// The place in a table for these numbers: one that a recall on every way here has found, or a new one.
fn kept_by(w: &mut Writer, table: usize, args: &[Value]) -> Expr {
    let flow = Flow::new(w.body);
    let known = w.kept.iter().find(|(of, by, block, _)| {
        *of == table && flow.dominates(*block, w.at_block) && by.iter().zip(args).all(|(a, b)| is_same(w, *a, *b))
    });
    if let Some((.., kept)) = known {
        return kept.clone();
    }
    let words: Vec<Expr> = w.plan.families[table].words.iter().map(|word| maps::of_word(w, word, args)).collect();
    let list: Vec<Expr> = [instance()].into_iter().chain(words).collect();
    let name = kept::name(table);
    let place = |how: &str| acts(format!("{how}_{name}"), list.clone());
    let kept = conditional(paths::brisk(w), place("find"), place("keep"));
    let kept = w.temporary("kept", format!("struct {name} *"), kept);
    paths::apart_if(w, kept.clone().infix(Infix::Eq, word("NULL")));
    w.kept.push((table, args.to_vec(), w.at_block, kept.clone()));
    kept
}

/// Whether two numbers of a path are one: the same value, or read from the same place.
fn is_same(w: &Writer, a: Value, b: Value) -> bool {
    let made = |value: Value| w.made(value).map(|op| &op.kind);
    let read = |value: Value| {
        let OpKind::Load { field, message, at } = made(value)? else { return None };
        Some((*field, *message, w.ranges.constant(*at)?))
    };
    a == b || read(a).is_some() && read(a) == read(b)
}

fn is_there(pointer: &Expr) -> Expr {
    pointer.clone().infix(Infix::Ne, word("NULL"))
}

fn hint_of(w: &Writer, result: Option<Value>, otherwise: &str) -> String {
    result.map(|result| w.hint(result)).filter(|hint| !hint.is_empty()).unwrap_or(otherwise).to_string()
}

fn decode(w: &mut Writer, what: &str, message: Value, wire: WireId) -> Attempt {
    let m = w.value(message);
    let call = acts(format!("{what}_{}", w.plan.names.wires[wire.index()]), [instance(), m.clone()]);
    let reason = w.temporary("refused", "uint32_t", call);
    let accepted = reason.clone().infix(Infix::Eq, word("MK_NOBODY"));
    Attempt {
        condition: Some(Expr::Expect(true, Box::new(accepted))),
        results: vec![m.clone()],
        refused: vec![m, reason],
        ..Attempt::default()
    }
}

fn object(w: &mut Writer, found: Expr, result: Option<Value>) -> Attempt {
    let hint = hint_of(w, result, "found");
    let found = w.temporary(&hint, "mk_ref", found);
    let condition = found.clone().infix(Infix::Ne, word("MK_NULL"));
    Attempt { condition: Some(condition), results: vec![found], is_known: true, ..Attempt::default() }
}

fn held(
    w: &mut Writer,
    what: &'static str,
    (object, cell, index): (Value, CellId, Value),
    result: Option<Value>,
) -> Attempt {
    let places = [w.cell(object, cell), super::cells::size_of(w, object, cell)];
    let [places, size] = places;
    let held = acts(what, [core(), places, size, w.value(index), word("MK_NOBODY")]);
    let held = Expr::only_if(w.there(object), held, word("NULL"));
    let hint = hint_of(w, result, "held");
    let held = w.temporary(&hint, "mk_message *", held);
    Attempt { condition: Some(is_there(&held)), results: vec![held], ..Attempt::default() }
}

fn later(w: &mut Writer, target: Value, event: &str, args: &[Value]) -> Attempt {
    let Some(later) = emissions::put_off(w, target, event, args) else { return Attempt::default() };
    let first = w.inside(|w| emissions::set_arguments(w, later.clone(), args));
    Attempt { condition: Some(is_there(&later)), first, ..Attempt::default() }
}
