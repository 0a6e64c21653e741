//! Events that are put off for reactions of their own.

use mokume_reaction::{Body, HandlerId, Target, Trigger, Type, Value as Id};

use super::way::{Ended, Way};
use super::{Leaf, PutOff, Reader, Value};
use crate::term::{Operator, Sort, Term};

impl Reader<'_> {
    /// The handler of an event that is put off.
    fn queued(&self, target: Id, event: &str, way: &Way) -> Result<HandlerId, String> {
        // Two automata number their handlers, and so the queues, differently.
        if self.compares {
            return Err("events that are put off".into());
        }
        let Type::Ref(class) = way.types[target.index()] else { return Err("an event for no object".into()) };
        let handler = self.automaton.handler_of(class, &Trigger::Event(event.to_owned()));
        handler.ok_or_else(|| "an event that nobody handles".into())
    }

    /// How many events of a handler wait now.
    fn waiting(&mut self, leaf: &Leaf, handler: HandlerId) -> Term {
        let before = self.terms.variable(&format!("waiting {}", handler.0), Sort::Bits(32));
        let own = leaf.put_off.iter().filter(|put| put.handler == handler).count();
        let own = self.terms.number(own as u64, 32);
        self.terms.binary(Operator::Add, before, own)
    }

    /// Whether one more has room.
    fn has_room(&mut self, leaf: &Leaf, handler: HandlerId) -> Term {
        let waiting = self.waiting(leaf, handler);
        let room = self.terms.number(u64::from(self.automaton.handler(handler).later_capacity), 32);
        self.terms.less(waiting, room)
    }

    pub(super) fn waits(&mut self, target: Id, event: &str, way: &Way) -> Result<Vec<Value>, String> {
        let handler = self.queued(target, event, way)?;
        Ok(vec![Value::Bits(self.waiting(&way.leaf, handler))])
    }

    fn put(&self, handler: HandlerId, (target, args): (Id, &[Id]), way: &mut Way) -> Result<(), String> {
        let (target, args) = (way.value(target)?, args.iter().map(|arg| way.value(*arg)).collect::<Result<_, _>>()?);
        way.leaf.put_off.push(PutOff { handler, target, args });
        Ok(())
    }

    /// Puts an event into a queue that surely has room.
    pub(super) fn defer(
        &mut self,
        (target, event): (Id, &str),
        args: &[Id],
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let handler = self.queued(target, event, way)?;
        let has_room = self.has_room(&way.leaf, handler);
        if !self.is_sure(has_room, way) {
            return Err("a queue that may be full".into());
        }
        let full = self.terms.not(has_room);
        way.leaf.traps.push(full);
        self.put(handler, (target, args), way)?;
        Ok(Vec::new())
    }

    /// Both ways: the event waits, or its queue is full, and the handler keeps the messages.
    pub(super) fn later(
        &mut self,
        body: &Body,
        mut way: Way,
        (target, event, args): (Id, &str, &[Id]),
        then: &Target,
        otherwise: &Target,
    ) -> Ended {
        let handler = match self.queued(target, event, &way) {
            Ok(handler) => handler,
            Err(why) => return way.escape(&why),
        };
        let has_room = self.has_room(&way.leaf, handler);
        let full = self.terms.not(has_room);
        let other = way.copy();
        match self.put(handler, (target, args), &mut way) {
            Ok(()) => {
                self.go(body, vec![(way, Some(has_room), then, Vec::new()), (other, Some(full), otherwise, Vec::new())])
            }
            Err(why) => way.escape(&why),
        }
    }
}
