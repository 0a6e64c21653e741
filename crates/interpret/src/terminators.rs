//! Terminators: branches, and operations that may refuse.

use mokume_reaction::{
    BlockId, CellId, CellKind, ClassId, Fallible, HeaderId, Op, ReasonId, Report, SourceId, Target, Terminator, Type,
    Value, VariantId,
};

use mokume_wire::HeaderValue;

use crate::core::{Core, Put};
use crate::eval::{stop, Activation, Next};
use crate::message::Message;
use crate::program::NOBODY;
use crate::store::{place_of, Content, NULL};

fn either<'a>(taken: bool, then: &'a Target, otherwise: &'a Target) -> Next<'a> {
    match taken {
        true => Next::Go { edge: 0, to: then },
        false => Next::Go { edge: 1, to: otherwise },
    }
}

impl Core {
    /// Runs a block's terminator, and returns the next edge; puts results for the target into `scratch`.
    pub fn terminator<'a>(&mut self, at: Activation<'a>, block: BlockId, terminator: &'a Terminator) -> Next<'a> {
        match terminator {
            Terminator::Return => stop(terminator),
            Terminator::Yield { values } => Next::Values(values),
            Terminator::Refuse { values } => Next::Refused(values),
            Terminator::Jump { to } => Next::Go { edge: 0, to },
            Terminator::Branch { condition, then, otherwise, .. } => {
                either(self.get(at, *condition) != 0, then, otherwise)
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.get(at, *value);
                let found = cases.iter().position(|(case, _)| *case == value);
                let to = found.map_or(default, |case| &cases[case].1);
                Next::Go { edge: found.unwrap_or(cases.len()) as u32, to }
            }
            Terminator::Match { message, header, cases } => {
                self.match_header(at, *message, (*header, cases), terminator)
            }
            Terminator::Try { op, then, otherwise } => either(self.attempt(at, block, op), then, otherwise),
        }
    }

    /// Runs an operation that may refuse; returns whether it did not.
    fn attempt(&mut self, at: Activation, block: BlockId, op: &Fallible) -> bool {
        match op {
            Fallible::Decode { message, wire } => self.decode(at, *message, *wire),
            Fallible::Validate { message, wire } => self.validate(at, *message, *wire),
            Fallible::Peek { message, header, variant } => self.peek(at, *message, (*header, *variant)),
            Fallible::Find { object, cell, key } => {
                let key = self.words(at, key);
                self.find(at, *object, *cell, &key)
            }
            Fallible::Insert { object, cell, key, values } => {
                let (key, values) = (self.words(at, key), self.words(at, values));
                self.check_entry(at, (*object, *cell), &key, &values);
                self.insert(at, *object, *cell, key, values)
            }
            Fallible::Remove { object, cell, key } => {
                let key = self.words(at, key);
                self.remove(at, *object, *cell, &key)
            }
            Fallible::New { class, parent } => {
                let made = self.make_object(at, *class, *parent);
                self.found_object(made)
            }
            Fallible::First { class, parent } => {
                let oldest = self.oldest(at, *class, *parent);
                self.found_object(oldest)
            }
            Fallible::Next { object } => {
                let younger = self.store.younger(at.class(*object), self.get(at, *object));
                self.found_object(younger)
            }
            Fallible::Take { object, cell, amount } => self.take(at, *object, *cell, *amount),
            Fallible::TakeOut { object, cell, index } => self.take_out(at, *object, *cell, *index),
            Fallible::ShareHeld { object, cell, index } => self.share_held(at, *object, *cell, *index),
            Fallible::TryRun { procedure, args } | Fallible::Recall { memo: procedure, args } => {
                self.try_call(at, *procedure, args)
            }
            Fallible::Later { target, event: _, args } => {
                let handler = at.blocks.map_or(NOBODY, |blocks| blocks[block.index()].later);
                self.put_off(at, handler, *target, args)
            }
        }
    }

    fn peek(&mut self, at: Activation, message: Value, of: (HeaderId, VariantId)) -> bool {
        let top = self.message(at, message).headers.last().filter(|top| (top.header, top.variant) == of);
        let fields = top.map(|top| top.fields.clone());
        let is_there = fields.is_some();
        self.scratch.extend(fields.into_iter().flatten());
        is_there
    }

    fn words(&self, at: Activation, values: &[Value]) -> Box<[u64]> {
        values.iter().map(|value| self.get(at, *value)).collect()
    }

