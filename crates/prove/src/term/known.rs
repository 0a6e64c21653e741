//! Knowledge about terms: their least and most, and the assumptions.

use super::{mask, Node, Operator, Sort, Term, Terms};

/// The least and the most that a number can be.
pub(super) type Range = (u64, u64);

/// A sum of words over fewer octets does not wrap around.
const MOST_OCTETS: u64 = 1 << 17;

/// Sums of more parts are not examined.
const MOST_PARTS: usize = 64;

impl Terms {
    /// The most that a number of at most 64 bits can be; nothing is known about wider ones.
    pub fn most(&self, term: Term) -> u64 {
        self.range(term).1
    }

    /// The least and the most of a number of at most 64 bits under the assumptions. Booleans are 0 or 1.
    pub(super) fn range(&self, term: Term) -> Range {
        let term = self.now(term);
        let plain = self.plain[term.0 as usize];
        if self.assumed.ranges.is_empty() && self.assumed.known.is_empty() {
            return plain;
        }
        if let Some(found) = self.assumed.seen.borrow().get(&term) {
            return *found;
        }
        let of_parts = self.range_of(self.node(term), self.sort(term), |part| self.range(part));
        let said = self.assumed.ranges.get(&term).copied().unwrap_or(plain);
        let range = both(both(plain, of_parts), said);
        self.assumed.seen.borrow_mut().insert(term, range);
        range
    }

    /// The same for a term of this form, from the ranges of its parts.
    pub(super) fn range_of(&self, node: &Node, sort: Sort, range: impl Fn(Term) -> Range) -> Range {
        let width = match sort {
            Sort::Bits(width) if width <= 64 => width,
            Sort::Bool => 1,
            _ => return (0, u64::MAX),
        };
        let all = mask(width);
        let any = (0, all);
        match node {
            Node::Number(value) => (*value, *value),
            Node::True => (1, 1),
            Node::False => (0, 0),
            Node::ZeroExtend(_, a) if self.width(*a) <= 64 => range(*a),
            Node::Extract(high, low, a) if self.width(*a) <= 64 => {
                let (least, most) = range(*a);
                match most >> low <= mask(high - low + 1) {
                    true => (least >> low, most >> low),
                    false => any,
                }
            }
            Node::Concat(high, low) => {
                let by = self.width(*low);
                let ((least, most), (low_least, low_most)) = (range(*high), range(*low));
                (least << by | low_least, most << by | low_most)
            }
            Node::If(condition, a, b) => {
                let (a, b) = self.sides_of(*condition, (*a, range(*a)), (*b, range(*b)), &range);
                (a.0.min(b.0), a.1.max(b.1))
            }
            Node::Binary(Operator::Add, a, b) => {
                let of_all = self.range_of_sum(node, width, &range).unwrap_or(any);
                both(of_all, range_of_two(range(*a), range(*b), width).unwrap_or(any))
            }
            Node::Binary(Operator::Mul, a, b) => {
                let ((least, most), (times_least, times_most)) = (range(*a), range(*b));
                match most.checked_mul(times_most).filter(|product| *product <= all) {
                    Some(product) => (least * times_least, product),
                    None => any,
                }
            }
            Node::Binary(Operator::And, a, b) => (0, range(*a).1.min(range(*b).1)),
            Node::Binary(Operator::Or, a, b) => {
                let ((least, most), (other_least, other_most)) = (range(*a), range(*b));
                let bits = 64 - (most | other_most).leading_zeros();
                (least.max(other_least), if bits == 0 { 0 } else { mask(bits) })
            }
            Node::Binary(Operator::Xor, a, b) if self.constant(*b) == Some(all) => {
                let (least, most) = range(*a);
                (all - most.min(all), all - least.min(all))
            }
            Node::Binary(Operator::Div, a, b) => {
                let ((least, most), (by_least, by_most)) = (range(*a), range(*b));
                match (least.checked_div(by_most), most.checked_div(by_least)) {
                    (Some(least), Some(most)) => (least, most),
                    _ => any,
                }
            }
            Node::Binary(Operator::Rem, a, b) => {
                let ((least, most), (by_least, by_most)) = (range(*a), range(*b));
                if most < by_least {
                    (least, most)
                } else if by_least > 0 {
                    (0, most.min(by_most - 1))
                } else {
                    (0, most)
                }
            }
            Node::Binary(Operator::Shr, a, _) => (0, range(*a).1),
            Node::Fold(a) => {
                let (least, most) = range(*a);
                (least.min(1), most.min(all))
            }
            Node::Apply { name, args } => (0, self.most_of_sum(name, args, range).map_or(all, |most| most.min(all))),
            _ => any,
        }
    }

