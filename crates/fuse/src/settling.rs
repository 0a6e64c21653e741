//! Objects that settle when nothing is undelivered (docs/semantics.md, S).
//!
//! It must keep: objects settle in the order in which they became dirty. What would settle in a reaction of its own
//! must do nothing there, else there is no path.

use mokume_reaction::{ClassId, Trigger};

use crate::graph::Node;
use crate::region::{Followed, Region};

/// The objects that are to settle, and that have settled.
#[derive(Default)]
pub struct Settling {
    /// Dirty objects, the longest dirty first.
    dirty: Vec<Node>,
    /// All objects that were ever dirty, with the number of times they settled.
    known: Vec<(Node, u32)>,
    /// The object that settles at the current instant.
    at_hand: Option<Node>,
    /// Whether that object asks to settle once more.
    again: bool,
}

impl Settling {
    /// Whether no object is dirty, so that nothing follows the events.
    pub fn is_idle(&self) -> bool {
        self.known.is_empty()
    }
}

impl Region<'_> {
    fn settles(&self, class: ClassId) -> bool {
        self.automaton.handler_of(class, &Trigger::Settle).is_some()
    }

    /// An object handles an event, or asks to settle: it becomes dirty if its class settles.
    pub fn touch(&mut self, object: Node) -> Followed<()> {
        let class = self.class(object);
        if !self.settles(class) {
            return Ok(());
        }
        if self.is_inside {
            return self.no("is of objects that settle");
        }
        // Nobody does not settle.
        self.must_live(object)?;
        match self.settling.known.iter().find(|known| self.class(known.0) == class) {
            Some((known, _)) if *known != object => {
                return self.no("touches two of a class that settles, which may be one")
            }
            Some(_) => {}
            None => self.settling.known.push((object, 0)),
        }
        if !self.settling.dirty.contains(&object) {
            self.settling.dirty.push(object);
        }
        Ok(())
    }

    /// `again` of an object.
    pub fn ask_again(&mut self, object: Node) -> Followed<()> {
        if self.settling.at_hand == Some(object) {
            self.settling.again = true;
            return Ok(());
        }
        self.touch(object)
    }

    /// Settles all that settles in this reaction; what is left over must do nothing.
    pub fn settle(&mut self) -> Followed<()> {
        let mut left = Vec::new();
        while !self.settling.dirty.is_empty() {
            let object = self.settling.dirty.remove(0);
            loop {
                if self.has_settled_enough(object) {
                    left.push(object);
                    break;
                }
                if !self.settle_once(object)? {
                    break;
                }
            }
        }
        // In a separate reaction, after the outputs of this one.
        let done = self.deeds.len();
        for object in left {
            let again = self.settle_once(object)?;
            if again || self.deeds.len() > done || !self.settling.dirty.is_empty() {
                return self.no("settles in a reaction of its own, and does something there");
            }
        }
        Ok(())
    }

    /// Whether it settles no more in this reaction.
    fn has_settled_enough(&self, object: Node) -> bool {
        let limit = self.automaton.class(self.class(object)).settle_limit.unwrap_or(1).max(1);
        let is_out = |deed: &&crate::region::Deed| matches!(deed.what, crate::region::Do::Out { .. });
        let quota = self.automaton.outputs as usize;
        let settles = self.settling.known.iter().find(|known| known.0 == object).map_or(0, |known| known.1);
        settles >= limit || (quota > 0 && self.deeds.iter().filter(is_out).count() >= quota)
    }

    /// One settle instant, and what follows from it; returns whether the object asks for another.
    fn settle_once(&mut self, object: Node) -> Followed<bool> {
        let Some(handler) = self.automaton.handler_of(self.class(object), &Trigger::Settle) else { return Ok(false) };
        if let Some(known) = self.settling.known.iter_mut().find(|known| known.0 == object) {
            known.1 += 1;
        }
        self.settling.dirty.retain(|other| *other != object);
        self.settling.at_hand = Some(object);
        self.settling.again = false;
        let emitted = self.instant(handler, object, Vec::new());
        self.settling.at_hand = None;
        let again = std::mem::take(&mut self.settling.again);
        self.carry_all_out(emitted?)?;
        Ok(again)
    }
}
