//! Arithmetic: sums have one normal form.

use std::collections::BTreeMap;

use super::{mask, Node, Operator, Sort, Term, Terms};

/// The most terms that are visited for the parts of one sum.
const MOST_STEPS: u32 = 500;

/// The parts of a sum.
#[derive(Default)]
struct Parts {
    /// Each part with its factor.
    parts: BTreeMap<Term, u64>,
    number: u64,
    /// The number of visited terms.
    steps: u32,
}

impl Parts {
    fn add(&mut self, term: Term, times: u64) {
        let factor = self.parts.entry(term).or_default();
        *factor = factor.wrapping_add(times);
    }
}

/// Above all terms.
const ALL: Term = Term(u32::MAX);

impl Terms {
    /// An operator on two bit-vectors of one width, modulo 2^width. The simplified term means the same in SMT-LIB.
    pub fn binary(&mut self, operator: Operator, a: Term, b: Term) -> Term {
        let (a, b) = (self.now(a), self.now(b));
        let sort = self.sort(a);
        debug_assert_eq!(sort, self.sort(b));
        let width = self.width(a);
        if let (Some(x), Some(y), true) = (self.constant(a), self.constant(b), width <= 64) {
            return self.number(compute(operator, x, y, width), width);
        }
        if let Some(operand) = self.neutral(operator, a, b) {
            return operand;
        }
        let is_linear = match operator {
            Operator::Add | Operator::Sub => true,
            Operator::Mul => self.constant(a).is_some() || self.constant(b).is_some(),
            Operator::Shl => self.constant(b).is_some(),
            _ => false,
        };
        if is_linear && width <= 64 {
            return self.sum(operator, a, b);
        }
        match (operator, self.constant(b)) {
            // A shift by a constant is an extraction; so are the low bits.
            (Operator::Shr, Some(by)) if by < u64::from(width) => {
                let high = self.extract(width - 1, by as u32, a);
                return self.resize(high, width);
            }
            // So are quotients and remainders by powers of two.
            (Operator::Div, Some(by)) if by.is_power_of_two() => {
                let high = self.extract(width - 1, by.trailing_zeros(), a);
                return self.resize(high, width);
            }
            (Operator::Rem, Some(by)) if by.is_power_of_two() && by > 1 => {
                let low = self.extract(by.trailing_zeros() - 1, 0, a);
                return self.resize(low, width);
            }
            (Operator::Rem, Some(by)) if width <= 64 && self.most(a) < by => return a,
            (Operator::And, Some(ones)) if ones > 0 && (ones & ones.wrapping_add(1)) == 0 && ones < mask(width) => {
                let low = self.extract(ones.trailing_ones() - 1, 0, a);
                return self.resize(low, width);
            }
            _ => {}
        }
        self.make(Node::Binary(operator, a, b), sort)
    }

    /// A sum in normal form: its parts in the order in which they were made, each once with its factor, and the number
    /// last.
    pub(super) fn sum(&mut self, operator: Operator, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let mut of = Parts::default();
        match (operator, self.constant(a), self.constant(b)) {
            (Operator::Mul, Some(by), _) => self.add_up((b, ALL), by, &mut of),
            (Operator::Mul, _, Some(by)) => self.add_up((a, ALL), by, &mut of),
            (Operator::Shl, _, Some(by)) => {
                let by = if by >= u64::from(width) { 0 } else { 1 << by };
                self.add_up((a, ALL), by, &mut of);
            }
            _ => {
                self.add_up((a, ALL), 1, &mut of);
                let sign = if operator == Operator::Sub { u64::MAX } else { 1 };
                self.add_up((b, ALL), sign, &mut of);
            }
        }
        let mut sum = None;
        for (part, factor) in of.parts {
            let factor = factor & mask(width);
            let scaled = match factor {
                0 => continue,
                1 => part,
                _ => {
                    let factor = self.number(factor, width);
                    self.make(Node::Binary(Operator::Mul, part, factor), Sort::Bits(width))
                }
            };
            sum = Some(match sum {
                None => scaled,
                Some(sum) => self.make(Node::Binary(Operator::Add, sum, scaled), Sort::Bits(width)),
            });
        }
        let number = self.number(of.number, width);
        match (sum, self.constant(number)) {
            (None, _) => number,
            (Some(sum), Some(0)) => sum,
            (Some(sum), _) => self.make(Node::Binary(Operator::Add, sum, number), Sort::Bits(width)),
        }
    }

