//! Operations that may refuse: `Ok` with their results, or `Err` with what they pass on when they refuse.

use mokume_reaction::{BlockId, CellId, CellKind, ClassId, Fallible, HandlerId, Report, Value};

use crate::host::{Content, NULL};
use crate::operate::Frame;
use crate::react::Reaction;

type Attempt = Result<Vec<u64>, Vec<u64>>;

fn found(results: Option<Vec<u64>>) -> Attempt {
    results.ok_or_else(Vec::new)
}

fn done(is_done: bool) -> Attempt {
    found(is_done.then(Vec::new))
}

impl Reaction<'_> {
    /// Runs one operation that may refuse. `Ok` holds its results. `Err` holds what it passes on when it refuses: the
    /// message and the reason for a decoder, else nothing. `block` is the block that the operation ends; it knows where
    /// `later` leads.
    pub fn attempt(&mut self, frame: &Frame, block: BlockId, op: &Fallible) -> Attempt {
        let get = |value: Value| frame.get(value);
        match op {
            Fallible::Decode { message, wire } => self.decode(get(*message), *wire),
            Fallible::Validate { message, wire } => self.validate(get(*message), *wire),
            Fallible::Peek { message, header, variant } => found(self.peek(frame, *message, (*header, *variant))),
            Fallible::Find { object, cell, key } => found(match self.content(frame, *object, *cell) {
                Some(Content::Map(entries)) => entries.get(&frame.all(key)).cloned(),
                _ => None,
            }),
            Fallible::Insert { object, cell, key, values } => {
                done(self.insert(frame, *object, *cell, frame.all(key), frame.all(values)))
            }
            Fallible::Remove { object, cell, key } => found(match self.content(frame, *object, *cell) {
                Some(Content::Map(entries)) => entries.remove(&frame.all(key)),
                _ => None,
            }),
            Fallible::New { class, parent } => {
                let object = self.make_object(*class, parent.map(|parent| (frame.class(parent), get(parent))));
                found((object != NULL).then(|| vec![object]))
            }
            Fallible::First { class, parent } => found(self.first_living(*class, parent.map_or(0, get), 0)),
            Fallible::Next { object } => {
                let class = frame.class(*object);
                let family = self.object(class, get(*object)).map(|object| object.parent);
                found(family.and_then(|family| self.first_living(class, family, get(*object) as usize + 1)))
            }
            Fallible::Take { object, cell, amount } => done(self.take(frame, *object, *cell, get(*amount))),
            Fallible::TakeOut { object, cell, index } => found(self.held(frame, *object, *cell, get(*index), true)),
            Fallible::ShareHeld { object, cell, index } => found(self.held(frame, *object, *cell, get(*index), false)),
            Fallible::TryRun { procedure, args } | Fallible::Recall { memo: procedure, args } => {
                self.run_function(frame, *procedure, args)
            }
            Fallible::Later { target, event: _, args } => {
                let links = frame.code.map(|code| &self.program.links[code][block.index()]);
                done(self.put_off(links.and_then(|links| links.later), get(*target), frame.all(args)))
            }
        }
    }

    fn take(&mut self, frame: &Frame, object: Value, cell: CellId, amount: u64) -> bool {
        match self.content(frame, object, cell) {
            Some(Content::Quota(left)) if u64::from(*left) >= amount => {
                *left -= amount as u32;
                true
            }
            _ => false,
        }
    }

    fn insert(&mut self, frame: &Frame, object: Value, cell: CellId, key: Vec<u64>, values: Vec<u64>) -> bool {
        let CellKind::Map { capacity, .. } = self.program.classes[frame.class(object).index()].cells[cell.index()]
        else {
            return false;
        };
        let Some(Content::Map(entries)) = self.content(frame, object, cell) else { return false };
        let has_room = entries.len() < capacity as usize || entries.contains_key(&key);
        if has_room {
            entries.insert(key, values);
        }
        has_room
    }

    fn first_living(&self, class: ClassId, family: u64, from: usize) -> Option<Vec<u64>> {
        let objects = self.host.objects[class.index()].iter().enumerate().skip(from);
        let mut found = objects.filter(|(_, object)| !object.has_ended && object.parent == family);
        found.next().map(|(place, _)| vec![place as u64])
    }

    pub(super) fn held(
        &mut self,
        frame: &Frame,
        object: Value,
        cell: CellId,
        index: u64,
        takes: bool,
    ) -> Option<Vec<u64>> {
        let Some(Content::Messages(places)) = self.content(frame, object, cell) else { return None };
        let Some(place) = places.get_mut(index as usize) else {
            self.report(Report::Bounds);
            return None;
        };
        let number = (*place)?;
        if takes {
            *place = None;
        }
        let message = self.tables.kept.get(number).clone();
        Some(vec![self.hand(message)])
    }

    pub(super) fn put_off(&mut self, handler: Option<HandlerId>, target: u64, args: Vec<u64>) -> bool {
        let Some(handler) = handler else { return false };
        let has_room = self.waiting(handler) < self.program.automaton.handler(handler).later_capacity as usize;
        if has_room {
            self.later.push_back((handler, target, args));
        }
        has_room
    }

    /// How many of a handler's events wait.
    pub(super) fn waiting(&self, handler: HandlerId) -> usize {
        self.later.iter().filter(|(other, _, _)| *other == handler).count()
    }
}
