//! What is known of terms: what they are at most, and what was assumed.

use super::{mask, Node, Operator, Sort, Term, Terms};

impl Terms {
    /// What a number of at most 64 bits is at most; of a wider one nothing is known.
    pub fn most(&self, term: Term) -> u64 {
        self.most_within(term, 6)
    }

    /// What was assumed since the term was made is seen through so many terms.
    fn most_within(&self, term: Term, depth: u32) -> u64 {
        let largest = self.largest[term.0 as usize];
        let largest = self.at_most.get(&term).map_or(largest, |most| largest.min(*most));
        match (depth, self.at_most.is_empty()) {
            (0, _) | (_, true) => largest,
            _ => largest.min(self.largest_of(self.node(term), self.sort(term), depth - 1)),
        }
    }

    pub(super) fn largest_of(&self, node: &Node, sort: Sort, depth: u32) -> u64 {
        let Sort::Bits(width) = sort else { return u64::MAX };
        let all = mask(width);
        let most = |term: Term| self.most_within(term, depth);
        match node {
            Node::Number(value) => *value,
            Node::ZeroExtend(_, a) if self.width(*a) <= 64 => most(*a),
            Node::Extract(_, low, a) if self.width(*a) <= 64 => (most(*a) >> low).min(all),
            Node::If(_, a, b) => most(*a).max(most(*b)),
            Node::Binary(Operator::Add, a, b) => {
                most(*a).checked_add(most(*b)).filter(|sum| *sum <= all).unwrap_or(all)
            }
            Node::Binary(Operator::Mul, a, b) if width <= 64 => {
                most(*a).checked_mul(most(*b)).filter(|product| *product <= all).unwrap_or(all)
            }
            Node::Binary(Operator::And, a, b) => most(*a).min(most(*b)),
            _ => all,
        }
    }

    /// A number is at most another from here on, and so is what it is made of.
    fn bound(&mut self, term: Term, most: u64) {
        let term = self.now(term);
        if self.width(term) > 64 || self.most(term) <= most {
            return;
        }
        self.at_most.insert(term, most);
        match *self.node(term) {
            Node::ZeroExtend(_, inner) => self.bound(inner, most),
            Node::Binary(Operator::Add, a, b) => {
                let fits = self.most(a).checked_add(self.most(b)).is_some_and(|sum| sum <= mask(self.width(term)));
                if let Some(plus) = self.constant(b).filter(|plus| fits && *plus <= most) {
                    self.bound(a, most - plus);
                }
            }
            _ => {}
        }
    }

    /// What stands for a term by now.
    pub(super) fn now(&self, term: Term) -> Term {
        let mut term = term;
        while let Some(known) = self.known.get(&term) {
            term = *known;
        }
        term
    }

    /// From here on a boolean holds: terms that are made by now are simpler for it, and mean what they say only where it holds. Terms that
    /// were made before stay as they are.
    pub fn assume(&mut self, fact: Term) {
        let fact = self.now(fact);
        let truth = self.truth(true);
        match self.node(fact).clone() {
            Node::True | Node::False => return,
            Node::Not(inner) => return self.deny(inner),
            Node::All(parts) => parts.iter().for_each(|part| self.assume(*part)),
            Node::Equal(a, b) => self.unite(a, b),
            Node::Less(a, b) => {
                if let Some(above) = self.constant(b).filter(|above| *above > 0) {
                    self.bound(a, above - 1);
                }
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
                if let Some(most) = self.constant(a) {
                    self.bound(b, most);
                }
            }
            _ => {}
        }
        let falsehood = self.truth(false);
        self.stand_for(fact, falsehood);
    }

    /// The number, or else the term that was made first, stands for both.
    fn unite(&mut self, a: Term, b: Term) {
        let (a, b) = (self.now(a), self.now(b));
        match (self.constant(a), self.constant(b)) {
            (Some(_), Some(_)) => {}
            (Some(number), None) => self.is_number(b, a, number),
            (None, Some(number)) => self.is_number(a, b, number),
            (None, None) => self.stand_for(a.max(b), a.min(b)),
        }
    }

    /// A term is a number, and so is what it is made of.
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
        if term != other && self.now(other) != term {
            self.known.insert(term, other);
        }
    }
}
