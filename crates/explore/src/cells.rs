//! Operations on the cells of objects. The cells of a freed object read as zero or null, and writes to them do nothing.

use mokume_reaction::{CellId, CellKind, Report, Value};

use crate::host::{Content, NULL};
use crate::operate::Frame;
use crate::react::{Happening, Reaction};

impl Reaction<'_> {
    /// The value at a place of a cell; for cells with one place, `index` is 0.
    pub fn read(&mut self, frame: &Frame, object: Value, cell: CellId, index: u64) -> u64 {
        let class = frame.class(object);
        let Some(object) = self.object(class, frame.get(object)) else {
            return if self.program.automaton.cell(class, cell).refers_to().is_some() { NULL } else { 0 };
        };
        let word = match &object.cells[cell.index()] {
            Content::Word(word) => Some(*word),
            Content::Array(words) => words.get(index as usize).copied(),
            Content::Messages(places) => places.get(index as usize).map(|place| u64::from(place.is_some())),
            Content::Timer(is_armed) => Some(u64::from(*is_armed)),
            Content::Quota(left) => Some(u64::from(*left)),
            Content::Map(_) | Content::Nothing => Some(0),
        };
        self.report_if(word.is_none(), Report::Bounds);
        word.unwrap_or(0)
    }

    /// The content of a cell, mutable; `None` if the object was freed (docs/semantics.md, L7).
    pub fn content(&mut self, frame: &Frame, object: Value, cell: CellId) -> Option<&mut Content> {
        let object = self.object_mut(frame.class(object), frame.get(object))?;
        object.cells.get_mut(cell.index())
    }

    /// Writes a cell that holds one number; does nothing if the object was freed.
    pub fn set(&mut self, frame: &Frame, object: Value, cell: CellId, value: u64) {
        if let Some(Content::Word(word)) = self.content(frame, object, cell) {
            *word = value;
        }
    }

    /// Writes one element of an array. Beyond the end it writes nothing, and reports `bounds` (docs/semantics.md, M1).
    pub fn set_at(&mut self, frame: &Frame, object: Value, cell: CellId, index: u64, value: u64) {
        let Some(Content::Array(words)) = self.content(frame, object, cell) else { return };
        match words.get_mut(index as usize) {
            Some(word) => *word = value,
            None => self.report(Report::Bounds),
        }
    }

    /// Stores a message at a place. A message that was there is gone, and `misuse` is reported. At a place beyond the
    /// end, `bounds` is reported, and the new message is gone (docs/semantics.md, M1).
    pub fn keep(&mut self, frame: &Frame, object: Value, cell: CellId, index: u64, message: Value) {
        let message = self.message(frame, message).clone();
        let message = self.tables.kept.number(message);
        let Some(Content::Messages(places)) = self.content(frame, object, cell) else { return };
        let report = match places.get_mut(index as usize) {
            Some(place) => place.replace(message).map(|_| Report::Misuse),
            None => Some(Report::Bounds),
        };
        self.effect.reports.extend(report);
    }

    /// Arms or stops a timer. Deadlines are not stored: in a world a timer is armed or not, and [`crate::Timers`] says
    /// when it may expire. The timer of an object that has ended stays idle (docs/semantics.md, L5).
    pub fn set_timer(&mut self, frame: &Frame, object: Value, cell: CellId, arm: bool) {
        let class = frame.class(object);
        let is_living = self.is_living(class, frame.get(object));
        let Some(Content::Timer(is_armed)) = self.content(frame, object, cell) else { return };
        let was_armed = std::mem::replace(is_armed, arm && is_living);
        let name = self.program.automaton.cell(class, cell).name.clone();
        match (was_armed, arm) {
            (_, true) => self.effect.happenings.push(Happening::Armed(name)),
            (true, false) => self.effect.happenings.push(Happening::Stopped(name)),
            _ => {}
        }
    }

    /// Returns units to a quota. If more are returned than were taken, the quota is whole again, and `misuse` is
    /// reported (docs/semantics.md, M1).
    pub fn give(&mut self, frame: &Frame, object: Value, cell: CellId, given: u32) {
        let CellKind::Quota { amount } = self.program.classes[frame.class(object).index()].cells[cell.index()] else {
            return;
        };
        let Some(Content::Quota(left)) = self.content(frame, object, cell) else { return };
        let taken = amount - *left;
        *left += given.min(taken);
        self.report_if(given > taken, Report::Misuse);
    }

    /// Takes units from a quota. If it has too few, takes none and reports `misuse`.
    pub fn spend(&mut self, frame: &Frame, object: Value, cell: CellId, wanted: u32) {
        let Some(Content::Quota(left)) = self.content(frame, object, cell) else { return };
        let rest = left.checked_sub(wanted);
        *left = rest.unwrap_or(*left);
        self.report_if(rest.is_none(), Report::Misuse);
    }
}
