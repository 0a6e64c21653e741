//! Objects and their cells, and armed timers: the state between two reactions.
//!
//! A value of type `Ref` is `generation << 32 | place`; `null` is all ones.

use std::collections::{BTreeMap, BTreeSet};

use mokume_reaction::{Automaton, CellId, CellKind, ClassId, Handle, Type};

use crate::message::Message;
use crate::random;

/// The null reference.
pub const NULL: u64 = u64::MAX;
/// No place: the end of a chain of siblings.
pub const NONE: u32 = u32::MAX;

/// The place, in its class, of the object that a reference names; meaningless for [`NULL`].
pub fn place_of(object: u64) -> u32 {
    object as u32
}

/// The reference to an object by its place and generation (docs/semantics.md, L3).
pub fn reference(place: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(place)
}

/// A reference as a handle for programs outside.
pub fn handle(object: u64) -> Handle {
    match object {
        NULL => Handle::NULL,
        _ => Handle { object: place_of(object), generation: (object >> 32) as u32 },
    }
}

/// A handle from outside as a reference. Does not check whether the object exists.
pub fn object_of(handle: Handle) -> u64 {
    match handle {
        Handle::NULL => NULL,
        _ => reference(handle.object, handle.generation),
    }
}

/// The content of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    Word(u64),
    Array(Box<[u64]>),
    Messages(Box<[Option<Box<Message>>]>),
    Map { entries: BTreeMap<Box<[u64]>, Box<[u64]>>, capacity: u32 },
    Timer(Option<u64>),
    Quota { left: u32, amount: u32 },
    Counter(u64),
}

/// The content of a cell, for tools.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CellView<'a> {
    /// A scalar; a reference in the form `generation << 32 | place`.
    Word(u64),
    Array(&'a [u64]),
    Messages(Vec<Option<&'a Message>>),
    /// Keys and values, by key.
    Map(Vec<(&'a [u64], &'a [u64])>),
    /// The deadline, if the timer is armed.
    Timer(Option<u64>),
    Quota {
        left: u32,
        amount: u32,
    },
    Counter(u64),
}

/// Whether a place has an object (docs/semantics.md, L5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    Free,
    Living,
    /// Ended, and freed at the end of the reaction.
    Ended,
}

/// A place of a class, with the object in it, if there is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    pub life: Life,
    pub generation: u32,
    /// The parent's place in its class, or 0.
    pub parent: u32,
    pub older: u32,
    pub younger: u32,
    /// Increases from object to object of the instance.
    pub age: u64,
    pub stream: u64,
    /// If it is dirty: since when, which identifies its entry in the queue of dirty objects.
    pub dirty: Option<u64>,
    /// How often it has settled in this reaction.
    pub settles: u32,
    pub cells: Vec<Content>,
}

/// The objects of one class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Objects {
    pub places: Vec<Object>,
    /// Free places below `places.len()`, the lowest last.
    free: Vec<u32>,
    /// The oldest and the youngest object, by the parent's place.
    families: Vec<(u32, u32)>,
}

/// An armed timer; sorted in the order in which timers run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Armed {
    pub deadline: u64,
    pub declaration: u32,
    pub age: u64,
    pub place: u32,
}

/// All objects, and the armed timers in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    pub classes: Vec<Objects>,
    pub timers: BTreeSet<Armed>,
    ages: u64,
    seed: u64,
    /// If changes are recorded: the objects that may have changed, in their old state, by class and place; `None` for a
    /// place without an object.
    pub touched: Option<BTreeMap<(ClassId, u32), Option<Object>>>,
}

impl Store {
    /// A store with all unique objects, which exist from the start.
    pub fn new(automaton: &Automaton, seed: u64) -> Self {
        let classes = vec![Objects::default(); automaton.classes.len()];
        let mut store = Store { classes, timers: BTreeSet::new(), ages: 0, seed, touched: None };
        for class in (0..automaton.classes.len()).map(ClassId::from) {
            if automaton.is_unique(class) {
                store.add(automaton, class, 0);
            }
        }
        store
    }

    /// Makes a new object; `None` if the class is full.
    pub fn add(&mut self, automaton: &Automaton, class: ClassId, parent: u32) -> Option<u64> {
        let definition = automaton.class(class);
        let objects = &mut self.classes[class.index()];
        let place = match objects.free.pop() {
            Some(place) => place,
            None if objects.places.len() < definition.capacity as usize => {
                objects.places.push(Object::nobody());
                objects.places.len() as u32 - 1
            }
            None => return None,
        };
        if let Some(touched) = &mut self.touched {
            touched.entry((class, place)).or_insert(None);
        }
        let generation = objects.places[place as usize].generation;
        let object = reference(place, generation);
        let (older, family) = (objects.family(parent).1, parent as usize);
        match older {
            NONE => objects.families[family].0 = place,
            older => objects.places[older as usize].younger = place,
        }
        objects.families[family].1 = place;
        objects.places[place as usize] = Object {
            life: Life::Living,
            generation,
            parent,
            older,
            younger: NONE,
            age: self.ages,
            stream: random::stream(self.seed, class.0, object),
            dirty: None,
            settles: 0,
            cells: definition.cells.iter().map(|cell| Content::new(automaton, &cell.kind)).collect(),
        };
        self.ages += 1;
        Some(object)
    }