    /// The most of a sum of octets, from their number.
    fn most_of_sum(&self, name: &str, args: &[Term], range: impl Fn(Term) -> (u64, u64)) -> Option<u64> {
        let (true, [_, _, size]) = (name.starts_with("sum16"), args) else { return None };
        // With the other alignment, an octet may stand alone at both ends.
        let most = range(*size).1;
        (most < MOST_OCTETS).then(|| (most / 2 + 1) * 0xffff)
    }

    /// The ranges of the sides of a choice where they are chosen: `a` where the condition holds, `b` where it does not.
    fn sides_of(
        &self,
        condition: Term,
        (a, mut of_a): (Term, Range),
        (b, mut of_b): (Term, Range),
        range: &impl Fn(Term) -> Range,
    ) -> (Range, Range) {
        let (positive, (then, then_range), (other, other_range)) = match *self.node(condition) {
            Node::Not(inner) => (inner, (b, &mut of_b), (a, &mut of_a)),
            _ => (condition, (a, &mut of_a), (b, &mut of_b)),
        };
        if let Node::Less(x, y) = *self.node(positive) {
            let (of_x, of_y) = (range(x), range(y));
            if then == x && of_y.1 > 0 {
                then_range.1 = then_range.1.min(of_y.1 - 1);
            }
            if then == y {
                then_range.0 = then_range.0.max(of_x.0.saturating_add(1));
            }
            if other == x {
                other_range.0 = other_range.0.max(of_y.0);
            }
            if other == y {
                other_range.1 = other_range.1.min(of_x.1);
            }
        }
        // One side is never chosen.
        match (of_a.0 > of_a.1, of_b.0 > of_b.1) {
            (true, false) => (of_b, of_b),
            (false, true) => (of_a, of_a),
            (true, true) => ((0, u64::MAX), (0, u64::MAX)),
            (false, false) => (of_a, of_b),
        }
    }

    /// The range of a sum modulo 2^width that wraps around equally often for all values of its parts.
    fn range_of_sum(&self, node: &Node, width: u32, range: &impl Fn(Term) -> Range) -> Option<Range> {
        let size = 1i128 << width;
        let (mut least, mut most) = (0i128, 0i128);
        let mut parts = vec![node.clone()];
        let mut count = 0;
        while let Some(part) = parts.pop() {
            count += 1;
            if count > MOST_PARTS {
                return None;
            }
            let Node::Binary(Operator::Add, a, b) = part else { continue };
            for term in [a, b] {
                match *self.node(term) {
                    Node::Binary(Operator::Add, ..) => parts.push(self.node(term).clone()),
                    Node::Binary(Operator::Mul, x, times) if self.constant(times).is_some() => {
                        let times = i128::from(self.constant(times)?);
                        let times = if times >= size / 2 { times - size } else { times };
                        let (x_least, x_most) = range(x);
                        let ends = [times.checked_mul(x_least.into())?, times.checked_mul(x_most.into())?];
                        least = least.checked_add(ends[0].min(ends[1]))?;
                        most = most.checked_add(ends[0].max(ends[1]))?;
                    }
                    Node::Number(value) => {
                        let value = i128::from(value);
                        let value = if value >= size / 2 { value - size } else { value };
                        (least, most) = (least.checked_add(value)?, most.checked_add(value)?);
                    }
                    _ => {
                        let (x_least, x_most) = range(term);
                        (least, most) = (least.checked_add(x_least.into())?, most.checked_add(x_most.into())?);
                    }
                }
            }
        }
        let around = least.div_euclid(size);
        let is_one = around == most.div_euclid(size);
        is_one.then(|| ((least - around * size) as u64, (most - around * size) as u64))
    }

    /// Assumes that a number is within a range, and derives ranges of its parts.
    fn bound(&mut self, term: Term, least: u64, most: u64) {
        let term = self.now(term);
        if self.width(term) > 64 {
            return;
        }
        let old = self.range(term);
        let new = both(old, (least, most));
        // An impossible range says nothing here: the question is asked unchanged.
        if new == old || new.0 > new.1 {
            return;
        }
        self.assumed.ranges.insert(term, new);
        self.assumed.of_numbers += 1;
        self.assumed.seen.borrow_mut().clear();
        self.assumed.parts.0.borrow_mut().clear();
        if new.0 == new.1 {
            let number = self.number(new.0, self.width(term));
            return self.unite(term, number);
        }
        match *self.node(term) {
            Node::Concat(..) => {
                // A concatenation is a sum, too.
                let zero = self.number(0, self.width(term));
                let sum = self.sum(Operator::Add, term, zero);
                self.bound(sum, new.0, new.1);
            }
            Node::ZeroExtend(_, inner) => self.bound(inner, new.0, new.1),
            Node::Binary(Operator::Add, a, b) => {
                let Some(plus) = self.constant(b) else { return };
                let (size, (a_least, a_most)) = (1i128 << self.width(term), self.range(a));
                // The number of wraps is the same for all possible values.
                let ends = [i128::from(a_least) + i128::from(plus), i128::from(a_most) + i128::from(plus)];
                let around = ends[0].div_euclid(size);
                if around == ends[1].div_euclid(size) {
                    let back = |value: u64| i128::from(value) + around * size - i128::from(plus);
                    let (least, most) = (back(new.0).max(0), back(new.1).min(i128::from(u64::MAX)));
                    if least <= most {
                        self.bound(a, least as u64, most as u64);
                    }
                }
            }
            Node::Binary(Operator::Mul, a, b) => {
                let Some(times) = self.constant(b).filter(|times| *times > 0) else { return };
                if self.range(a).1.checked_mul(times).is_some_and(|most| most <= mask(self.width(term))) {
                    self.bound(a, new.0.div_ceil(times), new.1 / times);
                }
            }
            Node::If(condition, a, b) => self.bound_choice((condition, a, b), new),
            _ => {}
        }
    }