    /// The parts of `a - b` with their factors, and the number.
    pub(super) fn parts_of_difference(&mut self, a: Term, b: Term) -> (BTreeMap<Term, u64>, u64) {
        let mut of = Parts::default();
        self.add_up((a, ALL), 1, &mut of);
        self.add_up((b, ALL), u64::MAX, &mut of);
        of.parts.retain(|_, factor| *factor & mask(self.width(a)) != 0);
        (of.parts, of.number)
    }

    /// Adds `times` times a term to the parts of a sum. A concatenation is split only if it was made before `below`:
    /// otherwise the replacement of one of its parts could be itself. A term that takes too many steps becomes a part
    /// unchanged.
    fn add_up(&mut self, (term, below): (Term, Term), times: u64, of: &mut Parts) {
        let term = self.now(term);
        if let Some(value) = self.constant(term) {
            of.number = of.number.wrapping_add(value.wrapping_mul(times));
            return;
        }
        of.steps += 1;
        if of.steps > MOST_STEPS {
            return of.add(term, times);
        }
        // A concatenation is a sum.
        let width = self.width(term);
        let inner = if let Node::ZeroExtend(_, inner) = *self.node(term) { inner } else { term };
        if let (Node::Concat(high, low), true) = (self.node(inner), inner < below) {
            let (high, low) = (*high, *low);
            let by = 1u64 << self.width(low);
            let (high, low) = (self.resize(high, width), self.resize(low, width));
            self.add_up((high, inner), times.wrapping_mul(by), of);
            return self.add_up((low, inner), times, of);
        }
        match *self.node(term) {
            Node::Binary(Operator::Add, x, y) => {
                self.add_up((x, below), times, of);
                self.add_up((y, below), times, of);
            }
            Node::Binary(Operator::Mul, x, y) => match self.constant(y) {
                Some(by) => self.add_up((x, below), times.wrapping_mul(by), of),
                None => of.add(term, times),
            },
            _ => of.add(term, times),
        }
    }

    /// The operand that is the result, if one of them is a neutral or absorbing number: `x + 0`, `x * 1`, `x & 0`.
    fn neutral(&self, operator: Operator, a: Term, b: Term) -> Option<Term> {
        use Operator::{Add, And, Div, Mul, Or, Shl, Shr, Sub, Xor};
        let all_ones = mask(self.width(a));
        match (operator, self.constant(a), self.constant(b)) {
            (Add | Or | Xor, Some(0), _) | (Mul, Some(1), _) | (Mul | And, _, Some(0)) => Some(b),
            (Add | Sub | Or | Xor | Shl | Shr, _, Some(0)) | (Mul | Div, _, Some(1)) | (Mul | And, Some(0), _) => {
                Some(a)
            }
            (And, _, Some(y)) if y == all_ones => Some(a),
            (And, Some(x), _) if x == all_ones => Some(b),
            _ => None,
        }
    }
}

/// The operator as SMT-LIB defines it (division by zero gives all ones).
pub(super) fn compute(operator: Operator, a: u64, b: u64, width: u32) -> u64 {
    let value = match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Sub => a.wrapping_sub(b),
        Operator::Mul => a.wrapping_mul(b),
        Operator::Div => a.checked_div(b).unwrap_or(u64::MAX),
        Operator::Rem => a.checked_rem(b).unwrap_or(a),
        Operator::And => a & b,
        Operator::Or => a | b,
        Operator::Xor => a ^ b,
        Operator::Shl => {
            if b >= u64::from(width) {
                0
            } else {
                a << b
            }
        }
        Operator::Shr => {
            if b >= u64::from(width) {
                0
            } else {
                a >> b
            }
        }
    };
    value & mask(width)
}
