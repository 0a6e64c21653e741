//! Objects that settle when nothing is undelivered (docs/semantics.md, S).

use mokume_reaction::Trigger;

use super::{Leaf, Object, Reader};

/// The objects that are to settle, and that have settled, on one way.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Settling {
    /// Dirty objects, the longest dirty first.
    dirty: Vec<Object>,
    /// All objects that were ever dirty, with the number of times they settled.
    known: Vec<(Object, u32)>,
    /// Objects over their limit, which settle in a reaction of their own.
    left: Vec<Object>,
    /// The object that settles at the current instant.
    pub(super) at_hand: Option<Object>,
    /// Whether that object asks to settle once more.
    again: bool,
}

impl Reader<'_> {
    /// An object handles an event, or asks to settle: it becomes dirty if its class settles. An error says why that is
    /// not read.
    pub(super) fn touch(&mut self, leaf: &mut Leaf, object: Object) -> Result<(), String> {
        let class = self.class_of(object);
        if self.is_alone || self.automaton.handler_of(class, &Trigger::Settle).is_none() {
            return Ok(());
        }
        if self.is_inside {
            return Err("an object that settles afterwards".into());
        }
        let settling = &mut leaf.settling;
        match settling.known.iter().find(|known| self.class_of(known.0) == class) {
            Some((known, _)) if *known != object => return Err("two that settle, which may be one object".into()),
            Some(_) => {}
            None => settling.known.push((object, 0)),
        }
        if !settling.dirty.contains(&object) {
            settling.dirty.push(object);
        }
        Ok(())
    }

    /// `again` of an object.
    pub(super) fn ask_again(&mut self, leaf: &mut Leaf, object: Object) -> Result<(), String> {
        if leaf.settling.at_hand == Some(object) {
            leaf.settling.again = true;
            return Ok(());
        }
        if self.is_alone {
            if !leaf.settling.dirty.contains(&object) {
                leaf.settling.dirty.push(object);
            }
            return Ok(());
        }
        self.touch(leaf, object)
    }

    /// Settles all that settles in this reaction. What is left over must do nothing, else the way is an escape.
    pub(super) fn settle(&mut self, leaves: Vec<Leaf>) -> Result<Vec<Leaf>, String> {
        let (mut open, mut done) = (leaves, Vec::new());
        while let Some(mut leaf) = open.pop() {
            if leaf.escape.is_some() {
                done.push(leaf);
            } else if !leaf.settling.dirty.is_empty() {
                let object = leaf.settling.dirty.remove(0);
                if leaf.handed.is_some() {
                    leaf.escape = Some("an object that settles behind what is handed over".into());
                    done.push(leaf);
                } else if self.has_settled_enough(&leaf, object) {
                    leaf.settling.left.push(object);
                    open.push(leaf);
                } else {
                    open.extend(self.settle_once(leaf, object)?);
                }
            } else if !leaf.settling.left.is_empty() {
                let object = leaf.settling.left.remove(0);
                let before = leaf.clone();
                for mut after in self.settle_once(leaf, object)? {
                    if after.escape.is_none() && !self.is_as_before(&before, &after) {
                        after.escape =
                            Some("an object that settles in a reaction of its own, and does something".into());
                    }
                    open.push(after);
                }
            } else {
                done.push(leaf);
            }
        }
        Ok(done)
    }

    fn has_settled_enough(&self, leaf: &Leaf, object: Object) -> bool {
        let limit = self.automaton.class(self.class_of(object)).settle_limit.unwrap_or(1).max(1);
        let settles = leaf.settling.known.iter().find(|known| known.0 == object).map_or(0, |known| known.1);
        let quota = self.automaton.outputs as usize;
        settles >= limit || (quota > 0 && leaf.outs.len() >= quota)
    }

    /// One settle instant, and what follows from it. An object that asks for another is the first to settle again.
    fn settle_once(&mut self, mut leaf: Leaf, object: Object) -> Result<Vec<Leaf>, String> {
        let Some(handler) = self.automaton.handler_of(self.class_of(object), &Trigger::Settle) else {
            return Ok(vec![leaf]);
        };
        let settling = &mut leaf.settling;
        settling.known.iter_mut().filter(|known| known.0 == object).for_each(|known| known.1 += 1);
        settling.dirty.retain(|other| *other != object);
        settling.at_hand = Some(object);
        settling.again = false;
        let mut leaves = self.run_body(leaf, object, handler, Vec::new())?;
        for leaf in &mut leaves {
            if std::mem::take(&mut leaf.settling.again) {
                leaf.settling.dirty.retain(|other| *other != object);
                leaf.settling.dirty.insert(0, object);
            }
        }
        Ok(leaves)
    }

    /// Whether nothing was done between the two.
    fn is_as_before(&mut self, before: &Leaf, after: &Leaf) -> bool {
        self.at(after);
        let mut cells = true;
        for (object, cell) in &after.written {
            let was = before.cells.get(&(*object, *cell)).copied().or_else(|| self.before(*object, *cell));
            cells &= was.is_some() && was == after.cells.get(&(*object, *cell)).copied();
        }
        cells
            && before.outs == after.outs
            && before.ended == after.ended
            && before.elements == after.elements
            && before.timers == after.timers
            && before.counted == after.counted
            && before.referred == after.referred
            && before.kept == after.kept
            && before.spent == after.spent
            && before.put_off == after.put_off
            && before.merged == after.merged
            && after.handed.is_none()
            && after.settling.dirty.is_empty()
    }
}