    /// Bounds the distance of two numbers, the larger one first.
    fn bound_apart(&mut self, (a, b): (Term, Term), least: u64, most: u64) {
        if self.width(a) <= 64 && self.constant(a).is_none() && self.constant(b).is_none() {
            let apart = self.binary(Operator::Sub, a, b);
            self.bound(apart, least, most);
        }
    }

    /// Bounds a choice. A side outside the range is not chosen; the smaller of two is no larger than either.
    fn bound_choice(&mut self, (condition, a, b): (Term, Term, Term), new: Range) {
        let of_a = self.range(a);
        let of_b = self.range(b);
        let is_out = |(least, most): Range| most < new.0 || new.1 < least;
        match (is_out(of_a), is_out(of_b)) {
            (true, false) => {
                self.deny(condition);
                return self.bound(b, new.0, new.1);
            }
            (false, true) => {
                self.assume(condition);
                return self.bound(a, new.0, new.1);
            }
            _ => {}
        }
        let Node::Less(x, y) = *self.node(condition) else { return };
        if (x, y) == (a, b) {
            self.bound(a, new.0, u64::MAX);
            self.bound(b, new.0, u64::MAX);
        } else if (x, y) == (b, a) {
            self.bound(a, 0, new.1);
            self.bound(b, 0, new.1);
        }
    }

    /// The current replacement of a term.
    pub(super) fn now(&self, term: Term) -> Term {
        let mut term = term;
        while let Some(known) = self.same.get(&term).or_else(|| self.assumed.known.get(&term)) {
            term = *known;
        }
        term
    }

    /// Assumes that a boolean holds. Terms made from now on are simpler, and keep their meaning only where it holds.
    /// Terms that were made before do not change.
    pub fn assume(&mut self, fact: Term) {
        let fact = self.now(fact);
        let truth = self.truth(true);
        match self.node(fact).clone() {
            Node::True | Node::False => return,
            Node::Not(inner) => return self.deny(inner),
            Node::All(parts) => parts.iter().for_each(|part| self.assume(*part)),
            Node::Equal(a, b) => self.unite(a, b),
            Node::Less(a, b) => {
                let (of_a, of_b) = (self.range(a), self.range(b));
                self.bound(a, 0, of_b.1.saturating_sub(1));
                self.bound(b, of_a.0.saturating_add(1), u64::MAX);
                self.bound_apart((b, a), 1, of_b.1.saturating_sub(of_a.0));
            }
            _ => {}
        }
        self.stand_for(fact, truth);
    }

    fn deny(&mut self, fact: Term) {
        let fact = self.now(fact);
        match self.node(fact).clone() {
            Node::True | Node::False => return,
            Node::Not(inner) => return self.assume(inner),
            Node::Any(parts) => parts.iter().for_each(|part| self.deny(*part)),
            Node::Less(a, b) => {
                let (of_a, of_b) = (self.range(a), self.range(b));
                self.bound(a, of_b.0, u64::MAX);
                self.bound(b, 0, of_a.1);
                self.bound_apart((a, b), 0, of_a.1.saturating_sub(of_b.0));
            }
            Node::Equal(a, b) if self.sort(a) != Sort::Bool => self.not_equal(a, b),
            _ => {}
        }
        let falsehood = self.truth(false);
        self.stand_for(fact, falsehood);
    }

    /// Assumes that two numbers differ: a constant at an end of the other's range is excluded.
    fn not_equal(&mut self, a: Term, b: Term) {
        for (a, b) in [(a, b), (b, a)] {
            let Some(number) = self.constant(b) else { continue };
            if self.width(a) > 64 {
                continue;
            }
            let (least, most) = self.range(a);
            if number == least && least < most {
                self.bound(a, least + 1, most);
            } else if number == most && least < most {
                self.bound(a, least, most - 1);
            }
        }
    }

