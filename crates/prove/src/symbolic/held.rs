//! Messages stored at places, quotas, and joined messages.

use mokume_reaction::{Body, CellId, CellKind, ReasonId, Target, Value as Id};

use super::way::{Ended, Way};
use super::{End, Leaf, Object, Reader, Value, MAY_BE_ONE};
use crate::term::{Operator, Term};

impl Reader<'_> {
    /// The last action on a place on this way, as an index into `kept`; `None` if there was none.
    pub(super) fn kept_at(
        &mut self,
        leaf: &Leaf,
        (object, cell): (Object, CellId),
        index: Term,
    ) -> Result<Option<usize>, String> {
        let class = self.class_of(object);
        for (nth, (other, of, place, _)) in leaf.kept.iter().enumerate().rev() {
            if *of != cell || self.class_of(*other) != class {
                continue;
            }
            if *other != object {
                return Err(MAY_BE_ONE.into());
            }
            let (place, index) = (self.terms.again(*place), self.terms.again(index));
            let same = self.terms.equal(place, index);
            match self.decide(same) {
                Some(true) => return Ok(Some(nth)),
                Some(false) => {}
                None => return Err("two places that may be one".into()),
            }
        }
        Ok(None)
    }

    /// Whether a place holds a message now; and whether there is no such place.
    pub(super) fn has_message(
        &mut self,
        leaf: &Leaf,
        place: (Object, CellId),
        index: Term,
    ) -> Result<(Term, Term), String> {
        let kept = self.kept_at(leaf, place, index)?;
        let (holds, beyond) = self.holds(place.0, place.1, index);
        let now = kept.map(|nth| leaf.kept[nth].3.is_some());
        Ok((now.map_or(holds, |now| self.terms.truth(now)), beyond))
    }

    pub(super) fn keep(
        &mut self,
        (object, cell): (Id, CellId),
        index: Id,
        message: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, index, message) = (way.object(object)?, way.bits(index)?, way.message(message)?);
        self.must_be_alone(&way.leaf, object)?;
        let (holds, beyond) = self.has_message(&way.leaf, (object, cell), index)?;
        let is_free = [self.terms.not(holds), self.terms.not(beyond)];
        if !is_free.into_iter().all(|fact| self.is_sure(fact, way)) {
            return Err("a place that may be none, or not be empty".into());
        }
        way.leaf.traps.extend([holds, beyond]);
        way.leaf.kept.push((object, cell, index, Some(message)));
        Ok(Vec::new())
    }

    /// A share of a message stored on this way. A message stored before is not known, so then only the way with the
    /// empty place is read.
    pub(super) fn share_held(
        &mut self,
        body: &Body,
        mut way: Way,
        (object, cell, index): (Id, CellId, Id),
        then: &Target,
        otherwise: &Target,
    ) -> Ended {
        let (Ok(at), Ok(place)) = (way.object(object), way.bits(index)) else { return way.escape("no place") };
        self.way.clone_from(&way.leaf.condition);
        match self.kept_at(&way.leaf, (at, cell), place) {
            Err(why) => way.escape(&why),
            Ok(None) => self.without_message(body, way, (at, cell, place), otherwise),
            Ok(Some(nth)) => match way.leaf.kept[nth].3.clone() {
                Some(share) => self.go(body, vec![(way, None, then, vec![Value::Message(Box::new(share))])]),
                None => self.go(body, vec![(way, None, otherwise, Vec::new())]),
            },
        }
    }

    /// Reads only the way with the empty place: a message stored before is not known.
    fn without_message(&mut self, body: &Body, mut way: Way, at: (Object, CellId, Term), otherwise: &Target) -> Ended {
        let (holds, beyond) = self.holds(at.0, at.1, at.2);
        let is_place = self.terms.not(beyond);
        if !self.is_sure(is_place, &way) {
            return way.escape("a place that may be none");
        }
        way.leaf.traps.push(beyond);
        let mut taken = way.copy();
        taken.leaf.condition.push(holds);
        taken.leaf.escape = Some("a message that was kept before".into());
        let empty = self.terms.not(holds);
        match self.go(body, vec![(way, Some(empty), otherwise, Vec::new())]) {
            Ended::Ways(mut ways) => {
                ways.push(taken);
                Ended::Ways(ways)
            }
            ended => ended,
        }
    }

    /// The message that a place held before the reaction, of which nothing is known. Its name says how many places were
    /// filled or emptied before: both sides do that in the same order, at the same places.
    fn held_before(&mut self, leaf: &Leaf) -> Value {
        let name = format!("held {}", leaf.kept.len());
        Value::Message(Box::new(super::Message::unknown_inside(self.terms, &name)))
    }

    /// A message stored before may be taken out.
    pub(super) fn take_out(
        &mut self,
        body: &Body,
        mut way: Way,
        (object, cell, index): (Id, CellId, Id),
        then: &Target,
        otherwise: &Target,
    ) -> Ended {
        let (Ok(at), Ok(place)) = (way.object(object), way.bits(index)) else {
            return way.escape("a place that is not known");
        };
        self.way.clone_from(&way.leaf.condition);
        let kept = match self.must_be_alone(&way.leaf, at).and_then(|()| self.kept_at(&way.leaf, (at, cell), place)) {
            Ok(kept) => kept.map(|nth| way.leaf.kept[nth].3.is_some()),
            Err(why) => return way.escape(&why),
        };
        match kept {
            Some(true) => return way.escape("a message that was kept on the way is taken out"),
            Some(false) => return self.go(body, vec![(way, None, otherwise, Vec::new())]),
            None => {}
        }
        let (holds, beyond) = self.holds(at, cell, place);
        let is_place = self.terms.not(beyond);
        if !self.is_sure(is_place, &way) {
            return way.escape("a place that may be none");
        }
        way.leaf.traps.push(beyond);
        let empty = self.terms.not(holds);
        let other = way.copy();
        let held = self.held_before(&way.leaf);
        way.leaf.kept.push((at, cell, place, None));
        self.go(body, vec![(way, Some(holds), then, vec![held]), (other, Some(empty), otherwise, Vec::new())])
    }

    /// Takes out the message at a place that surely holds one, stored before.
    pub(super) fn take_held(
        &mut self,
        (object, cell): (Id, CellId),
        index: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, index) = (way.object(object)?, way.bits(index)?);
        self.must_be_alone(&way.leaf, object)?;
        if self.kept_at(&way.leaf, (object, cell), index)?.is_some() {
            return Err("a place that was filled or emptied on the way".into());
        }
        let (holds, beyond) = self.holds(object, cell, index);
        let is_place = self.terms.not(beyond);
        if !self.is_sure(holds, way) || !self.is_sure(is_place, way) {
            return Err("a place that may be none, or be empty".into());
        }
        let empty = self.terms.not(holds);
        way.leaf.traps.extend([empty, beyond]);
        let held = self.held_before(&way.leaf);
        way.leaf.kept.push((object, cell, index, None));
        Ok(vec![held])
    }

    /// Consumes the message at a place, if it holds one.
    pub(super) fn consume_held(
        &mut self,
        (object, cell): (Id, CellId),
        index: Id,
        reason: ReasonId,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, index) = (way.object(object)?, way.bits(index)?);
        self.must_be_alone(&way.leaf, object)?;
        let (holds, beyond) = self.has_message(&way.leaf, (object, cell), index)?;
        let is_place = self.terms.not(beyond);
        if !self.is_sure(is_place, way) {
            return Err("a place that may be none".into());
        }
        way.leaf.traps.push(beyond);
        match self.decide(holds) {
            Some(false) => return Ok(Vec::new()),
            Some(true) => {
                let when = self.terms.truth(true);
                way.leaf.ended.push(End { reason, is_consumed: true, when });
            }
            None => way.leaf.ended.push(End { reason, is_consumed: true, when: holds }),
        }
        // In either case the place is now empty.
        way.leaf.kept.push((object, cell, index, None));
        Ok(Vec::new())
    }

    /// Returns units to a quota; more than were taken is reported.
    pub(super) fn give_units(
        &mut self,
        (object, cell): (Id, CellId),
        amount: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, amount) = (way.object(object)?, way.bits(amount)?);
        self.must_be_alone(&way.leaf, object)?;
        let class = self.class_of(object);
        let CellKind::Quota { amount: all } = self.automaton.cell(class, cell).kind else {
            return Err("what is given to is no quota".into());
        };
        let (left, all) = (self.left_now(&way.leaf, object, cell)?, self.terms.number(u64::from(all), 32));
        let taken = self.terms.binary(Operator::Sub, all, left);
        let more = self.terms.less(taken, amount);
        way.leaf.traps.push(more);
        // At most as many as were taken are returned.
        let given = self.terms.choose(more, taken, amount);
        let none = self.terms.number(0, 32);
        let given = self.terms.binary(Operator::Sub, none, given);
        way.leaf.spent.push((object, cell, given));
        Ok(Vec::new())
    }

    /// What is left of a quota now.
    pub(super) fn left_now(&mut self, leaf: &Leaf, object: Object, cell: CellId) -> Result<Term, String> {
        let mut left = self.left(object, cell);
        for (other, of, amount) in &leaf.spent {
            if *of == cell && self.class_of(*other) == self.class_of(object) {
                if *other != object {
                    return Err(MAY_BE_ONE.into());
                }
                left = self.terms.binary(Operator::Sub, left, *amount);
            }
        }
        Ok(left)
    }

    /// Takes units from a quota; a shortage is reported.
    pub(super) fn spend(
        &mut self,
        (object, cell): (Id, CellId),
        amount: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, amount) = (way.object(object)?, way.bits(amount)?);
        self.must_be_alone(&way.leaf, object)?;
        let left = self.left_now(&way.leaf, object, cell)?;
        let short = self.terms.less(left, amount);
        way.leaf.traps.push(short);
        // In a shortage nothing is taken.
        let none = self.terms.number(0, 32);
        let taken = self.terms.choose(short, none, amount);
        way.leaf.spent.push((object, cell, taken));
        Ok(Vec::new())
    }

    pub(super) fn take_units(
        &mut self,
        body: &Body,
        mut way: Way,
        (object, cell, amount): (Id, CellId, Id),
        then: &Target,
        otherwise: &Target,
    ) -> Ended {
        let (Ok(object), Ok(amount)) = (way.object(object), way.bits(amount)) else { return way.escape("no quota") };
        let left = self.must_be_alone(&way.leaf, object).and_then(|()| self.left_now(&way.leaf, object, cell));
        let left = match left {
            Ok(left) => left,
            Err(why) => return way.escape(&why),
        };
        let enough = self.terms.less_equal(amount, left);
        let short = self.terms.not(enough);
        let other = way.copy();
        way.leaf.spent.push((object, cell, amount));
        self.go(body, vec![(way, Some(enough), then, Vec::new()), (other, Some(short), otherwise, Vec::new())])
    }

    /// Joins two messages of which the first has no octets.
    pub(super) fn join_empty(&mut self, first: Id, second: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (first, second) = (way.message(first)?, way.message(second)?);
        let size = first.size(self.terms);
        if self.terms.constant(size) != Some(0) || !first.headers.is_empty() || !second.headers.is_empty() {
            return Err("a join of two that may have octets".into());
        }
        let longest = self.terms.number(u64::from(mokume_reaction::LONGEST_MESSAGE), 32);
        let size = second.size(self.terms);
        let over = self.terms.less(longest, size);
        let fits = self.terms.not(over);
        if !self.is_sure(fits, way) {
            return Err("a join of what may be too long".into());
        }
        way.leaf.traps.push(over);
        way.leaf.merged += 1;
        let joined = super::Message { front: second.front, base: second.base, ..first };
        Ok(vec![Value::Message(Box::new(joined))])
    }
}
