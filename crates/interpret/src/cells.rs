//! Operations on the cells of objects. An object that does not exist reads as zeros; writes to it have no effect.

use mokume_reaction::{Cell, CellId, CellKind, ClassId, Report, SourceId, Type, Value};

use crate::core::Core;
use crate::eval::Activation;
use crate::program::Program;
use crate::store::{place_of, Armed, Content, NULL};

/// The content of a cell of no object: zero, and null for references (docs/semantics.md, L7).
fn nothing(cell: &Cell) -> u64 {
    match cell.kind {
        CellKind::Scalar { ty: Type::Ref(_), .. } | CellKind::Array { ty: Type::Ref(_), .. } => NULL,
        _ => 0,
    }
}

impl Core {
    /// The content of one place of a cell; `index` is 0 for cells with one place.
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

    /// Writes a cell with one number, which has the width of its type already. If a map finds the object by this cell,
    /// another value is not written, and reported as `misuse`.
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

    /// Whether an object is in a map that finds it by its own cells, among the maps for which `wanted` holds.
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

    /// The key in an object's cells; `None` if the object does not exist.
    pub fn key_of(&self, class: ClassId, object: u64, by: &[CellId]) -> Option<Box<[u64]>> {
        let word = |cell: &CellId| match self.store.cell(class, object, *cell)? {
            Content::Word(word) => Some(*word),
            _ => None,
        };
        by.iter().map(word).collect()
    }

    /// Writes one element of an array; an index beyond the last is reported as `bounds`, and nothing is written
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

    /// Starts or stops a timer; that of an object that has ended stays idle.
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

    /// Gives units back to a quota. More than were taken fill it up, and are reported as `misuse` (docs/semantics.md,
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

    /// Takes units from a quota; if it has too few, takes none and reports `misuse`.
    pub fn spend(&mut self, at: Activation, object: Value, cell: CellId, amount: Value, source: Option<SourceId>) {
        let wanted = self.get(at, amount) as u32;
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Quota { left, .. }) = found else { return };
        match left.checked_sub(wanted) {
            Some(rest) => *left = rest,
            None => self.report(Report::Misuse, source),
        }
    }

    /// Puts a message into a place. A message that was there is dropped as gone, and `misuse` is reported. If the place
    /// does not exist, the message is gone; `bounds` is reported if only the index is wrong (docs/semantics.md, M1 and
    /// L7).
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

    /// In the object's own settle instant: it settles again at once (docs/semantics.md, S3). Elsewhere it becomes dirty
    /// (S7). No effect for a class without `settle`.
    pub fn ask_again(&mut self, at: Activation, object: Value) {
        let (class, object) = (at.class(object), self.get(at, object));
        if self.settling == Some((class, object)) {
            self.again = true;
        } else if at.program.classes[class.index()].settle != crate::program::NOBODY {
            self.make_dirty(class, object);
        }
    }
}
