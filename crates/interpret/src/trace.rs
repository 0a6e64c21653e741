//! Records which cells calls have changed, for tools that show runs. Off by default; recording does not change a run.

use std::collections::BTreeMap;

use mokume_reaction::trace::{At, CellChange, Change, Held, Lives};
use mokume_reaction::{Automaton, CellId, CellKind, ClassId, Handle, Type};

use crate::store::{handle, Content, Life, Object, Store, NULL};

/// Begins with all that exists, as if the first call had made it.
pub fn begin(store: &mut Store) {
    let living = |class: usize| {
        let places = store.classes[class].places.iter().enumerate();
        let there = places.filter(|(_, object)| object.life != Life::Free);
        there.map(move |(place, _)| ((ClassId::from(class), place as u32), None))
    };
    let touched = (0..store.classes.len()).flat_map(living).collect();
    store.touched = Some(touched);
}

/// The changes since the last time; empty if not recording.
pub fn take(automaton: &Automaton, store: &mut Store) -> Vec<Change> {
    let touched = store.touched.as_mut().map(std::mem::take).unwrap_or_default();
    let change = |((class, place), before)| changes(automaton, store, (class, place), before);
    touched.into_iter().flat_map(change).collect()
}

/// The changes of the objects at a place.
fn changes(
    automaton: &Automaton,
    store: &Store,
    (class, place): (ClassId, u32),
    before: Option<Object>,
) -> Vec<Change> {
    let now = &store.classes[class.index()].places[place as usize];
    let is_there = now.life == Life::Living;
    let change = |generation: u32, life, from: &[Content], to: &[Content]| Change {
        class,
        object: Handle { object: place, generation },
        life,
        cells: cells(automaton, class, from, to),
    };
    match before.filter(|before| before.life == Life::Living) {
        Some(before) if is_there && before.generation == now.generation => {
            let found = change(now.generation, Lives::GoesOn, &before.cells, &now.cells);
            Some(found).filter(|found| !found.cells.is_empty()).into_iter().collect()
        }
        before => {
            let ended = before.map(|before| change(before.generation, Lives::Ends, &[], &[]));
            let began = is_there.then(|| change(now.generation, Lives::Begins, &[], &now.cells));
            ended.into_iter().chain(began).collect()
        }
    }
}

/// The cells that differ; for a new object, all that hold something.
fn cells(automaton: &Automaton, class: ClassId, from: &[Content], to: &[Content]) -> Vec<CellChange> {
    let mut found = Vec::new();
    for (place, (definition, now)) in automaton.class(class).cells.iter().zip(to).enumerate() {
        let before = from.get(place);
        if before == Some(now) {
            continue;
        }
        let (mut before, mut now) =
            (before.map(|before| parts(before, &definition.kind)), parts(now, &definition.kind));
        // For a new object, empty cells are not listed.
        now.retain(|at, held| *at == Part::Whole || *held != Held::Word(0) || before.is_some());
        let mut all: Vec<Part> = now.keys().cloned().collect();
        all.extend(before.iter().flat_map(|before| before.keys().filter(|at| !now.contains_key(at))).cloned());
        for at in all {
            let (from, to) = (before.as_mut().and_then(|before| before.remove(&at)), now.remove(&at));
            if from != to {
                found.push(CellChange { cell: CellId::from(place), at: at.named(), from, to });
            }
        }
    }
    found
}

/// A part of a cell, sorted as in the output.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Whole,
    Place(u32),
    Key(Box<[u64]>),
}

impl Part {
    fn named(self) -> At {
        match self {
            Part::Whole => At::Whole,
            Part::Place(place) => At::Place(place),
            Part::Key(key) => At::Key(key.into_vec()),
        }
    }
}

/// The content of a cell, part by part; empty places are left out.
fn parts(content: &Content, kind: &CellKind) -> BTreeMap<Part, Held> {
    let scalar = |ty: Type, word: u64| match ty {
        Type::Ref(_) if word == NULL => None,
        Type::Ref(_) => Some(Held::Object(handle(word))),
        _ => Some(Held::Word(word)),
    };
    let whole = |held: Option<Held>| held.into_iter().map(|held| (Part::Whole, held)).collect();
    match (content, kind) {
        (Content::Word(word), CellKind::Scalar { ty, .. }) => whole(scalar(*ty, *word)),
        (Content::Array(words), CellKind::Array { ty, .. }) => {
            let places = words.iter().enumerate();
            places.filter_map(|(at, word)| Some((Part::Place(at as u32), scalar(*ty, *word)?))).collect()
        }
        (Content::Messages(places), _) => {
            let held = |(at, message): (usize, &Option<Box<crate::message::Message>>)| {
                let octets = message.as_ref()?.octets.clone();
                Some((Part::Place(at as u32), Held::Message(octets)))
            };
            places.iter().enumerate().filter_map(held).collect()
        }
        (Content::Map { entries, .. }, _) => {
            let all = entries.iter();
            all.map(|(key, values)| (Part::Key(key.clone()), Held::Words(values.to_vec()))).collect()
        }
        (Content::Timer(deadline), _) => whole(deadline.map(Held::Armed)),
        (Content::Quota { left, .. }, _) => whole(Some(Held::Word((*left).into()))),
        (Content::Counter(total), _) => whole(Some(Held::Word(*total))),
        (Content::Word(word), _) => whole(Some(Held::Word(*word))),
        (Content::Array(words), _) => {
            words.iter().enumerate().map(|(at, word)| (Part::Place(at as u32), Held::Word(*word))).collect()
        }
    }
}
