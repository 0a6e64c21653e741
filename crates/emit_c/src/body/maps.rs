//! Operations on maps: keys and values as octets without padding.

use mokume_reaction::*;

use super::writer::Writer;
use crate::tree::*;
use crate::types::{c_type, stored_octets};

/// A map, and the key at hand: what the functions of the runtime ask for.
pub(super) struct Entry {
    shape: Expr,
    map: Expr,
    entries: Expr,
    key: Expr,
}

fn types<'a>(w: &Writer<'_, 'a>, object: Value, cell: CellId) -> (&'a [Type], &'a [Type]) {
    match w.cell_kind(object, cell) {
        CellKind::Map { key, value, .. } => (key, value),
        CellKind::Scalar { .. }
        | CellKind::Array { .. }
        | CellKind::Messages { .. }
        | CellKind::Timer
        | CellKind::Quota { .. }
        | CellKind::Counter => (&[], &[]),
    }
}

fn octets(w: &Writer, types: &[Type]) -> u32 {
    types.iter().map(|ty| stored_octets(w.plan.automaton, *ty)).sum()
}

/// Writes the key down.
pub(super) fn entry(w: &mut Writer, (object, cell): (Value, CellId), key: &[Value]) -> Entry {
    let (key_types, _) = types(w, object, cell);
    let memory = w.function.array("key", "uint8_t", octets(w, key_types).max(1));
    w.push(Stmt::Declare(memory));
    put(w, &Expr::Local(memory), key_types, key);
    let (names, class) = (&w.plan.names, w.class_of(object));
    let (class_name, member) = (&names.classes[class.index()], &names.cells[class.index()][cell.index()]);
    let map = w.cell(object, cell);
    let entries = match &map {
        Expr::Member(inner, _) => Expr::Member(inner.clone(), format!("{member}_entries").into()),
        Expr::Arrow(inner, _) => Expr::Arrow(inner.clone(), format!("{member}_entries").into()),
        other => other.clone(),
    };
    Entry {
        shape: word(format!("shape_{class_name}_{member}")).address(),
        map: map.address(),
        entries,
        key: Expr::Local(memory),
    }
}

fn at(memory: &Expr, octet: u32) -> Expr {
    match octet {
        0 => memory.clone(),
        octet => memory.clone().infix(Infix::Add, number(octet)),
    }
}

fn put(w: &mut Writer, memory: &Expr, types: &[Type], values: &[Value]) {
    let mut octet = 0;
    for (value, ty) in values.iter().zip(types) {
        let size = stored_octets(w.plan.automaton, *ty);
        w.act(acts(format!("mk_write_{}", 8 * size), [at(memory, octet), w.value(*value)]));
        octet += size;
    }
}

/// The values of an entry, read from octets.
fn values_at(w: &Writer, types: &[Type], memory: &Expr) -> Vec<Expr> {
    let mut octet = 0;
    let one = |ty: &Type| {
        let size = stored_octets(w.plan.automaton, *ty);
        let value = reads(format!("mk_read_{}", 8 * size), [at(memory, octet)]);
        octet += size;
        match c_type(w.plan.automaton, *ty) {
            "bool" => value.infix(Infix::Ne, Expr::Number(0)),
            _ => value,
        }
    };
    types.iter().map(one).collect()
}

/// The entry of the key or NULL, and its values if it is there.
pub(super) fn find(w: &mut Writer, map: (Value, CellId), key: &[Value]) -> (Expr, Vec<Expr>) {
    let it = entry(w, map, key);
    let find = acts("mk_map_find", [it.shape, it.entries, it.key]);
    let find = Expr::only_if(w.has_record(map.0), find, word("NULL"));
    let found = w.temporary("entry", "uint8_t *", find);
    let values = values_at(w, types(w, map.0, map.1).1, &found);
    (found, values)
}

/// The place for the key's values, or NULL.
pub(super) fn insert(w: &mut Writer, map: (Value, CellId), key: &[Value]) -> Expr {
    let there = w.there(map.0);
    let it = entry(w, map, key);
    let insert = acts("mk_map_insert", [it.shape, it.map, it.entries, it.key]);
    w.temporary("entry", "uint8_t *", Expr::only_if(there, insert, word("NULL")))
}

pub(super) fn put_values(w: &mut Writer, map: (Value, CellId), entry: &Expr, values: &[Value]) {
    let (_, value_types) = types(w, map.0, map.1);
    put(w, entry, value_types, values);
}

/// Whether the key was there, and the values that it had.
pub(super) fn remove(w: &mut Writer, map: (Value, CellId), key: &[Value]) -> (Expr, Vec<Expr>) {
    let (_, value_types) = types(w, map.0, map.1);
    let it = entry(w, map, key);
    let removed = w.function.array("removed", "uint8_t", octets(w, value_types).max(1));
    w.push(Stmt::Declare(removed));
    let removed = Expr::Local(removed);
    let values = values_at(w, value_types, &removed);
    let remove = acts("mk_map_remove", [it.shape, it.map, it.entries, it.key, removed]);
    (Expr::also(w.has_record(map.0), remove), values)
}
