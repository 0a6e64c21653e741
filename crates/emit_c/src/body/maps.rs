//! Operations on maps: keys and values as octets without padding.

use mokume_reaction::*;

use super::paths;
use super::writer::Writer;
use crate::plan::keys;
use crate::state::{index, numbers};
use crate::tree::*;
use crate::types::{c_type, stored_octets};

/// A map and the current key, as the functions of the runtime need them.
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

/// The suffix of the functions of a map that finds objects by their own cells; `None` for other maps.
pub(super) fn index(w: &Writer, object: Value, cell: CellId) -> Option<String> {
    numbers::class_of(w.cell_kind(object, cell)).map(|_| index::name(w.plan, w.class_of(object), cell))
}

/// A call of one of these functions.
pub(super) fn call(what: &str, index: &str, w: &Writer, object: Option<Value>, key: &[Value]) -> Expr {
    let values = object.iter().chain(key).map(|value| w.value(*value));
    acts(format!("{what}_{index}"), [instance()].into_iter().chain(values).collect::<Vec<_>>())
}

/// A look-up on a path. If the map keeps its keys as words, it uses the words, which are read from messages as they are
/// there.
pub(super) fn find_here(index: &str, w: &Writer, (object, cell): (Value, CellId), key: &[Value]) -> Expr {
    let words = match w.plan.keys.get(&(w.class_of(object), cell)) {
        Some(words) => words.iter().map(|word| of_word(w, word, key)).collect(),
        None => w.values(key),
    };
    acts(format!("find_here_{index}"), [instance()].into_iter().chain(words).collect::<Vec<_>>())
}

/// A word of a key; parts that are adjacent in one message, in the same order, are read together.
pub(super) fn of_word(w: &Writer, word: &keys::Word, key: &[Value]) -> Expr {
    let mut whole: Option<Expr> = None;
    let mut rest = word.as_slice();
    while let Some(first) = rest.first() {
        let runs = (1..=rest.len()).rev().find_map(|parts| Some((parts, at_once(w, &rest[..parts], key)?)));
        let (parts, value) = runs.unwrap_or_else(|| (1, alone(w, first, key)));
        rest = &rest[parts..];
        if w.ranges.constant(key[first.at]) == Some(0) && parts == 1 {
            continue;
        }
        let value = match first.from {
            0 => value,
            from => value.cast("uint64_t").infix(Infix::Shl, number(8 * from)),
        };
        whole = Some(match whole {
            Some(before) => before.infix(Infix::BitOr, value),
            None => value,
        });
    }
    whole.unwrap_or(Expr::Number(0)).cast(keys::c_type(word))
}

/// The parts as one number of a message; `None` if they are not adjacent there.
fn at_once(w: &Writer, parts: &[keys::Part], key: &[Value]) -> Option<Expr> {
    let made = |value: Value| w.made(value).map(|op| &op.kind);
    let octets: u32 = parts.iter().map(|part| part.octets).sum();
    let read =
        |part: &keys::Part| keys::read(&made, key[part.at], part.octets).filter(|read| read.endian == part.endian);
    let first = read(parts.first()?)?;
    let mut end = first.at;
    for part in parts {
        read(part).filter(|read| (read.message, read.at) == (first.message, end))?;
        end += u64::from(part.octets);
    }
    if !matches!(octets, 2 | 4 | 8) || !paths::has(w, first.message, end) {
        return None;
    }
    let (at, _) = paths::part(w, first.message);
    Some(reads(format!("mk_get_le_{}", 8 * octets), [at.infix(Infix::Add, number(first.at))]))
}

/// A part of a word, from its value.
fn alone(w: &Writer, part: &keys::Part, key: &[Value]) -> Expr {
    let value = w.value(key[part.at]);
    match part.endian {
        Endian::Big => computes(format!("mk_turned_{}", 8 * part.octets), [value]),
        Endian::Little => value,
    }
}

/// Writes the key to memory.
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

/// Whether the key was there, and its former values.
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
