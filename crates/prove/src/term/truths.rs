//! Booleans, comparisons and choices.

use super::{mask, Node, Operator, Sort, Term, Terms};

impl Terms {
    /// The opposite of a boolean.
    pub fn not(&mut self, a: Term) -> Term {
        let a = self.now(a);
        match self.node(a).clone() {
            Node::True => self.truth(false),
            Node::False => self.truth(true),
            Node::Not(inner) => inner,
            _ => self.make(Node::Not(a), Sort::Bool),
        }
    }

    /// True if all parts are; without parts, true. Parts are sorted; duplicates and opposites are found.
    pub fn all(&mut self, parts: &[Term]) -> Term {
        let mut flat = Vec::new();
        for part in parts {
            let part = &self.now(*part);
            match self.node(*part).clone() {
                Node::True => {}
                Node::False => return self.truth(false),
                Node::All(inner) => flat.extend(inner),
                _ => flat.push(*part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        for part in &flat {
            let opposite = self.not(*part);
            if flat.binary_search(&opposite).is_ok() {
                return self.truth(false);
            }
        }
        // Parts of an "any" whose opposites are among the other parts are removed from it.
        for place in 0..flat.len() {
            let Node::Any(inner) = self.node(flat[place]).clone() else { continue };
            let mut left = inner.clone();
            left.retain(|part| {
                let opposite = self.not(*part);
                flat.binary_search(&opposite).is_err()
            });
            if inner.iter().any(|part| flat.binary_search(part).is_ok()) {
                flat.remove(place);
                return self.all(&flat);
            }
            if left.len() < inner.len() {
                flat[place] = self.any(&left);
                return self.all(&flat);
            }
        }
        match flat.as_slice() {
            [] => self.truth(true),
            [one] => *one,
            _ => self.make(Node::All(flat), Sort::Bool),
        }
    }

    /// True if one part is; without parts, false. Parts are sorted; duplicates are found.
    pub fn any(&mut self, parts: &[Term]) -> Term {
        let mut flat = Vec::new();
        for part in parts {
            let part = &self.now(*part);
            match self.node(*part).clone() {
                Node::False => {}
                Node::True => return self.truth(true),
                Node::Any(inner) => flat.extend(inner),
                _ => flat.push(*part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        for part in &flat {
            let opposite = self.not(*part);
            if flat.binary_search(&opposite).is_ok() {
                return self.truth(true);
            }
        }
        // Parts of an "all" whose opposites are among the other parts are removed from it.
        for place in 0..flat.len() {
            let Node::All(inner) = self.node(flat[place]).clone() else { continue };
            let mut left = inner.clone();
            left.retain(|part| {
                let opposite = self.not(*part);
                flat.binary_search(&opposite).is_err()
            });
            if inner.iter().any(|part| flat.binary_search(part).is_ok()) {
                flat.remove(place);
                return self.any(&flat);
            }
            if left.len() < inner.len() {
                flat[place] = self.all(&left);
                return self.any(&flat);
            }
        }
        match flat.as_slice() {
            [] => self.truth(false),
            [one] => *one,
            _ => self.make(Node::Any(flat), Sort::Bool),
        }
    }

    /// False only if `a` holds and `b` does not.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.any(&[not_a, b])
    }

    /// One of two terms of the same sort, by a condition.
    pub fn choose(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        let [condition, then, otherwise] = [condition, then, otherwise].map(|part| self.now(part));
        debug_assert_eq!(self.sort(then), self.sort(otherwise));
        match self.node(condition) {
            Node::True => return then,
            Node::False => return otherwise,
            _ => {}
        }
        if then == otherwise {
            return then;
        }
        if let Node::Not(opposite) = *self.node(condition) {
            return self.choose(opposite, otherwise, then);
        }
        if let Node::Equal(a, b) = *self.node(condition) {
            if (then, otherwise) == (a, b) || (then, otherwise) == (b, a) {
                return otherwise;
            }
        }
        // The minimum and the maximum of two terms have one form each.
        if let Node::Less(a, b) = *self.node(condition) {
            let (x, y) = (a.min(b), a.max(b));
            if (a, b) == (then, otherwise) && a != x {
                let less = self.less(x, y);
                return self.choose_plainly(less, x, y);
            }
            if (b, a) == (then, otherwise) && a != x {
                let less = self.less(x, y);
                return self.choose_plainly(less, y, x);
            }
        }
        self.choose_plainly(condition, then, otherwise)
    }

    fn choose_plainly(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        match self.constant(condition) {
            Some(0) => return otherwise,
            Some(_) => return then,
            None => {}
        }
        let sort = self.sort(then);
        if sort == Sort::Bool {
            match (self.constant(then), self.constant(otherwise)) {
                (Some(1), _) => return self.any(&[condition, otherwise]),
                (Some(0), _) => {
                    let not = self.not(condition);
                    return self.all(&[not, otherwise]);
                }
                (_, Some(0)) => return self.all(&[condition, then]),
                (_, Some(1)) => return self.implies(condition, then),
                _ if otherwise == condition => return self.all(&[condition, then]),
                _ if then == condition => return self.any(&[condition, otherwise]),
                _ => {}
            }
        }
        match self.common_parts(condition, then, otherwise) {
            Some((common, then, otherwise)) => {
                let chosen = self.choose(condition, then, otherwise);
                self.binary(Operator::Add, common, chosen)
            }
            None => self.make(Node::If(condition, then, otherwise), sort),
        }
    }

    /// The common part of two sums, and the rest of each; `None` for a minimum or maximum of two.
    fn common_parts(&mut self, condition: Term, then: Term, otherwise: Term) -> Option<(Term, Term, Term)> {
        let is_sum = |term: Term| matches!(self.node(term), Node::Binary(Operator::Add, ..));
        let is_by_size = match *self.node(condition) {
            Node::Less(a, b) => [(a, b), (b, a)].contains(&(then, otherwise)),
            _ => false,
        };
        let width = self.width(then);
        if !matches!(self.sort(then), Sort::Bits(2..=64)) || is_by_size || !is_sum(then) || !is_sum(otherwise) {
            return None;
        }
        let zero = self.number(0, width);
        let (parts, _) = self.parts_of_difference(then, zero);
        let (others, _) = self.parts_of_difference(otherwise, zero);
        let mut common = zero;
        for (part, factor) in parts {
            if others.get(&part).is_some_and(|other| (*other ^ factor) & mask(width) == 0) {
                let factor = self.number(factor, width);
                let scaled = self.binary(Operator::Mul, part, factor);
                common = self.binary(Operator::Add, common, scaled);
            }
        }
        if common == zero {
            return None;
        }
        let rest = [then, otherwise].map(|side| self.binary(Operator::Sub, side, common));
        Some((common, rest[0], rest[1]))
    }

    /// Whether two terms of the same sort are equal.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        self.equal_by(a, b, true)
    }

    /// The same. The common part is removed only once: the rest may be replaced by a term that has common parts again.
    fn equal_by(&mut self, a: Term, b: Term, is_whole: bool) -> Term {
        let (a, b) = (self.now(a), self.now(b));
        debug_assert_eq!(self.sort(a), self.sort(b));
        if a == b {
            return self.truth(true);
        }
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            return self.truth(x == y);
        }
        if self.sort(a) == Sort::Bool {
            match (self.constant(a), self.constant(b)) {
                (Some(1), _) => return b,
                (Some(0), _) => return self.not(b),
                (_, Some(1)) => return a,
                (_, Some(0)) => return self.not(a),
                _ => {}
            }
        }
        if self.width(a) <= 64 && self.sort(a) != Sort::Octets {
            let (of_a, of_b) = (self.range(a), self.range(b));
            if of_a.1 < of_b.0 || of_b.1 < of_a.0 {
                return self.truth(false);
            }
        }
        if let Some(simpler) = self.equal_to_number(a, b).or_else(|| self.equal_to_number(b, a)) {
            return simpler;
        }
        if is_whole {
            if let Some((x, y)) = self.sides(a, b).filter(|sides| *sides != (a, b) && *sides != (b, a)) {
                return self.equal_by(x, y, false);
            }
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.make(Node::Equal(a, b), Sort::Bool)
    }

    /// An equation of sums without their common parts: positive parts on one side, negative ones and the number on the
    /// other.
    fn sides(&mut self, a: Term, b: Term) -> Option<(Term, Term)> {
        let is_sum = |term: Term| matches!(self.node(term), Node::Binary(Operator::Add, ..));
        let width = self.width(a);
        if !matches!(self.sort(a), Sort::Bits(2..=64)) || !is_sum(a) || !is_sum(b) {
            return None;
        }
        let (parts, number) = self.parts_of_difference(a, b);
        let half = 1u64 << (width - 1);
        // The first part is positive.
        let is_turned = parts.first_key_value().is_some_and(|(_, factor)| *factor & mask(width) > half);
        let sign = if is_turned { u64::MAX } else { 1 };
        let mut left = self.number(0, width);
        let mut right = self.number(number.wrapping_mul(sign).wrapping_neg(), width);
        for (part, factor) in parts {
            let factor = factor.wrapping_mul(sign) & mask(width);
            let (side, factor) = if factor > half { (&mut right, factor.wrapping_neg()) } else { (&mut left, factor) };
            let factor = self.number(factor, width);
            let scaled = self.binary(Operator::Mul, part, factor);
            *side = self.binary(Operator::Add, *side, scaled);
        }
        Some((left, right))
    }

    /// `a = number`, as a condition on the parts of `a`.
    fn equal_to_number(&mut self, a: Term, b: Term) -> Option<Term> {
        let value = self.constant(b)?;
        match self.node(a).clone() {
            // Only zero folds to zero.
            Node::Fold(sum) if value == 0 => {
                let zero = self.number(0, 32);
                Some(self.equal(sum, zero))
            }
            Node::ZeroExtend(_, inner) => {
                let width = self.width(inner);
                if value > mask(width) {
                    return Some(self.truth(false));
                }
                let value = self.number(value, width);
                Some(self.equal(inner, value))
            }
            Node::If(condition, then, otherwise) => {
                let (then, otherwise) = (self.constant(then)? == value, self.constant(otherwise)? == value);
                Some(match (then, otherwise) {
                    (true, true) => self.truth(true),
                    (true, false) => condition,
                    (false, true) => self.not(condition),
                    (false, false) => self.truth(false),
                })
            }
            Node::Binary(Operator::Add, x, plus) => {
                let plus = self.constant(plus)?;
                let rest = self.number(value.wrapping_sub(plus), self.width(a));
                Some(self.equal(x, rest))
            }
            _ => None,
        }
    }

    /// Whether `a` is below `b`, both as unsigned numbers of one width.
    pub fn less(&mut self, a: Term, b: Term) -> Term {
        let (a, b) = (self.now(a), self.now(b));
        debug_assert_eq!(self.sort(a), self.sort(b));
        let width = self.width(a);
        if width <= 64 {
            let (of_a, of_b) = (self.range(a), self.range(b));
            if of_a.1 < of_b.0 || of_b.1 <= of_a.0 {
                return self.truth(of_a.1 < of_b.0);
            }
        }
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.truth(x < y),
            (_, Some(0)) => return self.truth(false),
            (_, Some(1)) => {
                let zero = self.number(0, width);
                return self.equal(a, zero);
            }
            (Some(0), _) => {
                let is_zero = self.equal(b, a);
                return self.not(is_zero);
            }
            _ => {}
        }
        if a == b {
            return self.truth(false);
        }
        if self.is_behind(a, b) {
            return self.truth(false);
        }
        // Complements reverse the order: of the equivalent forms, the one whose earlier term comes first is used.
        match (self.turned(a), self.turned(b)) {
            (Some(x), Some(y)) => return self.less(y, x),
            (Some(x), None) if self.constant(b).is_some() || x < b => {
                let room = self.turn(b);
                return self.less_plainly(room, x);
            }
            (None, Some(y)) if self.constant(a).is_some() || y < a => {
                let room = self.turn(a);
                return self.less_plainly(y, room);
            }
            _ => {}
        }
        self.less_plainly(a, b)
    }

    /// Whether `a` is known to be `b` plus something, without wrapping around.
    fn is_behind(&mut self, a: Term, b: Term) -> bool {
        let is_sum = |term: Term| matches!(self.node(term), Node::Binary(Operator::Add, ..));
        if self.width(a) > 64 || !(is_sum(a) || is_sum(b)) || self.constant(a).is_some() || self.constant(b).is_some() {
            return false;
        }
        let apart = self.binary(Operator::Sub, a, b);
        let sum = self.most(b).checked_add(self.most(apart));
        sum.is_some_and(|sum| sum <= mask(self.width(a)))
    }

    /// The bitwise complement of a number.
    fn turn(&mut self, a: Term) -> Term {
        let ones = self.number(u64::MAX, self.width(a));
        self.binary(Operator::Xor, a, ones)
    }

    /// The number whose bitwise complement this is, if it has that form.
    fn turned(&self, a: Term) -> Option<Term> {
        match *self.node(a) {
            Node::Binary(Operator::Xor, x, ones) if self.constant(ones) == Some(mask(self.width(a))) => Some(x),
            _ => None,
        }
    }

    fn less_plainly(&mut self, a: Term, b: Term) -> Term {
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::ZeroExtend(_, x), Node::ZeroExtend(_, y)) if self.width(x) == self.width(y) => {
                return self.less(x, y)
            }
            (Node::ZeroExtend(_, x), Node::ZeroExtend(_, y)) => {
                let width = self.width(x).max(self.width(y));
                let (x, y) = (self.resize(x, width), self.resize(y, width));
                return self.less(x, y);
            }
            (Node::ZeroExtend(_, x), Node::Number(most)) => {
                let inner = self.width(x);
                if most > mask(inner) {
                    return self.truth(true);
                }
                let most = self.number(most, inner);
                return self.less(x, most);
            }
            (Node::Number(least), Node::ZeroExtend(_, x)) => {
                let inner = self.width(x);
                if least >= mask(inner) {
                    return self.truth(false);
                }
                let least = self.number(least, inner);
                return self.less(least, x);
            }
            _ => {}
        }
        self.make(Node::Less(a, b), Sort::Bool)
    }

    /// Whether `a` is at most `b`, both as unsigned numbers of one width. It is expressed by `less`, so that there is
    /// one form.
    pub fn less_equal(&mut self, a: Term, b: Term) -> Term {
        let above = self.less(b, a);
        self.not(above)
    }
}