    fn match_header<'a>(
        &mut self,
        at: Activation<'a>,
        message: Value,
        (header, cases): (HeaderId, &'a [(VariantId, Target)]),
        terminator: &'a Terminator,
    ) -> Next<'a> {
        let id = self.get(at, message);
        let headers = &mut self.messages.get_mut(id).headers;
        let top = match headers.is_empty() {
            // The first alternative, of zeros (docs/semantics.md, F8).
            true => Some(HeaderValue::nothing(&at.program.automaton, header)),
            false => headers.pop(),
        };
        let case = top.as_ref().and_then(|top| cases.iter().position(|(variant, _)| *variant == top.variant));
        let (Some(case), Some(top)) = (case, top) else {
            // The verifier requires a case for each variant.
            self.gone(id);
            return stop(terminator);
        };
        self.scratch.push(id);
        self.scratch.extend(top.fields);
        Next::Go { edge: case as u32, to: &cases[case].1 }
    }

    fn decode(&mut self, at: Activation, message: Value, wire: mokume_reaction::WireId) -> bool {
        let Some((message, decoded)) = self.read_packet(at, message, wire) else { return false };
        if at.program.remembered[wire.index()] {
            let packet = std::mem::take(&mut message.octets);
            message.note_met(wire, &packet);
            message.octets = packet;
        }
        message.octets.truncate(decoded.payload.end);
        message.octets.drain(..decoded.payload.start);
        message.headers.extend(decoded.headers.into_iter().rev());
        true
    }

    fn validate(&mut self, at: Activation, message: Value, wire: mokume_reaction::WireId) -> bool {
        let Some((message, decoded)) = self.read_packet(at, message, wire) else { return false };
        message.octets.truncate(decoded.payload.end);
        true
    }

    /// Decodes a message by a wire; `None` if it is rejected, with the message and the reason in `scratch`.
    fn read_packet(
        &mut self,
        at: Activation,
        message: Value,
        wire: mokume_reaction::WireId,
    ) -> Option<(&mut Message, mokume_wire::Decoded)> {
        let id = self.get(at, message);
        self.scratch.push(id);
        let message = self.messages.get_mut(id);
        match mokume_wire::decode(&at.program.automaton, wire, &message.octets) {
            Ok(decoded) => Some((message, decoded)),
            Err(refusal) => {
                self.scratch.push(u64::from(refusal.reason.0));
                None
            }
        }
    }

    fn find(&mut self, at: Activation, object: Value, cell: CellId, key: &[u64]) -> bool {
        let found = self.store.cell(at.class(object), self.get(at, object), cell);
        let Some(Content::Map { entries, .. }) = found else { return false };
        let Some(values) = entries.get(key) else { return false };
        self.scratch.extend(values);
        true
    }

    /// Checks an entry of a map that finds objects by their cells: the object must exist and have the key in its cells,
    /// else `misuse` is reported.
    fn check_entry(&mut self, at: Activation, (object, cell): (Value, CellId), key: &[u64], values: &[u64]) {
        let CellKind::Map { value, by, .. } = &at.program.automaton.cell(at.class(object), cell).kind else { return };
        let [Type::Ref(of)] = value[..] else { return };
        if !by.is_empty() && self.key_of(of, values[0], by).as_deref() != Some(key) {
            self.report(Report::Misuse, None);
        }
    }

    fn insert(&mut self, at: Activation, object: Value, cell: CellId, key: Box<[u64]>, values: Box<[u64]>) -> bool {
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Map { entries, capacity }) = found else { return false };
        let full = entries.len() >= *capacity as usize;
        match entries.entry(key) {
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                entry.insert(values);
                true
            }
            std::collections::btree_map::Entry::Vacant(_) if full => false,
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(values);
                true
            }
        }
    }

    fn remove(&mut self, at: Activation, object: Value, cell: CellId, key: &[u64]) -> bool {
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Map { entries, .. }) = found else { return false };
        let Some(values) = entries.remove(key) else { return false };
        self.scratch.extend(values);
        true
    }

    fn make_object(&mut self, at: Activation, class: ClassId, parent: Option<Value>) -> u64 {
        let place = match parent {
            None => 0,
            Some(parent) => {
                let object = self.get(at, parent);
                if !self.store.is_living(at.class(parent), object) {
                    return NULL;
                }
                place_of(object)
            }
        };
        self.store.add(&at.program.automaton, class, place).unwrap_or(NULL)
    }

    /// The oldest living object of a parent; none for a freed parent, whatever has its place now.
    fn oldest(&self, at: Activation, class: ClassId, parent: Option<Value>) -> u64 {
        let place = match parent {
            None => Some(0),
            Some(parent) => {
                let object = self.get(at, parent);
                self.store.get(at.class(parent), object).map(|_| place_of(object))
            }
        };
        place.map_or(NULL, |place| self.store.oldest(class, place))
    }

    fn found_object(&mut self, object: u64) -> bool {
        let found = object != NULL;
        if found {
            self.scratch.push(object);
        }
        found
    }

    fn take(&mut self, at: Activation, object: Value, cell: CellId, amount: Value) -> bool {
        let amount = self.get(at, amount);
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Quota { left, .. }) = found else { return false };
        let enough = u64::from(*left) >= amount;
        if enough {
            *left -= amount as u32;
        }
        enough
    }

    fn take_out(&mut self, at: Activation, object: Value, cell: CellId, index: Value) -> bool {
        let index = self.get(at, index) as usize;
        let found = self.store.cell_mut(at.class(object), self.get(at, object), cell);
        let Some(Content::Messages(places)) = found else { return false };
        let Some(place) = places.get_mut(index) else {
            self.report(mokume_reaction::Report::Bounds, None);
            return false;
        };
        let Some(message) = place.take() else { return false };
        self.totals.held -= 1;
        let id = self.messages.put(message);
        self.scratch.push(id);
        true
    }

    /// Takes out the message in a place that should hold one. If it holds none, `misuse` is reported, and there is a
    /// message without octets instead.
    pub(crate) fn take_held(&mut self, at: Activation, op: &Op, object: Value, cell: CellId, index: Value) {
        let reports = self.reports.len();
        if self.take_out(at, object, cell, index) {
            let taken = self.scratch.pop();
            return taken.into_iter().for_each(|message| self.set(at, op.results[0], message));
        }
        if self.reports.len() == reports && self.store.cell(at.class(object), self.get(at, object), cell).is_some() {
            self.report(Report::Misuse, op.source);
        }
        let message = Message::new(&at.program.automaton, Vec::new());
        self.make(at, op, 0, message);
    }

    /// Consumes the message in a place, if there is one, and counts its end.
    pub(crate) fn consume_held(&mut self, at: Activation, object: Value, cell: CellId, index: Value, reason: ReasonId) {
        if self.take_out(at, object, cell, index) {
            let message = self.scratch.pop();
            message.into_iter().for_each(|message| self.consume(message, reason));
        }
    }

    fn share_held(&mut self, at: Activation, object: Value, cell: CellId, index: Value) -> bool {
        let index = self.get(at, index) as usize;
        let found = self.store.cell(at.class(object), self.get(at, object), cell);
        let Some(Content::Messages(places)) = found else { return false };
        let Some(place) = places.get(index) else {
            self.report(mokume_reaction::Report::Bounds, None);
            return false;
        };
        let Some(message) = place else { return false };
        let share = message.clone();
        self.totals.make();
        let id = self.messages.put(share);
        self.scratch.push(id);
        true
    }

    /// Queues an event for which there is room. If there is none, `misuse` is reported, and its messages are gone.
    pub fn defer(&mut self, at: Activation, handler: u32, target: Value, args: &[Value], source: Option<SourceId>) {
        if self.put_off(at, handler, target, args) {
            return;
        }
        self.report(mokume_reaction::Report::Misuse, source);
        let messages = args.iter().filter(|arg| at.body.values[arg.index()].ty == Type::Msg);
        messages.for_each(|message| self.gone(self.get(at, *message)));
    }

    fn put_off(&mut self, at: Activation, handler: u32, target: Value, args: &[Value]) -> bool {
        let Some(definition) = at.program.automaton.handlers.get(handler as usize) else { return false };
        let waiting = &mut self.later_waiting[handler as usize];
        if *waiting >= definition.later_capacity {
            return false;
        }
        *waiting += 1;
        self.totals.held += at.program.handlers[handler as usize].messages.len() as u64;
        let args = args.iter().map(|arg| self.get(at, *arg)).collect();
        self.later.push_back(Put { handler, target: self.get(at, target), args });
        true
    }
}
