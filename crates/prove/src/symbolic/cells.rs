//! Constants, truth values, and the contents of cells, as terms.

use mokume_reaction::{CellId, Type, Value as Id};

use super::way::Way;
use super::{plain, sort_of, Object, Reader, Value, MAY_BE_ONE};
use crate::term::{Operator, Sort, Term};

impl Reader<'_> {
    /// A constant of a type.
    pub(super) fn constant(&mut self, ty: Type, value: u64) -> Result<Vec<Value>, String> {
        let sort = sort_of(self.automaton, ty);
        let term = match sort {
            Sort::Bool => self.terms.truth(value != 0),
            // Two automata number their reasons differently.
            Sort::Bits(width) if ty == Type::Reason && !self.compares => self.terms.number(value, width),
            _ if ty.width(self.automaton) == 0 => return Err("a constant that is no number".into()),
            _ => self.terms.number(value, u32::from(ty.width(self.automaton))),
        };
        Ok(vec![Value::Bits(term)])
    }

    /// Negation: logical on truth values, bitwise on numbers.
    pub(super) fn opposite(&mut self, a: Id, way: &Way) -> Result<Vec<Value>, String> {
        let a = way.bits(a)?;
        let term = if self.terms.sort(a) == Sort::Bool {
            self.terms.not(a)
        } else {
            let ones = self.terms.number(u64::MAX, self.terms.width(a));
            self.terms.binary(Operator::Xor, a, ones)
        };
        Ok(vec![Value::Bits(term)])
    }

    /// The parent of an object. For null it is null; for an object that has ended it may exist or be null.
    pub(super) fn parent_of(&mut self, value: Value, object: Object) -> Result<Vec<Value>, String> {
        let parent = self.parent(object).ok_or("a class without a parent")?;
        let lives = self.lives(object);
        let ended = self.terms.not(lives);
        let freed = format!("freed {} {}", plain(&self.automaton.class(self.class_of(object)).name), object.0);
        let freed = self.terms.variable(&freed, Sort::Bool);
        let freed = self.terms.all(&[ended, freed]);
        let null: Vec<Term> = value.null().into_iter().chain([freed]).collect();
        let null = self.terms.any(&null);
        Ok(vec![match self.terms.constant(null) {
            Some(0) => Value::Object(parent),
            _ => Value::Perhaps(parent, null),
        }])
    }

    /// Writes a number to a cell.
    pub(super) fn set(&mut self, (object, cell): (Id, CellId), value: Id, way: &mut Way) -> Result<Vec<Value>, String> {
        let object = way.object(object)?;
        self.must_be_alone(&way.leaf, object)?;
        let term = match way.value(value)? {
            Value::Bits(term) => term,
            reference @ (Value::Object(_) | Value::Perhaps(..) | Value::Null) if !self.compares => {
                way.leaf.referred.insert((object, cell), reference);
                return Ok(Vec::new());
            }
            _ => return Err("a reference that changes".into()),
        };
        way.leaf.cells.insert((object, cell), term);
        if !way.leaf.written.contains(&(object, cell)) {
            way.leaf.written.push((object, cell));
        }
        Ok(Vec::new())
    }

    /// Writes a number to an element of an array.
    pub(super) fn set_at(
        &mut self,
        (object, cell): (Id, CellId),
        (index, value): (Id, Id),
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, index, value) = (way.object(object)?, way.bits(index)?, way.bits(value)?);
        self.must_be_alone(&way.leaf, object)?;
        let (_, beyond) = self.element(&way.leaf, object, cell, index)?;
        way.leaf.traps.push(beyond);
        way.leaf.elements.entry((object, cell)).or_default().push((index, value));
        Ok(Vec::new())
    }

    /// Arms or stops a timer.
    pub(super) fn set_timer(
        &mut self,
        (object, cell): (Id, CellId),
        deadline: Option<Id>,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let object = way.object(object)?;
        let deadline = deadline.map(|deadline| way.bits(deadline)).transpose()?;
        self.must_be_alone(&way.leaf, object)?;
        way.leaf.timers.push((object, cell, deadline));
        Ok(Vec::new())
    }

    /// Whether a timer is armed now.
    pub(super) fn is_armed(&mut self, (object, cell): (Id, CellId), way: &mut Way) -> Result<Vec<Value>, String> {
        let object = way.object(object)?;
        let class = self.class_of(object);
        let same = way.leaf.timers.iter().rev().find(|(other, set, _)| *set == cell && self.class_of(*other) == class);
        let armed = match same {
            // Timers of what has ended stay idle.
            Some((other, _, deadline)) if *other == object => {
                let started = self.terms.truth(deadline.is_some());
                let lives = self.lives(object);
                self.terms.all(&[lives, started])
            }
            Some(_) => return Err(MAY_BE_ONE.into()),
            None => self.armed(object, cell),
        };
        Ok(vec![Value::Bits(armed)])
    }

    /// Adds to a counter.
    pub(super) fn count(
        &mut self,
        (object, cell): (Id, CellId),
        amount: Id,
        way: &mut Way,
    ) -> Result<Vec<Value>, String> {
        let (object, amount) = (way.object(object)?, way.bits(amount)?);
        self.must_be_alone(&way.leaf, object)?;
        let amount = self.terms.resize(amount, 64);
        let zero = self.terms.number(0, 64);
        let before = way.leaf.counted.get(&(object, cell)).copied().unwrap_or(zero);
        let sum = self.terms.binary(Operator::Add, before, amount);
        way.leaf.counted.insert((object, cell), sum);
        Ok(Vec::new())
    }
}
