//! Arithmetic, comparisons and what they report, as terms.

use mokume_reaction::{Binary, Compare, Value as Id};

use super::way::Way;
use super::{Reader, Value, MAY_BE_ONE};
use crate::term::{Operator, Sort, Term};

impl Reader<'_> {
    /// A result, and the condition under which it is reported. This is a table: an arm for each operator.
    pub(super) fn arithmetic(&mut self, op: Binary, a: Term, b: Term) -> (Term, Option<Term>) {
        if self.terms.sort(a) == Sort::Bool {
            return (self.boolean(op, a, b), None);
        }
        let width = self.terms.width(a);
        let zero = self.terms.number(0, width);
        match op {
            Binary::Min | Binary::Max => {
                let less = self.terms.less(a, b);
                let (then, otherwise) = if op == Binary::Min { (a, b) } else { (b, a) };
                (self.terms.choose(less, then, otherwise), None)
            }
            Binary::Add => {
                let sum = self.terms.binary(Operator::Add, a, b);
                // In the form of a check before the addition: whether the room above one number is less than the other.
                let ones = self.terms.number(u64::MAX, width);
                let room = self.terms.binary(Operator::Xor, b, ones);
                let carried = self.terms.less(room, a);
                (sum, Some(carried))
            }
            Binary::Sub => {
                let borrowed = self.terms.less(a, b);
                (self.terms.binary(Operator::Sub, a, b), Some(borrowed))
            }
            Binary::Mul => {
                let (wide_a, wide_b) = (self.terms.resize(a, width * 2), self.terms.resize(b, width * 2));
                let product = self.terms.binary(Operator::Mul, wide_a, wide_b);
                let high = self.terms.extract(width * 2 - 1, width, product);
                let carried = self.terms.as_truth(high);
                (self.terms.extract(width - 1, 0, product), Some(carried))
            }
            Binary::Div => self.divided(Operator::Div, a, b, zero),
            Binary::Rem => self.divided(Operator::Rem, a, b, zero),
            Binary::Within => {
                let inside = self.terms.less(a, b);
                let largest = self.terms.number(u64::MAX >> (64 - width.min(64)), width);
                let beyond = self.terms.not(inside);
                (self.terms.choose(inside, a, largest), Some(beyond))
            }
            Binary::AddWrap => (self.terms.binary(Operator::Add, a, b), None),
            Binary::SubWrap => (self.terms.binary(Operator::Sub, a, b), None),
            Binary::MulWrap => (self.terms.binary(Operator::Mul, a, b), None),
            Binary::And => (self.terms.binary(Operator::And, a, b), None),
            Binary::Or => (self.terms.binary(Operator::Or, a, b), None),
            Binary::Xor => (self.terms.binary(Operator::Xor, a, b), None),
            Binary::Shl => (self.terms.binary(Operator::Shl, a, b), None),
            Binary::Shr => (self.terms.binary(Operator::Shr, a, b), None),
        }
    }

    /// Arithmetic on `seqN`: order is circular, and sums and products wrap around without a report (docs/semantics.md,
    /// A4).
    pub(super) fn around(&mut self, op: Binary, a: Term, b: Term) -> (Term, Option<Term>) {
        match op {
            Binary::Min | Binary::Max => {
                let less = self.circular(a, b, true);
                let (then, otherwise) = if op == Binary::Min { (a, b) } else { (b, a) };
                (self.terms.choose(less, then, otherwise), None)
            }
            Binary::Add | Binary::Sub | Binary::Mul => (self.arithmetic(op, a, b).0, None),
            other => self.arithmetic(other, a, b),
        }
    }

    /// Division by zero gives zero, and is reported (docs/semantics.md, A3).
    fn divided(&mut self, operator: Operator, a: Term, b: Term, zero: Term) -> (Term, Option<Term>) {
        let by_zero = self.terms.equal(b, zero);
        let quotient = self.terms.binary(operator, a, b);
        (self.terms.choose(by_zero, zero, quotient), Some(by_zero))
    }

    pub(super) fn boolean(&mut self, op: Binary, a: Term, b: Term) -> Term {
        match op {
            Binary::And | Binary::Min => self.terms.all(&[a, b]),
            Binary::Or | Binary::Max => self.terms.any(&[a, b]),
            _ => {
                let same = self.terms.equal(a, b);
                self.terms.not(same)
            }
        }
    }

    pub(super) fn same_object(&mut self, op: Compare, way: &Way, a: Id, b: Id) -> Result<Term, String> {
        let same = match (way.value(a)?, way.value(b)?) {
            (Value::Null, Value::Null) => true,
            (Value::Null, Value::Object(_)) | (Value::Object(_), Value::Null) => false,
            (Value::Perhaps(_, null), Value::Null) | (Value::Null, Value::Perhaps(_, null)) => {
                return Ok(if op == Compare::Eq { null } else { self.terms.not(null) });
            }
            (Value::Object(x), Value::Object(y)) if x == y => true,
            _ => return Err(MAY_BE_ONE.into()),
        };
        Ok(self.terms.truth(same == (op == Compare::Eq)))
    }

    pub(super) fn comparison(&mut self, op: Compare, way: &Way, a: Id, b: Id) -> Result<Term, String> {
        let circular = way.circular(a);
        let (a, b) = (way.bits(a)?, way.bits(b)?);
        let (low, high, strict) = match op {
            Compare::Eq => return Ok(self.terms.equal(a, b)),
            Compare::Ne => {
                let same = self.terms.equal(a, b);
                return Ok(self.terms.not(same));
            }
            Compare::Lt => (a, b, true),
            Compare::Le => (a, b, false),
            Compare::Gt => (b, a, true),
            Compare::Ge => (b, a, false),
        };
        if !circular {
            return Ok(if strict { self.terms.less(low, high) } else { self.terms.less_equal(low, high) });
        }
        Ok(self.circular(low, high, strict))
    }

    /// RFC 1982: `high - low` is in `1 .. 2^(n-1)`; `0 ..` if not strict.
    pub(crate) fn circular(&mut self, low: Term, high: Term, strict: bool) -> Term {
        let width = self.terms.width(low);
        let ahead = self.terms.binary(Operator::Sub, high, low);
        let half = self.terms.number(1 << (width - 1), width);
        let near = self.terms.less(ahead, half);
        if !strict {
            return near;
        }
        let zero = self.terms.number(0, width);
        let same = self.terms.equal(ahead, zero);
        let apart = self.terms.not(same);
        self.terms.all(&[near, apart])
    }
}