    /// Assumes that two terms are equal: the number, or else the term of lower rank, replaces the other.
    fn unite(&mut self, a: Term, b: Term) {
        let (a, b) = (self.now(a), self.now(b));
        match (self.constant(a), self.constant(b)) {
            (Some(_), Some(_)) => {}
            (Some(number), None) => self.is_number(b, a, number),
            (None, Some(number)) => self.is_number(a, b, number),
            (None, None) => {
                let (of_a, of_b) = (self.range(a), self.range(b));
                self.bound(a, of_b.0, of_b.1);
                self.bound(b, of_a.0, of_a.1);
                let (a, b) = (self.now(a), self.now(b));
                match (self.constant(a), self.constant(b)) {
                    (None, None) => {
                        self.solve(a, b);
                        let (a, b) = self.by_rank(self.now(a), self.now(b));
                        self.stand_for(b, a);
                    }
                    (Some(_), Some(_)) => {}
                    _ => self.unite(a, b),
                }
            }
        }
    }

    /// Two sums are equal: so the part that was made last equals what the others leave, and is replaced by that
    /// everywhere.
    fn solve(&mut self, a: Term, b: Term) {
        let is_sum = |term: Term| matches!(self.node(term), Node::Binary(Operator::Add, ..));
        let width = self.width(a);
        if !matches!(self.sort(a), Sort::Bits(2..=64)) || !(is_sum(a) || is_sum(b)) {
            return;
        }
        let (parts, number) = self.parts_of_difference(a, b);
        let minus = mask(width);
        let solved = parts.iter().rev().find(|(part, factor)| {
            let is_narrow = matches!(self.node(**part), Node::ZeroExtend(..));
            !is_narrow && (**factor & minus == 1 || **factor & minus == minus)
        });
        let Some((part, factor)) = solved.map(|(part, factor)| (*part, *factor & minus)) else { return };
        // With factor 1 it equals minus the others; with factor -1 it equals the others.
        let sign = if factor == 1 { u64::MAX } else { 1 };
        let mut rest = self.number(number.wrapping_mul(sign), width);
        for (other, times) in parts.iter().filter(|(other, _)| **other != part) {
            let times = self.number(times.wrapping_mul(sign), width);
            let scaled = self.binary(Operator::Mul, *other, times);
            rest = self.binary(Operator::Add, rest, scaled);
        }
        if self.rank(rest) < self.rank(part) {
            self.stand_for(part, rest);
        }
    }

    /// Assumes that a term is a number, and derives its parts.
    fn is_number(&mut self, term: Term, as_term: Term, number: u64) {
        self.stand_for(term, as_term);
        match *self.node(term) {
            Node::Concat(high, low) if self.width(term) <= 64 => {
                let (high_width, low_width) = (self.width(high), self.width(low));
                let part = self.number(number >> low_width, high_width);
                self.unite(high, part);
                let part = self.number(number & mask(low_width), low_width);
                self.unite(low, part);
            }
            Node::ZeroExtend(_, inner) if self.width(inner) <= 64 && number <= mask(self.width(inner)) => {
                let part = self.number(number, self.width(inner));
                self.unite(inner, part);
            }
            Node::Binary(Operator::Mul, a, b) if self.width(term) <= 64 => {
                let times = self.constant(b).filter(|times| *times > 0 && number.is_multiple_of(*times));
                let fits =
                    |times: &u64| self.most(a).checked_mul(*times).is_some_and(|most| most <= mask(self.width(a)));
                if let Some(times) = times.filter(fits) {
                    let part = self.number(number / times, self.width(a));
                    self.unite(a, part);
                }
            }
            _ => {}
        }
    }

    fn stand_for(&mut self, term: Term, other: Term) {
        if term != other && self.now(other) != term && self.now(term) == term {
            self.assumed.known.insert(term, other);
            self.assumed.of_numbers += u64::from(self.sort(term) != Sort::Bool);
            self.assumed.seen.borrow_mut().clear();
            self.assumed.parts.0.borrow_mut().clear();
        }
    }
}

/// The range of a sum of two numbers modulo 2^width, if it wraps around equally often for all values.
fn range_of_two(a: Range, b: Range, width: u32) -> Option<Range> {
    let size = 1u128 << width;
    let [least, most] = [(a.0, b.0), (a.1, b.1)].map(|(a, b)| u128::from(a) + u128::from(b));
    (least / size == most / size).then(|| ((least % size) as u64, (most % size) as u64))
}

fn both(a: Range, b: Range) -> Range {
    let range = (a.0.max(b.0), a.1.min(b.1));
    // Under contradictory assumptions any range is right; the first is kept.
    if range.0 > range.1 {
        a
    } else {
        range
    }
}
