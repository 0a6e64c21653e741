//! Parts of numbers, concatenations, and changes of width.

use super::{mask, Node, Operator, Sort, Term, Terms};

impl Terms {
    /// Bits `high` down to `low` of a term, both counted from 0; `low <= high`, and `high` below the width.
    pub fn extract(&mut self, high: u32, low: u32, a: Term) -> Term {
        let a = self.now(a);
        let width = self.width(a);
        debug_assert!(high < width && low <= high);
        if low == 0 && high + 1 == width {
            return a;
        }
        match self.node(a).clone() {
            Node::Number(value) if width <= 64 => self.number(value >> low, high - low + 1),
            Node::Extract(_, inner, of) => self.extract(high + inner, low + inner, of),
            Node::Concat(upper, lower) => {
                let split = self.width(lower);
                if high < split {
                    self.extract(high, low, lower)
                } else if low >= split {
                    self.extract(high - split, low - split, upper)
                } else {
                    let (upper, lower) = (self.extract(high - split, 0, upper), self.extract(split - 1, low, lower));
                    self.concat(upper, lower)
                }
            }
            Node::ZeroExtend(_, inner) if high < self.width(inner) => self.extract(high, low, inner),
            Node::ZeroExtend(_, inner) if low >= self.width(inner) => self.number(0, high - low + 1),
            // Some of its zeros remain.
            Node::ZeroExtend(_, inner) => {
                let part = self.extract(self.width(inner) - 1, low, inner);
                self.resize(part, high - low + 1)
            }
            // Truncation is a homomorphism of + and *. If nothing is cut off, the sum is kept, since only its parts
            // show that.
            Node::Binary(
                operator @ (Operator::Add
                | Operator::Sub
                | Operator::Mul
                | Operator::And
                | Operator::Or
                | Operator::Xor),
                x,
                y,
            ) if low == 0 && (width > 64 || !self.fits(a, high) || self.carries_nothing(operator, x, y, high)) => {
                // Sums share their parts: each is cut only once.
                if let Some(part) = self.assumed.parts.0.borrow().get(&(high, a)) {
                    return *part;
                }
                let (x, y) = (self.extract(high, 0, x), self.extract(high, 0, y));
                let part = self.binary(operator, x, y);
                self.assumed.parts.0.borrow_mut().insert((high, a), part);
                part
            }
            _ => self.make(Node::Extract(high, low, a), Sort::Bits(high - low + 1)),
        }
    }

    /// Whether a number has no bits above this one.
    fn fits(&self, a: Term, high: u32) -> bool {
        self.most(a) <= mask(high + 1)
    }

    /// Whether a sum has none above it because its parts are small enough.
    fn carries_nothing(&self, operator: Operator, x: Term, y: Term, high: u32) -> bool {
        let sum = self.most(x).checked_add(self.most(y));
        operator == Operator::Add && sum.is_some_and(|sum| sum <= mask(high + 1))
    }

    /// `high` in front of `low`, as wide as both together; it may be wider than 64 bits.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (high, low) = (self.now(high), self.now(low));
        let (upper, lower) = (self.width(high), self.width(low));
        if upper + lower <= 64 {
            if let (Some(x), Some(y)) = (self.constant(high), self.constant(low)) {
                return self.number(x << lower | y, upper + lower);
            }
        }
        // Adjacent parts of one number; the low one may have been simplified.
        if let Node::Extract(last, first, of) = *self.node(high) {
            if first >= lower && self.extract(first - 1, first - lower, of) == low {
                return self.extract(last, first - lower, of);
            }
        }
        self.make(Node::Concat(high, low), Sort::Bits(upper + lower))
    }

    /// Changes the width to `width` bits, by zeros in front or by cutting off.
    pub fn resize(&mut self, a: Term, width: u32) -> Term {
        let a = self.now(a);
        let a = self.as_bits(a);
        let old = self.width(a);
        if width == old {
            a
        } else if width < old {
            self.extract(width - 1, 0, a)
        } else if let (Some(value), true) = (self.constant(a), width <= 64) {
            self.number(value, width)
        } else {
            match *self.node(a) {
                Node::ZeroExtend(_, inner) => self.resize(inner, width),
                // Nothing is cut off.
                Node::Extract(high, 0, of) if self.width(of) <= 64 && self.most(of) <= mask(high + 1) => {
                    self.resize(of, width)
                }
                // The carry is known.
                Node::Binary(Operator::Add, x, y) => match self.widened_sum(x, y, width) {
                    Some(sum) => sum,
                    None => self.make(Node::ZeroExtend(width - old, a), Sort::Bits(width)),
                },
                _ => self.make(Node::ZeroExtend(width - old, a), Sort::Bits(width)),
            }
        }
    }

    /// `zx(a + b)` as a sum of the parts, if it is known how often the sum wraps around: never, or always once.
    fn widened_sum(&mut self, a: Term, b: Term, width: u32) -> Option<Term> {
        let (old, (a_range, b_range)) = (self.width(a), (self.range(a), self.range(b)));
        let size = 1u128 << old;
        let least = u128::from(a_range.0) + u128::from(b_range.0);
        let most = u128::from(a_range.1) + u128::from(b_range.1);
        if least / size != most / size || width > 64 {
            return None;
        }
        let (a, b) = (self.resize(a, width), self.resize(b, width));
        let sum = self.binary(Operator::Add, a, b);
        let around = self.number((least / size * size) as u64, width);
        Some(self.binary(Operator::Sub, sum, around))
    }
}
