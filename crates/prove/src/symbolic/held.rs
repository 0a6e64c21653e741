//! Messages in places, quotas, and messages that become one.

use mokume_reaction::{Body, CellId, Target, Value as Id};

use super::way::{Ended, Way};
use super::{Leaf, Message, Object, Reader, Value, MAY_BE_ONE};
use crate::term::{Operator, Term};

impl Reader<'_> {
    /// Which of the messages that were kept on the way is at a place; none where it is none of them.
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

    /// Whether a place has a message by now; and whether there is no such place.
    pub(super) fn has_message(
        &mut self,
        leaf: &Leaf,
        place: (Object, CellId),
        index: Term,
    ) -> Result<(Term, Term), String> {
        let kept = self.kept_at(leaf, place, index)?;
        let (holds, beyond) = self.holds(place.0, place.1, index);
        Ok((if kept.is_some() { self.terms.truth(true) } else { holds }, beyond))
    }

    pub(super) fn keep(
        &mut self,
        (object, cell): (Id, CellId),
        index: Id,
        message: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, index, message) = (way.object(object)?, way.bits(index)?, way.message(message)?);
        self.must_be_alone(object)?;
        let (holds, beyond) = self.has_message(&way.leaf, (object, cell), index)?;
        way.leaf.traps.extend([holds, beyond]);
        way.leaf.kept.push((object, cell, index, message));
        Ok(Vec::new())
    }

    /// A share of what was kept on the way; else only the empty place is read on.
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
            Ok(None) => self.take_out(body, way, (object, cell, index), otherwise),
            Ok(Some(nth)) => {
                let share = Value::Message(Box::new(way.leaf.kept[nth].3.clone()));
                self.go(body, vec![(way, None, then, vec![share])])
            }
        }
    }

    /// What is left of a quota by now.
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

    /// Takes what is there; that it is not is reported.
    pub(super) fn spend(
        &mut self,
        (object, cell): (Id, CellId),
        amount: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, amount) = (way.object(object)?, way.bits(amount)?);
        self.must_be_alone(object)?;
        let left = self.left_now(&way.leaf, object, cell)?;
        let short = self.terms.less(left, amount);
        way.leaf.traps.push(short);
        // Then nothing is taken.
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
        let left = self.must_be_alone(object).and_then(|()| self.left_now(&way.leaf, object, cell));
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

    /// The second's octets behind those of the first, which has none.
    pub(super) fn join_empty(&mut self, first: Id, second: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let (first, second) = (way.message(first)?, way.message(second)?);
        let size = first.size(self.terms);
        if self.terms.constant(size) != Some(0) || !first.headers.is_empty() || !second.headers.is_empty() {
            return Err("a join of two that may have octets".into());
        }
        let longest = self.terms.number(u64::from(mokume_reaction::LONGEST_MESSAGE), 32);
        let size = second.size(self.terms);
        way.leaf.traps.push(self.terms.less(longest, size));
        way.leaf.merged += 1;
        let joined = Message { front: second.front, base: second.base, ..first };
        Ok(vec![Value::Message(Box::new(joined))])
    }
}
