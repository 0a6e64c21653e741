//! Messages stored at places, and what is left of quotas.
//!
//! It must keep: a place is read back only if the name by which it was written is known.

use mokume_reaction::{Binary, CellId, CellKind, ClassId, Compare, HandlerId, ReasonId};

use crate::graph::{Kind, Node, U32};
use crate::message::{held_before, Message};
use crate::region::{Do, Followed, Given, Region};

/// The most places that are distinguished on one path.
pub const MOST_PLACES: usize = 32;

/// The current content of a place.
pub struct Held {
    object: Node,
    class: ClassId,
    cell: CellId,
    index: Node,
    /// `None`: the message was taken out.
    message: Option<Message>,
}

impl Region<'_> {
    /// An index that is within a cell's places.
    pub fn place_of_message(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Node> {
        let CellKind::Messages { size, .. } = self.automaton.cell(self.class(object), cell).kind else {
            return self.no("asks for places that there are not");
        };
        self.within(index, u64::from(size))
    }

    /// The content of a place that was filled or emptied on this way; `None` if it was not.
    fn held_at(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Option<Option<Message>>> {
        let class = self.class(object);
        if self.held.len() > MOST_PLACES {
            return self.no("asks for more places than are told apart");
        }
        for place in (0..self.held.len()).rev() {
            let held = &self.held[place];
            let (other, at) = (held.object, held.index);
            if (held.class, held.cell) != (class, cell) || !self.is_one(other, object)? {
                continue;
            }
            if at == index {
                self.must_live(object)?;
                return Ok(Some(self.held[place].message.clone()));
            }
            if !self.differ(at, index) {
                let apart = self.graph.compare(Compare::Ne, at, index);
                self.guard(apart)?;
            }
        }
        Ok(None)
    }

    /// Whether a place holds a message.
    pub fn holds(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Node> {
        let index = self.place_of_message(object, cell, index)?;
        Ok(match self.held_at(object, cell, index)? {
            Some(found) => {
                let holds = found.is_some();
                self.graph.truth(holds)
            }
            None => self.graph.add(Kind::Holds(object, cell, index), mokume_reaction::Type::Bool),
        })
    }

    /// Stores a message at a place, which must be empty: else there is no path.
    pub fn keep(&mut self, object: Node, cell: CellId, index: Node, message: Message) -> Followed<()> {
        let index = self.place_of_message(object, cell, index)?;
        let holds = self.holds(object, cell, index)?;
        let is_empty = self.graph.not(holds);
        self.guard(is_empty)?;
        // Without measurements, messages are expected to go on at once.
        self.is_unlikely(0.1);
        let class = self.class(object);
        self.held.push(Held { object, class, cell, index, message: Some(message.clone()) });
        self.deed(Do::Keep { object, cell, index, message });
        Ok(())
    }

    /// A share of the message at a place, if it was stored on this way.
    pub fn share_held(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Option<Message>> {
        let index = self.place_of_message(object, cell, index)?;
        match self.held_at(object, cell, index)? {
            // Both would count as merged.
            Some(Some(message)) if message.joined > 0 => self.no("shares a message that was joined to another"),
            Some(found) => Ok(found),
            None => {
                // A path cannot know a message that was stored before.
                let holds = self.holds(object, cell, index)?;
                if self.decide(holds, Some(self.succeeds(0.5)))? {
                    return self.no("is of a message that was kept before");
                }
                Ok(None)
            }
        }
    }

    /// Takes out the message that a place held before; `None` if it is empty.
    pub fn take_out(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Option<Message>> {
        let index = self.place_of_message(object, cell, index)?;
        if let Some(Some(_)) = self.held_at(object, cell, index)? {
            return self.no("takes out what was put there on the way");
        }
        let holds = self.holds(object, cell, index)?;
        if !self.decide(holds, Some(self.succeeds(0.9)))? {
            return Ok(None);
        }
        let class = self.class(object);
        self.held.push(Held { object, class, cell, index, message: None });
        let taken = self.deeds.iter().filter(|deed| matches!(deed.what, Do::TakeHeld { .. } | Do::ConsumeHeld { .. }));
        let given = held_before(taken.count());
        self.deed(Do::TakeHeld { object, cell, index, given });
        Ok(Some(self.given(given)))
    }

    /// Consumes a message that a place held before, in its place.
    pub fn consume_held(&mut self, given: u32, reason: ReasonId) {
        for deed in &mut self.deeds {
            match deed.what {
                Do::TakeHeld { object, cell, index, given: of } if of == given => {
                    deed.what = Do::ConsumeHeld { object, cell, index, reason };
                }
                _ => {}
            }
        }
    }

    /// Whether a queue of events for later has room for one more; the object is the event's.
    pub fn has_room(&mut self, target: Node, handler: HandlerId) -> Followed<bool> {
        let own = self.put_off.iter().filter(|put| put.0 == handler);
        let asked = own.clone().next().map_or(target, |put| put.1);
        let own = own.count() as u64;
        let room = u64::from(self.automaton.handler(handler).later_capacity);
        if own >= room {
            return Ok(false);
        }
        let waiting = self.graph.add(Kind::Waiting(asked, handler), U32);
        let room = self.number(U32, room - own);
        let has_room = self.graph.compare(Compare::Lt, waiting, room);
        self.decide(has_room, Some(self.succeeds(0.99)))
    }

    /// Puts an event off for a reaction of its own.
    pub fn put_off(&mut self, target: Node, handler: HandlerId, args: Vec<Given>) {
        let asked = self.put_off.iter().find(|put| put.0 == handler).map_or(target, |put| put.1);
        self.put_off.push((handler, asked));
        self.deed(Do::PutOff { target, handler, args });
    }

    /// What is left of a quota.
    pub fn left(&mut self, object: Node, cell: CellId) -> Followed<Node> {
        let class = self.class(object);
        match self.left.iter().find(|left| (left.1, left.2) == (class, cell)) {
            Some((other, _, _, left)) if *other == object => Ok(*left),
            Some(_) => self.no("asks for a quota that may have been taken from by another name"),
            None => Ok(self.graph.add(Kind::Left(object, cell), U32)),
        }
    }

    fn set_left(&mut self, object: Node, cell: CellId, now: Node) {
        let class = self.class(object);
        match self.left.iter_mut().find(|left| (left.1, left.2) == (class, cell)) {
            Some(left) => left.3 = now,
            None => self.left.push((object, class, cell, now)),
        }
    }

    /// Takes units from a quota; returns whether there were enough.
    pub fn take(&mut self, object: Node, cell: CellId, amount: Node) -> Followed<bool> {
        // Nobody has no units, not even none.
        self.must_live(object)?;
        let left = self.left(object, cell)?;
        let enough = self.graph.compare(Compare::Ge, left, amount);
        if !self.decide(enough, Some(self.succeeds(0.99)))? {
            return Ok(false);
        }
        let left = self.graph.binary(Binary::SubWrap, left, amount);
        self.set_left(object, cell, left);
        self.deed(Do::Take { object, cell, amount });
        Ok(true)
    }

    /// Returns units to a quota from which that many were taken: else there is no path.
    pub fn give(&mut self, object: Node, cell: CellId, amount: Node) -> Followed<()> {
        let CellKind::Quota { amount: all } = self.automaton.cell(self.class(object), cell).kind else {
            return self.no("gives to what is no quota");
        };
        self.must_live(object)?;
        let (left, all) = (self.left(object, cell)?, self.number(U32, u64::from(all)));
        let taken = self.graph.binary(Binary::SubWrap, all, left);
        let enough = self.graph.compare(Compare::Ge, taken, amount);
        self.guard(enough)?;
        let left = self.graph.binary(Binary::AddWrap, left, amount);
        self.set_left(object, cell, left);
        self.deed(Do::Give { object, cell, amount });
        Ok(())
    }
}