    /// Frees the place of an object that has ended.
    pub fn free(&mut self, class: ClassId, place: u32) {
        let objects = &mut self.classes[class.index()];
        let object = &mut objects.places[place as usize];
        let (older, younger, parent) = (object.older, object.younger, object.parent as usize);
        object.life = Life::Free;
        object.generation = object.generation.wrapping_add(1);
        object.cells = Vec::new();
        match older {
            NONE => objects.families[parent].0 = younger,
            older => objects.places[older as usize].younger = younger,
        }
        match younger {
            NONE => objects.families[parent].1 = older,
            younger => objects.places[younger as usize].older = older,
        }
        let at = objects.free.partition_point(|other| *other > place);
        objects.free.insert(at, place);
    }

    /// The object of a reference, living or ended; `None` if it was freed.
    pub fn get(&self, class: ClassId, object: u64) -> Option<&Object> {
        let found = self.classes[class.index()].places.get(place_of(object) as usize)?;
        (found.life != Life::Free && u64::from(found.generation) == object >> 32).then_some(found)
    }

    /// The object of a reference, also one that has ended in this reaction; `None` if it was freed, even if another has
    /// its place now (docs/semantics.md, L7).
    pub fn get_mut(&mut self, class: ClassId, object: u64) -> Option<&mut Object> {
        let place = place_of(object);
        let found = self.classes[class.index()].places.get_mut(place as usize)?;
        let found =
            Some(found).filter(|found| found.life != Life::Free && u64::from(found.generation) == object >> 32)?;
        if let Some(touched) = &mut self.touched {
            touched.entry((class, place)).or_insert_with(|| Some(found.clone()));
        }
        Some(found)
    }

    /// Whether the object exists and has not ended.
    pub fn is_living(&self, class: ClassId, object: u64) -> bool {
        self.get(class, object).is_some_and(|found| found.life == Life::Living)
    }

    /// A cell of an object; `None` if the object was freed.
    pub fn cell(&self, class: ClassId, object: u64, cell: CellId) -> Option<&Content> {
        self.get(class, object)?.cells.get(cell.index())
    }

    /// As [`Store::cell`], mutable. Timers are armed elsewhere, as their order is stored beside the cells.
    pub fn cell_mut(&mut self, class: ClassId, object: u64, cell: CellId) -> Option<&mut Content> {
        self.get_mut(class, object)?.cells.get_mut(cell.index())
    }

    /// The object at a place now.
    pub fn object_in(&self, class: ClassId, place: u32) -> u64 {
        match self.classes[class.index()].places.get(place as usize) {
            Some(found) => reference(place, found.generation),
            None => NULL,
        }
    }

    /// The oldest living object of a parent, or `null`.
    pub fn oldest(&self, class: ClassId, parent: u32) -> u64 {
        let objects = &self.classes[class.index()];
        self.living_from(class, objects.families.get(parent as usize).map_or(NONE, |family| family.0))
    }

    /// The next younger living object of the same parent, or `null`.
    pub fn younger(&self, class: ClassId, object: u64) -> u64 {
        self.living_from(class, self.get(class, object).map_or(NONE, |found| found.younger))
    }

    fn living_from(&self, class: ClassId, mut place: u32) -> u64 {
        let places = &self.classes[class.index()].places;
        while place != NONE && places[place as usize].life != Life::Living {
            place = places[place as usize].younger;
        }
        match place {
            NONE => NULL,
            place => reference(place, places[place as usize].generation),
        }
    }
}

impl Objects {
    fn family(&mut self, parent: u32) -> (u32, u32) {
        if self.families.len() <= parent as usize {
            self.families.resize(parent as usize + 1, (NONE, NONE));
        }
        self.families[parent as usize]
    }
}

impl Object {
    fn nobody() -> Self {
        Object {
            life: Life::Free,
            generation: 0,
            parent: 0,
            older: NONE,
            younger: NONE,
            age: 0,
            stream: 0,
            dirty: None,
            settles: 0,
            cells: Vec::new(),
        }
    }
}

impl Content {
    fn new(automaton: &Automaton, kind: &CellKind) -> Self {
        let word = |ty: Type, init: u64| match ty {
            Type::Ref(_) => NULL,
            scalar => init & crate::program::mask(scalar.width(automaton)),
        };
        match kind {
            CellKind::Scalar { ty, init } => Content::Word(word(*ty, *init)),
            CellKind::Array { ty, size, init } => Content::Array(vec![word(*ty, *init); *size as usize].into()),
            CellKind::Messages { size, .. } => Content::Messages((0..*size).map(|_| None).collect()),
            CellKind::Map { capacity, .. } => Content::Map { entries: BTreeMap::new(), capacity: *capacity },
            CellKind::Timer => Content::Timer(None),
            CellKind::Quota { amount } => Content::Quota { left: *amount, amount: *amount },
            CellKind::Counter => Content::Counter(0),
        }
    }
}

/// Rounds up to a multiple of the tick; near the largest time, rounds down.
pub fn round_up(deadline: u64, tick: u64) -> u64 {
    let tick = tick.max(1);
    deadline.checked_next_multiple_of(tick).unwrap_or(deadline - deadline % tick)
}
