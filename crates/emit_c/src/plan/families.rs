//! Memos that are kept by numbers of a message, in tables: one table for all memos that a path recalls by the same numbers.
//!
//! A table has places for about twice as many keys as objects may be found by them, so that few keys share a place.
//!
//! It must keep: memos of a family take the same numbers of their path. If it looked up others in the same table, these could drive out
//! the first key, while the path still uses its place.

use mokume_reaction::*;

use super::keys::{self, Read, Word};
use crate::fault::Fault;
use crate::types::stored_octets;

/// The memos of a table.
pub(crate) struct Family {
    pub memos: Vec<FunctionId>,
    /// What the numbers are looked up by.
    pub words: Vec<Word>,
    /// Places in the table; a power of two.
    pub places: u32,
}

/// The least and the most places of a table.
const LEAST: u32 = 16;
const MOST: u32 = 2048;

/// Whether a memo is kept by numbers: it takes numbers, and no object.
pub(crate) fn is_by_numbers(function: &Function) -> bool {
    function.is_memo() && matches!(function.params.first(), Some((_, ty)) if !matches!(ty, Type::Ref(_)))
}

/// Memos of a path that take the same numbers: these, their octets, and where they are read.
struct Alike {
    path: usize,
    numbers: Vec<Number>,
    sizes: Vec<u32>,
    reads: Vec<Option<Read>>,
    memos: Vec<FunctionId>,
}

/// The tables of an automaton.
pub(crate) fn all(automaton: &Automaton, planted: Option<Fault>) -> Vec<Family> {
    let mut families: Vec<Alike> = Vec::new();
    for (path, body) in automaton.paths.iter().map(|path| &path.body).enumerate() {
        let made = keys::makers(body);
        for attempt in body.attempts() {
            let Fallible::Recall { memo, args } = attempt else { continue };
            let function = &automaton.functions[memo.index()];
            if !is_by_numbers(function) || families.iter().any(|alike| alike.memos.contains(memo)) {
                continue;
            }
            let sizes: Vec<u32> = function.params.iter().map(|(_, ty)| stored_octets(automaton, *ty)).collect();
            let maker = |value: Value| made.get(&value).copied();
            let reads: Vec<Option<Read>> =
                args.iter().zip(&sizes).map(|(value, size)| keys::read(&maker, *value, *size)).collect();
            let numbers: Vec<Number> = args.iter().map(|value| number(&maker, *value)).collect();
            let is_same = |alike: &&mut Alike| {
                let is_of_size =
                    || planted == Some(Fault::OneTable) && (&alike.sizes, &alike.reads) == (&sizes, &reads);
                alike.path == path && (alike.numbers == numbers || is_of_size())
            };
            match families.iter_mut().find(is_same) {
                Some(alike) => alike.memos.push(*memo),
                None => families.push(Alike { path, numbers, sizes, reads, memos: vec![*memo] }),
            }
        }
    }
    let family = |alike: Alike| Family {
        places: places(automaton, &alike.memos),
        words: keys::arranged(&alike.sizes, &alike.reads),
        memos: alike.memos,
    };
    families.into_iter().map(family).collect()
}

/// A number of a path: what is read at a known place of a message, of whatever width, else the value.
#[derive(PartialEq, Eq)]
enum Number {
    Read(OctetField, Value, u64),
    Value(Value),
}

fn number<'a>(made: &impl Fn(Value) -> Option<&'a OpKind>, value: Value) -> Number {
    let read = || {
        let OpKind::Load { field, message, at } = made(value)? else { return None };
        let OpKind::Const { value: at, .. } = made(*at)? else { return None };
        Some(Number::Read(*field, *message, *at))
    };
    read().unwrap_or(Number::Value(value))
}

/// Places for twice the objects that memos look up by their numbers.
fn places(automaton: &Automaton, memos: &[FunctionId]) -> u32 {
    let mut classes: Vec<ClassId> = Vec::new();
    for memo in memos {
        let body = &automaton.functions[memo.index()].body;
        let numbers = &body.blocks[0].params;
        for attempt in body.attempts() {
            let Fallible::Find { object, cell, key } = attempt else { continue };
            let map = body.class_of(*object).map(|class| &automaton.cell(class, *cell).kind);
            let Some(CellKind::Map { value, .. }) = map else { continue };
            match value.first() {
                Some(Type::Ref(class)) if key.iter().any(|part| numbers.contains(part)) && !classes.contains(class) => {
                    classes.push(*class);
                }
                _ => {}
            }
        }
    }
    let objects: u32 = classes.iter().map(|class| automaton.class(*class).capacity).fold(0, u32::saturating_add);
    objects.saturating_mul(2).clamp(LEAST, MOST).next_power_of_two()
}
