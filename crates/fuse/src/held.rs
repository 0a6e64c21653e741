//! Messages in places, and what quotas have left.
//!
//! It must keep: a place is read back only where it is known by which name it was written.

use mokume_reaction::{CellId, CellKind, ClassId};

use crate::graph::{Kind, Node, U32};
use crate::message::Message;
use crate::region::{Do, Followed, Region};

/// A message that was put into a place.
pub struct Held {
    object: Node,
    class: ClassId,
    cell: CellId,
    index: Node,
    message: Message,
}

impl Region<'_> {
    /// An index that is within a cell's places.
    pub fn place_of_message(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Node> {
        let CellKind::Messages { size, .. } = self.automaton.cell(self.class(object), cell).kind else {
            return self.no("asks for places that there are not");
        };
        self.within(index, u64::from(size))
    }

    /// What was put into a place on the way; none where nothing was put there.
    fn held_at(&self, object: Node, cell: CellId, index: Node) -> Followed<Option<&Message>> {
        let class = self.class(object);
        for held in self.held.iter().rev().filter(|held| (held.class, held.cell) == (class, cell)) {
            if (held.object, held.index) == (object, index) {
                return Ok(Some(&held.message));
            }
            if held.object != object || !self.differ(held.index, index) {
                return self.no("asks for a place that may have been filled by another name");
            }
        }
        Ok(None)
    }

    /// Whether a place has a message.
    pub fn holds(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Node> {
        let index = self.place_of_message(object, cell, index)?;
        Ok(match self.held_at(object, cell, index)? {
            Some(_) => self.graph.truth(true),
            None => self.graph.add(Kind::Holds(object, cell, index), mokume_reaction::Type::Bool),
        })
    }

    /// Puts a message into a place, which is empty: else there is no path.
    pub fn keep(&mut self, object: Node, cell: CellId, index: Node, message: Message) -> Followed<()> {
        let index = self.place_of_message(object, cell, index)?;
        let holds = self.holds(object, cell, index)?;
        let is_empty = self.graph.not(holds);
        self.guard(is_empty)?;
        // Who measures nothing expects that messages go on at once.
        self.choose(&[0.1]);
        let class = self.class(object);
        self.held.push(Held { object, class, cell, index, message: message.clone() });
        self.deed(Do::Keep { object, cell, index, message });
        Ok(())
    }

    /// A share of what is in a place, where it was put there on the way.
    pub fn share_held(&mut self, object: Node, cell: CellId, index: Node) -> Followed<Option<Message>> {
        let index = self.place_of_message(object, cell, index)?;
        match self.held_at(object, cell, index)? {
            Some(message) => Ok(Some(message.clone())),
            None => {
                // Of what was there before no path can say what it is.
                let holds = self.holds(object, cell, index)?;
                if self.decide(holds, Some(0.5))? {
                    return self.no("is of a message that was kept before");
                }
                Ok(None)
            }
        }
    }

    /// What a quota has left.
    pub fn left(&mut self, object: Node, cell: CellId) -> Followed<Node> {
        let mut left = self.graph.add(Kind::Left(object, cell), U32);
        let class = self.class(object);
        for (other, taken, amount) in self.taken.clone() {
            if taken == cell && self.class(other) == class {
                if other != object {
                    return self.no("asks for a quota that may have been taken from by another name");
                }
                left = self.graph.binary(mokume_reaction::Binary::SubWrap, left, amount);
            }
        }
        Ok(left)
    }

    /// Takes from a quota; whether there was enough.
    pub fn take(&mut self, object: Node, cell: CellId, amount: Node) -> Followed<bool> {
        let left = self.left(object, cell)?;
        let enough = self.graph.compare(mokume_reaction::Compare::Ge, left, amount);
        if !self.decide(enough, Some(0.99))? {
            return Ok(false);
        }
        self.taken.push((object, cell, amount));
        self.deed(Do::Take { object, cell, amount });
        Ok(true)
    }
}
