//! Operations on the cells of objects. An object that is not there reads as zeros, and nothing is written to it.

use mokume_reaction::{Cell, CellId, CellKind, ClassId, Report, SourceId, Type, Value};

use crate::core::Core;
use crate::eval::Activation;
use crate::program::Program;
use crate::store::{place_of, Armed, Content, NULL};

/// What a cell of nobody holds: zero, and of references none (docs/semantics.md, L7).
fn nothing(cell: &Cell) -> u64 {
    match cell.kind {
        CellKind::Scalar { ty: Type::Ref(_), .. } | CellKind::Array { ty: Type::Ref(_), .. } => NULL,
        _ => 0,
    }
}

impl Core {
    /// What one place of a cell holds; of cells with one place, `index` is 0.
    pub fn read(&mut self, at: Activation, object: Value, cell: CellId, index: u64, source: Option<SourceId>) -> u64 {
        let word = match self.store.cell(at.class(object), self.get(at, object), cell) {
            Some(Content::Word(word)) => Some(*word),
            Some(Content::Array(words)) => words.get(index as usize).copied(),
            Some(Content::Timer(deadline)) => Some(u64::from(deadline.is_some())),
            Some(Content::Quota { left, .. }) => Some(u64::from(*left)),
            Some(Content::Messages(places)) => places.get(index as usize).map(|place| u64::from(place.is_some())),
            Some(Content::Map { .. } | Content::Counter(_)) => Some(0),
            None => Some(nothing(at.program.automaton.cell(at.class(object), cell))),
        };
        if word.is_none() {
            self.report(Report::Bounds, source);
        }
        word.unwrap_or(0)
    }

    /// Writes a cell that holds one number. The number has the width of its type already.
    /// A cell by which the object is in a map stays as it is: another value is a `misuse`.
    pub fn set_cell(&mut self, at: Activation, object: Value, cell: CellId, value: Value, source: Option<SourceId>) {
        let (class, value) = (at.class(object), self.get(at, value));
        let object = self.get(at, object);
        let wrong = self.is_found_by(at.program, class, object, |by| by.contains(&cell))
            && !matches!(self.store.cell(class, object, cell), Some(Content::Word(word)) if *word == value);
        if let Some(Content::Word(word)) = self.store.cell_mut(class, object, cell) {
            *word = value;
        }
        if wrong {
            self.report(Report::Misuse, source);
        }
    }

    /// Whether an object is in a map that finds it by its own cells, of those maps that are `wanted`.
    pub fn is_found_by(
        &self,
        program: &Program,
        class: ClassId,
        object: u64,
        wanted: impl Fn(&[CellId]) -> bool,
    ) -> bool {
        program.classes[class.index()].indices.iter().filter(|index| wanted(&index.by)).any(|index| {
            let Some(key) = self.key_of(class, object, &index.by) else { return false };
            let owner = self.store.object_in(index.class, 0);
            match self.store.cell(index.class, owner, index.map) {
                Some(Content::Map { entries, .. }) => entries.get(&key).is_some_and(|found| found[0] == object),
                _ => false,
            }
        })
    }

    /// What an object's cells say; none of one that is not there.
    pub fn key_of(&self, class: ClassId, object: u64, by: &[CellId]) -> Option<Box<[u64]>> {
        let word = |cell: &CellId| match self.store.cell(class, object, *cell)? {
            Content::Word(word) => Some(*word),
            _ => None,
        };
        by.iter().map(word).collect()
    }

    /// Writes one element of an array; behind the last one nothing is written, and `bounds` is reported
    /// (docs/semantics.md, M1).
    pub fn set_at(
        &mut self,
        at: Activation,
        object: Value,
        cell: CellId,
        (index, value): (Value, Value),
        source: Option<SourceId>,
    ) {
        let (index, value) = (self.get(at, index) as usize, self.get(at, value));
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Array(words)) = found else { return };
        match words.get_mut(index) {
            Some(word) => *word = value,
            None => self.report(Report::Bounds, source),
        }
    }

    /// Adds to a counter, modulo 2^64 (docs/semantics.md, F10).
    pub fn count(&mut self, at: Activation, object: Value, cell: CellId, amount: Value) {
        let amount = self.get(at, amount);
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        if let Some(Content::Counter(total)) = found {
            *total = total.wrapping_add(amount);
        }
    }

    /// A timer of an object that has ended stays idle.
    pub fn set_timer(&mut self, at: Activation, object: Value, cell: CellId, deadline: Option<u64>) {
        let class = at.class(object);
        let object = self.get(at, object);
        let declaration = at.program.classes[class.index()].declaration[cell.index()];
        let deadline = deadline.filter(|_| self.store.is_living(class, object));
        let Some(found) = self.store.get_mut(class, object) else { return };
        let age = found.age;
        let Some(Content::Timer(armed)) = found.cells.get_mut(cell.index()) else { return };
        let before = std::mem::replace(armed, deadline);
        let entry = |deadline| Armed { deadline, declaration, age, place: place_of(object) };
        if let Some(before) = before {
            self.store.timers.remove(&entry(before));
        }
        if let Some(deadline) = deadline {
            self.store.timers.insert(entry(deadline));
        }
    }

    /// Gives units back to a quota; more than were taken make it whole, and `misuse` is reported (docs/semantics.md,
    /// M1).
    pub fn give(&mut self, at: Activation, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
        let given = self.get(at, amount) as u32;
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Quota { left, amount }) = found else { return };
        let taken = *amount - *left;
        *left += given.min(taken);
        if given > taken {
            self.report(Report::Misuse, source);
        }
    }

    /// Takes from a quota; where it has not so much nothing is taken, and `misuse` is reported.
    pub fn spend(&mut self, at: Activation, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
        let wanted = self.get(at, amount) as u32;
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Quota { left, .. }) = found else { return };
        match left.checked_sub(wanted) {
            Some(rest) => *left = rest,
            None => self.report(Report::Misuse, source),
        }
    }

    /// Puts a message into a place. Where one was, that is gone and `misuse` is reported; a place that is not there
    /// makes the message gone, and reports `bounds` where only the index is wrong (docs/semantics.md, M1 and L7).
    pub fn keep(&mut self, at: Activation, place: (Value, CellId, Value), message: Value, source: Option<SourceId>) {
        let (object, cell, index) = place;
        let message = self.get(at, message);
        let index = self.get(at, index) as usize;
        let (class, object) = (at.class(object), self.get(at, object));
        let found = match self.store.cell(class, object, cell) {
            Some(Content::Messages(places)) => Some(places.get(index).map(Option::is_some)),
            _ => None,
        };
        match found {
            Some(Some(occupied)) => {
                let taken = self.messages.take(message);
                self.totals.held += u64::from(!occupied);
                self.totals.gone += u64::from(occupied);
                self.totals.used_up += u64::from(occupied);
                if occupied {
                    self.report(Report::Misuse, source);
                }
                if let Some(Content::Messages(places)) = self.store.cell_mut(class, object, cell) {
                    places[index] = Some(taken);
                }
            }
            Some(None) => {
                self.report(Report::Bounds, source);
                self.gone(message);
            }
            None => self.gone(message),
        }
    }

    /// In the object's own settle instant it settles at once again (docs/semantics.md, S3); elsewhere it is dirty
    /// from then on (S7). Of a class without `settle` nothing happens.
    pub fn ask_again(&mut self, at: Activation, object: Value) {
        let (class, object) = (at.class(object), self.get(at, object));
        if self.settling == Some((class, object)) {
            self.again = true;
        } else if at.program.classes[class.index()].settle != crate::program::NOBODY {
            self.make_dirty(class, object);
        }
    }
}
